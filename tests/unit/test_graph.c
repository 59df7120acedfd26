/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "graph/heap_graph.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/bitmap.h"

#define BLOCK (1u << CSR_BLOCK_SHIFT)

static int compare_nodes(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	return (left > right) - (left < right);
}

/* How many rows of @p got differ from those of @p expected, their order aside. */
static uint32_t different_rows(const struct csr *got, const struct csr *expected)
{
	uint32_t wrong = 0;
	for (uint32_t node = 0; node < expected->node_count; node++) {
		size_t degree = csr_degree(expected, node);
		if (csr_degree(got, node) != degree) {
			wrong++;
			continue;
		}
		uint32_t *row = malloc((degree + 1) * sizeof(*row));
		REQUIRE(row);
		memcpy(row, expected->targets + csr_begin(expected, node), degree * sizeof(*row));
		qsort(row, degree, sizeof(*row), compare_nodes);
		wrong += memcmp(row, got->targets + csr_begin(got, node), degree * sizeof(*row)) !=
			 0;
		free(row);
	}
	return wrong;
}

static uint32_t descending_rows(const struct csr *csr)
{
	uint32_t wrong = 0;
	for (uint32_t node = 0; node < csr->node_count; node++) {
		uint64_t begin = csr_begin(csr, node), end = csr_begin(csr, node + 1);
		for (uint64_t i = begin + 1; i < end; i++)
			wrong += csr->targets[i - 1] > csr->targets[i];
	}
	return wrong;
}

static void check_reverse(struct hd_graph *graph)
{
	REQUIRE(graph);
	const struct csr *reverse, *again;
	ASSERT_UINT_FATAL(graph_reverse(graph, NULL, &reverse, NULL), HD_OK);
	ASSERT_UINT_FATAL(graph_reverse(graph, NULL, &again, NULL), HD_OK);
	CU_ASSERT_PTR_EQUAL(reverse, again);
	ASSERT_UINT(reverse->node_count, graph->node_count);
	ASSERT_UINT(reverse->edge_count, graph->forward.edge_count);
	ASSERT_UINT(csr_begin(reverse, 0), 0);
	ASSERT_UINT(csr_begin(reverse, graph->node_count), graph->forward.edge_count);
	ASSERT_UINT(descending_rows(reverse), 0);
	struct csr forward;
	ASSERT_UINT_FATAL(csr_reverse(reverse, NULL, &forward, NULL), HD_OK);
	ASSERT_UINT(different_rows(&forward, &graph->forward), 0);
	csr_deinit(&forward);
	graph_destroy(graph);
}

TEST_OF(reverse_tests, reverse_of_reverse_is_the_graph)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct random random = { .state = seed };
		check_reverse(graph_make_random(&(struct random_spec){
			.seed = seed,
			.object_count = 1 + (uint32_t)random_below(&random, 200),
			.missing_count = (uint32_t)random_below(&random, 20),
			.degree_percent = (uint32_t)random_below(&random, 900),
			.near = (uint32_t)random_below(&random, 8),
		}));
	}
}

/* Node counts around multiples of a block: the last row ends in a block of its own at n * BLOCK. */
TEST_OF(reverse_tests, reverse_holds_across_blocks)
{
	static const uint32_t counts[] = {
		BLOCK - 1, BLOCK,         BLOCK + 1,     3 * BLOCK - 1,
		3 * BLOCK, 3 * BLOCK + 1, 5 * BLOCK + 7, 100 * BLOCK + 3
	};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		check_reverse(graph_make_random(&(struct random_spec){
			.seed = i + 1, .object_count = counts[i], .degree_percent = 300 }));
		check_reverse(graph_make_random(&(struct random_spec){ .seed = i + 1,
								       .object_count = counts[i],
								       .missing_count = 5000,
								       .degree_percent = 80,
								       .near = 40 }));
		check_reverse(graph_make_list(counts[i]));
	}
}

/* The pattern is simple enough to know each row: i refers to i / 2 and, if odd, to the last. */
TEST_OF(reverse_tests, reverse_of_a_known_graph)
{
	const uint32_t n = 4 * BLOCK + 5;
	struct made_edge *edges = calloc(2 * (size_t)n, sizeof(*edges));
	REQUIRE(edges);
	uint64_t count = 0;
	for (uint32_t i = 0; i < n; i++) {
		edges[count++] = (struct made_edge){ i, i / 2 };
		if (i % 2)
			edges[count++] = (struct made_edge){ i, n - 1 };
	}
	struct hd_graph *graph = graph_make(
		&(struct graph_spec){ .object_count = n, .edges = edges, .edge_count = count });
	free(edges);
	REQUIRE(graph);
	const struct csr *reverse;
	ASSERT_UINT_FATAL(graph_reverse(graph, NULL, &reverse, NULL), HD_OK);
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < n - 1; i++) {
		uint32_t sources = 2 * i + 1 < n ? 2 : 2 * i < n;
		wrong += csr_degree(reverse, i) != sources;
		for (uint32_t k = 0; k < sources; k++)
			wrong += reverse->targets[csr_begin(reverse, i) + k] != 2 * i + k;
	}
	ASSERT_UINT(wrong, 0);
	ASSERT_UINT(csr_degree(reverse, n - 1), n / 2);
	ASSERT_UINT(reverse->targets[count - 1], n - 2);
	graph_destroy(graph);
}

