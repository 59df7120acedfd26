/* SPDX-License-Identifier: MIT */
#include "gc/walk.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/graph_maker.h"
#include "support/suite.h"

#define GARBAGE 0x4141414141414141u

/* A heap with one segment of generation 0 for the objects of a test. */
struct fixture {
	struct fake_clr *fake;
	struct heap *heap;
	uint64_t small, array; /* types: 32 bytes; 24 + 8 * length */
};

static void begin(struct fixture *fixture, uint64_t size)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	*fixture = (struct fixture){ .fake = fake };
	fixture->small = fake_type(fake, &(struct fake_type){ .base_size = 32 });
	fixture->array = fake_type(
		fake,
		&(struct fake_type){ .base_size = 24, .component_size = 8, .flags = 0x000a0000 });
	(void)fake_segment(fake, 0, GENERATION_0, size);
}

static void end(struct fixture *fixture)
{
	fake_clr_destroy(fixture->fake);
}

static uint64_t small(struct fixture *fixture)
{
	return fake_object(fixture->fake, fixture->small, 0);
}

/* Walk one segment; what it says must be this, one word per event: an object's address, or 1 for a
 * gap, which is left in the walker. */
struct walked {
	uint64_t events[64];
	size_t count;
	struct damage damage[8];
	size_t damage_count;
	uint64_t objects, skipped;
};

static void walk(struct heap *heap, size_t segment, struct walked *ret)
{
	struct walker walker;
	*ret = (struct walked){ 0 };
	ASSERT_UINT_FATAL(walker_init(&walker, heap, NULL), HD_OK);
	const struct segment *of = &heap->segments[segment];
	walker_begin(&walker, of, of->begin, of->end);
	for (enum walk_result result; (result = walker_next(&walker)) != WALK_END;) {
		if (result == WALK_DAMAGE && ret->damage_count < 8)
			ret->damage[ret->damage_count++] = walker.damage;
		if (ret->count < 64)
			ret->events[ret->count++] =
				result == WALK_OBJECT ? walker.object.address : 1;
	}
	ASSERT_UINT(walker_next(&walker), WALK_END);
	ret->objects = walker.objects;
	ret->skipped = walker.skipped_bytes;
	walker_deinit(&walker);
}

static void check_events(const struct walked *walked, const uint64_t *expected, size_t count)
{
	ASSERT_UINT(walked->count, count);
	for (size_t i = 0; i < count && i < walked->count; i++)
		ASSERT_UINT(walked->events[i], expected[i]);
}

#define CHECK_EVENTS(walked, ...)                                 \
	check_events((walked), (const uint64_t[]){ __VA_ARGS__ }, \
		     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

TEST(test_objects)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f), b = fake_object(f.fake, f.array, 5);
	uint64_t c = fake_string(f.fake, ""), d = fake_string(f.fake, "abc");
	uint64_t e = fake_free(f.fake, 48), g = fake_object(f.fake, f.array, 0);
	fake_poke_u64(&f.fake->memory, b, f.array | 5); /* bits that a GC sets */
	struct heap *heap = fake_heap(f.fake);
	static const uint64_t sizes[] = { 32, 64, 24, 28, 48, 24 };
	static const uint64_t steps[] = { 32, 64, 24, 32, 48, 24 };
	static const uint32_t lengths[] = { 0, 5, 0, 3, 24, 0 };
	const uint64_t addresses[] = { a, b, c, d, e, g };
	struct walker walker;
	ASSERT_UINT_FATAL(walker_init(&walker, heap, NULL), HD_OK);
	struct window window = { .memory = heap->memory };
	walker_begin(&walker, heap->segments, heap->segments->begin, heap->segments->end);
	for (size_t i = 0; i < 6; i++) {
		ASSERT_UINT_FATAL(walker_next(&walker), WALK_OBJECT);
		ASSERT_UINT(walker.object.address, addresses[i]);
		ASSERT_UINT(walker.object.size, sizes[i]);
		ASSERT_UINT(walker.object.step, steps[i]);
		ASSERT_UINT(walker.object.length, lengths[i]);
		ASSERT_UINT(walker.object.mark_bits, i == 1 ? 5 : 0);
		struct object object;
		CU_ASSERT(object_read(heap, &window, addresses[i], &object));
		ASSERT_UINT(object.size, sizes[i]);
		ASSERT_UINT(object.length, lengths[i]);
		CU_ASSERT(object.type == walker.object.type);
	}
	ASSERT_UINT(walker_next(&walker), WALK_END);
	ASSERT_UINT(walker.objects, 6);
	ASSERT_UINT(walker.skipped_bytes, 0);
	/* A part of the segment: objects that start in it. */
	walker_begin(&walker, heap->segments, b, d);
	ASSERT_UINT(walker_next(&walker), WALK_OBJECT);
	ASSERT_UINT(walker.object.address, b);
	ASSERT_UINT(walker_next(&walker), WALK_OBJECT);
	ASSERT_UINT(walker.object.address, c);
	ASSERT_UINT(walker_next(&walker), WALK_END);
	walker_begin(&walker, heap->segments, c, c + 1);
	ASSERT_UINT(walker_next(&walker), WALK_OBJECT);
	ASSERT_UINT(walker_next(&walker), WALK_END);
	walker_deinit(&walker);
	end(&f);
}

