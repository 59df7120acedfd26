/* SPDX-License-Identifier: MIT */
#include "analysis/async/async_graph.h"
#include "hangs/verdicts.h"
#include "hangs/wait_kind.h"
#include "hangs/wait_several.h"
#include "hangs/wait_tasks.h"
#include "runtime/coreclr/threads/sync_block.h"
#include "runtime/thread_state.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"

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
		{ "System.Threading.WaitHandle.WaitOneNoCheck", WAIT_HANDLE },
		{ "System.Threading.WaitHandle.WaitAny", WAIT_ANY_HANDLE },
		{ "System.Threading.WaitHandle.WaitAll", WAIT_ALL_HANDLES },
		{ "System.Threading.WaitHandle.WaitMultiple", WAIT_SOME_HANDLES },
		{ "System.Threading.SpinLock.ContinueTryEnter", WAIT_SPIN_LOCK },
		{ "System.Threading.ReaderWriterLockSlim+SpinLock.EnterSpin", WAIT_SPIN },
		{ "System.Threading.SpinWait.SpinOnceCore", WAIT_SPIN },
		{ "System.Threading.Thread.LongSpinWaitInternal", WAIT_SPIN },
		{ "System.Threading.CancellationTokenSource+Registrations.WaitForCallbackToComplete",
		  WAIT_CALLBACK },
		{ "System.Diagnostics.Process.WaitForExitCore", WAIT_PROCESS },
		{ "System.Diagnostics.Process.WaitForExitAsync", WAIT_NONE },
		{ "System.Threading.Tasks.Task.InnerInvoke", WAIT_NONE },
		{ "System.Threading.Tasks.Task<System.Int32>.InnerInvoke", WAIT_NONE },
		{ "System.Threading.Tasks.Task.WaitAsync", WAIT_NONE },
		{ "System.Threading.SemaphoreSlim.WaitAsyncCore", WAIT_NONE },
		{ "System.Runtime.CompilerServices.TaskAwaiter.GetResult", WAIT_TASK },
		{ "System.Runtime.CompilerServices.TaskAwaiter.UnsafeOnCompletedInternal",
		  WAIT_NONE },
		{ "System.Runtime.CompilerServices.TaskAwaiter<System.Int32>.OnCompleted",
		  WAIT_NONE },
		{ "System.Threading.Monitor.Exit", WAIT_NONE },
		{ "Shop.Lock.Enter", WAIT_NONE },
		{ "", WAIT_NONE },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ASSERT_UINT(wait_kind_of_method(cases[i].method), cases[i].kind);
	for (unsigned int kind = 0; kind < WAIT_KINDS; kind++)
		CU_ASSERT(wait_kind_name(kind) && *wait_kind_name(kind));
}

#define NODES 8u

/* Threads and async methods, of which number i waits for number owners[i] (or for nobody). */
static void check_cycles(size_t threads, const size_t *owners, size_t cycles, size_t longest,
			 size_t followers)
{
	struct thread_wait rows[NODES] = { 0 };
	struct async_node boxes[NODES] = { 0 };
	struct wait_edge edges[NODES];
	struct async_graph graph = { .rows = boxes, .rows_count = NODES - threads };
	struct waits waits = { .rows = rows, .count = threads, .edges = edges, .async = &graph };
	for (uint32_t i = 0; i < NODES; i++) {
		bool is_none = owners[i] >= NODES;
		boxes[i].outer = ASYNC_NO_NODE;
		edges[i] = (struct wait_edge){ .to = is_none ? WAIT_NOBODY : (uint32_t)owners[i],
					       .is_probable = i == 0 };
	}
	struct deadlocks found;
	ASSERT_UINT(deadlocks_find(&waits, &found, NULL), HD_OK);
	ASSERT_UINT(found.count, cycles);
	size_t most = 0, all = 0;
	for (size_t i = 0; i < found.count; i++) {
		const struct deadlock *cycle = &found.rows[i];
		size_t in_threads = 0;
		bool has_first = false;
		most = cycle->count > most ? cycle->count : most;
		all += cycle->following_threads + cycle->following_chains;
		/* Each waits for the next one. */
		for (size_t k = 0; k < cycle->count; k++) {
			uint32_t node = found.members[cycle->begin + k];
			ASSERT_UINT(edges[node].to,
				    found.members[cycle->begin + (k + 1) % cycle->count]);
			in_threads += wait_node_thread(&waits, node) != NULL;
			has_first |= node == 0;
			CU_ASSERT(!wait_node_thread(&waits, node) !=
				  !wait_node_method(&waits, node));
		}
		ASSERT_UINT(cycle->threads, in_threads);
		ASSERT_UINT(cycle->is_probable, has_first);
	}
	ASSERT_UINT(most, longest);
	ASSERT_UINT(all, followers);
	deadlocks_deinit(&found);
}

