/* SPDX-License-Identifier: MIT */
/*
 * Tries what a hostile target would try that has taken control of a worker: heapdump_misbehaving has it, the product
 * has not.
 */
#include "misbehave.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <heapdump/broker.h>

static const char name[] = "misbehaved";
static const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/misbehaved" };
static const struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
static char byte;
_Alignas(4096) static char page[4096];
static struct iovec place = { &byte, 1 };
static const struct msghdr descriptor = { .msg_iov = &place, .msg_iovlen = 1 };

/* Is replaced by the id of the other process. */
#define PARENT LONG_MIN

static const struct {
	const char *what;
	long call;
	long arguments[6];
} attacks[] = {
	{ "open", SYS_openat, { AT_FDCWD, (long)"/etc/passwd", O_RDONLY } },
	{ "openat2", SYS_openat2, { AT_FDCWD, (long)"/etc/passwd" } },
	{ "write", SYS_openat, { AT_FDCWD, (long)name, O_WRONLY | O_CREAT, 0600 } },
	{ "exec", SYS_execve, { (long)"/bin/true" } },
	{ "execveat", SYS_execveat, { AT_FDCWD, (long)"/bin/true" } },
	{ "vfork", SYS_clone, { SIGCHLD } },
	{ "socket", SYS_socket, { AF_INET, SOCK_STREAM } },
	{ "connect", SYS_connect, { 2, (long)&address, sizeof(address) } },
	{ "bind", SYS_bind, { 2, (long)&address, sizeof(address) } },
	{ "send-descriptor", SYS_sendmsg, { 3, (long)&descriptor, 0 } },
	{ "send-to", SYS_sendto, { 3, (long)&byte, 1, 0, (long)&address, sizeof(address) } },
	{ "memory-file", SYS_memfd_create, { (long)name, 0 } },
	{ "truncate", SYS_ftruncate, { 1, 0 } },
	{ "allocate", SYS_fallocate, { 1, 0, 0, 1 } },
	{ "async", SYS_fcntl, { 2, F_SETFL, O_ASYNC } },
	{ "owner", SYS_fcntl, { 2, F_SETOWN, PARENT } },
	{ "ptrace", SYS_ptrace, { PTRACE_SEIZE, PARENT } },
	{ "read-process", SYS_process_vm_readv, { PARENT, (long)&place, 1, (long)&place, 1 } },
	{ "write-process", SYS_process_vm_writev, { PARENT, (long)&place, 1, (long)&place, 1 } },
	{ "kill", SYS_kill, { PARENT, SIGKILL } },
	{ "tgkill", SYS_tgkill, { PARENT, PARENT, SIGKILL } },
	{ "code",
	  SYS_mmap,
	  { 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1 } },
	{ "protect", SYS_mprotect, { (long)page, 4096, PROT_READ | PROT_EXEC } },
	{ "type", SYS_ioctl, { 2, TIOCSTI, (long)"x" } },
	{ "limit", SYS_prlimit64, { 0, RLIMIT_AS, (long)&no_limit } },
	{ "unlink", SYS_unlinkat, { AT_FDCWD, (long)name } },
	{ "rename", SYS_renameat2, { AT_FDCWD, (long)name, AT_FDCWD, (long)name } },
	{ "mkdir", SYS_mkdirat, { AT_FDCWD, (long)name, 0700 } },
	{ "chmod", SYS_fchmodat, { AT_FDCWD, (long)name, 04777 } },
	{ "fchmod", SYS_fchmod, { 1, 04777 } },
	{ "mount", SYS_mount, { (long)name, (long)name } },
	{ "unshare", SYS_unshare, { 0x10000000 } },
	{ "setuid", SYS_setuid, { 0 } },
	{ "bpf", SYS_bpf, { 0 } },
	{ "perf", SYS_perf_event_open, { 0 } },
	{ "io-uring", SYS_io_uring_setup, { 1 } },
	{ "userfaultfd", SYS_userfaultfd, { 0 } },
	{ "keyring", SYS_keyctl, { 0 } },
#ifdef __x86_64__
	/* Newer processors never had these. */
	{ "old-open", SYS_open, { (long)"/etc/passwd", O_RDONLY } },
	{ "old-creat", SYS_creat, { (long)name, 0600 } },
	{ "old-fork", SYS_fork, { 0 } },
	{ "old-unlink", SYS_unlink, { (long)name } },
	{ "old-rename", SYS_rename, { (long)name, (long)name } },
	{ "old-mkdir", SYS_mkdir, { (long)name, 0700 } },
	{ "old-chmod", SYS_chmod, { (long)name, 04777 } },
	{ "x32", 0x40000000 | SYS_openat, { AT_FDCWD, (long)"/etc/passwd", O_RDONLY } },
#endif
};

