/* SPDX-License-Identifier: MIT */
#include "analysis/threads/frame_repeats.h"

/* How often frames repeat to be folded, and for how many frames. */
#define REPEATS_MIN 4u
#define FOLD_MIN    16u

static bool is_same_frame(const struct stack_frame *a, const struct stack_frame *b)
{
	return a->kind == b->kind && a->method_desc == b->method_desc && a->ip == b->ip &&
	       a->name == b->name && a->is_dead == b->is_dead;
}

size_t frame_repeats(const struct thread_stack *stack, size_t index, size_t *ret_period)
{
	for (size_t period = 1; period <= FRAME_PERIOD_MAX && period <= index; period++) {
		size_t count = 0;
		while (index + count < stack->frames_count &&
		       is_same_frame(&stack->frames[index + count],
				     &stack->frames[index + count - period]))
			count++;
		if (count >= FOLD_MIN && count >= period * REPEATS_MIN) {
			*ret_period = period;
			return count / period * period - period;
		}
	}
	return 0;
}
