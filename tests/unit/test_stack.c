/* SPDX-License-Identifier: MIT */
/* Walks of stacks that are made in code: which frames, which slots. */
#include "arch/x86_64/frame_registers.h"
#include "support/assert_more.h"
#include "support/stack_fixture.h"
#include "support/suite.h"

TEST(managed_frames_are_walked_up_to_native_code)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t rip = fake_call(fixture.work, 1), middle = fake_call(fixture.main, 2);
	uint64_t next =
		fake_frame(fixture.stack, STACK_TOP, fake_rbp(STACK_TOP + FAKE_FRAME_SIZE), middle);
	fake_frame(fixture.stack, next, 0, FAKE_NATIVE);
	fake_stop_at(fixture.stack, rip, STACK_TOP, fake_rbp(STACK_TOP));
	fake_poke_u64(fixture.memory, STACK_TOP, fixture.object);
	fake_poke_u64(fixture.memory, next + 8, fixture.object);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.frames_count, 2);
	ASSERT_UINT(fixture.result.managed_count, 2);
	CU_ASSERT(!fixture.result.is_partial && !fixture.result.is_missing);
	CU_ASSERT(stack_frame_at(&fixture, 0)->is_active &&
		  !stack_frame_at(&fixture, 1)->is_active);
	ASSERT_UINT(stack_frame_at(&fixture, 0)->ip, rip);
	ASSERT_UINT(stack_frame_at(&fixture, 0)->offset, 0x10);
	ASSERT_UINT(stack_frame_at(&fixture, 1)->ip, middle);
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, next);
	ASSERT_UINT(stack_frame_at(&fixture, 1)->offset, 0x20);
	/* Null slots are not roots. */
	ASSERT_UINT(fixture.result.roots_count, 2);
	ASSERT_UINT(stack_roots_at(&fixture, STACK_TOP, fixture.object), 1);
	ASSERT_UINT(stack_roots_at(&fixture, next + 8, fixture.object), 1);
	char slot[STACK_SLOT_SIZE];
	stack_root_slot(&arch_x86_64, stack_root_at(&fixture, next + 8), slot);
	ASSERT_TEXT(slot, "rsp+8");
	ASSERT_UINT(stack_root_at(&fixture, next + 8)->frame, 1);
	stack_end(&fixture);
}

TEST(saved_registers_are_found_where_they_were_saved)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t saver = fake_method(fixture.stack, &(struct fake_method){ .saves_rbx = true });
	uint64_t next = fake_frame(fixture.stack, STACK_TOP, 0, fake_call(saver, 1));
	fake_frame(fixture.stack, next, 0, FAKE_NATIVE);
	fake_poke_u64(fixture.memory, STACK_TOP + FAKE_LOCALS - 8, fixture.object);
	fake_stop_at(fixture.stack, fake_call(saver, 1), STACK_TOP, fake_rbp(STACK_TOP));
	fixture.stack->registers.registers[REGISTER_RBX] = fixture.object + 8;
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.roots_count, 2);
	ASSERT_UINT(stack_roots_at(&fixture, 0, fixture.object + 8), 1);
	ASSERT_UINT(stack_roots_at(&fixture, STACK_TOP + FAKE_LOCALS - 8, fixture.object), 1);
	char slot[STACK_SLOT_SIZE];
	stack_root_slot(&arch_x86_64, stack_root_at(&fixture, 0), slot);
	ASSERT_TEXT(slot, "rbx");
	stack_end(&fixture);
}

TEST(inlined_call_frames_lead_out_of_native_code)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t sp = stack_in_native_code(&fixture), frame_address = sp + 8;
	stack_frames(&fixture, fixture.work, sp, 2);
	fake_inlined_call(fixture.stack, frame_address, fake_call(fixture.work, 2), sp,
			  fake_rbp(sp));
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.frames_count, 3);
	ASSERT_TEXT(stack_frame_at(&fixture, 0)->name, "InlinedCallFrame");
	ASSERT_UINT(stack_frame_at(&fixture, 0)->sp, frame_address);
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, sp);
	CU_ASSERT(!stack_frame_at(&fixture, 1)->is_active);
	CU_ASSERT(!fixture.result.is_partial);
	/* One that is not in a call leads nowhere. */
	fake_poke_u64(fixture.memory, frame_address + 32, 0);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.managed_count, 0);
	CU_ASSERT(!fixture.result.is_partial);
	fixture.stack->thread->is_cooperative = true;
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	CU_ASSERT(strstr(fixture.result.why, "it runs managed code, but no frame of that") != NULL);
	stack_end(&fixture);
}

