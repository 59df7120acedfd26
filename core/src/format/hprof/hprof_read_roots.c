/* SPDX-License-Identifier: MIT */
/* The roots of an HPROF file as those of a graph, and the statics of classes that are roots. */
#include <string.h>

#include "format/hprof/hprof_reading.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/text.h"

/* How a root is told that is not on a stack. */
struct told_root {
	enum hprof_sub tag;
	enum hd_root_kind kind;
	enum graph_handle handle;
	const char *name;
};

static const struct told_root told[] = {
	{ HPROF_ROOT_UNKNOWN, HD_ROOT_INTERNAL, GRAPH_HANDLE_NONE, "unknown" },
	{ HPROF_ROOT_JNI_GLOBAL, HD_ROOT_HANDLE, GRAPH_HANDLE_STRONG, NULL },
	{ HPROF_ROOT_JNI_LOCAL, HD_ROOT_STACK, GRAPH_HANDLE_NONE, "JNI local" },
	{ HPROF_ROOT_JAVA_FRAME, HD_ROOT_STACK, GRAPH_HANDLE_NONE, "local variable" },
	{ HPROF_ROOT_NATIVE_STACK, HD_ROOT_STACK, GRAPH_HANDLE_NONE, "native stack" },
	{ HPROF_ROOT_STICKY_CLASS, HD_ROOT_GC, GRAPH_HANDLE_NONE, "class" },
	{ HPROF_ROOT_THREAD_BLOCK, HD_ROOT_INTERNAL, GRAPH_HANDLE_NONE, "thread block" },
	{ HPROF_ROOT_MONITOR, HD_ROOT_INTERNAL, GRAPH_HANDLE_NONE, "monitor" },
	{ HPROF_ROOT_THREAD, HD_ROOT_INTERNAL, GRAPH_HANDLE_NONE, "Thread object" },
	{ HPROF_ROOT_INTERNED, HD_ROOT_GC, GRAPH_HANDLE_NONE, "interned string" },
	{ HPROF_ROOT_FINALIZING, HD_ROOT_FINALIZER, GRAPH_HANDLE_NONE, NULL },
	{ HPROF_ROOT_DEBUGGER, HD_ROOT_INTERNAL, GRAPH_HANDLE_NONE, "debugger" },
	{ HPROF_ROOT_REFERENCE_CLEANUP, HD_ROOT_INTERNAL, GRAPH_HANDLE_NONE, "reference cleanup" },
	{ HPROF_ROOT_VM_INTERNAL, HD_ROOT_INTERNAL, GRAPH_HANDLE_NONE, "VM internal" },
	{ HPROF_ROOT_JNI_MONITOR, HD_ROOT_INTERNAL, GRAPH_HANDLE_NONE, "JNI monitor" },
};

static uint32_t row_of(const struct hprof_reading *reading, enum hprof_ids ids, uint64_t id)
{
	return type_table_find(&reading->tables.ids, (uint32_t)ids, id);
}

/* A text in the arena of the roots; NULL when it is empty. */
static enum hd_status keep(struct hprof_reading *reading, const struct text *text, const char **ret)
{
	TRY_MEMORY(!text->failed, reading->err);
	if (!text->size)
		return HD_OK;
	char *copy = arena_alloc(reading->graph->origins.arena, text->size + 1);
	TRY_MEMORY(copy, reading->err);
	memcpy(copy, text->bytes, text->size);
	copy[text->size] = '\0';
	*ret = copy;
	return HD_OK;
}

/* Many roots may share a long name, and each keeps its own: it is cut. */
static size_t short_size(size_t size)
{
	return size < 200 ? size : 200;
}

/* A name that ends with NUL must not have one inside. */
static void append_string(struct text *text, const char *bytes, size_t size)
{
	text_append(text, bytes, strnlen(bytes, size));
}

