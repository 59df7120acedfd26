/* SPDX-License-Identifier: MIT */
#include "hangs/wait_quiet.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/pool/callback_name.h"
#include "analysis/pool/pool_state.h"
#include "analysis/pool/timers.h"
#include "hangs/wait_parts.h"
#include "stack/thread_call.h"
#include "util/job.h"
#include "util/text.h"

bool wait_delays_without_end(const struct waits *waits, const struct async_node *method)
{
	if (method->wait != AWAIT_DELAY)
		return false;
	struct member timer = fact_at(waits->members, method->object, FACT_DELAY_TIMER);
	return timer.state == MEMBER_READ && !timer.bits;
}

/* May the thread do something for others without their help? */
static bool thread_is_active(const struct waits *waits, const struct thread_wait *wait)
{
	if (wait->stack.is_partial || wait->stack.is_missing)
		return true;
	if (wait->user_frame == WAIT_NO_FRAME)
		return false;
	switch (wait->kind) {
	case WAIT_NONE:
	case WAIT_CALL:
	case WAIT_SOCKET:
	case WAIT_PROCESS:
	case WAIT_SPIN:
	case WAIT_SPIN_LOCK:
	case WAIT_SUSPENSION:
		return true;
	default:
		/* Who waits for a time looks again then. */
		return wait->is_over ||
		       !thread_waits_without_end(runtime_target(waits->heap->runtime),
						 wait->thread->os_id);
	}
}

/* The same for the innermost method of a call. */
static bool end_is_active(const struct waits *waits, uint32_t row)
{
	const struct async_node *end = &waits->async->rows[row];
	switch (end->wait) {
	case AWAIT_SOURCE:
	case AWAIT_SEMAPHORE:
	case AWAIT_READ:
	case AWAIT_WRITE:
	case AWAIT_COMPLETION:
	case AWAIT_HTTP:
	case AWAIT_HTTP2:
	case AWAIT_SEND:
	case AWAIT_LIMITER:
	case AWAIT_YIELD:
	case AWAIT_CYCLE:
		return false;
	case AWAIT_DELAY:
		return !wait_delays_without_end(waits, end);
	case AWAIT_TASK:
	case AWAIT_UNWRAP:
	case AWAIT_ALL:
	case AWAIT_ANY:
	case AWAIT_RUNS:
	case AWAIT_THREAD:
		/* Another node that is known: it is asked itself. */
		return waits->edges[waits->count + row].to == WAIT_NOBODY;
	default:
		return true;
	}
}

static bool is_of_framework(const struct waits *waits, const char *name)
{
	return framework_owns(waits->heap->runtime, name, strlen(name));
}

static enum hd_status ask_methods(const struct waits *waits, struct job *job, bool *is_quiet,
				  struct hd_error *err)
{
	struct async_graph *graph = waits->async;
	for (uint32_t i = 0; *is_quiet && i < graph->rows_count; i++) {
		const struct async_node *node = &graph->rows[i];
		/* A limit of time ends the wait of a method of the program. */
		bool is_active = node->is_limited || end_is_active(waits, node->end);
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		if (is_active && !is_of_framework(waits, async_node_name(graph, node)))
			*is_quiet = false;
	}
	return graph->failed ? fail_nomem(err) : HD_OK;
}

/* Timers of servers and clients only look after what they have; others call the program, or end its waits. */
static bool is_harmless(const char *callback)
{
	static const char *const owners[] = { "Microsoft.AspNetCore.", "Microsoft.Extensions.",
					      "System.Net." };
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		if (strncmp(callback, owners[i], strlen(owners[i])) == 0)
			return true;
	}
	return false;
}

static enum hd_status ask_timers(const struct waits *waits, struct job *job, bool *is_quiet,
				 struct hd_error *err)
{
	HD_CLEANUP(set_timers) struct set_timers timers = { 0 };
	HD_CLEANUP(text) struct text name = { 0 };
	TRY(set_timers_read(waits->heap, waits->members, job, &timers, err));
	*is_quiet &= !timers.is_broken;
	for (size_t i = 0; *is_quiet && i < timers.rows_count; i++) {
		struct object timer;
		uint64_t target;
		name.size = 0;
		*is_quiet = member_object(waits->members, timers.rows[i].address, &timer) &&
			    callback_append(&name, waits->heap, waits->members, &timer, &target) &&
			    name.size && is_harmless(name.bytes) &&
			    is_of_framework(waits, name.bytes);
	}
	return HD_OK;
}

static enum hd_status ask_work(const struct waits *waits, struct job *job, bool *is_quiet,
			       struct hd_error *err)
{
	const struct queue_reader reader = { waits->heap, waits->members, job };
	HD_CLEANUP(pool_queues) struct pool_queues queues = { 0 };
	TRY(pool_queues_read(&reader, &queues, err));
	for (unsigned int i = 0; i < POOL_QUEUES; i++)
		*is_quiet &= queues.queues[i].rows_count == 0;
	return HD_OK;
}

enum hd_status wait_quiet_find(const struct waits *waits, struct job *job, bool *ret,
			       struct hd_error *err)
{
	*ret = runtime_knows_all_threads(waits->heap->runtime);
	for (size_t i = 0; i < waits->count; i++)
		*ret &= !thread_is_active(waits, &waits->rows[i]);
	if (*ret)
		TRY(ask_methods(waits, job, ret, err));
	if (*ret)
		TRY(ask_timers(waits, job, ret, err));
	return *ret ? ask_work(waits, job, ret, err) : HD_OK;
}
