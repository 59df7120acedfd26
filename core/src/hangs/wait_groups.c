/* SPDX-License-Identifier: MIT */
#include "hangs/wait_groups.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "hangs/wait_rows.h"
#include "hangs/wait_urgency.h"
#include "util/alloc.h"

/* A key is the method and the way of waiting: both kinds of ways have fewer numbers than this. */
#define WAYS 64u

_Static_assert(WAIT_KINDS <= WAYS && AWAIT_KINDS <= WAYS, "a way of waiting has no place in a key");

static bool thread_waits(const struct thread_wait *wait)
{
	return wait->kind != WAIT_NONE && wait->kind != WAIT_IDLE && !wait->is_over;
}

static bool call_waits(const struct async_node *end)
{
	switch (end->wait) {
	case AWAIT_THREAD:
	case AWAIT_RUNS:
	case AWAIT_YIELD:
	case AWAIT_DONE:
	case AWAIT_UNKNOWN:
		return false;
	default:
		return true;
	}
}

static uint64_t object_of_node(const struct waits *waits, uint32_t node)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	if (wait)
		return wait->object.type ? wait->object.address : 0;
	return waits->async->rows[wait_node_method(waits, node)->end].object;
}

/* The node that has what @p node waits for; WAIT_NOBODY: not known. */
static uint32_t holder_of(const struct waits *waits, uint32_t node)
{
	const struct async_node *method = wait_node_method(waits, node);
	uint32_t own = method ? (uint32_t)waits->count + method->end : node;
	return wait_is_for_known(waits, node) ? WAIT_NOBODY : waits->edges[own].to;
}

static bool comes_before(const struct wait_group *a, const struct wait_group *b)
{
	if (a->urgency != b->urgency)
		return a->urgency < b->urgency;
	return a->is_for_known != b->is_for_known ? b->is_for_known : a->count > b->count;
}

/* Keep a group if it is among the first. */
static void keep_group(struct wait_groups *groups, const struct wait_group *group)
{
	size_t at = groups->rows_count;
	while (at > 0 && comes_before(group, &groups->rows[at - 1]))
		at--;
	groups->others += groups->rows_count == WAIT_GROUPS_MAX;
	if (at == WAIT_GROUPS_MAX)
		return;
	if (groups->rows_count < WAIT_GROUPS_MAX)
		groups->rows_count++;
	memmove(&groups->rows[at + 1], &groups->rows[at],
		(groups->rows_count - at - 1) * sizeof(*groups->rows));
	groups->rows[at] = *group;
}

static enum wait_urgency urgency_of(const struct waits *waits, const uint8_t *urgencies,
				    uint32_t node, uint32_t own)
{
	return own == ASYNC_NO_NODE
		       ? urgencies[node]
		       : wait_urgency_of_call(waits, urgencies, node - (uint32_t)waits->count, own);
}

/* The node in which the chain of the call @p node ends, if that is not @p own. */
static uint32_t inner_of(const struct waits *waits, uint32_t node, uint32_t own)
{
	if (own == ASYNC_NO_NODE)
		return ASYNC_NO_NODE;
	const struct async_node *rows = waits->async->rows;
	uint32_t end = rows[node - waits->count].end;
	return rows[end].method == rows[own].method ? ASYNC_NO_NODE : end;
}

/* Do two calls end in the same method? */
static bool is_same_end(const struct waits *waits, uint32_t a, uint32_t b)
{
	const struct async_node *rows = waits->async->rows;
	if (a == ASYNC_NO_NODE || b == ASYNC_NO_NODE)
		return a == b;
	return rows[a].method == rows[b].method;
}

/* The node that has the method of the program in which @p node waits. */
static uint32_t own_node(const struct waits *waits, uint32_t node)
{
	uint32_t count = (uint32_t)waits->count;
	return node < count ? node : count + async_innermost_own(waits->async, node - count);
}