TEST(transition_blocks_lead_out_of_stubs)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t frame_address = STACK_TOP + 0x100, block = STACK_TOP + 0x200, sp = block + 104;
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	fake_explicit(fixture.stack, frame_address, FRAME_DYNAMIC_HELPER);
	fake_poke_u64(fixture.memory, frame_address + 16, block);
	fake_poke_u32(fixture.memory, frame_address + 32, 2); /* the second is an object */
	fake_poke_u64(fixture.memory, block, fixture.object);
	fake_poke_u64(fixture.memory, block + 8, fixture.object);
	fake_poke_u64(fixture.memory, block + 48 + 40, fake_rbp(sp));
	fake_poke_u64(fixture.memory, block + 96, fake_call(fixture.work, 1));
	stack_frames(&fixture, fixture.work, sp, 1);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.frames_count, 2);
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, sp);
	ASSERT_UINT(fixture.result.roots_count, 1);
	const struct stack_root *root = stack_root_at(&fixture, block + 8);
	ASSERT_UINT(root->kind, STACK_ROOT_ARGUMENT);
	ASSERT_UINT(root->flags, 0);
	ASSERT_UINT(root->frame, 0);
	/* Nothing says what the arguments of a method are that is not compiled yet. */
	fake_poke_u64(fixture.memory, frame_address, FRAME_PRESTUB_METHOD);
	fake_poke_u64(fixture.memory, sp + 0x18, fixture.object + 8);
	fake_poke_u64(fixture.memory, block + 16, 0x1234);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.roots_count, 3);
	ASSERT_UINT(stack_root_at(&fixture, block)->flags, STACK_ROOT_CONSERVATIVE);
	ASSERT_UINT(stack_root_at(&fixture, sp + 0x18)->flags, STACK_ROOT_CONSERVATIVE);
	CU_ASSERT(!fixture.result.is_partial);
	stack_end(&fixture);
}

TEST(maps_say_which_arguments_are_references)
{
	/* Two bits each, 0 skip, 1 reference, 2 interior: positions 0, 1, 2. */
	static const uint8_t map[] = { 0x24 };
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t frame_address = STACK_TOP + 0x100, block = STACK_TOP + 0x200, sp = block + 104;
	uint64_t map_address = fake_alloc(fixture.memory, 16);
	fake_poke(fixture.memory, map_address, map, sizeof(map));
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	fake_explicit(fixture.stack, frame_address, FRAME_STUB_DISPATCH);
	fake_poke_u64(fixture.memory, frame_address + 16, block);
	fake_poke_u64(fixture.memory, frame_address + 64, map_address);
	for (unsigned int i = 0; i < 6; i++)
		fake_poke_u64(fixture.memory, block + 8 * (uint64_t)i, fixture.object + i / 2);
	fake_poke_u64(fixture.memory, block + 96, fake_call(fixture.work, 1));
	stack_frames(&fixture, fixture.work, sp, 1);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.roots_count, 2);
	ASSERT_UINT(stack_root_at(&fixture, block + 8)->flags, 0);
	ASSERT_UINT(stack_root_at(&fixture, block + 16)->flags, STACK_ROOT_INTERIOR);
	stack_end(&fixture);
}

TEST(throwing_frames_come_from_contexts)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t frame_address = STACK_TOP + 0x100, sp = STACK_TOP + 0x4000,
		 pushed = STACK_TOP + 0x3000;
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	fixture.stack->thread->is_cooperative = true;
	stack_frames(&fixture, fixture.work, sp, 2);
	fake_poke_u64(fixture.memory, sp, fixture.object);
	fake_explicit(fixture.stack, frame_address, FRAME_SOFTWARE_EXCEPTION);
	fake_context_record(fixture.stack, frame_address + 288, fake_call(fixture.work, 4), sp, 1);
	/* The register's own place says more than the CONTEXT. */
	fake_poke_u64(fixture.memory, frame_address + 24 + 128 + 8 * (uint64_t)REG_RBP, pushed);
	fake_poke_u64(fixture.memory, pushed, fake_rbp(sp));
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.frames_count, 3);
	CU_ASSERT(stack_frame_at(&fixture, 1)->is_aborted &&
		  !stack_frame_at(&fixture, 1)->is_active);
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, sp);
	CU_ASSERT(!stack_frame_at(&fixture, 2)->is_aborted);
	/* Untracked slots of the thrower stay alive. */
	ASSERT_UINT(stack_roots_at(&fixture, sp, fixture.object), 1);
	CU_ASSERT(!fixture.result.is_partial);
	stack_end(&fixture);
}

