/* SPDX-License-Identifier: MIT */
#include "type_set.h"

#include <stdlib.h>

#define FIRST_CAPACITY 1024u

/* The slot of a type, or the free one where it belongs; there is a free one. */
static size_t slot_of(const struct type_set *set, uintptr_t type)
{
	size_t slot =
		(size_t)((type >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (set->capacity - 1);
	while (set->slots[slot] && set->slots[slot] != type)
		slot = (slot + 1) & (set->capacity - 1);
	return slot;
}

static bool grow(struct type_set *set)
{
	struct type_set larger = { .capacity = set->capacity ? set->capacity * 2 : FIRST_CAPACITY,
				   .count = set->count };
	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < set->capacity; i++) {
		if (set->slots[i])
			larger.slots[slot_of(&larger, set->slots[i])] = set->slots[i];
	}
	free(set->slots);
	*set = larger;
	return true;
}

bool type_set_add(struct type_set *set, uintptr_t type)
{
	if (!type)
		return true;
	if (set->count >= set->capacity / 2 && !grow(set))
		return false;
	size_t slot = slot_of(set, type);
	if (!set->slots[slot]) {
		set->slots[slot] = type;
		set->count++;
	}
	return true;
}

void type_set_deinit(struct type_set *set)
{
	free(set->slots);
	*set = (struct type_set){ 0 };
}
