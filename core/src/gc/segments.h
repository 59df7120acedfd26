/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "gc/layouts/heap_segment.h"

/** Most segments or regions that are read: 4 TiB of basic regions. */
#define SEGMENTS_MAX ((size_t)1 << 20)

/**
 * Read the segments of every heap and generation into heap->segments: only sound ones, sorted, each
 * once, not overlapping.  All others become findings.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status segments_read(struct heap *heap, struct hd_error *err);

/** Address of the array of generations of heap @p index, or 0. */
uint64_t generation_table(const struct heap *heap, uint32_t index);
