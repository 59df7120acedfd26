/* SPDX-License-Identifier: MIT */
/* The graph of waits: for each thread and each async method, who must go on first. */
#include <string.h>

#include "analysis/async/async_graph.h"
#include "hangs/wait_contexts.h"
#include "hangs/wait_databases.h"
#include "hangs/wait_grains.h"
#include "hangs/wait_handles.h"
#include "hangs/wait_holders.h"
#include "hangs/wait_hubs.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_readers.h"
#include "hangs/wait_several.h"
#include "hangs/wait_tasks.h"
#include "util/alloc.h"

/* Steps from a thread that waits for a task to the thread that must act: async methods between them. */
#define OWNER_STEPS_MAX 64u

/* wait_first_of(): nodes from one to another that it waits for. */
#define WAY_MAX 64u

/* wait_ends(): the node is on the way that is followed. */
#define IN_PROGRESS (WAIT_IN_CYCLE - 1)

struct edge_search {
	struct waits *waits;
	struct wait_tasks tasks;
	struct held_semaphores semaphores;
	struct wait_readers readers;
	struct wait_contexts contexts;
	struct wait_rows grains;    /* wait_grains_find() */
	struct wait_rows hubs;      /* wait_hubs_find() */
	struct wait_rows databases; /* wait_databases_find() */
};

static struct wait_edge edge_to(uint32_t node, bool is_probable)
{
	return (struct wait_edge){ .to = node, .is_probable = is_probable };
}

static struct wait_edge edge_of_method(const struct edge_search *search,
				       const struct async_node *method)
{
	const struct waits *waits = search->waits;
	if (method->next != ASYNC_NO_NODE)
		return edge_to((uint32_t)waits->count + method->next, method->is_limited);
	switch (method->wait) {
	case AWAIT_RUNS:
	case AWAIT_THREAD:
		if (method->thread != ASYNC_NO_THREAD)
			return edge_to(waits->by_thread[method->thread], false);
		return edge_to(wait_rows_first(&search->tasks.runners, method->task), false);
	case AWAIT_TASK:
	case AWAIT_UNWRAP:
		return edge_to(wait_task_node(&search->tasks, method->object), false);
	case AWAIT_SEMAPHORE:
		return edge_to(held_semaphore_holder(&search->semaphores, method->object), true);
	case AWAIT_SOURCE:
		/* The client may go away, and the wait may be cancelled. */
		return edge_to(
			wait_rows_first(&search->hubs,
					waits->count + (uint64_t)(method - waits->async->rows) + 1),
			true);
	case AWAIT_GRAIN:
		/* Each call has a limit of time. */
		return edge_to(wait_grain_node(waits, &search->grains, method->object), true);
	default:
		return edge_to(WAIT_NOBODY, false);
	}
}

/* The innermost of the nodes that have it, if they are of one chain; it tries for a limited time. */
static uint32_t holder_of_database(const struct edge_search *search, const struct thread_wait *wait)
{
	const struct waits *waits = search->waits;
	const struct wait_rows *rows = &search->databases;
	uint64_t object = wait->object.address;
	uint32_t first = wait_rows_first(rows, object);
	for (size_t i = wait_rows_of(rows, object); wait_rows_has(rows, i, object); i++) {
		uint32_t node = rows->rows[i].node;
		uint32_t end = wait_chain_end(waits, node);
		if (node != first && (end == ASYNC_NO_NODE || end != wait_chain_end(waits, first)))
			return WAIT_NOBODY;
	}
	return first;
}

static struct wait_edge edge_of_thread(const struct edge_search *search,
				       const struct thread_wait *wait)
{
	const struct waits *waits = search->waits;
	const struct thread_wait *owner = wait_of_thread(waits, wait->stored_owner);
	if (wait->is_over)
		return edge_to(WAIT_NOBODY, false);
	if (owner)
		return edge_to((uint32_t)(owner - waits->rows), false);
	if (!wait->object.type)
		return edge_to(WAIT_NOBODY, false);
	if (wait->kind == WAIT_SEMAPHORE) {
		return edge_to(held_semaphore_holder(&search->semaphores, wait->object.address),
			       true);
	}
	if (wait->kind == WAIT_DATABASE)
		return edge_to(holder_of_database(search, wait), true);
	if (wait->kind != WAIT_TASK)
		return edge_to(WAIT_NOBODY, false);
	return edge_to(wait_task_node(&search->tasks, wait->object.address), false);
}

