/* SPDX-License-Identifier: MIT */
#include "snapshot/snapshot.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

static struct hd_graph *snapshot(struct heap *heap, unsigned int workers)
{
	struct job job = { .workers = workers };
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(snapshot_create(heap, NULL, &job, &graph, &err), HD_OK);
	REQUIRE(graph);
	return graph;
}

static const struct finding *finding(const struct fake_clr *fake, const char *kind)
{
	const struct findings *findings = &fake->target.findings;
	for (size_t i = 0; i < findings->count; i++) {
		if (strcmp(finding_name(findings->rows[i].kind), kind) == 0)
			return &findings->rows[i];
	}
	return NULL;
}

/* A pair: two references at 8 and 16. */
static uint64_t pair_type(struct fake_clr *fake)
{
	const struct gc_series series = { .size = 16 - 32, .offset = 8 };
	return fake_type(
		fake, &(struct fake_type){ .base_size = 32, .series = &series, .series_count = 1 });
}

static void check_row(const struct hd_graph *graph, uint64_t from, const uint64_t *to,
		      uint64_t count)
{
	uint32_t node = hd_graph_find(graph, from), targets[8];
	ASSERT_UINT(graph_id(graph, node), from);
	ASSERT_UINT_FATAL(hd_graph_references(graph, node, 0, targets, 8), count);
	for (uint64_t i = 0; i < count; i++)
		ASSERT_UINT(graph_id(graph, targets[i]), to[i]);
}

/* Two tests look at this: two segments, six objects, one of them Free. */
struct small {
	struct fake_clr *fake;
	uint64_t pair, a, free_block, b, c, d, e;
};

static void make_small(struct small *s)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fake_memory *memory = &fake->memory;
	s->fake = fake;
	s->pair = pair_type(fake);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	s->a = fake_object(fake, s->pair, 0);
	s->free_block = fake_free(fake, 40);
	s->b = fake_string(fake, "abc");
	s->c = fake_object(fake, s->pair, 0);
	(void)fake_segment(fake, 0, GENERATION_2, 0x1000);
	s->d = fake_object(fake, fake->object_array_type, 3);
	s->e = fake_object(fake, s->pair, 0);
	fake_poke_u64(memory, s->a + 8, s->d);
	fake_poke_u64(memory, s->a + 16, s->b);
	fake_poke_u64(memory, s->c + 8, s->c);      /* itself */
	fake_poke_u64(memory, s->c + 16, s->d + 8); /* inside of an object */
	fake_poke_u64(memory, s->d + 16, s->e);
	fake_poke_u64(memory, s->d + 24, s->free_block);
	fake_poke_u64(memory, s->d + 32, s->e);
	fake_poke_u64(memory, s->e + 8, 0x4141414141414141);
	fake_poke_u64(memory, s->e + 16, s->a);
}

TEST(test_nodes)
{
	struct small s;
	make_small(&s);
	struct hd_graph *graph = snapshot(fake_heap(s.fake), 2);
	ASSERT_UINT_FATAL(graph->object_count, 5);
	ASSERT_UINT(graph->node_count, 5);
	ASSERT_UINT(graph->root_count, 0);
	ASSERT_UINT(graph->domains.count, 1);
	const uint64_t ids[] = { s.a, s.b, s.c, s.d, s.e };
	const uint64_t types[] = { s.pair, s.fake->string_type, s.pair, s.fake->object_array_type,
				   s.pair };
	const uint64_t sizes[] = { 32, 28, 32, 48, 32 };
	for (uint32_t i = 0; i < 5; i++) {
		ASSERT_UINT(graph_id(graph, i), ids[i]);
		ASSERT_UINT(graph->types[graph->node_types[i]].id, types[i]);
		ASSERT_UINT(graph_size(graph, i), sizes[i]);
		ASSERT_UINT(hd_graph_find(graph, ids[i]), i);
		ASSERT_UINT(hd_graph_find(graph, ids[i] + 8), HD_NONE);
		ASSERT_UINT(graph_lower_bound(graph, ids[i] - 1), i);
		ASSERT_UINT(graph_lower_bound(graph, ids[i] + 1), i + 1);
	}
	ASSERT_UINT(hd_graph_find(graph, 0), HD_NONE);
	ASSERT_UINT(hd_graph_find(graph, UINT64_MAX), HD_NONE);
	ASSERT_UINT(hd_graph_find(graph, s.free_block), HD_NONE);
	ASSERT_UINT(graph->total_size, 32 + 28 + 32 + 48 + 32);
	ASSERT_UINT_FATAL(graph->type_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct graph_type *type = &graph->types[i];
		CU_ASSERT(i == 0 || graph->types[i - 1].id < type->id);
		CU_ASSERT(type->name != NULL && type->name_size > 0);
		ASSERT_UINT(type->count, type->id == s.pair ? 3 : 1);
		if (type->id == s.pair)
			ASSERT_UINT(type->size, 96);
	}
	graph_destroy(graph);
	fake_clr_destroy(s.fake);
}

