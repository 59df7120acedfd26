/* SPDX-License-Identifier: MIT */
/*
 * One pass over the claims in order of their starts, with a heap of those that are open: the first of
 * it has the address.
 */
#include "native/memory_sweep.h"

#include <stdbool.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/sort.h"

struct sweep {
	const struct memory_claim **open; /* a binary heap */
	size_t open_count;
	struct memory_stretch *rows; /* at most two for each claim */
	size_t count;
};

ORDER_BY(compare_claims, struct memory_claim, start)

/* Does @p left come first? */
static bool is_before(const struct memory_claim *left, const struct memory_claim *right)
{
	if (left->priority != right->priority)
		return left->priority < right->priority;
	return left->row < right->row;
}

static void open_claim(struct sweep *sweep, const struct memory_claim *claim)
{
	size_t at = sweep->open_count++;
	while (at && is_before(claim, sweep->open[(at - 1) / 2])) {
		sweep->open[at] = sweep->open[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	sweep->open[at] = claim;
}

static void close_first(struct sweep *sweep)
{
	const struct memory_claim *claim = sweep->open[--sweep->open_count];
	size_t at = 0;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= sweep->open_count)
			break;
		if (child + 1 < sweep->open_count &&
		    is_before(sweep->open[child + 1], sweep->open[child]))
			child++;
		if (!is_before(sweep->open[child], claim))
			break;
		sweep->open[at] = sweep->open[child];
		at = child;
	}
	sweep->open[at] = claim;
}

static void put(struct sweep *sweep, uint64_t start, uint64_t end, uint32_t row)
{
	struct memory_stretch *last = sweep->count ? &sweep->rows[sweep->count - 1] : NULL;
	if (last && last->end == start && last->row == row) {
		last->end = end;
	} else {
		sweep->rows[sweep->count++] = (struct memory_stretch){ start, end, row };
	}
}

static void run_sweep(struct sweep *sweep, const struct memory_claim *claims, size_t count)
{
	size_t next = 0;
	uint64_t at = 0;
	while (next < count || sweep->open_count) {
		while (sweep->open_count && sweep->open[0]->end <= at)
			close_first(sweep);
		if (!sweep->open_count && next < count && claims[next].start > at)
			at = claims[next].start;
		for (; next < count && claims[next].start <= at; next++) {
			if (claims[next].end > at)
				open_claim(sweep, &claims[next]);
		}
		if (!sweep->open_count)
			continue;
		/* Up to the end of the first, or until another one begins. */
		uint64_t end = sweep->open[0]->end;
		if (next < count && claims[next].start < end)
			end = claims[next].start;
		put(sweep, at, end, sweep->open[0]->row);
		at = end;
	}
}

enum hd_status memory_sweep(struct memory_claim *claims, size_t count, struct memory_stretch **ret,
			    size_t *ret_count, struct hd_error *err)
{
	/* Pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
	struct sweep sweep = { .open = mem_alloc(count, sizeof(*sweep.open)),
			       .rows = mem_alloc(count, 2 * sizeof(*sweep.rows)) };
	if (!sweep.open || !sweep.rows) {
		mem_free(sweep.open);
		mem_free(sweep.rows);
		return fail_nomem(err);
	}
	if (count)
		qsort(claims, count, sizeof(*claims), compare_claims);
	run_sweep(&sweep, claims, count);
	mem_free(sweep.open);
	*ret = sweep.rows;
	*ret_count = sweep.count;
	return HD_OK;
}
