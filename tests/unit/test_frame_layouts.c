/* SPDX-License-Identifier: MIT */
/* Compares runtime/coreclr/layouts, as far as it is about threads and their stacks, with doc/coreclr.md. */
#include "arch/arch.h"
#include "arch/x86_64/frame_registers.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/layouts/exinfo.h"
#include "runtime/coreclr/layouts/gc_frames.h"
#include "runtime/coreclr/layouts/processor.h"
#include "runtime/thread_state.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "targets/target.h"

/* Bytes whose word at 8 * i is 100 + i. */
static void fill(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size / 8; i++) {
		uint64_t word = 100 + i;
		memcpy(bytes + 8 * i, &word, sizeof(word));
	}
}

/* doc/coreclr.md 12.1. */
TEST(states_of_threads)
{
	const uint32_t none[] = { 0x400, 0x800, 0x80000000 };
	const struct runtime_thread runs = { .os_id = 7, .state = 0x09000200 },
				    ended = { .state = 0 };
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		const struct runtime_thread thread = { .os_id = 7, .state = 0x200 | none[i] };
		CU_ASSERT_FALSE(thread_has_stack(&thread));
	}
	CU_ASSERT_TRUE(thread_has_stack(&runs));
	CU_ASSERT_FALSE(thread_has_stack(&ended));
	CU_ASSERT_TRUE(thread_state_is(&runs, THREAD_STATE_BACKGROUND));
	CU_ASSERT_TRUE(thread_state_is(&runs, THREAD_STATE_POOL_WORKER));
	CU_ASSERT_TRUE(thread_state_is(&runs, THREAD_STATE_COMPLETION_PORT));
	CU_ASSERT_FALSE(thread_state_is(&runs, THREAD_STATES_NO_STACK));
}

/* doc/coreclr.md 12.6: the number of each kind in 10.0, and what it gives. */
TEST(kinds_of_frames)
{
	static const struct {
		unsigned int number;
		const char *name;
		enum frame_gives gives;
	} rows[] = {
		{ 1, "InlinedCallFrame", FRAME_GIVES_CALL },
		{ 2, "ResumableFrame", FRAME_GIVES_CONTEXT_POINTER },
		{ 3, "RedirectedThreadFrame", FRAME_GIVES_CONTEXT_POINTER },
		{ 4, "FaultingExceptionFrame", FRAME_GIVES_CONTEXT },
		{ 5, "SoftwareExceptionFrame", FRAME_GIVES_CONTEXT },
		{ 6, "FuncEvalFrame", FRAME_GIVES_NOTHING },
		{ 7, "PInvokeCalliFrame", FRAME_GIVES_BLOCK },
		{ 8, "HijackFrame", FRAME_GIVES_HIJACK },
		{ 9, "PrestubMethodFrame", FRAME_GIVES_BLOCK },
		{ 0xa, "CallCountingHelperFrame", FRAME_GIVES_BLOCK },
		{ 0xb, "StubDispatchFrame", FRAME_GIVES_BLOCK },
		{ 0xc, "ExternalMethodFrame", FRAME_GIVES_BLOCK },
		{ 0xd, "DynamicHelperFrame", FRAME_GIVES_BLOCK },
		{ 0xe, "ProtectValueClassFrame", FRAME_GIVES_NOTHING },
		{ 0xf, "DebuggerClassInitMarkFrame", FRAME_GIVES_NOTHING },
		{ 0x10, "DebuggerExitFrame", FRAME_GIVES_NOTHING },
		{ 0x11, "DebuggerU2MCatchHandlerFrame", FRAME_GIVES_NOTHING },
		{ 0x12, "ExceptionFilterFrame", FRAME_GIVES_NOTHING },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct frame_layout *layout =
			frame_kind_layout((enum frame_kind)rows[i].number);
		ASSERT_TEXT(layout->name, rows[i].name);
		ASSERT_UINT(layout->gives, rows[i].gives);
		/* Arguments: of StubDispatch (+48), ExternalMethod (+32), DynamicHelper (+32). */
		ASSERT_UINT(layout->ref_map, rows[i].number == 0xb   ? 48
					     : rows[i].number == 0xc ? 32
								     : 0);
		ASSERT_UINT(layout->arguments, rows[i].number == 0xd ? 32 : 0);
	}
	for (unsigned int kind = 0; kind < FRAME_KINDS; kind++)
		REQUIRE(frame_kind_layout((enum frame_kind)kind)->name);
}