TEST(test_edges)
{
	struct small s;
	make_small(&s);
	struct hd_graph *graph = snapshot(fake_heap(s.fake), 1);
	ASSERT_UINT(graph->forward.edge_count, 6);
	check_row(graph, s.a, (const uint64_t[]){ s.d, s.b }, 2);
	check_row(graph, s.b, NULL, 0);
	check_row(graph, s.c, (const uint64_t[]){ s.c }, 1);
	check_row(graph, s.d, (const uint64_t[]){ s.e, s.e }, 2);
	check_row(graph, s.e, (const uint64_t[]){ s.a }, 1);
	const struct finding *dropped = finding(s.fake, "reference-to-no-object");
	REQUIRE(dropped);
	char text[64];
	(void)snprintf(text, sizeof(text),
		       "3 references to what is not an object, the first at %" PRIx64 " ",
		       s.c + 16);
	CU_ASSERT(strncmp(dropped->detail, text, strlen(text)) == 0);
	CU_ASSERT(!finding(s.fake, "unwalkable"));
	graph_destroy(graph);
	fake_clr_destroy(s.fake);
}

TEST(test_damage)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t pair = pair_type(fake);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t objects[10];
	for (size_t i = 0; i < 10; i++)
		objects[i] = fake_object(fake, pair, 0);
	fake_poke_u64(&fake->memory, objects[2] + 8, objects[5]);
	fake_poke_u64(&fake->memory, objects[5], 0x4141414141414141);
	struct hd_graph *graph = snapshot(fake_heap(fake), 1);
	ASSERT_UINT(graph->object_count, 9);
	const struct finding *gaps = finding(fake, "unwalkable");
	REQUIRE(gaps);
	CU_ASSERT(strncmp(gaps->detail, "1 stretch ", 10) == 0);
	REQUIRE(finding(fake, "reference-to-no-object"));
	ASSERT_UINT(graph->forward.edge_count, 0);
	graph_destroy(graph);
	fake_clr_destroy(fake);
}

TEST(test_empty)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct hd_graph *graph = snapshot(fake_heap(fake), 1);
	ASSERT_UINT(graph->object_count, 0);
	ASSERT_UINT(hd_graph_find(graph, 1), HD_NONE);
	const struct csr *reverse;
	ASSERT_UINT(graph_reverse(graph, NULL, &reverse, NULL), HD_OK);
	graph_destroy(graph);
	fake_clr_destroy(fake);
}

/* Sizes of 4 GiB and more stand in a table of their own; only the objects' heads are there. */
TEST(test_large_objects)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t bytes = fake_type(
		fake,
		&(struct fake_type){ .base_size = 24, .component_size = 4, .flags = 0x000a0000 });
	const uint64_t size = 24 + 4 * (uint64_t)UINT32_MAX, step = (size + 7) & ~(uint64_t)7;
	(void)fake_segment(fake, 0, GENERATION_LOH, 0x1000);
	uint64_t first = fake_hole(fake, 24);
	fake_map(&fake->memory, first + step, 64);
	for (uint64_t i = 0; i < 2; i++) {
		fake_poke_u64(&fake->memory, first + i * step, bytes);
		fake_poke_u32(&fake->memory, first + i * step + 8, UINT32_MAX);
	}
	struct heap *heap = fake_heap(fake);
	heap->segments[0].end = first + 2 * step;
	struct hd_graph *graph = snapshot(heap, 1);
	ASSERT_UINT(graph->object_count, 2);
	ASSERT_UINT(graph->large.count, 2);
	ASSERT_UINT(graph_size(graph, 0), size);
	ASSERT_UINT(graph_size(graph, 1), size);
	ASSERT_UINT(graph->total_size, 2 * size);
	ASSERT_UINT(graph->types[0].size, 2 * size);
	graph_destroy(graph);
	fake_clr_destroy(fake);
}

/* Many segments of pairs that refer anywhere, and what each refers to. */
struct made {
	struct fake_clr *fake;
	struct heap *heap;
	uint64_t *objects, *targets;
	size_t count;
};

