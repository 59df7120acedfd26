/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ANALYSIS_FRAME_REPEATS_H
#define HEAPDUMP_SRC_ANALYSIS_FRAME_REPEATS_H

#include "stack/stack.h"

/** Frames after which calls repeat, at most. */
#define FRAME_PERIOD_MAX 8u

/**
 * How many frames from @p index on only repeat the frames before them, so often that one line says it
 * better; 0: none.
 *
 * @param[out] ret_period After how many frames they repeat, if there are some: the least, at most @p index
 * and FRAME_PERIOD_MAX.
 */
size_t frame_repeats(const struct thread_stack *stack, size_t index, size_t *ret_period);

#endif
