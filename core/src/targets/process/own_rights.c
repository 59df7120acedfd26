/* SPDX-License-Identifier: MIT */
#include "targets/process/own_rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif
#define LANDLOCK_VERSION_QUESTION 1u

bool own_may_trace_all(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	return (data[CAP_SYS_PTRACE / 32].effective >> (CAP_SYS_PTRACE % 32)) & 1;
}

/* The child makes only system calls: other threads may have held locks. */
_Noreturn static void wait_to_be_ended(pid_t parent)
{
	(void)syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (syscall(SYS_getppid) == parent)
		(void)syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
	for (;;)
		(void)syscall(SYS_exit_group, 0);
}

int own_trace_trial(void)
{
	pid_t parent = getpid();
	/* As fork() does it, but for the signal at its end. */
	pid_t child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (child < 0)
		return errno;
	if (child == 0)
		wait_to_be_ended(parent);
	int result = ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0 ? 0 : errno;
	(void)kill(child, SIGKILL);
	while (waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	return result;
}

bool own_kernel_has_seccomp(void)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int own_kernel_landlock(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_VERSION_QUESTION);
	return version > 0 ? (int)version : 0;
}
