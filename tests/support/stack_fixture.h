/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_stack.h"

/** Where the thread of the tests stands. */
#define STACK_TOP (FAKE_STACK + 0x80000)

/** A fake stack, two methods (two slots and one), an object, and the last walk. */
struct stack_fixture {
	struct fake_clr *fake;
	struct fake_stack *stack;
	struct fake_memory *memory;
	struct thread_stack result;
	uint64_t object, main, work;
};

void stack_begin(struct stack_fixture *fixture);
/** The same in a runtime of another release than .NET 10. */
void stack_begin_release(struct stack_fixture *fixture, unsigned int release);
void stack_end(struct stack_fixture *fixture);

/** Walk it as it is now. */
void stack_again(struct stack_fixture *fixture);

/**
 * Lay out @p callers frames of @p method from @p sp on, called from native code; returns the SP
 * after the last.
 */
uint64_t stack_frames(struct stack_fixture *fixture, uint64_t method, uint64_t sp,
		      unsigned int callers);
/** Let the thread be in native code; returns the SP of a managed frame above. */
uint64_t stack_in_native_code(struct stack_fixture *fixture);

/** Frame @p index of the last walk, or one of kind 255. */
const struct stack_frame *stack_frame_at(const struct stack_fixture *fixture, size_t index);
/** How many roots have that slot and value. */
size_t stack_roots_at(const struct stack_fixture *fixture, uint64_t address, uint64_t value);
/** The first root of that slot, or one of kind 255. */
const struct stack_root *stack_root_at(const struct stack_fixture *fixture, uint64_t address);
