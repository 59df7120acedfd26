/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_graph.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/async/async_library.h"
#include "analysis/async/async_suspended.h"
#include "analysis/async/async_wait.h"
#include "analysis/heap/object_pass.h"
#include "framework/absent.h"
#include "inspect/managed_lock.h"
#include "runtime/coreclr/types/continuation.h"
#include "targets/target_map.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/sort.h"

#define ADVICE_FILES                                                                           \
	"give the folder with the files of the machine it ran on as --sysroot DIR, or take a " \
	"full dump (createdump --full)"

/* Objects that tell of others whom they let wait, met by the walk. */
struct holders {
	struct object *rows;
	size_t rows_count, rows_capacity;
};

struct graph_walk {
	struct async_graph *graph;
	struct holders holders;
	struct hash_index taken; /* Continuations that have nodes */
	bool with_done;
};

void async_graph_deinit(struct async_graph *graph)
{
	async_types_deinit(&graph->types);
	async_links_deinit(&graph->links);
	async_methods_deinit(&graph->methods);
	pages_free(graph->rows, graph->rows_capacity, sizeof(*graph->rows));
	mem_free(graph->last_exceptions);
	*graph = (struct async_graph){ 0 };
}

uint32_t async_graph_find(const struct async_graph *graph, uint64_t address)
{
	size_t row = ROWS_FROM(graph->rows, graph->rows_count, address, address);
	bool is_found = row < graph->rows_count && graph->rows[row].address == address;
	return is_found ? (uint32_t)row : ASYNC_NO_NODE;
}

static enum hd_status add_holder(struct holders *holders, const struct object *object,
				 struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(holders, rows), err);
	holders->rows[holders->rows_count++] = *object;
	return HD_OK;
}

/* A box that the runtime keeps to use it again: its state machine is all zeros. */
static bool is_spare(struct members *members, const struct async_box *box)
{
	return !box->awaited && box->state == 0 &&
	       fact_of(members, &box->object, FACT_TASK_FLAGS).state == MEMBER_ABSENT;
}

static enum hd_status add_box(struct graph_walk *walk, const struct object *object,
			      struct hd_error *err)
{
	struct async_graph *graph = walk->graph;
	struct async_box box;
	if (!async_box_read(graph->heap, graph->members, object, &box) ||
	    (box.state == ASYNC_DONE && !walk->with_done) || is_spare(graph->members, &box))
		return HD_OK;
	uint32_t method = async_methods_add(&graph->methods,
					    (struct async_method_key){ .machine = box.machine });
	if (method == ASYNC_NO_METHOD || !PAGES_RESERVE(graph, rows) ||
	    graph->rows_count >= ASYNC_NO_NODE)
		return fail_nomem(err);
	/* Debug builds have the state machine in an object of its own. */
	bool is_inside =
		box.fields >= object->address && box.fields - object->address < object->size;
	/*
	 * The awaited object is looked up later, when all boxes are known; until then object has
	 * it.
	 */
	graph->rows[graph->rows_count++] = (struct async_node){
		.address = object->address,
		.type = object->type,
		.machine = box.machine,
		.size = object->size,
		.task = object->address,
		.holder = is_inside ? object->address : box.fields - OBJECT_FIELDS,
		.fields = box.fields,
		.object = box.awaited,
		.method = method,
		.thread = ASYNC_NO_THREAD,
		.next = ASYNC_NO_NODE,
		.state = box.state,
	};
	return HD_OK;
}

static enum hd_status add_exception(struct async_graph *graph, const struct object *object,
				    struct hd_error *err)
{
	if (!graph->last_exceptions) {
		graph->last_exceptions =
			mem_calloc(ASYNC_EXCEPTIONS_MAX, sizeof(*graph->last_exceptions));
		TRY_MEMORY(graph->last_exceptions, err);
	}
	graph->last_exceptions[graph->exceptions++ % ASYNC_EXCEPTIONS_MAX] = object->address;
	return HD_OK;
}

