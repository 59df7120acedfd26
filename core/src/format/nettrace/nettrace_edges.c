/* SPDX-License-Identifier: MIT */
/* References of a snapshot: where they lie in the trace, and in weak tables. */
#include <stdlib.h>

#include "format/nettrace/nettrace_heap.h"
#include "util/alloc.h"
#include "util/sort.h"

size_t nt_block_of(const struct nt_blocks *blocks, uint64_t row)
{
	return ROW_OF(blocks->rows, blocks->rows_count, first, row);
}

/* Add a run after the last one of its piece, and go on after it. */
static bool add_run(struct nt_heap *heap, uint64_t *to, uint64_t from, uint64_t count,
		    bool is_values)
{
	if (!count)
		return true;
	if (!PAGES_RESERVE(heap, runs))
		return false;
	heap->runs[heap->runs_count++] =
		(struct nt_run){ .to = *to, .from = from, .count = count, .is_values = is_values };
	*to += count;
	return true;
}

ORDER_BY(compare_runs, struct nt_run, to)

enum hd_status nt_heap_runs(struct nt_heap *heap, const struct nt_places *places)
{
	const struct nt_pairs *pairs = &heap->pairs;
	uint64_t from = 0;
	size_t next = 0; /* of paired */
	bool made = true, is_same = true;
	for (uint32_t p = 0; made && is_same && p < places->count; p++) {
		const struct sort_piece *piece = &places->pieces[p];
		uint64_t to = places->edges[p], end = to + places->edge_counts[p];
		for (; made && next < pairs->paired_count; next++) {
			const struct nt_paired *paired = &pairs->paired[next];
			if (paired->object - piece->from >= piece->count)
				break;
			/* The bytes may have changed since they were counted. */
			is_same = paired->own_end - from <= end - to &&
				  paired->count <= end - to - (paired->own_end - from);
			if (!is_same)
				break;
			made = add_run(heap, &to, from, paired->own_end - from, false) &&
			       add_run(heap, &to, paired->first, paired->count, true);
			from = paired->own_end;
		}
		uint64_t rest = end - to;
		made = made && add_run(heap, &to, from, rest, false);
		from += rest;
	}
	TRY_MEMORY(made, heap->err);
	if (!is_same || next < pairs->paired_count)
		return nt_heap_changed(heap);
	if (heap->runs_count)
		qsort(heap->runs, heap->runs_count, sizeof(*heap->runs), compare_runs);
	return HD_OK;
}

/* Rows of edges, beginning with number @p row, which exist. */
static void read_edge_rows(const struct nt_heap *heap, uint64_t row, uint64_t count, uint64_t *to)
{
	uint32_t pointer_size = heap->pointer_size;
	size_t row_size = NT_EDGE_SIZE(pointer_size);
	for (size_t block = nt_block_of(&heap->edges, row); count; block++) {
		const struct nt_rows *rows = &heap->edges.rows[block];
		uint64_t skipped = row - rows->first;
		uint64_t some = rows->count - skipped < count ? rows->count - skipped : count;
		const uint8_t *at = rows->at + row_size * skipped;
		for (uint64_t i = 0; i < some; i++, at += row_size)
			*to++ = nt_load_pointer(at, pointer_size);
		row += some;
		count -= some;
	}
}

static size_t run_of(const struct nt_heap *heap, uint64_t reference)
{
	return ROW_OF(heap->runs, heap->runs_count, to, reference);
}

void nt_heap_references(const void *arg, uint64_t begin, size_t count, uint64_t *ret)
{
	const struct nt_heap *heap = arg;
	const struct nt_pairs *pairs = &heap->pairs;
	for (const struct nt_run *run = &heap->runs[run_of(heap, begin)]; count; run++) {
		uint64_t skipped = begin - run->to;
		uint64_t some = run->count - skipped < count ? run->count - skipped : count;
		if (run->is_values) {
			for (uint64_t i = 0; i < some; i++)
				ret[i] = pairs->values[pairs->order[run->from + skipped + i]];
		} else {
			read_edge_rows(heap, run->from + skipped, some, ret);
		}
		ret += some;
		begin += some;
		count -= some;
	}
}
