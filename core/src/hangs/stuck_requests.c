/* SPDX-License-Identifier: MIT */
#include "hangs/stuck_requests.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "hangs/wait_quiet.h"
#include "hangs/wait_rows.h"
#include "hangs/wait_things.h"

static bool is_stuck(const struct async_graph *graph, uint32_t node)
{
	const struct async_node *end = &graph->rows[graph->rows[node].end];
	bool is_source = end->wait == AWAIT_SOURCE || end->wait == AWAIT_COMPLETION ||
			 end->wait == AWAIT_HTTP || end->wait == AWAIT_HTTP2;
	return is_source && !async_call_is_limited(graph, node);
}

static void keep_most(const struct wait_rows *rows, struct async_graph *graph,
		      struct stuck_requests *found)
{
	for (size_t i = 0, begin = 0; i < rows->rows_count; i++) {
		if (rows->rows[i].object != rows->rows[begin].object)
			begin = i;
		if (i - begin + 1 <= found->count)
			continue;
		found->count = i - begin + 1;
		found->own = async_innermost_own(graph, rows->rows[begin].node);
		found->end = graph->rows[rows->rows[begin].node].end;
	}
	if (found->count < STUCK_REQUESTS_MIN || found->count < found->all - found->all / 4)
		found->count = 0;
}

enum hd_status stuck_requests_find(const struct waits *waits, struct job *job,
				   struct stuck_requests *ret, struct hd_error *err)
{
	HD_CLEANUP(wait_rows) struct wait_rows rows = { .rows_count = 0 };
	struct async_graph *graph = waits->async;
	struct stuck_requests found = { .own = ASYNC_NO_NODE };
	bool is_quiet = false;
	for (size_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *node = &graph->rows[i];
		if (async_node_is_awaited(node) || !wait_is_of_server(graph, node))
			continue;
		uint32_t own = async_innermost_own(graph, (uint32_t)i);
		if (own == ASYNC_NO_NODE)
			continue;
		found.all++;
		if (!is_stuck(graph, (uint32_t)i))
			continue;
		TRY(wait_rows_add(&rows, graph->rows[own].method + UINT64_C(1), (uint32_t)i, err));
	}
	wait_rows_sort(&rows);
	keep_most(&rows, graph, &found);
	if (found.count)
		TRY(wait_quiet_find(waits, job, &is_quiet, err));
	if (!is_quiet)
		found.count = 0;
	*ret = found;
	return HD_OK;
}
