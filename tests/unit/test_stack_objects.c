/* SPDX-License-Identifier: MIT */
#include "analysis/threads/stack_objects.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"

/* Two objects and a Free block, and an array whose elements are the words of a range. */
struct words_heap {
	struct fake_clr *fake;
	struct heap *heap;
	uint64_t first, second, free, array;
	struct job job;
};

#define WORDS    5u
#define ELEMENTS 16u /* their offset in an array */

static void make(struct words_heap *made)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	*made = (struct words_heap){ .fake = fake, .job = { .workers = 1 } };
	(void)fake_segment(fake, 0, GENERATION_0, 4096);
	made->first = fake_object(fake, fake->object_type, 0);
	made->free = fake_free(fake, 64);
	made->second = fake_object(fake, fake->object_type, 0);
	made->array = fake_object(fake, fake->object_array_type, WORDS);
	const uint64_t words[WORDS] = { made->second, made->first + 8, made->free, made->first,
					made->second };
	for (uint64_t i = 0; i < WORDS; i++)
		fake_poke_u64(&fake->memory, made->array + ELEMENTS + 8 * i, words[i]);
	made->heap = fake_heap(fake);
}

static struct stack_object next(struct words_heap *made, struct stack_objects *objects)
{
	struct stack_object found = { 0 };
	ASSERT_UINT(stack_objects_next(objects, &made->job, &found, NULL), HD_OK);
	return found;
}

static void check(struct words_heap *made, struct stack_objects *objects, uint64_t slot,
		  uint64_t object)
{
	struct stack_object found = next(made, objects);
	ASSERT_UINT(found.slot, slot);
	ASSERT_UINT(found.object.address, object);
	CU_ASSERT(!found.object.type == !object);
}

TEST(words_of_a_range_are_exact_starts_of_objects)
{
	struct words_heap made;
	struct stack_objects objects;
	make(&made);
	ASSERT_UINT_FATAL(stack_objects_open(made.heap, &made.job, &objects, NULL), HD_OK);
	uint64_t words = made.array + ELEMENTS;
	stack_objects_begin_range(&objects, words - 3, words + 8 * WORDS);
	check(&made, &objects, words, made.second);
	check(&made, &objects, words + 24, made.first);
	check(&made, &objects, words + 32, made.second);
	check(&made, &objects, 0, 0);
	ASSERT_UINT(objects.missing, 0);
	/* A word that the range cuts off is left out. */
	stack_objects_begin_range(&objects, words + 8, words + 31);
	check(&made, &objects, 0, 0);
	stack_objects_begin_range(&objects, 1000, 2000);
	check(&made, &objects, 0, 0);
	ASSERT_UINT(objects.missing, 1000);
	stack_objects_begin_range(&objects, UINT64_MAX - 3, UINT64_MAX);
	check(&made, &objects, 0, 0);
	stack_objects_close(&objects);
	fake_clr_destroy(made.fake);
}

TEST(words_of_a_stack_come_once_and_registers_first)
{
	struct words_heap made;
	struct stack_objects objects;
	make(&made);
	struct stack_root roots[] = {
		{ .address = 0x9000, .value = made.first },
		{ .address = 0x8000, .value = made.first + 8, .flags = STACK_ROOT_INTERIOR },
		{ .address = 0x8008, .value = made.second },
		{ .address = 0x9000, .value = made.first, .base = 5 },
		{ .value = made.array, .base = 12, .is_register = true },
		{ .value = made.second, .base = 3, .is_register = true },
		/* A handle is not on the stack. */
		{ .address = 0x8010, .value = made.first, .kind = STACK_ROOT_EXCEPTION },
	};
	const struct thread_stack stack = { .roots = roots,
					    .roots_count = sizeof(roots) / sizeof(roots[0]) };
	ASSERT_UINT_FATAL(stack_objects_open(made.heap, &made.job, &objects, NULL), HD_OK);
	for (unsigned int turn = 0; turn < 2; turn++) {
		ASSERT_UINT_FATAL(stack_objects_begin(&objects, &stack, NULL), HD_OK);
		struct stack_object found = next(&made, &objects);
		ASSERT_UINT(found.base, 3);
		ASSERT_UINT(found.object.address, made.second);
		found = next(&made, &objects);
		ASSERT_UINT(found.base, 12);
		ASSERT_UINT(found.slot, 0);
		check(&made, &objects, 0x8008, made.second);
		check(&made, &objects, 0x9000, made.first);
		check(&made, &objects, 0, 0);
	}
	struct job stopped = { .workers = 1, .stop = true };
	struct stack_object found;
	ASSERT_UINT(stack_objects_next(&objects, &stopped, &found, NULL), HD_ERR_CANCELLED);
	alloc_fail_at(1);
	ASSERT_UINT(stack_objects_begin(&objects, &stack, NULL), HD_ERR_NOMEM);
	alloc_fail_at(0);
	stack_objects_close(&objects);
	fake_clr_destroy(made.fake);
}

SUITE(.name = "stack_objects")
