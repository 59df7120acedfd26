/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"

struct text;

/** Most bytes of code of one function in which epilogues are looked for. */
#define UNWIND_CODE_MAX ((uint64_t)1 << 20)

/**
 * See arch_ops.managed_rows: the UNWIND_INFO of a function, and its epilogues, which its bytes tell, as call frame
 * instructions (doc/managed-elf.md 3).
 */
bool unwind_rows_write(struct memory *memory, const struct unwind_function *function, uint64_t size,
		       struct text *ret);
