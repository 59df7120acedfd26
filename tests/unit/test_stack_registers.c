/* SPDX-License-Identifier: MIT */
/* Which registers of a frame are known, and where native frames belong. */
#include "arch/x86_64/frame_registers.h"
#include "stack/walker.h"
#include "support/assert_more.h"
#include "support/stack_fixture.h"
#include "support/suite.h"
#include "util/alloc.h"

static const struct stack_options all = { .no_roots = true, .registers = true, .native = true };

static void walk(struct stack_fixture *fixture)
{
	thread_stack_deinit(&fixture->result);
	fake_walk(fixture->stack, &all, &fixture->result);
}

/* Is register @p number of frame @p index known?  Then *@p ret is its value. */
static bool is_known(const struct stack_fixture *fixture, size_t index, unsigned int number,
		     uint64_t *ret)
{
	const struct stack_frame *frame = stack_frame_at(fixture, index);
	REQUIRE(fixture->result.registers);
	ASSERT_UINT_FATAL(frame->registers && frame->registers <= fixture->result.registers_count,
			  true);
	const struct frame_registers *registers = &fixture->result.registers[frame->registers - 1];
	*ret = registers->values[number];
	return registers->known & 1u << number;
}

static void check_known(const struct stack_fixture *fixture, size_t index, unsigned int number,
			uint64_t expected)
{
	uint64_t value = 0;
	CU_ASSERT(is_known(fixture, index, number, &value));
	ASSERT_UINT(value, expected);
}

TEST(a_call_preserves_some_registers)
{
	struct stack_fixture fixture;
	uint64_t value;
	stack_begin(&fixture);
	uint64_t saver = fake_method(fixture.stack, &(struct fake_method){ .saves_rbx = true });
	uint64_t next = fake_frame(fixture.stack, STACK_TOP, fake_rbp(STACK_TOP + FAKE_FRAME_SIZE),
				   fake_call(fixture.main, 2));
	fake_frame(fixture.stack, next, 0, FAKE_NATIVE);
	fake_poke_u64(fixture.memory, STACK_TOP + FAKE_LOCALS - 8, 0xb0b);
	fake_stop_at(fixture.stack, fake_call(saver, 1), STACK_TOP, fake_rbp(STACK_TOP));
	fixture.stack->registers.registers[REGISTER_RBX] = 0xb1b;
	fixture.stack->registers.registers[REGISTER_RDI] = 0xd1d;
	fixture.stack->registers.registers[REGISTER_R14] = 0x14;
	walk(&fixture);
	ASSERT_UINT(fixture.result.registers_count, 2);
	check_known(&fixture, 0, REG_RBX, 0xb1b);
	check_known(&fixture, 0, REG_RDI, 0xd1d);
	check_known(&fixture, 0, REG_R14, 0x14);
	check_known(&fixture, 0, REG_RSP, STACK_TOP);
	/* Its callee has saved rbx, left r14 alone, and may have changed rdi. */
	check_known(&fixture, 1, REG_RBX, 0xb0b);
	check_known(&fixture, 1, REG_R14, 0x14);
	check_known(&fixture, 1, REG_RSP, next);
	check_known(&fixture, 1, REG_RIP, fake_call(fixture.main, 2));
	CU_ASSERT(!is_known(&fixture, 1, REG_RDI, &value));
	CU_ASSERT(!is_known(&fixture, 1, REG_R8, &value));
	stack_end(&fixture);
}

TEST(frames_of_the_runtime_have_few_registers)
{
	struct stack_fixture fixture;
	uint64_t value;
	stack_begin(&fixture);
	uint64_t sp = stack_in_native_code(&fixture), frame_address = sp + 8;
	stack_frames(&fixture, fixture.work, sp, 2);
	fake_inlined_call(fixture.stack, frame_address, fake_call(fixture.work, 2), sp,
			  fake_rbp(sp));
	fixture.stack->registers.registers[REGISTER_R14] = 0x14;
	walk(&fixture);
	ASSERT_UINT(fixture.result.managed_count, 2);
	check_known(&fixture, 1, REG_RBP, fake_rbp(sp));
	check_known(&fixture, 1, REG_RSP, sp);
	CU_ASSERT(!is_known(&fixture, 1, REG_R14, &value));
	CU_ASSERT(!is_known(&fixture, 2, REG_R14, &value));
	check_known(&fixture, 2, REG_RBP, fake_rbp(sp + FAKE_FRAME_SIZE));
	ASSERT_UINT(stack_frame_at(&fixture, 0)->registers, 0);
	stack_end(&fixture);
}

