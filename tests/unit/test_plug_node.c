/* SPDX-License-Identifier: MIT */
/* Walks over what a GC that plans has written: struct plug_and_gap of gcpriv.h, 32 bytes before each plug. */
#include "gc/plug_node.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"

#define NO_MOVE 0u

struct fixture {
	struct fake_clr *fake;
	uint64_t node, numbers;
	uint64_t met[32], objects;  /* that a walk met */
	uint64_t hidden[32], nodes; /* where it stepped over a node */
	uint64_t others;            /* other damage */
};

static void begin(struct fixture *fixture)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	*fixture = (struct fixture){ .fake = fake };
	fixture->node = fake_type(fake, &(struct fake_type){ .base_size = 32 });
	fixture->numbers = fake_type(
		fake,
		&(struct fake_type){ .base_size = 24, .component_size = 1, .flags = 0x000a0000 });
	(void)fake_segment(fake, 0, GENERATION_0, 0x2000);
	(void)fake_object(fake, fixture->node, 0);
}

static void plug(struct fixture *fixture, uint64_t address, uint64_t gap, uint64_t distance,
		 uint32_t children)
{
	struct fake_memory *memory = &fixture->fake->memory;
	fake_poke_u64(memory, address - 32, gap);
	fake_poke_u64(memory, address - 24, distance);
	fake_poke_u32(memory, address - 16, children);
}

static void walk(struct fixture *fixture, bool gc_in_progress)
{
	struct heap *heap = fake_heap(fixture->fake);
	struct walker walker;
	heap->gc_in_progress = gc_in_progress;
	ASSERT_UINT_FATAL(walker_init(&walker, heap, NULL), HD_OK);
	walker_begin(&walker, heap->segments, heap->segments->begin, heap->segments->end);
	fixture->objects = fixture->nodes = fixture->others = 0;
	for (enum walk_result result; (result = walker_next(&walker)) != WALK_END;) {
		if (result == WALK_OBJECT)
			fixture->met[fixture->objects++ % 32] = walker.object.address;
		else if (walker.damage.kind == DAMAGE_PLUG_NODE)
			fixture->hidden[fixture->nodes++ % 32] = walker.damage.address;
		else
			fixture->others++;
	}
	walker_deinit(&walker);
}

/* The dead object before the plug has lost its MethodTable (24 and 32 bytes), or its length (40). */
TEST(the_walk_goes_on_with_the_plug)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_clr *fake = fixture.fake;
	uint64_t small = fake_object(fake, fake->object_type, 0);
	uint64_t first = fake_object(fake, fixture.node, 0);
	uint64_t middle = fake_object(fake, fixture.node, 0);
	uint64_t second = fake_object(fake, fixture.node, 0);
	(void)fake_object(fake, fixture.node, 0); /* dead, and all there */
	uint64_t array = fake_object(fake, fixture.numbers, 10);
	uint64_t third = fake_object(fake, fixture.node, 0);
	uint64_t last = fake_object(fake, fixture.node, 0);
	ASSERT_UINT_FATAL(first - small, 24);
	ASSERT_UINT_FATAL(third - array, 40);
	/* Moved back, with node_left_p; a left and a right child. */
	plug(&fixture, first, 24, -(uint64_t)4096 | 2, 0x00f8ff40);
	plug(&fixture, second, 32, 64, 0);
	plug(&fixture, third, 72, 1 << 20, 0);
	walk(&fixture, true);
	ASSERT_UINT(fixture.nodes, 3);
	ASSERT_UINT(fixture.hidden[0], small);
	ASSERT_UINT(fixture.hidden[1], middle);
	ASSERT_UINT(fixture.hidden[2], array);
	ASSERT_UINT(fixture.others, 0);
	ASSERT_UINT(fixture.objects, 6);
	ASSERT_UINT(fixture.met[1], first);
	ASSERT_UINT(fixture.met[2], second);
	ASSERT_UINT(fixture.met[4], third);
	ASSERT_UINT(fixture.met[5], last);
	/* No GC: they are what they are. */
	walk(&fixture, false);
	ASSERT_UINT(fixture.nodes, 0);
	CU_ASSERT(fixture.others > 0);
	fake_clr_destroy(fake);
}

/* Plugs of one small object, each before a pinned one: the next one's node lies over it, too. */
TEST(plugs_that_are_hidden_themselves_are_passed)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_clr *fake = fixture.fake;
	uint64_t array = fake_object(fake, fixture.numbers, 13);
	uint64_t hidden = fake_object(fake, fixture.node, 0);
	uint64_t pinned = fake_object(fake, fixture.numbers, 253);
	(void)fake_object(fake, fixture.node, 0);
	plug(&fixture, hidden, 40, -(uint64_t)0x460538, 0);
	plug(&fixture, pinned, 24, NO_MOVE, 0x0000f860);
	walk(&fixture, true);
	ASSERT_UINT(fixture.nodes, 2);
	ASSERT_UINT(fixture.hidden[0], array);
	ASSERT_UINT(fixture.hidden[1], hidden);
	ASSERT_UINT(fixture.others, 0);
	ASSERT_UINT(fixture.met[1], pinned);
	fake_clr_destroy(fake);
}

TEST(what_no_gc_writes_is_no_node)
{
	static const struct {
		uint64_t gap, distance;
		uint32_t children;
	} rows[] = {
		{ 0x4141414141414141, 64, 0 }, /* bytes of a program */
		{ 20, 64, 0 },                 /* no multiple of 8 */
		{ 16, 64, 0 },                 /* smaller than any object */
		{ 1 << 20, 64, 0 },            /* before the segment */
		{ 32, 0x4141414141414141, 0 },
		{ 32, 64, 0x41414141 },
		{ 32, 64, 0x00000008 }, /* a left child after its parent */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture;
		begin(&fixture);
		(void)fake_object(fixture.fake, fixture.node, 0);
		uint64_t next = fake_object(fixture.fake, fixture.node, 0);
		for (int j = 0; j < 6; j++)
			(void)fake_object(fixture.fake, fixture.node, 0);
		plug(&fixture, next, rows[i].gap, rows[i].distance, rows[i].children);
		walk(&fixture, true);
		ASSERT_UINT(fixture.nodes, 0);
		ASSERT_UINT(fixture.others, 1);
		ASSERT_UINT(fixture.objects, 8);
		fake_clr_destroy(fixture.fake);
	}
}

SUITE(.name = "plug_node")
