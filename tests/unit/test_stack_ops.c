/* SPDX-License-Identifier: MIT */
#include "stack/walker.h"
#include "support/assert_more.h"
#include "support/fake_stack.h"
#include "support/suite.h"

/* A runtime that knows nothing of its stacks but code, unwind data and GCInfo. */
static const struct stack_ops nothing = { .frames = NULL };

/* Walk the thread of @p stack as if its runtime had those functions. */
static struct thread_stack walk_with(struct fake_stack *stack, const struct stack_ops *ops)
{
	static const struct stack_options options = { .conservative = false };
	struct job job = { .workers = 1 };
	struct stack_walker *walker = NULL;
	struct thread_stack ret = { 0 };
	CU_ASSERT_FATAL(stack_walker_create(stack->runtime, fake_heap(stack->fake), &walker,
					    NULL) == HD_OK);
	walker->ops = ops ? ops : walker->ops;
	CU_ASSERT_FATAL(stack_walk(walker, stack->thread, &options, &job, &ret, NULL) == HD_OK);
	stack_walker_destroy(walker);
	return ret;
}

TEST(a_runtime_without_frames_has_its_managed_frames)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t object = fake_object(fake, fake->object_type, 0);
	struct fake_stack *stack = fake_stack_create(fake);
	uint64_t main = fake_method(stack, &(struct fake_method){ .slots = 1 });
	uint64_t sp = FAKE_STACK + 0x8000, next = fake_frame(stack, sp, 0, fake_call(main, 2));
	uint64_t after = fake_frame(stack, next, 0, FAKE_NATIVE), later = after + 0x100;
	fake_poke_u64(stack->memory, sp, object);
	/* CoreCLR goes on from this Frame; without it, native code ends the walk. */
	fake_inlined_call(stack, after + 0x40, fake_call(main, 3), later, fake_rbp(later));
	(void)fake_frame(stack, later, 0, FAKE_NATIVE);
	fake_stop_at(stack, fake_call(main, 1), sp, fake_rbp(sp));
	struct thread_stack all = walk_with(stack, NULL), few = walk_with(stack, &nothing);
	ASSERT_UINT(all.frames_count, 4);
	ASSERT_UINT(all.managed_count, 3);
	ASSERT_UINT(few.frames_count, 2);
	ASSERT_UINT(few.managed_count, 2);
	CU_ASSERT(!few.is_missing && !few.is_partial);
	ASSERT_UINT(few.frames[0].sp, sp);
	ASSERT_UINT(few.frames[1].sp, next);
	ASSERT_UINT_FATAL(few.roots_count, 1);
	ASSERT_UINT(few.roots[0].value, object);
	ASSERT_UINT(few.roots[0].address, sp);
	thread_stack_deinit(&all);
	thread_stack_deinit(&few);
	fake_stack_destroy(stack);
	fake_clr_destroy(fake);
}

/* Its threads may have no registers: there is nothing to begin with. */
TEST(a_runtime_without_frames_needs_registers)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fake_stack *stack = fake_stack_create(fake);
	fake->target.threads.count = 0;
	struct thread_stack few = walk_with(stack, &nothing);
	CU_ASSERT(few.is_missing);
	ASSERT_UINT(few.frames_count, 0);
	thread_stack_deinit(&few);
	fake_stack_destroy(stack);
	fake_clr_destroy(fake);
}

SUITE(.name = "stack_ops")