static bool waits_for_tasks(const struct thread_wait *wait)
{
	return wait->kind == WAIT_TASK || wait->kind == WAIT_ALL_TASKS ||
	       wait->kind == WAIT_ANY_TASK;
}

/*
 * Who must act: the stored owner.  For tasks it is the thread that runs one, or the innermost method that it awaits, and
 * of several that read a lock the one that counts.
 */
static void blame_owner(const struct waits *waits, struct thread_wait *wait)
{
	uint32_t node = (uint32_t)(wait - waits->rows), to = waits->edges[node].to;
	bool is_lock = !waits_for_tasks(wait) && wait_node_several(waits, node) != NULL;
	wait->blamed_owner = is_lock ? NULL : wait->stored_owner;
	if ((!waits_for_tasks(wait) && !is_lock) || wait->blamed_owner)
		return;
	for (unsigned int i = 0; i < OWNER_STEPS_MAX && to != WAIT_NOBODY && to >= waits->count;
	     i++)
		to = waits->edges[waits->count + waits->async->rows[to - waits->count].end].to;
	if (to < waits->count && &waits->rows[to] != wait)
		wait->blamed_owner = waits->rows[to].thread;
}

/* An async method that comes back to a thread needs that one, too. */
static enum hd_status add_context(struct edge_search *search, const struct async_node *method,
				  uint32_t node, struct hd_error *err)
{
	struct waits *waits = search->waits;
	struct wait_several several = { .node = node, .begin = waits->several.parts_count };
	bool is_scheduler;
	uint32_t thread = wait_context_of(&search->contexts, waits, method, &is_scheduler);
	if (thread == WAIT_NOBODY || !wait_parts_have_room(waits, 2))
		return HD_OK;
	if (waits->edges[node].to != WAIT_NOBODY)
		TRY(wait_part_add(waits, waits->edges[node], err));
	const struct wait_edge edge = { .to = thread,
					.is_probable = !is_scheduler,
					.returns_to_thread = true,
					.is_of_scheduler = is_scheduler };
	TRY(wait_part_add(waits, edge, err));
	return wait_several_add(waits, several, err);
}

static enum hd_status make_edges(struct edge_search *search, struct hd_error *err)
{
	struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->count; i++) {
		waits->edges[i] = edge_of_thread(search, &waits->rows[i]);
		if (waits->rows[i].is_over)
			continue;
		TRY(wait_add_several_of_thread(&search->tasks, &waits->rows[i], err));
		TRY(wait_add_readers(&search->readers, waits, &waits->rows[i], err));
		TRY(wait_add_handles(waits, &waits->rows[i], err));
	}
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		const struct async_node *method = &waits->async->rows[i];
		uint32_t node = (uint32_t)(waits->count + i);
		waits->edges[node] = edge_of_method(search, method);
		if (method->wait == AWAIT_ALL || method->wait == AWAIT_ANY) {
			TRY(wait_add_several(&search->tasks, node, method->object, err));
		} else {
			TRY(add_context(search, method, node, err));
		}
	}
	TRY(wait_choose_edges(waits, err));
	return waits->async->failed ? fail_nomem(err) : HD_OK;
}

static void edge_search_deinit(struct edge_search *search)
{
	wait_tasks_deinit(&search->tasks);
	wait_readers_deinit(&search->readers);
	wait_contexts_deinit(&search->contexts);
	held_semaphores_deinit(&search->semaphores);
	wait_rows_deinit(&search->grains);
	wait_rows_deinit(&search->hubs);
	wait_rows_deinit(&search->databases);
}

