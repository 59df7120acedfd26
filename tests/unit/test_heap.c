/* SPDX-License-Identifier: MIT */
#include "gc/layouts/gc_vars.h"
#include "gc/segments.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"

/* heap_segment (gcpriv.h). */
enum {
	ALLOCATED = 0,
	RESERVED = 16,
	MEM = 32,
	NEXT = 48
};

static void check_segment(const struct segment *segment, uint64_t address, uint32_t heap,
			  enum generation generation)
{
	ASSERT_UINT(segment->address, address);
	ASSERT_UINT(segment->heap, heap);
	ASSERT_TEXT(generation_name((enum generation)segment->generation),
		    generation_name(generation));
	CU_ASSERT(segment->begin <= segment->end);
	CU_ASSERT(segment->end <= segment->reserved);
}

static void check_problem(const struct heap *heap, const char *kind, uint64_t segment,
			  uint64_t slot, uint64_t word)
{
	ASSERT_UINT_FATAL(heap->problem_count, 1);
	ASSERT_TEXT(heap->problems[0].kind, kind);
	ASSERT_UINT(heap->problems[0].segment, segment);
	ASSERT_UINT(heap->problems[0].slot, slot);
	ASSERT_UINT(heap->problems[0].word, word);
	ASSERT_UINT(heap->runtime->target->findings.count, 1);
	CU_ASSERT_TRUE(findings_has(&heap->runtime->target->findings, FINDING_SEGMENT_LIST));
}

TEST(regions)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	static const enum generation order[] = { GENERATION_NONGC, GENERATION_0,    GENERATION_2,
						 GENERATION_LOH,   GENERATION_1,    GENERATION_0,
						 GENERATION_POH,   GENERATION_NONGC };
	enum {
		COUNT = sizeof(order) / sizeof(order[0])
	};
	uint64_t addresses[COUNT], object = 0;
	for (size_t i = 0; i < COUNT; i++) {
		addresses[i] = fake_segment(fake, 0, order[i], 0x1000);
		object = fake_object(fake, fake->string_type, 5);
	}
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT_FATAL(heap->segment_count, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		/* Made at rising addresses. */
		const struct segment *segment = &heap->segments[i];
		check_segment(segment, addresses[i], 0, order[i]);
		ASSERT_UINT(segment->end - segment->begin, 32);
		CU_ASSERT_PTR_EQUAL(heap_segment_at(heap, segment->begin), segment);
		CU_ASSERT_PTR_EQUAL(heap_segment_at(heap, segment->end - 1), segment);
		CU_ASSERT_PTR_NULL(heap_segment_at(heap, segment->end));
		CU_ASSERT_PTR_NULL(heap_segment_at(heap, segment->begin - 1));
		ASSERT_UINT(segment_generation_at(segment, segment->begin), order[i]);
	}
	CU_ASSERT_PTR_EQUAL(heap_segment_at(heap, object), &heap->segments[COUNT - 1]);
	CU_ASSERT_PTR_NULL(heap_segment_at(heap, 0));
	CU_ASSERT_PTR_NULL(heap_segment_at(heap, UINT64_MAX));
	CU_ASSERT_TRUE(heap->is_walkable);
	CU_ASSERT_FALSE(heap->gc_in_progress);
	ASSERT_UINT(heap->heap_count, 1);
	ASSERT_UINT(heap->heap_addresses[0], 0);
	ASSERT_UINT(fake->target.findings.count, 0);
	fake_clr_destroy(fake);
}

/* alloc_allocated, not the segment's own word, says where the ephemeral one ends. */
TEST(end_of_the_ephemeral_region)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t address = fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t object = fake_object(fake, fake->object_type, 0);
	fake_poke_u64(&fake->memory, address + ALLOCATED, object);
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT(heap->segments[0].end, object + 24);
	ASSERT_UINT(heap->segments[0].end_slot, fake->gc.alloc_allocated);
	fake_clr_destroy(fake);
}

