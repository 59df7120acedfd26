/* SPDX-License-Identifier: MIT */
#include "hangs/failed_tries.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "framework/exception_trace.h"
#include "hangs/wait_parts.h"
#include "inspect/async_name.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/text.h"

/* Frames of an exception, and of a thread, and methods of a chain that are looked at. */
#define FRAMES_MAX  256u
#define METHODS_MAX 64u
/* Nodes for which others wait that are looked at. */
#define NODES_MAX 4096u
/* The managed id of a main thread (Thread.cs). */
#define MAIN_ID 1u

void failed_tries_deinit(struct failed_tries *tries)
{
	for (size_t i = 0; i < tries->count; i++)
		mem_free(tries->rows[i].method);
	tries->count = 0;
}

static bool thread_waits_for_time(const struct waits *waits, const struct thread_wait *wait)
{
	return wait->kind == WAIT_SLEEP && wait->user_frame != WAIT_NO_FRAME &&
	       !wait_sleeps_without_end(waits, wait);
}

static bool call_waits_for_time(const struct waits *waits, const struct async_node *end)
{
	return end->wait == AWAIT_DELAY && !wait_delays_without_end(waits, end);
}

static bool any_waits_for_time(const struct waits *waits)
{
	for (size_t i = 0; i < waits->count; i++) {
		if (thread_waits_for_time(waits, &waits->rows[i]))
			return true;
	}
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		if (call_waits_for_time(waits, &waits->async->rows[i]))
			return true;
	}
	return false;
}

/* The MethodDesc of who has caught an exception; 0: the framework, or it is not known. */
static uint64_t catcher_of(const struct waits *waits, const struct object *object)
{
	struct runtime *runtime = waits->heap->runtime;
	struct exception_info info = {
		.address = object->address,
		.stack_trace_array = exception_trace_of(waits->members, object,
							type_exception_base(runtime, object->type)),
	};
	struct exception_frame frame;
	enum code_owner owner = CODE_OF_FRAMEWORK; /* of the outermost frame */
	uint64_t nearest = 0;
	for (uint32_t i = 0; info.stack_trace_array && i < FRAMES_MAX; i++) {
		if (!exception_frame_at(waits->heap, &info, i, &frame))
			return owner == CODE_OF_FRAMEWORK ? 0 : nearest;
		owner = frame.method_desc ? code_owner_of_method(runtime, frame.method_desc)
					  : CODE_OF_FRAMEWORK;
		if (owner == CODE_OF_PROGRAM)
			nearest = frame.method_desc;
	}
	return 0;
}

static struct failed_try *row_of(struct failed_tries *tries, const char *method,
				 const struct type *type)
{
	for (size_t i = 0; i < tries->count; i++) {
		if (tries->rows[i].type == type && strcmp(tries->rows[i].method, method) == 0)
			return &tries->rows[i];
	}
	return NULL;
}

static enum hd_status count_exception(const struct waits *waits, const struct object *object,
				      struct failed_tries *tries, struct hd_error *err)
{
	HD_CLEANUP(text) struct text name = { 0 };
	uint64_t catcher = catcher_of(waits, object);
	if (!catcher || !method_user_append(&name, waits->heap->runtime, catcher) || !name.size)
		return name.failed ? fail_nomem(err) : HD_OK;
	struct failed_try *row = row_of(tries, name.bytes, object->type);
	if (!row && tries->count == FAILED_TRIES_MAX)
		return HD_OK;
	if (!row) {
		char *method = mem_strndup(name.bytes, name.size);
		TRY_MEMORY(method, err);
		row = &tries->rows[tries->count++];
		*row = (struct failed_try){ .method = method, .type = object->type };
	}
	row->exception = object->address;
	row->count++;
	return HD_OK;
}

enum hd_status failed_tries_find(const struct waits *waits, struct job *job,
				 struct failed_tries *ret, struct hd_error *err)
{
	const struct async_graph *graph = waits->async;
	size_t kept = graph->exceptions < ASYNC_EXCEPTIONS_MAX ? (size_t)graph->exceptions
							       : ASYNC_EXCEPTIONS_MAX;
	if (!kept || !any_waits_for_time(waits))
		return HD_OK;
	for (size_t i = 0; i < kept; i++) {
		struct object object;
		if (member_object(waits->members, graph->last_exceptions[i], &object))
			TRY(count_exception(waits, &object, ret, err));
		TRY(job_check(job, 1, err));
	}
	return HD_OK;
}

/* Is @p caught the method of that name, or a lambda or local function in it, "Shop.Depot.Pull.lambda"? */
static bool is_method_or_in_it(const char *caught, const char *method)
{
	size_t size = strlen(method);
	return strncmp(caught, method, size) == 0 && (!caught[size] || caught[size] == '.');
}

