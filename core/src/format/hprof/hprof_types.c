/* SPDX-License-Identifier: MIT */
/* Classes of an HPROF file as types of a graph. */
#include <string.h>

#include "format/hprof/hprof_reading.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/text.h"

static const struct {
	const char *code, *name;
	enum hprof_type type;
} primitives[] = {
	{ "[Z", "boolean[]", HPROF_BOOLEAN }, { "[C", "char[]", HPROF_CHAR },
	{ "[F", "float[]", HPROF_FLOAT },     { "[D", "double[]", HPROF_DOUBLE },
	{ "[B", "byte[]", HPROF_BYTE },       { "[S", "short[]", HPROF_SHORT },
	{ "[I", "int[]", HPROF_INT },         { "[J", "long[]", HPROF_LONG },
};

#define PRIMITIVES (sizeof(primitives) / sizeof(primitives[0]))

/* Append the name of an array's elements: "Ljava/lang/String;" or one letter. */
static void append_element(struct text *text, const char *name, size_t size)
{
	if (size > 2 && name[0] == 'L' && name[size - 1] == ';') {
		text_append(text, name + 1, size - 2);
		return;
	}
	for (size_t i = 0; size == 1 && i < PRIMITIVES; i++) {
		if (name[0] == primitives[i].code[1]) {
			text_append(text, primitives[i].name, strlen(primitives[i].name) - 2);
			return;
		}
	}
	text_append(text, name, size);
}

/* The name as Java's source has it: "[[I" is int[][], "java/lang/String" java.lang.String. */
static void append_name(struct text *text, const char *name, size_t size)
{
	size_t rank = 0, begin = text->size;
	while (rank < size && rank < 255 && name[rank] == '[')
		rank++;
	if (rank) {
		append_element(text, name + rank, size - rank);
	} else {
		text_append(text, name, size);
	}
	for (size_t i = begin; i < text->size; i++) {
		if (text->bytes[i] == '/')
			text->bytes[i] = '.';
	}
	for (size_t i = 0; i < rank; i++)
		text_puts(text, "[]");
}

static enum hd_status set_name(struct hprof_reading *reading, struct graph_type *type,
			       const struct text *name)
{
	TRY_MEMORY(!name->failed, reading->err);
	if (!name->size)
		return HD_OK;
	char *copy = arena_alloc(reading->graph->arena, name->size);
	TRY_MEMORY(copy, reading->err);
	memcpy(copy, name->bytes, name->size);
	type->name = copy;
	type->name_size = (uint32_t)name->size;
	return HD_OK;
}

static bool is_text(const struct text *text, const char *string)
{
	return text->size == strlen(string) && memcmp(text->bytes, string, text->size) == 0;
}

/* Notice the types that objects have of which the file says no class. */
static void notice(struct hprof_reading *reading, const struct text *name, uint32_t type)
{
	if (!name->size)
		return;
	if (is_text(name, "java.lang.Class") && reading->types.of_classes == HD_NONE)
		reading->types.of_classes = type;
	for (size_t i = 0; i < PRIMITIVES; i++) {
		uint32_t *of = &reading->types.numbers[primitives[i].type];
		if (*of == HD_NONE && is_text(name, primitives[i].name))
			*of = type;
	}
}

static enum hd_status name_types(struct hprof_reading *reading)
{
	HD_CLEANUP(text) struct text name = { 0 };
	for (size_t i = 0; i < reading->tables.classes_count; i++) {
		const struct hprof_loaded *of = &reading->tables.classes[i];
		struct graph_type *types = reading->graph->types, *type = &types[i];
		struct hprof_place *place = hprof_string_place(reading, of->name);
		type->id = of->id;
		if (!place)
			continue;
		if (place->type) { /* Many classes may share one long name. */
			type->name = types[place->type - 1].name;
			type->name_size = types[place->type - 1].name_size;
			continue;
		}
		place->type = (uint32_t)i + 1;
		name.size = 0;
		append_name(&name, (const char *)reading->file.bytes + place->at,
			    (size_t)place->size);
		TRY(set_name(reading, type, &name));
		notice(reading, &name, (uint32_t)i);
		if (i % JOB_STRIDE == 0)
			TRY(job_check(reading->job, 0, reading->err));
	}
	return HD_OK;
}

/* Add types that the file has no class of, all of which may be needed. */
static enum hd_status add_others(struct hprof_reading *reading)
{
	struct raw_type rows[PRIMITIVES + 2];
	uint32_t next = reading->graph->type_count;
	size_t count = 0;
	rows[count++] = (struct raw_type){ .name = "unknown class", .name_size = 13 };
	reading->types.unknown = next++;
	if (reading->types.of_classes == HD_NONE) {
		rows[count++] = (struct raw_type){ .name = "java.lang.Class", .name_size = 15 };
		reading->types.of_classes = next++;
	}
	for (size_t i = 0; i < PRIMITIVES; i++) {
		uint32_t *of = &reading->types.numbers[primitives[i].type];
		const char *name = primitives[i].name;
		if (*of != HD_NONE)
			continue;
		rows[count++] =
			(struct raw_type){ .name = name, .name_size = (uint32_t)strlen(name) };
		*of = next++;
	}
	return raw_graph_add_types(reading->graph, rows, count, reading->err);
}

enum hd_status hprof_make_types(struct hprof_reading *reading)
{
	struct hd_graph *graph = reading->graph;
	reading->types.of_classes = HD_NONE;
	for (size_t i = 0; i < sizeof(reading->types.numbers) / sizeof(uint32_t); i++)
		reading->types.numbers[i] = HD_NONE;
	graph->arena = arena_create();
	graph->origins.arena = arena_create();
	graph->domains.rows = pages_alloc(1, sizeof(*graph->domains.rows));
	TRY_MEMORY(graph->arena && graph->origins.arena && graph->domains.rows, reading->err);
	graph->domains.count = 1;
	graph->types = pages_alloc(reading->tables.classes_count, sizeof(*graph->types));
	TRY_MEMORY(graph->types, reading->err);
	graph->type_count = (uint32_t)reading->tables.classes_count;
	TRY(name_types(reading));
	return add_others(reading);
}
