/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UNWIND_UNWIND_CODES_H
#define HEAPDUMP_SRC_UNWIND_UNWIND_CODES_H

#include "unwind/registers.h"

/** Chained UNWIND_INFOs that are followed, at most. */
#define UNWIND_CHAIN_MAX 32u

/** Where the unwind codes of a function lie. */
struct unwind_function {
	uint64_t begin;       /**< address of the function (or funclet) */
	uint64_t unwind_info; /**< address of its UNWIND_INFO */
	uint64_t image_base;  /**< what chained RUNTIME_FUNCTIONs are relative to */
	bool is_active;       /**< rip was interrupted, no return address: maybe in an epilogue */
};

/**
 * Undo the frame of a managed function by its UNWIND_INFO (the layout of Windows on x64:
 * win64unwind.h, unwinder/amd64/unwinder.cpp;
 * https://learn.microsoft.com/cpp/build/exception-handling-x64).  In an epilogue, pops and ret are
 * carried out instead; not recognised there is a direct jump to another function that no pop
 * precedes.
 *
 * @param[in,out] registers Those in the function; then those of its caller.  Untouched on failure.
 * @return false when the codes or the stack cannot be read, or contradict themselves
 */
bool unwind_codes_step(struct memory *memory, const struct unwind_function *function,
		       struct registers *registers);

/**
 * Is the frame of a function that was interrupted at @p registers made, and not yet given up?  false in
 * its prologue and, as unwind_codes_step() recognises it, its epilogue, and when the codes cannot be
 * read.  Zeroes that the function gives its variables first may still be missing.
 */
bool unwind_frame_is_whole(struct memory *memory, const struct unwind_function *function,
			   const struct registers *registers);

#endif
