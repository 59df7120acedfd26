/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_SANDBOX_H
#define HEAPDUMP_CLI_SANDBOX_H

#include <stdbool.h>

/** What restricts a process that has put itself into a sandbox. */
struct sandbox {
	bool has_seccomp;
	int landlock;   /**< version of its interface; 0: the kernel has none, or forbids it */
	char state[96]; /**< "on", "partly on" or "off", and why: what info shows */
};

/**
 * Give up for ever, in this process: opening files, running programs, making connections, reading
 * other processes, capabilities, new processes, executable memory.  What is open stays open.  A
 * process that tries one of these afterwards is killed (SIGSYS).
 *
 * This is done by no_new_privs, no capabilities, Landlock without a rule (every right is handled,
 * none is given), and a seccomp filter that lists what is allowed.  To be called while the process
 * has one thread.
 *
 * @param[out] ret What is in force.  @return false when there is no filter: then only Landlock
 * restricts the process, or nothing does.
 */
bool sandbox_close(struct sandbox *ret);

#endif
