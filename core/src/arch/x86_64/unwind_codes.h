/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"

/** Most chained UNWIND_INFOs that are read. */
#define UNWIND_CHAIN_MAX 32u

/**
 * Undo the frame of a managed function by its UNWIND_INFO (the layout of Windows on x64:
 * win64unwind.h, unwinder/amd64/unwinder.cpp;
 * https://learn.microsoft.com/cpp/build/exception-handling-x64).  In an epilogue, its pops and ret
 * are carried out instead.  An epilogue without pops that ends with a direct jump to another
 * function is not recognised.
 *
 * @param[in,out] registers In: the function's registers; out: those of its caller.  Untouched on
 * failure.
 * @return false when the codes or the stack cannot be read, or contradict themselves
 */
bool unwind_codes_step(struct memory *memory, const struct unwind_function *function,
		       struct registers *registers);

/**
 * Does the frame of a function that was interrupted at @p registers exist? false in its prologue
 * and in its epilogue (as far as unwind_codes_step() recognises it), and when the codes cannot be
 * read.  The zeros with which the function initialises its variables may still be missing.
 */
bool unwind_frame_is_whole(struct memory *memory, const struct unwind_function *function,
			   const struct registers *registers);
