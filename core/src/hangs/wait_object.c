/* SPDX-License-Identifier: MIT */
/* The object that a thread waits for, who has it, and whether it has happened: by roots and named fields. */
#include <string.h>

#include "analysis/async/task_state.h"
#include "hangs/wait_handles.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_readers.h"
#include "inspect/thread_name.h"
#include "inspect/value.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/types/type_name.h"
#include "runtime/runtime_ops.h"
#include "runtime/thread_state.h"
#include "stack/thread_call.h"

/* Is it of the type that this wait is for, or derived from it?  A generic one by its beginning. */
static bool is_awaited_type(struct runtime *runtime, const struct type *type, const char *name)
{
	size_t size = strlen(name);
	if (name[size - 1] == '<')
		return strncmp(type_name(runtime, type, NULL), name, size) == 0;
	return type_derives_from(runtime, type, 0, name);
}

/* The first such object that frames in [begin, end) refer to, the outermost one first. */
static bool find_root(const struct waits *waits, const struct thread_wait *wait, size_t begin,
		      size_t end, struct object *ret)
{
	const char *name = wait_kind_type(wait->kind);
	size_t best = WAIT_NO_FRAME;
	for (size_t i = 0; name && i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		struct object object;
		if (root->frame < begin || root->frame >= end ||
		    root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE) ||
		    (best != WAIT_NO_FRAME && root->frame <= best) ||
		    !member_object(waits->members, root->value, &object) ||
		    !is_awaited_type(waits->heap->runtime, object.type, name))
			continue;
		best = root->frame;
		*ret = object;
	}
	return best != WAIT_NO_FRAME;
}

/* The thread of a Thread object: both must name each other. */
static const struct runtime_thread *thread_of_object(const struct waits *waits,
						     const struct object *object)
{
	struct member id = fact_of(waits->members, object, FACT_THREAD_ID);
	int64_t number = member_signed(&id);
	const struct runtime_thread *thread =
		id.state == MEMBER_READ && number > 0
			? runtime_thread_by_id(waits->heap->runtime, (uint32_t)number)
			: NULL;
	bool is_it = wait_of_thread(waits, thread) &&
		     thread_object(waits->heap, thread) == object->address;
	return is_it ? thread : NULL;
}

static const struct runtime_thread *holder_of_lock(const struct waits *waits,
						   const struct object *object)
{
	const struct runtime *runtime = waits->heap->runtime;
	struct member id = fact_of(waits->members, object, FACT_LOCK_OWNER);
	if (!id.bits)
		return NULL;
	bool is_managed = !(runtime_capabilities(runtime) & RUNTIME_METADATA) ||
			  coreclr_has(runtime, CORECLR_MANAGED_LOCK_IDS);
	const struct runtime_thread *thread =
		is_managed ? runtime_thread_by_id(runtime, (uint32_t)id.bits)
			   : runtime_thread_by_os_id(runtime, id.bits);
	return wait_of_thread(waits, thread) ? thread : NULL;
}

/* A field with a managed id; -1: none.  ReaderWriterLockSlim has those of its writer and its upgradeable reader. */
static const struct runtime_thread *lock_owner(const struct waits *waits,
					       const struct object *object, enum fact field)
{
	struct member id = fact_of(waits->members, object, field);
	int64_t number = member_signed(&id);
	return id.state == MEMBER_READ && number > 0
		       ? runtime_thread_by_id(waits->heap->runtime, (uint32_t)number)
		       : NULL;
}

const struct runtime_thread *wait_lock_writer(const struct waits *waits, const struct object *lock)
{
	return lock_owner(waits, lock, FACT_LOCK_SLIM_WRITER);
}

const struct runtime_thread *wait_lock_upgrader(const struct waits *waits,
						const struct object *lock)
{
	return lock_owner(waits, lock, FACT_LOCK_SLIM_UPGRADER);
}

/* Since 11 the framework knows who has a Mutex. */
const struct runtime_thread *wait_mutex_owner(const struct waits *waits, const struct object *mutex)
{
	struct waitable waitable;
	struct object thread;
	if (!waitable_of_handle(waits->heap, waits->members, mutex->address, &waitable) ||
	    !member_object(waits->members, waitable.owner, &thread))
		return NULL;
	return thread_of_object(waits, &thread);
}

static const struct runtime_thread *find_owner(const struct waits *waits,
					       const struct thread_wait *wait)
{
	const struct object *object = &wait->object;
	const struct runtime_thread *owner = NULL;
	switch (wait->kind) {
	case WAIT_LOCK:
		return holder_of_lock(waits, object);
	case WAIT_READ:
	case WAIT_WRITE:
	case WAIT_UPGRADE:
		owner = wait_lock_writer(waits, object);
		if (!owner && wait->kind != WAIT_READ)
			owner = wait_lock_upgrader(waits, object);
		return owner;
	case WAIT_CALLBACK:
		return lock_owner(waits, object, FACT_REGISTRATIONS_THREAD);
	case WAIT_JOIN:
		return thread_of_object(waits, object);
	case WAIT_HANDLE:
		return wait_mutex_owner(waits, object);
	default:
		return NULL;
	}
}

/* Since 11: the WaitHandle that the framework says it waits for, even if no frame tells that it waits. */
static bool find_waited_handle(const struct waits *waits, struct thread_wait *wait)
{
	uint64_t waitable = wait_info_object(waits->heap->memory, &wait->info, 0);
	bool is_open = wait->kind == WAIT_NONE || wait->kind == WAIT_CALL;
	if (!waitable || (!is_open && wait->kind != WAIT_HANDLE))
		return false;
	if (wait->info.count > 1) {
		if (is_open)
			wait->kind = wait->info.is_all ? WAIT_ALL_HANDLES : WAIT_ANY_HANDLE;
		return false;
	}
	wait->kind = WAIT_HANDLE;
	return wait_info_handle(waits, waitable, &wait->object);
}

/* The roots of its frames, and of the next one outwards, tell it. */
static bool find_in_frames(const struct waits *waits, struct thread_wait *wait)
{
	size_t end = wait->wait_end;
	bool has_event = wait->kind == WAIT_COUNTDOWN || wait->kind == WAIT_HANDLE;
	if (wait->kind == WAIT_NONE || end == WAIT_NO_FRAME)
		return false;
	return find_root(waits, wait, 0, end, &wait->object) ||
	       (has_event && wait_find_by_event(waits, wait, &wait->object)) ||
	       find_root(waits, wait, end, end + 1, &wait->object);
}

void wait_find_object(struct waits *waits, struct thread_wait *wait)
{
	struct wait_spin_lock spin_lock;
	if (wait->wait_end != WAIT_NO_FRAME && wait_find_spin_lock(waits, wait, &spin_lock)) {
		wait->object = spin_lock.holder;
		wait_store_owner(wait, spin_lock.owner);
		return;
	}
	if (!wait->object.type && !find_waited_handle(waits, wait) && !find_in_frames(waits, wait))
		return;
	wait_store_owner(wait, find_owner(waits, wait));
}

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
	/* Whose time is up while a collection is about to begin waits for its end, without a limit. */
	return wait->kind == WAIT_SLEEP &&
	       !thread_state_is(wait->thread, THREAD_STATE_SUSPEND_PENDING) &&
	       thread_waits_without_end(runtime_target(waits->heap->runtime), wait->thread->os_id);
}
