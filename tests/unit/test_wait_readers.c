/* SPDX-License-Identifier: MIT */
/* Threads that wait for a ReaderWriterLockSlim, and those that have it. */
#include "hangs/wait_ended.h"
#include "hangs/wait_readers.h"
#include "runtime/thread_state.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/alloc.h"

#define THREADS 6u
/* ReaderWriterLockSlim._owners */
#define WRITES       0x80000000u
#define WAITS_WRITER 0x40000000u

/* Offsets of the fields in an object of the lock. */
#define LOCK_ID       8u
#define LOCK_OWNERS   16u
#define LOCK_WRITER   20u
#define LOCK_UPGRADER 24u

static struct fake_clr *fake;
static struct fake_types *types;
static uint64_t lock_type;
static struct waits waits;
static struct thread_wait rows[THREADS];
static uint32_t by_thread[THREADS];
static struct wait_row readers[THREADS], writers[THREADS];
static struct wait_readers found;
static bool are_all_read; /* found.are_all_read of the next make_waits() */

static void set_up(void)
{
	const struct fake_field lock[] = {
		{ .name = "_lockID", .element = ELEMENT_I8 },
		{ .name = "_owners", .element = ELEMENT_U4, .offset = 8 },
		{ .name = "_writeLockOwnerId", .element = ELEMENT_I4, .offset = 12 },
		{ .name = "_upgradeLockOwnerId", .element = ELEMENT_I4, .offset = 16 },
		{ .name = NULL }
	};
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	are_all_read = false;
	lock_type = fake_class(types, &(struct fake_class){ .space = "System.Threading",
							    .name = "ReaderWriterLockSlim",
							    .fields = lock,
							    .type = { .base_size = 40 } });
	(void)fake_segment(fake, 0, GENERATION_0, 0x10000);
	for (unsigned int i = 0; i < THREADS; i++)
		fake_thread(fake)->state = THREAD_STATE_POOL_WORKER;
}

/* A lock, which @p owners says so much of. */
static uint64_t make_lock(uint64_t id, uint32_t owners)
{
	uint64_t lock = fake_object(fake, lock_type, 0);
	fake_poke_u64(&fake->memory, lock + LOCK_ID, id);
	fake_poke_u32(&fake->memory, lock + LOCK_OWNERS, owners);
	fake_poke_u32(&fake->memory, lock + LOCK_WRITER, UINT32_MAX);
	fake_poke_u32(&fake->memory, lock + LOCK_UPGRADER, UINT32_MAX);
	return lock;
}

/* All threads, of which none waits yet. */
static void make_waits(void)
{
	fake_types_attach(types);
	struct heap *heap = fake_heap(fake);
	waits = (struct waits){
		.heap = heap, .rows = rows, .count = THREADS, .by_thread = by_thread
	};
	ASSERT_UINT_FATAL(members_create(heap, &waits.members, NULL), HD_OK);
	found = (struct wait_readers){ .readers = { .rows = readers },
				       .writers = { .rows = writers },
				       .are_all_read = are_all_read };
	for (uint32_t i = 0; i < THREADS; i++) {
		rows[i] = (struct thread_wait){ .thread = runtime_thread_at(heap->runtime, i) };
		by_thread[i] = i;
	}
}

