/* SPDX-License-Identifier: MIT */
#include "hangs/waits.h"

#include <stdlib.h>

#include "analysis/async/async_graph.h"
#include "framework/absent.h"
#include "hangs/wait_handles.h"
#include "hangs/wait_parts.h"
#include "runtime/coreclr/threads/sync_block.h"
#include "runtime/thread_state.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

void waits_destroy(struct waits *waits)
{
	if (!waits)
		return;
	for (size_t i = 0; i < waits->count; i++)
		thread_stack_deinit(&waits->rows[i].stack);
	monitors_deinit(&waits->monitors);
	if (waits->has_own_async) {
		async_graph_deinit(waits->async);
		mem_free(waits->async);
	}
	members_destroy(waits->members);
	mem_free(waits->rows);
	mem_free(waits->edges);
	mem_free(waits->by_thread);
	pages_free(waits->several.rows, waits->several.rows_capacity, sizeof(*waits->several.rows));
	pages_free(waits->several.parts, waits->several.parts_capacity,
		   sizeof(*waits->several.parts));
	mem_free(waits);
}

static enum hd_status read_stack(struct waits *waits, struct stack_walker *walker, size_t index,
				 struct job *job, struct hd_error *err)
{
	const struct runtime_thread *thread = runtime_thread_at(waits->heap->runtime, index);
	const struct stack_options options = { 0 };
	waits->by_thread[index] = UINT32_MAX;
	if (!thread_has_stack(thread))
		return HD_OK;
	struct thread_wait *wait = &waits->rows[waits->count];
	*wait = (struct thread_wait){ .thread = thread };
	wait_info_of_thread(waits, wait);
	TRY(stack_walk(walker, thread, &options, job, &wait->stack, err));
	waits->partial += wait->stack.is_partial || wait->stack.is_missing;
	waits->by_thread[index] = (uint32_t)waits->count++;
	wait_classify(waits, wait);
	if (wait->kind == WAIT_SOME_HANDLES)
		TRY(wait_ask_whether_all(waits->heap, walker, wait, job, err));
	return job_check(job, 0, err);
}

static enum hd_status read_stacks(struct waits *waits, struct job *job, struct hd_error *err)
{
	const struct runtime *runtime = waits->heap->runtime;
	struct stack_walker *walker;
	TRY(stack_walker_create(waits->heap->runtime, waits->heap, &walker, err));
	enum hd_status status = HD_OK;
	for (size_t i = 0; i < runtime_thread_count(runtime) && status == HD_OK; i++)
		status = read_stack(waits, walker, i, job, err);
	stack_walker_destroy(walker);
	return status;
}

const struct thread_wait *wait_of_thread(const struct waits *waits,
					 const struct runtime_thread *thread)
{
	if (!thread)
		return NULL;
	uint32_t row = waits->by_thread[runtime_thread_index(waits->heap->runtime, thread)];
	return row == UINT32_MAX ? NULL : &waits->rows[row];
}

void wait_store_owner(struct thread_wait *wait, const struct runtime_thread *owner)
{
	if (owner && owner != wait->thread)
		wait->stored_owner = owner;
}

/* A thread and its row, ascending by the thread's address. */
struct thread_row {
	uint64_t address;
	struct thread_wait *wait;
};

ORDER_BY(compare_thread_rows, struct thread_row, address)

/*
 * Nobody is in two queues, nor in one twice: a thread that was met ends a queue.  Those that are not in the
 * list of threads cannot be known again, so that a number ends their cycle.
 */
static void mark_pulse_waiters(struct waits *waits, const struct thread_row *rows)
{
	size_t strangers = 0;
	for (size_t i = 0; i < waits->monitors.rows_count; i++) {
		const struct monitor *monitor = &waits->monitors.rows[i];
		struct thread_row key = { 0 };
		uint64_t cursor = 0;
		while (monitor->block.has_monitor && strangers <= waits->count &&
		       runtime_pulse_waiter(waits->heap->runtime, monitor->block.address, &cursor,
					    &key.address)) {
			const struct thread_row *row =
				waits->count ? bsearch(&key, rows, waits->count, sizeof(key),
						       compare_thread_rows)
					     : NULL;
			if (row && row->wait->pulse)
				break;
			if (row) {
				row->wait->pulse = monitor;
			} else {
				strangers++;
			}
		}
	}
}

static enum hd_status find_pulse_waiters(struct waits *waits, struct hd_error *err)
{
	HD_FREE struct thread_row *rows = mem_alloc(waits->count + 1, sizeof(*rows));
	TRY_MEMORY(rows, err);
	for (size_t i = 0; i < waits->count; i++)
		rows[i] = (struct thread_row){ waits->rows[i].thread->address, &waits->rows[i] };
	qsort(rows, waits->count, sizeof(*rows), compare_thread_rows);
	mark_pulse_waiters(waits, rows);
	return HD_OK;
}

