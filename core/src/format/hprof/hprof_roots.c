/* SPDX-License-Identifier: MIT */
/* Roots in an HPROF file: statics of classes, threads, and the others. */
#include <stdio.h>
#include <stdlib.h>

#include "format/hprof/hprof_writer.h"
#include "util/alloc.h"
#include "util/bitmap.h"

static const struct graph_root_detail *detail_of(const struct hd_graph *graph, size_t root)
{
	return graph->origins.details ? &graph->origins.details[root] : NULL;
}

static bool is_written(const struct hprof_writer *writer, size_t index)
{
	const struct hd_graph *graph = writer->graph;
	const struct graph_root *root = &graph->roots[index];
	if (root_is_weak(root) || root->repeated || graph_is_missing(graph, root->node))
		return false;
	const struct write_options *options = writer->options;
	return !options || !options->live_only || bitmap_has(options->live, root->node);
}

/* Row of the class that has this root as a static, or HD_NONE. */
static uint32_t class_of_static(const struct hprof_writer *writer, size_t index)
{
	const struct graph_root *root = &writer->graph->roots[index];
	if (root->kind != HD_ROOT_STATIC || root->container >= writer->graph->type_count)
		return HD_NONE;
	return writer->type_classes[root->container];
}

/* The field of a static's name: the part after the last dot outside of <>. */
static const char *field_name(const char *name)
{
	const char *field = name;
	int depth = 0;
	for (const char *at = name; *at; at++) {
		depth += *at == '<';
		depth -= *at == '>';
		if (*at == '.' && depth <= 0 && at[1])
			field = at + 1;
	}
	return field;
}

static enum hd_status add_static(struct hprof_writer *writer, size_t index, size_t place)
{
	const struct hd_graph *graph = writer->graph;
	const struct graph_root_detail *detail = detail_of(graph, index);
	struct hprof_static *to = &writer->classes.statics[place];
	const char *name = detail && detail->name ? field_name(detail->name) : "static";
	to->object = graph_id(graph, graph->roots[index].node);
	return hprof_string(&writer->classes, name, strlen(name), &to->name);
}

enum hd_status hprof_add_statics(struct hprof_writer *writer)
{
	const struct hd_graph *graph = writer->graph;
	struct hprof_classes *classes = &writer->classes;
	size_t total = 0;
	for (size_t i = 0; i < graph->root_count; i++) {
		uint32_t row = class_of_static(writer, i);
		if (row == HD_NONE || !is_written(writer, i))
			continue;
		/* The count has 16 bits in the file; others become roots of their own. */
		if (classes->rows[row].static_count == UINT16_MAX)
			continue;
		classes->rows[row].static_count++;
		total++;
	}
	while (classes->statics_capacity < total) {
		TRY_MEMORY(pages_grow((void **)&classes->statics, &classes->statics_capacity,
				      sizeof(*classes->statics)),
			   writer->err);
	}
	for (size_t i = 0; i < classes->rows_count; i++) {
		struct hprof_class *row = &classes->rows[i];
		row->first_static = classes->statics_count;
		classes->statics_count += row->static_count;
		row->static_count = 0;
	}
	for (size_t i = 0; i < graph->root_count; i++) {
		uint32_t row = class_of_static(writer, i);
		if (row == HD_NONE || !is_written(writer, i))
			continue;
		struct hprof_class *of = &classes->rows[row];
		if (of->static_count == UINT16_MAX)
			continue;
		TRY(add_static(writer, i, of->first_static + of->static_count));
		of->static_count++;
	}
	return HD_OK;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	return (left > right) - (left < right);
}

/* Slots of statics, sorted: an array that has one holds statics for the runtime. */
struct slots {
	uint64_t *rows;
	size_t count;
};

static void slots_deinit(struct slots *slots)
{
	mem_free(slots->rows);
}

