/* SPDX-License-Identifier: MIT */
/* Finds the name of an async method, and who declares it. */
#include <string.h>

#include "analysis/async/async_graph.h"
#include "framework/owns.h"
#include "gc/references.h"
#include "inspect/suspended.h"
#include "runtime/coreclr/code/method.h"

/* A field that the compiler names (Roslyn, GeneratedNames.cs). */
#define THIS_FIELD "<>4__this"

/* ECMA-335 II.22.26: the flags of a row of MethodDef, and the one of static methods. */
#define METHOD_FLAGS  2u
#define METHOD_STATIC 0x10u

/* Methods of a chain that are looked at for one of the program. */
#define OWN_STEPS_MAX 64u

const char *async_node_name(struct async_graph *graph, const struct async_node *node)
{
	const char *name = async_methods_name(&graph->methods, graph->heap->runtime, node->method);
	graph->failed |= !name;
	return name ? name : "";
}

uint32_t async_innermost_own(struct async_graph *graph, uint32_t row)
{
	uint32_t found = ASYNC_NO_NODE;
	for (unsigned int i = 0; row != ASYNC_NO_NODE && i < OWN_STEPS_MAX; i++) {
		const char *name = async_node_name(graph, &graph->rows[row]);
		if (*name && !framework_owns(graph->heap->runtime, name, strlen(name)))
			found = row;
		row = graph->rows[row].next;
	}
	return found;
}

const char *async_node_code(struct async_graph *graph, const struct async_node *node)
{
	const char *name = async_methods_code(&graph->methods, graph->heap->runtime, node->method);
	graph->failed |= !name;
	return name ? name : "";
}

bool async_node_line(const struct async_graph *graph, const struct async_node *node,
		     struct source_line *ret)
{
	struct runtime *runtime = graph->heap->runtime;
	if (node->is_runtime) {
		return node->place &&
		       runtime_source_line(runtime,
					   graph->methods.rows[node->method].key.method_desc,
					   node->place, ret);
	}
	return node->state >= 0 &&
	       runtime_await_line(runtime, node->machine, (uint32_t)node->state, ret);
}

const struct async_node *async_node_waiter(struct async_graph *graph, const struct async_node *node)
{
	static const char semaphore[] = "System.Threading.SemaphoreSlim.";
	static const char channel[] = "System.Threading.Channels.";
	while (node->is_runtime && !node->is_limited && async_node_is_awaited(node)) {
		const char *name = async_node_code(graph, node);
		if (strncmp(name, semaphore, strlen(semaphore)) != 0 &&
		    strncmp(name, channel, strlen(channel)) != 0)
			break;
		/* A chain has no circle, so this ends. */
		node = &graph->rows[node->outer];
	}
	return node;
}

static bool is_instance_method(const struct method *method)
{
	const struct metadata *metadata = method->module ? method->module->metadata : NULL;
	return metadata && method->rid && method->type &&
	       !(metadata_column(metadata, MD_METHOD, method->rid, METHOD_FLAGS) & METHOD_STATIC);
}

/* The first saved reference to an object of the class that has the method. */
static uint64_t find_saved_this(struct async_graph *graph, const struct async_node *node)
{
	struct heap *heap = graph->heap;
	uint64_t method_desc = graph->methods.rows[node->method].key.method_desc, found = 0;
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	struct references references;
	struct reference reference;
	struct object holder, object;
	struct method method;
	if (!method_desc || !method_read(heap->runtime, method_desc, &method) ||
	    !is_instance_method(&method) || !member_object(graph->members, node->holder, &holder))
		return 0;
	references_begin(&references, &window, &holder);
	while (!found && references_next(&references, &reference)) {
		if (reference.slot >= node->fields &&
		    member_object(graph->members, reference.value, &object) &&
		    object.type->token == method.type->token &&
		    object.type->module == method.type->module)
			found = reference.slot;
	}
	return found;
}

/* The context that a Continuation has among what it saves. */
static uint64_t saved_context(struct async_graph *graph, const struct object *object)
{
	struct suspended continuation;
	return suspended_read(graph->heap, object, &continuation) ? continuation.context : 0;
}

uint64_t async_node_context(struct async_graph *graph, const struct async_node *node)
{
	struct object object;
	if (!node->holder || !member_object(graph->members, node->holder, &object))
		return 0;
	uint64_t context = saved_context(graph, &object);
	struct suspended head;
	struct member first = fact_at(graph->members, node->task, FACT_TASK_STATE_OBJECT);
	/* A method that the head awaits goes on in the context of the head. */
	if (context || !member_object(graph->members, first.bits, &object) ||
	    !suspended_read(graph->heap, &object, &head) || !head.is_head ||
	    head.next != node->holder)
		return context;
	return fact_of(graph->members, &object, FACT_TASK_HEAD_CONTEXT).bits;
}

uint64_t async_node_this(struct async_graph *graph, const struct async_node *node)
{
	if (node->is_runtime)
		return node->holder ? find_saved_this(graph, node) : 0;
	return member_of_struct(graph->members, node->machine, node->fields, THIS_FIELD).address;
}
