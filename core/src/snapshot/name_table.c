/* SPDX-License-Identifier: MIT */
#include "snapshot/name_table.h"

#include <string.h>

#include "util/alloc.h"
#include "util/arena.h"

static size_t first_place(const struct name_table *table, struct name_key key)
{
	uint64_t hash = (key.of ^ key.part * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
	return (size_t)(hash >> 32) & (table->capacity - 1);
}

/* Entry of @p key, or the free one where it belongs. */
static struct name_entry *probe(const struct name_table *table, struct name_key key)
{
	size_t place = first_place(table, key);
	for (;; place = (place + 1) & (table->capacity - 1)) {
		struct name_entry *entry = &table->entries[place];
		if (!entry->is_used || (entry->key.of == key.of && entry->key.part == key.part))
			return entry;
	}
}

static bool grow_name_table(struct name_table *table)
{
	struct name_table larger = { .arena = table->arena,
				     .count = table->count,
				     .capacity = table->capacity ? 2 * table->capacity : 64 };
	larger.entries = pages_alloc(larger.capacity, sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (size_t i = 0; i < table->capacity; i++) {
		if (table->entries[i].is_used)
			*probe(&larger, table->entries[i].key) = table->entries[i];
	}
	name_table_deinit(table);
	*table = larger;
	return true;
}

struct name_entry *name_table_find(struct name_table *table, struct name_key key)
{
	if (4 * table->count >= 3 * table->capacity && !grow_name_table(table))
		return NULL;
	struct name_entry *entry = probe(table, key);
	entry->key = key;
	return entry;
}

enum hd_status name_table_add(struct name_table *table, struct name_entry *entry,
			      const struct text *text, struct hd_error *err)
{
	TRY(name_table_keep_text(table->arena, text, &entry->name, err));
	entry->is_used = true;
	table->count++;
	return HD_OK;
}

void name_table_deinit(struct name_table *table)
{
	pages_free(table->entries, table->capacity, sizeof(*table->entries));
	table->entries = NULL;
	table->count = table->capacity = 0;
}

enum hd_status name_table_keep_text(struct arena *arena, const struct text *text, const char **ret,
				    struct hd_error *err)
{
	*ret = NULL;
	if (text->failed)
		return fail_nomem(err);
	if (!text->size)
		return HD_OK;
	char *copy = arena_alloc(arena, text->size + 1);
	TRY_MEMORY(copy, err);
	memcpy(copy, text->bytes, text->size + 1);
	*ret = copy;
	return HD_OK;
}
