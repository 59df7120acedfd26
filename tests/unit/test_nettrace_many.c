/* SPDX-License-Identifier: MIT */
/* A trace of so many objects that all workers read it, against what was put into it. */
#include "format/nettrace/nettrace.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/graph_maker.h"
#include "support/nettrace_maker.h"
#include "support/suite.h"

enum {
	COUNT = 150000,
	BLOCK = 1000,
	PAIRS = 40,
	KNOWN = 3, /* types that the trace names */
	TYPES = 5,
};

#define LARGE     (UINT64_C(5) << 32)
#define MISSING   0x99u /* of no object */
#define TYPE(i)   (0x100u * ((i) + 1))
#define EDGES_MAX 4u

/* The content that is put into it, in the order in which it comes. */
struct heap {
	struct nt_node nodes[COUNT];
	uint64_t edges[COUNT * EDGES_MAX];
	uint64_t edge_count;
	uint32_t keys[PAIRS]; /* objects */
	uint64_t values[PAIRS];
};

/* Addresses of object @p i: four pieces that are to change places, or in any order. */
static uint64_t address_of(uint32_t i, bool is_mixed)
{
	static const uint32_t places[] = { 2, 0, 3, 1 };
	const uint32_t piece = COUNT / 4;
	uint32_t place = is_mixed ? (uint32_t)((uint64_t)i * 7919 % COUNT)
				  : places[i / piece] * piece + i % piece;
	return 0x10000 + (uint64_t)place * 32;
}

static struct heap *make_heap(bool is_mixed)
{
	struct random random = { .state = 7 };
	struct heap *heap = calloc(1, sizeof(*heap));
	REQUIRE(heap);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct nt_node *node = &heap->nodes[i];
		*node = (struct nt_node){ .address = address_of(i, is_mixed),
					  .size = i % 9999 == 7 ? LARGE + i : 24 + i % 100,
					  .type = TYPE(i % 1000 < 995 ? i % KNOWN : i % TYPES),
					  .edges = random_below(&random, EDGES_MAX + 1) };
		for (uint64_t k = 0; k < node->edges; k++) {
			uint32_t to = (uint32_t)random_below(&random, COUNT);
			heap->edges[heap->edge_count++] =
				i % 5000 == 9 ? MISSING : address_of(to, is_mixed);
		}
	}
	for (uint32_t i = 0; i < PAIRS; i++) {
		/* The first and the last of pieces, some with several values. */
		uint32_t at = i / 2 * (COUNT / (PAIRS / 2)) + i % 3;
		heap->keys[i] = i == PAIRS - 1 ? COUNT - 1 : at;
		heap->values[i] = address_of(i * 11, is_mixed);
	}
	return heap;
}

static void put_heap(struct nettrace_maker *maker, const struct heap *heap)
{
	static const char *const names[KNOWN] = { "A", "B", "C" };
	nettrace_begin(maker);
	for (uint32_t i = 0; i < KNOWN; i++)
		nettrace_type(maker, TYPE(i), 0x7000, 0x2000002 + i, 0, names[i]);
	nettrace_gc_start(maker, 1);
	for (uint32_t i = 0; i < PAIRS; i++)
		nettrace_pair(maker, heap->nodes[heap->keys[i]].address, heap->values[i]);
	for (uint32_t i = 0; i < COUNT; i += BLOCK) {
		nettrace_nodes(maker, i / BLOCK, heap->nodes + i, BLOCK);
		nettrace_flush(maker);
	}
	uint32_t number = 0;
	for (uint64_t i = 0; i < heap->edge_count; i += 1777) {
		uint64_t count = heap->edge_count - i < 1777 ? heap->edge_count - i : 1777;
		nettrace_edges(maker, number++, heap->edges + i, (uint32_t)count);
		nettrace_flush(maker);
	}
	nettrace_gc_end(maker, 1);
	nettrace_end(maker);
}

static struct hd_graph *read_heap(const struct nettrace_maker *maker, unsigned int workers)
{
	struct dump_file file;
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	struct job job = { .workers = workers };
	dump_file_make(&file, (const char *)maker->file.bytes, maker->file.size);
	ASSERT_UINT(nettrace_read(&(struct dump_input){ .path = "trace",
							.fd = file.fd,
							.size = maker->file.size },
				  NULL, &job, &graph, &err),
		    HD_OK);
	ASSERT_TEXT(err.message, "");
	dump_file_close(&file);
	REQUIRE(graph);
	return graph;
}

/* References of a node from number @p at on; where they end. */
static uint64_t check_target(const struct hd_graph *graph, uint64_t at, uint64_t id)
{
	ASSERT_UINT(graph_id(graph, graph->forward.targets[at]), id);
	return at + 1;
}

