/* SPDX-License-Identifier: MIT */
#include "support/fake_locks.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/coreclr/types/field.h"

/* Any place of the native Thread may have the handle of its object. */
#define THREAD_HANDLE 232u
#define THREAD_NATIVE 24u
#define THREAD_ID     32u
#define WAITABLE_TYPE 16u
#define ONE_REFERENCE 8u
#define FIELDS_MAX    8u
#define SYNC_ENTRY    16u
/* Low bits of a GCHandle: they are not part of the address. */
#define PINNED_BIT 1u

static void poke(struct fake_locks *locks, uint64_t address, uint64_t value)
{
	fake_poke_u64(&locks->fake->memory, address, value);
}

static void poke_u32(struct fake_locks *locks, uint64_t address, uint32_t value)
{
	fake_poke_u32(&locks->fake->memory, address, value);
}

/* A class of that namespace whose first fields are so many references. */
static uint64_t make_type_in(struct fake_locks *locks, const char *space, const char *name,
			     const struct fake_field *fields, uint32_t references,
			     uint32_t base_size)
{
	const struct gc_series series = { .size = (int64_t)(8 * references) - (int64_t)base_size,
					  .offset = 8 };
	struct fake_field given[FIELDS_MAX] = { { .name = NULL } };
	for (size_t i = 0; fields[i].name && i + 1 < FIELDS_MAX; i++) {
		given[i] = fields[i];
		if (locks->missing && strcmp(fields[i].name, locks->missing) == 0)
			given[i].name = "_another";
	}
	return fake_class(locks->types,
			  &(struct fake_class){ .space = space,
						.name = name,
						.fields = given,
						.type = { .base_size = base_size,
							  .series = references ? &series : NULL,
							  .series_count = references ? 1 : 0 } });
}

static uint64_t make_type(struct fake_locks *locks, const char *name,
			  const struct fake_field *fields, uint32_t references, uint32_t base_size)
{
	return make_type_in(locks, "System.Threading", name, fields, references, base_size);
}

/* A class that adds no fields. */
static uint64_t make_child(struct fake_locks *locks, const char *space, const char *name,
			   uint64_t parent, const struct gc_series *series)
{
	const struct fake_field none[] = { { .name = NULL } };
	return fake_class(locks->types,
			  &(struct fake_class){ .space = space,
						.name = name,
						.fields = none,
						.inherited = 1,
						.type = { .base_size = 24,
							  .parent = parent,
							  .series = series,
							  .series_count = series ? 1 : 0 } });
}

