/* SPDX-License-Identifier: MIT */
/* A text log whose ids do not ascend, or that defines objects twice. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/rpm/rpm_merge.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Are the types of two objects the same to a reader: one index, or one name? */
static bool same_type(const struct hd_graph *graph, uint32_t a, uint32_t b)
{
	const struct graph_type *x = &graph->types[a], *y = &graph->types[b];
	if (a == b)
		return true;
	if (!x->name || !y->name)
		return !x->name && !y->name && x->id == y->id;
	return x->name_size == y->name_size && memcmp(x->name, y->name, x->name_size) == 0;
}

ORDER_BY(compare_large_objects, struct rpm_large, object)

/* Size of an object (in the order of the file) whose entry in the sizes is SIZE_LARGE. */
static uint64_t large_size(const struct merge *merge, size_t object)
{
	const struct rpm_large key = { .object = object }, *found = NULL;
	for (size_t i = 0; !found && i < merge->count; i++) {
		const struct rpm_objects *objects = &merge->chunks[i].objects;
		if (objects->large_count) {
			found = bsearch(&key, objects->large, objects->large_count, sizeof(key),
					compare_large_objects);
		}
	}
	return found ? found->size : SIZE_LARGE;
}

/* Are objects @p a and @p b (in the order of the file) the same, except for their section? */
static bool same_object(const struct merge *merge, uint32_t a, uint32_t b)
{
	const struct rpm_objects *all = &merge->chunks[0].objects;
	const struct csr *rows = &merge->file_rows;
	uint64_t degree = csr_degree(rows, a);
	if (all->sizes[a] != all->sizes[b] || degree != csr_degree(rows, b) ||
	    !same_type(merge->graph, all->types[a], all->types[b]))
		return false;
	if (all->sizes[a] == SIZE_LARGE && large_size(merge, a) != large_size(merge, b))
		return false;
	uint64_t x = csr_begin(rows, a), y = csr_begin(rows, b);
	for (uint64_t i = 0; i < degree; i++) {
		if (merge_raw_ref(merge, x + i) != merge_raw_ref(merge, y + i))
			return false;
	}
	return true;
}

/* Object number @p second of the file differs from @p first, which has the same id. */
static enum hd_status duplicate_differs(struct merge *merge, uint64_t id, uint32_t first,
					uint32_t second)
{
	struct rpm_problem *problem = &merge->chunks[0].problems.counted[RPM_DUPLICATE_OBJECT];
	if (problem->count++ && merge->chunks[0].range.lenient)
		return HD_OK;
	problem->line = rpm_line_of_object(merge->chunks, merge->count, second);
	problem->column = 3;
	(void)snprintf(problem->text, sizeof(problem->text),
		       "object %" PRIx64 " is defined again with different content (first on line "
		       "%" PRIu64 ")",
		       id, rpm_line_of_object(merge->chunks, merge->count, first));
	if (merge->chunks[0].range.lenient)
		return HD_OK;
	return merge_fail(merge, problem->line, problem->column, problem->text);
}

/* Keep the first of each id; ids and order shrink together. */
static enum hd_status join_duplicates(struct merge *merge, uint32_t *ret_count)
{
	uint64_t *ids = merge->chunks[0].objects.ids;
	uint32_t *order = merge->order;
	uint32_t kept = 0, count = merge->file_rows.node_count;
	for (uint32_t i = 0; i < count; i++) {
		if (kept && ids[kept - 1] == ids[i]) {
			if (!same_object(merge, order[kept - 1], order[i]))
				TRY(duplicate_differs(merge, ids[i], order[kept - 1], order[i]));
			continue;
		}
		ids[kept] = ids[i];
		order[kept++] = order[i];
	}
	*ret_count = kept;
	return HD_OK;
}

/*
 * How far ahead memory at random places is prefetched: first what is read by position, then rows.
 */
#define SORT_AHEAD      32u
#define SORT_AHEAD_ROWS 12u

