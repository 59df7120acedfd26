/* SPDX-License-Identifier: MIT */
#include "analysis/graph/hash_index.h"

#include "util/alloc.h"

static bool grow_hash_slots(struct hash_index *table)
{
	struct hash_index larger = { .capacity = table->capacity ? 2 * table->capacity : 64,
				     .count = table->count };
	larger.slots = pages_alloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < table->capacity; i++) {
		const struct hash_slot *slot = &table->slots[i];
		size_t place = slot->hash & (larger.capacity - 1);
		while (slot->index && larger.slots[place].index)
			place = (place + 1) & (larger.capacity - 1);
		if (slot->index)
			larger.slots[place] = *slot;
	}
	hash_index_deinit(table);
	*table = larger;
	return true;
}

uint32_t hash_index_add(struct hash_index *table, uint64_t hash, uint32_t fresh,
			bool (*equal)(const void *arg, uint32_t index), const void *arg)
{
	if (2 * table->count >= table->capacity && !grow_hash_slots(table))
		return UINT32_MAX;
	uint32_t low = (uint32_t)(hash ^ hash >> 32);
	size_t place = low & (table->capacity - 1);
	for (;; place = (place + 1) & (table->capacity - 1)) {
		struct hash_slot *slot = &table->slots[place];
		if (!slot->index) {
			*slot = (struct hash_slot){ .hash = low, .index = fresh + 1 };
			table->count++;
			return fresh;
		}
		if (slot->hash == low && equal(arg, slot->index - 1))
			return slot->index - 1;
	}
}

void hash_index_deinit(struct hash_index *table)
{
	pages_free(table->slots, table->capacity, sizeof(*table->slots));
	*table = (struct hash_index){ 0 };
}