TEST(native_frames_come_where_they_were_met)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t sp = stack_in_native_code(&fixture), frame_address = sp + 8;
	uint64_t end = stack_frames(&fixture, fixture.work, sp, 2);
	fake_inlined_call(fixture.stack, frame_address, fake_call(fixture.work, 2), sp,
			  fake_rbp(sp));
	walk(&fixture);
	/* The code where the thread stopped, and the one that called managed code. */
	ASSERT_UINT(fixture.result.frames_count, 3);
	ASSERT_UINT_FATAL(fixture.result.natives_count, 2);
	ASSERT_UINT(fixture.result.natives[0].ip, FAKE_NATIVE);
	ASSERT_UINT(fixture.result.natives[0].sp, STACK_TOP);
	ASSERT_UINT(fixture.result.natives[0].before, 0);
	CU_ASSERT(fixture.result.natives[0].is_active);
	ASSERT_UINT(fixture.result.natives[1].sp, end);
	ASSERT_UINT(fixture.result.natives[1].before, 3);
	CU_ASSERT(!fixture.result.natives[1].is_active);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.natives_count, 0);
	ASSERT_UINT(fixture.result.registers_count, 0);
	stack_end(&fixture);
}

TEST(every_allocation_may_fail)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t next = fake_frame(fixture.stack, STACK_TOP, fake_rbp(STACK_TOP + FAKE_FRAME_SIZE),
				   fake_call(fixture.main, 2));
	fake_frame(fixture.stack, next, 0, FAKE_NATIVE);
	fake_stop_at(fixture.stack, fake_call(fixture.work, 1), STACK_TOP, fake_rbp(STACK_TOP));
	enum hd_status status = HD_ERR_NOMEM;
	for (uint64_t i = 1; status == HD_ERR_NOMEM && i < 1000; i++) {
		struct stack_walker *walker = NULL;
		struct hd_error err;
		alloc_fail_at(i);
		status = stack_walker_create(fixture.stack->runtime, NULL, &walker, &err);
		if (status == HD_OK) {
			status = stack_walk(walker, fixture.stack->thread, &all, NULL,
					    &fixture.result, &err);
		}
		stack_walker_destroy(walker);
		alloc_fail_at(0);
	}
	ASSERT_UINT(status, HD_OK);
	ASSERT_UINT(fixture.result.registers_count, 2);
	stack_end(&fixture);
}

/* Native frames that come after Frames of the runtime which lie below them. */
TEST(native_frames_are_placed_by_their_addresses)
{
	struct stack_frame frames[] = { { .kind = STACK_EXPLICIT, .sp = 0x100 },
					{ .kind = STACK_EXPLICIT, .sp = 0x300 },
					{ .kind = STACK_MANAGED, .sp = 0x400 },
					{ .kind = STACK_EXPLICIT, .sp = 0x900 } };
	struct native_frame natives[] = { { .sp = 0x80 },
					  { .sp = 0x200 },
					  { .sp = 0x380 },
					  { .sp = 0x800, .before = 3 },
					  { .sp = 0xa00, .before = 3 } };
	static const size_t expected[] = { 0, 1, 2, 3, 4 };
	struct thread_stack stack = {
		.frames = frames, .frames_count = 4, .natives = natives, .natives_count = 5
	};
	walk_place_natives(&stack);
	for (size_t i = 0; i < 5; i++)
		ASSERT_UINT(natives[i].before, expected[i]);
}

SUITE(.name = "stack_registers")
