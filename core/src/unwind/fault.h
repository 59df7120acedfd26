/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UNWIND_FAULT_H
#define HEAPDUMP_SRC_UNWIND_FAULT_H

#include "unwind/registers.h"

/** Where the signal hit that ended the process of a core. */
struct fault {
	int signal;
	int32_t tid;                /**< of the thread that got it */
	struct registers registers; /**< as they were then */
	bool is_in_handler; /**< the thread had gone on in a handler: they are from its stack */
	const struct target_mapping *mapping; /**< of the code, borrowed; NULL: of no file */
	uint64_t offset; /**< of the code from where its file begins in memory */
};

/**
 * Find it (doc/coreclr.md 13 says where it may be):
 * SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT of a thread of a core.  Where the thread runs a handler,
 * as createdump's caller does, the registers are those that the kernel saved on a stack (struct ucontext).
 * Cost: the first megabyte of that thread's stack.
 *
 * @return false: there is none; @p ret is untouched.
 */
bool fault_find(const struct target *target, struct fault *ret);

#endif
