/* SPDX-License-Identifier: MIT */
#include "analysis/heap/dead_range.h"

#include "graph/heap_graph.h"
#include "util/bitmap.h"
#include "util/job.h"

/* Does any of the heap lie in [begin, end)? */
static bool is_of_heap(const struct heap *heap, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < heap->segment_count; i++) {
		if (heap->segments[i].begin < end && begin < heap->segments[i].end)
			return true;
	}
	return false;
}

void dead_range_open(struct dead_range *ret, const struct heap *heap, const struct hd_graph *graph,
		     const struct reach *live, uint64_t begin, uint64_t end)
{
	*ret = (struct dead_range){ .graph = graph, .live = live };
	if (heap && !is_of_heap(heap, begin, end)) {
		ret->is_of_words = true;
		ret->window.memory = heap->memory;
		ret->at = begin & ~(uint64_t)7;
		ret->words = (end - ret->at - 1) / 8 + 1;
		ret->end = end;
	} else {
		ret->node = graph_lower_bound(graph, begin);
		ret->last = graph_lower_bound(graph, end);
	}
}

/*
 * The node that the next word points to; HD_NONE: there is no such node, or there are no more
 * words.
 */
static uint32_t follow_word(struct dead_range *range)
{
	const uint8_t *bytes = window_at(&range->window, range->at, 8, NULL);
	if (!bytes) {
		range->missing = range->end - range->at;
		range->words = 0;
		return HD_NONE;
	}
	uint64_t value = load_u64(bytes);
	uint32_t node = value ? hd_graph_find(range->graph, value) : HD_NONE;
	range->invalid += value && node == HD_NONE;
	range->at += 8;
	range->words--;
	return node;
}

enum hd_status dead_range_next(struct dead_range *range, struct job *job, uint32_t *ret,
			       struct hd_error *err)
{
	while (range->is_of_words ? range->words : range->node < range->last) {
		uint32_t node = range->is_of_words ? follow_word(range) : range->node++;
		TRY(job_check(job, 1, err));
		if (node == HD_NONE || bitmap_has(range->live->bitmap, node))
			continue;
		*ret = node;
		return HD_OK;
	}
	*ret = HD_NONE;
	return HD_OK;
}

void dead_range_close(struct dead_range *range)
{
	window_deinit(&range->window);
}
