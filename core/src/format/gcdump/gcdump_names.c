/* SPDX-License-Identifier: MIT */
/*
 * Converts names of types from the form of dotnet-gcdump and PerfView to that of the heap.
 * dotnet-gcdump writes < for [, > for ], then [] for <>, leaves out `2, and gives large objects a
 * special name (DotNetHeapDumpGraphReader.cs: ConvertToCSharpName, CreateObjectNode).
 */
#include "format/gcdump/gcdump_names.h"

#include <string.h>

#include "format/gcdump/gcdump_reading.h"

/* The ends of names, by class. */
static const char *const suffixes[GCDUMP_SIZE_CLASSES] = {
	"",
	" (Bytes > 1K)",
	" (Bytes > 10K)",
	" (Bytes > 100K)",
	" (Bytes > 1M)",
	" (Bytes > 10M)",
	" (Bytes > 100M)",
};

unsigned int gcdump_size_class(uint64_t size)
{
	unsigned int size_class = size > 1000;
	for (uint64_t limit = 10000; size >= limit && size_class < GCDUMP_SIZE_CLASSES - 1;
	     limit *= 10)
		size_class++;
	return size_class;
}

const char *gcdump_class_suffix(unsigned int size_class)
{
	return suffixes[size_class];
}

unsigned int gcdump_named_class(const char *name, size_t size)
{
	for (unsigned int i = 1; i < GCDUMP_SIZE_CLASSES; i++) {
		size_t length = strlen(suffixes[i]);
		if (size > length && memcmp(name + size - length, suffixes[i], length) == 0)
			return i;
	}
	return 0;
}

/* Length of "<,>" or "<*>" at @p at, the brackets of an array; 0: there are none. */
static size_t brackets_at(const char *name, size_t at, size_t size)
{
	size_t end = at + 1;
	while (end < size && (name[end] == ',' || name[end] == '*'))
		end++;
	return end > at + 1 && end < size && name[end] == '>' ? end + 1 - at : 0;
}

/* Is "[]" at @p at where an identifier begins?  Then it was "<>": "[]c". */
static bool is_generated(const char *name, size_t at, size_t size)
{
	return at + 2 < size && name[at + 1] == ']' && !strchr("[]<>,+ ", name[at + 2]) &&
	       (!at || strchr("<,+. ", name[at - 1]));
}

void gcdump_type_name(struct text *text, const char *name, size_t size)
{
	size_t angles = 0, squares = 0;
	size -= strlen(suffixes[gcdump_named_class(name, size)]);
	/* The names of proxies of COM objects are of another kind. */
	if (size && name[0] == '[' && !is_generated(name, 0, size)) {
		text_append(text, name, size);
		return;
	}
	for (size_t i = 0; i < size; i++) {
		size_t brackets = name[i] == '<' ? brackets_at(name, i, size) : 0;
		if (brackets) {
			text_append(text, "[", 1);
			text_append(text, name + i + 1, brackets - 2);
			text_append(text, "]", 1);
			i += brackets - 1;
			continue;
		}
		if (name[i] == '[' && is_generated(name, i, size)) {
			text_append(text, "<>", 2);
			i++;
			continue;
		}
		angles += name[i] == '<';
		angles -= angles && name[i] == '>';
		squares += name[i] == '[';
		squares -= squares && name[i] == ']';
		text_append(text, name + i, 1);
		if (name[i] == ',' && angles && !squares && i + 1 < size && name[i + 1] != ' ')
			text_append(text, " ", 1);
	}
}

bool gcdump_is_foreign(const struct gcdump_reading *reading)
{
	static const char own[] = "heapdump";
	const struct gcdump_text *tool = &reading->file.about.tool;
	return !reading->exact &&
	       (tool->size != sizeof(own) - 1 || memcmp(tool->bytes, own, sizeof(own) - 1) != 0);
}