TEST(segments)
{
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .has_segments = true });
	uint64_t old = fake_segment(fake, 0, GENERATION_2, 0x1000);
	fake_object(fake, fake->object_type, 0);
	uint64_t ephemeral = fake_segment(fake, 0, GENERATION_EPHEMERAL, 0x1000);
	uint64_t in2 = fake_object(fake, fake->object_type, 0);
	fake_begin_generation(fake, 0, GENERATION_1);
	uint64_t in1 = fake_object(fake, fake->object_type, 0);
	fake_begin_generation(fake, 0, GENERATION_0);
	uint64_t in0 = fake_object(fake, fake->object_type, 0);
	uint64_t large = fake_segment(fake, 0, GENERATION_LOH, 0x1000);
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT_FATAL(heap->segment_count, 3);
	check_segment(&heap->segments[0], old, 0, GENERATION_2);
	check_segment(&heap->segments[1], ephemeral, 0, GENERATION_EPHEMERAL);
	check_segment(&heap->segments[2], large, 0, GENERATION_LOH);
	const struct segment *segment = &heap->segments[1];
	ASSERT_UINT(segment_generation_at(segment, in2), GENERATION_2);
	ASSERT_UINT(segment_generation_at(segment, in1), GENERATION_1);
	ASSERT_UINT(segment_generation_at(segment, in0), GENERATION_0);
	ASSERT_UINT(fake->target.findings.count, 0);
	/* Generation 0 begins before 1: no split can be trusted. */
	fake_poke_u64(&fake->memory, fake->gc.generation_table + 64, in2);
	heap = fake_heap(fake);
	ASSERT_UINT(segment_generation_at(&heap->segments[1], in0), GENERATION_2);
	check_problem(heap, "bounds", 0, fake->gc.generation_table + 64, in2);
	fake_clr_destroy(fake);
}

TEST(server)
{
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .servers = 3 });
	uint64_t addresses[3];
	for (uint32_t i = 0; i < 3; i++) {
		addresses[i] = fake_segment(fake, i, GENERATION_0, 0x1000);
		fake_object(fake, fake->object_type, 0);
	}
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT(heap->heap_count, 3);
	ASSERT_UINT_FATAL(heap->segment_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		check_segment(&heap->segments[i], addresses[i], i, GENERATION_0);
		ASSERT_UINT(heap->segments[i].end - heap->segments[i].begin, 24);
		ASSERT_UINT(heap->heap_addresses[i],
			    fake_peek_u64(&fake->memory, fake->gc.heaps + 8 * (uint64_t)i));
	}
	/* A heap that cannot be reached is missing alone. */
	fake_poke_u64(&fake->memory, fake->gc.heaps + 8, 0);
	heap = fake_heap(fake);
	ASSERT_UINT(heap->segment_count, 2);
	ASSERT_UINT(heap->heap_count, 3);
	CU_ASSERT_TRUE(findings_has(&fake->target.findings, FINDING_GC_HEAP));
	fake_clr_destroy(fake);
}

TEST(contexts)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	fake_object(fake, fake->object_type, 0);
	uint64_t first = fake_context(fake, 88);
	fake_object(fake, fake->object_type, 0);
	uint64_t second = fake_context(fake, 24); /* empty, with its reserve */
	fake_object(fake, fake->object_type, 0);
	uint64_t third = fake_hole(fake, 64); /* generation 0's own */
	fake_poke_u64(&fake->memory, fake->gc.generation_table, third);
	fake_poke_u64(&fake->memory, fake->gc.generation_table + 8, third + 40);
	fake_thread(fake); /* without one */
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT_FATAL(heap->context_count, 3);
	ASSERT_UINT(heap->contexts[0].pointer, first);
	ASSERT_UINT(heap->contexts[0].limit, first + 64);
	ASSERT_UINT(heap->contexts[0].owner, CONTEXT_THREAD);
	ASSERT_UINT(heap->contexts[0].thread, fake->threads[0].address);
	ASSERT_UINT(heap->contexts[1].limit, second);
	ASSERT_UINT(heap->contexts[2].owner, CONTEXT_HEAP);
	ASSERT_UINT(heap->contexts[2].thread, 0);
	CU_ASSERT_PTR_EQUAL(heap_context_at(heap, second), &heap->contexts[1]);
	CU_ASSERT_PTR_EQUAL(heap_context_at(heap, third), &heap->contexts[2]);
	CU_ASSERT_PTR_NULL(heap_context_at(heap, second + 8));
	CU_ASSERT_PTR_NULL(heap_context_at(heap, 0));
	fake_clr_destroy(fake);
}

