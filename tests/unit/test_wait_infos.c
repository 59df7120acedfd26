/* SPDX-License-Identifier: MIT */
/* Locks and waits as the framework of .NET 11 says them, also where it says nonsense. */
#include "hangs/deadlocks.h"
#include "hangs/wait_gaps.h"
#include "hangs/wait_handles.h"
#include "hangs/wait_parts.h"
#include "support/assert_more.h"
#include "support/fake_locks.h"
#include "support/suite.h"

#define THREADS 4u

static struct fake_locks locks;
static struct waits *waits;

static void set_up(void)
{
	locks = fake_locks_create(THREADS);
	waits = NULL;
}

static void tear_down(void)
{
	waits_destroy(waits);
	fake_locks_destroy(&locks);
}

static void make_waits(void)
{
	fake_types_attach(locks.types);
	ASSERT_UINT_FATAL(waits_create(fake_heap(locks.fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT_FATAL(waits->count, THREADS);
}

static uint64_t gaps_of(enum wait_gap gap)
{
	struct wait_gaps gaps;
	wait_gaps_find(waits, &gaps);
	return gaps.counts[gap];
}

static void poke(uint64_t address, uint64_t value)
{
	fake_poke_u64(&locks.fake->memory, address, value);
}

static void poke_u32(uint64_t address, uint32_t value)
{
	fake_poke_u32(&locks.fake->memory, address, value);
}

static void wait_for(unsigned int thread, uint64_t event)
{
	fake_wait(&locks, thread, false, (const uint64_t[]){ event, 0 });
}

/* The monitor of an object that thread number @p holder has, and for whose event others wait. */
static uint64_t make_monitor(unsigned int holder, uint32_t waiters, uint64_t *ret_event)
{
	*ret_event = fake_event(&locks, FAKE_AUTO_RESET);
	return fake_locked(&locks, fake_lock(&locks, holder + 1, waiters, *ret_event));
}

TEST(threads_that_enter_the_monitors_of_each_other_are_a_deadlock)
{
	uint64_t events[2], objects[2];
	struct deadlocks found;
	for (unsigned int i = 0; i < 2; i++)
		objects[i] = make_monitor(i, 1, &events[i]);
	wait_for(0, events[1]);
	wait_for(1, events[0]);
	make_waits();
	ASSERT_UINT(waits->monitors.rows_count, 2);
	ASSERT_UINT(waits->monitors.unread, 0);
	ASSERT_UINT(waits->not_matched, 0);
	ASSERT_UINT(gaps_of(GAP_RECORDS), 0);
	for (unsigned int i = 0; i < 2; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		ASSERT_UINT(wait->kind, WAIT_MONITOR);
		ASSERT_UINT(wait->object.address, objects[1 - i]);
		CU_ASSERT_PTR_EQUAL(wait->stored_owner, waits->rows[1 - i].thread);
		CU_ASSERT_PTR_EQUAL(wait->entered, monitor_of(&waits->monitors, objects[1 - i]));
	}
	ASSERT_UINT_FATAL(deadlocks_find(waits, &found, NULL), HD_OK);
	ASSERT_UINT(found.count, 1);
	deadlocks_deinit(&found);
}

TEST(a_monitor_is_what_its_lock_says)
{
	struct monitor monitor;
	uint64_t event, object = make_monitor(2, 4, &event);
	uint64_t lock = fake_lock(&locks, 1, 0, 0);
	poke_u32(lock + FAKE_LOCK_RECURSION, 2);
	(void)fake_locked(&locks, lock);
	/* Nobody holds it; what its holder left behind does not count. */
	uint64_t open = fake_lock(&locks, 0, 0, 0);
	poke_u32(open + FAKE_LOCK_HOLDER, 3);
	(void)fake_locked(&locks, open);
	make_waits();
	struct runtime *runtime = waits->heap->runtime;
	CU_ASSERT_FATAL(monitor_read(runtime, waits->members, 1, &monitor));
	ASSERT_UINT(monitor.block.object, object);
	CU_ASSERT(monitor.block.has_monitor && monitor.block.is_held);
	ASSERT_UINT(monitor.block.waiters, 4);
	ASSERT_UINT(monitor.block.recursion, 1);
	CU_ASSERT_PTR_EQUAL(monitor.block.owner, runtime_thread_at(runtime, 2));
	ASSERT_UINT(monitor.block.os_id, runtime_thread_at(runtime, 2)->os_id);
	ASSERT_UINT(monitor.event, event);
	CU_ASSERT_FATAL(monitor_read(runtime, waits->members, 2, &monitor));
	ASSERT_UINT(monitor.block.recursion, 3);
	ASSERT_UINT(monitor.block.waiters, 0);
	CU_ASSERT_FATAL(monitor_read(runtime, waits->members, 3, &monitor));
	CU_ASSERT(monitor.block.has_monitor && !monitor.block.is_held);
	CU_ASSERT_PTR_NULL(monitor.block.owner);
	CU_ASSERT_FALSE(monitor_read(runtime, waits->members, 4, &monitor));
	ASSERT_UINT(waits->monitors.rows_count, 2);
}

TEST(a_block_without_a_lock_has_the_word_of_the_header)
{
	struct monitor monitor;
	uint64_t object = fake_object(locks.fake, locks.fake->object_type, 0);
	(void)fake_sync_block(locks.fake, object);
	poke_u32(fake_at(locks.fake, fake_block(&locks, object), L_SYNC_BLOCK_THIN_LOCK),
		 2u << 16 | 3);
	(void)fake_sync_block(locks.fake, fake_object(locks.fake, locks.fake->object_type, 0));
	make_waits();
	CU_ASSERT_FATAL(monitor_read(waits->heap->runtime, waits->members, 1, &monitor));
	CU_ASSERT(monitor.block.has_monitor && monitor.block.is_held);
	ASSERT_UINT(monitor.block.recursion, 3);
	CU_ASSERT_PTR_EQUAL(monitor.block.owner, runtime_thread_at(waits->heap->runtime, 2));
	CU_ASSERT_FATAL(monitor_read(waits->heap->runtime, waits->members, 2, &monitor));
	CU_ASSERT(monitor.block.has_monitor && !monitor.block.is_held);
	ASSERT_UINT(waits->monitors.rows_count, 1);
}

TEST(who_waits_for_a_pulse_is_in_the_queue_of_the_condition)
{
	uint64_t events[3];
	for (unsigned int i = 0; i < 3; i++)
		events[i] = fake_event(&locks, FAKE_AUTO_RESET);
	uint64_t condition =
		fake_condition(&locks, events[2], (const uint64_t[]){ events[0], events[1], 0 });
	uint64_t object = fake_locked(&locks, fake_lock(&locks, 4, 1, condition));
	for (unsigned int i = 0; i < 3; i++)
		wait_for(i, events[i]);
	make_waits();
	struct monitor *monitor = monitor_of(&waits->monitors, object);
	CU_ASSERT_PTR_NOT_NULL_FATAL(monitor);
	for (unsigned int i = 0; i < 2; i++) {
		CU_ASSERT_PTR_EQUAL(waits->rows[i].pulse, monitor);
		ASSERT_UINT(waits->rows[i].object.address, object);
		CU_ASSERT_PTR_NULL(waits->rows[i].stored_owner);
	}
	/* The third one was pulsed, and enters the monitor again. */
	CU_ASSERT_PTR_NULL(waits->rows[2].pulse);
	CU_ASSERT_PTR_EQUAL(waits->rows[2].entered, monitor);
	CU_ASSERT_PTR_EQUAL(waits->rows[2].stored_owner, waits->rows[3].thread);
}

TEST(who_only_waits_for_a_pulse_keeps_the_monitor_in_the_list)
{
	uint64_t event = fake_event(&locks, FAKE_AUTO_RESET);
	uint64_t used = fake_locked(
		&locks,
		fake_lock(&locks, 0, 0, fake_condition(&locks, 0, (const uint64_t[]){ event, 0 })));
	uint64_t unused =
		fake_locked(&locks, fake_lock(&locks, 0, 0,
					      fake_condition(&locks, 0, (const uint64_t[]){ 0 })));
	wait_for(1, event);
	make_waits();
	CU_ASSERT_PTR_NOT_NULL(monitor_of(&waits->monitors, used));
	CU_ASSERT_PTR_NULL(monitor_of(&waits->monitors, unused));
	CU_ASSERT_PTR_EQUAL(waits->rows[1].pulse, monitor_of(&waits->monitors, used));
}

/* A mutex that thread number @p owner has. */
static uint64_t make_mutex(unsigned int owner)
{
	uint64_t mutex = fake_event(&locks, FAKE_MUTEX), info = 0;
	CU_ASSERT(memory_u64(&locks.fake->memory.memory,
			     fake_waitable(&locks, mutex) + FAKE_WAITABLE_OWNER, &info));
	poke(info + 8, locks.threads[owner]);
	return mutex;
}

TEST(who_joins_a_thread_waits_for_its_join_event)
{
	uint64_t event = 0;
	CU_ASSERT(memory_u64(&locks.fake->memory.memory, locks.threads[2] + FAKE_THREAD_JOIN,
			     &event));
	wait_for(0, event);
	make_waits();
	ASSERT_UINT(waits->rows[0].kind, WAIT_JOIN);
	ASSERT_UINT(waits->rows[0].object.address, locks.threads[2]);
	CU_ASSERT_PTR_EQUAL(waits->rows[0].stored_owner, waits->rows[2].thread);
}

TEST(who_waits_for_a_mutex_waits_for_its_owner)
{
	uint64_t mutex = make_mutex(3);
	wait_for(1, mutex);
	make_waits();
	ASSERT_UINT(waits->rows[1].kind, WAIT_HANDLE);
	ASSERT_UINT(waits->rows[1].object.address, mutex);
	CU_ASSERT_PTR_EQUAL(waits->rows[1].stored_owner, waits->rows[3].thread);
	CU_ASSERT_FALSE(waits->rows[1].is_over);
}

TEST(who_waits_for_several_has_them_in_order)
{
	struct wait_handles handles;
	uint64_t first = fake_event(&locks, FAKE_AUTO_RESET);
	uint64_t second = fake_event(&locks, FAKE_MANUAL_RESET);
	for (unsigned int is_all = 0; is_all < 2; is_all++)
		fake_wait(&locks, is_all, is_all, (const uint64_t[]){ second, first, 0 });
	make_waits();
	ASSERT_UINT(waits->rows[0].kind, WAIT_ANY_HANDLE);
	ASSERT_UINT(waits->rows[1].kind, WAIT_ALL_HANDLES);
	for (unsigned int i = 0; i < 2; i++) {
		wait_handles_read(waits, &waits->rows[i], &handles);
		ASSERT_UINT_FATAL(handles.rows_count, 2);
		ASSERT_UINT(handles.rows[0].address, second);
		ASSERT_UINT(handles.rows[1].address, first);
	}
}

/* Threads 0 and 1 have a mutex each; 0 waits for all or any of 1's and another handle, 1 for 0's. */
static size_t mutex_deadlocks(bool is_all, uint64_t other)
{
	struct deadlocks found;
	uint64_t first = make_mutex(0), second = make_mutex(1);
	fake_wait(&locks, 0, is_all, (const uint64_t[]){ other, second, 0 });
	wait_for(1, first);
	make_waits();
	ASSERT_UINT_FATAL(deadlocks_find(waits, &found, NULL), HD_OK);
	size_t count = found.count;
	deadlocks_deinit(&found);
	return count;
}

TEST(who_needs_all_handles_needs_the_owner_of_each_mutex)
{
	ASSERT_UINT(mutex_deadlocks(true, fake_event(&locks, FAKE_MANUAL_RESET)), 1);
	CU_ASSERT_PTR_EQUAL(waits->rows[0].blamed_owner, waits->rows[1].thread);
}

TEST(who_needs_any_handle_may_get_an_event)
{
	ASSERT_UINT(mutex_deadlocks(false, fake_event(&locks, FAKE_MANUAL_RESET)), 0);
	CU_ASSERT_PTR_NULL(waits->rows[0].blamed_owner);
}

TEST(who_needs_any_mutex_hangs_when_all_owners_do)
{
	ASSERT_UINT(mutex_deadlocks(false, make_mutex(1)), 1);
}

TEST(who_was_woken_is_not_blocked)
{
	uint64_t event = fake_event(&locks, FAKE_AUTO_RESET);
	make_waits();
	struct thread_wait *wait = &waits->rows[0];
	ASSERT_UINT(wait->info.state, WAIT_INFO_RUNS);
	wait->kind = WAIT_HANDLE;
	CU_ASSERT_FATAL(member_object(waits->members, event, &wait->object));
	CU_ASSERT(wait_is_over(waits, wait));
	wait->info.state = WAIT_INFO_WAITS;
	CU_ASSERT_FALSE(wait_is_over(waits, wait));
	/* The framework knows nothing about a handle that is not its own: a named mutex. */
	wait->info.state = WAIT_INFO_RUNS;
	poke(fake_waitable(&locks, event), locks.fake->object_type);
	CU_ASSERT_FALSE(wait_is_over(waits, wait));
}

TEST(more_objects_than_the_array_has_are_not_read)
{
	uint64_t event = fake_event(&locks, FAKE_AUTO_RESET);
	wait_for(0, event);
	poke_u32(locks.infos[0] + FAKE_INFO_COUNT, 3);
	poke_u32(locks.infos[1] + FAKE_INFO_COUNT, UINT32_MAX);
	poke(locks.infos[2] + FAKE_INFO_OBJECTS, 0x1230);
	poke(locks.threads[3] + FAKE_THREAD_INFO, 0x1230);
	make_waits();
	for (unsigned int i = 0; i < THREADS; i++)
		ASSERT_UINT(waits->rows[i].info.state, WAIT_INFO_BROKEN);
	ASSERT_UINT(gaps_of(GAP_RECORDS), THREADS);
}

TEST(a_lock_that_leads_nowhere_is_not_read)
{
	uint64_t nowhere = fake_locked(&locks, 0x1230);
	uint64_t other = fake_locked(&locks, locks.threads[0]);
	uint64_t none = fake_locked(&locks, 0);
	poke(fake_at(locks.fake, fake_block(&locks, none), L_SYNC_BLOCK_LOCK), 0x7);
	make_waits();
	ASSERT_UINT(waits->monitors.rows_count, 0);
	ASSERT_UINT(waits->monitors.unread, 3);
	CU_ASSERT_PTR_NULL(monitor_of(&waits->monitors, nowhere));
	CU_ASSERT_PTR_NULL(monitor_of(&waits->monitors, other));
}

TEST(a_queue_that_leads_back_ends)
{
	uint64_t event = fake_event(&locks, FAKE_AUTO_RESET), waiter = 0;
	uint64_t condition = fake_condition(&locks, 0, (const uint64_t[]){ event, event, 0 });
	CU_ASSERT(memory_u64(&locks.fake->memory.memory, condition + FAKE_CONDITION_HEAD, &waiter));
	poke(waiter + FAKE_WAITER_NEXT, waiter);
	(void)fake_locked(&locks, fake_lock(&locks, 0, 0, condition));
	wait_for(2, event);
	make_waits();
	ASSERT_UINT(waits->monitors.unread, 1);
	CU_ASSERT_PTR_NOT_NULL(waits->rows[2].pulse);
}

TEST(a_queue_that_leads_nowhere_is_told)
{
	uint64_t condition = fake_condition(&locks, 0, (const uint64_t[]){ 0 });
	poke(condition + FAKE_CONDITION_HEAD, 0x1230);
	(void)fake_locked(&locks, fake_lock(&locks, 1, 0, condition));
	make_waits();
	ASSERT_UINT(waits->monitors.rows_count, 1);
	ASSERT_UINT(waits->monitors.unread, 1);
}

TEST(a_thread_that_waits_for_itself_has_no_owner)
{
	uint64_t event, object = make_monitor(0, 1, &event);
	wait_for(0, event);
	make_waits();
	ASSERT_UINT(waits->rows[0].object.address, object);
	CU_ASSERT_PTR_NULL(waits->rows[0].blamed_owner);
}

SUITE(.name = "wait_infos", .set_up = set_up, .tear_down = tear_down)
