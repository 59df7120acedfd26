/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define GARBAGE 0x4141414141414140u
#define LOCKED  0x0000beefu
#define SYNC    0x08000000u

/* A sound heap: a young region with objects that refer to each other, and an old one. */
struct fixture {
	struct fake_clr *fake;
	uint64_t node, vector, numbers, finalizable;   /* types */
	uint64_t first, list, next, text, bytes, last; /* objects, one after the other */
	uint64_t old, old_next, old_last, old_segment;
	struct heap *heap;
	struct verify_result result;
};

static void begin(struct fixture *fixture)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	*fixture = (struct fixture){ .fake = fake };
	const struct gc_series one = { .size = -24, .offset = 8 };
	fixture->node = fake_type(
		fake, &(struct fake_type){ .base_size = 32, .series = &one, .series_count = 1 });
	fixture->vector = fake_array_type(fake, fixture->node);
	fixture->numbers = fake_type(
		fake,
		&(struct fake_type){ .base_size = 24, .component_size = 1, .flags = 0x000a0000 });
	fixture->old_segment = fake_segment(fake, 0, GENERATION_2, 0x2000);
	fixture->old = fake_object(fake, fixture->node, 0);
	fixture->old_next = fake_object(fake, fixture->node, 0);
	for (int i = 0; i < 8; i++)
		fixture->old_last = fake_object(fake, fixture->node, 0);
	(void)fake_segment(fake, 0, GENERATION_0, 0x2000);
	fixture->first = fake_object(fake, fixture->node, 0);
	fixture->list = fake_object(fake, fixture->vector, 8);
	fixture->next = fake_object(fake, fixture->node, 0);
	fixture->text = fake_string(fake, "a string of the heap");
	fixture->bytes = fake_object(fake, fixture->numbers, 40);
	for (int i = 0; i < 8; i++)
		fixture->last = fake_object(fake, fixture->node, 0);
	struct fake_memory *memory = &fake->memory;
	fake_poke_u64(memory, fixture->list + 16, fixture->first);
	fake_poke_u64(memory, fixture->list + 24, fixture->next);
	fake_poke_u64(memory, fixture->list + 32, fixture->old);
	fake_poke_u64(memory, fixture->list + 40, fixture->old_next);
	fake_poke_u64(memory, fixture->first + 8, fixture->list);
	fake_poke_u64(memory, fixture->next + 8, fixture->list);
	fake_poke_u64(memory, fixture->old + 8, fixture->old_next);
}

static void poke(struct fixture *fixture, uint64_t address, uint64_t value)
{
	fake_poke_u64(&fixture->fake->memory, address, value);
}

static void verify(struct fixture *fixture)
{
	verify_result_deinit(&fixture->result);
	fixture->heap = fake_heap(fixture->fake);
	ASSERT_UINT_FATAL(verify_heap(fixture->heap, NULL, NULL, &fixture->result, NULL), HD_OK);
}

static void end(struct fixture *fixture)
{
	verify_result_deinit(&fixture->result);
	fake_clr_destroy(fixture->fake);
}

/* Verify: exactly one finding, of this kind, verdict and place. */
static const struct verify_finding *one(struct fixture *fixture, const char *kind,
					enum verdict verdict, uint64_t address, uint64_t slot)
{
	verify(fixture);
	ASSERT_UINT_FATAL(fixture->result.count, 1);
	const struct verify_finding *finding = &fixture->result.findings[0];
	ASSERT_TEXT(finding->kind, kind);
	ASSERT_TEXT(verdict_name(finding->verdict), verdict_name(verdict));
	ASSERT_UINT(finding->address, address);
	ASSERT_UINT(finding->slot, slot);
	ASSERT_UINT(fixture->result.damage_count, verdict == VERDICT_DAMAGE);
	return finding;
}

TEST(a_sound_heap_has_no_finding)
{
	struct fixture fixture;
	begin(&fixture);
	(void)fake_context(fixture.fake, 0x100);
	(void)fake_free(fixture.fake, 40);
	(void)fake_object(fixture.fake, fixture.node, 0);
	verify(&fixture);
	ASSERT_UINT(fixture.result.count, 0);
	ASSERT_UINT(fixture.result.damage_count, 0);
	ASSERT_UINT(fixture.result.objects, 10 + 13 + 2);
	end(&fixture);
}

