/* SPDX-License-Identifier: MIT */
#pragma once

#include "unwind/registers.h"

/** Where the signal came that ended the process of a core. */
struct fault {
	int signal;
	int32_t tid;                /**< the thread that received it */
	struct registers registers; /**< their values at that time */
	bool is_in_handler; /**< the thread went on in a signal handler: the registers are from its
			     * stack */
	const struct target_mapping *mapping; /**< mapping of the code, borrowed; NULL: not in a
					       * file */
	bool has_address;
	uint64_t address; /**< the one that could not be read or written */
	uint64_t offset;  /**< offset of the code from the place where its file begins in memory */
};

/**
 * Find it (doc/coreclr.md 13 says where it may be): SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT of a
 * thread of a core.  If the thread runs a handler, as the caller of createdump does, the registers
 * are those that the kernel has saved on a stack (struct ucontext).  Cost: the first megabyte of
 * that thread's stack.
 *
 * @return false if there is none; @p ret is then untouched.
 */
bool fault_find(const struct target *target, struct fault *ret);
