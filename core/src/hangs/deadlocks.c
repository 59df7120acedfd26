/* SPDX-License-Identifier: MIT */
#include "hangs/deadlocks.h"

#include "analysis/async/async_graph.h"
#include "util/alloc.h"

#define NOT_SEEN    UINT32_MAX
#define NO_CYCLE    (UINT32_MAX - 1)
#define IN_PROGRESS (UINT32_MAX - 2)

/* For each node: the cycle that it is in or leads to. */
struct cycle_search {
	const struct waits *waits;
	uint32_t *cycle;
	struct deadlocks found;
	size_t members_count;
};

void deadlocks_deinit(struct deadlocks *deadlocks)
{
	mem_free(deadlocks->rows);
	mem_free(deadlocks->members);
	*deadlocks = (struct deadlocks){ 0 };
}

static void note_cycle(struct cycle_search *search, uint32_t first)
{
	const struct waits *waits = search->waits;
	struct deadlock *deadlock = &search->found.rows[search->found.count];
	*deadlock = (struct deadlock){ .begin = search->members_count };
	uint32_t node = first;
	do {
		search->found.members[search->members_count++] = node;
		search->cycle[node] = (uint32_t)search->found.count;
		deadlock->threads += wait_node_thread(waits, node) != NULL;
		deadlock->is_probable |= waits->edges[node].is_probable;
		deadlock->count++;
		node = waits->edges[node].to;
	} while (node != first);
	search->found.count++;
}

static void note_follower(struct cycle_search *search, uint32_t node, uint32_t cycle)
{
	const struct async_node *method = wait_node_method(search->waits, node);
	struct deadlock *deadlock = &search->found.rows[cycle];
	if (!method) {
		deadlock->following_threads++;
	} else if (!async_node_is_awaited(method) && method->root != ROOT_THREAD) {
		deadlock->following_chains++;
	}
}

/* Go from a node to the end, or to one that was seen; then give all nodes of the way their cycle. */
static void follow(struct cycle_search *search, uint32_t first)
{
	const struct wait_edge *edges = search->waits->edges;
	uint32_t node = first;
	while (node != WAIT_NOBODY && search->cycle[node] == NOT_SEEN) {
		search->cycle[node] = IN_PROGRESS;
		node = edges[node].to;
	}
	if (node != WAIT_NOBODY && search->cycle[node] == IN_PROGRESS)
		note_cycle(search, node);
	uint32_t cycle = node == WAIT_NOBODY ? NO_CYCLE : search->cycle[node];
	for (node = first; node != WAIT_NOBODY && search->cycle[node] == IN_PROGRESS;
	     node = edges[node].to) {
		search->cycle[node] = cycle;
		if (cycle != NO_CYCLE)
			note_follower(search, node, cycle);
	}
}

enum hd_status deadlocks_find(const struct waits *waits, struct deadlocks *ret,
			      struct hd_error *err)
{
	size_t count = wait_nodes(waits);
	struct cycle_search search = {
		.waits = waits,
		.cycle = mem_alloc(count + 1, sizeof(*search.cycle)),
		.found = { .rows = mem_alloc(count + 1, sizeof(*search.found.rows)),
			   .members = mem_alloc(count + 1, sizeof(*search.found.members)) },
	};
	bool is_made = search.cycle && search.found.rows && search.found.members;
	for (size_t i = 0; is_made && i < count; i++)
		search.cycle[i] = NOT_SEEN;
	for (size_t i = 0; is_made && i < count; i++)
		follow(&search, (uint32_t)i);
	if (is_made) {
		*ret = search.found;
	} else {
		deadlocks_deinit(&search.found);
	}
	mem_free(search.cycle);
	return is_made ? HD_OK : fail_nomem(err);
}