/* None of these calls may return: the process has to be killed in the call. */
static long attack(const char *what)
{
	bool is_list = strcmp(what, "list") == 0;
	for (size_t i = 0; is_list && i < sizeof(attacks) / sizeof(attacks[0]); i++)
		(void)puts(attacks[i].what);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		long a[6];
		for (size_t k = 0; k < 6; k++) {
			a[k] = attacks[i].arguments[k];
			a[k] = a[k] == PARENT ? getppid() : a[k];
		}
		if (strcmp(attacks[i].what, what) == 0)
			return syscall(attacks[i].call, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	return -2;
}

/* These ask the other process, which must refuse. */
static void ask_in_vain(const struct hd_broker *broker, const char *what, const char *path)
{
	uint64_t id = 0;
	struct hd_error err;
	bool granted = false;
	if (strcmp(what, "ask-read") == 0) {
		for (int as = 0; !granted && as < 16; as++)
			granted = broker->open(broker->arg, as, path, NULL) >= 0;
	} else if (strcmp(what, "ask-below") == 0) {
		granted = broker->open(broker->arg, HD_OPEN_MODULE, path, "/") >= 0;
	} else if (strcmp(what, "ask-write") == 0) {
		granted = broker->create(broker->arg, path, NULL, NULL, &id, &err) >= 0;
	} else if (strcmp(what, "ask-commit") == 0) {
		granted = broker->commit(broker->arg, 1) == 0 ||
			  broker->commit(broker->arg, UINT64_MAX) == 0;
	} else if (strcmp(what, "ask-attach") == 0) {
		int fds[HD_ATTACH_FDS];
		granted = broker->attach(broker->arg, (int)getppid(), fds) == 0;
	}
	(void)puts(granted ? "granted" : "refused");
}

#ifdef __x86_64__
/* An old call of 32-bit programs: open() in a thread that must not end alone. */
static void *call_as_32_bits(void *unused)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(5), "b"(0), "c"(0), "d"(0) : "memory");
	return unused;
}

static void call_32_bits(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, call_as_32_bits, NULL) == 0)
		(void)pthread_join(thread, NULL);
}
#else
static void call_32_bits(void)
{
	(void)raise(SIGSYS);
}
#endif

/* Is there a descriptor of a terminal from which typed text can be read? */
static bool reads_terminal(void)
{
	for (int fd = 0; fd < 16; fd++) {
		struct pollfd at = { .fd = fd, .events = POLLIN };
		if (isatty(fd) && poll(&at, 1, 500) > 0 && read(fd, &byte, 1) > 0)
			return true;
	}
	return false;
}

static unsigned long address_space_limit(void)
{
	struct rlimit limit = { 0 };
	(void)getrlimit(RLIMIT_AS, &limit);
	return (unsigned long)limit.rlim_cur;
}

/* How many bytes more may it map after it has opened a file many times? */
static void grow_by_opening(const struct hd_broker *broker, const char *path)
{
	unsigned long before = address_space_limit();
	for (int i = 0; i < 10; i++)
		(void)close(broker->open(broker->arg, HD_OPEN_MODULE, path, NULL));
	(void)printf("%lu\n", address_space_limit() - before);
}

