/* SPDX-License-Identifier: MIT */
/* The explicit Frames of .NET 8 and 9, whose kinds have no numbers. */
#include "arch/x86_64/register_table.h"
#include "support/assert_more.h"
#include "support/cfi_maker.h"
#include "support/stack_fixture.h"
#include "support/suite.h"

TEST(frames_of_older_runtimes_are_told_by_their_shape)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	coreclr_of(fixture.stack->runtime)->major = 9;
	memset(coreclr_of(fixture.stack->runtime)->frames.identifiers, 0,
	       sizeof(coreclr_of(fixture.stack->runtime)->frames.identifiers));
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
TEST(what_calls_a_throwing_helper_is_not_gone_back_to)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t saver = fake_method(fixture.stack, &(struct fake_method){ .saves_rbx = true });
	coreclr_of(fixture.stack->runtime)->major = 9;
	memset(coreclr_of(fixture.stack->runtime)->frames.identifiers, 0,
	       sizeof(coreclr_of(fixture.stack->runtime)->frames.identifiers));
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

/* A helper of 9 whose vtable is known as that of @p kind, and which protects @p words. */
static uint64_t begin_helper(struct stack_fixture *fixture, enum frame_kind kind, uint64_t first,
			     uint64_t second, uint64_t third)
{
	uint64_t helper = STACK_TOP + 0x400, sp = STACK_TOP + 0x1000;
	stack_begin(fixture);
	struct runtime *runtime = fixture->stack->runtime;
	coreclr_of(runtime)->major = 9;
	memset(coreclr_of(runtime)->frames.identifiers, 0,
	       sizeof(coreclr_of(runtime)->frames.identifiers));
	coreclr_of(runtime)->frames.vtables[kind] = 0x7f123450;
	fake_stop_at(fixture->stack, FAKE_NATIVE, STACK_TOP, 0);
	fake_explicit(fixture->stack, helper, 0x7f123450);
	fake_poke_u64(fixture->memory, helper + 32, fixture->stack->thread->address);
	fake_poke_u64(fixture->memory, helper + 232, first);
	fake_poke_u64(fixture->memory, helper + 240, second);
	fake_poke_u64(fixture->memory, helper + 248, third);
	stack_frames(fixture, fixture->work, sp, 1);
	fake_inlined_call(fixture->stack, sp + 8, fake_call(fixture->work, 2), sp, fake_rbp(sp));
	fake_poke_u64(fixture->memory, sp + 8, 0x7f123460);
	return helper;
}

/* Roots that are known as such: the walk is partial, as there is no unwind information. */
static size_t sure_roots(const struct stack_fixture *fixture)
{
	size_t count = 0;
	for (size_t i = 0; i < fixture->result.roots_count; i++)
		count += !(fixture->result.roots[i].flags & STACK_ROOT_CONSERVATIVE);
	return count;
}

/* frames.h of 8.0 and 9.0: m_pObjRefs, then UINT m_numObjRefs; what is after it is padding. */
TEST(a_helper_that_protects_an_array_keeps_all_of_it)
{
	struct stack_fixture fixture;
	uint64_t array = STACK_TOP + 0x3000; /* of a caller: far from the Frame */
	begin_helper(&fixture, FRAME_HELPER_METHOD_PROTECTOBJ, array, 0x7f5500000003u, 0);
	fake_poke_u64(fixture.memory, array, fixture.object);
	fake_poke_u64(fixture.memory, array + 8, 0);
	fake_poke_u64(fixture.memory, array + 16, fixture.object);
	fake_poke_u64(fixture.memory, array + 24, fixture.object);
	stack_again(&fixture);
	ASSERT_TEXT(stack_frame_at(&fixture, 0)->name, "HelperMethodFrame_PROTECTOBJ");
	ASSERT_UINT(sure_roots(&fixture), 2);
	ASSERT_UINT(stack_root_at(&fixture, array)->flags, 0);
	ASSERT_UINT(stack_root_at(&fixture, array + 16)->kind, STACK_ROOT_GC_FRAME);
	stack_end(&fixture);
}

