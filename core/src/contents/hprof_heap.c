/* SPDX-License-Identifier: MIT */
#include "contents/hprof_heap.h"

#include <stdio.h>

#include "contents/hprof_layout.h"
#include "inspect/thread_name.h"
#include "runtime/code.h"
#include "snapshot/name_table.h"
#include "util/alloc.h"

#define PARENTS_MAX 256u

static enum hd_status add_classes(void *arg, struct hprof_writer *writer)
{
	struct hprof_layouts *layouts = arg;
	layouts->writer = writer;
	layouts->window.memory = layouts->heap->heap->memory;
	return hprof_layouts_make(layouts);
}

static enum hd_status write_object(void *arg, struct hprof_writer *writer, uint32_t node,
				   uint64_t id)
{
	struct hprof_layouts *layouts = arg;
	TRY(hprof_write_object(layouts, node, id));
	layouts->heap->cut = writer->cut;
	return HD_OK;
}

/* The row of a thread: that of the graph, which has those with roots, or a new one. */
static enum hd_status find_thread(struct hprof_writer *writer, struct heap *heap,
				  const struct runtime_thread *thread, uint32_t of_graph,
				  uint32_t *ret)
{
	struct hprof_stacks *stacks = &writer->stacks;
	*ret = of_graph;
	if (of_graph != HD_NONE)
		return HD_OK;
	HD_CLEANUP(text) struct text name = { 0 };
	struct hprof_thread row = { .id = thread->id, .os_id = thread->os_id };
	(void)thread_name(heap, thread, &name);
	TRY(name_table_keep_text(stacks->arena, &name, &row.name, writer->err));
	TRY_MEMORY(PAGES_RESERVE(stacks, threads), writer->err);
	*ret = (uint32_t)stacks->threads_count;
	stacks->threads[stacks->threads_count++] = row;
	return HD_OK;
}

static enum hd_status name_frame(struct hprof_writer *writer, struct runtime *runtime,
				 struct name_table *names, const struct stack_frame *frame,
				 const char **ret)
{
	*ret = frame->name;
	if (frame->kind != STACK_MANAGED || !frame->method_desc)
		return HD_OK;
	struct name_entry *entry =
		name_table_find(names, (struct name_key){ .of = frame->method_desc });
	TRY_MEMORY(entry, writer->err);
	if (!entry->is_used) {
		HD_CLEANUP(text) struct text text = { 0 };
		runtime_method_signature(runtime, frame->method_desc, &text);
		TRY(name_table_add(names, entry, &text, writer->err));
	}
	*ret = entry->name;
	return HD_OK;
}

static enum hd_status add_frames(struct hprof_writer *writer, struct runtime *runtime,
				 struct name_table *names, const struct thread_stack *stack,
				 uint32_t thread)
{
	struct hprof_stacks *stacks = &writer->stacks;
	for (size_t i = 0; i < stack->frames_count; i++) {
		const struct stack_frame *from = &stack->frames[i];
		struct hprof_frame frame = { .sp = from->sp, .ip = from->ip, .thread = thread };
		TRY(name_frame(writer, runtime, names, from, &frame.method));
		TRY_MEMORY(PAGES_RESERVE(stacks, frames), writer->err);
		stacks->frames[stacks->frames_count++] = frame;
	}
	return HD_OK;
}

/* Map the threads of the runtime to those of the graph, or HD_NONE. */
static enum hd_status map_threads(const struct hprof_writer *writer, struct runtime *runtime,
				  uint32_t **ret)
{
	const struct graph_origins *origins = &writer->graph->origins;
	size_t count = runtime_thread_count(runtime);
	uint32_t *map = mem_alloc(count ? count : 1, sizeof(*map));
	*ret = map;
	TRY_MEMORY(map, writer->err);
	for (size_t i = 0; i < count; i++)
		map[i] = HD_NONE;
	for (size_t i = 0; i < origins->thread_count; i++) {
		const struct graph_thread *of = &origins->threads[i];
		const struct runtime_thread *thread = runtime_thread_by_id(runtime, of->id);
		if (!thread || thread->os_id != of->os_id)
			thread = runtime_thread_by_os_id(runtime, of->os_id);
		if (thread)
			map[runtime_thread_index(runtime, thread)] = (uint32_t)i;
	}
	return HD_OK;
}

static enum hd_status add_stacks(void *arg, struct hprof_writer *writer)
{
	struct hprof_layouts *layouts = arg;
	const struct root_set *roots = layouts->heap->roots;
	struct runtime *runtime = layouts->heap->heap->runtime;
	HD_CLEANUP(name_table) struct name_table names = { .arena = writer->stacks.arena };
	HD_FREE uint32_t *map = NULL;
	TRY(map_threads(writer, runtime, &map));
	for (size_t i = 0; roots && i < roots->stack_count; i++) {
		const struct thread_stack *stack = &roots->stacks[i];
		uint32_t thread = HD_NONE;
		if (!stack->thread)
			continue;
		TRY(find_thread(writer, layouts->heap->heap, stack->thread,
				map[runtime_thread_index(runtime, stack->thread)], &thread));
		TRY(add_frames(writer, runtime, &names, stack, thread));
	}
	return HD_OK;
}

/* The lowest MethodTable of the graph's types and of those that they derive from. */
static uint64_t find_lowest(const struct hprof_heap *heap)
{
	struct runtime *runtime = heap->heap->runtime;
	uint64_t lowest = UINT64_MAX;
	for (uint32_t i = 0; i < heap->graph->type_count; i++) {
		uint64_t at = heap->graph->types[i].id;
		for (unsigned int k = 0; at && k < PARENTS_MAX; k++) {
			const struct type *type = type_find(runtime, at);
			lowest = at < lowest ? at : lowest;
			at = type ? type->parent : 0;
		}
	}
	return lowest;
}

enum hd_status hprof_write_heap(struct hprof_heap *heap, const struct write_options *options,
				struct job *job, format_write_fn write, void *arg,
				struct hd_error *err)
{
	struct runtime *runtime = heap->heap->runtime;
	struct hprof_layouts layouts = { .heap = heap };
	char version[64], flavor[64];
	const char *of = runtime_flavor(runtime);
	(void)snprintf(version, sizeof(version), "%s", runtime_version(runtime));
	(void)snprintf(flavor, sizeof(flavor), ".NET %s", of ? of : "CoreCLR");
	const struct hprof_contents contents = {
		.arg = &layouts,
		.add_classes = add_classes,
		.add_stacks = add_stacks,
		.write_object = write_object,
		.lowest_class = find_lowest(heap),
		.version = version,
		.flavor = flavor,
	};
	struct hprof_writer writer = { .graph = heap->graph,
				       .options = options,
				       .contents = &contents,
				       .job = job,
				       .err = err };
	enum hd_status status = hprof_write_with(&writer, write, arg);
	hprof_layouts_deinit(&layouts);
	return status;
}
