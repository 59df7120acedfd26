/* SPDX-License-Identifier: MIT */
#include "hangs/wait_contexts.h"

#include <string.h>

#include "analysis/async/async_box.h"
#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "hangs/wait_tasks.h"
#include "inspect/thread_name.h"
#include "inspect/value.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"
#include "util/job.h"

/* Objects that are looked at for one context, the nearest first; larger ones are not followed. */
#define CONTEXT_STEPS_MAX  4096u
#define CONTEXT_OBJECT_MAX ((uint64_t)64 << 10)
/* Continuations of one task that are looked at. */
#define CONTINUATIONS_MAX 64u

#define ANY_CONTEXT "System.Threading.SynchronizationContext"

void wait_contexts_deinit(struct wait_contexts *contexts)
{
	wait_rows_deinit(&contexts->threads);
	wait_rows_deinit(&contexts->posted);
	wait_schedulers_deinit(&contexts->schedulers);
}

/* The context of a thread that has one of its own kind; 0: none. */
static uint64_t context_of_thread(const struct waits *waits, const struct thread_wait *wait)
{
	struct member context = fact_at(waits->members, thread_object(waits->heap, wait->thread),
					FACT_THREAD_CONTEXT);
	struct object object;
	bool is_own = member_object(waits->members, context.bits, &object) &&
		      strcmp(type_name(waits->heap->runtime, object.type, NULL), ANY_CONTEXT) != 0;
	return is_own ? context.bits : 0;
}

static enum hd_status find_threads(const struct waits *waits, struct wait_rows *threads,
				   struct hd_error *err)
{
	for (size_t i = 0; i < waits->count; i++) {
		uint64_t context = context_of_thread(waits, &waits->rows[i]);
		if (context)
			TRY(wait_rows_add(threads, context, (uint32_t)i, err));
	}
	wait_rows_sort(threads);
	return HD_OK;
}

/* The async method that goes on with a delegate, or the task of a call of some; or ASYNC_NO_NODE. */
static uint32_t method_of_work(const struct waits *waits, const struct object *object)
{
	struct async_graph *graph = waits->async;
	struct delegate_info delegate;
	if (async_graph_type(graph, object->type) == ASYNC_RUNTIME_TASK)
		return async_graph_find(graph, object->address);
	return type_is_delegate(waits->heap->runtime, object->type) &&
			       delegate_read(waits->heap, object, &delegate)
		       ? async_graph_find(waits->async, delegate.target)
		       : ASYNC_NO_NODE;
}

/* A search from a context, over the objects that it refers to. */
struct post_search {
	const struct waits *waits;
	struct window window;
	uint64_t *steps; /* addresses: those that were looked at, and those that come next */
	size_t count;
};

static void post_search_deinit(struct post_search *search)
{
	window_deinit(&search->window);
	mem_free(search->steps);
}

static bool is_followed(const struct waits *waits, const struct object *object)
{
	struct async_graph *graph = waits->async;
	return object->type->has_pointers && object->size <= CONTEXT_OBJECT_MAX &&
	       !async_type_is_task(async_graph_type(graph, object->type));
}

static bool was_met(const struct post_search *search, uint64_t address)
{
	for (size_t i = search->count; i-- > 0 && search->count - i <= CONTINUATIONS_MAX;) {
		if (search->steps[i] == address)
			return true;
	}
	return false;
}

static void add_steps(struct post_search *search, const struct object *object)
{
	struct references references;
	struct reference reference;
	references_begin(&references, &search->window, object);
	while (search->count < CONTEXT_STEPS_MAX && references_next(&references, &reference)) {
		if (!was_met(search, reference.value))
			search->steps[search->count++] = reference.value;
	}
}

/* The methods that were posted to the context of a thread. */
static enum hd_status find_posted(struct post_search *search, const struct wait_row *thread,
				  struct wait_rows *posted, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	search->steps[0] = thread->object;
	search->count = 1;
	for (size_t i = 0; i < search->count; i++) {
		struct object object;
		if (!member_object(waits->members, search->steps[i], &object))
			continue;
		uint32_t method = method_of_work(waits, &object);
		if (method == ASYNC_NO_NODE) {
			if (is_followed(waits, &object))
				add_steps(search, &object);
			continue;
		}
		/* The innermost method of the call goes on. */
		const struct async_node *rows = waits->async->rows, *end = &rows[rows[method].end];
		if (end->wait == AWAIT_THREAD && end->task == rows[method].task)
			TRY(wait_rows_add(posted, end->task, thread->node, err));
	}
	return HD_OK;
}

