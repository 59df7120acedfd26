/* SPDX-License-Identifier: MIT */
/* Walks of stacks that are broken, incomplete or taken word by word. */
#include "arch/x86_64/register_table.h"
#include "support/assert_more.h"
#include "support/stack_fixture.h"
#include "support/suite.h"
#include "util/alloc.h"

TEST(wrong_return_addresses_are_seen)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t other = STACK_TOP + FAKE_FRAME_SIZE + 0x80;
	const struct {
		uint64_t address;
		const char *why;
	} wrong[] = {
		{ 0, "the return address 0 is not code after a call" },
		{ 0x4141414141414141,
		  "the return address 4141414141414141 is not code after a call" },
		{ STACK_TOP, "is not code after a call" },
		{ fixture.object, "is not code after a call" },
		{ FAKE_NATIVE + 3, "is not code after a call" },
		{ fake_call(fixture.work, 3) + 1, "does not follow a call" },
	};
	fake_stop_at(fixture.stack, fake_call(fixture.work, 1), STACK_TOP, fake_rbp(STACK_TOP));
	fake_poke_u64(fixture.memory, STACK_TOP, fixture.object);
	fake_poke_u64(fixture.memory, other, fixture.object + 16);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		fake_frame(fixture.stack, STACK_TOP, 0, wrong[i].address);
		stack_again(&fixture);
		CU_ASSERT(fixture.result.is_partial);
		if (!strstr(fixture.result.why, wrong[i].why))
			ASSERT_TEXT(fixture.result.why, wrong[i].why);
		ASSERT_UINT(fixture.result.managed_count, 1);
		/* The roots found before stay as they are; the rest is taken word by word. */
		ASSERT_UINT(stack_roots_at(&fixture, STACK_TOP, fixture.object), 1);
		ASSERT_UINT(stack_root_at(&fixture, STACK_TOP)->flags, 0);
		ASSERT_UINT(stack_root_at(&fixture, other)->flags, STACK_ROOT_CONSERVATIVE);
		ASSERT_UINT(stack_root_at(&fixture, other)->value, fixture.object + 16);
	}
	stack_end(&fixture);
}

TEST(wrong_stack_pointers_are_seen)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t frame_address = STACK_TOP + 0x100;
	fake_stop_at(fixture.stack, FAKE_NATIVE, STACK_TOP, 0);
	fake_inlined_call(fixture.stack, frame_address, fake_call(fixture.work, 1), STACK_TOP + 4,
			  0);
	fake_frame(fixture.stack, STACK_TOP + 4, 0, FAKE_NATIVE);
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	/* In no stack at all. */
	uint64_t far = FAKE_CODE + 0x8000;
	fake_poke_u64(fixture.memory, frame_address + 24, far);
	fake_frame(fixture.stack, far, 0, FAKE_NATIVE);
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	CU_ASSERT(strstr(fixture.result.why, "is in no stack") != NULL);
	/* A Frame that leads back down. */
	uint64_t sp = STACK_TOP + 0x2000;
	fake_poke_u64(fixture.memory, frame_address + 24, sp);
	fake_frame(fixture.stack, sp, 0, FAKE_NATIVE);
	fake_inlined_call(fixture.stack, sp + 0x1000, fake_call(fixture.main, 1), sp - 0x100, 0);
	fake_frame(fixture.stack, sp - 0x100, 0, FAKE_NATIVE);
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	CU_ASSERT(strstr(fixture.result.why, "is below the frame that it called") != NULL);
	stack_end(&fixture);
}

TEST(broken_gc_info_makes_a_frame_conservative)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t header = fake_peek_u64(fixture.memory, fixture.work - 8);
	uint64_t next = fake_frame(fixture.stack, STACK_TOP, 0, fake_call(fixture.main, 1));
	fake_frame(fixture.stack, next, 0, FAKE_NATIVE);
	fake_poke_u64(fixture.memory, header + 16, 0x10);
	fake_poke_u64(fixture.memory, STACK_TOP + 0x20, fixture.object);
	fake_poke_u64(fixture.memory, next, fixture.object);
	fake_stop_at(fixture.stack, fake_call(fixture.work, 1), STACK_TOP, fake_rbp(STACK_TOP));
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	CU_ASSERT(strstr(fixture.result.why, "GC info") != NULL);
	ASSERT_UINT(fixture.result.managed_count, 2);
	ASSERT_UINT(stack_root_at(&fixture, STACK_TOP + 0x20)->flags, STACK_ROOT_CONSERVATIVE);
	ASSERT_UINT(stack_root_at(&fixture, next)->flags, 0);
	ASSERT_UINT(stack_roots_at(&fixture, next, fixture.object), 1);
	stack_end(&fixture);
}