static void reverse_fails_without_a_trace(uint32_t object_count)
{
	for (uint64_t nth = 1; nth < 50; nth++) {
		struct hd_graph *graph = graph_make_list(object_count);
		REQUIRE(graph);
		const struct csr *reverse = NULL;
		alloc_fail_at(nth);
		enum hd_status status = graph_reverse(graph, NULL, &reverse, NULL);
		alloc_fail_at(0);
		if (status == HD_OK) {
			CU_ASSERT(nth > 1);
			CU_ASSERT_PTR_EQUAL(reverse, &graph->reverse);
			graph_destroy(graph);
			return;
		}
		ASSERT_UINT(status, HD_ERR_NOMEM);
		CU_ASSERT_PTR_NULL(reverse);
		CU_ASSERT_PTR_NULL(graph->reverse.offsets);
		ASSERT_UINT_FATAL(graph_reverse(graph, NULL, &reverse, NULL), HD_OK);
		graph_destroy(graph);
	}
	CU_FAIL("still out of memory");
}

TEST_OF(reverse_tests, each_failed_allocation_is_reported)
{
	reverse_fails_without_a_trace(10);
	reverse_fails_without_a_trace(1200000);
}

static int countdown_cancelled(void *arg)
{
	uint32_t *calls = arg;
	return (*calls)-- == 0;
}

TEST_OF(reverse_tests, reverse_can_be_cancelled)
{
	for (uint32_t first = 0; first < 100; first++) {
		struct hd_graph *graph = graph_make_list(300000);
		REQUIRE(graph);
		uint32_t calls = first;
		struct job job = { .cancelled = countdown_cancelled, .arg = &calls };
		const struct csr *reverse = NULL;
		enum hd_status status = graph_reverse(graph, &job, &reverse, NULL);
		if (status != HD_OK) {
			ASSERT_UINT(status, HD_ERR_CANCELLED);
			CU_ASSERT_PTR_NULL(reverse);
			CU_ASSERT_PTR_NULL(graph->reverse.offsets);
		}
		graph_destroy(graph);
		if (status == HD_OK) {
			CU_ASSERT(first > 2);
			return;
		}
	}
	CU_FAIL("still cancelled");
}

static struct hd_graph *graph;

/* Three objects, the second of 5 GiB, the third at the mark of large ones; two missing nodes. */
static void set_up(void)
{
	static const uint64_t ids[] = { 0x10, 0x20, UINT64_MAX, 0x0, 0x18 };
	static const uint64_t sizes[] = { UINT32_MAX - 1, UINT64_C(5) << 30, UINT32_MAX };
	static const uint32_t types[] = { 1, 0, 1 };
	static const struct made_edge edges[] = {
		{ 0, 1 }, { 0, 4 }, { 0, 0 }, { 0, 1 }, { 2, 3 }
	};
	static const struct graph_root roots[] = {
		{ .node = 2, .container = 1, .kind = HD_ROOT_STATIC, .flags = HD_ROOT_PINNED },
		{ .node = 4, .container = HD_NONE, .kind = HD_ROOT_HANDLE, .flags = HD_ROOT_WEAK },
	};
	graph = graph_make(&(struct graph_spec){ .object_count = 3,
						 .missing_count = 2,
						 .type_count = 3,
						 .ids = ids,
						 .sizes = sizes,
						 .types = types,
						 .edges = edges,
						 .edge_count = 5,
						 .roots = roots,
						 .root_count = 2 });
	REQUIRE(graph);
}

static void tear_down(void)
{
	graph_destroy(graph);
	graph = NULL;
}

TEST_OF(access_tests, counts_are_told)
{
	ASSERT_UINT(hd_graph_object_count(graph), 3);
	ASSERT_UINT(hd_graph_node_count(graph), 5);
	ASSERT_UINT(hd_graph_type_count(graph), 3);
	ASSERT_UINT(hd_graph_root_count(graph), 2);
	ASSERT_UINT(hd_graph_reference_count(graph), 5);
}