static void check_heap(const struct hd_graph *graph, const struct heap *heap)
{
	const uint64_t *edges = heap->edges;
	uint32_t is_key[COUNT / 64 + 1] = { 0 }; /* of blocks of 64 objects */
	for (uint32_t k = 0; k < PAIRS; k++)
		is_key[heap->keys[k] / 64]++;
	ASSERT_UINT_FATAL(graph->object_count, COUNT);
	ASSERT_UINT(graph->node_count, COUNT + 1);
	ASSERT_UINT_FATAL(graph->forward.edge_count, heap->edge_count + PAIRS);
	for (uint32_t i = 0; i < COUNT; i++) {
		const struct nt_node *given = &heap->nodes[i];
		uint32_t node = hd_graph_find(graph, given->address);
		CU_ASSERT_FATAL(node < COUNT);
		ASSERT_UINT(graph_size(graph, node), given->size);
		ASSERT_UINT(graph->types[graph->node_types[node]].id, given->type);
		uint64_t at = csr_begin(&graph->forward, node);
		for (uint64_t k = 0; k < given->edges; k++)
			at = check_target(graph, at, *edges++);
		for (uint32_t k = 0; is_key[i / 64] && k < PAIRS; k++) {
			if (heap->keys[k] == i)
				at = check_target(graph, at, heap->values[k]);
		}
		ASSERT_UINT(at, csr_begin(&graph->forward, node + 1));
	}
}

static void check_types(const struct hd_graph *graph)
{
	/* Types that nobody named follow in the order of their first objects, 998 and 999. */
	ASSERT_UINT_FATAL(graph->type_count, TYPES);
	ASSERT_TEXT(graph->types[0].name, "A");
	ASSERT_UINT(graph->types[3].id, TYPE(3));
	ASSERT_TEXT(graph->types[3].name, "UNKNOWN 0x400");
	ASSERT_TEXT(graph->types[4].name, "UNKNOWN 0x500");
	const struct graph_finding *finding = dump_finding(graph, "unresolved-type");
	REQUIRE(finding);
	ASSERT_UINT(finding->count, 2);
}

TEST(every_number_of_workers_reads_all_of_it)
{
	for (unsigned int is_mixed = 0; is_mixed < 2; is_mixed++) {
		struct heap *heap = make_heap(is_mixed);
		struct nettrace_maker maker = { .version = 4,
						.pointer_size = 8,
						.is_compressed = is_mixed };
		put_heap(&maker, heap);
		for (unsigned int workers = 1; workers < 6; workers += 2) {
			struct hd_graph *graph = read_heap(&maker, workers);
			check_heap(graph, heap);
			check_types(graph);
			graph_destroy(graph);
		}
		nettrace_deinit(&maker);
		free(heap);
	}
}

/* Put what lies at one address, @p pairs and interior roots of it, and objects, all as many as COUNT. */
static void put_pile(struct nettrace_maker *maker, bool pairs)
{
	const struct nt_node node = { .address = 0x10000, .size = 24, .type = TYPE(0) };
	struct nt_node nodes[BLOCK];
	nettrace_begin(maker);
	nettrace_type(maker, TYPE(0), 0x7000, 0x2000002, 0, "A");
	nettrace_gc_start(maker, 1);
	for (uint32_t i = 0; i < BLOCK; i++)
		nodes[i] = node;
	for (uint32_t i = 0; i < COUNT; i += BLOCK) {
		for (uint32_t k = 0; k < BLOCK; k++) {
			if (pairs) {
				nettrace_pair(maker, node.address, node.address);
			} else {
				nettrace_root(maker, node.address + 8, 0, NT_ROOT_INTERIOR);
			}
		}
		nettrace_nodes(maker, i / BLOCK, nodes, BLOCK);
		nettrace_flush(maker);
	}
	nettrace_gc_end(maker, 1);
	nettrace_end(maker);
}

/* No heap has this: each of the objects with each of the pairs, or roots, would take hours. */
TEST(piles_at_one_address_take_no_time)
{
	for (unsigned int pairs = 0; pairs < 2; pairs++) {
		struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
		struct dump_file file;
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		struct job job = { .workers = 2, .max_mem = (uint64_t)1 << 30 };
		put_pile(&maker, pairs);
		dump_file_make(&file, (const char *)maker.file.bytes, maker.file.size);
		enum hd_status status = nettrace_read(
			&(struct dump_input){
				.path = "trace", .fd = file.fd, .size = maker.file.size },
			NULL, &job, &graph, &err);
		/* All the references, 22 billion, need more than that. */
		CU_ASSERT(!pairs || status == HD_ERR_NOMEM);
		CU_ASSERT((status == HD_OK) == (graph != NULL));
		graph_destroy(graph);
		dump_file_close(&file);
		nettrace_deinit(&maker);
	}
}

SUITE(.name = "nettrace of many objects")