/* Words above the last good frame are in no frame, and not that frame's. */
TEST(words_beyond_the_last_frame_are_in_none)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t next = fake_frame(fixture.stack, STACK_TOP, 0, 0x4141414141);
	fake_poke_u64(fixture.memory, next - 16, fixture.object + 4);
	fake_poke_u64(fixture.memory, next, fixture.object);
	fake_poke_u64(fixture.memory, next + 0x500, fixture.object);
	fake_stop_at(fixture.stack, fake_call(fixture.work, 1), STACK_TOP, fake_rbp(STACK_TOP));
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	ASSERT_UINT(fixture.result.frames_count, 1);
	ASSERT_UINT(fixture.result.frames[0].caller_sp, next);
	const struct stack_root *last = stack_root_at(&fixture, next - 16);
	ASSERT_UINT(last->frame, 0);
	CU_ASSERT(!last->is_beyond);
	for (uint64_t at = next; at <= next + 0x500; at += 0x500) {
		const struct stack_root *root = stack_root_at(&fixture, at);
		ASSERT_UINT(root->frame, UINT32_MAX);
		ASSERT_UINT(root->base, ARCH_NONE);
		CU_ASSERT(root->is_beyond);
	}
	stack_end(&fixture);
}

TEST(what_is_missing_is_said)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t sp = stack_in_native_code(&fixture);
	stack_frames(&fixture, fixture.work, sp, 2);
	fixture.fake->target.threads.count = 0;
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_missing);
	ASSERT_TEXT(fixture.result.why, "the target has no registers of thread 3e9");
	/* Its Frames still say where it left managed code. */
	fake_inlined_call(fixture.stack, sp + 8, fake_call(fixture.work, 2), sp, fake_rbp(sp));
	stack_again(&fixture);
	CU_ASSERT(!fixture.result.is_missing && !fixture.result.is_partial);
	ASSERT_UINT(fixture.result.managed_count, 2);
	fixture.stack->thread->is_cooperative = true;
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	ASSERT_UINT(fixture.result.managed_count, 2);
	/* Registers, but no stack. */
	fixture.fake->target.threads.count = 1;
	fake_unmap(fixture.memory, FAKE_STACK);
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_missing);
	CU_ASSERT(strstr(fixture.result.why, "is not in the target") != NULL);
	ASSERT_UINT(fixture.result.frames_count, 0);
	fixture.stack->thread->state = 0x400; /* not started: it has none */
	stack_again(&fixture);
	CU_ASSERT(!fixture.result.is_missing && !fixture.result.is_partial);
	stack_end(&fixture);
}

TEST(broken_chains_of_frames_are_seen)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t sp = stack_in_native_code(&fixture);
	stack_frames(&fixture, fixture.work, sp, 2);
	fake_inlined_call(fixture.stack, sp + 8, fake_call(fixture.work, 2), sp, fake_rbp(sp));
	/* A ring; one that cannot be read; one that is none. */
	const uint64_t next[] = { sp + 8, 0x5000, sp + 0x1000 };
	for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		fake_poke_u64(fixture.memory, sp + 16, next[i]);
		stack_again(&fixture);
		CU_ASSERT(fixture.result.is_partial);
		ASSERT_TEXT(fixture.result.why, "the list of the thread's Frames is broken");
		ASSERT_UINT(fixture.result.managed_count, 2);
	}
	stack_end(&fixture);
}