TEST(cycles_of_who_waits_are_deadlocks)
{
	const size_t none = NODES;
	const size_t nobody[NODES] = { none, none, none, none, none, none, none, none };
	const size_t chain[NODES] = { 1, 2, 3, 4, 5, 6, 7, none };
	const size_t itself[NODES] = { none, none, none, 3, none, none, none, none };
	const size_t two[NODES] = { 1, 0, none, none, none, none, none, none };
	const size_t all[NODES] = { 1, 2, 3, 4, 5, 6, 7, 0 };
	const size_t led_to[NODES] = { 1, 2, 1, 0, 3, 2, none, 6 };
	const size_t several[NODES] = { 1, 0, 3, 4, 2, 2, 0, 6 };
	for (size_t threads = 0; threads <= NODES; threads++) {
		check_cycles(threads, nobody, 0, 0, 0);
		check_cycles(threads, chain, 0, 0, 0);
		check_cycles(threads, itself, 1, 1, 0);
		check_cycles(threads, two, 1, 2, 0);
		check_cycles(threads, all, 1, 8, 0);
		check_cycles(threads, led_to, 1, 2, 4);
		check_cycles(threads, several, 2, 3, 3);
	}
}

/* Nodes, each of which waits for one other, for all of several, or for any of them. */
struct wait_puzzle {
	struct waits waits;
	struct thread_wait rows[NODES];
	struct wait_edge edges[NODES], parts[NODES * NODES];
	struct wait_several several[NODES];
};

static void puzzle_init(struct wait_puzzle *puzzle)
{
	*puzzle = (struct wait_puzzle){ 0 };
	puzzle->waits = (struct waits){
		.rows = puzzle->rows,
		.count = NODES,
		.edges = puzzle->edges,
		.several = { .rows = puzzle->several, .parts = puzzle->parts },
	};
	for (size_t i = 0; i < NODES; i++)
		puzzle->edges[i].to = WAIT_NOBODY;
}

/* Node @p node waits for the nodes of the bits of @p to; NODES is one that is not known. */
static void puzzle_add(struct wait_puzzle *puzzle, uint32_t node, bool is_any, unsigned int to,
		       bool is_probable)
{
	struct wait_several_list *list = &puzzle->waits.several;
	struct wait_several *row = &puzzle->several[list->rows_count++];
	*row = (struct wait_several){ .node = node, .is_any = is_any, .begin = list->parts_count };
	for (uint32_t i = 0; i <= NODES; i++) {
		if (to >> i & 1) {
			puzzle->parts[list->parts_count++] =
				(struct wait_edge){ .to = i == NODES ? WAIT_NOBODY : i,
						    .is_probable = is_probable };
		}
	}
	row->count = list->parts_count - row->begin;
}

