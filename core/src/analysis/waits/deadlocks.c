/* SPDX-License-Identifier: MIT */
#include "analysis/waits/deadlocks.h"

#include "util/alloc.h"

#define NOBODY      UINT32_MAX
#define NOT_SEEN    UINT32_MAX
#define NO_CYCLE    (UINT32_MAX - 1)
#define IN_PROGRESS (UINT32_MAX - 2)

/* For each row of waits: the row that it waits for, and the cycle that it is in or leads to. */
struct cycle_search {
	const struct waits *waits;
	uint32_t *next, *cycle;
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
	struct deadlock *deadlock = &search->found.rows[search->found.count];
	*deadlock = (struct deadlock){ .begin = search->members_count };
	uint32_t row = first;
	do {
		search->found.members[search->members_count++] = &search->waits->rows[row];
		search->cycle[row] = (uint32_t)search->found.count;
		deadlock->is_probable |= !search->waits->rows[row].owner;
		deadlock->count++;
		row = search->next[row];
	} while (row != first);
	search->found.count++;
}

/* Go from a row to the end, or to a row that was seen; then give all rows of the way their cycle. */
static void follow(struct cycle_search *search, uint32_t first)
{
	uint32_t row = first;
	while (row != NOBODY && search->cycle[row] == NOT_SEEN) {
		search->cycle[row] = IN_PROGRESS;
		row = search->next[row];
	}
	if (row != NOBODY && search->cycle[row] == IN_PROGRESS)
		note_cycle(search, row);
	uint32_t cycle = row == NOBODY ? NO_CYCLE : search->cycle[row];
	for (row = first; row != NOBODY && search->cycle[row] == IN_PROGRESS;
	     row = search->next[row]) {
		search->cycle[row] = cycle;
		if (cycle != NO_CYCLE)
			search->found.rows[cycle].followers++;
	}
}

static void find_cycles(struct cycle_search *search)
{
	const struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		const struct thread_wait *owner =
			wait_of_thread(waits, wait->owner ? wait->owner : wait->probable);
		search->next[i] = owner ? (uint32_t)(owner - waits->rows) : NOBODY;
		search->cycle[i] = NOT_SEEN;
	}
	for (size_t i = 0; i < waits->count; i++)
		follow(search, (uint32_t)i);
}

enum hd_status deadlocks_find(const struct waits *waits, struct deadlocks *ret,
			      struct hd_error *err)
{
	size_t count = waits->count + 1;
	struct cycle_search search = {
		.waits = waits,
		.next = mem_alloc(count, sizeof(*search.next)),
		.cycle = mem_alloc(count, sizeof(*search.cycle)),
		.found = { .rows = mem_alloc(count, sizeof(*search.found.rows)),
			   .members = mem_alloc(count, sizeof(const struct thread_wait *)) },
	};
	bool is_made = search.next && search.cycle && search.found.rows && search.found.members;
	if (is_made) {
		find_cycles(&search);
		*ret = search.found;
	} else {
		deadlocks_deinit(&search.found);
	}
	mem_free(search.next);
	mem_free(search.cycle);
	return is_made ? HD_OK : fail_nomem(err);
}