TEST(conservative_walks_add_every_word)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	fake_frame(fixture.stack, STACK_TOP, 0, FAKE_NATIVE);
	fake_stop_at(fixture.stack, fake_call(fixture.work, 1), STACK_TOP, fake_rbp(STACK_TOP));
	fixture.stack->registers.registers[REGISTER_R15] = fixture.object + 4;
	fake_poke_u64(fixture.memory, STACK_TOP, fixture.object);
	fake_poke_u64(fixture.memory, STACK_TOP - 128, fixture.object);
	fake_poke_u64(fixture.memory, STACK_TOP - 136, fixture.object);
	fake_poke_u64(fixture.memory, STACK_TOP + 0x30, fixture.object);
	fake_poke_u64(fixture.memory, FAKE_STACK + FAKE_STACK_SIZE - 8, fixture.object + 8);
	fake_poke_u64(fixture.memory, FAKE_STACK + FAKE_STACK_SIZE - 16, fixture.object - 0x10000);
	thread_stack_deinit(&fixture.result);
	fake_walk(fixture.stack, &(struct stack_options){ .conservative = true }, &fixture.result);
	CU_ASSERT(!fixture.result.is_partial);
	ASSERT_UINT(fixture.result.roots_count, 5);
	ASSERT_UINT(stack_root_at(&fixture, STACK_TOP)->flags, 0);
	ASSERT_UINT(stack_root_at(&fixture, STACK_TOP - 128)->frame, UINT32_MAX);
	ASSERT_UINT(stack_root_at(&fixture, STACK_TOP + 0x30)->frame, 0);
	ASSERT_UINT(stack_root_at(&fixture, STACK_TOP + 0x30)->flags, STACK_ROOT_CONSERVATIVE);
	ASSERT_UINT(stack_roots_at(&fixture, 0, fixture.object + 4), 1);
	char slot[STACK_SLOT_SIZE];
	stack_root_slot(&arch_x86_64, stack_root_at(&fixture, STACK_TOP + 0x30), slot);
	ASSERT_TEXT(slot, "rsp+30");
	thread_stack_deinit(&fixture.result);
	fake_walk(fixture.stack, &(struct stack_options){ .no_roots = true }, &fixture.result);
	ASSERT_UINT(fixture.result.roots_count, 0);
	ASSERT_UINT(fixture.result.managed_count, 1);
	stack_end(&fixture);
}

static int cancel(void *arg)
{
	(void)arg;
	return 1;
}

TEST(long_walks_can_be_cancelled)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	struct stack_walker *walker = NULL;
	struct job job = { .cancelled = cancel, .workers = 1 };
	struct stack_options options = { .conservative = true };
	struct hd_error err;
	stack_frames(&fixture, fixture.work, FAKE_STACK + 0x1000, 12000);
	fake_stop_at(fixture.stack, fake_call(fixture.work, 1), FAKE_STACK + 0x1000,
		     fake_rbp(FAKE_STACK + 0x1000));
	ASSERT_UINT_FATAL(
		stack_walker_create(fixture.stack->runtime, fake_heap(fixture.fake), &walker, &err),
		HD_OK);
	ASSERT_UINT(
		stack_walk(walker, fixture.stack->thread, &options, &job, &fixture.result, &err),
		HD_ERR_CANCELLED);
	stack_walker_destroy(walker);
	stack_end(&fixture);
}

/* As many threads on one stack: what is read of it has an end. */
TEST(stacks_that_are_read_again_and_again_end)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	struct stack_walker *walker = NULL;
	struct hd_error err;
	const struct stack_options options = { .conservative = true };
	stack_frames(&fixture, fixture.work, FAKE_STACK + 0x1000, 100);
	fake_stop_at(fixture.stack, fake_call(fixture.work, 1), FAKE_STACK + 0x1000,
		     fake_rbp(FAKE_STACK + 0x1000));
	for (uint64_t at = FAKE_STACK + 0x40000; at < FAKE_STACK + FAKE_STACK_SIZE; at += 8)
		fake_poke_u64(fixture.memory, at, fixture.object);
	ASSERT_UINT_FATAL(
		stack_walker_create(fixture.stack->runtime, fake_heap(fixture.fake), &walker, &err),
		HD_OK);
	size_t roots = 0, whole = 0;
	for (unsigned int i = 0; i < 100; i++) {
		thread_stack_deinit(&fixture.result);
		ASSERT_UINT_FATAL(stack_walk(walker, fixture.stack->thread, &options, NULL,
					     &fixture.result, &err),
				  HD_OK);
		roots += fixture.result.roots_count;
		whole += !fixture.result.is_partial && !fixture.result.is_missing;
	}
	/* 8.6 MB may be read of 1 MB of stack. */
	CU_ASSERT(whole >= 3 && whole < 10);
	CU_ASSERT(roots < 2000000);
	CU_ASSERT(fixture.result.is_missing && !fixture.result.roots_count);
	CU_ASSERT_PTR_NOT_NULL(strstr(fixture.result.why, "than the core has bytes"));
	stack_walker_destroy(walker);
	stack_end(&fixture);
}