static void make(struct made *made, size_t segments, size_t objects)
{
	struct random random = { .state = 7 };
	*made = (struct made){ .fake = fake_clr_create(NULL), .count = segments * objects };
	made->objects = calloc(made->count, sizeof(uint64_t));
	made->targets = calloc(2 * made->count, sizeof(uint64_t));
	REQUIRE(made->objects);
	REQUIRE(made->targets);
	uint64_t pair = pair_type(made->fake);
	for (size_t i = 0; i < made->count; i++) {
		if (i % objects == 0)
			(void)fake_segment(made->fake, 0, GENERATION_2, 64 * objects);
		if (random_below(&random, 10) == 0)
			(void)fake_free(made->fake, 24);
		made->objects[i] = fake_object(made->fake, pair, 0);
	}
	for (size_t i = 0; i < 2 * made->count; i++) {
		uint64_t value = made->objects[random_below(&random, made->count)];
		uint64_t what = random_below(&random, 10);
		made->targets[i] = what < 7 ? value : 0;
		if (what == 9)
			value += 8; /* no object */
		fake_poke_u64(&made->fake->memory, made->objects[i / 2] + 8 + 8 * (i % 2),
			      what < 7 || what == 9 ? value : 0);
	}
	made->heap = fake_heap(made->fake);
}

static void unmake(struct made *made)
{
	fake_clr_destroy(made->fake);
	free(made->objects);
	free(made->targets);
}

TEST(test_random)
{
	struct made made;
	make(&made, 20, 500);
	for (unsigned int workers = 1; workers <= 4; workers++) {
		struct hd_graph *graph = snapshot(made.heap, workers);
		ASSERT_UINT_FATAL(graph->object_count, made.count);
		for (uint32_t i = 0; i < made.count; i++) {
			uint64_t wanted[2];
			size_t count = 0;
			ASSERT_UINT(graph_id(graph, i), made.objects[i]);
			for (size_t k = 0; k < 2; k++) {
				if (made.targets[2 * i + k])
					wanted[count++] = made.targets[2 * i + k];
			}
			uint32_t targets[4];
			ASSERT_UINT_FATAL(hd_graph_references(graph, i, 0, targets, 4), count);
			for (size_t k = 0; k < count; k++)
				ASSERT_UINT(graph_id(graph, targets[k]), wanted[k]);
		}
		graph_destroy(graph);
	}
	unmake(&made);
}

TEST(test_failures)
{
	struct made made;
	make(&made, 3, 50);
	uint64_t nth = 1;
	for (; nth < 300; nth++) {
		struct job job = { .workers = 1 };
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = snapshot_create(made.heap, NULL, &job, &graph, &err);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		/* A name that finds no memory has another in its place. */
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		ASSERT_UINT(graph != NULL, status == HD_OK);
		graph_destroy(graph);
		if (!failed)
			break;
	}
	CU_ASSERT(nth > 10 && nth < 300);
	struct hd_graph *graph = NULL;
	struct job small = { .workers = 1, .max_mem = 3000 };
	ASSERT_UINT(snapshot_create(made.heap, NULL, &small, &graph, NULL), HD_ERR_NOMEM);
	struct job stopped = { .workers = 2, .stop = true };
	ASSERT_UINT(snapshot_create(made.heap, NULL, &stopped, &graph, NULL), HD_ERR_CANCELLED);
	CU_ASSERT(!graph);
	unmake(&made);
}

static void check_same_rows(const struct csr *a, const struct csr *b)
{
	ASSERT_UINT_FATAL(a->node_count, b->node_count);
	ASSERT_UINT_FATAL(a->edge_count, b->edge_count);
	for (uint32_t node = 0; node <= a->node_count; node++)
		ASSERT_UINT_FATAL(csr_begin(a, node), csr_begin(b, node));
	CU_ASSERT(memcmp(a->targets, b->targets, a->edge_count * sizeof(*a->targets)) == 0);
}

static struct hd_graph *nodes_only(struct heap *heap, unsigned int workers)
{
	struct job job = { .workers = workers };
	struct hd_graph *graph = NULL;
	ASSERT_UINT_FATAL(snapshot_create_nodes(heap, NULL, &job, &graph, NULL), HD_OK);
	REQUIRE(graph);
	CU_ASSERT(!graph_has_forward(graph));
	CU_ASSERT(!graph->node_types && !graph->sizes);
	ASSERT_UINT(hd_graph_references(graph, 0, 0, NULL, 0), 0);
	return graph;
}