TEST(test_object_read)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f), b = fake_object(f.fake, f.array, 4);
	uint64_t interface = fake_type(f.fake, &(struct fake_type){ .flags = 0x000c0000 });
	uint64_t c = small(&f);
	fake_poke_u64(&f.fake->memory, c, interface);
	struct heap *heap = fake_heap(f.fake);
	struct window window = { .memory = heap->memory };
	struct object object = { .address = 77 };
	CU_ASSERT(!object_read(heap, &window, a + 4, &object));
	CU_ASSERT(!object_read(heap, &window, a + 8, &object));
	CU_ASSERT(!object_read(heap, &window, 0, &object));
	CU_ASSERT(!object_read(heap, &window, UINT64_MAX - 7, &object));
	CU_ASSERT(!object_read(heap, &window, c, &object));
	fake_poke_u32(&f.fake->memory, b + 8, 1000);
	CU_ASSERT(!object_read(heap, &window, b, &object));
	ASSERT_UINT(object.address, 77);
	/* Outside of all segments too. */
	uint64_t elsewhere = fake_alloc(&f.fake->memory, 64);
	fake_poke_u64(&f.fake->memory, elsewhere, f.small);
	CU_ASSERT(object_read(heap, &window, elsewhere, &object));
	ASSERT_UINT(object.size, 32);
	window_deinit(&window);
	end(&f);
}

TEST(test_contexts)
{
	struct fixture f;
	begin(&f, 0x1000);
	(void)fake_context(f.fake, 24); /* at the start, of no bytes at all */
	(void)fake_context(f.fake, 64); /* and another after it */
	uint64_t a = small(&f);
	uint64_t garbage = fake_context(f.fake, 256);
	uint64_t b = small(&f);
	(void)fake_context(f.fake, 40); /* at the end */
	for (uint64_t i = 0; i < 256; i += 8)
		fake_poke_u64(&f.fake->memory, garbage + i, GARBAGE);
	struct walked walked;
	walk(fake_heap(f.fake), 0, &walked);
	CHECK_EVENTS(&walked, a, b);
	ASSERT_UINT(walked.skipped, 0);
	end(&f);
}

/* Where the segment ends at the limit, the reserve lies after it. */
TEST(test_context_ends_segment)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f), context = fake_hole(f.fake, 64);
	struct runtime_thread *thread = fake_thread(f.fake);
	thread->alloc_pointer = context;
	thread->alloc_limit = context + 64;
	struct walked walked;
	walk(fake_heap(f.fake), 0, &walked);
	CHECK_EVENTS(&walked, a);
	end(&f);
}

