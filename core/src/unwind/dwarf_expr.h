/* SPDX-License-Identifier: MIT */
#pragma once

#include "unwind/dwarf_reader.h"
#include "unwind/registers.h"

/** Most operations that an expression may run, and most values on its stack. */
#define DWARF_EXPR_STEPS_MAX 4096u
#define DWARF_EXPR_DEPTH_MAX 64u

/**
 * Run an expression (DWARF 5, 2.5) in a frame.
 *
 * @param first The first value on its stack: the CFA; NULL: the stack is empty.  @return false when
 * it cannot be run to its end
 */
bool dwarf_expr_run(struct memory *memory, const struct registers *registers, const uint8_t *bytes,
		    size_t size, const uint64_t *first, uint64_t *ret);
