/* SPDX-License-Identifier: MIT */
/*
 * Who disposes of a timer, or unregisters a handle, may give a WaitHandle that is set when no callback runs any more
 * (doc/coreclr.md 12.11): which thread runs that callback?
 */
#include <string.h>

#include "hangs/wait_parts.h"
#include "hangs/wait_rows.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/job.h"

/* Who runs callbacks: the methods, whose frames refer to the object, and the field with what is set at the end. */
static const struct {
	enum net_type type;
	enum fact field;
	const char *methods[2];
} callers[] = {
	{ NET_TIMER_IN_QUEUE,
	  FACT_TIMER_END,
	  { "System.Threading.TimerQueueTimer.Fire",
	    "System.Threading.TimerQueueTimer.CallCallback" } },
	{ NET_REGISTERED,
	  FACT_REGISTERED_END,
	  { "System.Threading.PortableThreadPool.CompleteWait",
	    "System.Threading.RegisteredWaitHandle.PerformCallback" } },
};

#define CALLERS (sizeof(callers) / sizeof(callers[0]))

static bool runs_callbacks(const struct waits *waits, const struct stack_frame *frame,
			   size_t caller)
{
	char name[WAIT_NAME_SIZE];
	if (frame->kind != STACK_MANAGED || !frame->method_desc ||
	    !runtime_method_name(waits->heap->runtime, frame->method_desc, name, sizeof(name),
				 NULL))
		return false;
	for (size_t i = 0; i < 2; i++) {
		if (strcmp(name, callers[caller].methods[i]) == 0)
			return true;
	}
	return false;
}

static enum hd_status add_callbacks(const struct waits *waits, uint32_t row,
				    struct wait_rows *running, struct hd_error *err)
{
	const struct thread_stack *stack = &waits->rows[row].stack;
	for (size_t i = 0; i < stack->roots_count; i++) {
		const struct stack_root *root = &stack->roots[i];
		struct object object;
		if (root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE) ||
		    root->frame >= stack->frames_count ||
		    !member_object(waits->members, root->value, &object))
			continue;
		const char *type = type_name(waits->heap->runtime, object.type, NULL);
		for (size_t k = 0; k < CALLERS; k++) {
			if (strcmp(type, net_type_name(callers[k].type)) != 0 ||
			    !runs_callbacks(waits, &stack->frames[root->frame], k))
				continue;
			struct member notified = fact_of(waits->members, &object, callers[k].field);
			if (notified.bits)
				TRY(wait_rows_add(running, notified.bits, row, err));
		}
	}
	return HD_OK;
}

static bool waits_for_handle(const struct thread_wait *wait)
{
	return wait->kind == WAIT_HANDLE && wait->object.type && !wait->stored_owner;
}

static void find_caller(const struct waits *waits, const struct wait_rows *running,
			struct thread_wait *wait)
{
	struct member safe = fact_of(waits->members, &wait->object, FACT_WAIT_HANDLE_SAFE);
	uint32_t row = wait_rows_first(running, wait->object.address);
	if (row == WAIT_NOBODY && safe.bits)
		row = wait_rows_first(running, safe.bits);
	if (row != WAIT_NOBODY)
		wait_store_owner(wait, waits->rows[row].thread);
}

enum hd_status wait_find_callers(struct waits *waits, struct job *job, struct hd_error *err)
{
	HD_CLEANUP(wait_rows) struct wait_rows running = { 0 };
	bool is_wanted = false;
	for (size_t i = 0; i < waits->count; i++)
		is_wanted |= waits_for_handle(&waits->rows[i]);
	for (size_t i = 0; is_wanted && i < waits->count; i++) {
		TRY(add_callbacks(waits, (uint32_t)i, &running, err));
		TRY(job_check(job, 0, err));
	}
	wait_rows_sort(&running);
	for (size_t i = 0; running.rows_count && i < waits->count; i++) {
		if (waits_for_handle(&waits->rows[i]))
			find_caller(waits, &running, &waits->rows[i]);
	}
	return HD_OK;
}