/* Can it never go on, if @p among cannot?  By what the words mean. */
static bool never_goes_on(const struct wait_puzzle *puzzle, uint32_t node, unsigned int among,
			  bool only_sure)
{
	const struct wait_several *row = wait_node_several(&puzzle->waits, node);
	const struct wait_edge *edges = row ? &puzzle->parts[row->begin] : &puzzle->edges[node];
	size_t count = row ? row->count : 1, stuck = 0;
	for (size_t i = 0; i < count; i++) {
		stuck += edges[i].to != WAIT_NOBODY && among >> edges[i].to & 1 &&
			 !(only_sure && edges[i].is_probable);
	}
	return row && row->is_any ? count && stuck == count : stuck > 0;
}

/* The largest set of nodes of which each one can never go on because of others of the set. */
static unsigned int stuck_nodes(const struct wait_puzzle *puzzle, bool only_sure)
{
	unsigned int among = (1u << NODES) - 1, last = 0;
	while (among != last) {
		last = among;
		for (uint32_t i = 0; i < NODES; i++) {
			if (!never_goes_on(puzzle, i, among, only_sure))
				among &= ~(1u << i);
		}
	}
	return among;
}

/* Chooses, and compares the cycles with what must be stuck. */
static void check_puzzle(struct wait_puzzle *puzzle)
{
	unsigned int stuck = stuck_nodes(puzzle, false), sure = stuck_nodes(puzzle, true);
	struct deadlocks found;
	size_t certain = 0;
	ASSERT_UINT(wait_choose_edges(&puzzle->waits, NULL), HD_OK);
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t to = puzzle->edges[i].to;
		bool goes_there = to != WAIT_NOBODY && (stuck >> to & 1);
		ASSERT_UINT(goes_there, stuck >> i & 1);
	}
	ASSERT_UINT(deadlocks_find(&puzzle->waits, &found, NULL), HD_OK);
	ASSERT_UINT(found.count > 0, stuck != 0);
	for (size_t i = 0; i < found.count; i++) {
		const struct deadlock *cycle = &found.rows[i];
		certain += !cycle->is_probable;
		for (size_t k = 0; k < cycle->count; k++) {
			uint32_t node = found.members[cycle->begin + k];
			ASSERT_UINT(sure >> node & 1, !cycle->is_probable);
		}
	}
	ASSERT_UINT(certain > 0, sure != 0);
	deadlocks_deinit(&found);
}

TEST(who_needs_all_hangs_with_one_and_who_needs_any_with_all)
{
	struct wait_puzzle puzzle;
	for (unsigned int is_any = 0; is_any < 2; is_any++) {
		/* Node 0 waits for 1 and 2; only 1 waits for 0. */
		puzzle_init(&puzzle);
		puzzle_add(&puzzle, 0, is_any, 1u << 1 | 1u << 2, false);
		puzzle.edges[1].to = 0;
		ASSERT_UINT(stuck_nodes(&puzzle, false), is_any ? 0 : 3);
		check_puzzle(&puzzle);
		ASSERT_UINT(puzzle.edges[0].to, is_any ? WAIT_NOBODY : 1);
		/* Now 2 does, too. */
		puzzle_init(&puzzle);
		puzzle_add(&puzzle, 0, is_any, 1u << 1 | 1u << 2, false);
		puzzle.edges[1].to = puzzle.edges[2].to = 0;
		ASSERT_UINT(stuck_nodes(&puzzle, false), 7);
		check_puzzle(&puzzle);
		/* A third one is not known. */
		puzzle_init(&puzzle);
		puzzle_add(&puzzle, 0, is_any, 1u << 1 | 1u << 2 | 1u << NODES, false);
		puzzle.edges[1].to = puzzle.edges[2].to = 0;
		ASSERT_UINT(stuck_nodes(&puzzle, false), is_any ? 0 : 7);
		check_puzzle(&puzzle);
		/* It waits for itself only. */
		puzzle_init(&puzzle);
		puzzle_add(&puzzle, 3, is_any, 1u << 3, false);
		check_puzzle(&puzzle);
		ASSERT_UINT(puzzle.edges[3].to, 3);
	}
	/* The one of all that is not stuck comes first; a probable one is not preferred. */
	puzzle_init(&puzzle);
	puzzle_add(&puzzle, 4, false, 1u << 2 | 1u << 5 | 1u << 6, false);
	puzzle.parts[1].is_probable = true;
	puzzle.edges[5].to = puzzle.edges[6].to = 4;
	check_puzzle(&puzzle);
	ASSERT_UINT(puzzle.edges[4].to, 6);
}

