/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "graph/reach.h"
#include "mem/window.h"

/**
 * The dead objects in a range of addresses, one by one.  If no part of the heap lies in the range,
 * they are, as in SOS, the dead objects that the words of the range point to.
 */
struct dead_range {
	const struct hd_graph *graph;
	const struct reach *live;
	bool is_of_words;    /**< the range is not in the heap: its words are read */
	uint64_t at, end;    /**< the next word, and where the range ends */
	uint64_t words;      /**< how many words are left, beginning at @c at */
	uint32_t node, last; /**< the next node, and the end of the nodes */
	struct window window;
	uint64_t invalid, missing; /**< words so far that point to no object; bytes that could not
				    * be read */
};

/**
 * Begin with [begin, end), which is not empty.
 *
 * @param heap The heap of @p graph; NULL: the graph comes from a dump file, which has no words.
 * @param graph,live Borrowed until dead_range_close().
 */
void dead_range_open(struct dead_range *ret, const struct heap *heap, const struct hd_graph *graph,
		     const struct reach *live, uint64_t begin, uint64_t end);

/**
 * The next dead object.
 *
 * @param[out] ret Its node; HD_NONE: there is none.
 * @retval HD_OK
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status dead_range_next(struct dead_range *range, struct job *job,
					    uint32_t *ret, struct hd_error *err);
void dead_range_close(struct dead_range *range);
