/* SPDX-License-Identifier: MIT */
/* Measures what it costs to find the next object after damage. */
#include "gc/resync.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "verify/verify.h"

#define GARBAGE 0x4141414141414141u

/* Memory that is only copied, and counts the bytes. */
struct counted {
	struct memory memory;
	struct memory *inner;
	uint64_t bytes, reads;
};

static size_t read_counted(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	struct counted *counted = (struct counted *)memory;
	size_t got = memory_prefix(counted->inner, address, buf, size);
	counted->bytes += got;
	counted->reads++;
	return got;
}

/* Words that look like arrays which end far away: none of them may cost more than a few bytes. */
TEST(a_word_that_leads_far_away_costs_little)
{
	static const struct memory_ops ops = { .read = read_counted };
	const uint64_t size = 3 * WINDOW_SIZE, words = 256;
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t array = fake_type(
		fake,
		&(struct fake_type){ .base_size = 24, .component_size = 8, .flags = 0x000a0000 });
	(void)fake_segment(fake, 0, GENERATION_0, size + 0x1000);
	(void)fake_object(fake, fake->object_type, 0);
	uint64_t damaged = fake_hole(fake, size);
	fake_poke_u64(&fake->memory, damaged, GARBAGE);
	for (uint64_t i = 1; i < words; i++) {
		fake_poke_u64(&fake->memory, damaged + 16 * i, array);
		fake_poke_u64(&fake->memory, damaged + 16 * i + 8, WINDOW_SIZE * 3 / 2 / 8);
	}
	for (int i = 0; i < 5; i++)
		(void)fake_object(fake, fake->object_type, 0);
	struct heap *heap = fake_heap(fake);
	struct counted counted = { .memory = { .ops = &ops }, .inner = heap->memory };
	heap->memory = &counted.memory;
	struct walker walker;
	ASSERT_UINT_FATAL(walker_init(&walker, heap, NULL), HD_OK);
	walker_begin(&walker, heap->segments, heap->segments->begin, heap->segments->end);
	while (walker_next(&walker) != WALK_END)
		;
	ASSERT_UINT(walker.objects, 6);
	ASSERT_UINT(walker.skipped_bytes, size);
	CU_ASSERT(counted.bytes < 3 * size);
	walker_deinit(&walker);
	fake_clr_destroy(fake);
}

/* A segment that claims much more than there is, in a target whose ranges are not known. */
static void begin_large(struct fake_clr **fake, struct counted *counted, struct heap **heap)
{
	static const struct memory_ops ops = { .read = read_counted };
	*fake = fake_clr_create(NULL);
	(void)fake_segment(*fake, 0, GENERATION_0, 0x1000);
	(void)fake_object(*fake, (*fake)->object_type, 0);
	*heap = fake_heap(*fake);
	(*heap)->segments[0].end = (*heap)->segments[0].reserved += (uint64_t)1 << 36;
	*counted = (struct counted){ .memory = { .ops = &ops }, .inner = (*heap)->memory };
	(*heap)->memory = &counted->memory;
}

TEST(a_search_ends_where_nothing_is_for_long)
{
	struct fake_clr *fake;
	struct counted counted;
	struct heap *heap;
	begin_large(&fake, &counted, &heap);
	struct walker walker;
	ASSERT_UINT_FATAL(walker_init(&walker, heap, NULL), HD_OK);
	walker_begin(&walker, heap->segments, heap->segments->begin, heap->segments->end);
	ASSERT_UINT(walker_next(&walker), WALK_OBJECT);
	ASSERT_UINT(walker_next(&walker), WALK_DAMAGE);
	ASSERT_UINT(walker_next(&walker), WALK_END);
	CU_ASSERT(counted.reads < 2 * UNREADABLE_MAX);
	walker_deinit(&walker);
	fake_clr_destroy(fake);
}

TEST(so_does_a_check)
{
	struct fake_clr *fake;
	struct counted counted;
	struct heap *heap;
	struct verify_result result;
	struct job job = { .workers = 1 };
	begin_large(&fake, &counted, &heap);
	ASSERT_UINT_FATAL(verify_heap(heap, NULL, &job, &result, NULL), HD_OK);
	ASSERT_UINT(result.objects, 1);
	CU_ASSERT(result.count > 0);
	CU_ASSERT(counted.reads < 8 * UNREADABLE_MAX);
	verify_result_deinit(&result);
	fake_clr_destroy(fake);
}

/* Damage and objects of a walk through a heap's first segment. */
static void count_walk(struct fake_clr *fake, uint64_t *damage, uint64_t *objects)
{
	struct heap *heap = fake_heap(fake);
	struct walker walker;
	enum walk_result result;
	*damage = 0;
	ASSERT_UINT_FATAL(walker_init(&walker, heap, NULL), HD_OK);
	walker_begin(&walker, heap->segments, heap->segments->begin, heap->segments->end);
	while ((result = walker_next(&walker)) != WALK_END)
		*damage += result == WALK_DAMAGE;
	*objects = walker.objects;
	walker_deinit(&walker);
}

/* Allocation contexts that are not known, of a list of threads that is damaged: one object lies between two. */
TEST(one_object_between_zeros_is_found)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t damage, objects;
	(void)fake_segment(fake, 0, GENERATION_0, 0x2000);
	(void)fake_object(fake, fake->object_type, 0);
	(void)fake_hole(fake, 0x100);
	(void)fake_object(fake, fake->object_type, 0);
	(void)fake_hole(fake, 0x100);
	uint64_t locked = fake_object(fake, fake->object_type, 0);
	/* A header: the upper half of the word is a sync block's index. */
	fake_poke_u64(&fake->memory, locked - 8, 0x0800000100000000u);
	(void)fake_object(fake, fake->object_type, 0);
	(void)fake_hole(fake, 0x100);
	count_walk(fake, &damage, &objects);
	ASSERT_UINT(damage, 3);
	ASSERT_UINT(objects, 4);
	fake_clr_destroy(fake);
}

/* A word that looks like an object, after others that are none, is one only when more objects follow. */
TEST(one_object_after_garbage_is_not_believed)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t damage, objects;
	(void)fake_segment(fake, 0, GENERATION_0, 0x2000);
	(void)fake_object(fake, fake->object_type, 0);
	uint64_t hole = fake_hole(fake, 0x100);
	fake_poke_u64(&fake->memory, hole + 0x40, GARBAGE);
	(void)fake_object(fake, fake->object_type, 0);
	hole = fake_hole(fake, 0x100);
	fake_poke_u64(&fake->memory, hole, GARBAGE);
	count_walk(fake, &damage, &objects);
	ASSERT_UINT(damage, 1);
	ASSERT_UINT(objects, 1);
	fake_clr_destroy(fake);
}

SUITE(.name = "resync")