TEST(an_edge_that_is_also_a_part_counts_once)
{
	struct wait_puzzle puzzle;
	puzzle_init(&puzzle);
	/* Node 0 needs 1, which can go on, and 2, which waits for 0. */
	puzzle_add(&puzzle, 0, false, 1u << 1 | 1u << 2, false);
	puzzle.edges[0].to = 1;
	puzzle.edges[2].to = 0;
	ASSERT_UINT(stuck_nodes(&puzzle, false), 1u << 0 | 1u << 2);
	check_puzzle(&puzzle);
	ASSERT_UINT(puzzle.edges[0].to, 2);
}

TEST(a_place_to_run_counts_only_when_its_thread_hangs)
{
	struct wait_puzzle puzzle;
	for (unsigned int hangs = 0; hangs < 2; hangs++) {
		puzzle_init(&puzzle);
		puzzle_add(&puzzle, 0, false, 1u << 1, true);
		puzzle.parts[0].returns_to_thread = true;
		if (hangs)
			puzzle.edges[1].to = 0;
		check_puzzle(&puzzle);
		ASSERT_UINT(puzzle.edges[0].to, hangs ? 1 : WAIT_NOBODY);
	}
}

TEST(chosen_edges_of_any_graph_have_cycles_where_nodes_are_stuck)
{
	uint64_t random = 88172645463325252u;
	struct wait_puzzle puzzle;
	for (unsigned int turn = 0; turn < 20000; turn++) {
		puzzle_init(&puzzle);
		for (uint32_t i = 0; i < NODES; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			unsigned int to = random >> 8 & random >> 20 & ((2u << NODES) - 1);
			bool is_probable = (random >> 40 & 7) == 0;
			if (random & 3) {
				puzzle_add(&puzzle, i, random & 1, to, is_probable);
			} else if (random & 4) {
				puzzle.edges[i] =
					(struct wait_edge){ .to = random >> 32 & (NODES - 1),
							    .is_probable = is_probable };
			}
		}
		check_puzzle(&puzzle);
	}
}

TEST(a_way_is_probable_from_its_first_node_to_its_last_probable_edge)
{
	struct wait_puzzle puzzle;
	uint32_t ends[NODES];
	bool are_probable[NODES];
	/* 7 -> 6 -> 5 => 4 -> 3; 2 => 7; 1 -> 3; 0 waits for itself. */
	static const uint32_t to[NODES] = { 0, 3, 7, WAIT_NOBODY, 3, 4, 5, 6 };
	static const bool expected[NODES] = { [2] = true, [5] = true, [6] = true, [7] = true };
	puzzle_init(&puzzle);
	for (uint32_t i = 0; i < NODES; i++)
		puzzle.edges[i] =
			(struct wait_edge){ .to = to[i], .is_probable = i == 5 || i == 2 };
	wait_ends(&puzzle.waits, ends);
	ASSERT_UINT_FATAL(wait_ways(&puzzle.waits, ends, are_probable, NULL), HD_OK);
	for (uint32_t i = 0; i < NODES; i++)
		ASSERT_UINT(are_probable[i], expected[i]);
	/* An edge that leads nowhere is on no way. */
	puzzle.edges[3].is_probable = true;
	puzzle.edges[2].is_probable = puzzle.edges[5].is_probable = false;
	ASSERT_UINT_FATAL(wait_ways(&puzzle.waits, ends, are_probable, NULL), HD_OK);
	for (uint32_t i = 0; i < NODES; i++)
		CU_ASSERT_FALSE(are_probable[i]);
}

