/* SPDX-License-Identifier: MIT */
#include "snapshot/edge_walk.h"

#include "util/sort.h"

size_t beside_claimed_from(const struct root_set *roots, uint64_t address)
{
	return lower_bound_u64(roots->claimed, roots->claimed_count, address);
}

size_t edges_from(const struct root_set *roots, uint64_t address)
{
	return ROWS_FROM(roots->edges, roots->edges_count, from, address);
}

static void set_next(struct beside *beside)
{
	uint64_t edge = beside->edge < beside->edge_end ? beside->edge->from : UINT64_MAX;
	uint64_t claim = beside->claim < beside->claim_end ? *beside->claim : UINT64_MAX;
	beside->next = edge < claim ? edge : claim;
}

void beside_begin(struct beside *beside, const struct root_set *roots, uint64_t address)
{
	*beside = (struct beside){ .next = UINT64_MAX };
	if (!roots)
		return;
	if (roots->edges_count) {
		beside->edge = roots->edges + edges_from(roots, address);
		beside->edge_end = roots->edges + roots->edges_count;
	}
	if (roots->claimed_count) {
		beside->claim = roots->claimed + beside_claimed_from(roots, address);
		beside->claim_end = roots->claimed + roots->claimed_count;
	}
	set_next(beside);
}

void beside_skip(struct beside *beside, uint64_t address)
{
	while (beside->edge < beside->edge_end && beside->edge->from < address)
		beside->edge++;
	while (beside->claim < beside->claim_end && *beside->claim < address)
		beside->claim++;
	set_next(beside);
}

bool beside_claims(const struct beside *beside, uint64_t slot)
{
	size_t count = (size_t)(beside->claim_end - beside->claim);
	size_t place = lower_bound_u64(beside->claim, count, slot);
	return place < count && beside->claim[place] == slot;
}

void edges_begin(struct edge_walk *walk, struct beside *beside, struct walker *walker)
{
	const struct object *object = &walker->object;
	references_begin(&walk->references, &walker->window, object);
	walk->beside = NULL;
	walk->extra = 0;
	if (object->address + object->step <= beside->next)
		return;
	beside_skip(beside, object->address);
	walk->beside = beside;
	walk->address = object->address;
}

/* The next edge of a dependent handle. */
static bool next_beside(struct edge_walk *walk, struct reference *ret)
{
	struct beside *beside = walk->beside;
	while (beside->edge < beside->edge_end && beside->edge->from == walk->address) {
		*ret = (struct reference){ .slot = 0, .value = (beside->edge++)->to };
		walk->extra++;
		if (ret->value)
			return true;
	}
	return false;
}

bool edges_next(struct edge_walk *walk, struct reference *ret)
{
	while (references_next(&walk->references, ret)) {
		if (!walk->beside || !beside_claims(walk->beside, ret->slot))
			return true;
	}
	return walk->beside && next_beside(walk, ret);
}