TEST(a_helper_protects_as_many_variables_as_its_class_says)
{
	for (unsigned int count = 0; count <= 3; count++) {
		struct stack_fixture fixture;
		uint64_t variable = STACK_TOP + 0x3000;
		begin_helper(&fixture, (enum frame_kind)(FRAME_HELPER_METHOD + count), variable,
			     variable + 8, variable + 16);
		for (unsigned int i = 0; i < 3; i++)
			fake_poke_u64(fixture.memory, variable + 8 * i, fixture.object);
		stack_again(&fixture);
		ASSERT_UINT(sure_roots(&fixture), count);
		stack_end(&fixture);
	}
}

TEST(what_a_helper_protects_and_the_dump_lacks_makes_the_stack_partial)
{
	struct stack_fixture fixture;
	begin_helper(&fixture, FRAME_HELPER_METHOD_PROTECTOBJ, 0x1000, 2, 0);
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	stack_end(&fixture);
	begin_helper(&fixture, FRAME_HELPER_METHOD_PROTECTOBJ, STACK_TOP, UINT32_MAX, 0);
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	stack_end(&fixture);
}

/* Without the vtables, {pointer, count} looks like no second pointer. */
TEST(an_array_is_kept_where_the_helpers_class_is_not_known)
{
	struct stack_fixture fixture;
	uint64_t array = STACK_TOP + 0x3f8;
	begin_helper(&fixture, FRAME_HELPER_METHOD_PROTECTOBJ, array, 2, 0);
	memset(coreclr_of(fixture.stack->runtime)->frames.vtables, 0,
	       sizeof(coreclr_of(fixture.stack->runtime)->frames.vtables));
	fake_poke_u64(fixture.memory, STACK_TOP + 0x400 + 232, array - 8);
	fake_poke_u64(fixture.memory, array - 8, fixture.object);
	fake_poke_u64(fixture.memory, array, fixture.object);
	stack_again(&fixture);
	ASSERT_UINT(fixture.result.roots_count, 2);
	ASSERT_UINT(stack_root_at(&fixture, array)->flags, STACK_ROOT_CONSERVATIVE);
	stack_end(&fixture);
}

/* Where a helper's function has its rbp, what calls it, and the Frame's machine state. */
#define HELPER        (STACK_TOP + 0x400)
#define HELPER_RBP    (STACK_TOP + 0x500)
#define HELPER_CALLER (HELPER_RBP + 16)
#define HELPER_STATE  (HELPER + 48)

/*
 * A thread in native code without unwind information, which a function of the runtime has called: that is at
 * BASE + FUNCTION, has rbp as its frame pointer, and a HelperMethodFrame.  A method that has rbx as a live slot
 * calls it.
 */
static void begin_captured(struct stack_fixture *fixture, struct cfi_world *world)
{
	uint8_t image[CFI_IMAGE_SIZE];
	begin_helper(fixture, FRAME_HELPER_METHOD, 0, 0, 0);
	struct fake_stack *stack = fixture->stack;
	struct target *target = &fixture->fake->target;
	/* CFA = rbp + 16, rbp at CFA - 16. */
	cfi_world_init(world, &(struct cfi_spec){ FDE_CODE("\x0c\x06\x10\x86\x02") });
	CU_ASSERT(memory_read(&world->fake.memory, BASE, image, sizeof(image)));
	fake_map(fixture->memory, BASE, CFI_IMAGE_SIZE);
	fake_poke(fixture->memory, BASE, image, sizeof(image));
	world->mappings[1] = (struct target_mapping){ .start = FAKE_CODE,
						      .end = FAKE_CODE + FAKE_CODE_SIZE + 0x1000,
						      .path = world->mappings[0].path };
	target->map.mappings = world->mappings;
	target->map.mapping_count = 2;
	uint64_t saver = fake_method(stack, &(struct fake_method){ .saves_rbx = true });
	fake_poke_u64(fixture->memory, HELPER + 8, UINT64_MAX); /* the only Frame */
	fake_poke_u64(fixture->memory, HELPER_STATE + 16 + 4 * 8, fixture->object); /* rbx */
	fake_poke_u64(fixture->memory, HELPER_STATE + 16 + 5 * 8, HELPER_RBP);
	fake_poke_u64(fixture->memory, HELPER_STATE + 168, BASE + FUNCTION + 0x20);
	fake_poke_u64(fixture->memory, HELPER_STATE + 176, HELPER - 0x40);
	fake_poke_u64(fixture->memory, HELPER_RBP, fake_rbp(HELPER_CALLER));
	fake_poke_u64(fixture->memory, HELPER_RBP + 8, fake_call(saver, 2));
	fake_frame(stack, HELPER_CALLER, 0, FAKE_NATIVE);
}

