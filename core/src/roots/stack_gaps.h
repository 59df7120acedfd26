/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ROOTS_STACK_GAPS_H
#define HEAPDUMP_SRC_ROOTS_STACK_GAPS_H

#include "roots/root_set.h"

/** Does @p thread run: has it begun, and not ended? */
bool thread_has_stack(const struct clr_thread *thread);

/** Say of which threads the stacks are incomplete: one finding of the target per kind. */
void report_stack_gaps(const struct root_set *roots);

#endif
