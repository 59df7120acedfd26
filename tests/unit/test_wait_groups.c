/* SPDX-License-Identifier: MIT */
/* Who waits, in groups by method and way. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_groups.h"
#include "support/assert_more.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "util/alloc.h"

#define THREADS 40u

static struct stack_frame frames[THREADS];
static struct thread_wait rows[THREADS];
static struct wait_edge edges[THREADS];
static struct async_graph async;
static struct fake_tasks tasks;

static void set_up(void)
{
	tasks = fake_tasks_create();
	fake_types_attach(tasks.types);
	for (size_t i = 0; i < THREADS; i++)
		edges[i] = (struct wait_edge){ .to = WAIT_NOBODY };
}

static void tear_down(void)
{
	fake_tasks_destroy(&tasks);
}

static void make_rows(const uint64_t *methods, size_t count, enum wait_kind kind)
{
	for (size_t i = 0; i < count; i++) {
		frames[i] =
			(struct stack_frame){ .kind = STACK_MANAGED, .method_desc = methods[i] };
		rows[i] = (struct thread_wait){
			.kind = kind, .stack = { .frames = &frames[i], .frames_count = 1 }
		};
	}
}

static struct wait_groups find(size_t count)
{
	async.heap = fake_heap(tasks.fake);
	const struct waits waits = {
		.heap = async.heap, .rows = rows, .count = count, .edges = edges, .async = &async
	};
	struct wait_groups groups;
	ASSERT_UINT_FATAL(wait_groups_find(&waits, &groups, NULL), HD_OK);
	return groups;
}

/* Free the names that were made for the methods of the graph. */
static void free_graph(void)
{
	for (size_t i = 0; i < async.methods.rows_count; i++) {
		mem_free(async.methods.rows[i].name);
		mem_free(async.methods.rows[i].code);
	}
	async = (struct async_graph){ 0 };
}

TEST(the_largest_group_comes_first)
{
	make_rows((const uint64_t[]){ 24, 16, 8, 16, 24, 16 }, 6, WAIT_TASK);
	struct wait_groups groups = find(6);
	ASSERT_UINT_FATAL(groups.rows_count, 3);
	ASSERT_UINT(groups.rows[0].node, 1);
	ASSERT_UINT(groups.rows[0].count, 3);
	ASSERT_UINT(groups.rows[1].count, 2);
	ASSERT_UINT(groups.rows[2].count, 1);
	ASSERT_UINT(groups.threads, 6);
	ASSERT_UINT(groups.calls, 0);
}

TEST(who_does_not_wait_is_in_no_group)
{
	make_rows((const uint64_t[]){ 24, 16, 8, 16, 24, 16 }, 6, WAIT_IDLE);
	rows[2].kind = WAIT_NONE;
	rows[3].kind = WAIT_TASK;
	rows[4].kind = WAIT_TASK;
	rows[4].is_over = true;
	struct wait_groups groups = find(6);
	ASSERT_UINT_FATAL(groups.rows_count, 1);
	ASSERT_UINT(groups.rows[0].node, 3);
}

TEST(another_way_of_waiting_is_another_group)
{
	make_rows((const uint64_t[]){ 8, 8, 8, 8, 8 }, 5, WAIT_BARRIER);
	rows[1].kind = rows[3].kind = WAIT_LOCK;
	struct wait_groups groups = find(5);
	ASSERT_UINT_FATAL(groups.rows_count, 2);
	ASSERT_UINT(groups.rows[0].count, 3);
	ASSERT_UINT(groups.rows[1].count, 2);
	ASSERT_UINT(groups.rows[1].node, 1);
	ASSERT_UINT(wait_groups_told(&groups), 2);
}

TEST(what_only_the_program_can_end_comes_before_what_ends_by_itself)
{
	make_rows((const uint64_t[]){ 8, 8, 8, 8, 16, 16, 24, 32 }, 8, WAIT_SLEEP);
	rows[4].kind = rows[5].kind = WAIT_SOCKET;
	rows[6].kind = WAIT_LOCK;
	rows[7].user_frame = WAIT_NO_FRAME; /* a thread of the framework */
	struct wait_groups groups = find(8);
	ASSERT_UINT_FATAL(groups.rows_count, 4);
	ASSERT_UINT(groups.rows[0].node, 6);
	ASSERT_UINT(groups.rows[1].node, 4);
	ASSERT_UINT(groups.rows[2].node, 0);
	ASSERT_UINT(groups.rows[3].node, 7);
	ASSERT_UINT(wait_groups_told(&groups), 1);
}

TEST(who_waits_for_a_task_waits_for_what_ends_it)
{
	make_rows((const uint64_t[]){ 8, 16, 24, 32 }, 4, WAIT_TASK);
	rows[1].kind = WAIT_SLEEP;
	rows[3].kind = WAIT_LOCK;
	edges[0].to = 1;
	edges[2].to = 3;
	struct wait_groups groups = find(4);
	ASSERT_UINT_FATAL(groups.rows_count, 4);
	ASSERT_UINT(groups.rows[0].urgency, WAIT_FOR_PROGRAM);
	ASSERT_UINT(groups.rows[0].node, 3);
	ASSERT_UINT(groups.rows[1].urgency, WAIT_FOR_PROGRAM);
	ASSERT_UINT(groups.rows[1].node, 2);
	CU_ASSERT(groups.rows[1].is_for_known);
	ASSERT_UINT(groups.rows[2].urgency, WAIT_FOR_WORK);
	ASSERT_UINT(groups.rows[2].node, 1);
	ASSERT_UINT(groups.rows[3].node, 0);
	ASSERT_UINT(wait_groups_told(&groups), 1);
}