/* Monitor.Wait waits until another thread pulses: there is no owner. */
static void take_pulse_object(struct waits *waits, struct thread_wait *wait)
{
	if (!wait->pulse || wait->object.type ||
	    (wait->kind != WAIT_PULSE && wait->kind != WAIT_NONE))
		return;
	wait->kind = WAIT_PULSE;
	(void)member_object(waits->members, wait->pulse->block.object, &wait->object);
}

/*
 * Whoever collects waits for the threads that run managed code, or may touch objects: one that is in a method of the
 * program, if one is.  In the collection itself all others have stopped.
 */
static void find_suspension(struct waits *waits)
{
	struct thread_wait *collector = NULL;
	const struct thread_wait *running = NULL;
	for (size_t i = 0; i < waits->count; i++) {
		struct thread_wait *wait = &waits->rows[i];
		bool is_collector = runtime_is_gc_thread(waits->heap->runtime, wait->thread);
		if (is_collector && !wait->thread->is_cooperative) {
			collector = wait;
		} else if (!is_collector && wait->thread->is_cooperative &&
			   (!running || running->user_frame == WAIT_NO_FRAME)) {
			running = wait;
		}
	}
	if (!collector || !running)
		return;
	collector->kind = WAIT_SUSPENSION;
	wait_store_owner(collector, running->thread);
}

static enum hd_status find_objects(struct waits *waits, struct job *job, struct hd_error *err)
{
	find_suspension(waits);
	TRY(find_pulse_waiters(waits, err));
	TRY(wait_infos_match(waits, err));
	for (size_t i = 0; i < waits->count; i++) {
		wait_find_object(waits, &waits->rows[i]);
		take_pulse_object(waits, &waits->rows[i]);
		TRY(job_check(job, 0, err));
	}
	TRY(wait_find_callers(waits, job, err));
	TRY(wait_find_by_locks(waits, err));
	TRY(wait_find_by_words(waits, job, err));
	for (size_t i = 0; i < waits->count; i++)
		waits->rows[i].is_over = wait_is_over(waits, &waits->rows[i]);
	if (waits->async)
		TRY(wait_find_edges(waits, job, err));
	wait_blame_owners(waits);
	return HD_OK;
}

static enum hd_status read_async(struct waits *waits, struct job *job, struct hd_error *err)
{
	waits->async = mem_calloc(1, sizeof(*waits->async));
	TRY_MEMORY(waits->async, err);
	waits->has_own_async = true;
	return async_graph_create(waits->heap, waits->members, false, job, waits->async, err);
}

static enum hd_status fill(struct waits *waits, bool with_async, struct job *job,
			   struct hd_error *err)
{
	struct runtime *runtime = waits->heap->runtime;
	size_t threads = runtime_thread_count(runtime);
	waits->rows = mem_calloc(threads + 1, sizeof(*waits->rows));
	waits->by_thread = mem_calloc(threads + 1, sizeof(*waits->by_thread));
	TRY_MEMORY(waits->rows && waits->by_thread, err);
	TRY(members_create(waits->heap, &waits->members, err));
	TRY(monitors_read(runtime, waits->members, job, &waits->monitors, err));
	if (with_async && !waits->async)
		TRY(read_async(waits, job, err));
	TRY(read_stacks(waits, job, err));
	return find_objects(waits, job, err);
}

static enum hd_status create(struct heap *heap, struct async_graph *async, bool with_async,
			     struct job *job, struct waits **ret, struct hd_error *err)
{
	struct waits *waits = mem_calloc(1, sizeof(*waits));
	TRY_MEMORY(waits, err);
	waits->heap = heap;
	waits->async = async;
	enum hd_status status = fill(waits, with_async, job, err);
	if (status != HD_OK) {
		waits_destroy(waits);
		return status;
	}
	*ret = waits;
	return HD_OK;
}

/* Threads wait for objects of these types; wait_kind.c has the methods. */
static const enum net_type looked_for[] = {
	NET_THREAD,  NET_LOCK_SLIM, NET_SEMAPHORE_SLIM, NET_EVENT_SLIM, NET_COUNTDOWN,
	NET_BARRIER, NET_TASK,      NET_WAIT_HANDLE,    NET_LOCK,       NET_TYPES,
};

enum hd_status waits_create_with(struct heap *heap, struct async_graph *async, struct job *job,
				 struct waits **ret, struct hd_error *err)
{
	net_types_look(heap, looked_for);
	return create(heap, async, true, job, ret, err);
}

enum hd_status waits_create(struct heap *heap, struct job *job, struct waits **ret,
			    struct hd_error *err)
{
	return waits_create_with(heap, NULL, job, ret, err);
}

enum hd_status waits_create_threads(struct heap *heap, struct job *job, struct waits **ret,
				    struct hd_error *err)
{
	return create(heap, NULL, false, job, ret, err);
}
