/* SPDX-License-Identifier: MIT */
/* Threads and their frames in an HPROF file. */
#include <stdlib.h>

#include "format/hprof/hprof_writer.h"
#include "util/alloc.h"
#include "util/arena.h"

enum hd_status hprof_stacks_of_graph(struct hprof_writer *writer)
{
	const struct graph_origins *origins = &writer->graph->origins;
	struct hprof_stacks *stacks = &writer->stacks;
	for (size_t i = 0; i < origins->thread_count; i++) {
		const struct graph_thread *from = &origins->threads[i];
		TRY_MEMORY(PAGES_RESERVE(stacks, threads), writer->err);
		stacks->threads[stacks->threads_count++] = (struct hprof_thread){
			.name = from->name, .id = from->id, .os_id = from->os_id
		};
	}
	for (size_t i = 0; i < origins->frame_count; i++) {
		const struct graph_frame *from = &origins->frames[i];
		if (from->thread >= origins->thread_count)
			continue;
		TRY_MEMORY(PAGES_RESERVE(stacks, frames), writer->err);
		stacks->frames[stacks->frames_count++] = (struct hprof_frame){
			.sp = from->sp,
			.ip = from->ip,
			.method = from->method,
			.thread = from->thread,
		};
	}
	return HD_OK;
}

static int compare_frames(const void *a, const void *b)
{
	const struct hprof_frame *left = a, *right = b;
	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->sp != right->sp)
		return left->sp < right->sp ? -1 : 1;
	return (left->ip > right->ip) - (left->ip < right->ip);
}

/* The graph's frames are those with roots; who has all frames adds these again. */
static void drop_repeated(struct hprof_stacks *stacks)
{
	size_t kept = 0;
	for (size_t i = 0; i < stacks->frames_count; i++) {
		if (kept && compare_frames(&stacks->frames[kept - 1], &stacks->frames[i]) == 0)
			continue;
		stacks->frames[kept++] = stacks->frames[i];
	}
	stacks->frames_count = kept;
}

void hprof_stacks_sort(struct hprof_stacks *stacks)
{
	if (!stacks->frames_count)
		return;
	qsort(stacks->frames, stacks->frames_count, sizeof(*stacks->frames), compare_frames);
	drop_repeated(stacks);
	for (size_t i = 0; i < stacks->frames_count; i++) {
		struct hprof_thread *thread = &stacks->threads[stacks->frames[i].thread];
		if (!thread->count++)
			thread->first = i;
	}
}

void hprof_stacks_deinit(struct hprof_stacks *stacks)
{
	pages_free(stacks->threads, stacks->threads_capacity, sizeof(*stacks->threads));
	pages_free(stacks->frames, stacks->frames_capacity, sizeof(*stacks->frames));
	arena_destroy(stacks->arena);
	*stacks = (struct hprof_stacks){ 0 };
}

/* A method's text in parts: "Namespace.Type" "Method" "(arguments)". */
struct method_parts {
	const char *type, *name, *arguments;
	size_t type_size, name_size, arguments_size;
};

static struct method_parts split_method(const char *method)
{
	struct method_parts parts = { .type = "", .name = method, .arguments = "()" };
	size_t size = strcspn(method, "("), dot = 0;
	int depth = 0;
	parts.name_size = size;
	parts.arguments_size = strlen(parts.arguments);
	if (method[size]) {
		parts.arguments = method + size;
		parts.arguments_size = strlen(method + size);
	}
	for (size_t i = 0; i < size; i++) {
		depth += method[i] == '<' || method[i] == '[';
		depth -= method[i] == '>' || method[i] == ']';
		if (method[i] == '.' && depth <= 0)
			dot = i;
	}
	if (dot && method[dot - 1] == '.') /* of a constructor */
		dot--;
	if (dot) {
		parts.type = method;
		parts.type_size = dot;
		parts.name = method + dot + 1;
		parts.name_size = size - dot - 1;
	}
	return parts;
}

static const char *method_of(const struct hprof_frame *frame)
{
	return frame->method ? frame->method : "<unknown method>";
}