TEST(who_has_what_they_wait_for_is_told_if_it_is_one)
{
	make_rows((const uint64_t[]){ 8, 8, 16, 24 }, 4, WAIT_LOCK);
	rows[2].kind = WAIT_SLEEP;
	edges[0].to = edges[1].to = 2;
	struct wait_groups groups = find(4);
	ASSERT_UINT_FATAL(groups.rows_count, 3);
	ASSERT_UINT(groups.rows[0].holder, 2);
	ASSERT_UINT(groups.rows[1].holder, WAIT_NOBODY);
	edges[1].to = 3;
	groups = find(4);
	ASSERT_UINT(groups.rows[0].holder, WAIT_NOBODY);
}

/* Three calls: at a socket of another process, in a delay, and at a socket whose other end is here. */
TEST(a_socket_whose_other_end_is_here_comes_last)
{
	struct async_method methods[] = {
		{ .owner = CODE_OF_PROGRAM, .has_owner = true },
		{ .owner = CODE_OF_PROGRAM, .has_owner = true },
		{ .owner = CODE_OF_PROGRAM, .has_owner = true },
	};
	struct async_link links[] = { { 0x1000, 80, LINK_REMOTE },
				      { 0x2000, 443, LINK_REMOTE },
				      { 0x3000, 80, LINK_LOCAL } };
	struct async_node nodes[3];
	for (uint32_t i = 0; i < 3; i++) {
		nodes[i] = (struct async_node){
			.method = i,
			.next = ASYNC_NO_NODE,
			.outer = ASYNC_NO_NODE,
			.end = i,
			.wait = i == 1 ? AWAIT_DELAY : AWAIT_SOCKET,
			.object = i == 2 ? 0x1000 : 0x2000,
		};
	}
	async = (struct async_graph){ .rows = nodes,
				      .rows_count = 3,
				      .links = { .rows = links, .rows_count = 3 },
				      .methods = { .rows = methods, .rows_count = 3 } };
	struct wait_groups groups = find(0);
	ASSERT_UINT_FATAL(groups.rows_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		ASSERT_UINT(groups.rows[i].node, i);
	ASSERT_UINT(groups.rows[2].urgency, WAIT_FOR_ITSELF);
	/* The server's side: its own address is the other end of a client's socket. */
	nodes[2].object = 0x3000;
	groups = find(0);
	ASSERT_UINT(groups.rows[2].urgency, WAIT_FOR_ITSELF);
	free_graph();
}

TEST(the_object_is_told_if_all_wait_for_it)
{
	static const struct type type;
	make_rows((const uint64_t[]){ 8, 8, 16, 16 }, 4, WAIT_LOCK);
	for (size_t i = 0; i < 4; i++)
		rows[i].object =
			(struct object){ .address = i < 3 ? 0x1000 : 0x2000, .type = &type };
	struct wait_groups groups = find(4);
	ASSERT_UINT_FATAL(groups.rows_count, 2);
	ASSERT_UINT(groups.rows[0].object, 0x1000);
	ASSERT_UINT(groups.rows[1].object, 0);
}

TEST(smaller_groups_are_counted)
{
	uint64_t methods[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		methods[i] = i < 30 ? 8 * (i + 1) : 8 * 30;
	make_rows(methods, THREADS, WAIT_LOCK);
	struct wait_groups groups = find(THREADS);
	ASSERT_UINT(groups.rows_count, WAIT_GROUPS_MAX);
	ASSERT_UINT(groups.rows[0].count, 11);
	ASSERT_UINT(groups.rows[0].node, 29);
	ASSERT_UINT(groups.others, 30 - WAIT_GROUPS_MAX);
}

/* Two calls of one method of the program, which call methods of a library; and one that calls nothing. */
TEST(calls_say_in_which_method_of_a_library_they_end)
{
	struct async_method methods[] = {
		{ .owner = CODE_OF_PROGRAM, .has_owner = true },
		{ .owner = CODE_OF_FRAMEWORK, .has_owner = true },
		{ .owner = CODE_OF_FRAMEWORK, .has_owner = true },
	};
	struct async_node nodes[5];
	for (uint32_t i = 0; i < 5; i++) {
		bool is_inner = i == 1 || i == 3;
		nodes[i] = (struct async_node){
			.method = is_inner,
			.next = i == 0 || i == 2 ? i + 1 : ASYNC_NO_NODE,
			.outer = is_inner ? i - 1 : ASYNC_NO_NODE,
			.end = i == 0 || i == 2 ? i + 1 : i,
			.wait = i == 4 ? AWAIT_SEMAPHORE : AWAIT_READ,
		};
	}
	async = (struct async_graph){ .rows = nodes,
				      .rows_count = 5,
				      .methods = { .rows = methods, .rows_count = 3 } };
	struct wait_groups groups = find(0);
	ASSERT_UINT_FATAL(groups.rows_count, 2);
	for (size_t i = 0; i < 2; i++)
		ASSERT_UINT(groups.rows[i].inner, groups.rows[i].count == 2 ? 1 : ASYNC_NO_NODE);
	nodes[3].method = 2;
	groups = find(0);
	for (size_t i = 0; i < 2; i++)
		ASSERT_UINT(groups.rows[i].inner, ASYNC_NO_NODE);
	free_graph();
}

SUITE(.name = "wait_groups", .set_up = set_up, .tear_down = tear_down)
