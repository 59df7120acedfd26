/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_SORT_H
#define HEAPDUMP_SRC_UTIL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Sort ascending. */
void sort_u64(uint64_t *values, size_t count);

/**
 * Sort @p keys ascending, stably, and give in @p order where each stood (radix sort: linear).
 *
 * Takes 12 bytes more per key while it runs.
 * @return false when memory is exhausted; keys are then as before.
 */
bool sort_keys(uint64_t *keys, uint32_t *order, uint32_t count);

#endif
