/* SPDX-License-Identifier: MIT */
#include "hangs/wait_alive.h"

#include "analysis/heap/type_counts.h"
#include "graph/reach.h"
#include "snapshot/snapshot.h"
#include "util/bitmap.h"
#include "util/job.h"

/* A graph of the heap, with what it borrows and what is alive in it. */
struct alive {
	struct root_set *roots;
	struct hd_graph *graph;
	struct reach reach;
};

static void alive_deinit(struct alive *alive)
{
	reach_deinit(&alive->reach);
	graph_destroy(alive->graph);
	root_set_destroy(alive->roots);
}

enum hd_status wait_all_is_read(const struct waits *waits, struct job *job, bool *ret,
				struct hd_error *err)
{
	struct heap *heap = waits->heap;
	HD_CLEANUP(type_counts) struct type_counts counts = { 0 };
	HD_CLEANUP(heap_range) struct heap_range range = { 0 };
	struct gaps gaps = { 0 };
	*ret = runtime_knows_all_threads(heap->runtime);
	for (size_t i = 0; i < waits->count; i++)
		*ret &= !waits->rows[i].stack.is_partial && !waits->rows[i].stack.is_missing;
	if (!*ret)
		return HD_OK;
	TRY(heap_range_init(&range, heap, &(const struct range_choice){ 0 }, err));
	TRY(type_counts_walk(&counts, &gaps, heap, &range, job, err));
	*ret = !gaps.damaged && !gaps.missing && !gaps.untyped;
	return HD_OK;
}

static enum hd_status make_alive(struct heap *heap, struct job *job, struct alive *ret,
				 struct hd_error *err)
{
	TRY(root_set_create(heap, false, job, &ret->roots, err));
	TRY(snapshot_create(heap, ret->roots, job, &ret->graph, err));
	return reach_from_roots(ret->graph, job, &ret->reach, err);
}

static bool is_alive(const struct alive *alive, uint64_t address)
{
	uint32_t node = graph_lower_bound(alive->graph, address);
	return node < alive->reach.node_count && bitmap_has(alive->reach.bitmap, node);
}

enum hd_status wait_alive_keep(const struct waits *waits, struct job *job, struct wait_rows *rows,
			       bool *ret_is_known, struct hd_error *err)
{
	HD_CLEANUP(alive) struct alive alive = { 0 };
	struct hd_error ignored = { 0 };
	size_t count = 0;
	TRY(wait_all_is_read(waits, job, ret_is_known, err));
	if (!*ret_is_known || !rows->rows_count)
		return HD_OK;
	enum hd_status status = make_alive(waits->heap, job, &alive, &ignored);
	*ret_is_known = status == HD_OK;
	if (status == HD_ERR_CANCELLED)
		return job_check(job, 0, err);
	if (status != HD_OK)
		return HD_OK;
	for (size_t i = 0; i < rows->rows_count; i++) {
		if (is_alive(&alive, rows->rows[i].object))
			rows->rows[count++] = rows->rows[i];
	}
	rows->rows_count = count;
	return HD_OK;
}
