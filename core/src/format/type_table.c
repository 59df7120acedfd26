/* SPDX-License-Identifier: MIT */
#include "format/type_table.h"

#include <sys/random.h>

#include "util/alloc.h"

void type_table_deinit(struct type_table *table)
{
	pages_free(table->entries, table->capacity, sizeof(*table->entries));
	*table = (struct type_table){ 0 };
}

static size_t type_entry_slot(const struct type_table *table, uint32_t section, uint64_t id)
{
	/* splitmix64's finaliser over the seeded key */
	uint64_t x = (id ^ table->seed) + (uint64_t)section * 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (size_t)(x ^ (x >> 31)) & (table->capacity - 1);
}

static struct type_entry *find_type_entry(const struct type_table *table, uint32_t section,
					  uint64_t id)
{
	size_t slot = type_entry_slot(table, section, id);
	for (;;) {
		struct type_entry *entry = &table->entries[slot];
		if (!entry->index || (entry->id == id && entry->section == section))
			return entry;
		slot = (slot + 1) & (table->capacity - 1);
	}
}

static int grow_type_entries(struct type_table *table)
{
	struct type_table larger = { .capacity = table->capacity ? table->capacity * 2 : 256,
				     .count = table->count,
				     .seed = table->seed };
	if (!table->capacity && getrandom(&larger.seed, sizeof(larger.seed), GRND_NONBLOCK) < 0)
		larger.seed = (uint64_t)(uintptr_t)table;
	larger.entries = pages_alloc(larger.capacity, sizeof(*larger.entries));
	if (!larger.entries)
		return -1;
	for (size_t i = 0; i < table->capacity; i++) {
		const struct type_entry *entry = &table->entries[i];
		if (entry->index)
			*find_type_entry(&larger, entry->section, entry->id) = *entry;
	}
	type_table_deinit(table);
	*table = larger;
	return 0;
}

uint32_t type_table_add(struct type_table *table, uint32_t section, uint64_t id, uint32_t fresh)
{
	if (table->count >= table->capacity / 2 && grow_type_entries(table) != 0)
		return UINT32_MAX;
	struct type_entry *entry = find_type_entry(table, section, id);
	if (!entry->index) {
		*entry = (struct type_entry){ .id = id, .section = section, .index = fresh + 1 };
		table->count++;
	}
	return entry->index - 1;
}

uint32_t type_table_find(const struct type_table *table, uint32_t section, uint64_t id)
{
	/* A free entry has 0 there. */
	return table->capacity ? find_type_entry(table, section, id)->index - 1 : UINT32_MAX;
}

uint64_t type_table_hash(const char *name, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3u;
	return hash;
}