/* Contexts that make no sense are not stepped over: what is there is read as objects. */
TEST(test_bad_contexts)
{
	static const int64_t limits[] = { -8, 0x10000, 4, INT64_MAX };
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct fixture f;
		begin(&f, 0x1000);
		uint64_t a = small(&f), b = small(&f), c = small(&f);
		struct runtime_thread *thread = fake_thread(f.fake);
		thread->alloc_pointer = b;
		thread->alloc_limit = b + (uint64_t)limits[i];
		/* A second one, as bad, at the same place. */
		thread = fake_thread(f.fake);
		thread->alloc_pointer = b;
		thread->alloc_limit = b - 16;
		struct walked walked;
		walk(fake_heap(f.fake), 0, &walked);
		CHECK_EVENTS(&walked, a, b, c);
		end(&f);
	}
}

TEST(test_unaligned_context)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f), b = small(&f);
	struct runtime_thread *thread = fake_thread(f.fake);
	thread->alloc_pointer = b + 4;
	thread->alloc_limit = b + 64;
	struct walked walked;
	walk(fake_heap(f.fake), 0, &walked);
	CHECK_EVENTS(&walked, a, b);
	end(&f);
}

/* A context whose pointer lies inside a sound object is the one that is wrong. */
TEST(test_context_inside)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f), b = fake_object(f.fake, f.array, 20), c = small(&f);
	struct runtime_thread *thread = fake_thread(f.fake);
	thread->alloc_pointer = b + 40;
	thread->alloc_limit = b + 64;
	struct walked walked;
	walk(fake_heap(f.fake), 0, &walked);
	CHECK_EVENTS(&walked, a, b, c);
	end(&f);
}

TEST(test_bad_method_table)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t objects[8];
	for (size_t i = 0; i < 8; i++)
		objects[i] = small(&f);
	fake_poke_u64(&f.fake->memory, objects[2], GARBAGE);
	struct walked walked;
	walk(fake_heap(f.fake), 0, &walked);
	CHECK_EVENTS(&walked, objects[0], objects[1], 1, objects[3], objects[4], objects[5],
		     objects[6], objects[7]);
	ASSERT_UINT_FATAL(walked.damage_count, 1);
	const struct damage *damage = &walked.damage[0];
	ASSERT_UINT(damage->kind, DAMAGE_BAD_METHOD_TABLE);
	ASSERT_UINT(damage->address, objects[2]);
	ASSERT_UINT(damage->word, GARBAGE);
	ASSERT_UINT(damage->skipped, 32);
	REQUIRE(damage->last_good.type);
	ASSERT_UINT(damage->last_good.address, objects[1]);
	ASSERT_UINT(walked.objects, 7);
	ASSERT_UINT(walked.skipped, 32);
	end(&f);
}

/* The first and the last object of a segment; and two in a row are one gap. */
TEST(test_bad_ends)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t objects[9];
	for (size_t i = 0; i < 9; i++)
		objects[i] = small(&f);
	fake_poke_u64(&f.fake->memory, objects[0], GARBAGE);
	fake_poke_u64(&f.fake->memory, objects[5], GARBAGE);
	fake_poke_u64(&f.fake->memory, objects[6], GARBAGE);
	fake_poke_u64(&f.fake->memory, objects[8], GARBAGE);
	struct walked walked;
	walk(fake_heap(f.fake), 0, &walked);
	/* After the two only one is sound before the next bad one: no place to go on. */
	CHECK_EVENTS(&walked, 1, objects[1], objects[2], objects[3], objects[4], 1);
	ASSERT_UINT_FATAL(walked.damage_count, 2);
	CU_ASSERT(!walked.damage[0].last_good.type);
	ASSERT_UINT(walked.damage[0].skipped, 32);
	ASSERT_UINT(walked.damage[1].address, objects[5]);
	ASSERT_UINT(walked.damage[1].skipped, 4 * 32);
	ASSERT_UINT(walked.damage[1].last_good.address, objects[4]);
	end(&f);
}

