/* SPDX-License-Identifier: MIT */
#include "snapshot/edge_walk.h"

#include "util/sort.h"

size_t claimed_from(const struct root_set *roots, uint64_t address)
{
	return lower_bound_u64(roots->claimed, roots->claimed_count, address);
}

size_t edges_from(const struct root_set *roots, uint64_t address)
{
	return ROWS_FROM(roots->edges, roots->edges_count, from, address);
}

static void set_next(struct extra_edges *extra)
{
	uint64_t edge = extra->edge < extra->edge_end ? extra->edge->from : UINT64_MAX;
	uint64_t claim = extra->claim < extra->claim_end ? *extra->claim : UINT64_MAX;
	extra->next = edge < claim ? edge : claim;
}

void extra_edges_begin(struct extra_edges *extra, const struct root_set *roots, uint64_t address)
{
	*extra = (struct extra_edges){ .next = UINT64_MAX };
	if (!roots)
		return;
	if (roots->edges_count) {
		extra->edge = roots->edges + edges_from(roots, address);
		extra->edge_end = roots->edges + roots->edges_count;
	}
	if (roots->claimed_count) {
		extra->claim = roots->claimed + claimed_from(roots, address);
		extra->claim_end = roots->claimed + roots->claimed_count;
	}
	set_next(extra);
}

void extra_edges_skip(struct extra_edges *extra, uint64_t address)
{
	while (extra->edge < extra->edge_end && extra->edge->from < address)
		extra->edge++;
	while (extra->claim < extra->claim_end && *extra->claim < address)
		extra->claim++;
	set_next(extra);
}

bool extra_edges_claim(const struct extra_edges *extra, uint64_t slot)
{
	size_t count = (size_t)(extra->claim_end - extra->claim);
	size_t place = lower_bound_u64(extra->claim, count, slot);
	return place < count && extra->claim[place] == slot;
}

void edges_begin(struct edge_walk *walk, struct extra_edges *extra, struct walker *walker)
{
	const struct object *object = &walker->object;
	references_begin(&walk->references, &walker->window, object);
	walk->extra = NULL;
	walk->from_handles = 0;
	if (object->address + object->step <= extra->next)
		return;
	extra_edges_skip(extra, object->address);
	walk->extra = extra;
	walk->address = object->address;
}

/* The next edge of a dependent handle. */
static bool next_extra(struct edge_walk *walk, struct reference *ret)
{
	struct extra_edges *extra = walk->extra;
	while (extra->edge < extra->edge_end && extra->edge->from == walk->address) {
		*ret = (struct reference){ .slot = 0, .value = (extra->edge++)->to };
		walk->from_handles++;
		if (ret->value)
			return true;
	}
	return false;
}

bool edges_next(struct edge_walk *walk, struct reference *ret)
{
	while (references_next(&walk->references, ret)) {
		if (!walk->extra || !extra_edges_claim(walk->extra, ret->slot))
			return true;
	}
	return walk->extra && next_extra(walk, ret);
}
