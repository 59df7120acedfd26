/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_SANDBOX_H
#define HEAPDUMP_CLI_SANDBOX_H

#include <stdbool.h>

/** What a process that has closed itself in is still held by. */
struct sandbox {
	bool has_seccomp;
	int landlock;   /**< version of its interface; 0: the kernel has none, or forbids it */
	char state[96]; /**< "on", "partly on" or "off", and why: what info shows */
};

/**
 * Give up for good, in this process: opening files, running programs, making connections, looking into
 * other processes, capabilities, new processes, memory that can be run.  What is open stays open.
 * A process that tries one of these afterwards is killed (SIGSYS).
 *
 * no_new_privs, no capabilities, Landlock without a rule (every right is handled, none is given), and a
 * seccomp filter that names what is allowed.  To be called with one thread.
 *
 * @param[out] ret What could be had.
 * @return false when there is no filter: Landlock holds the process, or nothing does.
 */
bool sandbox_close(struct sandbox *ret);

#endif
