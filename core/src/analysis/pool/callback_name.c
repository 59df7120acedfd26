/* SPDX-License-Identifier: MIT */
#include "analysis/pool/callback_name.h"

#include "analysis/async/async_call.h"
#include "inspect/value.h"
#include "util/text.h"

/* Fields that lead from a work item to the delegate that it calls, and to what that gets. */
static const struct {
	enum fact callback, state;
} work_fields[] = {
	{ FACT_TASK_ACTION, FACT_TASK_STATE_OBJECT }, /* Task */
	{ FACT_WORK_CALLBACK_CALL,
	  FACT_WORK_CALLBACK_STATE },              /* QueueUserWorkItemCallback and its kin */
	{ FACT_TIMER_CALLBACK, FACT_TIMER_STATE }, /* TimerQueueTimer */
};

/* More steps from one item to the next are a cycle. */
#define STEPS_TO_DELEGATE 4u

static bool read_delegate(struct heap *heap, const struct object *object, struct delegate_info *ret)
{
	return type_is_delegate(heap->runtime, object->type) && delegate_read(heap, object, ret);
}

/*
 * Find the delegate that is called in the end: a System.Timers.Timer has a callback of its own,
 * which calls the program's handler.
 */
static bool called_delegate(struct heap *heap, struct members *members, const struct object *object,
			    struct delegate_info *ret)
{
	struct object handler;
	struct delegate_info called;
	if (!read_delegate(heap, object, ret))
		return false;
	if (member_object(members, fact_at(members, ret->target, FACT_TIMERS_TIMER_HANDLER).bits,
			  &handler) &&
	    read_delegate(heap, &handler, &called) && called.method_desc)
		*ret = called;
	return true;
}

static bool append_delegate(struct text *text, struct heap *heap, struct members *members,
			    const struct object *object, uint64_t *ret_target)
{
	struct delegate_info delegate;
	char name[512];
	if (!called_delegate(heap, members, object, &delegate) || !delegate.method_desc ||
	    !runtime_method_name(heap->runtime, delegate.method_desc, name, sizeof(name), NULL))
		return false;
	text_puts(text, name);
	*ret_target = delegate.target;
	return true;
}

/*
 * Go on to the object that the item calls, and find the state that goes with it; false: it has no
 * such field.
 */
static bool next_callback(struct members *members, struct object *object, uint64_t *ret_state)
{
	for (size_t i = 0; i < sizeof(work_fields) / sizeof(work_fields[0]); i++) {
		struct member callback = fact_of(members, object, work_fields[i].callback);
		if (!callback.bits)
			continue;
		struct member state = fact_of(members, object, work_fields[i].state);
		if (!member_object(members, callback.bits, object))
			continue;
		*ret_state = state.bits;
		return true;
	}
	return false;
}

bool callback_append(struct text *text, struct heap *heap, struct members *members,
		     const struct object *object, uint64_t *ret_target)
{
	struct object at = *object;
	uint64_t state = 0;
	*ret_target = 0;
	for (unsigned int i = 0; i < STEPS_TO_DELEGATE; i++) {
		if (async_call_append(text, heap, members, &at)) {
			*ret_target = at.address;
			return true;
		}
		if (append_delegate(text, heap, members, &at, ret_target)) {
			*ret_target = state ? state : *ret_target;
			return true;
		}
		if (!next_callback(members, &at, &state))
			break;
	}
	size_t size;
	const char *name = type_name(heap->runtime, object->type, &size);
	text_append(text, name, size);
	return size > 0;
}

uint64_t callback_method(struct heap *heap, struct members *members, const struct object *object)
{
	struct object at = *object;
	struct delegate_info delegate;
	uint64_t state;
	for (unsigned int i = 0; i < STEPS_TO_DELEGATE; i++) {
		if (called_delegate(heap, members, &at, &delegate))
			return delegate.method_desc;
		if (!next_callback(members, &at, &state))
			break;
	}
	return 0;
}