TEST(overflowed_stacks_begin_in_the_guard_page)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	/* The thread stands on another stack, and so does its Frame. */
	uint64_t other = FAKE_STACK - 0x200000, frame_address = other + 0x800;
	fake_map(fixture.memory, other, 0x2000);
	fixture.stack->ranges[2] = fixture.stack->ranges[1];
	fixture.stack->ranges[1] = (struct target_range){
		.start = other, .end = other + 0x2000, .captured = 0x2000, .flags = 6
	};
	fixture.fake->target.map.range_count = 3;
	fake_stop_at(fixture.stack, FAKE_NATIVE, other + 0x100, 0);
	fixture.stack->thread->is_cooperative = true;
	uint64_t sp = FAKE_STACK - FAKE_LOCALS;
	fake_poke_u64(fixture.memory, FAKE_STACK, fake_rbp(FAKE_STACK + 16));
	fake_poke_u64(fixture.memory, FAKE_STACK + 8, fake_call(fixture.work, 3));
	stack_frames(&fixture, fixture.work, FAKE_STACK + 16, 12000);
	fake_explicit(fixture.stack, frame_address, FRAME_FAULTING_EXCEPTION);
	fake_context_record(fixture.stack, frame_address + 32, fake_call(fixture.work, 2), sp,
			    FAKE_STACK);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(fixture.result.managed_count, 12001);
	CU_ASSERT(stack_frame_at(&fixture, 1)->is_active &&
		  stack_frame_at(&fixture, 1)->is_aborted);
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, sp);
	stack_end(&fixture);
}

/* A handler of method that runs, called by native code that a frame of its method has called. */
static uint64_t in_handler(struct stack_fixture *fixture, uint64_t method)
{
	uint64_t parent = STACK_TOP + 0x1000, between = STACK_TOP + 0x200;
	/* A funclet has its parent's frame pointer. */
	fake_inlined_call(fixture->stack, STACK_TOP - 0x80, method + FAKE_FUNCLET + 0x20, STACK_TOP,
			  fake_rbp(parent));
	uint64_t native = fake_frame(fixture->stack, STACK_TOP, 0, FAKE_NATIVE);
	fake_inlined_call(fixture->stack, native + 0x80, fake_call(fixture->main, 2), between,
			  fake_rbp(between));
	/* Another one of the method, with a frame pointer of its own. */
	uint64_t dead = between + FAKE_FRAME_SIZE;
	fake_frame(fixture->stack, between, fake_rbp(dead), fake_call(method, 2));
	fake_frame(fixture->stack, dead, fake_rbp(parent), FAKE_NATIVE);
	fake_inlined_call(fixture->stack, dead + 0x100, fake_call(method, 3), parent,
			  fake_rbp(parent));
	fake_frame(fixture->stack, parent, 0, FAKE_NATIVE);
	fake_stop_at(fixture->stack, FAKE_NATIVE, STACK_TOP - 0x100, 0);
	fake_poke_u64(fixture->memory, STACK_TOP, fixture->object);
	fake_poke_u64(fixture->memory, between, fixture->object);
	fake_poke_u64(fixture->memory, dead, fixture->object);
	fake_poke_u64(fixture->memory, parent, fixture->object);
	return parent;
}

