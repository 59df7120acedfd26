/* SPDX-License-Identifier: MIT */
#include "inspect/managed_lock.h"

#include "framework/lock_fields.h"
#include "inspect/value.h"

/* Lock._state: bit 0 (Lock.cs of .NET 11). */
#define STATE_IS_HELD 1u

/* WaitSignalState: from this number on the thread does not wait (WaitSubsystem.ThreadWaitInfo.Unix.cs). */
#define NOT_WAITING 2u

/* SafeHandle.handle is a GCHandle here, the low bits of which are its own. */
#define HANDLE_BITS ((uint64_t)7)

static bool is_read(const struct member *member)
{
	return member->state == MEMBER_READ;
}

bool managed_lock_read(struct members *members, uint64_t address, struct managed_lock *ret)
{
	struct object lock;
	if (!member_object(members, address, &lock))
		return false;
	struct lock_fields fields;
	if (!lock_fields_read(members, &lock, &fields))
		return false;
	struct member event = fields.event;
	*ret = (struct managed_lock){
		.is_held = fields.state.bits & STATE_IS_HELD,
		.waiters = (uint32_t)fields.state.bits >> fields.waiters_shift,
	};
	if (ret->is_held) {
		ret->holder = (uint32_t)fields.holder.bits;
		/* Who leaves it takes its id away first, and who enters it writes that last. */
		ret->recursion = ret->holder ? (uint32_t)fields.recursion.bits + 1 : 0;
	}
	/* A Condition takes the place of the event, and has it then. */
	struct member inner = fact_at(members, event.bits, FACT_CONDITION_EVENT);
	struct member queue = fact_at(members, event.bits, FACT_CONDITION_FIRST);
	struct member handle = fact_at(members, event.bits, FACT_WAIT_HANDLE_SAFE);
	bool is_condition = is_read(&inner) && is_read(&queue);
	ret->event = is_condition ? inner.bits : event.bits;
	ret->condition = is_condition ? event.bits : 0;
	return !event.bits || is_condition || is_read(&handle);
}

bool condition_waiter(struct members *members, uint64_t condition, uint64_t *cursor,
		      uint64_t *ret_event)
{
	struct member next = *cursor ? fact_at(members, *cursor, FACT_WAITER_NEXT)
				     : fact_at(members, condition, FACT_CONDITION_FIRST);
	struct member event = fact_at(members, next.bits, FACT_WAITER_EVENT);
	if (is_read(&next))
		*cursor = next.bits;
	if (!is_read(&next) || !next.bits || !is_read(&event))
		return false;
	*ret_event = event.bits;
	return true;
}

void wait_info_read(struct heap *heap, struct members *members, uint64_t thread,
		    struct wait_info *ret)
{
	struct array_info elements;
	*ret = (struct wait_info){ .state = WAIT_INFO_NONE };
	if (!thread)
		return;
	struct member info = fact_at(members, thread, FACT_THREAD_WAIT_INFO);
	ret->state = is_read(&info) && !info.bits ? WAIT_INFO_RUNS : WAIT_INFO_BROKEN;
	if (!is_read(&info) || !info.bits)
		return;
	struct member state = fact_at(members, info.bits, FACT_WAIT_STATE);
	struct member count = fact_at(members, info.bits, FACT_WAIT_COUNT);
	struct member is_all = fact_at(members, info.bits, FACT_WAIT_FOR_ALL);
	struct member objects = fact_at(members, info.bits, FACT_WAIT_OBJECTS);
	if (!is_read(&state) || !is_read(&count) || !is_read(&is_all) || !is_read(&objects) ||
	    !array_at(heap, members, objects.bits, &elements) || count.bits > elements.length)
		return;
	*ret = (struct wait_info){
		.state = state.bits < NOT_WAITING ? WAIT_INFO_WAITS : WAIT_INFO_RUNS,
		.is_all = is_all.bits != 0,
		.count = (uint32_t)count.bits,
		.objects = elements.data,
	};
}

uint64_t wait_info_object(struct memory *memory, const struct wait_info *info, uint32_t index)
{
	uint64_t object = 0;
	if (info->state != WAIT_INFO_WAITS || index >= info->count)
		return 0;
	(void)memory_u64(memory, info->objects + sizeof(object) * (uint64_t)index, &object);
	return object;
}

static bool is_waitable(struct runtime *runtime, const struct type *type)
{
	size_t size;
	const char *name = type_name(runtime, type, &size);
	return net_type_is(NET_WAITABLE, name, size);
}

bool waitable_of_handle(struct heap *heap, struct members *members, uint64_t handle,
			struct waitable *ret)
{
	struct object object;
	struct waitable waitable = { 0 };
	struct member value = fact_at(members, fact_at(members, handle, FACT_WAIT_HANDLE_SAFE).bits,
				      FACT_SAFE_HANDLE_VALUE);
	if (!is_read(&value) || !value.bits ||
	    !memory_u64(heap->memory, value.bits & ~HANDLE_BITS, &waitable.address) ||
	    !member_object(members, waitable.address, &object) ||
	    !is_waitable(heap->runtime, object.type))
		return false;
	struct member type = fact_of(members, &object, FACT_WAITABLE_TYPE);
	struct member signals = fact_of(members, &object, FACT_WAITABLE_SIGNALS);
	struct member limit = fact_of(members, &object, FACT_WAITABLE_LIMIT);
	struct member owner = fact_of(members, &object, FACT_WAITABLE_OWNER);
	if (!is_read(&type) || !is_read(&signals) || !is_read(&limit) ||
	    (owner.state != MEMBER_READ && owner.state != MEMBER_NULL))
		return false;
	waitable.type = (uint8_t)type.bits;
	waitable.signals = member_signed(&signals);
	waitable.limit = member_signed(&limit);
	waitable.owner = owner.bits;
	*ret = waitable;
	return true;
}
