/* SPDX-License-Identifier: MIT */
/* In which method most threads wait. */
#include "hangs/verdicts.h"
#include "support/assert_more.h"
#include "support/suite.h"

#define THREADS 6u

static struct stack_frame frames[THREADS];
static struct thread_wait rows[THREADS];

/* Threads in the methods 1, 2 and 3, which wait in the same way. */
static void make_rows(const uint64_t methods[THREADS], enum wait_kind kind)
{
	for (size_t i = 0; i < THREADS; i++) {
		frames[i] =
			(struct stack_frame){ .kind = STACK_MANAGED, .method_desc = methods[i] };
		rows[i] = (struct thread_wait){
			.kind = kind, .stack = { .frames = &frames[i], .frames_count = 1 }
		};
	}
}

static void check_most(size_t first, uint64_t count)
{
	const struct waits waits = { .rows = rows, .count = THREADS };
	const struct thread_wait *one;
	uint64_t found;
	ASSERT_UINT_FATAL(waits_most_alike(&waits, &one, &found, NULL), HD_OK);
	CU_ASSERT_PTR_EQUAL(one, first < THREADS ? &rows[first] : NULL);
	ASSERT_UINT(found, count);
}

TEST(the_method_in_which_most_threads_wait_is_found)
{
	make_rows((const uint64_t[]){ 3, 2, 1, 2, 3, 2 }, WAIT_TASK);
	check_most(1, 3);
}

TEST(threads_that_have_nothing_to_do_do_not_count)
{
	make_rows((const uint64_t[]){ 3, 2, 1, 2, 3, 2 }, WAIT_IDLE);
	rows[4].kind = WAIT_TASK;
	check_most(4, 1);
}

TEST(threads_that_sleep_do_not_count)
{
	make_rows((const uint64_t[]){ 1, 1, 1, 1, 1, 1 }, WAIT_SLEEP);
	check_most(THREADS, 0);
}

SUITE(.name = "verdicts")
