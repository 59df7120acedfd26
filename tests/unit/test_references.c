/* SPDX-License-Identifier: MIT */
#include "gc/references.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"

/* The references that references_next() gives, in order. */
struct taken {
	struct reference rows[64];
	uint64_t count;
	bool missing;
};

static void take(struct fake_clr *fake, uint64_t address, struct taken *ret)
{
	struct heap *heap = fake_heap(fake);
	struct window window = { .memory = heap->memory };
	struct object object;
	struct references references;
	struct reference reference;
	*ret = (struct taken){ 0 };
	CU_ASSERT_FATAL(object_read(heap, &window, address, &object));
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (ret->count < 64)
			ret->rows[ret->count] = reference;
		ret->count++;
	}
	CU_ASSERT(!references_next(&references, &reference));
	ret->missing = references.missing;
	window_deinit(&window);
}

/* The slots must be these offsets, and hold 0x1000 + offset, which is poked there. */
static void check(struct fake_clr *fake, uint64_t object, const uint64_t *offsets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fake_poke_u64(&fake->memory, object + offsets[i], 0x1000 + offsets[i]);
	for (int copy = 0; copy < 2; copy++) {
		fake->memory.no_runs = copy;
		struct taken taken;
		take(fake, object, &taken);
		ASSERT_UINT_FATAL(taken.count, count);
		for (size_t i = 0; i < count; i++) {
			ASSERT_UINT(taken.rows[i].slot, object + offsets[i]);
			ASSERT_UINT(taken.rows[i].value, 0x1000 + offsets[i]);
		}
		CU_ASSERT(!taken.missing);
	}
	fake->memory.no_runs = false;
}

#define CHECK(fake, object, ...)                                   \
	check((fake), (object), (const uint64_t[]){ __VA_ARGS__ }, \
	      sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static struct fake_clr *make(uint64_t size)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, size);
	return fake;
}

TEST(test_none)
{
	struct fake_clr *fake = make(0x1000);
	uint64_t plain = fake_type(fake, &(struct fake_type){ .base_size = 40 });
	uint64_t object = fake_object(fake, plain, 0);
	for (uint64_t i = 8; i < 40; i += 8)
		fake_poke_u64(&fake->memory, object + i, 0x1234);
	struct taken taken;
	take(fake, object, &taken);
	ASSERT_UINT(taken.count, 0);
	/* A GCDesc that was refused. */
	const struct gc_series bad = { .size = 100, .offset = 8 };
	uint64_t odd = fake_type(
		fake, &(struct fake_type){ .base_size = 40, .series = &bad, .series_count = 1 });
	object = fake_object(fake, odd, 0);
	fake_poke_u64(&fake->memory, object + 8, 0x1234);
	take(fake, object, &taken);
	ASSERT_UINT(taken.count, 0);
	fake_clr_destroy(fake);
}

TEST(test_series)
{
	struct fake_clr *fake = make(0x1000);
	const struct gc_series series[] = {
		{ .size = 16 - 64, .offset = 8 },
		{ .size = 8 - 64, .offset = 32 },
		{ .size = 8 - 64, .offset = 48 },
	};
	uint64_t type = fake_type(
		fake, &(struct fake_type){ .base_size = 64, .series = series, .series_count = 3 });
	uint64_t empty = fake_object(fake, type, 0), full = fake_object(fake, type, 0);
	fake_poke_u64(&fake->memory, full + 24, 77); /* no slots */
	fake_poke_u64(&fake->memory, full + 40, 77);
	check(fake, empty, NULL, 0);
	CHECK(fake, full, 8, 16, 32, 48);
	uint64_t some = fake_object(fake, type, 0);
	CHECK(fake, some, 16, 48);
	fake_clr_destroy(fake);
}

TEST(test_arrays)
{
	struct fake_clr *fake = make(0x1000);
	uint64_t empty = fake_object(fake, fake->object_array_type, 0);
	uint64_t three = fake_object(fake, fake->object_array_type, 3);
	uint64_t last = fake_object(fake, fake->object_array_type, 1);
	check(fake, empty, NULL, 0);
	CHECK(fake, three, 16, 24, 32);
	CHECK(fake, last, 16);
	/* An array of two dimensions has lengths and bounds before the elements. */
	const struct gc_series all = { .size = -40, .offset = 32 };
	uint64_t matrix = fake_type(fake, &(struct fake_type){ .base_size = 40,
							       .component_size = 8,
							       .flags = 0x00080000,
							       .series = &all,
							       .series_count = 1 });
	uint64_t object = fake_object(fake, matrix, 4);
	fake_poke_u64(&fake->memory, object + 16, 77);
	CHECK(fake, object, 32, 40, 48, 56);
	fake_clr_destroy(fake);
}