TEST(methods_tell_that_a_thread_runs_a_task)
{
	static const struct {
		const char *method;
		bool is_runner;
	} cases[] = {
		{ "System.Threading.Tasks.Task.ExecuteWithThreadLocal", true },
		{ "System.Threading.Tasks.Task.InnerInvoke", true },
		{ "System.Threading.Tasks.Task<System.Int32>.InnerInvoke", true },
		{ "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>+"
		  "AsyncStateMachineBox<Shop.Order+<Place>d__2>.MoveNext",
		  true },
		{ "System.Threading.Tasks.Task.Wait", false },
		{ "System.Threading.Tasks.Task.get_Result", false },
		{ "Shop.Task.InnerInvoke", false },
		{ "MoveNext", false },
		{ "", false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ASSERT_UINT(wait_runs_task(cases[i].method), cases[i].is_runner);
}

/* Find what fake_sync_block() makes, at the offsets of doc/coreclr.md 7.4. */
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
static unsigned int count_waiters(const struct runtime *runtime, uint64_t block, unsigned int limit)
{
	uint64_t cursor = 0, thread = 0;
	unsigned int count = 0;
	while (count < limit && runtime_pulse_waiter(runtime, block, &cursor, &thread))
		ASSERT_UINT(thread, 0x1000u + count++);
	return count;
}

TEST(a_queue_of_monitor_wait_ends_where_it_is_broken)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t object = fake_object(fake, fake->object_type, 0);
	uint64_t block = block_of(fake, fake_sync_block(fake, object));
	struct runtime *runtime = fake_runtime(fake);
	ASSERT_UINT(count_waiters(runtime, block, 10), 0);
	uint64_t first = make_link(fake, block, 0x1000),
		 second = make_link(fake, block | 1, 0x1001);
	uint64_t other = make_link(fake, block + 8, 0x1002);
	fake_poke_u64(&fake->memory, block + 72, first);
	ASSERT_UINT(count_waiters(runtime, block, 10), 1);
	fake_poke_u64(&fake->memory, first, second);
	ASSERT_UINT(count_waiters(runtime, block, 10), 2);
	/* of another block, unaligned, not there */
	fake_poke_u64(&fake->memory, second, other);
	ASSERT_UINT(count_waiters(runtime, block, 10), 2);
	fake_poke_u64(&fake->memory, second, first + 1);
	ASSERT_UINT(count_waiters(runtime, block, 10), 2);
	fake_poke_u64(&fake->memory, second, 16);
	ASSERT_UINT(count_waiters(runtime, block, 10), 2);
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

TEST(a_queue_with_a_cycle_leaves_the_others_whole)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t threads[3], blocks[2];
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t object = fake_object(fake, fake->object_type, 0);
		blocks[i] = block_of(fake, fake_sync_block(fake, object));
	}
	for (unsigned int i = 0; i < 3; i++)
		threads[i] = fake_thread(fake)->address;
	uint64_t link = make_link(fake, blocks[0], threads[0]);
	fake_poke_u64(&fake->memory, blocks[0] + 72, link);
	fake_poke_u64(&fake->memory, link, link);
	uint64_t first = make_link(fake, blocks[1], threads[2]);
	fake_poke_u64(&fake->memory, blocks[1] + 72, first);
	fake_poke_u64(&fake->memory, first, make_link(fake, blocks[1], threads[1]));
	struct waits *waits;
	ASSERT_UINT_FATAL(waits_create(fake_heap(fake), NULL, &waits, NULL), HD_OK);
	ASSERT_UINT_FATAL(waits->monitors.rows_count, 2);
	for (unsigned int i = 0; i < 3; i++)
		CU_ASSERT_PTR_EQUAL(waits->rows[i].pulse, &waits->monitors.rows[i > 0]);
	waits_destroy(waits);
	fake_clr_destroy(fake);
}