TEST(frames_are_told_by_their_first_word)
{
	struct coreclr numbered = { .base.ops = &coreclr_ops, .major = 10 },
		       old = { .base.ops = &coreclr_ops, .major = 8 };
	numbered.frames.identifiers[FRAME_INLINED_CALL] = 1;
	numbered.frames.identifiers[FRAME_HIJACK] = 8;
	numbered.frames.vtables[FRAME_FUNC_EVAL] = 0x1000;
	old.frames.vtables[FRAME_HELPER_METHOD] = 0x7f001000;
	CU_ASSERT_TRUE(coreclr_frames_are_numbered(&numbered.base));
	CU_ASSERT_FALSE(coreclr_frames_are_numbered(&old.base));
	ASSERT_UINT(coreclr_frame_kind(&numbered.base, 8), FRAME_HIJACK);
	ASSERT_UINT(coreclr_frame_kind(&numbered.base, 0x1000), FRAME_UNKNOWN);
	ASSERT_UINT(coreclr_frame_kind(&numbered.base, 0), FRAME_UNKNOWN);
	ASSERT_UINT(coreclr_frame_kind(&old.base, 0x7f001000), FRAME_HELPER_METHOD);
	ASSERT_UINT(coreclr_frame_kind(&old.base, 1), FRAME_UNKNOWN);
}

/* doc/coreclr.md 12.6: TransitionBlock, HijackArgs, CONTEXT, the pointers of SoftwareExceptionFrame. */
TEST(blocks_of_registers)
{
	static const uint8_t saved[] = { REG_R12, REG_R13, REG_R14, REG_R15, REG_RBX, REG_RBP };
	struct target target = { .arch = &arch_x86_64 };
	const struct coreclr old = { .base = { .ops = &coreclr_ops, .target = &target },
				     .major = 9 },
			     new = { .base = { .ops = &coreclr_ops, .target = &target },
				     .major = 10 };
	const struct processor_layout *processor = processor_layout(&new.base);
	ASSERT_UINT(processor->saved_count, sizeof(saved));
	CU_ASSERT_EQUAL(memcmp(processor->saved, saved, sizeof(saved)), 0);
	ASSERT_UINT(processor->transition.saved, 48);
	ASSERT_UINT(processor->transition.return_address, 96);
	ASSERT_UINT(processor->transition.size, 104);
	const struct hijack_layout *layout = hijack_layout(&old.base);
	ASSERT_UINT(layout->size, 72);
	ASSERT_UINT(layout->result_count, 2);
	ASSERT_UINT(layout->saved, 16);
	layout = hijack_layout(&new.base);
	ASSERT_UINT(layout->size, 80);
	ASSERT_UINT(layout->result_count, 3);
	ASSERT_UINT(layout->saved, 24);
	ASSERT_UINT(layout->results[0], REG_RAX);
	ASSERT_UINT(layout->results[1], REG_RDX);
	ASSERT_UINT(layout->results[2], REG_RCX);
	ASSERT_UINT(context_register(&new.base, REG_RAX), 0x78);
	ASSERT_UINT(context_register(&new.base, REG_RBX), 0x90);
	ASSERT_UINT(context_register(&new.base, REG_RIP), 0xf8);
	ASSERT_UINT(SOFTWARE_FRAME_POINTERS + context_pointer(&new.base, REG_RBX),
		    24 + 128 + 8 * 3);
	ASSERT_UINT(debug_register(&new.base, 15), REG_R15);
	ASSERT_UINT(debug_register(&new.base, 16), REG_RSP);
	ASSERT_UINT(debug_register(&new.base, 17), ARCH_NONE);
}

