/* SPDX-License-Identifier: MIT */
#pragma once

/** Is there a filter of system calls? */
enum sandbox_filter {
	SANDBOX_FILTERED,
	SANDBOX_UNKNOWN, /**< the kernel has none */
	SANDBOX_FAILED, /**< the kernel has one, and it could not be made: too little memory, for example */
};

/** The restrictions of a process that has put itself into a sandbox. */
struct sandbox {
	enum sandbox_filter filter;
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
 * @param[out] ret What is in force.  Without a filter only Landlock restricts the process, or nothing does: after
 * SANDBOX_FAILED it must not read a target.
 */
void sandbox_close(struct sandbox *ret);