/* The words of a damaged object that could be MethodTables are no place to go on. */
TEST(test_resync_is_not_fooled)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f), b = fake_object(f.fake, f.array, 10);
	uint64_t next[5];
	for (size_t i = 0; i < 5; i++)
		next[i] = small(&f);
	fake_poke_u64(&f.fake->memory, b, GARBAGE);
	fake_poke_u64(&f.fake->memory, b + 16, a);       /* a reference */
	fake_poke_u64(&f.fake->memory, b + 24, f.small); /* a type, and garbage after it */
	fake_poke_u64(&f.fake->memory, b + 56, GARBAGE);
	fake_poke_u64(&f.fake->memory, b + 64, f.array); /* too long an array */
	fake_poke_u64(&f.fake->memory, b + 72, UINT32_MAX);
	struct walked walked;
	walk(fake_heap(f.fake), 0, &walked);
	CHECK_EVENTS(&walked, a, 1, next[0], next[1], next[2], next[3], next[4]);
	ASSERT_UINT(walked.damage[0].skipped, 24 + 80);
	end(&f);
}

TEST(test_bad_size)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f), b = fake_object(f.fake, f.array, 4);
	uint64_t c = small(&f), context = fake_context(f.fake, 64), d = small(&f);
	(void)context;
	struct heap *heap = fake_heap(f.fake);
	struct walked walked;
	/* Beyond the segment; and only beyond the context, where no object would follow. */
	static const uint32_t lengths[] = { UINT32_MAX, 0x7fffffff, 10 };
	for (size_t i = 0; i < 3; i++) {
		fake_poke_u32(&f.fake->memory, b + 8, lengths[i]);
		walk(heap, 0, &walked);
		CHECK_EVENTS(&walked, a, 1, c, d);
		ASSERT_UINT_FATAL(walked.damage_count, 1);
		ASSERT_UINT(walked.damage[0].kind, DAMAGE_BAD_SIZE);
		ASSERT_UINT(walked.damage[0].address, b);
		ASSERT_UINT(walked.damage[0].skipped, 24 + 32);
		REQUIRE(walked.damage[0].type);
		ASSERT_UINT(walked.damage[0].type->method_table, f.array);
		ASSERT_UINT(walked.damage[0].size, 24 + 8 * (uint64_t)lengths[i]);
	}
	end(&f);
}

TEST(test_zero_run)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f), hole = fake_hole(f.fake, 200);
	uint64_t b = small(&f), c = small(&f), d = small(&f), e = small(&f);
	fake_header(f.fake, b, 0x08000001); /* the next object's own header is no content */
	uint64_t last = fake_hole(f.fake, 64);
	struct walked walked;
	struct heap *heap = fake_heap(f.fake);
	walk(heap, 0, &walked);
	CHECK_EVENTS(&walked, a, 1, b, c, d, e, 1);
	ASSERT_UINT(walked.damage[0].kind, DAMAGE_ZERO_RUN);
	ASSERT_UINT(walked.damage[0].address, hole);
	ASSERT_UINT(walked.damage[0].skipped, 200);
	ASSERT_UINT(walked.damage[1].kind, DAMAGE_ZERO_RUN);
	ASSERT_UINT(walked.damage[1].address, last);
	ASSERT_UINT(walked.damage[1].skipped, 64);
	/* Anything else in it is content. */
	fake_poke_u64(&f.fake->memory, hole + 96, 1);
	walk(heap, 0, &walked);
	ASSERT_UINT(walked.damage[0].kind, DAMAGE_BAD_METHOD_TABLE);
	ASSERT_UINT(walked.damage[0].skipped, 200);
	end(&f);
}

/* Damage before a context ends there at the latest. */
TEST(test_resync_at_context)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f);
	fake_poke_u64(&f.fake->memory, a, GARBAGE);
	(void)fake_context(f.fake, 100 * 8);
	uint64_t b = small(&f);
	struct walked walked;
	walk(fake_heap(f.fake), 0, &walked);
	CHECK_EVENTS(&walked, 1, b);
	ASSERT_UINT(walked.damage[0].skipped, 32);
	end(&f);
}

#define PAGE 4096u