/* How many helpers does it get for a process that it may open? */
static void attach_many_times(const struct hd_broker *broker, const char *path)
{
	int count = 0, fds[HD_ATTACH_FDS];
	for (int i = 0; i < 200; i++) {
		if (broker->attach(broker->arg, atoi(path), fds) != 0) /* NOLINT(cert-err34-c) */
			continue;
		count++;
		for (size_t k = 0; k < HD_ATTACH_FDS; k++)
			(void)close(fds[k]);
	}
	(void)printf("%d\n", count);
}

_Noreturn static void keep_silent(void)
{
	for (;;)
		(void)poll(NULL, 0, -1);
}

bool misbehave_complete(void (*tell)(const char *candidate), int argc, const char *const *argv)
{
	static char large[1 << 20];
	const char *word = argc ? argv[argc - 1] : "";
	if (strncmp(word, "attack-", 7) != 0)
		return false;
	if (strcmp(word, "attack-silence") == 0)
		keep_silent();
	memset(large, 'x', sizeof(large) - 1);
	while (strcmp(word, "attack-size") == 0)
		tell(large);
	while (strcmp(word, "attack-count") == 0)
		tell(word);
	tell("other");
	tell("attack-other-and-more");
	return true;
}

static void open_quietly(const struct hd_broker *broker, const char *path)
{
	(void)broker;
	(void)path;
	(void)puts(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 ? "refused" : "granted");
}

static void count_descriptors(const struct hd_broker *broker, const char *path)
{
	int count = 0;
	(void)broker;
	(void)path;
	while (dup(0) >= 0)
		count++;
	(void)printf("%d\n", count);
}

static void break_pipe(const struct hd_broker *broker, const char *path)
{
	(void)broker;
	(void)path;
	(void)signal(SIGPIPE, SIG_DFL);
	(void)raise(SIGPIPE);
}

static void be_silent(const struct hd_broker *broker, const char *path)
{
	(void)broker;
	(void)path;
	keep_silent();
}

static void try_32_bits(const struct hd_broker *broker, const char *path)
{
	(void)broker;
	(void)path;
	call_32_bits();
	(void)puts("survived");
}

static void read_terminal(const struct hd_broker *broker, const char *path)
{
	(void)broker;
	(void)path;
	(void)puts(reads_terminal() ? "granted" : "refused");
}

static void map_without_end(const struct hd_broker *broker, const char *path)
{
	uint64_t size = 0;
	(void)broker;
	(void)path;
	while (size < (uint64_t)1 << 46 &&
	       mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
		size += 1 << 30;
	(void)printf("%llu\n", (unsigned long long)size);
}

static const struct {
	const char *what;
	void (*run)(const struct hd_broker *broker, const char *path);
} others[] = {
	{ "quiet-open", open_quietly },     { "descriptors", count_descriptors },
	{ "broken-pipe", break_pipe },      { "silence", be_silent },
	{ "read-terminal", read_terminal }, { "thread-of-32-bits", try_32_bits },
	{ "memory", map_without_end },      { "grow", grow_by_opening },
	{ "attach", attach_many_times },
};

bool misbehave(const struct hd_broker *broker, int argc, const char *const *argv)
{
	if (argc < 2 || strcmp(argv[0], "misbehave") != 0)
		return false;
	const char *what = argv[1], *path = argc > 2 ? argv[2] : "/etc/passwd";
	bool is_other = false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(others[i].what, what) == 0) {
			others[i].run(broker, path);
			is_other = true;
		}
	}
	if (strncmp(what, "ask-", 4) == 0) {
		/* The name is not a separate word, so the user has not named it. */
		ask_in_vain(broker, what, argc > 2 ? path + 1 : path);
	} else if (!is_other) {
		long result = attack(what);
		if (strcmp(what, "list") != 0)
			(void)printf("survived: %ld\n", result);
	}
	(void)fflush(stdout);
	return true;
}