TEST(global_context)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t hole = fake_hole(fake, 64), context = fake_alloc(&fake->memory, 16);
	fake_poke_u64(&fake->memory, context, hole);
	fake_poke_u64(&fake->memory, context + 8, hole + 40);
	fake_runtime(fake)->alloc_context = context;
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT_FATAL(heap->context_count, 1);
	ASSERT_UINT(heap->contexts[0].owner, CONTEXT_GLOBAL);
	CU_ASSERT_PTR_NOT_NULL(heap_context_at(heap, hole));
	fake_clr_destroy(fake);
}

/* Contexts that cannot be are kept for verifyheap, but never stepped over. */
TEST(unsound_contexts)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t at = fake_context(fake, 88), end = fake_end(fake);
	const struct {
		uint64_t pointer, limit;
		bool sound;
	} cases[] = {
		{ at, at, true },        { at, end, true },           { end, end, true },
		{ at, at - 8, false },   { at, end + 8, false },      { at + 4, at + 16, false },
		{ at, at + 12, false },  { 0x10, 0x20, false },       { at, UINT64_MAX - 7, false },
		{ end, end + 8, false }, { end + 8, end + 8, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake->threads[0].alloc_pointer = cases[i].pointer;
		fake->threads[0].alloc_limit = cases[i].limit;
		const struct heap *heap = fake_heap(fake);
		ASSERT_UINT_FATAL(heap->context_count, 1);
		ASSERT_UINT(context_is_sound(heap, &heap->contexts[0]), cases[i].sound);
		ASSERT_UINT(heap_context_at(heap, cases[i].pointer) != NULL, cases[i].sound);
	}
	fake_clr_destroy(fake);
}

/* Three regions of generation 2 and their links. */
static struct fake_clr *three(uint64_t *ret)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	for (size_t i = 0; i < 3; i++) {
		ret[i] = fake_segment(fake, 0, GENERATION_2, 0x1000);
		fake_object(fake, fake->object_type, 0);
	}
	return fake;
}

TEST(cycles)
{
	for (size_t to = 0; to < 3; to++) {
		uint64_t at[3];
		struct fake_clr *fake = three(at);
		fake_poke_u64(&fake->memory, at[2] + NEXT, at[to]);
		const struct heap *heap = fake_heap(fake);
		ASSERT_UINT(heap->segment_count, 3);
		check_problem(heap, "cycle", at[2], at[2] + NEXT, at[to]);
		fake_clr_destroy(fake);
	}
}

TEST(a_list_leads_nowhere)
{
	uint64_t at[3];
	struct fake_clr *fake = three(at);
	fake_poke_u64(&fake->memory, at[1] + NEXT, 0x1230);
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT(heap->segment_count, 2);
	check_problem(heap, "unreadable", at[1], at[1] + NEXT, 0x1230);
	fake_clr_destroy(fake);

	fake = three(at);
	uint64_t start = fake->gc.generation_table + (uint64_t)2 * FAKE_GENERATION_SIZE + 56;
	fake_poke_u64(&fake->memory, start, 0x1230);
	heap = fake_heap(fake);
	ASSERT_UINT(heap->segment_count, 0);
	CU_ASSERT_FALSE(heap->is_walkable);
	check_problem(heap, "unreadable", 0, start, 0x1230);
	fake_clr_destroy(fake);
}

