/* SPDX-License-Identifier: MIT */
/* Full queues in chains and rings. */
#include "analysis/async/async_graph.h"
#include "hangs/wait_things.h"
#include "support/assert_more.h"
#include "support/suite.h"

#define QUEUES 4u

static struct wait_things things;
static uint64_t read_after[WAIT_THINGS_MAX];

/* Full queues, of which nobody is known to read. */
static void set_up(void)
{
	things = (struct wait_things){ .rows_count = QUEUES };
	for (unsigned int i = 0; i < QUEUES; i++) {
		things.rows[i].kind = AWAIT_WRITE;
		read_after[i] = 0;
	}
}

/* Who waits for room in @p last reads from @p row. */
static void pass_on(unsigned int row, unsigned int last)
{
	read_after[last] |= UINT64_C(1) << row;
}

static void check_last(unsigned int row, uint32_t behind)
{
	for (unsigned int i = 0; i < QUEUES; i++)
		ASSERT_UINT(things.rows[i].stage.is_behind, i != row);
	ASSERT_UINT(things.rows[row].stage.queues_behind, behind);
}

TEST(the_last_queue_of_a_chain_has_all_others_behind_it)
{
	pass_on(3, 1);
	pass_on(1, 0);
	pass_on(0, 2);
	wait_stages_find(&things, read_after);
	check_last(2, QUEUES - 1);
	CU_ASSERT_FALSE(things.rows[2].stage.is_read_by_waiter);
}

TEST(the_first_row_stands_for_a_ring)
{
	for (unsigned int i = 0; i < QUEUES; i++)
		pass_on(i, (i + 1) % QUEUES);
	wait_stages_find(&things, read_after);
	check_last(0, QUEUES - 1);
	CU_ASSERT_TRUE(things.rows[0].stage.is_read_by_waiter);
}

TEST(a_queue_whose_reader_writes_to_it_is_not_behind_itself)
{
	pass_on(1, 1);
	wait_stages_find(&things, read_after);
	CU_ASSERT_FALSE(things.rows[1].stage.is_behind);
	CU_ASSERT_TRUE(things.rows[1].stage.is_read_by_waiter);
	ASSERT_UINT(things.rows[1].stage.queues_behind, 0);
}

TEST(a_queue_from_which_somebody_may_read_is_not_in_a_chain)
{
	pass_on(0, 1);
	things.rows[1].may_change = true;
	wait_stages_find(&things, read_after);
	CU_ASSERT_FALSE(things.rows[0].stage.is_behind);
}

TEST(what_is_not_full_is_not_in_a_chain)
{
	pass_on(0, 1);
	things.rows[0].kind = AWAIT_SOURCE;
	wait_stages_find(&things, read_after);
	CU_ASSERT_FALSE(things.rows[0].stage.is_behind);
	ASSERT_UINT(things.rows[1].stage.queues_behind, 0);
}

TEST(who_waits_until_a_full_channel_is_empty_waits_for_whoever_makes_room)
{
	for (unsigned int i = 0; i < 2; i++) {
		things.rows[i].kind = i ? AWAIT_WRITE : AWAIT_COMPLETION;
		things.rows[i].left = 3;
		things.rows[i].address = 8;
	}
	pass_on(0, 0);
	wait_stages_find(&things, read_after);
	CU_ASSERT_TRUE(things.rows[0].stage.is_behind);
	CU_ASSERT_FALSE(things.rows[0].stage.is_read_by_waiter);
	CU_ASSERT_FALSE(things.rows[1].stage.is_behind);
	ASSERT_UINT(things.rows[1].stage.queues_behind, 0);
}

SUITE(.name = "wait_stages", .set_up = set_up)
