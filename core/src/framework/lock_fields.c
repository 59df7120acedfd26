/* SPDX-License-Identifier: MIT */
#include "framework/lock_fields.h"

#include "runtime/runtime_ops.h"

/* Lock.cs of 9 and later; of NativeAOT 8, whose Lock the framework keeps for itself. */
#define WAITERS_SHIFT   7u
#define WAITERS_SHIFT_8 3u

/* A program that was compiled ahead of time has monitors that are Locks before 11, too: doc/nativeaot.md 5.4. */
static struct member compiled_event(struct members *members, const struct object *lock,
				    unsigned int *shift)
{
	struct member event = member_of(members, lock, "_waitEventOrCondition");
	if (event.state == MEMBER_ABSENT)
		event = member_of(members, lock, "_waitEvent");
	if (event.state == MEMBER_ABSENT) {
		event = member_of(members, lock, "_lazyEvent");
		*shift = WAITERS_SHIFT_8;
	}
	return event;
}

bool lock_fields_read(struct members *members, const struct object *lock, struct lock_fields *ret)
{
	struct runtime *runtime = members_heap(members)->runtime;
	*ret = (struct lock_fields){
		.holder = fact_of(members, lock, FACT_LOCK_OWNER),
		.state = fact_of(members, lock, FACT_LOCK_STATE),
		.recursion = fact_of(members, lock, FACT_LOCK_RECURSION),
		.waiters_shift = WAITERS_SHIFT,
	};
	ret->event = runtime_capabilities(runtime) & RUNTIME_METADATA
			     ? fact_of(members, lock, FACT_LOCK_EVENT)
			     : compiled_event(members, lock, &ret->waiters_shift);
	return ret->holder.state == MEMBER_READ && ret->state.state == MEMBER_READ &&
	       ret->recursion.state == MEMBER_READ && ret->event.state == MEMBER_READ;
}