enum hd_status wait_find_edges(struct waits *waits, struct job *job, struct hd_error *err)
{
	HD_CLEANUP(edge_search) struct edge_search search = { .waits = waits };
	waits->edges = mem_alloc(wait_nodes(waits) + 1, sizeof(*waits->edges));
	TRY_MEMORY(waits->edges, err);
	TRY(wait_tasks_init(waits, job, &search.tasks, err));
	TRY(held_semaphores_find(waits, job, &search.semaphores, err));
	TRY(wait_readers_find(waits, job, &search.readers, err));
	TRY(wait_grains_find(waits, job, &search.grains, err));
	TRY(wait_hubs_find(waits, job, &search.hubs, err));
	TRY(wait_databases_find(waits, job, &search.databases, err));
	TRY(wait_contexts_find(&search.tasks, job, &search.contexts, err));
	return make_edges(&search, err);
}

void wait_blame_owners(struct waits *waits)
{
	for (size_t i = 0; i < waits->count; i++) {
		if (waits->edges) {
			blame_owner(waits, &waits->rows[i]);
		} else {
			waits->rows[i].blamed_owner = waits->rows[i].stored_owner;
		}
	}
}

size_t wait_nodes(const struct waits *waits)
{
	return waits->count + (waits->async ? waits->async->rows_count : 0);
}

const struct thread_wait *wait_node_thread(const struct waits *waits, uint32_t node)
{
	return node < waits->count ? &waits->rows[node] : NULL;
}

const struct async_node *wait_node_method(const struct waits *waits, uint32_t node)
{
	return node >= waits->count && node < wait_nodes(waits)
		       ? &waits->async->rows[node - waits->count]
		       : NULL;
}

void wait_ends(const struct waits *waits, uint32_t *ends)
{
	size_t nodes = wait_nodes(waits);
	for (size_t i = 0; i < nodes; i++)
		ends[i] = WAIT_NOBODY;
	for (size_t i = 0; i < nodes; i++) {
		uint32_t node = (uint32_t)i, last = node;
		while (node != WAIT_NOBODY && ends[node] == WAIT_NOBODY) {
			ends[node] = IN_PROGRESS;
			last = node;
			node = waits->edges[node].to;
		}
		uint32_t end = node == WAIT_NOBODY ? last : ends[node];
		if (end == IN_PROGRESS)
			end = WAIT_IN_CYCLE;
		for (node = (uint32_t)i; node != WAIT_NOBODY && ends[node] == IN_PROGRESS;
		     node = waits->edges[node].to)
			ends[node] = end;
	}
}

/* The last edge of the way from @p first that is only probable: its node, or WAIT_NOBODY. */
static uint32_t last_probable(const struct waits *waits, uint32_t first, const bool *is_known,
			      const bool *are_probable)
{
	uint32_t last = WAIT_NOBODY, node = first;
	for (; !is_known[node] && waits->edges[node].to != WAIT_NOBODY;
	     node = waits->edges[node].to) {
		if (waits->edges[node].is_probable)
			last = node;
	}
	return is_known[node] && are_probable[node] ? node : last;
}

enum hd_status wait_ways(const struct waits *waits, const uint32_t *ends, bool *are_probable,
			 struct hd_error *err)
{
	size_t nodes = wait_nodes(waits);
	HD_FREE bool *is_known = mem_calloc(nodes + 1, sizeof(*is_known));
	TRY_MEMORY(is_known, err);
	memset(are_probable, 0, nodes * sizeof(*are_probable));
	for (size_t i = 0; i < nodes; i++) {
		if (ends[i] == WAIT_IN_CYCLE)
			continue;
		uint32_t last = last_probable(waits, (uint32_t)i, is_known, are_probable);
		bool is_probable = last != WAIT_NOBODY;
		for (uint32_t node = (uint32_t)i; node != WAIT_NOBODY && !is_known[node];
		     node = waits->edges[node].to) {
			is_known[node] = true;
			are_probable[node] = is_probable;
			is_probable &= node != last;
		}
	}
	return HD_OK;
}

uint32_t wait_first_of(const struct waits *waits, const bool *among, uint32_t node)
{
	for (unsigned int i = 0; i < WAY_MAX && node != WAIT_NOBODY; i++) {
		if (among[node])
			return node;
		struct wait_edge edge = waits->edges[node];
		node = edge.is_probable ? WAIT_NOBODY : edge.to;
	}
	return WAIT_NOBODY;
}
