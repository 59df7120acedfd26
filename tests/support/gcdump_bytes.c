/* SPDX-License-Identifier: MIT */
#include "support/gcdump_bytes.h"

#include <string.h>

void put(struct text *text, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char byte = (char)(value >> 8 * i);
		text_append(text, &byte, 1);
	}
}

void put_string(struct text *text, const char *string)
{
	put(text, string ? strlen(string) : UINT32_MAX, 4);
	if (string)
		text_puts(text, string);
}

void put_type(struct text *text, const char *name, uint32_t version, uint32_t min_reader)
{
	text_append(text, "\4\4\1", 3);
	put(text, version, 4);
	put(text, min_reader, 4);
	put_string(text, name);
	text_append(text, "\6", 1);
}

void put_hex(struct text *text, const char *hex)
{
	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		char byte = (char)(hex_value(hex[0]) << 4 | hex_value(hex[1]));
		text_append(text, &byte, 1);
		hex++;
	}
}

void put_head(struct text *text, uint32_t graph_min_reader)
{
	put_string(text, "!FastSerialization.1");
	put_type(text, "GCHeapDump", 10, 8);
	put_type(text, "Graphs.MemoryGraph", 1, graph_min_reader);
}

void put_end(struct text *text, const uint32_t *forwards, uint32_t count)
{
	text_append(text, "\6", 1);
	size_t table = text->size;
	put(text, count, 4);
	for (uint32_t i = 0; i < count; i++)
		put(text, forwards[i], 4);
	size_t trailer = text->size;
	put(text, table, 4);
	put(text, trailer, 4);
}

void put_row(struct text *text, const char *name, uint32_t size, const char *module)
{
	put_string(text, name);
	put(text, size, 4);
	put_string(text, module);
}
