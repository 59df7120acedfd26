/* SPDX-License-Identifier: MIT */
/* The graph of waits: for each thread and each async method, who must go on first. */
#include "analysis/async/async_graph.h"
#include "analysis/waits/wait_holders.h"
#include "analysis/waits/wait_parts.h"
#include "analysis/waits/wait_runners.h"
#include "util/alloc.h"

struct edge_search {
	struct waits *waits;
	struct wait_runners runners;
	struct held_semaphores semaphores;
};

static struct wait_edge edge_to(uint32_t node, bool is_probable)
{
	return (struct wait_edge){ .to = node, .is_probable = is_probable };
}

static struct wait_edge edge_of_box(const struct edge_search *search, const struct async_node *box)
{
	const struct waits *waits = search->waits;
	if (box->next != ASYNC_NO_BOX)
		return edge_to((uint32_t)waits->count + box->next, false);
	switch (box->wait) {
	case AWAIT_RUNS:
	case AWAIT_THREAD:
		return edge_to(wait_runner_of(&search->runners, box->address), false);
	case AWAIT_TASK:
		return edge_to(wait_runner_of(&search->runners, box->object), false);
	case AWAIT_SEMAPHORE:
		return edge_to(held_semaphore_holder(&search->semaphores, box->object), true);
	default:
		return edge_to(WAIT_NOBODY, false);
	}
}

static struct wait_edge edge_of_thread(const struct edge_search *search,
				       const struct thread_wait *wait)
{
	const struct waits *waits = search->waits;
	const struct thread_wait *owner = wait_of_thread(waits, wait->owner);
	if (owner)
		return edge_to((uint32_t)(owner - waits->rows), false);
	if (!wait->object.type)
		return edge_to(WAIT_NOBODY, false);
	if (wait->kind == WAIT_SEMAPHORE) {
		return edge_to(held_semaphore_holder(&search->semaphores, wait->object.address),
			       true);
	}
	if (wait->kind != WAIT_TASK)
		return edge_to(WAIT_NOBODY, false);
	uint32_t box = async_graph_find(waits->async, wait->object.address);
	if (box != ASYNC_NO_BOX)
		return edge_to((uint32_t)waits->count + box, false);
	return edge_to(wait_runner_of(&search->runners, wait->object.address), false);
}

/* Who waits for a task: the thread that runs it, or the innermost method that it awaits. */
static void set_owner_of_task(const struct edge_search *search, struct thread_wait *wait)
{
	struct waits *waits = search->waits;
	uint32_t to = waits->edges[wait - waits->rows].to;
	if (wait->kind != WAIT_TASK || wait->owner || to == WAIT_NOBODY)
		return;
	if (to >= waits->count)
		to = waits->edges[waits->count + waits->async->rows[to - waits->count].end].to;
	if (to < waits->count && &waits->rows[to] != wait)
		wait->owner = waits->rows[to].thread;
}

static void make_edges(struct edge_search *search)
{
	struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		const struct async_node *box = &waits->async->rows[i];
		waits->edges[waits->count + i] = edge_of_box(search, box);
	}
	for (size_t i = 0; i < waits->count; i++)
		waits->edges[i] = edge_of_thread(search, &waits->rows[i]);
	for (size_t i = 0; i < waits->count; i++)
		set_owner_of_task(search, &waits->rows[i]);
}

enum hd_status wait_find_edges(struct waits *waits, struct job *job, struct hd_error *err)
{
	struct edge_search search = { .waits = waits };
	size_t boxes = waits->async->rows_count;
	waits->edges = mem_alloc(waits->count + boxes + 1, sizeof(*waits->edges));
	enum hd_status status = waits->edges ? HD_OK : fail_nomem(err);
	if (status == HD_OK)
		status = wait_runners_find(waits, job, &search.runners, err);
	if (status == HD_OK)
		status = held_semaphores_find(waits, job, &search.semaphores, err);
	if (status == HD_OK)
		make_edges(&search);
	wait_runners_deinit(&search.runners);
	held_semaphores_deinit(&search.semaphores);
	return status;
}

size_t wait_nodes(const struct waits *waits)
{
	return waits->count + (waits->async ? waits->async->rows_count : 0);
}

const struct thread_wait *wait_node_thread(const struct waits *waits, uint32_t node)
{
	return node < waits->count ? &waits->rows[node] : NULL;
}

const struct async_node *wait_node_box(const struct waits *waits, uint32_t node)
{
	return node >= waits->count && node < wait_nodes(waits)
		       ? &waits->async->rows[node - waits->count]
		       : NULL;
}
