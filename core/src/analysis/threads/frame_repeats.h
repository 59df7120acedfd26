/* SPDX-License-Identifier: MIT */
#pragma once

#include "stack/stack.h"

/** The longest period with which calls may repeat, in frames. */
#define FRAME_PERIOD_MAX 8u

/**
 * How many frames, beginning with @p index, only repeat the frames before them, so often that one
 * line in their place is better; 0: none.
 *
 * @param[out] ret_period If there are some: the smallest period in which they repeat, in frames; at
 * most @p index and FRAME_PERIOD_MAX.
 */
size_t frame_repeats(const struct thread_stack *stack, size_t index, size_t *ret_period);
