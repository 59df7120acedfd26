/* SPDX-License-Identifier: MIT */
/* Threads that a container and what is around it call by different ids. */
#include "arch/x86_64/register_table.h"
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/threads/thread.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"

#define THREADS 5u

struct fixture {
	struct fake_clr *fake;
	struct runtime *runtime;
	struct target_thread threads[THREADS];
};

/* The runtime knows them as 1 to 5; the target has as many. */
static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){ .fake = fake_clr_create(NULL) };
	for (unsigned int i = 0; i < THREADS; i++)
		fake_thread(fixture->fake)->os_id = i + 1;
	fixture->runtime = fake_heap(fixture->fake)->runtime;
	fixture->fake->target.threads.rows = fixture->threads;
	fixture->fake->target.threads.count = THREADS;
	for (unsigned int i = 0; i < THREADS; i++)
		fixture->threads[i].tid = (int32_t)(700 + i);
}

static void end(struct fixture *fixture)
{
	fixture->fake->target.threads.rows = NULL;
	fixture->fake->target.threads.count = 0;
	findings_deinit(&fixture->fake->target.findings);
	fake_clr_destroy(fixture->fake);
}

/* Thread.m_CacheStackBase, m_CacheStackLimit (threads.h of 10): the stack of thread @p index. */
static uint64_t give_stack(struct fixture *fixture, unsigned int index)
{
	uint64_t limit = 0x7f0000000000 + (uint64_t)0x100000 * index;
	uint64_t thread = fixture->fake->threads[index].address;
	fake_poke_u64(&fixture->fake->memory, thread + 120, limit + 0x100000);
	fake_poke_u64(&fixture->fake->memory, thread + 128, limit);
	return limit;
}

static void match(struct fixture *fixture)
{
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(thread_ids_match(fixture->runtime, &err), HD_OK);
}

/* Seen from around a container: registers are known by the id outside, which the runtime does not know. */
TEST(a_process_knows_both_ids)
{
	struct fixture fixture;
	begin(&fixture);
	fixture.fake->target.kind = TARGET_PROCESS;
	for (unsigned int i = 0; i < THREADS; i++)
		fixture.threads[i].inner_tid = (int32_t)i + 1;
	/* Another thread of the process is called 2 outside: no number is replaced twice. */
	fixture.threads[0].tid = 2;
	match(&fixture);
	for (unsigned int i = 0; i < THREADS; i++)
		ASSERT_UINT(fixture.runtime->threads.rows[i].os_id,
			    (uint64_t)fixture.threads[i].tid);
	ASSERT_UINT(fixture.fake->target.findings.count, 0);
	end(&fixture);
}

/* A core has one kind of ids, but each thread is on a stack of its own. */
TEST(stacks_tell_the_threads_of_a_core)
{
	struct fixture fixture;
	begin(&fixture);
	for (unsigned int i = 0; i < THREADS; i++) {
		uint64_t limit = give_stack(&fixture, i);
		/* In another order than the runtime has; the limit itself belongs to a stack. */
		struct target_thread *thread = &fixture.threads[THREADS - 1 - i];
		thread->registers[REGISTER_RSP] = limit + (uint64_t)0x8000 * i;
	}
	/* One is called 2 outside, which is a number inside, too: of one that is on no stack of its own. */
	fixture.threads[0].tid = 2;
	fixture.threads[3].registers[REGISTER_RSP] = 0x1000;
	match(&fixture);
	ASSERT_UINT(fixture.runtime->threads.rows[0].os_id, 704);
	ASSERT_UINT(fixture.runtime->threads.rows[1].os_id, 0);
	ASSERT_UINT(fixture.runtime->threads.rows[2].os_id, 702);
	ASSERT_UINT(fixture.runtime->threads.rows[3].os_id, 701);
	ASSERT_UINT(fixture.runtime->threads.rows[4].os_id, 2);
	ASSERT_UINT_FATAL(fixture.fake->target.findings.count, 1);
	ASSERT_TEXT(finding_name(fixture.fake->target.findings.rows[0].kind), "thread-ids");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(fixture.fake->target.findings.rows[0].detail, "4 of 5 managed threads"));
	end(&fixture);
}