TEST(handlers_report_for_their_method)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t method = fake_method(fixture.stack,
				      &(struct fake_method){ .slots = 1, .has_funclet = true });
	uint64_t parent = in_handler(&fixture, method);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(fixture.result.managed_count, 4);
	CU_ASSERT(stack_frame_at(&fixture, 1)->is_funclet && !stack_frame_at(&fixture, 1)->is_dead);
	CU_ASSERT(stack_frame_at(&fixture, 3)->is_dead && stack_frame_at(&fixture, 4)->is_dead);
	ASSERT_UINT(stack_frame_at(&fixture, 6)->sp, parent);
	CU_ASSERT(!stack_frame_at(&fixture, 6)->is_dead);
	/* Nothing up to and with its method's own frame. */
	ASSERT_UINT(fixture.result.roots_count, 1);
	ASSERT_UINT(stack_roots_at(&fixture, STACK_TOP, fixture.object), 1);
	/* Without that frame all of the rest is uncertain. */
	fake_poke_u64(fixture.memory, STACK_TOP + 0x200 + FAKE_FRAME_SIZE + 0x100 + 40, 0);
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	ASSERT_TEXT(fixture.result.why, "the frame of the method whose handler runs was not found");
	ASSERT_UINT(stack_root_at(&fixture, parent)->flags, STACK_ROOT_CONSERVATIVE);
	stack_end(&fixture);
}

TEST(filters_leave_all_frames_alive)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t method = fake_method(
		fixture.stack,
		&(struct fake_method){ .slots = 1, .has_funclet = true, .filter = true });
	uint64_t parent = in_handler(&fixture, method);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	CU_ASSERT(!stack_frame_at(&fixture, 3)->is_dead && !stack_frame_at(&fixture, 4)->is_dead);
	/* Its own untracked slots are those of its method, which reports them. */
	ASSERT_UINT(stack_roots_at(&fixture, STACK_TOP, fixture.object), 0);
	ASSERT_UINT(stack_roots_at(&fixture, parent, fixture.object), 1);
	ASSERT_UINT(fixture.result.roots_count, 3);
	stack_end(&fixture);
}

TEST(exceptions_in_flight_are_roots)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t first = STACK_TOP + 0x100, second = STACK_TOP + 0x800,
		 handles = fake_alloc(fixture.memory, 16);
	uint64_t sp = stack_in_native_code(&fixture);
	stack_frames(&fixture, fixture.work, sp, 3);
	fake_poke_u64(fixture.memory, sp, fixture.object);
	fake_poke_u64(fixture.memory, sp + (uint64_t)2 * FAKE_FRAME_SIZE, fixture.object);
	fake_inlined_call(fixture.stack, sp - 0x80, fake_call(fixture.work, 1), sp, fake_rbp(sp));
	fake_poke_u64(fixture.memory, fixture.stack->thread->address + 352, first);
	fake_poke_u64(fixture.memory, handles, fixture.object);
	fake_poke_u64(fixture.memory, handles + 8, fixture.object);
	fake_poke_u64(fixture.memory, first, second);
	fake_poke_u64(fixture.memory, first + 8, handles);
	fake_poke_u64(fixture.memory, first + 0xb0, fixture.object);
	fake_poke_u32(fixture.memory, first + 0xb8, 0x0201); /* thrown, second pass */
	fake_poke_u32(fixture.memory, first + 0x40, 4);      /* the unwind has begun, */
	fake_poke_u64(fixture.memory, first + 0x80, sp);     /* and left two frames */
	fake_poke_u64(fixture.memory, first + 0x88, sp + (uint64_t)2 * FAKE_FRAME_SIZE);
	fake_poke_u64(fixture.memory, second + 8, handles + 8);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	CU_ASSERT(stack_frame_at(&fixture, 1)->is_dead && stack_frame_at(&fixture, 2)->is_dead);
	CU_ASSERT(!stack_frame_at(&fixture, 3)->is_dead);
	ASSERT_UINT(fixture.result.roots_count, 3);
	ASSERT_UINT(stack_root_at(&fixture, first + 0xb0)->kind, STACK_ROOT_EXCEPTION);
	/* Parts that do not fit each other: the handle alone is believed. */
	ASSERT_UINT(stack_roots_at(&fixture, handles + 8, fixture.object), 1);
	ASSERT_UINT(stack_roots_at(&fixture, sp, fixture.object), 0);
	/* A ring ends. */
	fake_poke_u64(fixture.memory, second, first);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "the list of the thread's exceptions is broken");
	ASSERT_UINT(stack_roots_at(&fixture, handles + 8, fixture.object), 1);
	stack_end(&fixture);
}