TEST(a_monitor_that_is_not_held_has_no_owner)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct sync_block read;
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint32_t index = fake_sync_block(fake, fake_object(fake, fake->object_type, 0));
	uint64_t block = block_of(fake, index);
	fake_poke_u64(&fake->memory, block + 16, fake_thread(fake)->os_id);
	struct runtime *runtime = fake_heap(fake)->runtime;
	/* Threads of a fake runtime are not sorted. */
	runtime->threads.os_order = mem_calloc(1, sizeof(*runtime->threads.os_order));
	CU_ASSERT_PTR_NOT_NULL_FATAL(runtime->threads.os_order);
	CU_ASSERT(runtime_sync_block(runtime, index, &read));
	CU_ASSERT_PTR_NULL(read.owner);
	fake_poke_u32(&fake->memory, block, 1);
	CU_ASSERT(runtime_sync_block(runtime, index, &read));
	CU_ASSERT_PTR_EQUAL(read.owner, runtime_thread_at(runtime, 0));
	fake_clr_destroy(fake);
}

TEST(where_a_thread_waits_is_the_caller_of_the_wait)
{
	struct stack_frame frames[] = {
		{ .kind = STACK_EXPLICIT, .method_desc = 0x1000 },
		{ .kind = STACK_MANAGED, .method_desc = 0x2000 },
		{ .kind = STACK_MANAGED, .method_desc = 0x3000 },
		{ .kind = STACK_MANAGED, .method_desc = 0x4000, .is_dead = true },
		{ .kind = STACK_MANAGED, .method_desc = 0x5000 },
		{ .kind = STACK_MANAGED, .method_desc = 0x6000 },
	};
	struct thread_wait wait = {
		.kind = WAIT_TASK,
		.stack = { .frames = frames, .frames_count = sizeof(frames) / sizeof(frames[0]) },
		.call = 0x1000,
		.wait_end = 3,
		.user_frame = 5,
	};
	ASSERT_UINT(wait_method(&wait), 0x6000);
	/* All methods are the framework's. */
	wait.user_frame = WAIT_NO_FRAME;
	ASSERT_UINT(wait_method(&wait), 0x5000);
	wait.kind = WAIT_IDLE;
	ASSERT_UINT(wait_method(&wait), 0x2000);
	/* The stack could not be walked further. */
	wait.kind = WAIT_TASK;
	wait.stack.frames_count = 3;
	ASSERT_UINT(wait_method(&wait), 0);
	wait.wait_end = WAIT_NO_FRAME;
	ASSERT_UINT(wait_method(&wait), 0x2000);
	wait.kind = WAIT_CALL;
	ASSERT_UINT(wait_method(&wait), 0x1000);
}

#define WORKERS 6u

TEST(workers_without_a_known_method_are_not_alike)
{
	static const struct runtime_thread worker = { .state = THREAD_STATE_POOL_WORKER }, other;
	/* In which they wait; 0: not known. */
	static const uint64_t methods[WORKERS] = { 0x1000, 0, 0x2000, 0, 0x1000, 0x1000 };
	struct stack_frame frames[WORKERS];
	struct thread_wait rows[WORKERS];
	const struct waits waits = { .rows = rows, .count = WORKERS };
	for (size_t i = 0; i < WORKERS; i++) {
		frames[i] =
			(struct stack_frame){ .kind = STACK_MANAGED, .method_desc = methods[i] };
		rows[i] = (struct thread_wait){
			.thread = &worker,
			.kind = WAIT_TASK,
			.stack = { .frames = &frames[i], .frames_count = methods[i] != 0 },
			.wait_end = WAIT_NO_FRAME,
			.user_frame = methods[i] ? 0 : WAIT_NO_FRAME,
		};
	}
	ASSERT_UINT(workers_alike(&waits, &rows[0]), 3);
	ASSERT_UINT(workers_alike(&waits, &rows[2]), 1);
	ASSERT_UINT(workers_alike(&waits, &rows[1]), 0);
	/* One is not a worker, and one does not wait. */
	rows[4].thread = &other;
	rows[5].kind = WAIT_IDLE;
	ASSERT_UINT(workers_alike(&waits, &rows[0]), 1);
}

SUITE(.name = "waits")
