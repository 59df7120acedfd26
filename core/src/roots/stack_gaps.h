/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ROOTS_STACK_GAPS_H
#define HEAPDUMP_SRC_ROOTS_STACK_GAPS_H

#include "roots/root_set.h"

/** Report the threads whose stacks are incomplete: one finding of the target per kind. */
void report_stack_gaps(const struct root_set *roots);

#endif