/* A record of 11 has the reference itself, and no handle. */
TEST(exceptions_of_11_have_their_own_reference)
{
	struct stack_fixture fixture;
	stack_begin_release(&fixture, 11);
	struct fake_clr *fake = fixture.fake;
	uint64_t first = STACK_TOP + 0x100, thread = fixture.stack->thread->address;
	uint64_t sp = stack_in_native_code(&fixture), end = sp + (uint64_t)2 * FAKE_FRAME_SIZE;
	uint8_t pass = 2;
	stack_frames(&fixture, fixture.work, sp, 3);
	fake_poke_u64(fixture.memory, sp, fixture.object);
	fake_inlined_call(fixture.stack, sp - 0x80, fake_call(fixture.work, 1), sp, fake_rbp(sp));
	fake_poke_u64(fixture.memory, fake_at(fake, thread, L_THREAD_EXCEPTION_TRACKER), first);
	fake_poke_u64(fixture.memory, fake_at(fake, first, L_EXCEPTION_THROWN), fixture.object);
	fake_poke(fixture.memory, fake_at(fake, first, L_EXCEPTION_PASS), &pass, 1);
	fake_poke_u32(fixture.memory, fake_at(fake, first, L_EXCEPTION_FLAGS), 4);
	fake_poke_u64(fixture.memory, fake_at(fake, first, L_EXCEPTION_LOW), sp);
	fake_poke_u64(fixture.memory, fake_at(fake, first, L_EXCEPTION_HIGH), end);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	CU_ASSERT(stack_frame_at(&fixture, 1)->is_dead && stack_frame_at(&fixture, 2)->is_dead);
	CU_ASSERT(!stack_frame_at(&fixture, 3)->is_dead);
	ASSERT_UINT(fixture.result.roots_count, 1);
	ASSERT_UINT(stack_root_at(&fixture, first + 168)->kind, STACK_ROOT_EXCEPTION);
	ASSERT_UINT(stack_roots_at(&fixture, first + 168, fixture.object), 1);
	stack_end(&fixture);
}

TEST(the_runtimes_own_variables_are_roots)
{
	/* Where .NET 10 and .NET 8 have Thread.m_pGCFrame. */
	static const uint64_t offsets[] = { 0x2b0, 0x5a8 };
	for (size_t k = 0; k < sizeof(offsets) / sizeof(offsets[0]); k++) {
		struct stack_fixture fixture;
		stack_begin(&fixture);
		uint64_t thread = fixture.stack->thread->address, first = STACK_TOP + 0x100,
			 second = STACK_TOP + 0x200;
		fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
		fake_poke_u64(fixture.memory, thread + offsets[k], first);
		for (unsigned int i = 0; i < 2; i++) {
			uint64_t at = i ? second : first;
			fake_poke_u64(fixture.memory, at, i ? UINT64_MAX : second);
			fake_poke_u64(fixture.memory, at + 8, thread);
			fake_poke_u64(fixture.memory, at + 16,
				      STACK_TOP + 0x300 + 0x10 * (uint64_t)i);
			fake_poke_u32(fixture.memory, at + 24, 2);
			fake_poke_u32(fixture.memory, at + 28, i);
		}
		for (uint64_t i = 0; i < 4; i++)
			fake_poke_u64(fixture.memory, STACK_TOP + 0x300 + 8 * i, fixture.object);
		stack_again(&fixture);
		ASSERT_TEXT(fixture.result.why, "");
		ASSERT_UINT(fixture.result.roots_count, 4);
		ASSERT_UINT(stack_root_at(&fixture, STACK_TOP + 0x308)->kind, STACK_ROOT_GC_FRAME);
		ASSERT_UINT(stack_root_at(&fixture, STACK_TOP + 0x308)->flags, 0);
		ASSERT_UINT(stack_root_at(&fixture, STACK_TOP + 0x318)->flags, STACK_ROOT_INTERIOR);
		stack_end(&fixture);
	}
}