/* The same on arm64. */
TEST(blocks_of_registers_on_arm64)
{
	struct target target = { .arch = &arch_arm64 };
	const struct coreclr new = { .base = { .ops = &coreclr_ops, .target = &target },
				     .major = 10 },
			     newest = { .base = { .ops = &coreclr_ops, .target = &target },
					.major = 11 };
	const struct processor_layout *processor = processor_layout(&new.base);
	ASSERT_UINT(processor->saved_count, 12);
	ASSERT_UINT(processor->saved[1], arch_arm64.lr);
	ASSERT_UINT(processor->saved[2], 19);
	ASSERT_UINT(processor->transition.return_address, 8);
	ASSERT_UINT(processor->transition.size, 176);
	ASSERT_UINT(hijack_layout(&new.base)->size, 192);
	ASSERT_UINT(hijack_layout(&newest.base)->size, 208);
	ASSERT_UINT(hijack_layout(&new.base)->first_result, 96);
	ASSERT_UINT(context_register(&new.base, arch_arm64.fp), 0xf0);
	ASSERT_UINT(context_register(&new.base, arch_arm64.sp), 0x100);
	ASSERT_UINT(context_register(&new.base, arch_arm64.ip), 0x108);
	ASSERT_UINT(SOFTWARE_FRAME_POINTERS + context_pointer(&new.base, 19), 24);
	ASSERT_UINT(SOFTWARE_FRAME_POINTERS + context_pointer(&new.base, arch_arm64.fp),
		    24 + 8 * 10);
	ASSERT_UINT(debug_register(&new.base, 30), arch_arm64.lr);
	/* No variable is in the instruction pointer. */
	ASSERT_UINT(debug_register(&new.base, arch_arm64.ip), ARCH_NONE);
	ASSERT_UINT(debug_register(&new.base, 33), arch_arm64.sp);
	ASSERT_UINT(debug_register(&new.base, 34), ARCH_NONE);
}

/* doc/coreclr.md 12.7: handler, clause, flags, low, high, exception, pass. */
static void check_exinfo(unsigned int release, const uint8_t offsets[7])
{
	struct fake_memory memory;
	struct exinfo info;
	fake_memory_init(&memory);
	uint64_t at = fake_alloc(&memory, 0x100);
	struct coreclr runtime = { .base.ops = &coreclr_ops,
				   .major = release,
				   .base.memory = &memory.memory };
	layout_init(&runtime.layout);
	layout_fill(&runtime.layout, release, ORIGIN_SERIES);
	fake_poke_u64(&memory, at + offsets[0], 0x1234);
	fake_poke_u32(&memory, at + offsets[1], 2);
	fake_poke_u32(&memory, at + offsets[2], 4 | 8);
	fake_poke_u64(&memory, at + offsets[3], 0x100);
	fake_poke_u64(&memory, at + offsets[4], 0x200);
	fake_poke_u64(&memory, at + offsets[5], 0x5678);
	fake_poke(&memory, at + offsets[6], "\x02", 1);
	CU_ASSERT_TRUE_FATAL(exinfo_read(&runtime.base, at, &info));
	ASSERT_UINT(info.handler, 0x1234);
	ASSERT_UINT(info.clause, 2);
	CU_ASSERT_TRUE(info.is_unwinding);
	ASSERT_UINT(info.low, 0x100);
	ASSERT_UINT(info.high, 0x200);
	ASSERT_UINT(info.object, 0x5678);
	ASSERT_UINT(info.slot, at + offsets[5]);
	ASSERT_UINT(info.pass, 2);
	CU_ASSERT_FALSE(exinfo_read(&runtime.base, at + 0x1000000, &info));
	CU_ASSERT_FALSE(exinfo_is_certain(&runtime.base));
	/* A release that lacks one of them has none. */
	runtime.layout.origins[L_EXCEPTION_CLAUSE] = ORIGIN_NONE;
	CU_ASSERT_FALSE(exinfo_read(&runtime.base, at, &info));
	fake_memory_deinit(&memory);
}

TEST(exceptions_in_flight)
{
	static const uint8_t in_10[] = { 0x20, 0x38, 0x40, 0x80, 0x88, 0xb0, 0xb9 };
	static const uint8_t in_11[] = { 0x18, 0x30, 0x38, 0x78, 0x80, 0xa8, 0xb1 };
	check_exinfo(10, in_10);
	check_exinfo(11, in_11);
}

/* doc/coreclr.md 12.8: {next, Thread, references, u32 count, u32 flags}. */
TEST(frames_of_the_gc)
{
	uint8_t bytes[GC_FRAME_SIZE];
	const uint32_t numbers[] = { 3, 1 };
	fill(bytes, sizeof(bytes));
	memcpy(bytes + 24, numbers, sizeof(numbers));
	struct gc_frame frame = gc_frame_from(bytes);
	ASSERT_UINT(frame.next, 100);
	ASSERT_UINT(frame.thread, 101);
	ASSERT_UINT(frame.references, 102);
	ASSERT_UINT(frame.count, 3);
	CU_ASSERT_TRUE(frame.is_interior);
	CU_ASSERT_TRUE(gc_frame_is_end(0));
	CU_ASSERT_TRUE(gc_frame_is_end(UINT64_MAX));
	CU_ASSERT_FALSE(gc_frame_is_end(8));
}

SUITE(.name = "frame_layouts")
