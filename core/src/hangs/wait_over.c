/* SPDX-License-Identifier: MIT */
#include "hangs/wait_over.h"

#include "analysis/async/task_state.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_readers.h"
#include "stack/thread_call.h"

/* ManualResetEventSlim.m_combinedState: the event is set. */
#define EVENT_IS_SET 0x80000000u

static bool has_number(const struct waits *waits, const struct thread_wait *wait, enum fact field,
		       int64_t *ret)
{
	struct member member = fact_of(waits->members, &wait->object, field);
	*ret = member_signed(&member);
	return member.state == MEMBER_READ;
}

/* Do the frames of the wait refer to it?  The method that waits may have others of that type. */
static bool is_of_frames(const struct thread_wait *wait)
{
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		if (root->value == wait->object.address && root->frame < wait->wait_end)
			return wait->wait_end != WAIT_NO_FRAME;
	}
	return false;
}

/* Since 11: does the framework say that it does not wait (any more) for what its frames wait for? */
static bool is_signalled(const struct waits *waits, const struct thread_wait *wait)
{
	struct waitable waitable;
	if (wait->info.state != WAIT_INFO_RUNS)
		return false;
	/* The framework has no record of a named mutex. */
	return wait->kind == WAIT_JOIN ||
	       (wait->kind == WAIT_HANDLE &&
		waitable_of_handle(waits->heap, waits->members, wait->object.address, &waitable));
}

bool wait_is_over(const struct waits *waits, const struct thread_wait *wait)
{
	int64_t number;
	if (wait->kind == WAIT_MONITOR)
		return wait->entered && !wait->entered->block.is_held;
	if (wait_lock_is_open(waits, wait))
		return true;
	if (!wait->object.type)
		return false;
	if (is_signalled(waits, wait))
		return true;
	if (!is_of_frames(wait))
		return false;
	switch (wait->kind) {
	case WAIT_TASK:
		return task_is_complete(waits->members, &wait->object);
	case WAIT_SEMAPHORE:
		return has_number(waits, wait, FACT_SEMAPHORE_FREE, &number) && number > 0;
	case WAIT_EVENT:
		return has_number(waits, wait, FACT_EVENT_STATE, &number) &&
		       ((uint32_t)number & EVENT_IS_SET);
	case WAIT_COUNTDOWN:
		return has_number(waits, wait, FACT_COUNTDOWN_LEFT, &number) && number <= 0;
	default:
		return false;
	}
}

bool wait_sleeps_without_end(const struct waits *waits, const struct thread_wait *wait)
{
	return wait->kind == WAIT_SLEEP &&
	       thread_waits_without_end(runtime_target(waits->heap->runtime), wait->thread->os_id);
}
