/* SPDX-License-Identifier: MIT */
/* The sandbox of the process that reads a target.  SECURITY.md says what it protects against. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * From include/uapi/linux/landlock.h (Linux 6.12), because the headers of an older system lack the
 * later members and rights.  The version of a kernel's interface tells which of them it knows.
 */
struct landlock_rules {
	uint64_t files, network, scopes;
};
#define LANDLOCK_VERSION ((uint32_t)1 << 0)
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self  446
#endif

/* All rights up to bit @p count. */
static uint64_t rights(unsigned int count)
{
	return ((uint64_t)1 << count) - 1;
}

/* Handle every right that the kernel knows, and give none of them; returns the version, or 0. */
static int close_files(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
	if (version <= 0)
		return 0;
	/* 13 rights on files at first, then refer, truncate, and ioctl of devices. */
	unsigned int files = version < 2 ? 13 : version < 3 ? 14 : version < 5 ? 15 : 16;
	const struct landlock_rules rules = { .files = rights(files),
					      .network = version < 4 ? 0 : rights(2),
					      .scopes = version < 6 ? 0 : rights(2) };
	size_t size = version < 4   ? offsetof(struct landlock_rules, network)
		      : version < 6 ? offsetof(struct landlock_rules, scopes)
				    : sizeof(rules);
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
	if (fd < 0)
		return 0;
	long result = syscall(SYS_landlock_restrict_self, fd, 0);
	(void)close(fd);
	return result == 0 ? (int)version : 0;
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	(void)syscall(SYS_capset, &header, none);
}

/*
 * Calls that can do no harm with any arguments: they work on what is open, or on this process
 * itself.
 */
static const int allowed[] = {
	/* what is open */
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write),
	SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat),
	SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(fadvise64), SCMP_SYS(sync_file_range),
	SCMP_SYS(getdents64), SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(fstatfs),
	/* sockets that exist */
	SCMP_SYS(recvmsg), SCMP_SYS(recvfrom), SCMP_SYS(shutdown), SCMP_SYS(getsockopt),
	SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(accept4),
	/* memory; without PROT_EXEC below */
	SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(msync),
	SCMP_SYS(mincore),
	/* threads, waiting, signals to ourselves */
	SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity), SCMP_SYS(membarrier), SCMP_SYS(poll), SCMP_SYS(ppoll),
	SCMP_SYS(pselect6), SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(rt_sigpending),
	SCMP_SYS(sigaltstack), SCMP_SYS(exit), SCMP_SYS(exit_group),
	/* what everybody may know */
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
	SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres),
	SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrandom), SCMP_SYS(uname),
	SCMP_SYS(sysinfo), SCMP_SYS(getrusage), SCMP_SYS(times)
};

/* Calls that ask about paths get an error: the C library itself may make some. */
static const int refused[] = { SCMP_SYS(stat),       SCMP_SYS(lstat),      SCMP_SYS(access),
			       SCMP_SYS(faccessat),  SCMP_SYS(faccessat2), SCMP_SYS(readlink),
			       SCMP_SYS(readlinkat), SCMP_SYS(statx),      SCMP_SYS(statfs) };

/* Calls that may do what one argument says: allowed where (argument & mask) == value. */
static const struct {
	int call;
	unsigned int argument;
	uint64_t mask, value;
} conditions[] = {
	{ SCMP_SYS(mmap), 2, PROT_EXEC, 0 },
	{ SCMP_SYS(mprotect), 2, PROT_EXEC, 0 },
	{ SCMP_SYS(newfstatat), 3, AT_EMPTY_PATH, AT_EMPTY_PATH },
	/* Only to the socket's peer, without descriptors. */
	{ SCMP_SYS(sendto), 4, UINT64_MAX, 0 },
	/* A thread, never a process. */
	{ SCMP_SYS(clone), 0, CLONE_VM | CLONE_THREAD, CLONE_VM | CLONE_THREAD },
	{ SCMP_SYS(ioctl), 1, UINT32_MAX, TCGETS },
	{ SCMP_SYS(ioctl), 1, UINT32_MAX, TIOCGWINSZ },
	{ SCMP_SYS(ioctl), 1, UINT32_MAX, FIONREAD },
	/* No F_SETFL: O_ASYNC would send SIGIO to the process that has the terminal. */
	{ SCMP_SYS(fcntl), 1, UINT32_MAX, F_GETFL },
	{ SCMP_SYS(fcntl), 1, UINT32_MAX, F_GETFD },
	{ SCMP_SYS(fcntl), 1, UINT32_MAX, F_SETFD },
	{ SCMP_SYS(fcntl), 1, UINT32_MAX, F_DUPFD_CLOEXEC },
	{ SCMP_SYS(prctl), 0, UINT32_MAX, PR_SET_NAME },
	/* Limits are read, not changed. */
	{ SCMP_SYS(prlimit64), 2, UINT64_MAX, 0 },
};

