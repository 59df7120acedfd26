/* SPDX-License-Identifier: MIT */
/* Async methods of the runtime that threads run now (doc/coreclr.md 21.5). */
#include <string.h>

#include "analysis/async/async_box.h"
#include "analysis/async/async_suspended.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "stack/stack.h"
#include "util/sort.h"

/* Calls of one thread, each of which runs inside the one before. */
#define CALLS_MAX 64u

struct running_search {
	struct async_graph *graph;
	struct hash_index *taken;
	const struct type *type; /* of the records */
	struct stack_walker *walker;
	struct thread_stack stack; /* of the thread that is looked at */
	size_t sorted;             /* rows that ascend by address */
	struct job *job;
};

/* Is there a call that runs? */
static bool has_running(const struct async_graph *graph)
{
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (graph->rows[i].is_runtime && graph->rows[i].state == ASYNC_RUNS)
			return true;
	}
	return false;
}

/* The record of the innermost call that the thread runs; 0: none. */
static uint64_t first_record(const struct running_search *search, const struct field_list *fields,
			     const struct runtime_thread *thread)
{
	struct runtime *runtime = search->graph->heap->runtime;
	uint64_t record = 0;
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->rows[i];
		if (!field->is_thread_static ||
		    strcmp(field->name, fact_row(FACT_DISPATCHER_CURRENT)->path) != 0)
			continue;
		uint64_t slot = field_thread_static_address(runtime, field, thread);
		if (slot)
			(void)memory_u64(search->graph->heap->memory, slot, &record);
	}
	return record;
}

static uint64_t record_word(const struct running_search *search, uint64_t record, enum fact fact)
{
	return fact_of_struct(search->graph->members, search->type, record, fact).bits;
}

/*
 * The frame of the method that the call with a record runs: the one that the stub called which the frame with
 * the record called.
 */
static const struct stack_frame *running_frame(const struct running_search *search, uint64_t record)
{
	const struct thread_stack *stack = &search->stack;
	size_t at = 0;
	while (at < stack->frames_count &&
	       !(stack->frames[at].kind == STACK_MANAGED && stack->frames[at].sp <= record &&
		 record < stack->frames[at].caller_sp))
		at++;
	if (at == stack->frames_count)
		return NULL;
	while (at > 0) {
		const struct stack_frame *frame = &stack->frames[--at];
		struct method method;
		if (frame->kind == STACK_MANAGED && !frame->is_dead &&
		    method_read(search->graph->heap->runtime, frame->method_desc, &method) &&
		    method.rid)
			return frame;
	}
	return NULL;
}

static size_t find_running(const struct running_search *search, uint64_t task)
{
	const struct async_graph *graph = search->graph;
	size_t row = ROWS_FROM(graph->rows, search->sorted, address, task);
	bool is_found = row < search->sorted && graph->rows[row].address == task &&
			graph->rows[row].is_runtime && graph->rows[row].state == ASYNC_RUNS;
	return is_found ? row : SIZE_MAX;
}

/* The call with @p record: which method runs, and which ones await it. */
static enum hd_status add_running(struct running_search *search, uint64_t record, uint32_t thread,
				  struct hd_error *err)
{
	struct async_graph *graph = search->graph;
	uint64_t task = record_word(search, record, FACT_DISPATCHER_TASK);
	uint64_t first = record_word(search, record, FACT_DISPATCHER_AWAITS);
	size_t row = find_running(search, task), before = graph->rows_count;
	if (row == SIZE_MAX)
		return HD_OK;
	const struct stack_frame *frame = running_frame(search, record);
	if (frame) {
		const struct async_method_key key = { .method_desc = frame->method_desc };
		graph->rows[row].method = async_methods_add(&graph->methods, key);
		if (graph->rows[row].method == ASYNC_NO_METHOD)
			return fail_nomem(err);
		/* A return address is after the call. */
		graph->rows[row].place = frame->ip - !frame->is_active;
	}
	graph->rows[row].thread = thread;
	struct object object = { .address = task,
				 .type = graph->rows[row].type,
				 .size = graph->rows[row].size };
	if (first)
		TRY(async_suspended_add_from(graph, &object, first, record, search->taken, err));
	/* The outermost method has the task now. */
	if (graph->rows_count > before) {
		graph->rows[row].address = record;
		graph->rows[row].size = 0;
	}
	return HD_OK;
}

static enum hd_status look_at_thread(struct running_search *search, const struct field_list *fields,
				     uint32_t index, struct hd_error *err)
{
	static const struct stack_options options = { .no_roots = true };
	const struct runtime_thread *thread =
		runtime_thread_at(search->graph->heap->runtime, index);
	uint64_t record = thread->os_id ? first_record(search, fields, thread) : 0;
	if (!record)
		return HD_OK;
	TRY(stack_walk(search->walker, thread, &options, search->job, &search->stack, err));
	enum hd_status status = HD_OK;
	for (unsigned int i = 0; record && i < CALLS_MAX && status == HD_OK; i++) {
		status = add_running(search, record, index, err);
		record = record_word(search, record, FACT_DISPATCHER_OUTER);
	}
	thread_stack_deinit(&search->stack);
	return status;
}

static enum hd_status look_at_threads(struct running_search *search, struct hd_error *err)
{
	struct runtime *runtime = search->graph->heap->runtime;
	HD_CLEANUP(field_list) struct field_list fields = { 0 };
	TRY(field_list_read(runtime, search->type, &fields, err));
	enum hd_status status = stack_walker_create(runtime, NULL, &search->walker, err);
	for (size_t i = 0; i < runtime_thread_count(runtime) && status == HD_OK; i++)
		status = look_at_thread(search, &fields, (uint32_t)i, err);
	stack_walker_destroy(search->walker);
	return status;
}

enum hd_status async_running_add(struct async_graph *graph, struct hash_index *taken,
				 struct job *job, struct hd_error *err)
{
	struct running_search search = {
		.graph = graph, .taken = taken, .sorted = graph->rows_count, .job = job
	};
	if (!has_running(graph))
		return HD_OK;
	search.type = type_by_name(graph->heap->runtime, net_type_name(NET_DISPATCHER), 0);
	if (!search.type)
		return HD_OK;
	TRY(look_at_threads(&search, err));
	async_graph_sort(graph);
	return HD_OK;
}
