/* SPDX-License-Identifier: MIT */
#pragma once

#include "unwind/dwarf_reader.h"
#include "util/text.h"

/**
 * Append call frame instructions as they are for a CIE whose alignment of code is 1.  No operand leads out of them.
 *
 * @param align The alignment of code that they were written for.
 * @param[in,out] depth How many states they have remembered.
 * @return false: an instruction is not known, has an expression, or ends too early
 */
bool cfi_rows_copy(struct dwarf_reader code, uint64_t align, unsigned int *depth, struct text *ret);