/* @p rows has the key of each waiter, and its node. */
static void keep_groups(const struct waits *waits, const uint8_t *urgencies, struct wait_rows *rows,
			struct wait_groups *groups)
{
	struct wait_group group = { 0 };
	wait_rows_sort(rows);
	for (size_t i = 0; i < rows->rows_count; i++) {
		const struct wait_row *row = &rows->rows[i];
		uint64_t object = object_of_node(waits, row->node);
		struct wait_callers callers;
		wait_callers_find(waits, own_node(waits, row->node), &callers);
		if (group.count == 0) {
			group = (struct wait_group){ .node = row->node,
						     .own = ASYNC_NO_NODE,
						     .inner = ASYNC_NO_NODE,
						     .object = object,
						     .urgency = WAIT_URGENCIES,
						     .is_for_known = true,
						     .callers = callers,
						     .holder = holder_of(waits, row->node) };
			if (!wait_node_thread(waits, row->node)) {
				group.own = async_innermost_own(waits->async,
								row->node - (uint32_t)waits->count);
				group.inner = inner_of(waits, row->node, group.own);
			}
		}
		if (group.inner != ASYNC_NO_NODE &&
		    !is_same_end(waits, group.inner, inner_of(waits, row->node, group.own)))
			group.inner = ASYNC_NO_NODE;
		enum wait_urgency urgency = urgency_of(waits, urgencies, row->node, group.own);
		if (urgency < group.urgency)
			group.urgency = urgency;
		group.count++;
		wait_callers_keep(waits, &group.callers, &callers);
		group.is_for_known &= wait_is_for_known(waits, row->node);
		if (group.object != object)
			group.object = 0;
		if (group.holder != holder_of(waits, row->node))
			group.holder = WAIT_NOBODY;
		if (!wait_rows_has(rows, i + 1, row->object)) {
			keep_group(groups, &group);
			group.count = 0;
		}
	}
}

static enum hd_status group_threads(const struct waits *waits, const uint8_t *urgencies,
				    struct wait_groups *groups, struct hd_error *err)
{
	HD_CLEANUP(wait_rows) struct wait_rows rows = { 0 };
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		uint64_t key = wait_method(wait) * WAYS + wait->kind;
		if (thread_waits(wait))
			TRY(wait_rows_add(&rows, key, (uint32_t)i, err));
	}
	groups->threads = rows.rows_count;
	keep_groups(waits, urgencies, &rows, groups);
	return HD_OK;
}

static enum hd_status group_calls(const struct waits *waits, const uint8_t *urgencies,
				  struct wait_groups *groups, struct hd_error *err)
{
	HD_CLEANUP(wait_rows) struct wait_rows rows = { 0 };
	struct async_graph *async = waits->async;
	for (size_t i = 0; i < async->rows_count; i++) {
		const struct async_node *node = &async->rows[i];
		const struct async_node *end = &async->rows[node->end];
		if (async_node_is_awaited(node) || !call_waits(end))
			continue;
		uint32_t own = async_innermost_own(async, (uint32_t)i);
		if (own == ASYNC_NO_NODE)
			continue;
		uint64_t key = (uint64_t)async->rows[own].method * WAYS + end->wait;
		TRY(wait_rows_add(&rows, key, (uint32_t)(waits->count + i), err));
	}
	groups->calls = rows.rows_count;
	keep_groups(waits, urgencies, &rows, groups);
	return HD_OK;
}

enum hd_status wait_groups_find(const struct waits *waits, struct wait_groups *ret,
				struct hd_error *err)
{
	HD_FREE uint8_t *urgencies = mem_alloc(wait_nodes(waits) + 1, sizeof(*urgencies));
	TRY_MEMORY(urgencies, err);
	TRY(wait_urgency_find(waits, urgencies, err));
	*ret = (struct wait_groups){ 0 };
	TRY(group_threads(waits, urgencies, ret, err));
	return group_calls(waits, urgencies, ret, err);
}

size_t wait_groups_told(const struct wait_groups *groups)
{
	const struct wait_group *second = &groups->rows[1];
	bool has_second = groups->rows_count > 1 && second->urgency == WAIT_FOR_PROGRAM &&
			  !second->is_for_known;
	return has_second ? 2 : groups->rows_count > 0;
}