enum hd_status wait_contexts_find(const struct wait_tasks *tasks, struct job *job,
				  struct wait_contexts *ret, struct hd_error *err)
{
	const struct waits *waits = tasks->waits;
	const struct wait_rows *threads = &ret->threads;
	TRY(wait_schedulers_find(tasks, job, &ret->schedulers, err));
	TRY(find_threads(waits, &ret->threads, err));
	if (!threads->rows_count)
		return HD_OK;
	HD_CLEANUP(post_search)
	struct post_search search = { .waits = waits,
				      .window = { .memory = waits->heap->memory },
				      .steps =
					      mem_alloc(CONTEXT_STEPS_MAX, sizeof(*search.steps)) };
	TRY_MEMORY(search.steps, err);
	for (size_t i = 0; i < threads->rows_count; i++) {
		if (wait_rows_only(threads, threads->rows[i].object) != WAIT_NOBODY)
			TRY(find_posted(&search, &threads->rows[i], &ret->posted, err));
		TRY(job_check(job, 0, err));
	}
	wait_rows_sort(&ret->posted);
	return waits->async->failed ? fail_nomem(err) : HD_OK;
}

/* Continuations that go on in a context, or in a scheduler, which they refer to. */
static const struct {
	const char *type;
	enum fact where;
} continuations[] = {
	{ "System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation",
	  FACT_CONTEXT_CONTINUATION_OF },
	{ "System.Threading.Tasks.TaskSchedulerAwaitTaskContinuation",
	  FACT_SCHEDULER_CONTINUATION_OF },
};

/* The field of an object of a type that tells where it goes on; false: it is no such continuation. */
static bool find_where(const struct waits *waits, const struct type *type, enum fact *ret)
{
	const char *name = type_name(waits->heap->runtime, type, NULL);
	for (size_t i = 0; i < sizeof(continuations) / sizeof(continuations[0]); i++) {
		if (strcmp(name, continuations[i].type) == 0) {
			*ret = continuations[i].where;
			return true;
		}
	}
	return false;
}

/* The context or scheduler in which an object goes on with the async method; 0: it is no such continuation. */
static uint64_t context_of_continuation(const struct waits *waits, uint64_t address, uint64_t box)
{
	struct object object, action;
	struct delegate_info delegate;
	enum fact where;
	if (!member_object(waits->members, address, &object) ||
	    !find_where(waits, object.type, &where))
		return 0;
	struct member call = fact_of(waits->members, &object, FACT_CONTINUATION_ACTION);
	struct member context = fact_of(waits->members, &object, where);
	bool is_its = call.state == MEMBER_READ && context.state == MEMBER_READ &&
		      member_object(waits->members, call.bits, &action) &&
		      type_is_delegate(waits->heap->runtime, action.type) &&
		      delegate_read(waits->heap, &action, &delegate) && delegate.target == box;
	return is_its ? context.bits : 0;
}

/* The context or scheduler in which what is awaited goes on with the async method, as one of several or alone. */
static uint64_t find_context(const struct waits *waits, uint64_t awaited, uint64_t box)
{
	struct member next = fact_at(waits->members, awaited, FACT_TASK_NEXT);
	struct object list;
	struct array_info array;
	if (next.state != MEMBER_READ)
		return 0;
	uint64_t context = context_of_continuation(waits, next.bits, box);
	if (context || !member_object(waits->members, next.bits, &list))
		return context;
	if (!array_at(waits->heap, waits->members,
		      fact_of(waits->members, &list, FACT_LIST_ITEMS).bits, &array))
		return 0;
	for (uint64_t i = 0; i < array.length && i < CONTINUATIONS_MAX && !context; i++) {
		context = context_of_continuation(waits, array_reference(waits->heap, &array, i),
						  box);
	}
	return context;
}

/* The context or scheduler in which an async method that waits goes on; 0: none, or it is not known. */
static uint64_t place_of_method(const struct waits *waits, const struct async_node *method)
{
	struct object object;
	struct async_box now;
	if (method->is_runtime)
		return async_node_context(waits->async, method);
	if (method->state < 0 || !member_object(waits->members, method->address, &object) ||
	    !async_box_read(waits->heap, waits->members, &object, &now) || !now.awaited)
		return 0;
	return find_context(waits, now.awaited, method->address);
}

uint32_t wait_context_of(const struct wait_contexts *contexts, const struct waits *waits,
			 const struct async_node *method, bool *ret_is_scheduler)
{
	const struct wait_schedulers *schedulers = &contexts->schedulers;
	uint32_t thread;
	*ret_is_scheduler = false;
	if (!contexts->threads.rows_count && !schedulers->threads.rows_count)
		return WAIT_NOBODY;
	bool is_posted = method->wait == AWAIT_THREAD;
	uint64_t key = is_posted ? method->task : place_of_method(waits, method);
	thread = wait_rows_only(is_posted ? &schedulers->queued : &schedulers->threads, key);
	*ret_is_scheduler = thread != WAIT_NOBODY;
	return *ret_is_scheduler
		       ? thread
		       : wait_rows_only(is_posted ? &contexts->posted : &contexts->threads, key);
}
