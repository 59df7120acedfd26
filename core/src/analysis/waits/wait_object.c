/* SPDX-License-Identifier: MIT */
/* The object that a thread waits for, and who has it: by roots and named fields. */
#include <string.h>

#include "analysis/waits/wait_handles.h"
#include "analysis/waits/wait_parts.h"
#include "clr/types/type_name.h"
#include "inspect/thread_name.h"
#include "inspect/value.h"

/* Is it of the type that this wait is for, or derived from it?  A generic one by its beginning. */
static bool is_awaited_type(struct clr *clr, const struct type *type, const char *name)
{
	size_t size = strlen(name);
	if (name[size - 1] == '<')
		return strncmp(type_name(clr, type, NULL), name, size) == 0;
	return type_derives_from(clr, type, 0, name);
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
		    !is_awaited_type(waits->heap->clr, object.type, name))
			continue;
		best = root->frame;
		*ret = object;
	}
	return best != WAIT_NO_FRAME;
}

/* The thread of a Thread object: both must name each other. */
static const struct clr_thread *thread_of_object(const struct waits *waits,
						 const struct object *object)
{
	struct member id = member_of(waits->members, object, "_managedThreadId");
	int64_t number = member_signed(&id);
	const struct clr_thread *thread =
		id.state == MEMBER_READ && number > 0
			? clr_thread_by_id(waits->heap->clr, (uint32_t)number)
			: NULL;
	bool is_it = wait_of_thread(waits, thread) &&
		     thread_object(waits->heap, thread) == object->address;
	return is_it ? thread : NULL;
}

static const struct clr_thread *holder_of_lock(const struct waits *waits,
					       const struct object *object)
{
	struct member id = member_of(waits->members, object, "_owningThreadId");
	const struct clr_thread *thread =
		id.state == MEMBER_READ ? clr_thread_by_os_id(waits->heap->clr, id.bits) : NULL;
	return wait_of_thread(waits, thread) ? thread : NULL;
}

/* ReaderWriterLockSlim has the managed ids of its writer and its upgradeable reader, -1: none. */
static const struct clr_thread *lock_owner(const struct waits *waits, const struct object *object,
					   const char *field)
{
	struct member id = member_of(waits->members, object, field);
	int64_t number = member_signed(&id);
	return id.state == MEMBER_READ && number > 0
		       ? clr_thread_by_id(waits->heap->clr, (uint32_t)number)
		       : NULL;
}

const struct clr_thread *wait_lock_writer(const struct waits *waits, const struct object *lock)
{
	return lock_owner(waits, lock, "_writeLockOwnerId");
}

const struct clr_thread *wait_lock_upgrader(const struct waits *waits, const struct object *lock)
{
	return lock_owner(waits, lock, "_upgradeLockOwnerId");
}

static const struct clr_thread *find_owner(const struct waits *waits,
					   const struct thread_wait *wait)
{
	const struct object *object = &wait->object;
	const struct clr_thread *owner = NULL;
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
	case WAIT_JOIN:
		return thread_of_object(waits, object);
	default:
		return NULL;
	}
}

void wait_find_object(struct waits *waits, struct thread_wait *wait)
{
	if (wait->kind == WAIT_NONE || wait->wait_end == WAIT_NO_FRAME)
		return;
	size_t end = wait->wait_end;
	struct wait_spin_lock spin_lock;
	if (wait_find_spin_lock(waits, wait, &spin_lock)) {
		wait->object = spin_lock.holder;
		wait->owner = spin_lock.owner == wait->thread ? NULL : spin_lock.owner;
		return;
	}
	bool has_event = wait->kind == WAIT_COUNTDOWN || wait->kind == WAIT_HANDLE;
	if (!find_root(waits, wait, 0, end, &wait->object) &&
	    !(has_event && wait_find_by_event(waits, wait, &wait->object)) &&
	    !find_root(waits, wait, end, end + 1, &wait->object))
		return;
	const struct clr_thread *owner = find_owner(waits, wait);
	wait->owner = owner == wait->thread ? NULL : owner;
}
