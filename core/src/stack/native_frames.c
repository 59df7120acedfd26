/* SPDX-License-Identifier: MIT */
/* The native frames that a walk meets, and their places among the others. */
#include "stack/walker.h"
#include "util/alloc.h"

bool walk_note_native(struct thread_walk *walk, const struct registers *registers, bool is_active)
{
	struct thread_stack *stack = walk->stack;
	uint64_t sp = registers_sp(registers), ip = registers_ip(registers);
	if (!walk->options->native || !walk_take(walk, sizeof(*stack->natives)))
		return true;
	if (!PAGES_RESERVE(stack, natives))
		return false;
	stack->natives[stack->natives_count++] =
		(struct native_frame){ sp, ip, stack->frames_count, is_active };
	return true;
}

void walk_place_natives(struct thread_stack *stack)
{
	size_t before = 0;
	for (size_t i = 0; i < stack->natives_count; i++) {
		struct native_frame *native = &stack->natives[i];
		if (native->before > before)
			before = native->before;
		/* Frames of the runtime lie in the frames of the functions that made them. */
		while (before < stack->frames_count &&
		       stack->frames[before].kind == STACK_EXPLICIT &&
		       stack->frames[before].sp < native->sp)
			before++;
		native->before = before;
	}
}