static void end_captured(struct stack_fixture *fixture, struct cfi_world *world)
{
	fixture->fake->target.map.mappings = NULL;
	fixture->fake->target.map.mapping_count = 0;
	cfi_world_deinit(world);
	stack_end(fixture);
}

/* As where the thread is in musl, which has no unwind information. */
TEST(a_helper_has_noted_where_its_own_unwind_information_begins)
{
	struct stack_fixture fixture;
	struct cfi_world world;
	begin_captured(&fixture, &world);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_TEXT(stack_frame_at(&fixture, 0)->name, "HelperMethodFrame");
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, HELPER_CALLER);
	ASSERT_UINT(fixture.result.managed_count, 1);
	/* The function has not saved rbx: the Frame's copy is what the runtime restores. */
	ASSERT_UINT(stack_roots_at(&fixture, HELPER_STATE + 16 + 4 * 8, fixture.object), 1);
	ASSERT_UINT(fixture.result.roots_count, 1);
	end_captured(&fixture, &world);
}

TEST(a_helper_that_the_runtime_has_unwound_has_the_registers_of_its_caller)
{
	struct stack_fixture fixture;
	struct cfi_world world;
	uint64_t slot = STACK_TOP + 0x4f0;
	begin_captured(&fixture, &world);
	fake_poke_u64(fixture.memory, slot, fixture.object);
	fake_poke_u64(fixture.memory, HELPER_STATE, fake_peek_u64(fixture.memory, HELPER_RBP + 8));
	fake_poke_u64(fixture.memory, HELPER_STATE + 8, HELPER_CALLER);
	fake_poke_u64(fixture.memory, HELPER_STATE + 64 + 4 * 8, slot);
	fake_poke_u64(fixture.memory, HELPER_STATE + 112, HELPER_RBP + 8);
	fake_poke_u64(fixture.memory, HELPER_STATE + 120 + 4 * 8, 0x1234); /* before a GC */
	fake_poke_u64(fixture.memory, HELPER_STATE + 120 + 5 * 8, fake_rbp(HELPER_CALLER));
	/* The captured registers lead nowhere now. */
	fake_poke_u64(fixture.memory, HELPER_STATE + 168, 0);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(stack_frame_at(&fixture, 1)->sp, HELPER_CALLER);
	ASSERT_UINT(stack_roots_at(&fixture, slot, fixture.object), 1);
	ASSERT_UINT(fixture.result.roots_count, 1);
	end_captured(&fixture, &world);
}

TEST(registers_that_a_helper_cannot_have_had_are_not_used)
{
	static const struct {
		uint64_t place, value;
	} rows[] = {
		{ HELPER_STATE + 176, HELPER + 0x40 },       /* above the Frame */
		{ HELPER_STATE + 176, HELPER - (8u << 20) }, /* far below it */
		{ HELPER_STATE + 176, HELPER - 0x41 },
		{ HELPER_STATE + 168, BASE + 0x1000 }, /* no code */
		{ HELPER_STATE + 112, HELPER_RBP },    /* unwound, but to no code */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stack_fixture fixture;
		struct cfi_world world;
		begin_captured(&fixture, &world);
		fake_poke_u64(fixture.memory, rows[i].place, rows[i].value);
		stack_again(&fixture);
		CU_ASSERT(strstr(fixture.result.why, "cannot be told apart") != NULL);
		ASSERT_UINT(fixture.result.managed_count, 0);
		end_captured(&fixture, &world);
	}
}