/* Map strings to the rows of the classes that they name. */
static enum hd_status rows_by_name(const struct hprof_classes *classes, uint32_t **ret)
{
	size_t count = classes->strings.places_count;
	uint32_t *rows = mem_alloc(count ? count : 1, sizeof(*rows));
	TRY_MEMORY(rows, classes->err);
	for (size_t i = 0; i < count; i++)
		rows[i] = HD_NONE;
	for (size_t i = PRESETS; i < classes->rows_count; i++)
		rows[classes->rows[i].name] = (uint32_t)i;
	for (size_t i = 0; i < PRESETS; i++)
		rows[classes->rows[i].name] = (uint32_t)i;
	*ret = rows;
	return HD_OK;
}

/* Number all strings of the frames' methods; names of their classes go to @p ret. */
static enum hd_status add_frame_names(struct hprof_writer *writer, uint32_t *ret)
{
	struct hprof_classes *classes = &writer->classes;
	uint32_t unused;
	TRY(hprof_string(classes, "Unknown Source", 14, &unused));
	for (size_t i = 0; i < writer->stacks.frames_count; i++) {
		struct method_parts parts = split_method(method_of(&writer->stacks.frames[i]));
		const char *type = parts.type_size ? parts.type : "native";
		TRY(hprof_class_name(classes, type, parts.type_size ? parts.type_size : 6, "",
				     &ret[i]));
		TRY(hprof_string(classes, parts.name, parts.name_size, &unused));
		TRY(hprof_string(classes, parts.arguments, parts.arguments_size, &unused));
	}
	return HD_OK;
}

enum hd_status hprof_add_frame_classes(struct hprof_writer *writer, uint32_t **ret_rows)
{
	struct hprof_classes *classes = &writer->classes;
	size_t count = writer->stacks.frames_count;
	HD_FREE uint32_t *by_name = NULL;
	uint32_t *rows = mem_calloc(count ? count : 1, sizeof(*rows));
	*ret_rows = rows;
	TRY_MEMORY(rows, writer->err);
	TRY(add_frame_names(writer, rows));
	TRY(rows_by_name(classes, &by_name));
	/* No second class may have the name of another: readers take the last. */
	for (size_t i = 0; i < count; i++) {
		uint32_t name = rows[i];
		if (by_name[name] == HD_NONE) {
			struct hprof_class row = { .super = classes->rows[PRESET_OBJECT].id,
						   .name = name,
						   .size = 16 };
			TRY(hprof_add_class(classes, &row, &by_name[name]));
		}
		rows[i] = by_name[name];
	}
	return HD_OK;
}

enum hd_status hprof_write_traces(struct hprof_writer *writer, const uint32_t *rows)
{
	struct hprof_classes *classes = &writer->classes;
	const struct hprof_stacks *stacks = &writer->stacks;
	struct hprof_out *out = &writer->out;
	uint32_t source, name, arguments;
	TRY(hprof_string(classes, "Unknown Source", 14, &source));
	hprof_record(out, HPROF_TRACE, 12); /* what has no other trace names this one */
	hprof_zeros(out, 12);
	for (size_t i = 0; i < stacks->frames_count; i++) {
		struct method_parts parts = split_method(method_of(&stacks->frames[i]));
		TRY(hprof_string(classes, parts.name, parts.name_size, &name));
		TRY(hprof_string(classes, parts.arguments, parts.arguments_size, &arguments));
		hprof_record(out, HPROF_FRAME, 4 * HPROF_ID + 8);
		hprof_u64(out, i + 1);
		hprof_u64(out, (uint64_t)name + 1);
		hprof_u64(out, (uint64_t)arguments + 1);
		hprof_u64(out, (uint64_t)source + 1);
		hprof_u32(out, hprof_serial(classes, rows[i]));
		hprof_u32(out, UINT32_MAX); /* the line is not known */
	}
	for (size_t i = 0; i < stacks->threads_count; i++) {
		const struct hprof_thread *thread = &stacks->threads[i];
		uint32_t most = (UINT32_MAX - 12) / HPROF_ID;
		uint32_t count = (uint32_t)(thread->count < most ? thread->count : most);
		hprof_record(out, HPROF_TRACE, 12 + HPROF_ID * count);
		hprof_u32(out, (uint32_t)i + 1);
		hprof_u32(out, (uint32_t)i + 1);
		hprof_u32(out, count);
		for (uint32_t k = 0; k < count; k++)
			hprof_u64(out, thread->first + k + 1);
	}
	return HD_OK;
}