TEST(bounds)
{
	uint64_t at[3];
	struct fake_clr *fake = three(at);
	uint64_t begin = fake_peek_u64(&fake->memory, at[1] + MEM);
	uint64_t reserved = fake_peek_u64(&fake->memory, at[1] + RESERVED);
	const struct {
		uint64_t slot, word;
	} cases[] = {
		{ ALLOCATED, begin - 8 },
		{ ALLOCATED, begin + 4 },
		{ ALLOCATED, UINT64_MAX },
		{ ALLOCATED, reserved + 8 },
		{ MEM, 0 },
		{ MEM, begin + 1 },
		{ MEM, UINT64_MAX - 7 },
		{ ALLOCATED, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t slot = at[1] + cases[i].slot;
		uint64_t good = fake_peek_u64(&fake->memory, slot);
		fake_poke_u64(&fake->memory, slot, cases[i].word);
		findings_deinit(&fake->target.findings);
		const struct heap *heap = fake_heap(fake);
		/* The others are read. */
		ASSERT_UINT(heap->segment_count, 2);
		check_problem(heap, "bounds", at[1], slot, cases[i].word);
		fake_poke_u64(&fake->memory, slot, good);
	}
	fake_clr_destroy(fake);
}

TEST(on_two_lists)
{
	uint64_t at[3];
	struct fake_clr *fake = three(at);
	uint64_t start = fake->gc.generation_table + (uint64_t)3 * FAKE_GENERATION_SIZE + 56;
	fake_poke_u64(&fake->memory, start, at[2]);
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT(heap->segment_count, 3);
	ASSERT_UINT_FATAL(heap->problem_count, 1);
	ASSERT_TEXT(heap->problems[0].kind, "two-lists");
	ASSERT_UINT(heap->problems[0].word, at[2]);
	CU_ASSERT(heap->problems[0].slot == start || heap->problems[0].slot == at[1] + NEXT);
	fake_clr_destroy(fake);
}

TEST(overlaps)
{
	uint64_t at[3];
	struct fake_clr *fake = three(at);
	uint64_t begin = fake_peek_u64(&fake->memory, at[0] + MEM);
	fake_poke_u64(&fake->memory, at[1] + MEM, begin + 8);
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT(heap->segment_count, 2);
	check_problem(heap, "overlap", at[0], at[0] + NEXT, at[1]);
	fake_clr_destroy(fake);
}

/* An empty region does not hide one that begins where it does. */
TEST(empty_regions)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t empty = fake_segment(fake, 0, GENERATION_1, 0x1000);
	uint64_t full = fake_segment(fake, 0, GENERATION_2, 0x1000);
	uint64_t object = fake_object(fake, fake->object_type, 0);
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT_FATAL(heap->segment_count, 2);
	ASSERT_UINT(heap->segments[0].begin, heap->segments[0].end);
	CU_ASSERT_PTR_NULL(heap_segment_at(heap, heap->segments[0].begin));
	fake_poke_u64(&fake->memory, empty + MEM, object);
	fake_poke_u64(&fake->memory, empty + ALLOCATED, object);
	fake_poke_u64(&fake->memory, empty + RESERVED, object);
	heap = fake_heap(fake);
	ASSERT_UINT_FATAL(heap->segment_count, 2);
	const struct segment *found = heap_segment_at(heap, object);
	REQUIRE(found);
	ASSERT_UINT(found->address, full);
	fake_clr_destroy(fake);
}

/* However many segments are broken: few problems are kept, and it ends. */
TEST(many_problems)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t first = fake_segment(fake, 0, GENERATION_2, 0x1000);
	uint64_t table = fake_alloc(&fake->memory, (uint64_t)64 * 5000);
	fake_poke_u64(&fake->memory, first + NEXT, table);
	for (uint64_t i = 0; i + 1 < 5000; i++) {
		fake_poke_u64(&fake->memory, table + 64 * i + MEM, 3);
		fake_poke_u64(&fake->memory, table + 64 * i + NEXT, table + 64 * (i + 1));
	}
	const struct heap *heap = fake_heap(fake);
	ASSERT_UINT(heap->segment_count, 1);
	ASSERT_UINT(heap->problem_count, HEAP_PROBLEMS_MAX);
	fake_clr_destroy(fake);
}

TEST(gc_in_progress)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	fake->gc.structures_invalid = 1;
	CU_ASSERT_TRUE(fake_heap(fake)->gc_in_progress);
	fake_clr_destroy(fake);
}

TEST(names)
{
	static const char *const expected[] = { "0", "1", "2", "loh", "poh", "nongc", "ephemeral" };
	for (unsigned int i = 0; i < GENERATION_COUNT; i++)
		ASSERT_TEXT(generation_name((enum generation)i), expected[i]);
}

TEST(memory_runs_out)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	for (size_t i = 0; i < 20; i++)
		fake_segment(fake, 0, GENERATION_2, 0x1000);
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	for (size_t i = 0; i < 20; i++)
		fake_context(fake, 32);
	struct runtime *runtime = fake_heap(fake)->runtime;
	uint64_t nth = 1;
	for (bool failed = true; failed && nth < 100; nth++) {
		struct heap *heap = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = heap_open(runtime, &heap, &err);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		ASSERT_UINT(heap != NULL, status == HD_OK);
		heap_destroy(heap);
	}
	CU_ASSERT(nth > 5 && nth < 100);
	heap_destroy(NULL);
	fake_clr_destroy(fake);
}

SUITE(.name = "heap")
