/* SPDX-License-Identifier: MIT */
#include "findings/heap_map.h"
#include "gc/heap.h"
#include "roots/root_set.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"

#define OBJECTS 60u

struct scene {
	struct hd_graph *graph;
	uint64_t ids[OBJECTS];
	uint8_t classes[OBJECTS];
	struct segment segments[1200];
	struct heap heap;
	struct root roots[4];
	struct root_set root_set;
	struct report_facts facts;
};

/* Objects of 16 to 160 bytes with holes between them, from 0x1000 on. */
static void set_scene(struct scene *scene, uint64_t seed)
{
	struct random random = { .state = seed };
	uint64_t sizes[OBJECTS], at = 0x1000;
	*scene = (struct scene){ 0 };
	for (uint32_t i = 0; i < OBJECTS; i++) {
		sizes[i] = 16 + 8 * random_below(&random, 19);
		at += random_below(&random, 3) ? 0 : 8 * random_below(&random, 40);
		scene->ids[i] = at;
		at += sizes[i];
		scene->classes[i] = random_below(&random, 3) ? CLASS_PROCESS : CLASS_DEAD;
	}
	static const uint32_t types[OBJECTS];
	scene->graph = graph_make(&(struct graph_spec){ .object_count = OBJECTS,
							.type_count = 1,
							.ids = scene->ids,
							.sizes = sizes,
							.types = types });
	REQUIRE(scene->graph);
	scene->heap.segments = scene->segments;
	scene->root_set.rows = scene->roots;
	scene->facts = (struct report_facts){ .graph = scene->graph,
					      .heap = &scene->heap,
					      .roots = &scene->root_set,
					      .classes = scene->classes };
}

static void add_segment(struct scene *scene, uint64_t begin, uint64_t end)
{
	scene->segments[scene->heap.segment_count++] =
		(struct segment){ .begin = begin, .end = end, .generation = GENERATION_2 };
}

/* Live or dead bytes of [@p begin, @p end), object by object. */
static uint64_t expected_bytes(const struct scene *scene, uint64_t begin, uint64_t end,
			       bool is_live)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < OBJECTS; i++) {
		uint64_t from = scene->ids[i], to = from + graph_size(scene->graph, i);
		if ((scene->classes[i] != CLASS_DEAD) != is_live)
			continue;
		from = from > begin ? from : begin;
		to = to < end ? to : end;
		sum += to > from ? to - from : 0;
	}
	return sum;
}

TEST(each_cell_has_the_bytes_that_lie_in_it)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct scene scene;
		struct heap_map map;
		set_scene(&scene, seed);
		uint64_t middle = scene.ids[OBJECTS / 2];
		add_segment(&scene, 0x1000, middle);
		add_segment(&scene, middle,
			    scene.ids[OBJECTS - 1] + graph_size(scene.graph, OBJECTS - 1) + seed);
		add_segment(&scene, 0x900000, 0x900000);
		scene.roots[0] = (struct root){ .value = scene.ids[3], .is_pinned = true };
		scene.roots[1] =
			(struct root){ .value = scene.ids[OBJECTS - 1], .is_pinned = true };
		scene.roots[2] = (struct root){ .value = scene.ids[4] };
		scene.root_set.rows_count = 3;
		ASSERT_UINT_FATAL(heap_map_init(&map, &scene.facts, NULL), HD_OK);
		ASSERT_UINT_FATAL(map.row_count, 2);
		ASSERT_UINT(map.cell_count, MAP_CELLS_MAX);
		ASSERT_UINT(map.empty, 1);
		for (size_t i = 0; i < map.row_count; i++) {
			const struct map_row *row = &map.rows[i];
			ASSERT_UINT(row->live, expected_bytes(&scene, row->begin, row->end, true));
			ASSERT_UINT(row->dead, expected_bytes(&scene, row->begin, row->end, false));
			ASSERT_UINT(row->pins, 1);
			uint64_t pins = 0;
			for (size_t cell = 0; cell < map.cell_count; cell++) {
				const struct map_cell *got =
					&heap_map_cells(&map, &map.rows[i])[cell];
				uint64_t from = map_cell_begin(&map, row, cell);
				uint64_t to = map_cell_begin(&map, row, cell + 1);
				ASSERT_UINT(got->live, expected_bytes(&scene, from, to, true));
				ASSERT_UINT(got->dead, expected_bytes(&scene, from, to, false));
				pins += got->pins;
			}
			ASSERT_UINT(pins, 1);
			ASSERT_UINT(map_cell_begin(&map, row, map.cell_count), row->end);
		}
		heap_map_deinit(&map);
		graph_destroy(scene.graph);
	}
}

/* More segments than rows: the small ones are only counted. */
TEST(the_smallest_of_many_segments_have_no_row)
{
	struct scene scene;
	struct heap_map map;
	set_scene(&scene, 1);
	uint64_t end = scene.ids[OBJECTS - 1] + graph_size(scene.graph, OBJECTS - 1);
	add_segment(&scene, 0x1000, end);
	for (uint64_t i = 0; i < 1100; i++)
		add_segment(&scene, 0x100000 + 0x10000 * i, 0x100000 + 0x10000 * i + 8 * (i + 1));
	ASSERT_UINT_FATAL(heap_map_init(&map, &scene.facts, NULL), HD_OK);
	ASSERT_UINT_FATAL(map.row_count, MAP_ROWS_MAX);
	CU_ASSERT(map.row_count * map.cell_count <= 24576);
	ASSERT_UINT(map.rest[GENERATION_2].segments, 1101 - MAP_ROWS_MAX);
	uint64_t rest = 0;
	for (uint64_t i = 0; i < 1101 - MAP_ROWS_MAX; i++)
		rest += 8 * (i + 1);
	/* The one with objects is larger than most. */
	CU_ASSERT(end - 0x1000 > rest / 1000);
	ASSERT_UINT(map.rows[0].begin, 0x1000);
	ASSERT_UINT(map.rest[GENERATION_2].bytes, rest);
	heap_map_deinit(&map);
	graph_destroy(scene.graph);
}

SUITE(.name = "heap_map")