TEST(a_bad_method_table_is_one_finding_with_its_referrers)
{
	struct fixture fixture;
	begin(&fixture);
	poke(&fixture, fixture.next, GARBAGE);
	const struct verify_finding *finding =
		one(&fixture, "InvalidMethodTable", VERDICT_DAMAGE, fixture.next, fixture.next);
	ASSERT_UINT(finding->word, GARBAGE);
	ASSERT_UINT(finding->skipped, 32);
	ASSERT_UINT(finding->last_good.address, fixture.list);
	ASSERT_UINT(finding->referrer_count, 1);
	ASSERT_UINT(finding->referrers[0], fixture.list);
	ASSERT_UINT(finding->consequence_count, 1);
	ASSERT_UINT(finding->consequences[0], fixture.list);
	poke(&fixture, fixture.next, fixture.first);
	(void)one(&fixture, "InvalidMethodTable", VERDICT_DAMAGE, fixture.next, fixture.next);
	poke(&fixture, fixture.next, fixture.next);
	(void)one(&fixture, "InvalidMethodTable", VERDICT_DAMAGE, fixture.next, fixture.next);
	poke(&fixture, fixture.next, 0);
	(void)one(&fixture, "InvalidMethodTable", VERDICT_DAMAGE, fixture.next, fixture.next);
	end(&fixture);
}

TEST(bad_references_are_the_fault_of_who_refers)
{
	struct fixture fixture;
	begin(&fixture);
	uint64_t hole = fake_free(fixture.fake, 48), slot = fixture.list + 48;
	(void)fake_object(fixture.fake, fixture.node, 0);
	const struct {
		uint64_t value;
		const char *kind;
	} cases[] = {
		{ 0x123456789000, "InvalidObjectReference" },
		{ fixture.first + 4, "ObjectReferenceNotPointerAligned" },
		{ fixture.first + 8, "InvalidObjectReference" },
		{ fixture.text + 16, "InvalidObjectReference" },
		{ hole, "FreeObjectReference" },
		{ fixture.node, "InvalidObjectReference" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		poke(&fixture, slot, cases[i].value);
		const struct verify_finding *finding =
			one(&fixture, cases[i].kind, VERDICT_DAMAGE, fixture.list, slot);
		ASSERT_UINT(finding->word, cases[i].value);
		ASSERT_UINT(finding->last_good.address, fixture.first);
		ASSERT_UINT(finding->referrer_count, 2);
	}
	end(&fixture);
}

TEST(wrong_lengths_are_the_fault_of_the_array)
{
	struct fixture fixture;
	begin(&fixture);
	fake_poke_u32(&fixture.fake->memory, fixture.list + 8, 0xffffffff);
	const struct verify_finding *finding =
		one(&fixture, "ObjectTooLarge", VERDICT_DAMAGE, fixture.list, fixture.list + 8);
	ASSERT_UINT(finding->word, 0xffffffff);
	ASSERT_UINT(finding->skipped, 24 + 64);
	fake_poke_u32(&fixture.fake->memory, fixture.list + 8, 2);
	finding =
		one(&fixture, "ObjectSizeMismatch", VERDICT_DAMAGE, fixture.list, fixture.list + 8);
	ASSERT_UINT(finding->word, 2);
	ASSERT_UINT(finding->last_good.address, fixture.first);
	/* Two elements more: all but the string's first bytes is covered. */
	fake_poke_u32(&fixture.fake->memory, fixture.list + 8, 8 + 4);
	(void)one(&fixture, "ObjectSizeMismatch", VERDICT_DAMAGE, fixture.list, fixture.list + 8);
	fake_poke_u32(&fixture.fake->memory, fixture.list + 8, 8);
	/* A string that ends in the middle of its characters. */
	fake_poke_u32(&fixture.fake->memory, fixture.text + 8, 5);
	(void)one(&fixture, "ObjectSizeMismatch", VERDICT_DAMAGE, fixture.text, fixture.text + 8);
	end(&fixture);
}

TEST(headers_are_checked)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_clr *fake = fixture.fake;
	uint32_t index = fake_sync_block(fake, fixture.first);
	(void)fake_thread(fake);
	fake_header(fake, fixture.old, 1); /* a thin lock of that thread */
	verify(&fixture);
	ASSERT_UINT(fixture.result.count, 0);
	fake_header(fake, fixture.old, LOCKED);
	(void)one(&fixture, "InvalidThinlock", VERDICT_DAMAGE, fixture.old, fixture.old - 4);
	fake_header(fake, fixture.old, SYNC | index);
	(void)one(&fixture, "SyncBlockMismatch", VERDICT_DAMAGE, fixture.old, fixture.old - 4);
	fake_header(fake, fixture.old, SYNC | 0x3fffff);
	(void)one(&fixture, "SyncBlockMismatch", VERDICT_DAMAGE, fixture.old, fixture.old - 4);
	fake_header(fake, fixture.old, SYNC);
	(void)one(&fixture, "SyncBlockZero", VERDICT_DAMAGE, fixture.old, fixture.old - 4);
	fake_header(fake, fixture.old, 0);
	poke(&fixture, fixture.old, fixture.node | 1);
	(void)one(&fixture, "MarkBitSet", VERDICT_DAMAGE, fixture.old, fixture.old);
	end(&fixture);
}