TEST(test_runs)
{
	struct fake_clr *fake = make(0x1000);
	/* struct { long; object; long; object, object; long } */
	const struct gc_run runs[] = { { 1, 8 }, { 2, 16 } };
	uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = 24,
							     .component_size = 48,
							     .flags = 0x000a0000,
							     .runs = runs,
							     .run_count = 2,
							     .runs_offset = 24 });
	uint64_t none = fake_object(fake, type, 0), two = fake_object(fake, type, 2);
	uint64_t behind = fake_object(fake, fake->object_array_type, 8);
	for (uint64_t i = 0; i < 8; i++) /* what follows is not the array's */
		fake_poke_u64(&fake->memory, behind + 16 + 8 * i, 99);
	check(fake, none, NULL, 0);
	for (uint64_t i = 0; i < 2; i++) {
		fake_poke_u64(&fake->memory, two + 16 + 48 * i, 77);
		fake_poke_u64(&fake->memory, two + 32 + 48 * i, 77);
		fake_poke_u64(&fake->memory, two + 56 + 48 * i, 77);
	}
	CHECK(fake, two, 24, 40, 48, 24 + 48, 40 + 48, 48 + 48);
	fake_clr_destroy(fake);
}

/* The implicit edge of a collectible type comes last, with or without slots before it. */
TEST(test_loader_allocator)
{
	struct fake_clr *fake = make(0x1000);
	struct fake_memory *memory = &fake->memory;
	uint64_t allocator_object = fake_object(fake, fake->object_type, 0);
	uint64_t auxiliary = fake_alloc(memory, 64), module = fake_alloc(memory, 2048);
	uint64_t allocator = fake_alloc(memory, 2048), handle = fake_alloc(memory, 8);
	fake_poke_u64(memory, auxiliary + 8, module);
	fake_poke_u64(memory, module + 176, allocator);
	fake_poke_u64(memory, allocator + 752, handle | 2);
	fake_expose(fake, handle, allocator_object, allocator);
	const struct gc_series series = { .size = 8 - 32, .offset = 8 };
	for (size_t count = 0; count < 2; count++) {
		uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = 32,
								     .flags = 0x00200000,
								     .series = &series,
								     .series_count = count });
		fake_poke_u64(memory, type + 32, auxiliary);
		uint64_t object = fake_object(fake, type, 0);
		fake_poke_u64(memory, object + 8, 0x1230);
		struct taken taken;
		take(fake, object, &taken);
		ASSERT_UINT_FATAL(taken.count, count + 1);
		if (count)
			ASSERT_UINT(taken.rows[0].value, 0x1230);
		ASSERT_UINT(taken.rows[count].slot, 0);
		ASSERT_UINT(taken.rows[count].value, allocator_object);
	}
	fake_clr_destroy(fake);
}

#define LARGE 400000u /* elements: three windows */

TEST(test_large)
{
	struct fake_clr *fake = make(16 << 20);
	(void)fake_object(fake, fake->object_type, 0);
	uint64_t array = fake_object(fake, fake->object_array_type, LARGE);
	for (uint64_t i = 0; i < LARGE; i += 3)
		fake_poke_u64(&fake->memory, array + 16 + 8 * i, 8 + i);
	struct heap *heap = fake_heap(fake);
	for (int copy = 0; copy < 2; copy++) {
		fake->memory.no_runs = copy;
		struct window window = { .memory = heap->memory };
		struct object object;
		struct references references;
		struct reference reference;
		CU_ASSERT_FATAL(object_read(heap, &window, array, &object));
		references_begin(&references, &window, &object);
		uint64_t at = 0;
		for (; references_next(&references, &reference); at += 3) {
			ASSERT_UINT(reference.slot, array + 16 + 8 * at);
			ASSERT_UINT(reference.value, 8 + at);
		}
		CU_ASSERT(at >= LARGE && at < LARGE + 3);
		CU_ASSERT(!references.missing);
		window_deinit(&window);
	}
	fake_clr_destroy(fake);
}

/* Slots that are not there are left out, and that is said. */
TEST(test_missing)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	const uint64_t base = (uint64_t)1 << 40;
	fake_map(&fake->memory, base, 4096);
	fake_map(&fake->memory, base + 16384, 4096);
	fake_poke_u64(&fake->memory, base, fake->object_array_type);
	fake_poke_u32(&fake->memory, base + 8, 10000000);
	fake_poke_u64(&fake->memory, base + 4088, 1);
	fake_poke_u64(&fake->memory, base + 16384, 2);
	fake_poke_u64(&fake->memory, base + 16384 + 4088, 3);
	for (int copy = 0; copy < 2; copy++) {
		fake->memory.no_runs = copy;
		struct taken taken;
		take(fake, base, &taken);
		ASSERT_UINT_FATAL(taken.count, 3);
		CU_ASSERT(taken.missing);
		for (uint64_t i = 0; i < 3; i++)
			ASSERT_UINT(taken.rows[i].value, i + 1);
		ASSERT_UINT(taken.rows[1].slot, base + 16384);
	}
	/* Terabytes of structs that are not there. */
	const struct gc_run run = { 1, 0xfff0 };
	uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = 24,
							     .component_size = 0xfff8,
							     .flags = 0x000a0000,
							     .runs = &run,
							     .run_count = 1,
							     .runs_offset = 16 });
	fake->memory.no_runs = false;
	fake_poke_u64(&fake->memory, base, type);
	fake_poke_u32(&fake->memory, base + 8, UINT32_MAX);
	struct taken taken;
	take(fake, base, &taken);
	CU_ASSERT(taken.missing && taken.count <= 1);
	fake_clr_destroy(fake);
}

SUITE(.name = "references")
