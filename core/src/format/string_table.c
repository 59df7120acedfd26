/* SPDX-License-Identifier: MIT */
#include "format/string_table.h"

#include <string.h>

#include "util/alloc.h"

#define SLOTS_MIN 64u

/* FNV-1a, and its high bits into the low ones. */
static uint32_t hash_string(const char *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return (uint32_t)(hash ^ hash >> 32);
}

/* Twice the slots, with all strings in them. */
static bool grow_string_slots(struct string_table *table)
{
	size_t count = table->slot_count ? table->slot_count * 2 : SLOTS_MIN;
	uint32_t *slots = pages_alloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < table->places_count; i++) {
		size_t slot = table->places[i].hash & (count - 1);
		while (slots[slot])
			slot = (slot + 1) & (count - 1);
		slots[slot] = (uint32_t)i + 1;
	}
	pages_free(table->slots, table->slot_count, sizeof(*slots));
	table->slots = slots;
	table->slot_count = count;
	return true;
}

/* All of a string, in one go. */
static bool append_to_strings(struct string_table *table, const char *bytes, size_t size)
{
	size_t needed = table->bytes_count + size;
	if (needed < size)
		return false;
	if (needed > table->bytes_capacity) {
		size_t capacity = needed + needed / 2 + 64;
		char *grown = capacity < needed ? NULL
						: pages_resize(table->bytes, table->bytes_capacity,
							       capacity, 1);
		if (!grown)
			return false;
		table->bytes = grown;
		table->bytes_capacity = capacity;
	}
	if (size)
		memcpy(table->bytes + table->bytes_count, bytes, size);
	table->bytes_count = needed;
	return true;
}

enum hd_status string_table_add(struct string_table *table, const char *bytes, size_t size,
				uint32_t *ret, struct hd_error *err)
{
	if (size > UINT32_MAX)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "a name of 4 GiB or more");
	if (table->places_count + 1 >= table->slot_count / 2 && !grow_string_slots(table))
		return fail_nomem(err);
	uint32_t hash = hash_string(bytes, size);
	size_t slot = hash & (table->slot_count - 1);
	for (; table->slots[slot]; slot = (slot + 1) & (table->slot_count - 1)) {
		const struct string_place *place = &table->places[table->slots[slot] - 1];
		if (place->hash == hash && place->size == size &&
		    (!size || memcmp(table->bytes + place->at, bytes, size) == 0)) {
			*ret = table->slots[slot] - 1;
			return HD_OK;
		}
	}
	size_t at = table->bytes_count;
	if (table->places_count >= UINT32_MAX - 1 || !PAGES_RESERVE(table, places) ||
	    !append_to_strings(table, bytes, size))
		return fail_nomem(err);
	*ret = (uint32_t)table->places_count;
	table->places[table->places_count++] =
		(struct string_place){ .at = at, .size = (uint32_t)size, .hash = hash };
	table->slots[slot] = *ret + 1;
	return HD_OK;
}

void string_table_deinit(struct string_table *table)
{
	pages_free(table->bytes, table->bytes_capacity, 1);
	pages_free(table->places, table->places_capacity, sizeof(*table->places));
	pages_free(table->slots, table->slot_count, sizeof(*table->slots));
	*table = (struct string_table){ 0 };
}
