/* SPDX-License-Identifier: MIT */
/* The methods that the runtime's Frames stand for. */
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/stack_fixture.h"
#include "support/suite.h"

/* The MethodDesc of a method that was made at run time: it needs no metadata. */
static uint64_t make_desc(struct stack_fixture *fixture, const char *name)
{
	uint64_t desc = fake_method_desc(fixture->fake, 0, 0);
	fake_poke(fixture->memory, desc + 6, "\7", 2);
	fake_poke_u64(fixture->memory, desc + 32, fake_text(fixture->memory, name));
	return desc;
}

/* InlinedCallFrame.m_Datum (frames.h): with marks from 9 on, or an address that is called. */
TEST(inlined_calls_say_what_they_call)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t desc = make_desc(&fixture, "usleep"), sp = stack_in_native_code(&fixture);
	const struct {
		uint64_t datum, expected;
	} rows[] = {
		{ 0, 0 },        { desc, desc },  { desc | 2, desc }, { desc | 6, desc },
		{ desc | 1, 0 }, { desc + 8, 0 }, { 16, 0 },
	};
	stack_frames(&fixture, fixture.work, sp, 1);
	fake_inlined_call(fixture.stack, sp + 8, fake_call(fixture.work, 2), sp, fake_rbp(sp));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_poke_u64(fixture.memory, sp + 8 + 16, rows[i].datum);
		stack_again(&fixture);
		ASSERT_UINT(stack_frame_at(&fixture, 0)->method_desc, rows[i].expected);
	}
	/* The Frame names the method that it called last, if no call is under way. */
	fake_poke_u64(fixture.memory, sp + 8 + 16, desc);
	fake_poke_u64(fixture.memory, sp + 8 + 32, 0);
	stack_again(&fixture);
	ASSERT_TEXT(stack_frame_at(&fixture, 0)->name, "InlinedCallFrame");
	ASSERT_UINT(stack_frame_at(&fixture, 0)->method_desc, 0);
	stack_end(&fixture);
}

/* FramedMethodFrame.m_pMD; a call by a stub may have only a MethodTable and a slot yet. */
TEST(stubs_say_what_they_call)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	static const enum frame_kind kinds[] = { FRAME_PRESTUB_METHOD, FRAME_EXTERNAL_METHOD,
						 FRAME_CALL_COUNTING_HELPER, FRAME_STUB_DISPATCH };
	uint64_t frame = STACK_TOP + 0x100, block = STACK_TOP + 0x200;
	uint64_t desc = make_desc(&fixture, "Called"), slotted = make_desc(&fixture, "Slotted");
	uint64_t table = fake_type(fixture.fake, &(struct fake_type){ .base_size = 24 }),
		 chunk = fake_alloc(fixture.memory, 64), code = fake_alloc(fixture.memory, 32);
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	fake_explicit(fixture.stack, frame, FRAME_PRESTUB_METHOD);
	fake_poke_u64(fixture.memory, frame + 16, block);
	fake_poke_u64(fixture.memory, frame + 24, desc);
	fake_poke_u64(fixture.memory, block + 96, fake_call(fixture.work, 1));
	stack_frames(&fixture, fixture.work, block + 104, 1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		fake_poke_u64(fixture.memory, frame, kinds[i]);
		stack_again(&fixture);
		ASSERT_UINT(stack_frame_at(&fixture, 0)->method_desc, desc);
	}
	fake_poke_u64(fixture.memory, frame, FRAME_PINVOKE_CALLI);
	stack_again(&fixture);
	ASSERT_UINT(stack_frame_at(&fixture, 0)->method_desc, 0);
	/* Slot 9 is the second of the second chunk: mov r10, [rip+5]; jmp [rip+5]; the MethodDesc */
	fake_poke(fixture.memory, table + 12, "\x0a", 2);
	fake_poke_u64(fixture.memory, table + 64 + 8, chunk);
	fake_poke_u64(fixture.memory, chunk + 8, code);
	fake_poke(fixture.memory, code, "\x4c\x8b\x15\x09\0\0\0\xff\x25\x09\0\0\0", 13);
	fake_poke_u64(fixture.memory, code + 16, slotted);
	fake_poke_u64(fixture.memory, frame, FRAME_STUB_DISPATCH);
	fake_poke_u64(fixture.memory, frame + 24, 0);
	fake_poke_u64(fixture.memory, frame + 32, table);
	fake_poke_u32(fixture.memory, frame + 40, 9);
	stack_again(&fixture);
	ASSERT_UINT(stack_frame_at(&fixture, 0)->method_desc, slotted);
	fake_poke_u32(fixture.memory, frame + 40, 10);
	stack_again(&fixture);
	ASSERT_UINT(stack_frame_at(&fixture, 0)->method_desc, 0);
	stack_end(&fixture);
}

/* HelperMethodFrame.m_FCallEntry (8, 9): the function, whose method is in a list of them. */
TEST(helpers_are_the_methods_that_made_them)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	struct runtime *runtime = fixture.stack->runtime;
	uint64_t helper = STACK_TOP + 0x400, sp = STACK_TOP + 0x1000, code = (uint64_t)127 << 40,
		 lists = fake_alloc(fixture.memory, 127 * 8),
		 entry = fake_alloc(fixture.memory, 24), desc = make_desc(&fixture, "Sleep");
	coreclr_of(runtime)->major = 9;
	memset(coreclr_of(runtime)->frames.identifiers, 0,
	       sizeof(coreclr_of(runtime)->frames.identifiers));
	coreclr_of(runtime)->globals.fcall_table = lists;
	fake_poke_u64(fixture.memory, lists + 8 * 5, entry);
	fake_poke_u64(fixture.memory, entry + 8, code + 5);
	fake_poke_u64(fixture.memory, entry + 16, desc);
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	fake_explicit(fixture.stack, helper, 0x7f123450);
	fake_poke_u64(fixture.memory, helper + 16, fixture.main); /* never set before it is asked */
	fake_poke_u64(fixture.memory, helper + 32, fixture.stack->thread->address);
	stack_frames(&fixture, fixture.work, sp, 1);
	fake_inlined_call(fixture.stack, sp + 8, fake_call(fixture.work, 2), sp, fake_rbp(sp));
	fake_poke_u64(fixture.memory, sp + 8, 0x7f123460);
	stack_again(&fixture);
	ASSERT_TEXT(stack_frame_at(&fixture, 0)->name, "HelperMethodFrame");
	ASSERT_UINT(stack_frame_at(&fixture, 0)->method_desc, 0); /* of the JIT: of no method */
	fake_poke_u64(fixture.memory, helper + 40, code + 5);
	stack_again(&fixture);
	ASSERT_UINT(stack_frame_at(&fixture, 0)->method_desc, desc);
	fake_poke_u64(fixture.memory, entry + 16, fixture.main);
	stack_again(&fixture);
	ASSERT_UINT(stack_frame_at(&fixture, 0)->method_desc, 0);
	stack_end(&fixture);
}

SUITE(.name = "frame_method")