static enum hd_status meet_object(void *arg, const struct object *object, struct hd_error *err)
{
	struct graph_walk *walk = arg;
	struct async_graph *graph = walk->graph;
	graph->objects++;
	switch (async_graph_type(graph, object->type)) {
	case ASYNC_BOX:
		return add_box(walk, object, err);
	case ASYNC_SUSPENDED:
		graph->suspended += type_is_continuation(graph->heap->runtime, object->type);
		return HD_OK;
	case ASYNC_RUNTIME_TASK:
		graph->calls++;
		return async_suspended_add(graph, object, walk->with_done, &walk->taken, err);
	case ASYNC_CHANNEL:
	case ASYNC_SEMAPHORE:
	case ASYNC_COUNTDOWN:
	case ASYNC_HANDLE:
	case ASYNC_SEND:
	case ASYNC_LEASE:
	case ASYNC_AGENT:
	case ASYNC_AGENT_LOOP:
	case ASYNC_GRAIN_CALL:
	case ASYNC_ACTIVATION:
	case ASYNC_HTTP_POOL:
	case ASYNC_HTTP_CONNECTION:
	case ASYNC_HTTP_STREAM:
	case ASYNC_SOCKET_ITSELF:
		return add_holder(&walk->holders, object, err);
	case ASYNC_EXCEPTION:
		return add_exception(graph, object, err);
	default:
		return graph->failed ? fail_nomem(err) : HD_OK;
	}
}

/*
 * Link a box that others find only over something else: the UnwrapPromise that its task continues
 * with, and the object that its state machine is.
 */
static enum hd_status link_box(struct async_graph *graph, const struct async_node *node,
			       struct hd_error *err)
{
	struct object object = { .address = node->address, .type = node->type };
	struct async_link link = { .to = node->address, .kind = LINK_BOX };
	if (node->address != node->task)
		return HD_OK;
	if (!node->is_runtime && node->holder != node->address) {
		link.from = node->holder;
		TRY(async_link_add(&graph->links, link, err));
	}
	struct member next = fact_of(graph->members, &object, FACT_TASK_NEXT);
	if (!member_object(graph->members, next.bits, &object) ||
	    async_graph_type(graph, object.type) != ASYNC_UNWRAP)
		return HD_OK;
	link.from = next.bits;
	return async_link_add(&graph->links, link, err);
}

/* Link what a thread waits for in the end to the object of the program that has it. */
static enum hd_status link_event(struct async_graph *graph, const struct object *object,
				 struct hd_error *err)
{
	struct member event = fact_of(graph->members, object, FACT_COUNTDOWN_EVENT);
	struct member handle = fact_of(graph->members, object, FACT_WAIT_HANDLE_SAFE);
	struct async_link link = { .to = object->address, .kind = LINK_EVENT };
	struct waitable waitable;
	if (waitable_of_handle(graph->heap, graph->members, object->address, &waitable)) {
		link.from = waitable.address;
		TRY(async_link_add(&graph->links, link, err));
	}
	link.from = event.state == MEMBER_READ ? event.bits : handle.bits;
	return link.from ? async_link_add(&graph->links, link, err) : HD_OK;
}

static enum hd_status link_object(struct async_graph *graph, const struct object *object,
				  struct hd_error *err)
{
	switch (async_graph_type(graph, object->type)) {
	case ASYNC_SEMAPHORE:
		return async_links_of_semaphore(&graph->links, graph->members, object, err);
	case ASYNC_CHANNEL:
		return async_links_of_channel(&graph->links, graph->heap, graph->members, object,
					      err);
	case ASYNC_COUNTDOWN:
	case ASYNC_HANDLE:
		return link_event(graph, object, err);
	default:
		return async_links_of_library(graph, object, err);
	}
}

static enum hd_status make_links(struct graph_walk *walk, struct hd_error *err)
{
	struct async_graph *graph = walk->graph;
	graph->links.limit = graph->objects;
	for (size_t i = 0; i < graph->rows_count; i++)
		TRY(link_box(graph, &graph->rows[i], err));
	for (size_t i = 0; i < walk->holders.rows_count; i++)
		TRY(link_object(graph, &walk->holders.rows[i], err));
	async_links_sort(&graph->links);
	return HD_OK;
}

/* Boxes that await each other: the chain is cut at the one that is found first. */
static void cut_cycles(struct async_graph *graph, uint32_t *seen)
{
	for (size_t i = 0; i < graph->rows_count; i++) {
		uint32_t mark = (uint32_t)i + 1, at = (uint32_t)i;
		while (!seen[at]) {
			seen[at] = mark;
			if (graph->rows[at].next == ASYNC_NO_NODE)
				break;
			at = graph->rows[at].next;
		}
		struct async_node *node = &graph->rows[at];
		if (seen[at] != mark || node->next == ASYNC_NO_NODE)
			continue;
		/* It was met twice on this way: the box that it awaits gets nothing more to await. */
		node->object = graph->rows[node->next].address;
		node->next = ASYNC_NO_NODE;
		node->wait = AWAIT_CYCLE;
	}
}