TEST(many_marks_are_a_collection)
{
	struct fixture fixture;
	begin(&fixture);
	for (uint64_t i = 0; i < 6; i++)
		poke(&fixture, fixture.old + 32 * i, fixture.node | 1);
	verify(&fixture);
	ASSERT_UINT(fixture.result.count, 1);
	const struct verify_finding *finding = &fixture.result.findings[0];
	ASSERT_UINT(finding->verdict, VERDICT_GC_IN_PROGRESS);
	ASSERT_UINT(finding->segment,
		    heap_segment_at(fake_heap(fixture.fake), finding->address)->address);
	ASSERT_UINT(fixture.result.damage_count, 0);
	end(&fixture);
}

TEST(a_collection_that_moves_objects_is_no_damage)
{
	struct fixture fixture;
	begin(&fixture);
	poke(&fixture, fixture.next, GARBAGE);
	poke(&fixture, fixture.list + 48, 0x123456789000);
	struct heap *heap = fake_heap(fixture.fake);
	heap->gc_in_progress = true;
	ASSERT_UINT(verify_heap(heap, NULL, NULL, &fixture.result, NULL), HD_OK);
	ASSERT_UINT(fixture.result.count, 1);
	ASSERT_UINT(fixture.result.findings[0].verdict, VERDICT_GC_IN_PROGRESS);
	ASSERT_UINT(fixture.result.damage_count, 0);
	end(&fixture);
}

static void verify_moving(struct fixture *fixture, const struct verify_options *options)
{
	verify_result_deinit(&fixture->result);
	fixture->heap = fake_heap(fixture->fake);
	fixture->heap->gc_in_progress = true;
	ASSERT_UINT_FATAL(verify_heap(fixture->heap, options, NULL, &fixture->result, NULL), HD_OK);
}

/* Two objects next to each other. */
static void mark_two(struct fixture *fixture, uint64_t bits)
{
	poke(fixture, fixture->old, fixture->node | bits);
	poke(fixture, fixture->old_next, fixture->node | bits);
}

/* While objects of the small object heap are marked, the GC only plans: see moving.c. */
static const struct verify_options crashed = { .crashed = true };

