/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/** Has this process CAP_SYS_PTRACE, by which it may read all processes of its user namespace? */
bool own_may_trace_all(void);

/**
 * Try to attach to a child process, which is made for that and ended; nobody gets a SIGCHLD of it, so that a debugger
 * may call this.
 *
 * @return 0: it may; else errno.
 */
int own_trace_trial(void);

/** Does the kernel know seccomp filters that end the process? */
bool own_kernel_has_seccomp(void);

/** The version of Landlock that the kernel knows; 0: none. */
int own_kernel_landlock(void);