/* HijackFrame::GcScanRoots of 8.0 and 9.0: HijackArgs begin with Rax and Rdx. */
TEST(what_a_hijacked_call_returns_is_kept)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	struct runtime *runtime = fixture.stack->runtime;
	uint64_t frame = STACK_TOP + 0x400, arguments = STACK_TOP + 0x800;
	coreclr_of(runtime)->major = 9;
	memset(coreclr_of(runtime)->frames.identifiers, 0,
	       sizeof(coreclr_of(runtime)->frames.identifiers));
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	fake_explicit(fixture.stack, frame, 0x7f123450);
	fake_poke_u64(fixture.memory, frame + 16, fake_call(fixture.work, 2));
	fake_poke_u64(fixture.memory, frame + 24, fixture.stack->thread->address);
	fake_poke_u64(fixture.memory, frame + 32, arguments);
	fake_poke_u64(fixture.memory, arguments, fixture.object);
	fake_poke_u64(fixture.memory, arguments + 8, fixture.object);
	stack_again(&fixture);
	ASSERT_TEXT(stack_frame_at(&fixture, 0)->name, "HijackFrame");
	ASSERT_UINT(stack_root_at(&fixture, arguments)->kind, STACK_ROOT_ARGUMENT);
	CU_ASSERT(stack_roots_at(&fixture, arguments, fixture.object) >= 1);
	CU_ASSERT(stack_roots_at(&fixture, arguments + 8, fixture.object) >= 1);
	stack_end(&fixture);
}

/* ProtectByRefsFrame: ByRefInfo {next, index, element type, TypeHandle, value}. */
TEST(what_a_call_by_reflection_has_by_reference_is_kept)
{
	struct stack_fixture fixture;
	uint64_t info = STACK_TOP + 0x3000;
	uint64_t frame = begin_helper(&fixture, FRAME_PROTECT_BY_REFS, 0, 0, 0);
	fake_poke_u64(fixture.memory, frame + 16, info);
	fake_poke_u64(fixture.memory, info, 0);
	fake_poke_u64(fixture.memory, info + 16, fake_peek_u64(fixture.memory, fixture.object));
	fake_poke_u64(fixture.memory, info + 24, fixture.object);
	stack_again(&fixture);
	ASSERT_TEXT(stack_frame_at(&fixture, 0)->name, "ProtectByRefsFrame");
	ASSERT_UINT(stack_roots_at(&fixture, info + 24, fixture.object), 1);
	stack_end(&fixture);
}

/*
 * ExceptionTracker of 8.0 (exceptionhandling.h): the one before at 8, its Thread at 16, a handle at
 * 64.  They lie in memory of their own, in any order.
 */
TEST(exceptions_of_8_lie_anywhere)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	struct fake_memory *memory = fixture.memory;
	struct layout *layout = &coreclr_of(fixture.stack->runtime)->layout;
	uint64_t outer = fake_alloc(memory, 80), inner = fake_alloc(memory, 80),
		 handles = fake_alloc(memory, 16), thread = fixture.stack->thread->address;
	coreclr_of(fixture.stack->runtime)->major = 8;
	layout_set(layout, L_THREAD_EXCEPTION_TRACKER, 480, ORIGIN_SERIES);
	layout_set(layout, L_EXCEPTION_PREVIOUS, 8, ORIGIN_SERIES);
	layout_set(layout, L_EXCEPTION_THREAD, 16, ORIGIN_SERIES);
	layout_set(layout, L_EXCEPTION_THROWN, 64, ORIGIN_SERIES);
	fake_poke_u64(memory, thread + 480, inner);
	fake_poke_u64(memory, inner + 8, outer);
	fake_poke_u64(memory, inner + 16, thread);
	fake_poke_u64(memory, inner + 64, handles);
	fake_poke_u64(memory, outer + 16, thread);
	fake_poke_u64(memory, outer + 64, handles + 8);
	fake_poke_u64(memory, handles, fixture.object);
	fake_poke_u64(memory, handles + 8, fixture.object);
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	CU_ASSERT(inner > outer);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "");
	ASSERT_UINT(fixture.result.roots_count, 2);
	ASSERT_UINT(stack_root_at(&fixture, handles)->kind, STACK_ROOT_EXCEPTION);
	ASSERT_UINT(stack_root_at(&fixture, handles + 8)->kind, STACK_ROOT_EXCEPTION);
	/* A ring ends, and what is another thread's is not this one's. */
	fake_poke_u64(memory, outer + 8, inner);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "the list of the thread's exceptions is broken");
	fake_poke_u64(memory, outer + 8, 0);
	fake_poke_u64(memory, outer + 16, thread + 8);
	stack_again(&fixture);
	ASSERT_TEXT(fixture.result.why, "the list of the thread's exceptions is broken");
	ASSERT_UINT(stack_roots_at(&fixture, handles + 8, fixture.object), 0);
	stack_end(&fixture);
}

SUITE(.name = "stack_old")