TEST(what_no_plan_writes_is_damage)
{
	struct fixture fixture;
	begin(&fixture);
	mark_two(&fixture, 1);
	verify_moving(&fixture, &crashed);
	ASSERT_UINT(fixture.result.count, 0);
	poke(&fixture, fixture.next, GARBAGE);
	verify_moving(&fixture, &crashed);
	ASSERT_UINT_FATAL(fixture.result.count, 1);
	ASSERT_UINT(fixture.result.damage_count, 1);
	ASSERT_UINT(fixture.result.findings[0].address, fixture.next);
	/* Where nothing crashed nothing is doubted. */
	verify_moving(&fixture, NULL);
	ASSERT_UINT(fixture.result.damage_count, 0);
	/* Once all marks are gone, it may have copied something over it. */
	mark_two(&fixture, 0);
	verify_moving(&fixture, &crashed);
	ASSERT_UINT(fixture.result.damage_count, 0);
	/* One alone may be the first of a plug that gets room before it. */
	poke(&fixture, fixture.old, fixture.node | 1);
	verify_moving(&fixture, &crashed);
	ASSERT_UINT(fixture.result.damage_count, 0);
	/* But not where a thread crashed with it. */
	const uint64_t suspect = fixture.next + 16;
	const struct verify_options options = { .crashed = true,
						.suspects = &suspect,
						.suspect_count = 1 };
	verify_moving(&fixture, &options);
	ASSERT_UINT(fixture.result.damage_count, 1);
	poke(&fixture, fixture.next, fixture.node);
	/* A length that leaves the region, and one that only leaves what is in use of it. */
	mark_two(&fixture, 1);
	uint64_t array = fake_object(fixture.fake, fixture.numbers, 40);
	fake_poke_u32(&fixture.fake->memory, array + 8, 0x7fffffff);
	verify_moving(&fixture, &crashed);
	ASSERT_UINT(fixture.result.damage_count, 1);
	ASSERT_UINT(fixture.result.findings[0].address, array);
	fake_poke_u32(&fixture.fake->memory, array + 8, 80);
	verify_moving(&fixture, &crashed);
	ASSERT_UINT(fixture.result.count, 1);
	ASSERT_UINT(fixture.result.damage_count, 0);
	end(&fixture);
}

/* The array is at fault whose length leads into the midst of an object after it. */
TEST(an_array_that_covers_objects_is_at_fault)
{
	struct fixture fixture;
	begin(&fixture);
	uint64_t array = fake_object(fixture.fake, fixture.numbers, 40);
	for (int i = 0; i < 8; i++)
		(void)fake_object(fixture.fake, fixture.node, 0);
	/* Two of them, and 16 bytes of the third one. */
	fake_poke_u32(&fixture.fake->memory, array + 8, 40 + 2 * 32 + 16);
	(void)one(&fixture, "ObjectSizeMismatch", VERDICT_DAMAGE, array, array + 8);
	mark_two(&fixture, 1);
	verify_moving(&fixture, &crashed);
	ASSERT_UINT_FATAL(fixture.result.count, 1);
	ASSERT_UINT(fixture.result.findings[0].address, array);
	ASSERT_UINT(fixture.result.findings[0].verdict, VERDICT_DAMAGE);
	end(&fixture);
}

TEST(zeros_in_generation_0_are_a_context_without_owner)
{
	struct fixture fixture;
	begin(&fixture);
	uint64_t hole = fake_hole(fixture.fake, 0x80);
	for (int i = 0; i < 8; i++)
		fixture.last = fake_object(fixture.fake, fixture.node, 0);
	(void)one(&fixture, "UnownedContext", VERDICT_UNOWNED_CONTEXT, hole, hole);
	/* Unless somebody refers into them. */
	poke(&fixture, fixture.list + 48, hole);
	(void)one(&fixture, "InvalidMethodTable", VERDICT_DAMAGE, hole, hole);
	end(&fixture);
}

/* A thread clears the memory of its next context: after the zeros lie objects of earlier collections. */
TEST(memory_that_is_being_cleared_proves_nothing)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_clr *fake = fixture.fake;
	uint64_t hole = fake_hole(fake, 0x80), stale = 0;
	for (int i = 0; i < 8; i++)
		stale = fake_object(fake, fixture.node, 0);
	/* To where there was an object once, after what is in use now. */
	poke(&fixture, stale + 8, stale + 0x400);
	fake_header(fake, stale, LOCKED);
	struct runtime_thread *thread = fake_thread(fake);
	(void)fake_heap(fake);
	thread->is_cooperative = true;
	(void)one(&fixture, "UnownedContext", VERDICT_UNOWNED_CONTEXT, hole, hole);
	end(&fixture);
}

