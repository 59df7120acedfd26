/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_suspended.h"

#include "analysis/async/async_box.h"
#include "analysis/async/task_state.h"
#include "gc/references.h"
#include "inspect/suspended.h"
#include "util/alloc.h"

/* The call whose nodes are added. */
struct suspended_call {
	struct async_graph *graph;
	const struct object *task;
	struct hash_index *taken;
	uint64_t awaited; /* what the method that comes next awaits */
	uint64_t looked_for;
};

bool async_is_runtime_task(const char *name, size_t size)
{
	return net_type_is(NET_RUNTIME_TASK, name, size);
}

bool async_task_head(struct members *members, const struct object *task, uint64_t *ret)
{
	struct member head = fact_of(members, task, FACT_TASK_STATE_OBJECT);
	*ret = head.bits;
	return head.state == MEMBER_READ;
}

static bool is_same_continuation(const void *arg, uint32_t index)
{
	const struct suspended_call *call = arg;
	return call->graph->rows[index].holder == call->looked_for;
}

/* The Continuation at @p address, unless it is not one. */
static bool read_suspended(struct async_graph *graph, uint64_t address, struct suspended *ret)
{
	struct object object;
	return member_object(graph->members, address, &object) &&
	       async_graph_type(graph, object.type) == ASYNC_SUSPENDED &&
	       suspended_read(graph->heap, &object, ret);
}

/* The object that the call awaits, as its head has it; 0: the head does not know. */
static uint64_t awaited_of_head(struct async_graph *graph, const struct object *head)
{
	static const enum fact fields[] = { FACT_TASK_HEAD_TASK, FACT_SOURCE_HEAD_SOURCE };
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct member member = fact_of(graph->members, head, fields[i]);
		if (member.state == MEMBER_READ)
			return member.bits;
	}
	return 0;
}

/* Does the object refer to the delegate? */
static bool refers_to(struct heap *heap, const struct object *object, uint64_t action)
{
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	struct references references;
	struct reference reference;
	bool refers = false;
	references_begin(&references, &window, object);
	while (!refers && references_next(&references, &reference))
		refers = reference.value == action;
	return refers;
}

/* Objects that are looked at for an awaiter, and the size of those that are. */
#define AWAITERS_MAX     16u
#define AWAITER_SIZE_MAX 1024u

/*
 * An awaiter that is not a task has the task's action, and is kept in the method's Continuation, because it
 * is asked for the result.  0: there is none, as for Task.Yield, whose action is in a queue.
 */
static uint64_t find_awaiter(struct suspended_call *call, const struct suspended *method)
{
	struct async_graph *graph = call->graph;
	HD_CLEANUP(window) struct window window = { .memory = graph->heap->memory };
	struct member action = fact_of(graph->members, call->task, FACT_TASK_ACTION);
	struct references references;
	struct reference reference;
	uint64_t found = 0;
	unsigned int looked = 0;
	if (!action.bits)
		return 0;
	references_begin(&references, &window, &method->object);
	while (!found && looked < AWAITERS_MAX && references_next(&references, &reference)) {
		struct object object;
		if (reference.slot < method->data || !reference.value)
			continue;
		looked++;
		if (member_object(graph->members, reference.value, &object) &&
		    object.size <= AWAITER_SIZE_MAX && refers_to(graph->heap, &object, action.bits))
			found = object.address;
	}
	return found;
}

static enum hd_status add_node(struct async_graph *graph, const struct async_method_key *key,
			       struct async_node node, struct hd_error *err)
{
	node.method = async_methods_add(&graph->methods, *key);
	node.next = ASYNC_NO_NODE;
	node.thread = ASYNC_NO_THREAD;
	node.is_runtime = true;
	if (node.method == ASYNC_NO_METHOD || !PAGES_RESERVE(graph, rows) ||
	    graph->rows_count >= ASYNC_NO_NODE)
		return fail_nomem(err);
	graph->rows[graph->rows_count++] = node;
	return HD_OK;
}

/* The call runs, or has ended, or cannot be read: its task is all that is known of it. */
static enum hd_status add_task_only(struct async_graph *graph, const struct object *task,
				    int32_t state, uint64_t awaited, struct hd_error *err)
{
	const struct async_method_key key = { .machine = task->type };
	return add_node(graph, &key,
			(struct async_node){ .address = task->address,
					     .type = task->type,
					     .machine = task->type,
					     .size = task->size,
					     .task = task->address,
					     .object = awaited,
					     .state = state },
			err);
}