static int add_rules(scmp_filter_ctx filter)
{
	int result = 0;
	for (size_t i = 0; !result && i < sizeof(allowed) / sizeof(allowed[0]); i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; !result && i < sizeof(refused) / sizeof(refused[0]); i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0);
	for (size_t i = 0; !result && i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, conditions[i].call, 1,
					  SCMP_CMP(conditions[i].argument, SCMP_CMP_MASKED_EQ,
						   conditions[i].mask, conditions[i].value));
	}
	/* abort() and raise() signal a thread of ours. */
	if (!result) {
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
					  SCMP_A0_64(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
	}
	/*
	 * The C library opens files itself, always in this way: malloc() reads
	 * /proc/sys/vm/overcommit_memory when it first frees the memory of a thread.  This is
	 * refused; opening in another way ends the process.
	 */
	if (!result) {
		result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 1,
					  SCMP_A2_64(SCMP_CMP_EQ, O_RDONLY | O_CLOEXEC, 0));
	}
	/* Its flags are in memory, which a filter cannot read: the C library then uses clone(). */
	if (!result)
		result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return result;
}

/* Without a filter to set, a kernel that has seccomp says EFAULT. */
static bool kernel_filters(void)
{
	(void)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
	return errno != ENOSYS && errno != EINVAL;
}

static enum sandbox_filter filter_calls(void)
{
	if (!kernel_filters())
		return SANDBOX_UNKNOWN;
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!filter)
		return SANDBOX_FAILED;
	/*
	 * Calls of 32-bit programs end the process, and not only the thread.  Without CTL_SSB,
	 * kernels before 5.16 switch speculation off for the process, which reading then pays for;
	 * no code of a target ever runs in it.  CTL_OPTIMIZE: a tree instead of a list.
	 */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 1);
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	int result = add_rules(filter);
	if (!result)
		result = seccomp_load(filter);
	seccomp_release(filter);
	return result ? SANDBOX_FAILED : SANDBOX_FILTERED;
}

void sandbox_close(struct sandbox *ret)
{
	*ret = (struct sandbox){ 0 };
#ifdef __SANITIZE_ADDRESS__
	/* The sanitizer looks for leaks at the end, and needs another process for that. */
	(void)snprintf(ret->state, sizeof(ret->state), "off (built with sanitizers)");
	return;
#endif
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	drop_capabilities();
	ret->landlock = close_files();
	ret->filter = filter_calls();
	if (ret->filter == SANDBOX_FAILED) {
		(void)snprintf(ret->state, sizeof(ret->state),
			       "not whole (no filter of system calls)");
	} else if (ret->filter == SANDBOX_UNKNOWN && !ret->landlock) {
		(void)snprintf(ret->state, sizeof(ret->state),
			       "off (this system has neither seccomp nor Landlock)");
	} else if (ret->filter == SANDBOX_UNKNOWN) {
		(void)snprintf(ret->state, sizeof(ret->state),
			       "partly on (Landlock; this system has no seccomp)");
	} else if (!ret->landlock) {
		(void)snprintf(ret->state, sizeof(ret->state),
			       "on (seccomp; this system has no Landlock)");
	} else {
		(void)snprintf(ret->state, sizeof(ret->state), "on (seccomp, Landlock)");
	}
}
