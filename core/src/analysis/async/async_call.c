/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_call.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/async/async_suspended.h"
#include "inspect/async_name.h"
#include "inspect/suspended.h"
#include "runtime/coreclr/types/type_name.h"

/* Most Continuations that are followed from one task. */
#define STEPS_MAX 1000u

/* The last Continuation that follows from @p at; false: not known. */
static bool find_outermost(struct heap *heap, struct members *members, uint64_t at,
			   struct suspended *ret)
{
	for (unsigned int i = 0; at && i < STEPS_MAX; i++) {
		struct object object;
		if (!member_object(members, at, &object) || !suspended_read(heap, &object, ret))
			return false;
		if (!ret->next)
			return true;
		at = ret->next;
	}
	return false;
}

bool async_call_append(struct text *text, struct heap *heap, struct members *members,
		       const struct object *object)
{
	size_t size, machine_size;
	const char *name = type_name(heap->runtime, object->type, &size);
	const char *machine = async_box_machine(name, size, &machine_size);
	if (machine)
		return async_method_append(text, machine, machine_size);
	if (!async_is_runtime_task(name, size))
		return false;
	uint64_t head;
	struct suspended outermost;
	return async_task_head(members, object, &head) &&
	       find_outermost(heap, members, head, &outermost) &&
	       async_code_append_name(text, heap->runtime, outermost.method_desc,
				      suspended_owner(heap, &outermost));
}

/* Does the runtime suspend it, and is it known which method that is? */
static bool is_runtime_method(const struct async_graph *graph, const struct async_node *node)
{
	return node->is_runtime && graph->methods.rows[node->method].key.method_desc;
}

bool async_graph_call_append(struct text *text, struct async_graph *graph,
			     const struct object *object)
{
	uint32_t row = async_graph_find(graph, object->address);
	if (row == ASYNC_NO_NODE || !is_runtime_method(graph, &graph->rows[row]))
		return async_call_append(text, graph->heap, graph->members, object);
	text_puts(text, async_node_name(graph, &graph->rows[row]));
	return true;
}
