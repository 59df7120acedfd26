/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"

/** See arch_ops.follows_call. */
bool x86_64_follows_call(struct memory *memory, uint64_t address);

/** See arch_ops.precode_method and precode_target. */
bool x86_64_precode_method(struct memory *memory, uint64_t code, uint64_t *ret);
bool x86_64_precode_target(struct memory *memory, uint64_t code, uint64_t *ret);

/** See arch_ops.leaf_step: the return address is on top of the stack. */
bool x86_64_leaf_step(struct memory *memory, struct registers *registers);

/** See arch_ops.waits_without_end. */
bool x86_64_waits_without_end(struct memory *memory, const struct registers *registers);

/**
 * Do the @p size bytes at @p at begin with an instruction that ends a function (Intel SDM, volume 2): a return, or
 * a jump out of it?  A direct jump is one only after pops.
 */
bool x86_64_is_leaving(const uint8_t *at, size_t size, bool has_popped);

/** See arch_ops.call_target. */
bool x86_64_call_target(const uint8_t *bytes, size_t size, uint64_t address,
			struct code_constants *constants, struct code_reference *ret);
