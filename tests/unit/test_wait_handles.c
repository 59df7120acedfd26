/* SPDX-License-Identifier: MIT */
/*
 * Finds things that a thread waits for and that are in no root of its frames: a struct in an
 * object, an event's owner.
 */
#include "analysis/async/async_graph.h"
#include "hangs/wait_handles.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"

#define STRUCT_FLAGS 0x00040000u
/* SpinLock._owner without owner tracking: nobody, and somebody. */
#define NOT_TRACKED 0x80000000u

static struct fake_tasks tasks;
static struct waits *waits;
static uint64_t meter_type;

static void set_up(void)
{
	const struct fake_field lock[] = { { .name = "_owner", .element = ELEMENT_I4 },
					   { .name = NULL } };
	tasks = fake_tasks_create();
	uint64_t lock_type = fake_class(
		tasks.types,
		&(struct fake_class){ .space = "System.Threading",
				      .name = "SpinLock",
				      .fields = lock,
				      .type = { .base_size = 24, .flags = STRUCT_FLAGS } });
	const struct fake_field pair[] = {
		{ .name = "number", .element = ELEMENT_I8 },
		{ .name = "gate", .element = ELEMENT_VALUE, .type = lock_type, .offset = 8 },
		{ .name = NULL }
	};
	uint64_t pair_type = fake_class(
		tasks.types,
		&(struct fake_class){ .space = "Shop",
				      .name = "Pair",
				      .fields = pair,
				      .type = { .base_size = 32, .flags = STRUCT_FLAGS } });
	const struct fake_field meter[] = {
		{ .name = "reading", .element = ELEMENT_I8 },
		{ .name = "gate", .element = ELEMENT_VALUE, .type = lock_type, .offset = 8 },
		{ .name = "pair", .element = ELEMENT_VALUE, .type = pair_type, .offset = 16 },
		{ .name = NULL }
	};
	meter_type = fake_class(tasks.types, &(struct fake_class){ .space = "Shop",
								   .name = "Meter",
								   .fields = meter,
								   .type = { .base_size = 48 } });
	for (unsigned int i = 0; i < 2; i++)
		(void)fake_thread(tasks.fake);
	waits = NULL;
}

static void tear_down(void)
{
	waits_destroy(waits);
	fake_tasks_destroy(&tasks);
}

static void make_waits(void)
{
	fake_types_attach(tasks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(tasks.fake), NULL, &waits, NULL), HD_OK);
}

/* A thread whose frame of the wait has the address, and whose own frame the object. */
static bool find_spin_lock(uint64_t address, uint64_t object, struct wait_spin_lock *ret)
{
	struct stack_root roots[] = {
		{ .value = address, .frame = 0, .flags = STACK_ROOT_INTERIOR },
		{ .value = object, .frame = 1 },
	};
	const struct thread_wait wait = {
		.kind = WAIT_SPIN_LOCK,
		.wait_end = 1,
		.stack = { .roots = roots, .roots_count = 2 },
	};
	return wait_find_spin_lock(waits, &wait, ret);
}

TEST(a_spin_lock_is_a_struct_in_an_object)
{
	struct wait_spin_lock lock;
	uint64_t meter = fake_object(tasks.fake, meter_type, 0);
	/* Managed ids count from 1. */
	fake_poke_u32(&tasks.fake->memory, meter + 16, 2);
	fake_poke_u32(&tasks.fake->memory, meter + 32, NOT_TRACKED | 1);
	make_waits();
	CU_ASSERT_TRUE_FATAL(find_spin_lock(meter + 16, meter, &lock));
	ASSERT_UINT(lock.holder.address, meter);
	ASSERT_UINT(lock.address, meter + 16);
	CU_ASSERT_TRUE(lock.has_owner_id);
	CU_ASSERT_PTR_EQUAL(lock.owner, runtime_thread_at(waits->heap->runtime, 1));
	/* One in a struct in the object. */
	CU_ASSERT_TRUE_FATAL(find_spin_lock(meter + 32, meter, &lock));
	CU_ASSERT_FALSE(lock.has_owner_id);
	CU_ASSERT_PTR_NULL(lock.owner);
}

TEST(an_address_that_is_no_spin_lock_is_none)
{
	struct wait_spin_lock lock;
	uint64_t meter = fake_object(tasks.fake, meter_type, 0);
	uint64_t other = fake_object(tasks.fake, meter_type, 0);
	make_waits();
	CU_ASSERT_FALSE(find_spin_lock(meter + 8, meter, &lock));
	CU_ASSERT_FALSE(find_spin_lock(meter + 20, meter, &lock));
	CU_ASSERT_FALSE(find_spin_lock(meter + 24, meter, &lock));
	CU_ASSERT_FALSE(find_spin_lock(other + 16, meter, &lock));
	CU_ASSERT_FALSE(find_spin_lock(0x1230, meter, &lock));
	CU_ASSERT_FALSE(find_spin_lock(meter + 16, 0x1230, &lock));
}

TEST(an_owner_that_is_no_thread_is_not_known)
{
	struct wait_spin_lock lock;
	uint64_t meter = fake_object(tasks.fake, meter_type, 0);
	fake_poke_u32(&tasks.fake->memory, meter + 16, 77);
	make_waits();
	CU_ASSERT_TRUE_FATAL(find_spin_lock(meter + 16, meter, &lock));
	CU_ASSERT_TRUE(lock.has_owner_id);
	CU_ASSERT_PTR_NULL(lock.owner);
}

TEST(a_countdown_is_found_by_its_event)
{
	const struct fake_field event[] = { { .name = "_event", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	uint64_t type =
		fake_class(tasks.types, &(struct fake_class){ .space = "System.Threading",
							      .name = "CountdownEvent",
							      .fields = event,
							      .type = { .base_size = 24 } });
	uint64_t inner = fake_one(&tasks, tasks.owner_type, 0);
	uint64_t countdown = fake_one(&tasks, type, inner);
	struct stack_root roots[] = { { .value = inner, .frame = 0 } };
	struct thread_wait wait = { .kind = WAIT_COUNTDOWN,
				    .wait_end = 1,
				    .stack = { .roots = roots, .roots_count = 1 } };
	struct object object;
	make_waits();
	CU_ASSERT_TRUE_FATAL(wait_find_by_event(waits, &wait, &object));
	ASSERT_UINT(object.address, countdown);
	/* A frame outside of the wait says nothing. */
	roots[0].frame = 1;
	CU_ASSERT_FALSE(wait_find_by_event(waits, &wait, &object));
	roots[0].frame = 0;
	roots[0].value = countdown;
	CU_ASSERT_FALSE(wait_find_by_event(waits, &wait, &object));
}

SUITE(.name = "wait_handles", .set_up = set_up, .tear_down = tear_down)
