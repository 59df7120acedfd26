/* SPDX-License-Identifier: MIT */
/* The explicit Frames of .NET 8 and 9, whose kinds have no numbers. */
#include "support/assert_more.h"
#include "support/stack_fixture.h"
#include "support/suite.h"

static void frames_of_older_runtimes_are_told_by_their_shape(void)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	fixture.stack->clr->major = 9;
	memset(fixture.stack->clr->frame_identifiers, 0,
	       sizeof(fixture.stack->clr->frame_identifiers));
	uint64_t thread = fixture.stack->thread->address;
	uint64_t helper = STACK_TOP + 0x400, variable = helper - 0x18, sp = STACK_TOP + 0x1000;
	/* The layout is still that of 10. */
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	fake_explicit(fixture.stack, helper, 0x7f123450);
	fake_poke_u64(fixture.memory, helper + 32, thread);
	fake_poke_u64(fixture.memory, helper + 232, variable);
	fake_poke_u64(fixture.memory, variable, fixture.object);
	stack_frames(&fixture, fixture.work, sp, 1);
	fake_inlined_call(fixture.stack, sp + 8, fake_call(fixture.work, 2), sp, fake_rbp(sp));
	fake_poke_u64(fixture.memory, sp + 8, 0x7f123460);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.frames_count, 3);
	ASSERT_TEXT(stack_frame_at(&fixture, 0)->name, "HelperMethodFrame");
	ASSERT_TEXT(stack_frame_at(&fixture, 1)->name, "InlinedCallFrame");
	ASSERT_UINT(stack_frame_at(&fixture, 2)->sp, sp);
	ASSERT_UINT(fixture.result.roots_count, 1);
	ASSERT_UINT(stack_root_at(&fixture, variable)->kind, STACK_ROOT_GC_FRAME);
	stack_end(&fixture);
}

/* It lies where the helper's return address is, which nothing looks at as a Frame's vtable. */
static void what_calls_a_throwing_helper_is_not_gone_back_to(void)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t saver = fake_method(fixture.stack, &(struct fake_method){ .saves_rbx = true });
	fixture.stack->clr->major = 9;
	memset(fixture.stack->clr->frame_identifiers, 0,
	       sizeof(fixture.stack->clr->frame_identifiers));
	fixture.stack->thread->is_cooperative = true;
	fake_stop_at(fixture.stack, FAKE_NATIVE + 0x40, STACK_TOP, fake_rbp(STACK_TOP + 8));
	fixture.stack->registers.registers[REGISTER_RBX] = fixture.object;
	fake_explicit(fixture.stack, STACK_TOP, 0);
	fake_poke_u64(fixture.memory, STACK_TOP, fake_call(saver, 2));
	fake_poke_u64(fixture.memory, STACK_TOP + 32, fixture.stack->thread->address);
	fake_frame(fixture.stack, STACK_TOP + 8, 0, FAKE_NATIVE);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_TEXT(stack_frame_at(&fixture, 0)->name, "HelperMethodFrame");
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, STACK_TOP + 8);
	CU_ASSERT(!stack_frame_at(&fixture, 1)->is_aborted);
	ASSERT_UINT(stack_root_at(&fixture, 0)->flags, 0);
	fake_poke_u32(fixture.memory, STACK_TOP + 24, 1); /* FRAME_ATTR_EXCEPTION */
	stack_again(&fixture);
	CU_ASSERT(stack_frame_at(&fixture, 1)->is_aborted);
	ASSERT_UINT(stack_root_at(&fixture, 0)->flags, STACK_ROOT_CONSERVATIVE);
	stack_end(&fixture);
}

static CU_TestInfo tests[] = {
	{ "frames_of_older_runtimes_are_told_by_their_shape",
	  frames_of_older_runtimes_are_told_by_their_shape },
	{ "what_calls_a_throwing_helper_is_not_gone_back_to",
	  what_calls_a_throwing_helper_is_not_gone_back_to },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	CU_SuiteInfo suites[] = {
		{ "stack_old", NULL, NULL, NULL, NULL, tests },
		CU_SUITE_INFO_NULL,
	};
	return suite_main(suites);
}