/* Take [begin, end) of the first segment's memory away. */
static void punch(struct fixture *f, uint64_t segment_begin, uint64_t hole, uint64_t hole_end,
		  uint64_t size)
{
	struct fake_memory *memory = &f->fake->memory;
	uint64_t start = segment_begin - FAKE_SEGMENT_HEAD, stop = segment_begin + size;
	uint8_t *bytes = malloc(stop - start);
	if (!bytes || !memory_read(&memory->memory, start, bytes, stop - start))
		abort();
	fake_unmap(memory, start);
	fake_map(memory, start, hole - start);
	fake_poke(memory, start, bytes, hole - start);
	if (hole_end < stop) {
		fake_map(memory, hole_end, stop - hole_end);
		fake_poke(memory, hole_end, bytes + (hole_end - start), stop - hole_end);
	}
	free(bytes);
}

TEST(test_missing_bytes)
{
	for (int ranges = 0; ranges < 2; ranges++) {
		struct fixture f;
		uint64_t size = 8 * PAGE, first = 0, after = 0, count = 0;
		begin(&f, size);
		uint64_t segment_begin = fake_end(f.fake);
		uint64_t hole = (segment_begin + PAGE) & ~(uint64_t)(PAGE - 1);
		uint64_t hole_end = hole + 4 * PAGE;
		while (fake_end(f.fake) < segment_begin + size - 64) {
			uint64_t object = small(&f);
			count++;
			if (!first && object >= hole)
				first = object;
			if (!after && object >= hole_end)
				after = object;
		}
		punch(&f, segment_begin, hole, hole_end, size);
		const uint64_t start = segment_begin - FAKE_SEGMENT_HEAD;
		struct target_range known[] = {
			{ .start = start, .end = hole, .captured = hole - start },
			{ .start = hole, .end = hole_end, .captured = 0 },
			{ .start = hole_end,
			  .end = segment_begin + size,
			  .captured = segment_begin + size - hole_end },
		};
		struct heap *heap = fake_heap(f.fake);
		if (ranges) {
			f.fake->target.map.ranges = known;
			f.fake->target.map.range_count = 3;
		}
		struct walked walked;
		walk(heap, 0, &walked);
		ASSERT_UINT_FATAL(walked.damage_count, 1);
		ASSERT_UINT(walked.damage[0].kind, DAMAGE_MISSING_BYTES);
		ASSERT_UINT(walked.damage[0].address, first);
		ASSERT_UINT(walked.damage[0].address + walked.damage[0].skipped, after);
		ASSERT_UINT(walked.objects, count - (after - first) / 32);
		f.fake->target.map.ranges = NULL;
		f.fake->target.map.range_count = 0;
		end(&f);
	}
}

/* The rest of a segment is not there; and what is known says that nothing follows. */
TEST(test_truncated)
{
	struct fixture f;
	begin(&f, 4 * PAGE);
	uint64_t segment_begin = fake_end(f.fake);
	uint64_t hole = (segment_begin + PAGE) & ~(uint64_t)(PAGE - 1);
	while (fake_end(f.fake) < segment_begin + 4 * PAGE - 64)
		(void)small(&f);
	uint64_t segment_end = fake_end(f.fake);
	punch(&f, segment_begin, hole, UINT64_MAX, 4 * PAGE);
	struct target_range known = { .start = segment_begin, .captured = hole - segment_begin };
	struct heap *heap = fake_heap(f.fake);
	f.fake->target.map.ranges = &known;
	f.fake->target.map.range_count = 1;
	/* As a hostile file has it: the segment goes on for terabytes. */
	heap->segments[0].end += (uint64_t)1 << 45;
	segment_end += (uint64_t)1 << 45;
	struct walked walked;
	walk(heap, 0, &walked);
	ASSERT_UINT_FATAL(walked.damage_count, 1);
	ASSERT_UINT(walked.damage[0].kind, DAMAGE_MISSING_BYTES);
	ASSERT_UINT(walked.damage[0].address + walked.damage[0].skipped, segment_end);
	f.fake->target.map.ranges = NULL;
	f.fake->target.map.range_count = 0;
	end(&f);
}

