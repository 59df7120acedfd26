/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"

/** See arch_ops.follows_call. */
bool arm64_follows_call(struct memory *memory, uint64_t address);

/** See arch_ops.precode_method and precode_target. */
bool arm64_precode_method(struct memory *memory, uint64_t code, uint64_t *ret);
bool arm64_precode_target(struct memory *memory, uint64_t code, uint64_t *ret);

/** See arch_ops.leaf_step: the return address is in its register. */
bool arm64_leaf_step(struct memory *memory, struct registers *registers);

/** See arch_ops.waits_without_end. */
bool arm64_waits_without_end(struct memory *memory, const struct registers *registers);

/**
 * The frame pointer of the function that begins at @p begin, between its prologue and its epilogue, where it goes on at
 * @p ip with @p sp after a call: it had that in x29 before it gave it to others.  false: its prologue is another one.
 */
bool arm64_frame_pointer(struct memory *memory, uint64_t begin, uint64_t ip, uint64_t sp,
			 uint64_t *ret);

/** See arch_ops.call_target. */
bool arm64_call_target(const uint8_t *bytes, size_t size, uint64_t address,
		       struct code_constants *constants, struct code_reference *ret);
