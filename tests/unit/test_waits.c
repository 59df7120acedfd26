/* SPDX-License-Identifier: MIT */
#include "analysis/waits/deadlocks.h"
#include "analysis/waits/wait_kind.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"

TEST(methods_tell_what_a_thread_waits_for)
{
	static const struct {
		const char *method;
		enum wait_kind kind;
	} cases[] = {
		{ "System.Threading.Monitor.Enter_Slowpath", WAIT_MONITOR },
		{ "System.Threading.Monitor.TryEnter", WAIT_MONITOR },
		{ "System.Threading.Monitor.Wait", WAIT_PULSE },
		{ "System.Threading.Lock.TryEnterSlow", WAIT_LOCK },
		{ "System.Threading.ReaderWriterLockSlim.TryEnterReadLockCore", WAIT_READ },
		{ "System.Threading.ReaderWriterLockSlim.TryEnterUpgradeableReadLock",
		  WAIT_UPGRADE },
		{ "System.Threading.Tasks.Task.WaitAllCore", WAIT_ALL_TASKS },
		{ "System.Threading.Tasks.Task.WaitAnyCore", WAIT_ANY_TASK },
		{ "System.Threading.Tasks.Task.Wait", WAIT_TASK },
		{ "System.Threading.Tasks.Task<System.Int32>.get_Result", WAIT_TASK },
		{ "System.Threading.LowLevelLifoSemaphore.WaitForSignal", WAIT_IDLE },
		{ "System.Threading.Thread.Join", WAIT_JOIN },
		{ "System.Threading.Tasks.Task.InnerInvoke", WAIT_NONE },
		{ "System.Threading.Monitor.Exit", WAIT_NONE },
		{ "Shop.Lock.Enter", WAIT_NONE },
		{ "", WAIT_NONE },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ASSERT_UINT(wait_kind_of_method(cases[i].method), cases[i].kind);
	for (unsigned int kind = 0; kind < WAIT_KINDS; kind++)
		CU_ASSERT(wait_kind_name(kind) && *wait_kind_name(kind));
	CU_ASSERT(method_is_framework("System.Threading.Monitor.Wait"));
	CU_ASSERT(!method_is_framework("SystemOfOurs.Monitor.Wait"));
	CU_ASSERT(!method_is_framework("Shop.Bank.Transfer"));
}

#define THREADS 8u

/* Threads of a fake runtime, of which number i waits for number owners[i] (or for nobody). */
static void check_cycles(const size_t *owners, size_t cycles, size_t longest, size_t followers)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	for (uint32_t i = 0; i < THREADS; i++)
		(void)fake_thread(fake);
	struct heap *heap = fake_heap(fake);
	REQUIRE(heap);
	struct thread_wait rows[THREADS] = { 0 };
	uint32_t by_thread[THREADS];
	struct waits waits = {
		.heap = heap, .rows = rows, .count = THREADS, .by_thread = by_thread
	};
	for (uint32_t i = 0; i < THREADS; i++) {
		rows[i].thread = clr_thread_at(heap->clr, i);
		by_thread[i] = i;
		if (owners[i] < THREADS)
			rows[i].owner = clr_thread_at(heap->clr, owners[i]);
	}
	struct deadlocks found;
	ASSERT_UINT(deadlocks_find(&waits, &found, NULL), HD_OK);
	ASSERT_UINT(found.count, cycles);
	size_t most = 0, all = 0;
	for (size_t i = 0; i < found.count; i++) {
		const struct deadlock *cycle = &found.rows[i];
		most = cycle->count > most ? cycle->count : most;
		all += cycle->followers;
		/* Each waits for the next one. */
		for (size_t k = 0; k < cycle->count; k++) {
			const struct thread_wait *wait = found.members[cycle->begin + k];
			const struct thread_wait *next =
				found.members[cycle->begin + (k + 1) % cycle->count];
			CU_ASSERT_PTR_EQUAL(wait->owner, next->thread);
		}
	}
	ASSERT_UINT(most, longest);
	ASSERT_UINT(all, followers);
	deadlocks_deinit(&found);
	fake_clr_destroy(fake);
}