/* A thread takes a part of a large Free block, in which a dead array begins, and makes the rest a block of its own. */
TEST(the_rest_of_a_large_block_is_no_member_of_a_dead_array)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_clr *fake = fixture.fake;
	(void)fake_segment(fake, 0, GENERATION_LOH, 0x2000);
	uint64_t array = fake_object(fake, fake->object_array_type, 100);
	poke(&fixture, array + 0x80, fake->free_type);
	struct runtime_thread *thread = fake_thread(fake);
	(void)one(&fixture, "InvalidObjectReference", VERDICT_DAMAGE, array, array + 0x80);
	(void)fake_heap(fake);
	thread->is_cooperative = true;
	(void)one(&fixture, "UnownedContext", VERDICT_UNOWNED_CONTEXT, array, array + 0x80);
	/* A word that is not a header stays damage. */
	poke(&fixture, array + 0x80, fake->free_type + 8);
	(void)one(&fixture, "InvalidObjectReference", VERDICT_DAMAGE, array, array + 0x80);
	end(&fixture);
}

/*
 * Dead objects that a background GC has not freed yet may still refer to those that it has freed.
 */
TEST(swept_blocks_may_be_referred_to_by_the_dead)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_clr *fake = fixture.fake;
	uint64_t block = fake_free(fake, 0x100);
	for (int i = 0; i < 8; i++)
		(void)fake_object(fake, fixture.node, 0);
	poke(&fixture, fixture.first + 8, block + 0x40);
	poke(&fixture, fixture.next + 8, block + 0x40);
	poke(&fixture, block + 0x40, fixture.node);
	verify(&fixture);
	CU_ASSERT(fixture.result.damage_count > 0);
	verify_result_deinit(&fixture.result);
	struct heap *heap = fake_heap(fake);
	heap->runtime->gc.gc_state = 1; /* c_gc_state_planning (gc.h) */
	ASSERT_UINT_FATAL(verify_heap(heap, NULL, NULL, &fixture.result, NULL), HD_OK);
	CU_ASSERT(fixture.result.count > 0);
	ASSERT_UINT(fixture.result.damage_count, 0);
	end(&fixture);
}

TEST(a_wrong_half_of_a_context_is_its_own_finding)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_clr *fake = fixture.fake;
	uint64_t zeros = fake_object(fake, fixture.vector, 64);
	(void)fake_object(fake, fixture.node, 0);
	(void)fake_context(fake, 0x200);
	for (int i = 0; i < 4; i++)
		(void)fake_object(fake, fixture.node, 0);
	uint64_t pointer = fake_context(fake, 0x200);
	for (int i = 0; i < 4; i++)
		(void)fake_object(fake, fixture.node, 0);
	struct runtime_thread *before = &fake->threads[0], *thread = &fake->threads[1];
	/* A context lies where the Thread is. */
	before->alloc_context = before->address;
	thread->alloc_context = thread->address;
	/* Over the objects between the two contexts, and over the end of the one before. */
	thread->alloc_pointer = pointer - 0x100;
	(void)one(&fixture, "InvalidAllocationContext", VERDICT_DAMAGE, thread->address,
		  thread->address);
	thread->alloc_pointer = pointer;
	/* Into the zeros of an object. */
	before->alloc_pointer = zeros + 64;
	(void)one(&fixture, "InvalidAllocationContext", VERDICT_DAMAGE, before->address,
		  before->address);
	end(&fixture);
}

TEST(a_context_may_be_covered_by_one_free_block)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_clr *fake = fixture.fake;
	uint64_t pointer = fake_context(fake, 0x200);
	for (int i = 0; i < 4; i++)
		(void)fake_object(fake, fixture.node, 0);
	struct runtime_thread *thread = &fake->threads[0];
	thread->alloc_context = thread->address;
	uint64_t size = thread->alloc_limit - pointer;
	/* As it is made and cleared again, word by word. */
	const uint64_t words[][4] = {
		{ fake->free_type, 0, 0, 0 },
		{ fake->free_type, size, 0, 0 },
		{ fake->free_type, size, 0, 1 },
		{ 0, size, 0, 1 },
		{ 0, 0, 0, 1 },
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		for (size_t j = 0; j < 4; j++)
			poke(&fixture, pointer + 8 * j, words[i][j]);
		verify(&fixture);
		ASSERT_UINT(fixture.result.count, 0);
	}
	/* Another length, another word. */
	poke(&fixture, pointer, fake->free_type);
	poke(&fixture, pointer + 8, size - 24);
	(void)one(&fixture, "InvalidAllocationContext", VERDICT_DAMAGE, thread->address,
		  thread->address);
	poke(&fixture, pointer + 8, size);
	poke(&fixture, pointer + 32, 1);
	(void)one(&fixture, "InvalidAllocationContext", VERDICT_DAMAGE, thread->address,
		  thread->address);
	end(&fixture);
}

