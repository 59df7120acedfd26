/* SPDX-License-Identifier: MIT */
#include "hangs/wait_grains.h"

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "util/job.h"

static bool has_calls(const struct async_links *links)
{
	for (size_t i = 0; i < links->rows_count; i++) {
		if (links->rows[i].kind == LINK_CALL)
			return true;
	}
	return false;
}

/* Add the messages that the outermost method of a chain has. */
static enum hd_status add_messages(const struct waits *waits, uint32_t row, struct window *window,
				   struct wait_rows *ret, struct hd_error *err)
{
	struct async_graph *graph = waits->async;
	const struct async_node *method = &graph->rows[row];
	struct references references;
	struct reference reference;
	struct object object, message;
	if (!member_object(waits->members, method->holder, &object))
		return HD_OK;
	references_begin(&references, window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot < method->fields ||
		    !member_object(waits->members, reference.value, &message) ||
		    async_graph_type(graph, message.type) != ASYNC_GRAIN_MESSAGE)
			continue;
		uint32_t own = async_innermost_own(graph, row);
		uint32_t node = own == ASYNC_NO_NODE ? row : own;
		TRY(wait_rows_add(ret, reference.value, (uint32_t)waits->count + node, err));
	}
	return HD_OK;
}

enum hd_status wait_grains_find(const struct waits *waits, struct job *job, struct wait_rows *ret,
				struct hd_error *err)
{
	const struct async_graph *graph = waits->async;
	HD_CLEANUP(window) struct window window = { .memory = waits->heap->memory };
	if (!has_calls(&graph->links))
		return HD_OK;
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		if (!async_node_is_awaited(&graph->rows[i]))
			TRY(add_messages(waits, (uint32_t)i, &window, ret, err));
	}
	wait_rows_sort(ret);
	return graph->failed ? fail_nomem(err) : HD_OK;
}

uint32_t wait_grain_node(const struct waits *waits, const struct wait_rows *grains, uint64_t source)
{
	const struct async_links *links = &waits->async->links;
	const struct async_link *call = async_link_find(links, source);
	if (!call || call->kind != LINK_CALL)
		return WAIT_NOBODY;
	const struct async_link *queued = async_link_find(links, call->to);
	bool is_queued = queued && queued->kind == LINK_QUEUED;
	return wait_rows_only(grains, is_queued ? queued->to : call->to);
}
