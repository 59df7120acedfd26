/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"

/**
 * Undo the frame of a managed function by its unwind data (unwinder/arm64/unwinder.cpp;
 * https://learn.microsoft.com/cpp/build/arm64-exception-handling).  Packed data is not read: CoreCLR writes none.
 *
 * @param[in,out] registers In: the function's registers; out: those of its caller.  Untouched on failure.
 * @return false when the codes or the stack cannot be read, or contradict themselves
 */
bool arm64_managed_step(struct memory *memory, const struct unwind_function *function,
			struct registers *registers);

/**
 * Does the frame of a function that was interrupted at @p registers exist? false in its prologue and its epilogues,
 * and when its codes cannot be read.
 */
bool arm64_frame_is_whole(struct memory *memory, const struct unwind_function *function,
			  const struct registers *registers);