/* Let *@p ret be the row of @p method with the most exceptions, if that has more. */
static void take_most(const struct failed_tries *tries, const char *method,
		      const struct failed_try **ret)
{
	for (size_t i = 0; i < tries->count; i++) {
		const struct failed_try *row = &tries->rows[i];
		if (row->count >= FAILED_TRIES_MIN && (!*ret || row->count > (*ret)->count) &&
		    is_method_or_in_it(row->method, method))
			*ret = row;
	}
}

static const struct failed_try *tries_of_thread(const struct failed_tries *tries,
						const struct waits *waits,
						const struct thread_wait *wait)
{
	const struct failed_try *most = NULL;
	const struct thread_stack *stack = &wait->stack;
	for (size_t i = wait->user_frame; i < stack->frames_count && i < FRAMES_MAX; i++) {
		HD_CLEANUP(text) struct text name = { 0 };
		if (stack->frames[i].kind == STACK_MANAGED && stack->frames[i].method_desc &&
		    method_user_append(&name, waits->heap->runtime, stack->frames[i].method_desc) &&
		    name.size)
			take_most(tries, name.bytes, &most);
	}
	return most;
}

static const struct failed_try *tries_of_call(const struct failed_tries *tries,
					      const struct waits *waits, uint32_t row)
{
	struct async_graph *graph = waits->async;
	const struct failed_try *most = NULL;
	for (unsigned int i = 0; i < METHODS_MAX && row != ASYNC_NO_NODE; i++) {
		const char *name = async_node_name(graph, &graph->rows[row]);
		if (name)
			take_most(tries, name, &most);
		row = graph->rows[row].outer;
	}
	return most;
}

const struct failed_try *failed_tries_of(const struct failed_tries *tries,
					 const struct waits *waits, uint32_t node)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	if (!tries->count)
		return NULL;
	if (wait) {
		return thread_waits_for_time(waits, wait) ? tries_of_thread(tries, waits, wait)
							  : NULL;
	}
	uint32_t end = wait_node_method(waits, node)->end;
	return call_waits_for_time(waits, &waits->async->rows[end])
		       ? tries_of_call(tries, waits, end)
		       : NULL;
}

/* How many wait for each node: its own call counts, too, which is taken away later. */
static void count_waiters(const struct waits *waits, const uint32_t *ends, uint32_t *counts)
{
	for (size_t i = 0; i < waits->count; i++) {
		if (ends[i] != WAIT_IN_CYCLE && ends[i] != i &&
		    waits->rows[i].thread->id != MAIN_ID)
			counts[ends[i]]++;
	}
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		const struct async_node *method = &waits->async->rows[i];
		uint32_t end = ends[waits->count + i];
		if (end != WAIT_IN_CYCLE && !async_node_is_awaited(method) &&
		    method->root != ROOT_THREAD)
			counts[end]++;
	}
}

/* A call that tries is one of those whose way ends there, unless a thread waits for it. */
static uint32_t own_calls(const struct waits *waits, uint32_t node)
{
	if (node < waits->count)
		return 0;
	const struct async_node *rows = waits->async->rows;
	uint32_t row = node - (uint32_t)waits->count;
	for (unsigned int i = 0; i < METHODS_MAX && rows[row].outer != ASYNC_NO_NODE; i++)
		row = rows[row].outer;
	return !async_node_is_awaited(&rows[row]) && rows[row].root != ROOT_THREAD;
}

/* Keep it, unless one of the same method is there for which as many wait. */
static void keep_trier(struct trier *rows, size_t *count, const struct trier *trier)
{
	size_t at = 0;
	while (at < *count && rows[at].failed != trier->failed)
		at++;
	if (at == *count && *count < TRIERS_MAX)
		rows[(*count)++] = *trier;
	if (at < *count && rows[at].waiters < trier->waiters)
		rows[at] = *trier;
}

enum hd_status failed_tries_wanted(const struct failed_tries *tries, const struct waits *waits,
				   const uint32_t *ends, struct trier *ret, size_t *ret_count,
				   struct hd_error *err)
{
	size_t nodes = wait_nodes(waits);
	unsigned int looked = 0;
	*ret_count = 0;
	if (!tries->count)
		return HD_OK;
	HD_FREE uint32_t *counts = mem_calloc(nodes + 1, sizeof(*counts));
	TRY_MEMORY(counts, err);
	count_waiters(waits, ends, counts);
	for (uint32_t i = 0; i < nodes && looked < NODES_MAX; i++) {
		uint32_t own = counts[i] ? own_calls(waits, i) : 0;
		if (counts[i] <= own)
			continue;
		looked++;
		const struct trier trier = { failed_tries_of(tries, waits, i), i, counts[i] - own };
		if (trier.failed)
			keep_trier(ret, ret_count, &trier);
	}
	return HD_OK;
}