TEST(an_end_in_the_wrong_place_is_one_finding)
{
	struct fixture fixture;
	begin(&fixture);
	poke(&fixture, fixture.old_segment, fixture.old_next);
	const struct verify_finding *finding = one(&fixture, "InvalidSegmentEnd", VERDICT_DAMAGE,
						   fixture.old_segment, fixture.old_segment);
	ASSERT_UINT(finding->consequence_count, 2); /* old and the list refer after it */
	poke(&fixture, fixture.old_segment, fixture.old_next + 16);
	(void)one(&fixture, "InvalidSegmentEnd", VERDICT_DAMAGE, fixture.old_segment,
		  fixture.old_segment);
	poke(&fixture, fixture.old_segment, fixture.old_last + 32 + 64);
	(void)one(&fixture, "InvalidSegmentEnd", VERDICT_DAMAGE, fixture.old_segment,
		  fixture.old_segment);
	end(&fixture);
}

TEST(a_list_that_leads_back_is_one_finding)
{
	struct fixture fixture;
	begin(&fixture);
	poke(&fixture, fixture.old_segment + 48, fixture.old_segment);
	(void)one(&fixture, "InvalidSegmentList", VERDICT_DAMAGE, fixture.old_segment,
		  fixture.old_segment + 48);
	end(&fixture);
}

TEST(ranges_and_segments_limit_what_is_told)
{
	struct fixture fixture;
	begin(&fixture);
	poke(&fixture, fixture.next, GARBAGE);
	struct heap *heap = fake_heap(fixture.fake);
	const struct segment *old = heap_segment_at(heap, fixture.old);
	struct verify_options options = { .segments = &old, .segment_count = 1 };
	ASSERT_UINT(verify_heap(heap, &options, NULL, &fixture.result, NULL), HD_OK);
	ASSERT_UINT(fixture.result.count, 0);
	ASSERT_UINT(fixture.result.objects, 10);
	verify_result_deinit(&fixture.result);
	options = (struct verify_options){ .begin = fixture.next, .end = fixture.next + 1 };
	ASSERT_UINT(verify_heap(heap, &options, NULL, &fixture.result, NULL), HD_OK);
	ASSERT_UINT(fixture.result.count, 1);
	end(&fixture);
}