static enum hd_status add_method(struct suspended_call *call, const struct suspended *method,
				 struct hd_error *err)
{
	const struct async_method_key key = { .method_desc = method->method_desc,
					      .owner = suspended_owner(call->graph->heap, method),
					      .resume_info = method->resume_info };
	TRY(add_node(call->graph, &key,
		     (struct async_node){ .address = method->object.address,
					  .type = method->object.type,
					  .machine = method->object.type,
					  .size = method->object.size,
					  .holder = method->object.address,
					  .fields = method->data,
					  .task = call->task->address,
					  .place = method->place,
					  .object = call->awaited,
					  .state = (int32_t)(method->state & INT32_MAX) },
		     err));
	if (!method->method_desc && !call->graph->unknown++)
		call->graph->unknown_at = method->resume_info;
	call->awaited = method->object.address;
	return HD_OK;
}

/* Has no node this Continuation yet?  Then the next one has it. */
static bool take_continuation(struct suspended_call *call, uint64_t address, bool *ret_is_new)
{
	uint32_t fresh = (uint32_t)call->graph->rows_count;
	call->looked_for = address;
	uint32_t row = hash_index_add(call->taken, hash_mix(0, address), fresh,
				      is_same_continuation, call);
	*ret_is_new = row == fresh;
	return row != UINT32_MAX;
}

/* The methods from @p method outwards. */
static enum hd_status add_methods(struct suspended_call *call, struct suspended method,
				  struct hd_error *err)
{
	struct async_graph *graph = call->graph;
	size_t first = graph->rows_count;
	bool is_new;
	for (;;) {
		TRY_MEMORY(take_continuation(call, method.object.address, &is_new), err);
		if (is_new)
			TRY(add_method(call, &method, err));
		uint64_t next = method.next;
		bool is_sound =
			is_new &&
			(!next || (read_suspended(graph, next, &method) && !method.is_head));
		graph->is_cut |= !is_sound;
		if (!is_sound || !next)
			break;
	}
	if (graph->rows_count == first)
		return HD_OK;
	/* Others know the outermost method by its task. */
	struct async_node *outermost = &graph->rows[graph->rows_count - 1];
	outermost->address = call->task->address;
	outermost->type = call->task->type;
	outermost->size = call->task->size;
	return HD_OK;
}

/* The Continuation of the innermost method; what that awaits is in @p call.  false: it cannot be read. */
static bool find_innermost(struct suspended_call *call, uint64_t head, struct suspended *ret)
{
	if (!read_suspended(call->graph, head, ret))
		return false;
	if (!ret->is_head) {
		call->awaited = find_awaiter(call, ret);
		return true;
	}
	call->awaited = awaited_of_head(call->graph, &ret->object);
	return read_suspended(call->graph, ret->next, ret) && !ret->is_head;
}

enum hd_status async_suspended_add(struct async_graph *graph, const struct object *task,
				   bool with_done, struct hash_index *taken, struct hd_error *err)
{
	struct suspended_call call = { .graph = graph, .task = task, .taken = taken };
	uint64_t head;
	bool is_known = async_task_head(graph->members, task, &head);
	struct suspended innermost;
	if (task_is_complete(graph->members, task))
		return with_done ? add_task_only(graph, task, ASYNC_DONE, 0, err) : HD_OK;
	if (is_known && !head)
		return add_task_only(graph, task, ASYNC_RUNS, 0, err);
	if (is_known && find_innermost(&call, head, &innermost))
		return add_methods(&call, innermost, err);
	graph->is_cut = true;
	return add_task_only(graph, task, 0, call.awaited ? call.awaited : head, err);
}

enum hd_status async_suspended_add_from(struct async_graph *graph, const struct object *task,
					uint64_t first, uint64_t awaited, struct hash_index *taken,
					struct hd_error *err)
{
	struct suspended_call call = {
		.graph = graph, .task = task, .taken = taken, .awaited = awaited
	};
	struct suspended innermost;
	if (read_suspended(graph, first, &innermost) && !innermost.is_head)
		return add_methods(&call, innermost, err);
	graph->is_cut = true;
	return HD_OK;
}
