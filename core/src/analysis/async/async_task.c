/* SPDX-License-Identifier: MIT */
/* Follows tasks that are not of async methods: does an async method go on after them? */
#include "analysis/async/async_graph.h"
#include "inspect/value.h"

/* Most objects that are looked at for one task. */
#define LOOKED_AT_MAX 64u

/* Objects that go on after a task, and are still to be looked at. */
struct task_way {
	struct async_graph *graph;
	uint64_t ahead[LOOKED_AT_MAX];
	size_t count, taken;
};

static void put_ahead(struct task_way *way, uint64_t address)
{
	if (address && way->count < LOOKED_AT_MAX)
		way->ahead[way->count++] = address;
}

/* The elements of the list of a task with several continuations. */
static void put_elements(struct task_way *way, const struct object *list)
{
	struct async_graph *graph = way->graph;
	struct member items = fact_of(graph->members, list, FACT_LIST_ITEMS);
	struct array_info array;
	if (!array_at(graph->heap, graph->members, items.bits, &array))
		return;
	for (uint64_t i = 0; i < array.length && way->count < LOOKED_AT_MAX; i++)
		put_ahead(way, array_reference(graph->heap, &array, i));
}

/*
 * Follow an object that is not a task (TaskContinuation.cs): to its task, or to the target of its
 * delegate.
 */
static void put_continuation(struct task_way *way, const struct object *object)
{
	static const enum fact paths[] = { FACT_CONTINUATION_TASK, FACT_CONTINUATION_TARGET,
					   FACT_DELEGATE_TARGET };
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct member member = fact_of(way->graph->members, object, paths[i]);
		if (member.state == MEMBER_READ)
			put_ahead(way, member.bits);
	}
}

bool async_task_leads_to_method(struct async_graph *graph, const struct object *task)
{
	struct task_way way = { .graph = graph };
	struct member next = fact_of(graph->members, task, FACT_TASK_NEXT);
	struct object object;
	put_ahead(&way, next.bits);
	while (way.taken < way.count) {
		if (!member_object(graph->members, way.ahead[way.taken++], &object))
			continue;
		enum async_type kind = async_graph_type(graph, object.type);
		if (async_type_is_method(kind))
			return true;
		if (kind == ASYNC_LIST) {
			put_elements(&way, &object);
		} else if (async_type_is_task(kind)) {
			next = fact_of(graph->members, &object, FACT_TASK_NEXT);
			put_ahead(&way, next.bits);
		} else {
			put_continuation(&way, &object);
		}
	}
	return false;
}