TEST_OF(access_tests, find_knows_objects_and_missing_nodes)
{
	ASSERT_UINT(hd_graph_find(graph, 0x10), 0);
	ASSERT_UINT(hd_graph_find(graph, 0x20), 1);
	ASSERT_UINT(hd_graph_find(graph, UINT64_MAX), 2);
	ASSERT_UINT(hd_graph_find(graph, 0), 3);
	ASSERT_UINT(hd_graph_find(graph, 0x18), 4);
	ASSERT_UINT(hd_graph_find(graph, 0x11), HD_NONE);
	ASSERT_UINT(hd_graph_find(graph, 1), HD_NONE);
	ASSERT_UINT(hd_graph_find(graph, UINT64_MAX - 1), HD_NONE);
}

TEST_OF(access_tests, object_fills_in_everything)
{
	struct hd_object object;
	CU_ASSERT_EQUAL(hd_graph_object(graph, 0, &object), 0);
	ASSERT_UINT(object.id, 0x10);
	ASSERT_UINT(object.size, UINT32_MAX - 1);
	ASSERT_UINT(object.type, 1);
	ASSERT_UINT(object.missing, 0);
	ASSERT_UINT(object.reference_count, 4);
	CU_ASSERT_EQUAL(hd_graph_object(graph, 4, &object), 0);
	ASSERT_UINT(object.id, 0x18);
	ASSERT_UINT(object.size, 0);
	ASSERT_UINT(object.type, HD_NONE);
	ASSERT_UINT(object.missing, 1);
	ASSERT_UINT(object.reference_count, 0);
}

TEST_OF(access_tests, large_sizes_come_from_their_table)
{
	struct hd_object object;
	CU_ASSERT_EQUAL(hd_graph_object(graph, 1, &object), 0);
	ASSERT_UINT(object.size, UINT64_C(5) << 30);
	CU_ASSERT_EQUAL(hd_graph_object(graph, 2, &object), 0);
	ASSERT_UINT(object.size, UINT32_MAX);
	ASSERT_UINT(graph_size(graph, 3), 0);
}

TEST_OF(access_tests, many_large_sizes_are_found)
{
	const uint32_t n = 1000;
	uint64_t sizes[1000];
	for (uint32_t i = 0; i < n; i++)
		sizes[i] = i % 3 == 1 ? (UINT64_C(1) << 32) + i : i;
	struct hd_graph *many =
		graph_make(&(struct graph_spec){ .object_count = n, .sizes = sizes });
	REQUIRE(many);
	ASSERT_UINT(many->large.count, 333);
	for (uint32_t i = 0; i < n; i++)
		ASSERT_UINT(graph_size(many, i), sizes[i]);
	graph_destroy(many);
}

TEST_OF(access_tests, types_and_roots_are_told)
{
	struct hd_type type;
	CU_ASSERT_EQUAL(hd_graph_type(graph, 1, &type), 0);
	ASSERT_UINT(type.id, 0x11);
	ASSERT_UINT(type.name_size, 5);
	CU_ASSERT_NSTRING_EQUAL(type.name, "Type1", 5);
	ASSERT_UINT(type.object_count, 2);
	ASSERT_UINT(type.object_size, 2 * (uint64_t)UINT32_MAX - 1);
	CU_ASSERT_EQUAL(hd_graph_type(graph, 2, &type), 0);
	ASSERT_UINT(type.object_count, 0);
	struct hd_root root;
	CU_ASSERT_EQUAL(hd_graph_root(graph, 0, &root), 0);
	ASSERT_UINT(root.node, 2);
	ASSERT_UINT(root.container, 1);
	ASSERT_UINT(root.kind, HD_ROOT_STATIC);
	ASSERT_UINT(root.flags, HD_ROOT_PINNED);
	CU_ASSERT_EQUAL(hd_graph_root(graph, 1, &root), 0);
	ASSERT_UINT(root.container, HD_NONE);
	ASSERT_UINT(root.flags, HD_ROOT_WEAK);
}

TEST_OF(access_tests, out_of_range_touches_nothing)
{
	struct hd_object object = { .id = 77 };
	struct hd_type type = { .id = 77 };
	struct hd_root root = { .node = 77 };
	static const uint32_t beyond[] = { 5, 6, UINT32_MAX };
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(hd_graph_object(graph, beyond[i], &object), -1);
		CU_ASSERT_EQUAL(hd_graph_type(graph, beyond[i] - 2, &type), -1);
		CU_ASSERT_EQUAL(hd_graph_root(graph, beyond[i] - 3, &root), -1);
		ASSERT_UINT(hd_graph_references(graph, beyond[i], 0, &object.type, 1), 0);
	}
	ASSERT_UINT(object.id, 77);
	ASSERT_UINT(object.type, 0);
	ASSERT_UINT(type.id, 77);
	ASSERT_UINT(root.node, 77);
}

