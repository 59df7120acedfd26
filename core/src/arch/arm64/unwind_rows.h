/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"

struct text;

/** See arch_ops.managed_rows: the unwind data of a function as call frame instructions (doc/managed-elf.md 3). */
bool arm64_managed_rows(struct memory *memory, const struct unwind_function *function,
			uint64_t size, struct text *ret);
