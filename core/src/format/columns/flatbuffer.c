/* SPDX-License-Identifier: MIT */
#include "format/columns/flatbuffer.h"

#define WORD 4u /* of a reference, and of a list's length */

/* Append zeros until what follows @p extra more bytes is aligned. */
static void pad(struct text *to, size_t alignment, size_t extra)
{
	static const char zeros[8] = { 0 };
	text_append(to, zeros, (alignment - (to->size + extra) % alignment) % alignment);
}

static void put_u16(struct text *to, size_t value)
{
	uint16_t number = (uint16_t)value;
	text_append(to, (const char *)&number, sizeof(number));
}

static void put_u32(struct text *to, size_t value)
{
	uint32_t number = (uint32_t)value;
	text_append(to, (const char *)&number, sizeof(number));
}

static void store(struct text *to, size_t place, const void *bytes, size_t size)
{
	if (!to->failed)
		memcpy(to->bytes + place, bytes, size);
}

void flat_begin(struct text *to)
{
	to->size = 0;
	put_u32(to, 0);
}

size_t flat_table(struct text *to, const struct flat_field *fields, size_t count,
		  size_t *ret_places)
{
	size_t offsets[FLAT_FIELDS] = { 0 }, by_slot[FLAT_FIELDS] = { 0 };
	size_t size = WORD, slots = 0;
	for (size_t i = 0; i < count; i++) {
		size_t bytes = fields[i].size ? fields[i].size : WORD;
		size = (size + bytes - 1) / bytes * bytes;
		offsets[i] = by_slot[fields[i].slot] = size;
		size += bytes;
		slots = fields[i].slot >= slots ? fields[i].slot + 1 : slots;
	}
	pad(to, 2, 0);
	size_t layout = to->size;
	put_u16(to, 4 + 2 * slots);
	put_u16(to, size);
	for (size_t i = 0; i < slots; i++)
		put_u16(to, by_slot[i]);
	pad(to, 8, 0);
	size_t table = to->size;
	put_u32(to, table - layout);
	char *room = text_extend(to, size - WORD);
	if (room)
		memset(room, 0, size - WORD);
	for (size_t i = 0; i < count; i++) {
		store(to, table + offsets[i], &fields[i].value, fields[i].size);
		if (ret_places)
			ret_places[i] = table + offsets[i];
	}
	return table;
}

void flat_link(struct text *to, size_t place, size_t target)
{
	uint32_t distance = (uint32_t)(target - place);
	store(to, place, &distance, sizeof(distance));
}

void flat_string(struct text *to, size_t place, const char *string)
{
	pad(to, WORD, 0);
	flat_link(to, place, to->size);
	put_u32(to, strlen(string));
	text_append(to, string, strlen(string) + 1);
}

size_t flat_list(struct text *to, size_t place, size_t count)
{
	pad(to, WORD, 0);
	flat_link(to, place, to->size);
	put_u32(to, count);
	size_t first = to->size;
	for (size_t i = 0; i < count; i++)
		put_u32(to, 0);
	return first;
}

void flat_pairs(struct text *to, size_t place, const int64_t (*pairs)[2], size_t count)
{
	pad(to, 8, WORD);
	flat_link(to, place, to->size);
	put_u32(to, count);
	text_append(to, (const char *)pairs, count * sizeof(*pairs));
}