/* Types and sizes, whether sizes are stored or read from the heap. */
static void check_same_nodes(const struct hd_graph *got, const struct hd_graph *expected)
{
	ASSERT_UINT(got->total_size, expected->total_size);
	CU_ASSERT(memcmp(got->node_types, expected->node_types,
			 got->object_count * sizeof(*got->node_types)) == 0);
	for (uint32_t node = 0; node < got->object_count; node++)
		ASSERT_UINT_FATAL(graph_size(got, node), graph_size(expected, node));
}

/* The reverse that is made of a heap is that of its references, however it is made. */
static void check_reverse(struct heap *heap)
{
	struct hd_graph *whole = snapshot(heap, 1);
	const struct csr *expected, *got;
	ASSERT_UINT_FATAL(graph_reverse(whole, NULL, &expected, NULL), HD_OK);
	for (unsigned int workers = 1; workers <= 3; workers++) {
		struct job job = { .workers = workers };
		struct hd_graph *graph = nodes_only(heap, workers);
		ASSERT_UINT_FATAL(graph_reverse(graph, &job, &got, NULL), HD_OK);
		CU_ASSERT(!graph_has_forward(graph) && !graph->sizes);
		check_same_rows(got, expected);
		check_same_nodes(graph, whole);
		ASSERT_UINT_FATAL(graph_forward(graph, &job, &got, NULL), HD_OK);
		check_same_rows(got, &whole->forward);
		CU_ASSERT(graph->sizes != NULL);
		check_same_nodes(graph, whole);
		graph_destroy(graph);
	}
	graph_destroy(whole);
}

TEST(test_reverse)
{
	struct made made;
	make(&made, 20, 500);
	check_reverse(made.heap);
	unmake(&made);
	struct fake_clr *fake = fake_clr_create(NULL);
	check_reverse(fake_heap(fake));
	fake_clr_destroy(fake);
}

/* So many references that they are reversed in pieces. */
TEST(test_pieces)
{
	enum {
		ARRAYS = 4,
		LENGTH = 2200000,
		PAIRS = 100
	};
	struct random random = { .state = 11 };
	struct fake_clr *fake = fake_clr_create(NULL);
	uint64_t pair = pair_type(fake), pairs[PAIRS];
	uint64_t *elements = calloc(LENGTH, sizeof(*elements));
	REQUIRE(elements);
	(void)fake_segment(fake, 0, GENERATION_0, 0x2000);
	for (size_t i = 0; i < PAIRS; i++)
		pairs[i] = fake_object(fake, pair, 0);
	for (size_t i = 0; i < ARRAYS; i++) {
		(void)fake_segment(fake, 0, GENERATION_LOH, 8 * LENGTH + 0x1000);
		uint64_t array = fake_object(fake, fake->object_array_type, LENGTH);
		for (size_t k = 0; k < LENGTH; k++) {
			uint64_t what = random_below(&random, PAIRS + 1);
			elements[k] = what < PAIRS ? pairs[what] : 0x1238;
		}
		fake_poke(&fake->memory, array + 16, elements, LENGTH * sizeof(*elements));
	}
	free(elements);
	check_reverse(fake_heap(fake));
	fake_clr_destroy(fake);
}

TEST(test_reverse_failures)
{
	struct made made;
	make(&made, 3, 50);
	uint64_t nth = 1;
	for (; nth < 100; nth++) {
		struct job job = { .workers = 1 };
		struct hd_graph *graph = nodes_only(made.heap, 1);
		const struct csr *reverse;
		alloc_fail_at(nth);
		enum hd_status status = graph_reverse(graph, &job, &reverse, NULL);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		ASSERT_UINT(graph->reverse.offsets != NULL, status == HD_OK);
		graph_destroy(graph);
		if (!failed)
			break;
	}
	CU_ASSERT(nth > 5 && nth < 100);
	struct hd_graph *graph = nodes_only(made.heap, 1);
	const struct csr *reverse;
	struct job stopped = { .workers = 2, .stop = true };
	ASSERT_UINT(graph_reverse(graph, &stopped, &reverse, NULL), HD_ERR_CANCELLED);
	ASSERT_UINT(graph_forward(graph, &stopped, &reverse, NULL), HD_ERR_CANCELLED);
	CU_ASSERT(!graph_has_forward(graph) && !graph->reverse.offsets);
	graph_destroy(graph);
	unmake(&made);
}

SUITE(.name = "snapshot")