TEST(one_object_is_verified_as_all_are)
{
	struct fixture fixture;
	begin(&fixture);
	struct verify_result *result = &fixture.result;
	poke(&fixture, fixture.next, GARBAGE);
	poke(&fixture, fixture.old + 8, 0x1234);
	struct heap *heap = fake_heap(fixture.fake);
	const struct {
		uint64_t address;
		const char *kind; /* NULL: valid */
	} cases[] = {
		{ fixture.text, NULL },
		{ fixture.next, "InvalidMethodTable" },
		{ fixture.old, "ObjectReferenceNotPointerAligned" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ASSERT_UINT(verify_object(heap, cases[i].address, NULL, result, NULL), HD_OK);
		ASSERT_UINT(result->count, cases[i].kind != NULL);
		if (result->count)
			ASSERT_TEXT(result->findings[0].kind, cases[i].kind);
		verify_result_deinit(result);
	}
	end(&fixture);
}

TEST(a_background_gc_may_move_the_end_before_references_are_gone)
{
	struct fixture fixture;
	begin(&fixture);
	poke(&fixture, fixture.old_segment, fixture.old_next);
	verify(&fixture);
	CU_ASSERT(fixture.result.damage_count > 0);
	verify_result_deinit(&fixture.result);
	struct heap *heap = fake_heap(fixture.fake);
	heap->runtime->gc.gc_state = 1; /* c_gc_state_planning (gc.h) */
	ASSERT_UINT_FATAL(verify_heap(heap, NULL, NULL, &fixture.result, NULL), HD_OK);
	CU_ASSERT(fixture.result.count > 0);
	ASSERT_UINT(fixture.result.damage_count, 0);
	end(&fixture);
}

TEST(an_object_is_sound_whatever_is_wrong_elsewhere)
{
	struct fixture fixture;
	begin(&fixture);
	struct verify_result *result = &fixture.result;
	struct runtime_thread *thread = fake_thread(fixture.fake);
	thread->alloc_pointer = fixture.old_last;
	thread->alloc_limit = fixture.old_last + 64;
	poke(&fixture, fixture.old_segment, fixture.old_next);
	const struct verify_finding *finding = one(&fixture, "InvalidSegmentEnd", VERDICT_DAMAGE,
						   fixture.old_segment, fixture.old_segment);
	/* Two objects refer to what lies after that end, and the context lies there. */
	ASSERT_UINT(finding->consequence_count, 3);
	verify_result_deinit(result);
	ASSERT_UINT(verify_object(fixture.heap, fixture.first, NULL, result, NULL), HD_OK);
	ASSERT_UINT(result->count, 0);
	verify_result_deinit(result);
	ASSERT_UINT(verify_object(fixture.heap, fixture.list, NULL, result, NULL), HD_OK);
	ASSERT_UINT(result->count, 1);
	end(&fixture);
}

TEST(damaged_objects_are_those_that_are_found_one_by_one)
{
	static const struct verify_options options = { .list_damaged = true };
	struct fixture fixture;
	uint64_t referrers[2 * CONSEQUENCES_KEPT];
	const size_t count = sizeof(referrers) / sizeof(*referrers);
	begin(&fixture);
	poke(&fixture, fixture.next, GARBAGE);
	poke(&fixture, fixture.old + 8, 0x1234);
	for (size_t i = 0; i < count; i++) {
		referrers[i] = fake_object(fixture.fake, fixture.node, 0);
		poke(&fixture, referrers[i] + 8, fixture.next);
	}
	struct heap *heap = fake_heap(fixture.fake);
	const uint64_t others[] = { fixture.old, fixture.list, fixture.next };
	const uint64_t sound[] = { fixture.old_next, fixture.first, fixture.text, fixture.last };
	struct verify_result all, *result = &fixture.result;
	ASSERT_UINT_FATAL(verify_heap(heap, &options, NULL, &all, NULL), HD_OK);
	ASSERT_UINT_FATAL(all.damaged_count, 3 + count);
	for (size_t i = 0; i < all.damaged_count; i++) {
		ASSERT_UINT(all.damaged[i], i < 3 ? others[i] : referrers[i - 3]);
		ASSERT_UINT(verify_object(heap, all.damaged[i], NULL, result, NULL), HD_OK);
		CU_ASSERT(result->damage_count > 0);
		verify_result_deinit(result);
	}
	for (size_t i = 0; i < sizeof(sound) / sizeof(*sound); i++) {
		ASSERT_UINT(verify_object(heap, sound[i], NULL, result, NULL), HD_OK);
		ASSERT_UINT(result->damage_count, 0);
		verify_result_deinit(result);
	}
	verify_result_deinit(&all);
	end(&fixture);
}

TEST(every_allocation_may_fail)
{
	static const struct verify_options options = { .list_damaged = true };
	struct fixture fixture;
	begin(&fixture);
	poke(&fixture, fixture.next, GARBAGE);
	poke(&fixture, fixture.old + 8, 0x1234);
	fake_header(fixture.fake, fixture.old_next, SYNC);
	struct heap *heap = fake_heap(fixture.fake);
	enum hd_status status = HD_ERR_NOMEM;
	for (uint64_t nth = 1; nth < 1000 && status != HD_OK; nth++) {
		alloc_fail_at(nth);
		status = verify_heap(heap, &options, NULL, &fixture.result, NULL);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
	}
	ASSERT_UINT(status, HD_OK);
	ASSERT_UINT(fixture.result.count, 3);
	end(&fixture);
}

SUITE(.name = "verify")