/* The method of a root's frame; NULL: it is not known. */
static const struct hprof_method *find_method(const struct hprof_reading *reading,
					      const struct hprof_root *root)
{
	unsigned int id = reading->file.id_size;
	uint32_t serial = row_of(reading, IDS_THREADS, root->serial);
	uint32_t trace = serial == HD_NONE ? HD_NONE : row_of(reading, IDS_TRACES, serial);
	if (trace == HD_NONE || root->number >= reading->tables.traces[trace].size / id)
		return NULL;
	uint64_t at = reading->tables.traces[trace].at + (uint64_t)root->number * id;
	uint32_t row = row_of(reading, IDS_FRAMES, hprof_id(&reading->file, at));
	return row == HD_NONE ? NULL : &reading->tables.methods[row];
}

/* Name a root of a frame by its method: "java.lang.Thread.run". */
static enum hd_status name_frame(struct hprof_reading *reading, const struct hprof_root *root,
				 const char **ret)
{
	const struct hprof_method *method = find_method(reading, root);
	HD_CLEANUP(text) struct text text = { 0 };
	size_t size;
	if (!method)
		return HD_OK;
	uint32_t row = row_of(reading, IDS_SERIALS, method->serial);
	if (row != HD_NONE && reading->graph->types[row].name) {
		append_string(&text, reading->graph->types[row].name,
			      short_size(reading->graph->types[row].name_size));
		text_puts(&text, ".");
	}
	const char *name = hprof_string_at(reading, method->name, &size);
	append_string(&text, name, short_size(size));
	return keep(reading, &text, ret);
}

static enum hd_status add_root(struct hprof_reading *reading, const struct raw_root *root)
{
	TRY_MEMORY(PAGES_RESERVE(reading, raw_roots), reading->err);
	reading->raw_roots[reading->raw_roots_count++] = *root;
	return HD_OK;
}

static enum hd_status make_root(struct hprof_reading *reading, const struct hprof_root *from)
{
	struct raw_root root = { .id = from->id, .kind = HD_ROOT_INTERNAL };
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		if (told[i].tag != from->tag)
			continue;
		root.kind = (uint8_t)told[i].kind;
		root.handle = (uint8_t)told[i].handle;
		root.name = told[i].name;
	}
	if (from->tag == HPROF_ROOT_JAVA_FRAME || from->tag == HPROF_ROOT_JNI_LOCAL)
		TRY(name_frame(reading, from, &root.name));
	return from->id ? add_root(reading, &root) : HD_OK;
}

/* Make roots of the statics of a class that is a root itself. */
static enum hd_status make_statics(struct hprof_reading *reading, uint32_t row)
{
	const struct hprof_loaded *of = &reading->tables.classes[row];
	const struct graph_type *type = &reading->graph->types[row];
	const struct hprof_file *file = &reading->file;
	uint64_t at = of->statics;
	HD_CLEANUP(text) struct text text = { 0 };
	for (uint16_t i = 0; i < of->static_count; i++) {
		unsigned int id = file->id_size;
		uint8_t kind = file->bytes[at + id];
		uint64_t name = hprof_id(file, at);
		struct raw_root root = { .kind = HD_ROOT_STATIC, .declarer = row + 1 };
		if (kind == HPROF_OBJECT)
			root.id = hprof_id(file, at + id + 1);
		at += id + 1 + hprof_type_size(kind, id);
		if (!root.id)
			continue;
		size_t size;
		const char *field = hprof_string_at(reading, name, &size);
		text.size = 0;
		append_string(&text, type->name ? type->name : "?",
			      type->name ? short_size(type->name_size) : 1);
		text_puts(&text, ".");
		append_string(&text, field, short_size(size));
		TRY(keep(reading, &text, &root.name));
		TRY(add_root(reading, &root));
	}
	return HD_OK;
}

enum hd_status hprof_make_roots(struct hprof_reading *reading)
{
	for (size_t i = 0; i < reading->tables.roots_count; i++) {
		TRY(make_root(reading, &reading->tables.roots[i]));
		if (i % JOB_STRIDE == 0)
			TRY(job_check(reading->job, 0, reading->err));
	}
	for (size_t i = 0; i < reading->tables.classes_count; i++) {
		if (reading->tables.classes[i].is_root && reading->tables.classes[i].is_dumped)
			TRY(make_statics(reading, (uint32_t)i));
	}
	return HD_OK;
}