/* The ends of all chains, without cycles, in linear time: each way is followed to a box that has its end. */
static void find_chain_ends(struct async_graph *graph, uint32_t *way)
{
	struct async_node *nodes = graph->rows;
	for (size_t i = 0; i < graph->rows_count; i++) {
		size_t count = 0;
		for (uint32_t row = (uint32_t)i; row != ASYNC_NO_NODE && !nodes[row].depth;
		     row = nodes[row].next)
			way[count++] = row;
		while (count > 0) {
			uint32_t row = way[--count], next = nodes[row].next;
			nodes[row].end = next == ASYNC_NO_NODE ? row : nodes[next].end;
			nodes[row].depth = next == ASYNC_NO_NODE ? 1 : nodes[next].depth + 1;
		}
	}
}

static enum hd_status find_waits(struct async_graph *graph, struct hd_error *err)
{
	HD_FREE uint32_t *scratch = mem_calloc(graph->rows_count + 1, sizeof(*scratch));
	TRY_MEMORY(scratch, err);
	for (size_t i = 0; i < graph->rows_count; i++) {
		graph->rows[i].outer = ASYNC_NO_NODE;
		async_wait_find(graph, &graph->rows[i]);
	}
	cut_cycles(graph, scratch);
	find_chain_ends(graph, scratch);
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (graph->rows[i].next != ASYNC_NO_NODE)
			graph->rows[graph->rows[i].next].outer = (uint32_t)i;
	}
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (!async_node_is_awaited(&graph->rows[i]))
			graph->rows[i].root = async_root_of(graph, &graph->rows[i]);
	}
	return graph->failed ? fail_nomem(err) : HD_OK;
}

ORDER_BY(compare_nodes, struct async_node, address)

/* Tell what the target lacks of the methods that the runtime suspends. */
static void tell_losses(const struct async_graph *graph)
{
	struct findings *findings = runtime_findings(graph->heap->runtime);
	if (graph->unknown) {
		findings_add_counted(findings, FINDING_ASYNC_METHODS, graph->unknown,
				     target_advice(runtime_target(graph->heap->runtime),
						   graph->unknown_at, ADVICE_FILES),
				     "the target lacks what tells of which async method %" PRIu64
				     " suspended calls are",
				     graph->unknown);
	}
	if (graph->is_cut) {
		findings_add(findings, FINDING_ASYNC_LIST, NULL,
			     "a list of suspended async methods cannot be read to its end: some "
			     "methods, and what they wait for, are not known");
	}
}

void async_graph_sort(struct async_graph *graph)
{
	if (graph->rows_count)
		qsort(graph->rows, graph->rows_count, sizeof(*graph->rows), compare_nodes);
}
/* Objects are recognised by these types; async_types.c has the names of all kinds. */
static const enum net_type looked_for[] = {
	NET_TASK,      NET_TASK_OF,        NET_BUILDER_BOX,  NET_LIST,           NET_DELAY,
	NET_WHEN_ALL,  NET_WHEN_ALL_OF,    NET_WHEN_ANY_TWO, NET_WHEN_ANY,       NET_WAIT_ONE,
	NET_WAIT_ALL,  NET_CONTINUE_TASK,  NET_UNWRAP,       NET_SEMAPHORE_SLIM, NET_SEMAPHORE_NODE,
	NET_COUNTDOWN, NET_PERIODIC_STATE, NET_WAIT_HANDLE,  NET_TYPES,
};

enum hd_status async_graph_create(struct heap *heap, struct members *members, bool with_done,
				  struct job *job, struct async_graph *ret, struct hd_error *err)
{
	struct async_graph graph = { .heap = heap, .members = members };
	struct graph_walk walk = { .graph = &graph, .with_done = with_done };
	net_types_look(heap, looked_for);
	enum hd_status status = object_pass_all(heap, meet_object, &walk, job, err);
	if (status == HD_OK) {
		async_graph_sort(&graph);
		status = async_running_add(&graph, &walk.taken, job, err);
	}
	hash_index_deinit(&walk.taken);
	if (status == HD_OK)
		status = make_links(&walk, err);
	if (status == HD_OK)
		status = async_awaited_find(&graph, job, err);
	if (status == HD_OK)
		status = find_waits(&graph, err);
	pages_free(walk.holders.rows, walk.holders.rows_capacity, sizeof(struct object));
	if (status != HD_OK) {
		async_graph_deinit(&graph);
		return status;
	}
	/* Methods are suspended by calls: there must be some, but their class is not known. */
	graph.is_cut |= graph.suspended && !graph.calls;
	tell_losses(&graph);
	*ret = graph;
	return HD_OK;
}
