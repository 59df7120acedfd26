/* SPDX-License-Identifier: MIT */
/*
 * Finds what a suspended method awaits where the fields of its state machine have no names, as in a program with
 * NativeAOT: by who goes on after the objects that it refers to (doc/nativeaot.md 8).
 */
#include "analysis/async/async_wait.h"
#include "analysis/graph/hash_index.h"
#include "gc/references.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/job.h"

/* Most objects from a task to the method that goes on after it: a continuation, its delegate, the one around that. */
#define STEPS_MAX 4u
/* References of a source of a ValueTask that are looked at: it has few fields. */
#define SOURCE_REFERENCES_MAX 64u
/* The same of a continuation. */
#define PARTS_MAX 8u

struct awaited_search {
	struct async_graph *graph;
	struct hash_index lists; /* of tasks with several continuations, which were read */
	uint64_t *rows;          /* their addresses */
	size_t rows_count, rows_capacity;
	uint64_t next; /* the one that is looked for */
	struct window window, source_window, part_window;
};

static void search_deinit(struct awaited_search *search)
{
	hash_index_deinit(&search->lists);
	pages_free(search->rows, search->rows_capacity, sizeof(*search->rows));
	window_deinit(&search->window);
	window_deinit(&search->source_window);
	window_deinit(&search->part_window);
}

/* The target of the first delegate that @p object, a continuation (TaskContinuation.cs), refers to; 0: none. */
static uint64_t delegate_target(struct awaited_search *search, const struct object *object)
{
	struct async_graph *graph = search->graph;
	struct delegate_info delegate;
	struct references references;
	struct reference reference;
	struct object part;
	unsigned int left = PARTS_MAX;
	if (delegate_read(graph->heap, object, &delegate))
		return delegate.target;
	references_begin(&references, &search->part_window, object);
	while (left-- && references_next(&references, &reference)) {
		if (member_object(graph->members, reference.value, &part) &&
		    delegate_read(graph->heap, &part, &delegate))
			return delegate.target;
	}
	return 0;
}

/* The method that goes on when the object at @p address is called; ASYNC_NO_NODE: none. */
static uint32_t method_behind(struct awaited_search *search, uint64_t address)
{
	struct async_graph *graph = search->graph;
	struct object object;
	for (unsigned int i = 0; address && i < STEPS_MAX; i++) {
		uint32_t row = async_graph_find(graph, address);
		if (row != ASYNC_NO_NODE)
			return row;
		address = member_object(graph->members, address, &object)
				  ? delegate_target(search, &object)
				  : 0;
	}
	return ASYNC_NO_NODE;
}

/* @p continuation goes on after the object at @p awaited. */
static void note_awaited(struct awaited_search *search, uint64_t continuation, uint64_t awaited)
{
	struct async_graph *graph = search->graph;
	uint32_t row = method_behind(search, continuation);
	if (row != ASYNC_NO_NODE && graph->rows[row].state == ASYNC_UNKNOWN &&
	    !graph->rows[row].object && graph->rows[row].address != awaited)
		graph->rows[row].object = awaited;
}

static bool is_same_list(const void *arg, uint32_t index)
{
	const struct awaited_search *search = arg;
	return search->rows[index] == search->next;
}

/* A task with several continuations: its list is read once, however many methods refer to the task. */
static enum hd_status take_list(struct awaited_search *search, const struct object *list,
				uint64_t task, struct job *job, struct hd_error *err)
{
	struct async_graph *graph = search->graph;
	struct member items = fact_of(graph->members, list, FACT_LIST_ITEMS);
	struct member size = fact_of(graph->members, list, FACT_LIST_SIZE);
	struct array_info array;
	search->next = list->address;
	TRY_MEMORY(PAGES_RESERVE(search, rows), err);
	uint32_t row = hash_index_add(&search->lists, hash_mix(0, list->address),
				      (uint32_t)search->rows_count, is_same_list, search);
	if (row == UINT32_MAX)
		return fail_nomem(err);
	if (row < search->rows_count)
		return HD_OK;
	search->rows[search->rows_count++] = list->address;
	if (items.state != MEMBER_READ || size.state != MEMBER_READ ||
	    !array_at(graph->heap, graph->members, items.bits, &array) || size.bits > array.length)
		return HD_OK;
	for (uint64_t i = 0; i < size.bits; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		note_awaited(search, array_reference(graph->heap, &array, i), task);
	}
	return HD_OK;
}

/* A source of ValueTasks, or what it is a part of, refers to the method that goes on after it. */
static void take_source(struct awaited_search *search, const struct object *source)
{
	struct references references;
	struct reference reference;
	unsigned int left = SOURCE_REFERENCES_MAX;
	references_begin(&references, &search->source_window, source);
	while (left-- && references_next(&references, &reference))
		note_awaited(search, reference.value, source->address);
}

/* An object that a suspended method refers to: does one go on after it? */
static enum hd_status take_candidate(struct awaited_search *search, const struct object *object,
				     struct job *job, struct hd_error *err)
{
	struct async_graph *graph = search->graph;
	enum async_type kind = async_graph_type(graph, object->type);
	struct object list;
	if (!async_type_is_task(kind)) {
		if (async_type_is_source(&graph->types, graph->heap->runtime, object->type,
					 &graph->failed))
			take_source(search, object);
		return HD_OK;
	}
	struct member next = fact_of(graph->members, object, FACT_TASK_NEXT);
	if (!next.bits)
		return HD_OK;
	if (member_object(graph->members, next.bits, &list) &&
	    async_graph_type(graph, list.type) == ASYNC_LIST)
		return take_list(search, &list, object->address, job, err);
	note_awaited(search, next.bits, object->address);
	return HD_OK;
}

static enum hd_status take_method(struct awaited_search *search, const struct async_node *node,
				  struct job *job, struct hd_error *err)
{
	struct async_graph *graph = search->graph;
	struct references references;
	struct reference reference;
	struct object holder, object;
	if (!member_object(graph->members, node->holder, &holder))
		return HD_OK;
	references_begin(&references, &search->window, &holder);
	while (!node->object && references_next(&references, &reference)) {
		if (reference.slot >= node->fields &&
		    member_object(graph->members, reference.value, &object))
			TRY(take_candidate(search, &object, job, err));
	}
	return HD_OK;
}

/* Drop boxes that the runtime keeps to use them again: nothing goes on with them, and they are no tasks. */
static void drop_spares(struct async_graph *graph)
{
	size_t kept = 0;
	for (size_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *node = &graph->rows[i];
		struct object object = { .address = node->address, .type = node->type };
		if (node->state != ASYNC_UNKNOWN || node->object ||
		    fact_of(graph->members, &object, FACT_TASK_FLAGS).state != MEMBER_ABSENT)
			graph->rows[kept++] = *node;
	}
	graph->rows_count = kept;
}

enum hd_status async_awaited_find(struct async_graph *graph, struct job *job, struct hd_error *err)
{
	struct awaited_search search = { .graph = graph,
					 .window.memory = graph->heap->memory,
					 .source_window.memory = graph->heap->memory,
					 .part_window.memory = graph->heap->memory };
	enum hd_status status = HD_OK;
	for (size_t i = 0; i < graph->rows_count && status == HD_OK; i++) {
		const struct async_node *node = &graph->rows[i];
		if (i % JOB_STRIDE == 0)
			status = job_check(job, 0, err);
		if (status == HD_OK && node->state == ASYNC_UNKNOWN && !node->object)
			status = take_method(&search, node, job, err);
	}
	search_deinit(&search);
	drop_spares(graph);
	return status == HD_OK && graph->failed ? fail_nomem(err) : status;
}