static void make_waits(struct fake_locks *locks)
{
	const struct fake_field thread[] = {
		{ .name = "_waitInfo", .element = ELEMENT_CLASS },
		{ .name = "_joinEvent", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "_DONT_USE_InternalThread", .element = ELEMENT_I, .offset = 16 },
		{ .name = "_managedThreadId", .element = ELEMENT_I4, .offset = 24 },
		{ .name = "_name", .element = ELEMENT_CLASS, .offset = 32 },
		{ .name = "_synchronizationContext", .element = ELEMENT_CLASS, .offset = 40 },
		{ .name = NULL }
	};
	const struct fake_field info[] = {
		{ .name = "_waitedObjects", .element = ELEMENT_CLASS },
		{ .name = "_waitedCount", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_waitSignalState", .element = ELEMENT_U1, .offset = 12 },
		{ .name = "_isWaitForAll", .element = ELEMENT_BOOLEAN, .offset = 13 },
		{ .name = NULL }
	};
	const struct fake_field waitable[] = {
		{ .name = "_ownershipInfo", .element = ELEMENT_CLASS },
		{ .name = "_type", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_signalCount", .element = ELEMENT_I4, .offset = 12 },
		{ .name = "_maximumSignalCount", .element = ELEMENT_I4, .offset = 16 },
		{ .name = NULL }
	};
	const struct fake_field owner[] = { { .name = "_thread", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	locks->thread_type = make_type(locks, "Thread", thread, 2, 64);
	locks->info_type = make_type(locks, "WaitSubsystem+ThreadWaitInfo", info, 1, 32);
	locks->waitable_type = make_type(locks, "WaitSubsystem+WaitableObject", waitable, 1, 40);
	locks->owner_type = make_type(locks, "WaitSubsystem+OwnershipInfo", owner, 1, 24);
	locks->waitables_type = fake_array_type(locks->fake, locks->waitable_type);
}

static void make_handles(struct fake_locks *locks)
{
	const struct fake_field handle[] = { { .name = "_waitHandle", .element = ELEMENT_CLASS },
					     { .name = NULL } };
	const struct fake_field safe[] = { { .name = "handle", .element = ELEMENT_I },
					   { .name = NULL } };
	const struct gc_series series = { .size = -16, .offset = 8 };
	locks->event_type = make_child(locks, "System.Threading", "AutoResetEvent",
				       make_type(locks, "WaitHandle", handle, 1, 24), &series);
	uint64_t parent =
		make_type_in(locks, "System.Runtime.InteropServices", "SafeHandle", safe, 0, 24);
	locks->safe_type =
		make_child(locks, "Microsoft.Win32.SafeHandles", "SafeWaitHandle", parent, NULL);
}

static void make_locks(struct fake_locks *locks)
{
	const struct fake_field lock[] = {
		{ .name = "_waitEventOrCondition", .element = ELEMENT_CLASS },
		{ .name = "_owningThreadId", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_state", .element = ELEMENT_U4, .offset = 12 },
		{ .name = "_recursionCount", .element = ELEMENT_U4, .offset = 16 },
		{ .name = NULL }
	};
	const struct fake_field condition[] = {
		{ .name = "_waitEvent", .element = ELEMENT_CLASS },
		{ .name = "_waitersHead", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field waiter[] = {
		{ .name = "next", .element = ELEMENT_CLASS },
		{ .name = "ev", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	locks->lock_type = make_type(locks, "Lock", lock, 1, 40);
	locks->condition_type = make_type(locks, "Condition", condition, 2, 32);
	locks->waiter_type = make_type(locks, "Condition+Waiter", waiter, 2, 32);
}

struct fake_locks fake_locks_create(unsigned int threads)
{
	return fake_locks_without(threads, NULL);
}

struct fake_locks fake_locks_without(unsigned int threads, const char *missing)
{
	struct fake_locks locks = {
		.missing = missing,
		.fake = fake_clr_create(&(struct fake_options){ .release = 11 }),
	};
	locks.types = fake_types_create(locks.fake);
	make_waits(&locks);
	make_handles(&locks);
	make_locks(&locks);
	(void)fake_segment(locks.fake, 0, GENERATION_0, 0x40000);
	for (unsigned int i = 0; i < threads; i++) {
		const struct runtime_thread *thread = fake_thread(locks.fake);
		uint64_t handle = fake_alloc(&locks.fake->memory, 8);
		locks.threads[i] = fake_object(locks.fake, locks.thread_type, 0);
		locks.infos[i] = fake_object(locks.fake, locks.info_type, 0);
		poke(&locks, thread->address + THREAD_HANDLE, handle);
		poke(&locks, handle, locks.threads[i]);
		poke(&locks, locks.threads[i] + THREAD_NATIVE, thread->address);
		poke_u32(&locks, locks.threads[i] + THREAD_ID, thread->id);
		poke(&locks, locks.threads[i] + FAKE_THREAD_INFO, locks.infos[i]);
		poke(&locks, locks.threads[i] + FAKE_THREAD_JOIN,
		     fake_event(&locks, FAKE_MANUAL_RESET));
		fake_wait(&locks, i, false, (const uint64_t[]){ 0 });
		fake_poke(&locks.fake->memory, locks.infos[i] + FAKE_INFO_STATE, "\2", 1);
	}
	return locks;
}

void fake_locks_destroy(struct fake_locks *locks)
{
	fake_types_destroy(locks->types);
	fake_clr_destroy(locks->fake);
}

uint64_t fake_event(struct fake_locks *locks, uint32_t type)
{
	uint64_t event = fake_object(locks->fake, locks->event_type, 0);
	uint64_t safe = fake_object(locks->fake, locks->safe_type, 0);
	uint64_t waitable = fake_object(locks->fake, locks->waitable_type, 0);
	uint64_t handle = fake_alloc(&locks->fake->memory, 8);
	poke(locks, handle, waitable);
	poke(locks, safe + ONE_REFERENCE, handle | PINNED_BIT);
	poke(locks, event + ONE_REFERENCE, safe);
	poke_u32(locks, waitable + WAITABLE_TYPE, type);
	poke_u32(locks, waitable + FAKE_WAITABLE_LIMIT, 1);
	if (type == FAKE_MUTEX) {
		poke(locks, waitable + FAKE_WAITABLE_OWNER,
		     fake_object(locks->fake, locks->owner_type, 0));
	}
	return event;
}

uint64_t fake_waitable(struct fake_locks *locks, uint64_t event)
{
	uint64_t safe = fake_peek_u64(&locks->fake->memory, event + ONE_REFERENCE);
	return fake_peek_u64(&locks->fake->memory,
			     fake_peek_u64(&locks->fake->memory, safe + ONE_REFERENCE) &
				     ~(uint64_t)PINNED_BIT);
}

void fake_wait(struct fake_locks *locks, unsigned int thread, bool is_all, const uint64_t *events)
{
	uint32_t count = 0;
	while (events[count])
		count++;
	uint64_t array = fake_object(locks->fake, locks->waitables_type, count + 1);
	for (uint32_t i = 0; i < count; i++)
		poke(locks, array + 16 + 8 * (uint64_t)i, fake_waitable(locks, events[i]));
	const char state[2] = { 1, is_all };
	poke(locks, locks->infos[thread] + FAKE_INFO_OBJECTS, array);
	poke_u32(locks, locks->infos[thread] + FAKE_INFO_COUNT, count);
	fake_poke(&locks->fake->memory, locks->infos[thread] + FAKE_INFO_STATE, state, 2);
}

uint64_t fake_lock(struct fake_locks *locks, uint32_t holder, uint32_t waiters, uint64_t event)
{
	uint64_t lock = fake_object(locks->fake, locks->lock_type, 0);
	poke(locks, lock + FAKE_LOCK_EVENT, event);
	poke_u32(locks, lock + FAKE_LOCK_HOLDER, holder);
	poke_u32(locks, lock + FAKE_LOCK_STATE, waiters << 7 | (holder != 0));
	return lock;
}

uint64_t fake_condition(struct fake_locks *locks, uint64_t event, const uint64_t *waiters)
{
	uint64_t condition = fake_object(locks->fake, locks->condition_type, 0);
	uint64_t slot = condition + FAKE_CONDITION_HEAD;
	poke(locks, condition + FAKE_CONDITION_EVENT, event);
	for (; *waiters; waiters++) {
		uint64_t waiter = fake_object(locks->fake, locks->waiter_type, 0);
		poke(locks, slot, waiter);
		poke(locks, waiter + FAKE_WAITER_EVENT, *waiters);
		slot = waiter + FAKE_WAITER_NEXT;
	}
	return condition;
}

uint64_t fake_locked(struct fake_locks *locks, uint64_t lock)
{
	uint64_t object = fake_object(locks->fake, locks->fake->object_type, 0);
	uint64_t handle = fake_alloc(&locks->fake->memory, 8);
	(void)fake_sync_block(locks->fake, object);
	poke(locks, handle, lock);
	poke(locks, fake_at(locks->fake, fake_block(locks, object), L_SYNC_BLOCK_LOCK),
	     handle | PINNED_BIT);
	return object;
}

uint64_t fake_block(const struct fake_locks *locks, uint64_t object)
{
	uint32_t header = 0;
	if (!memory_u32(&locks->fake->memory.memory, object - 4, &header))
		abort();
	return fake_peek_u64(&locks->fake->memory,
			     locks->fake->sync_table +
				     SYNC_ENTRY * (uint64_t)(header & 0x03ffffff));
}
