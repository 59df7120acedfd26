/* SPDX-License-Identifier: MIT */
/* Who waits, in groups by method and way. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_groups.h"
#include "support/assert_more.h"
#include "support/suite.h"

#define THREADS 40u

static struct stack_frame frames[THREADS];
static struct thread_wait rows[THREADS];
static struct async_graph async;

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
	const struct waits waits = { .rows = rows, .count = count, .async = &async };
	struct wait_groups groups;
	ASSERT_UINT_FATAL(wait_groups_find(&waits, &groups, NULL), HD_OK);
	return groups;
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
	make_rows((const uint64_t[]){ 8, 8, 8, 8, 8 }, 5, WAIT_SLEEP);
	rows[1].kind = rows[3].kind = WAIT_BARRIER;
	struct wait_groups groups = find(5);
	ASSERT_UINT_FATAL(groups.rows_count, 2);
	ASSERT_UINT(groups.rows[0].count, 3);
	ASSERT_UINT(groups.rows[1].count, 2);
	ASSERT_UINT(groups.rows[1].node, 1);
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
	make_rows(methods, THREADS, WAIT_EVENT);
	struct wait_groups groups = find(THREADS);
	ASSERT_UINT(groups.rows_count, WAIT_GROUPS_MAX);
	ASSERT_UINT(groups.rows[0].count, 11);
	ASSERT_UINT(groups.rows[0].node, 29);
	ASSERT_UINT(groups.others, 30 - WAIT_GROUPS_MAX);
}

SUITE(.name = "wait_groups")