static enum hd_status find_slots(const struct hprof_writer *writer, struct slots *ret)
{
	const struct hd_graph *graph = writer->graph;
	ret->rows = mem_alloc(graph->root_count ? graph->root_count : 1, sizeof(*ret->rows));
	TRY_MEMORY(ret->rows, writer->err);
	for (size_t i = 0; i < graph->root_count; i++) {
		const struct graph_root_detail *detail = detail_of(graph, i);
		uint8_t kind = graph->roots[i].kind;
		if (detail && detail->address &&
		    (kind == HD_ROOT_STATIC || kind == HD_ROOT_THREAD_STATIC))
			ret->rows[ret->count++] = detail->address;
	}
	qsort(ret->rows, ret->count, sizeof(*ret->rows), compare_addresses);
	return HD_OK;
}

/* Does the object of a node have one of the slots? */
static bool holds_statics(const struct hd_graph *graph, const struct slots *slots, uint32_t node)
{
	uint64_t begin = graph_id(graph, node), end = begin + graph_size(graph, node);
	size_t low = 0, high = slots->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (slots->rows[middle] <= begin) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < slots->count && slots->rows[low] < end;
}

static bool is_thread_object(const struct hd_graph *graph, size_t index)
{
	const struct graph_root_detail *detail = detail_of(graph, index);
	return detail && detail->thread < graph->origins.thread_count && detail->name &&
	       strcmp(detail->name, "Thread object") == 0;
}

/* Write the root of a thread, whose object has to exist: readers take it for granted. */
static void write_thread(struct hprof_writer *writer, size_t index)
{
	struct hprof_out *out = &writer->out;
	hprof_sub(out, HPROF_ROOT_THREAD, HPROF_ID + 8);
	hprof_u64(out, writer->stacks.threads[index].object);
	hprof_u32(out, (uint32_t)index + 1);
	hprof_u32(out, (uint32_t)index + 1);
}

static enum hd_status write_made_up_thread(struct hprof_writer *writer, struct hprof_thread *thread)
{
	uint64_t name = hprof_new_id(&writer->classes);
	char unnamed[80];
	thread->object = hprof_new_id(&writer->classes);
	if (!name || !thread->object) {
		return fail(writer->err, HD_ERR_UNSUPPORTED, 0,
			    "no ids are left for the threads that a .hprof must have");
	}
	(void)snprintf(unnamed, sizeof(unnamed), "managed %u, os 0x%llx", thread->id,
		       (unsigned long long)thread->os_id);
	hprof_write_text(writer, name, thread->name && *thread->name ? thread->name : unnamed);
	hprof_begin_instance(writer, thread->object, PRESET_THREAD, HPROF_ID);
	hprof_u64(&writer->out, name);
	return HD_OK;
}

static enum hd_status write_threads(struct hprof_writer *writer)
{
	const struct hd_graph *graph = writer->graph;
	struct hprof_stacks *stacks = &writer->stacks;
	for (size_t i = 0; i < graph->root_count; i++) {
		if (!is_thread_object(graph, i) || !is_written(writer, i))
			continue;
		stacks->threads[graph->origins.details[i].thread].object =
			graph_id(graph, graph->roots[i].node);
	}
	for (size_t i = 0; i < stacks->threads_count; i++) {
		if (!stacks->threads[i].object)
			TRY(write_made_up_thread(writer, &stacks->threads[i]));
		write_thread(writer, i);
	}
	return HD_OK;
}