TEST(every_allocation_may_fail)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t sp = stack_in_native_code(&fixture);
	uint64_t other = sp + 0x8000;
	stack_frames(&fixture, fixture.main, sp, 20);
	fake_inlined_call(fixture.stack, sp + 8, fake_call(fixture.work, 2), sp, fake_rbp(sp));
	fake_poke_u64(fixture.memory, sp + (uint64_t)20 * FAKE_FRAME_SIZE - 8, 0x10);
	fake_poke_u64(fixture.memory, other, fixture.object);
	struct heap *heap = fake_heap(fixture.fake);
	enum hd_status status = HD_ERR_NOMEM;
	struct stack_options options = { .conservative = false };
	struct job job = { .workers = 1 };
	for (uint64_t i = 1; status == HD_ERR_NOMEM && i < 1000; i++) {
		struct stack_walker *walker = NULL;
		struct hd_error err;
		alloc_fail_at(i);
		status = stack_walker_create(fixture.stack->runtime, heap, &walker, &err);
		if (status == HD_OK) {
			status = stack_walk(walker, fixture.stack->thread, &options, &job,
					    &fixture.result, &err);
		}
		stack_walker_destroy(walker);
		alloc_fail_at(0);
	}
	ASSERT_UINT(status, HD_OK);
	CU_ASSERT(fixture.result.is_partial);
	ASSERT_UINT(fixture.result.managed_count, 20);
	ASSERT_UINT(stack_root_at(&fixture, other)->flags, STACK_ROOT_CONSERVATIVE);
	stack_end(&fixture);
}

TEST(code_that_is_not_known_is_seen)
{
	struct stack_fixture fixture;
	stack_begin(&fixture);
	uint64_t sp = stack_in_native_code(&fixture), other = sp + 0x4000;
	fake_poke_u64(fixture.memory, other, fixture.object);
	/* A call out of code that no table has; the frames above it may hold what they want. */
	fake_inlined_call(fixture.stack, sp + 8, FAKE_NATIVE, sp, 0);
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	CU_ASSERT(strstr(fixture.result.why, "leads to code that is not known") != NULL);
	ASSERT_UINT(stack_root_at(&fixture, other)->flags, STACK_ROOT_CONSERVATIVE);
	/* A return address that is neither managed nor of a library. */
	struct target_mapping mapping = { .start = FAKE_CODE, .end = FAKE_CODE + 0x1000 };
	char path[] = "/usr/lib/libother.so";
	struct target_module module = { .path = path };
	mapping.path = path;
	fixture.fake->target.map.mappings = &mapping;
	fixture.fake->target.modules = &module;
	fixture.fake->target.map.mapping_count = fixture.fake->target.module_count = 1;
	fake_poke_u64(fixture.memory, sp + 8 + 32, fake_call(fixture.work, 1));
	stack_frames(&fixture, fixture.work, sp, 2);
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	CU_ASSERT(strstr(fixture.result.why, " is not known") != NULL);
	ASSERT_UINT(fixture.result.managed_count, 2);
	/* By its name, wherever that is. */
	mapping.end = FAKE_CODE + FAKE_CODE_SIZE + 0x1000;
	char linked[] = "/lib/libother.so";
	module.path = linked;
	stack_again(&fixture);
	CU_ASSERT(!fixture.result.is_partial);
	/* By where its .dynamic lies, if the linker found it under a name that is a link. */
	char link[] = "/lib/ld-other.so.1";
	module.path = link;
	stack_again(&fixture);
	CU_ASSERT(fixture.result.is_partial);
	module.dynamic = FAKE_CODE + FAKE_CODE_SIZE + 8;
	stack_again(&fixture);
	CU_ASSERT(!fixture.result.is_partial);
	fixture.fake->target.map.mappings = NULL;
	fixture.fake->target.modules = NULL;
	fixture.fake->target.map.mapping_count = fixture.fake->target.module_count = 0;
	stack_end(&fixture);
}

SUITE(.name = "stack_damage")