TEST(cycles_of_waiting_threads_are_deadlocks)
{
	const size_t none = THREADS;
	const size_t nobody[THREADS] = { none, none, none, none, none, none, none, none };
	check_cycles(nobody, 0, 0, 0);
	const size_t chain[THREADS] = { 1, 2, 3, 4, 5, 6, 7, none };
	check_cycles(chain, 0, 0, 0);
	const size_t two[THREADS] = { 1, 0, none, none, none, none, none, none };
	check_cycles(two, 1, 2, 0);
	const size_t all[THREADS] = { 1, 2, 3, 4, 5, 6, 7, 0 };
	check_cycles(all, 1, 8, 0);
	const size_t led_to[THREADS] = { 1, 2, 1, 0, 3, 2, none, 6 };
	check_cycles(led_to, 1, 2, 4);
	const size_t several[THREADS] = { 1, 0, 3, 4, 2, 2, 0, 6 };
	check_cycles(several, 2, 3, 3);
}

/* What fake_sync_block() makes, and the offsets of doc/coreclr.md 7.4. */
static uint64_t block_of(struct fake_clr *fake, uint32_t index)
{
	uint64_t block = 0;
	CU_ASSERT(memory_u64(&fake->memory.memory, fake->sync_table + 16ull * index, &block));
	return block;
}

/* A WaitEventLink {block, event, thread, next, link} of the block; returns the address of its link. */
static uint64_t make_link(struct fake_clr *fake, uint64_t block, uint64_t thread)
{
	uint64_t link = fake_alloc(&fake->memory, 64);
	fake_poke_u64(&fake->memory, link, block);
	fake_poke_u64(&fake->memory, link + 16, thread);
	return link + 32;
}

/* How many threads are in the queue; at most @p limit are asked for. */
static unsigned int count_waiters(const struct clr *clr, uint64_t block, unsigned int limit)
{
	uint64_t cursor = 0, thread = 0;
	unsigned int count = 0;
	while (count < limit && clr_pulse_waiter(clr, block, &cursor, &thread))
		ASSERT_UINT(thread, 0x1000u + count++);
	return count;
}

TEST(a_queue_of_monitor_wait_ends_where_it_is_broken)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t object = fake_object(fake, fake->object_type, 0);
	uint64_t block = block_of(fake, fake_sync_block(fake, object));
	struct clr *clr = fake_runtime(fake);
	ASSERT_UINT(count_waiters(clr, block, 10), 0);
	uint64_t first = make_link(fake, block, 0x1000),
		 second = make_link(fake, block | 1, 0x1001);
	uint64_t other = make_link(fake, block + 8, 0x1002);
	fake_poke_u64(&fake->memory, block + 72, first);
	ASSERT_UINT(count_waiters(clr, block, 10), 1);
	fake_poke_u64(&fake->memory, first, second);
	ASSERT_UINT(count_waiters(clr, block, 10), 2);
	/* of another block, unaligned, not there */
	fake_poke_u64(&fake->memory, second, other);
	ASSERT_UINT(count_waiters(clr, block, 10), 2);
	fake_poke_u64(&fake->memory, second, first + 1);
	ASSERT_UINT(count_waiters(clr, block, 10), 2);
	fake_poke_u64(&fake->memory, second, 16);
	ASSERT_UINT(count_waiters(clr, block, 10), 2);
	fake_clr_destroy(fake);
}

TEST(a_queue_with_a_cycle_ends)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t object = fake_object(fake, fake->object_type, 0);
	uint64_t block = block_of(fake, fake_sync_block(fake, object));
	for (unsigned int i = 0; i < 3; i++)
		(void)fake_thread(fake);
	uint64_t link = make_link(fake, block, 0x1000);
	fake_poke_u64(&fake->memory, block + 72, link);
	fake_poke_u64(&fake->memory, link, link);
	struct waits *waits;
	ASSERT_UINT(waits_create(fake_heap(fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT(waits->monitors.rows_count, 1);
	ASSERT_UINT(waits->not_matched, 0);
	for (size_t i = 0; i < waits->count; i++)
		CU_ASSERT_PTR_NULL(waits->rows[i].pulse);
	waits_destroy(waits);
	fake_clr_destroy(fake);
}

SUITE(.name = "waits")