/* Where one of them is on the stack of its number, numbers are good: others may be on a signal's stack. */
TEST(ids_that_fit_stay)
{
	struct fixture fixture;
	begin(&fixture);
	for (unsigned int i = 0; i < THREADS; i++) {
		uint64_t limit = give_stack(&fixture, i);
		fixture.threads[i].tid = (int32_t)i + 1;
		fixture.threads[i].registers[REGISTER_RSP] = i ? 0x1000 : limit + 8;
	}
	match(&fixture);
	for (unsigned int i = 0; i < THREADS; i++)
		ASSERT_UINT(fixture.runtime->threads.rows[i].os_id, i + 1);
	ASSERT_UINT(fixture.fake->target.findings.count, 0);
	end(&fixture);
}

/* Two of the target on one stack, a stack whose end is before its begin, one that has ended. */
TEST(what_is_not_clear_is_not_guessed)
{
	struct fixture fixture;
	begin(&fixture);
	uint64_t first = give_stack(&fixture, 0), second = give_stack(&fixture, 1);
	fixture.threads[0].registers[REGISTER_RSP] = first + 8;
	fixture.threads[1].registers[REGISTER_RSP] = first + 16;
	fixture.threads[2].registers[REGISTER_RSP] = second + 8;
	fixture.threads[3].registers[REGISTER_RSP] = give_stack(&fixture, 3) + 8;
	fake_poke_u64(&fixture.fake->memory, fixture.fake->threads[1].address + 120, second - 8);
	fixture.runtime->threads.rows[3].state = 0x800;
	match(&fixture);
	for (unsigned int i = 0; i < THREADS; i++)
		ASSERT_UINT(fixture.runtime->threads.rows[i].os_id, i + 1);
	ASSERT_UINT(fixture.fake->target.findings.count, 0);
	end(&fixture);
}

#define STORE       0x7e0000000000u
#define OBJECT_ROOM 0x1000u

/* A ThreadStore's list of the fixture's threads, with these managed ids. */
static void make_store(struct fixture *fixture, const uint32_t *ids)
{
	struct fake_memory *memory = &fixture->fake->memory;
	const struct runtime *runtime = fixture->runtime;
	uint64_t link = STORE + coreclr_offset(runtime, L_THREAD_STORE_FIRST);
	fake_map(memory, STORE, OBJECT_ROOM * (THREADS + 1));
	for (uint64_t i = 0; i < THREADS; i++) {
		uint64_t thread = STORE + OBJECT_ROOM * (i + 1);
		fake_poke_u64(memory, link, thread + coreclr_offset(runtime, L_THREAD_LINK));
		link = thread + coreclr_offset(runtime, L_THREAD_LINK);
		fake_poke_u32(memory, thread + coreclr_offset(runtime, L_THREAD_ID), ids[i]);
		fake_poke_u64(memory, thread + coreclr_offset(runtime, L_THREAD_OS_ID), 700 + i);
	}
	fake_poke_u64(memory, link, 0);
}

/* Where nothing tells the address of the ThreadStore it is what has threads that the target has. */
TEST(a_store_is_known_by_its_threads)
{
	static const struct {
		uint32_t ids[THREADS];
		bool is_store, may_not_match;
	} cases[] = {
		{ { 1, 2, 3, 4, 5 }, true, true },
		/* One whose id is damaged does not take the others away. */
		{ { 1, 2, UINT32_MAX, 4, 5 }, true, true },
		{ { 0, 2, 3, 4, 5 }, true, true },
		{ { 0, 2, UINT32_MAX, 4, 0 }, false, false },
		{ { 0, 0, 0, 0, 0 }, false, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture;
		begin(&fixture);
		make_store(&fixture, cases[i].ids);
		CU_ASSERT_EQUAL(thread_store_is(fixture.runtime, STORE, true), cases[i].is_store);
		CU_ASSERT_EQUAL(thread_store_is(fixture.runtime, STORE, false),
				cases[i].may_not_match);
		CU_ASSERT_FALSE(thread_store_is(fixture.runtime, STORE + 4, true));
		end(&fixture);
	}
}

/* Threads of which the target has none. */
TEST(a_store_of_other_threads_is_none)
{
	static const uint32_t ids[THREADS] = { 1, 2, 3, 4, 5 };
	struct fixture fixture;
	begin(&fixture);
	make_store(&fixture, ids);
	for (unsigned int i = 0; i < THREADS; i++)
		fixture.threads[i].tid = (int32_t)(900 + i);
	CU_ASSERT_FALSE(thread_store_is(fixture.runtime, STORE, true));
	CU_ASSERT(thread_store_is(fixture.runtime, STORE, false));
	end(&fixture);
}

SUITE(.name = "thread_ids")