/* An array of which only the head is there. */
TEST(test_huge_array)
{
	struct fixture f;
	begin(&f, 0x1000);
	uint64_t a = small(&f), b = fake_end(f.fake);
	(void)fake_hole(f.fake, 24);
	fake_poke_u64(&f.fake->memory, b, f.array);
	fake_poke_u32(&f.fake->memory, b + 8, UINT32_MAX);
	struct heap *heap = fake_heap(f.fake);
	heap->segments[0].end = b + 24 + 8 * (uint64_t)UINT32_MAX;
	struct walked walked;
	walk(heap, 0, &walked);
	CHECK_EVENTS(&walked, a, b);
	end(&f);
}

/* Made at random, walked with runs and through a copied window: the same, all the way. */
TEST(test_random)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fixture f;
		struct random random = { .state = seed };
		size_t count = 0;
		uint64_t size = 3 << 20;
		static uint64_t objects[200000];
		begin(&f, size);
		uint64_t stop = fake_end(f.fake) + size - 40000;
		while (fake_end(f.fake) < stop) {
			uint64_t what = random_below(&random, 1000);
			if (what < 2)
				(void)fake_context(f.fake, 24 + 8 * random_below(&random, 100));
			else if (what < 5)
				objects[count++] = fake_object(
					f.fake, f.array, (uint32_t)random_below(&random, 4000));
			else if (what < 400)
				objects[count++] = fake_string(f.fake, "some text" + what % 9);
			else
				objects[count++] = small(&f);
		}
		struct heap *heap = fake_heap(f.fake);
		for (int copy = 0; copy < 2; copy++) {
			f.fake->memory.no_runs = copy;
			struct walker walker;
			ASSERT_UINT_FATAL(walker_init(&walker, heap, NULL), HD_OK);
			walker_begin(&walker, heap->segments, heap->segments->begin,
				     heap->segments->end);
			size_t at = 0;
			while (walker_next(&walker) == WALK_OBJECT) {
				if (at < count)
					ASSERT_UINT(walker.object.address, objects[at]);
				at++;
			}
			ASSERT_UINT(at, count);
			ASSERT_UINT(walker.next, heap->segments->end);
			walker_deinit(&walker);
		}
		end(&f);
	}
}

/* Random words over random places: a walk always ends, in order and inside the segment. */
TEST(test_random_damage)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct fixture f;
		struct random random = { .state = seed };
		begin(&f, 0x8000);
		uint64_t from = fake_end(f.fake);
		while (fake_end(f.fake) < from + 0x7000) {
			if (random_below(&random, 20) == 0)
				(void)fake_context(f.fake, 24 + 8 * random_below(&random, 30));
			else
				(void)fake_object(f.fake, f.array,
						  (uint32_t)random_below(&random, 30));
		}
		const uint64_t words[] = { 0, GARBAGE, f.small, f.array, from, UINT64_MAX };
		for (int i = 0; i < 40; i++)
			fake_poke_u64(&f.fake->memory, from + 8 * random_below(&random, 0xe00),
				      words[random_below(&random, 6)]);
		struct heap *heap = fake_heap(f.fake);
		const struct segment *segment = &heap->segments[0];
		struct walker walker;
		ASSERT_UINT_FATAL(walker_init(&walker, heap, NULL), HD_OK);
		walker_begin(&walker, segment, segment->begin, segment->end);
		uint64_t at = segment->begin;
		for (enum walk_result result; (result = walker_next(&walker)) != WALK_END;) {
			uint64_t address = result == WALK_OBJECT ? walker.object.address
								 : walker.damage.address;
			CU_ASSERT(address >= at && address < segment->end);
			CU_ASSERT(walker.next > address && walker.next <= segment->end);
			at = walker.next;
		}
		ASSERT_UINT(walker.next, segment->end);
		walker_deinit(&walker);
		end(&f);
	}
}

SUITE(.name = "walk")