/* The objects that they held are then among the words that may be references. */
TEST(lists_of_the_runtimes_own_variables_may_be_broken)
{
	const uint64_t frame = STACK_TOP + 0x100, other = STACK_TOP + 0x200;
	struct {
		uint64_t offset, value;
	} const damages[] = {
		{ 0, frame },       { 0, other },      { 0, 0x41414141 },
		{ 0, STACK_TOP },   { 16, other + 1 }, { 16, FAKE_STACK + FAKE_STACK_SIZE },
		{ 24, UINT32_MAX },
	};
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct stack_fixture fixture;
		stack_begin(&fixture);
		uint64_t thread = fixture.stack->thread->address;
		fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
		fake_poke_u64(fixture.memory, thread + 0x2b0, frame);
		fake_poke_u64(fixture.memory, frame + 8, thread);
		fake_poke_u64(fixture.memory, frame + 16, STACK_TOP + 0x300);
		fake_poke_u64(fixture.memory, frame + 24, 1);
		fake_poke_u64(fixture.memory, STACK_TOP + 0x300, fixture.object);
		stack_again(&fixture);
		ASSERT_TEXT(fixture.result.why, "");
		fake_poke_u64(fixture.memory, frame + damages[i].offset, damages[i].value);
		stack_again(&fixture);
		CU_ASSERT(fixture.result.is_partial && strstr(fixture.result.why, "GCFrames"));
		ASSERT_UINT(stack_roots_at(&fixture, STACK_TOP + 0x300, fixture.object), 1);
		stack_end(&fixture);
	}
}

TEST(signals_show_where_managed_code_was)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t context = STACK_TOP + 0x100, sp = STACK_TOP + 0x1000;
	stack_frames(&fixture, fixture.work, sp, 2);
	fake_poke_u64(fixture.memory, context + 40 + 80, fake_rbp(sp));
	fake_poke_u64(fixture.memory, context + 40 + 120, sp);
	fake_poke_u64(fixture.memory, context + 40 + 128, fake_call(fixture.work, 1) + 3);
	fake_poke_u64(fixture.memory, context + 40 + 144, 0x002b000000000033);
	fake_poke_u64(fixture.memory, context + 40 + 184, context + 0x200);
	fixture.stack->thread->is_cooperative = true;
	/* By the code that returns from the handler. */
	fake_stop_at(fixture.stack, FAKE_RESTORER, context, 0);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(fixture.result.managed_count, 2);
	CU_ASSERT(stack_frame_at(&fixture, 0)->is_active &&
		  !stack_frame_at(&fixture, 0)->is_aborted);
	ASSERT_UINT(stack_frame_at(&fixture, 0)->sp, sp);
	/* In a handler without unwind information: by what lies on the stack. */
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.managed_count, 2);
	ASSERT_TEXT(fixture.result.why, "");
	stack_end(&fixture);
}

TEST(hijacked_return_addresses_are_undone)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t thread = fixture.stack->thread->address, trip = FAKE_NATIVE + 0x40;
	uint64_t next =
		fake_frame(fixture.stack, STACK_TOP, fake_rbp(STACK_TOP + FAKE_FRAME_SIZE), trip);
	fake_frame(fixture.stack, next, 0, FAKE_NATIVE);
	fake_stop_at(fixture.stack, fake_call(fixture.work, 1), STACK_TOP, fake_rbp(STACK_TOP));
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	fake_poke_u64(fixture.memory, thread + 0x180, fake_call(fixture.main, 2));
	fake_poke_u64(fixture.memory, thread + 0x188, next - 8);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(fixture.result.managed_count, 2);
	ASSERT_UINT(stack_frame_at(&fixture, 1)->ip, fake_call(fixture.main, 2));
	stack_end(&fixture);
}

/* Between two safe points: what is live there is written nowhere. */
TEST(where_nothing_is_known_words_may_be_references)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t saver = fake_method(fixture.stack, &(struct fake_method){ .saves_rbx = true });
	fake_frame(fixture.stack, STACK_TOP, 0, FAKE_NATIVE);
	fake_poke_u64(fixture.memory, STACK_TOP + 0x10, fixture.object);
	fake_poke_u64(fixture.memory, STACK_TOP + FAKE_FRAME_SIZE, fixture.object);
	fake_stop_at(fixture.stack, fake_call(saver, 1) + 4, STACK_TOP, fake_rbp(STACK_TOP));
	fixture.stack->registers.registers[REGISTER_RBX] = fixture.object;
	fixture.stack->registers.registers[REGISTER_RSI] = fixture.object + 8;
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(fixture.result.roots_count, 3);
	ASSERT_UINT(stack_roots_at(&fixture, 0, fixture.object), 1);
	ASSERT_UINT(stack_roots_at(&fixture, 0, fixture.object + 8), 1);
	const struct stack_root *root = stack_root_at(&fixture, STACK_TOP + 0x10);
	ASSERT_UINT(root->flags, STACK_ROOT_CONSERVATIVE);
	ASSERT_UINT(root->frame, 0);
	char slot[STACK_SLOT_SIZE];
	stack_root_slot(&arch_x86_64, root, slot);
	ASSERT_TEXT(slot, "rsp+10");
	stack_end(&fixture);
}