TEST_OF(access_tests, references_come_in_pieces)
{
	static const uint32_t expected[] = { 1, 4, 0, 1 };
	uint32_t buf[8] = { 0 };
	ASSERT_UINT(hd_graph_references(graph, 0, 0, buf, 8), 4);
	CU_ASSERT_EQUAL(memcmp(buf, expected, sizeof(expected)), 0);
	for (uint32_t first = 0; first < 4; first++) {
		ASSERT_UINT(hd_graph_references(graph, 0, first, buf, 1), 1);
		ASSERT_UINT(buf[0], expected[first]);
	}
	ASSERT_UINT(hd_graph_references(graph, 0, 2, buf, 8), 2);
	ASSERT_UINT(hd_graph_references(graph, 0, 4, buf, 8), 0);
	ASSERT_UINT(hd_graph_references(graph, 0, UINT64_MAX, buf, 8), 0);
	ASSERT_UINT(hd_graph_references(graph, 0, 0, buf, 0), 0);
	ASSERT_UINT(hd_graph_references(graph, 1, 0, buf, 8), 0);
	ASSERT_UINT(hd_graph_references(graph, 4, 0, buf, 8), 0);
}

TEST_OF(access_tests, empty_graph_answers)
{
	struct hd_graph *empty = graph_make(&(struct graph_spec){ .object_count = 0 });
	REQUIRE(empty);
	struct hd_object object;
	ASSERT_UINT(hd_graph_find(empty, 0), HD_NONE);
	CU_ASSERT_EQUAL(hd_graph_object(empty, 0, &object), -1);
	const struct csr *reverse;
	ASSERT_UINT(graph_reverse(empty, NULL, &reverse, NULL), HD_OK);
	graph_destroy(empty);
	graph_destroy(NULL);
}

/* The edges of @p csr as rows, with one that is none before the edges of each node, and after all. */
static void make_rows(struct csr_rows *ret, const struct csr *csr)
{
	uint64_t count = 0;
	ASSERT_UINT_FATAL(
		csr_rows_init(ret, csr->node_count, csr->edge_count + csr->node_count + 1, NULL),
		HD_OK);
	for (uint32_t node = 0; node < csr->node_count; node++) {
		ret->targets[count++] = UINT32_MAX;
		for (uint64_t i = csr_begin(csr, node); i < csr_begin(csr, node + 1); i++)
			ret->targets[count++] = csr->targets[i];
		(void)bitmap_add(ret->ends, node + count);
	}
	ret->targets[count] = UINT32_MAX;
}

static void check_rows(struct hd_graph *made, unsigned int workers)
{
	REQUIRE(made);
	struct job job = { .workers = workers };
	const struct csr *expected;
	struct csr_rows rows;
	struct csr got;
	ASSERT_UINT_FATAL(graph_reverse(made, NULL, &expected, NULL), HD_OK);
	make_rows(&rows, &made->forward);
	ASSERT_UINT_FATAL(csr_reverse_rows(&rows, &job, &got, NULL), HD_OK);
	ASSERT_UINT(got.edge_count, expected->edge_count);
	CU_ASSERT(memcmp(got.targets, expected->targets, got.edge_count * sizeof(*got.targets)) ==
		  0);
	for (uint32_t node = 0; node <= got.node_count; node++)
		ASSERT_UINT_FATAL(csr_begin(&got, node), csr_begin(expected, node));
	csr_deinit(&got);
	csr_rows_deinit(&rows);
	graph_destroy(made);
}

/* Rows are reversed as a csr is, small ones and those whose memory is given back meanwhile. */
TEST_OF(reverse_tests, reverse_of_rows)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct random random = { .state = seed };
		check_rows(graph_make_random(&(struct random_spec){
				   .seed = seed,
				   .object_count = (uint32_t)random_below(&random, 200),
				   .degree_percent = (uint32_t)random_below(&random, 900),
			   }),
			   1);
	}
	for (unsigned int workers = 1; workers <= 3; workers++) {
		check_rows(graph_make_random(&(struct random_spec){ .seed = workers,
								    .object_count = 400000,
								    .degree_percent = 400 }),
			   workers);
	}
}

SUITES({ .name = "graph reverse", .key = "reverse_tests" },
       { .name = "graph access", .set_up = set_up, .tear_down = tear_down, .key = "access_tests" })