/* Replace an array of @p capacity by its elements in @p order. */
static enum hd_status gather_array(struct merge *merge, uint32_t **array, uint32_t count)
{
	size_t capacity = merge->chunks[0].objects.capacity;
	uint32_t *to = pages_alloc(capacity, sizeof(*to));
	TRY_MEMORY(to, merge->err);
	for (uint32_t i = 0; i < count; i++) {
		if (i + SORT_AHEAD < count)
			__builtin_prefetch(&(*array)[merge->order[i + SORT_AHEAD]]);
		to[i] = (*array)[merge->order[i]];
	}
	pages_free(*array, capacity, sizeof(*to));
	*array = to;
	return HD_OK;
}

/* Turn the degrees in the order of the file into rows. */
static enum hd_status make_chunk_rows(struct merge *merge)
{
	struct rpm_objects *all = &merge->chunks[0].objects;
	struct csr *rows = &merge->file_rows;
	size_t count = all->count;
	uint32_t *offsets = pages_alloc(count + 1, sizeof(*offsets));
	uint64_t *bases = pages_alloc(csr_block_count((uint32_t)count), sizeof(*bases));
	*rows = (struct csr){ .offsets = offsets, .bases = bases, .node_count = (uint32_t)count };
	TRY_MEMORY(offsets && bases, merge->err);
	memcpy(offsets, all->degrees, count * sizeof(*offsets));
	pages_free(all->degrees, all->capacity, sizeof(*all->degrees));
	all->degrees = NULL;
	return csr_offsets_from_degrees(rows, merge->err);
}

enum hd_status merge_sort(struct merge *merge)
{
	struct rpm_objects *all = &merge->chunks[0].objects;
	if (all->count > HD_NONE - 2)
		return fail(merge->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion objects");
	uint32_t count = (uint32_t)all->count;
	job_begin(merge->job, "Sorting objects", 0);
	TRY(job_check(merge->job, 0, merge->err));
	TRY(make_chunk_rows(merge));
	merge->order = pages_alloc(count, sizeof(*merge->order));
	TRY_MEMORY(merge->order && sort_keys(all->ids, merge->order, count), merge->err);
	uint32_t kept = 0;
	TRY(join_duplicates(merge, &kept));
	TRY(gather_array(merge, &all->types, kept));
	TRY(gather_array(merge, &all->sizes, kept));
	all->count = kept;
	return HD_OK;
}

enum hd_status merge_sort_rows(struct merge *merge)
{
	struct csr *forward = &merge->graph->forward;
	const struct csr *rows = &merge->file_rows;
	uint64_t edges = csr_begin(forward, forward->node_count);
	uint32_t *targets = pages_alloc(edges, sizeof(*targets));
	TRY_MEMORY(targets, merge->err);
	uint64_t next = 0;
	uint32_t count = merge->graph->object_count;
	for (uint32_t node = 0; node < count; node++) {
		if (node + SORT_AHEAD < count)
			__builtin_prefetch(&rows->offsets[merge->order[node + SORT_AHEAD]]);
		if (node + SORT_AHEAD_ROWS < count) {
			uint64_t soon = csr_begin(rows, merge->order[node + SORT_AHEAD_ROWS]);
			__builtin_prefetch(&forward->targets[soon]);
		}
		uint64_t from = csr_begin(rows, merge->order[node]);
		uint64_t degree = csr_degree(forward, node);
		for (uint64_t i = 0; i < degree; i++)
			targets[next++] = forward->targets[from + i];
	}
	pages_free(forward->targets, forward->edge_count, sizeof(*targets));
	forward->targets = targets;
	forward->edge_count = edges;
	return HD_OK;
}

/* Nodes ascend, so the table is sorted as it is made. */
enum hd_status merge_large(struct merge *merge)
{
	struct hd_graph *graph = merge->graph;
	size_t count = 0, given = 0;
	for (size_t i = 0; i < merge->count; i++)
		given += merge->chunks[i].objects.large_count;
	for (uint32_t node = 0; given && node < graph->object_count; node++)
		count += graph->sizes[node] == SIZE_LARGE;
	if (!count)
		return HD_OK;
	graph->large.rows = pages_alloc(count, sizeof(*graph->large.rows));
	TRY_MEMORY(graph->large.rows, merge->err);
	graph->large.count = count;
	size_t next = 0;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		if (graph->sizes[node] != SIZE_LARGE)
			continue;
		size_t object = merge->order ? merge->order[node] : node;
		graph->large.rows[next++] =
			(struct large_size){ .node = node, .size = large_size(merge, object) };
	}
	return HD_OK;
}