static void tear_down(void)
{
	pages_free(waits.several.rows, waits.several.rows_capacity, sizeof(*waits.several.rows));
	pages_free(waits.several.parts, waits.several.parts_capacity, sizeof(*waits.several.parts));
	members_destroy(waits.members);
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static void wait_for(uint32_t row, enum wait_kind kind, uint64_t lock)
{
	rows[row].kind = kind;
	CU_ASSERT(member_object(waits.members, lock, &rows[row].object));
	if (kind == WAIT_WRITE && found.writers.rows_count < THREADS)
		writers[found.writers.rows_count++] = (struct wait_row){ lock, row };
}

static void reads(uint32_t row, uint64_t id)
{
	readers[found.readers.rows_count++] = (struct wait_row){ id, row };
}

/* The nodes that a thread waits for, as bits. */
static unsigned int parts_of(uint32_t row)
{
	unsigned int bits = 0;
	ASSERT_UINT(wait_add_readers(&found, &waits, &rows[row], NULL), HD_OK);
	const struct wait_several *several = wait_node_several(&waits, row);
	for (size_t i = 0; several && i < several->count; i++) {
		bits |= 1u << waits.several.parts[several->begin + i].to;
		CU_ASSERT_FALSE(waits.several.parts[several->begin + i].is_probable);
	}
	CU_ASSERT(!several || !several->is_any);
	return bits;
}

TEST(a_writer_waits_until_all_that_read_have_left)
{
	uint64_t lock = make_lock(7, WAITS_WRITER | 3), other = make_lock(8, WAITS_WRITER | 1);
	make_waits();
	wait_for(0, WAIT_WRITE, lock);
	wait_for(5, WAIT_WRITE, other);
	reads(1, 7);
	reads(3, 7);
	reads(4, 7);
	reads(4, 8);
	ASSERT_UINT(parts_of(0), 1u << 1 | 1u << 3 | 1u << 4);
	ASSERT_UINT(rows[0].unknown_readers, 0);
	ASSERT_UINT(parts_of(5), 1u << 4);
}

TEST(readers_of_threads_that_have_ended_are_counted)
{
	uint64_t lock = make_lock(7, WAITS_WRITER | 3);
	make_waits();
	wait_for(0, WAIT_WRITE, lock);
	reads(2, 7);
	ASSERT_UINT(parts_of(0), 1u << 2);
	ASSERT_UINT(rows[0].unknown_readers, 2);
}

TEST(who_may_write_later_is_one_that_reads)
{
	uint64_t lock = make_lock(7, WAITS_WRITER | 2);
	/* Managed ids count from 1: the thread of row 3. */
	fake_poke_u32(&fake->memory, lock + LOCK_UPGRADER, 4);
	make_waits();
	wait_for(0, WAIT_WRITE, lock);
	rows[0].stored_owner = rows[3].thread;
	reads(1, 7);
	ASSERT_UINT(parts_of(0), 1u << 1 | 1u << 3);
	ASSERT_UINT(rows[0].unknown_readers, 0);
	/* It waits itself until the others have left. */
	wait_for(3, WAIT_WRITE, lock);
	ASSERT_UINT(parts_of(3), 1u << 1);
	ASSERT_UINT(rows[3].unknown_readers, 0);
}

TEST(who_comes_to_read_waits_for_a_writer_that_waits)
{
	uint64_t lock = make_lock(7, WAITS_WRITER | 1), open = make_lock(8, 1);
	make_waits();
	wait_for(1, WAIT_READ, lock);
	wait_for(2, WAIT_WRITE, lock);
	wait_for(3, WAIT_UPGRADE, lock);
	wait_for(4, WAIT_READ, open);
	reads(0, 7);
	reads(0, 8);
	ASSERT_UINT(parts_of(1), 1u << 2);
	ASSERT_UINT(parts_of(2), 1u << 0);
	ASSERT_UINT(parts_of(3), 1u << 2);
	/* Nothing keeps this one out: it only comes through a door that is open. */
	ASSERT_UINT(parts_of(4), 0);
}

TEST(who_comes_to_read_waits_for_readers_when_no_writer_is_found)
{
	uint64_t lock = make_lock(7, WAITS_WRITER | 1);
	make_waits();
	wait_for(1, WAIT_READ, lock);
	reads(0, 7);
	ASSERT_UINT(parts_of(1), 1u << 0);
}

TEST(where_a_thread_writes_it_is_the_only_one)
{
	uint64_t lock = make_lock(7, WRITES);
	fake_poke_u32(&fake->memory, lock + LOCK_WRITER, 2);
	make_waits();
	wait_for(0, WAIT_WRITE, lock);
	reads(3, 7);
	CU_ASSERT_PTR_EQUAL(wait_lock_writer(&waits, &rows[0].object), rows[1].thread);
	CU_ASSERT_PTR_NULL(wait_lock_upgrader(&waits, &rows[0].object));
	ASSERT_UINT(parts_of(0), 0);
}

/* Thread 0 waits to write a lock that so many read: who holds it, when those of @p kinds are known to read? */
static enum lock_holder holder_of(uint32_t owners, const enum wait_kind *kinds, uint32_t count)
{
	uint64_t lock = make_lock(7, owners), found_lock = 0;
	make_waits();
	wait_for(0, WAIT_WRITE, lock);
	wait_for(5, WAIT_READ, lock);
	for (uint32_t i = 0; i < count; i++) {
		rows[i + 1].kind = kinds[i];
		reads(i + 1, 7);
	}
	ASSERT_UINT(wait_add_readers(&found, &waits, &rows[0], NULL), HD_OK);
	ASSERT_UINT(wait_add_readers(&found, &waits, &rows[5], NULL), HD_OK);
	/* Who waits behind the writer does not look at those that read. */
	ASSERT_UINT(wait_lock_holder(&waits, &rows[5], &found_lock), HOLDER_OTHER);
	enum lock_holder holder = wait_lock_holder(&waits, &rows[0], &found_lock);
	if (holder != HOLDER_OTHER)
		ASSERT_UINT(found_lock, lock);
	rows[0].is_over = true;
	ASSERT_UINT(wait_lock_holder(&waits, &rows[0], &found_lock), HOLDER_OTHER);
	rows[0].is_over = false;
	return holder;
}

static const enum wait_kind idle[] = { WAIT_IDLE, WAIT_IDLE, WAIT_IDLE };

TEST(idle_workers_that_all_read_did_not_leave_the_lock)
{
	ASSERT_UINT(holder_of(WAITS_WRITER | 3, idle, 3), HOLDER_IDLE);
}

TEST(one_reader_that_does_something_may_leave)
{
	const enum wait_kind kinds[] = { WAIT_IDLE, WAIT_NONE, WAIT_IDLE };
	ASSERT_UINT(holder_of(WAITS_WRITER | 3, kinds, 3), HOLDER_OTHER);
}

TEST(one_reader_that_waits_may_leave)
{
	const enum wait_kind kinds[] = { WAIT_IDLE, WAIT_SLEEP };
	ASSERT_UINT(holder_of(WAITS_WRITER | 2, kinds, 2), HOLDER_OTHER);
}

TEST(idle_workers_are_not_all_when_one_reader_is_not_known)
{
	ASSERT_UINT(holder_of(WAITS_WRITER | 3, idle, 2), HOLDER_OTHER);
}

TEST(who_is_in_no_list_of_a_thread_has_ended_when_all_were_read)
{
	are_all_read = true;
	ASSERT_UINT(holder_of(WAITS_WRITER | 3, idle, 2), HOLDER_IDLE);
	CU_ASSERT(rows[0].are_readers_gone);
	ASSERT_UINT(rows[0].unknown_readers, 1);
}

TEST(all_that_read_may_have_ended)
{
	are_all_read = true;
	ASSERT_UINT(holder_of(WAITS_WRITER | 2, idle, 0), HOLDER_IDLE);
}

TEST(one_reader_that_waits_is_enough_where_others_have_ended)
{
	const enum wait_kind kinds[] = { WAIT_IDLE, WAIT_SLEEP };
	are_all_read = true;
	ASSERT_UINT(holder_of(WAITS_WRITER | 3, kinds, 2), HOLDER_OTHER);
}

TEST(idle_workers_do_not_have_a_lock_that_counts_fewer)
{
	ASSERT_UINT(holder_of(WAITS_WRITER | 1, idle, 2), HOLDER_OTHER);
}

TEST(idle_workers_do_not_have_a_lock_that_somebody_writes)
{
	ASSERT_UINT(holder_of(WRITES | WAITS_WRITER | 1, idle, 1), HOLDER_OTHER);
}

TEST(an_idle_thread_that_is_no_worker_may_come_back)
{
	fake_thread(fake)->state = 0;
	uint64_t lock = make_lock(7, WAITS_WRITER | 1), found_lock = 0;
	make_waits();
	wait_for(0, WAIT_WRITE, lock);
	rows[1].kind = WAIT_IDLE;
	rows[1].thread = runtime_thread_at(waits.heap->runtime, THREADS);
	reads(1, 7);
	ASSERT_UINT(parts_of(0), 1u << 1);
	ASSERT_UINT(wait_lock_holder(&waits, &rows[0], &found_lock), HOLDER_OTHER);
	rows[1].thread = runtime_thread_at(waits.heap->runtime, 1);
	ASSERT_UINT(wait_lock_holder(&waits, &rows[0], &found_lock), HOLDER_IDLE);
}

static bool is_open(uint32_t row, enum wait_kind kind, uint64_t lock, uint32_t owners,
		    uint32_t upgrader)
{
	fake_poke_u32(&fake->memory, lock + LOCK_OWNERS, owners);
	fake_poke_u32(&fake->memory, lock + LOCK_UPGRADER, upgrader);
	/* Another time than the last one: nothing of it is remembered. */
	members_destroy(waits.members);
	ASSERT_UINT_FATAL(members_create(waits.heap, &waits.members, NULL), HD_OK);
	wait_for(row, kind, lock);
	return wait_lock_is_open(&waits, &rows[row]);
}

TEST(who_was_woken_but_has_not_run_yet_is_not_kept_out)
{
	const uint32_t none = UINT32_MAX;
	uint64_t lock = make_lock(7, 0);
	make_waits();
	CU_ASSERT_TRUE(is_open(0, WAIT_WRITE, lock, 0, none));
	CU_ASSERT_TRUE(is_open(0, WAIT_WRITE, lock, WAITS_WRITER, none));
	CU_ASSERT_FALSE(is_open(0, WAIT_WRITE, lock, WAITS_WRITER | 1, none));
	CU_ASSERT_FALSE(is_open(0, WAIT_WRITE, lock, WRITES, none));
	/* Managed ids count from 1: it is itself who may write later, and is counted. */
	CU_ASSERT_TRUE(is_open(0, WAIT_WRITE, lock, WAITS_WRITER | 1, 1));
	CU_ASSERT_FALSE(is_open(0, WAIT_WRITE, lock, WAITS_WRITER | 2, 1));
	CU_ASSERT_TRUE(is_open(1, WAIT_READ, lock, 3, none));
	CU_ASSERT_FALSE(is_open(1, WAIT_READ, lock, WAITS_WRITER | 3, none));
	CU_ASSERT_TRUE(is_open(1, WAIT_UPGRADE, lock, 3, none));
	CU_ASSERT_FALSE(is_open(1, WAIT_UPGRADE, lock, 3, 1));
	rows[1].kind = WAIT_EVENT;
	CU_ASSERT_FALSE(wait_lock_is_open(&waits, &rows[1]));
}

SUITE(.name = "wait_readers", .set_up = set_up, .tear_down = tear_down)
