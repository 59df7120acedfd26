/* SPDX-License-Identifier: MIT */
/* Finds the frames that repeat on a stack, and the roots of a frame. */
#include "analysis/threads/frame_repeats.h"
#include "analysis/threads/frame_roots.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"

#define FRAMES 60u

static struct stack_frame frames[FRAMES];
static struct thread_stack stack;

/* Frames of methods that come again after @p period; the last one is another. */
static void make_frames(size_t period)
{
	for (size_t i = 0; i < FRAMES; i++)
		frames[i] = (struct stack_frame){ .kind = STACK_MANAGED, .ip = 1 + i % period };
	frames[FRAMES - 1].ip = FRAMES;
	stack = (struct thread_stack){ .frames = frames, .frames_count = FRAMES };
}

TEST(one_method_is_folded)
{
	size_t period = 0;
	make_frames(1);
	ASSERT_UINT(frame_repeats(&stack, 0, &period), 0);
	/* The last of those that are alike is shown. */
	ASSERT_UINT(frame_repeats(&stack, 1, &period), FRAMES - 3);
	ASSERT_UINT(period, 1);
}

TEST(whole_periods_are_folded)
{
	size_t period = 0;
	make_frames(3);
	ASSERT_UINT(frame_repeats(&stack, 2, &period), 0);
	ASSERT_UINT(frame_repeats(&stack, 3, &period), 51);
	ASSERT_UINT(period, 3);
}

TEST(few_frames_are_not)
{
	size_t period = 0;
	make_frames(1);
	stack.frames_count = 16;
	ASSERT_UINT(frame_repeats(&stack, 1, &period), 0);
	stack.frames_count = 17;
	ASSERT_UINT(frame_repeats(&stack, 1, &period), 15);
	make_frames(FRAME_PERIOD_MAX + 1);
	ASSERT_UINT(frame_repeats(&stack, FRAME_PERIOD_MAX + 1, &period), 0);
}

TEST(roots_are_sorted_by_frame)
{
	static struct stack_root rows[] = {
		{ .frame = 2, .value = 20 },          { .frame = 0, .value = 1 },
		{ .frame = UINT32_MAX, .value = 90 }, { .frame = 2, .value = 21 },
		{ .frame = 7, .value = 91 },
	};
	make_frames(1);
	stack.frames_count = 3;
	stack.roots = rows;
	stack.roots_count = 5;
	struct frame_roots roots;
	for (uint64_t nth = 1; nth < 3; nth++) {
		alloc_fail_at(nth);
		CU_ASSERT_EQUAL(frame_roots_init(&roots, &stack, NULL), HD_ERR_NOMEM);
		alloc_fail_at(0);
	}
	CU_ASSERT_EQUAL_FATAL(frame_roots_init(&roots, &stack, NULL), HD_OK);
	ASSERT_UINT(frame_roots_count(&roots, 0), 1);
	ASSERT_UINT(frame_roots_count(&roots, 1), 0);
	ASSERT_UINT_FATAL(frame_roots_count(&roots, 2), 2);
	ASSERT_UINT(frame_root(&roots, 2, 0)->value, 20);
	ASSERT_UINT(frame_root(&roots, 2, 1)->value, 21);
	/* Look for roots of no frame, and of one that is not there. */
	ASSERT_UINT_FATAL(frame_roots_count(&roots, 3), 2);
	ASSERT_UINT(frame_root(&roots, 3, 0)->value, 90);
	ASSERT_UINT(frame_root(&roots, 3, 1)->value, 91);
	frame_roots_deinit(&roots);
}

SUITE(.name = "frame_repeats")