/* Number of a root's frame in the trace of its thread; UINT32_MAX: not known. */
static uint32_t frame_number(const struct hprof_writer *writer, uint32_t frame)
{
	const struct graph_frame *from = &writer->graph->origins.frames[frame];
	const struct hprof_stacks *stacks = &writer->stacks;
	if (from->thread >= stacks->threads_count)
		return UINT32_MAX;
	const struct hprof_thread *thread = &stacks->threads[from->thread];
	size_t low = thread->first, high = thread->first + thread->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct hprof_frame *of = &stacks->frames[middle];
		if (of->sp < from->sp || (of->sp == from->sp && of->ip < from->ip)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	bool is_met = low < thread->first + thread->count && stacks->frames[low].sp == from->sp &&
		      stacks->frames[low].ip == from->ip;
	return is_met ? (uint32_t)(low - thread->first) : UINT32_MAX;
}

static void write_simple(struct hprof_writer *writer, enum hprof_sub tag, uint64_t id)
{
	hprof_sub(&writer->out, tag, HPROF_ID);
	hprof_u64(&writer->out, id);
}

static void write_of_thread(struct hprof_writer *writer, enum hprof_sub tag, uint64_t id,
			    uint32_t thread, uint32_t frame)
{
	hprof_sub(&writer->out, tag, HPROF_ID + 8);
	hprof_u64(&writer->out, id);
	hprof_u32(&writer->out, thread + 1);
	hprof_u32(&writer->out, frame);
}

/* Thread of a root, or HD_NONE. */
static uint32_t thread_of(const struct hd_graph *graph, size_t index)
{
	const struct graph_root_detail *detail = detail_of(graph, index);
	if (!detail)
		return HD_NONE;
	if (detail->frame < graph->origins.frame_count)
		return graph->origins.frames[detail->frame].thread;
	return detail->thread;
}

static void write_root(struct hprof_writer *writer, size_t index, const struct slots *slots)
{
	const struct hd_graph *graph = writer->graph;
	const struct graph_root *root = &graph->roots[index];
	const struct graph_root_detail *detail = detail_of(graph, index);
	uint64_t id = graph_id(graph, root->node);
	uint32_t thread = thread_of(graph, index);
	bool has_thread = thread < writer->stacks.threads_count;
	bool may_hold = root->kind == HD_ROOT_HANDLE || root->kind == HD_ROOT_INTERNAL;
	if (may_hold && holds_statics(graph, slots, root->node))
		return; /* The statics in it are roots themselves. */
	if (root->kind == HD_ROOT_STACK && has_thread) {
		uint32_t frame = detail->frame < graph->origins.frame_count
					 ? frame_number(writer, detail->frame)
					 : UINT32_MAX;
		write_of_thread(writer, HPROF_ROOT_JAVA_FRAME, id, thread, frame);
	} else if (root->kind == HD_ROOT_THREAD_STATIC && has_thread) {
		write_of_thread(writer, HPROF_ROOT_JNI_LOCAL, id, thread, UINT32_MAX);
	} else if (root->kind == HD_ROOT_HANDLE) {
		hprof_sub(&writer->out, HPROF_ROOT_JNI_GLOBAL, (uint64_t)2 * HPROF_ID);
		hprof_u64(&writer->out, id);
		hprof_u64(&writer->out, detail ? detail->address : 0);
	} else {
		write_simple(writer, HPROF_ROOT_UNKNOWN, id);
	}
}

static enum hd_status write_others(struct hprof_writer *writer, const struct slots *slots)
{
	const struct hd_graph *graph = writer->graph;
	struct hprof_classes *classes = &writer->classes;
	HD_FREE uint16_t *told = mem_calloc(classes->rows_count, sizeof(*told));
	TRY_MEMORY(told, writer->err);
	for (size_t i = 0; i < graph->root_count; i++) {
		uint32_t row = class_of_static(writer, i);
		if (!is_written(writer, i) || is_thread_object(graph, i))
			continue;
		if (row != HD_NONE && told[row] < classes->rows[row].static_count) {
			told[row]++;
			continue;
		}
		write_root(writer, i, slots);
		if (i % JOB_STRIDE == 0)
			TRY(job_check(writer->job, 0, writer->err));
	}
	return HD_OK;
}

enum hd_status hprof_write_roots(struct hprof_writer *writer)
{
	const struct hprof_classes *classes = &writer->classes;
	HD_CLEANUP(slots) struct slots slots = { 0 };
	TRY(find_slots(writer, &slots));
	TRY(write_threads(writer));
	for (size_t i = 0; i < classes->rows_count; i++) {
		if (classes->rows[i].static_count)
			write_simple(writer, HPROF_ROOT_STICKY_CLASS, classes->rows[i].id);
	}
	return write_others(writer, &slots);
}