/* As a write barrier has none. */
TEST(leaves_need_no_unwind_information)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t saver = fake_method(fixture.stack, &(struct fake_method){ .saves_rbx = true });
	fixture.stack->thread->is_cooperative = true;
	fake_stop_at(fixture.stack, FAKE_NATIVE + 0x40, STACK_TOP, fake_rbp(STACK_TOP + 8));
	fixture.stack->registers.registers[REGISTER_RSI] = fixture.object;
	fake_poke_u64(fixture.memory, STACK_TOP, fake_call(saver, 2));
	fake_frame(fixture.stack, STACK_TOP + 8, 0, FAKE_NATIVE);
	fake_poke_u64(fixture.memory, STACK_TOP + 8, fixture.object + 8);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(fixture.result.managed_count, 1);
	ASSERT_UINT(stack_frame_at(&fixture, 0)->sp, STACK_TOP + 8);
	ASSERT_UINT(fixture.result.roots_count, 1);
	ASSERT_UINT(stack_root_at(&fixture, 0)->flags, STACK_ROOT_CONSERVATIVE);
	/* The call of such a helper need not be a safe point. */
	fake_poke(fixture.memory, fake_call(saver, 2) + 4 - 5, "\xe8\0\0\0\0", 5);
	fake_poke_u64(fixture.memory, STACK_TOP, fake_call(saver, 2) + 4);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.managed_count, 1);
	ASSERT_UINT(fixture.result.roots_count, 2);
	ASSERT_UINT(stack_roots_at(&fixture, STACK_TOP + 8, fixture.object + 8), 1);
	stack_end(&fixture);
}

TEST(threads_stopped_by_a_return_keep_what_they_return)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t saver = fake_method(fixture.stack, &(struct fake_method){ .saves_rbx = true });
	uint64_t frame_address = STACK_TOP + 0x100, arguments = STACK_TOP + 0x200,
		 sp = arguments + 80;
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	fake_explicit(fixture.stack, frame_address, FRAME_HIJACK);
	fake_poke_u64(fixture.memory, frame_address + 16, fake_call(saver, 2));
	fake_poke_u64(fixture.memory, frame_address + 32, arguments);
	fake_poke_u64(fixture.memory, arguments + 24 + 32, fixture.object); /* rbx */
	fake_poke_u64(fixture.memory, arguments + 24 + 40, fake_rbp(sp));
	stack_frames(&fixture, saver, sp, 1);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, sp);
	CU_ASSERT(stack_frame_at(&fixture, 1)->is_active);
	ASSERT_UINT(stack_roots_at(&fixture, arguments + 24 + 32, fixture.object), 1);
	stack_end(&fixture);
}

TEST(interrupted_frames_may_not_be_made_yet)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	fake_stop_at(fixture.stack, fake_call(fixture.work, 1), STACK_TOP, fake_rbp(STACK_TOP));
	stack_frames(&fixture, fixture.work, STACK_TOP, 1);
	fake_poke_u64(fixture.memory, STACK_TOP, fixture.object);
	stack_again(&fixture);
	ASSERT_UINT(stack_root_at(&fixture, STACK_TOP)->flags, 0);
	/* After push rbp, before sub rsp: there are no variables. */
	fake_stop_at(fixture.stack, fixture.work + 4, STACK_TOP, fake_rbp(STACK_TOP));
	fake_poke_u64(fixture.memory, STACK_TOP + 8, fake_call(fixture.main, 1));
	stack_frames(&fixture, fixture.main, STACK_TOP + 16, 1);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(fixture.result.frames_count, 2);
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, STACK_TOP + 16);
	ASSERT_UINT(stack_root_at(&fixture, STACK_TOP)->flags, STACK_ROOT_CONSERVATIVE);
	stack_end(&fixture);
}

SUITE(.name = "stack")
