/* SPDX-License-Identifier: MIT */
#include "support/graph_maker.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/arena.h"

static bool make_types(struct hd_graph *graph)
{
	static const char domain_name[] = "Test.exe";
	graph->arena = arena_create();
	graph->types = pages_alloc(graph->type_count, sizeof(*graph->types));
	graph->domains.rows = pages_alloc(1, sizeof(*graph->domains.rows));
	if (!graph->arena || !graph->types || !graph->domains.rows)
		return false;
	graph->domains.count = 1;
	graph->domains.rows[0] = (struct graph_domain){ .name = domain_name,
							.name_size = sizeof(domain_name) - 1,
							.version = 2 };
	for (uint32_t i = 0; i < graph->type_count; i++) {
		char text[24];
		size_t size = (size_t)snprintf(text, sizeof(text), "Type%u", i);
		char *name = arena_alloc(graph->arena, size);
		if (!name)
			return false;
		memcpy(name, text, size);
		graph->types[i] = (struct graph_type){ .id = 0x10 + (uint64_t)i,
						       .name = name,
						       .name_size = (uint32_t)size };
	}
	return true;
}

static uint64_t size_of(const struct graph_spec *spec, uint32_t node)
{
	return spec->sizes ? spec->sizes[node] : 24 + 8 * (uint64_t)(node % 5);
}

static bool make_sizes(struct hd_graph *graph, const struct graph_spec *spec)
{
	for (uint32_t node = 0; node < graph->object_count; node++)
		graph->large.count += size_of(spec, node) >= SIZE_LARGE;
	graph->sizes = pages_alloc(graph->object_count, sizeof(*graph->sizes));
	graph->large.rows = pages_alloc(graph->large.count, sizeof(*graph->large.rows));
	if (!graph->sizes || !graph->large.rows)
		return false;
	size_t large = 0;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		uint64_t size = size_of(spec, node);
		graph->sizes[node] = size >= SIZE_LARGE ? SIZE_LARGE : (uint32_t)size;
		if (size >= SIZE_LARGE)
			graph->large.rows[large++] =
				(struct large_size){ .node = node, .size = size };
		graph->total_size += size;
	}
	return true;
}

static bool make_nodes(struct hd_graph *graph, const struct graph_spec *spec)
{
	graph->ids = pages_alloc(graph->node_count, sizeof(*graph->ids));
	graph->node_types = pages_alloc(graph->object_count, sizeof(*graph->node_types));
	if (!graph->ids || !graph->node_types || !make_sizes(graph, spec))
		return false;
	for (uint32_t node = 0; node < graph->node_count; node++)
		graph->ids[node] = spec->ids ? spec->ids[node] : 0x1000 + (uint64_t)node * 16;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		uint32_t type = spec->types ? spec->types[node] : 0;
		graph->node_types[node] = type;
		graph->types[type].count++;
		graph->types[type].size += size_of(spec, node);
	}
	return id_index_init(&graph->index, graph->ids, graph->object_count, NULL) == HD_OK;
}

/* Counting sort by source: a cursor for each row, and edges in the order of the list. */
static bool make_edges(struct hd_graph *graph, const struct graph_spec *spec)
{
	struct csr *csr = &graph->forward;
	if (csr_init(csr, graph->node_count, spec->edge_count, NULL) != HD_OK)
		return false;
	for (uint64_t i = 0; i < spec->edge_count; i++) {
		assert(spec->edges[i].from < graph->object_count);
		assert(spec->edges[i].to < graph->node_count);
		csr->offsets[spec->edges[i].from]++;
	}
	if (csr_offsets_from_degrees(csr, NULL) != HD_OK)
		return false;
	uint32_t *used = pages_alloc(graph->node_count, sizeof(*used));
	if (!used)
		return false;
	for (uint64_t i = 0; i < spec->edge_count; i++) {
		uint32_t from = spec->edges[i].from;
		csr->targets[csr_begin(csr, from) + used[from]++] = spec->edges[i].to;
	}
	pages_free(used, graph->node_count, sizeof(*used));
	return true;
}

static bool make_roots(struct hd_graph *graph, const struct graph_spec *spec)
{
	graph->root_count = spec->root_count;
	graph->roots = pages_alloc(spec->root_count, sizeof(*graph->roots));
	if (!graph->roots)
		return false;
	if (spec->root_count)
		memcpy(graph->roots, spec->roots, spec->root_count * sizeof(*graph->roots));
	return true;
}

struct hd_graph *graph_make(const struct graph_spec *spec)
{
	struct hd_graph *graph = mem_calloc(1, sizeof(*graph));
	if (!graph)
		return NULL;
	graph->object_count = spec->object_count;
	graph->node_count = spec->object_count + spec->missing_count;
	graph->type_count = spec->type_count ? spec->type_count : 1;
	if (make_types(graph) && make_nodes(graph, spec) && make_edges(graph, spec) &&
	    make_roots(graph, spec))
		return graph;
	graph_destroy(graph);
	return NULL;
}

uint64_t random_next(struct random *random)
{
	/* Marsaglia's xorshift64, Vigna's multiplication. */
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t random_below(struct random *random, uint64_t limit)
{
	return (random_next(random) >> 11) % limit;
}

static uint32_t random_target(struct random *random, const struct random_spec *spec, uint32_t from)
{
	uint32_t nodes = spec->object_count + spec->missing_count;
	if (!spec->near || random_below(random, 16) == 0)
		return (uint32_t)random_below(random, nodes);
	uint64_t to = from + random_below(random, 2 * (uint64_t)spec->near + 1);
	to = to < spec->near ? 0 : to - spec->near;
	return (uint32_t)(to < nodes ? to : nodes - 1);
}

struct hd_graph *graph_make_random(const struct random_spec *spec)
{
	struct random random = { .state = spec->seed * 2 + 1 };
	for (int i = 0; i < 8; i++)
		(void)random_next(&random);
	uint64_t edge_count = (uint64_t)spec->object_count * spec->degree_percent / 100;
	struct made_edge *edges = pages_alloc(edge_count, sizeof(*edges));
	struct graph_root *roots = pages_alloc(spec->root_count, sizeof(*roots));
	struct hd_graph *graph = NULL;
	if (edges && roots) {
		for (uint64_t i = 0; i < edge_count; i++) {
			edges[i].from = (uint32_t)random_below(&random, spec->object_count);
			edges[i].to = random_target(&random, spec, edges[i].from);
		}
		for (uint32_t i = 0; i < spec->root_count; i++) {
			bool weak = random_below(&random, 100) < spec->weak_percent;
			roots[i] = (struct graph_root){
				.node = (uint32_t)random_below(
					&random, spec->object_count + spec->missing_count),
				.container = HD_NONE,
				.kind = HD_ROOT_HANDLE,
				.flags = weak ? HD_ROOT_WEAK : 0,
			};
		}
		graph = graph_make(&(struct graph_spec){ .object_count = spec->object_count,
							 .missing_count = spec->missing_count,
							 .edges = edges,
							 .edge_count = edge_count,
							 .roots = roots,
							 .root_count = spec->root_count });
	}
	pages_free(edges, edge_count, sizeof(*edges));
	pages_free(roots, spec->root_count, sizeof(*roots));
	return graph;
}

struct hd_graph *graph_make_list(uint32_t count)
{
	uint64_t edge_count = count ? count - 1 : 0;
	struct made_edge *edges = pages_alloc(edge_count, sizeof(*edges));
	uint64_t *sizes = pages_alloc(count, sizeof(*sizes));
	struct graph_root root = { .container = HD_NONE, .kind = HD_ROOT_STACK };
	struct hd_graph *graph = NULL;
	if (edges && sizes) {
		for (uint32_t i = 0; i < edge_count; i++)
			edges[i] = (struct made_edge){ .from = i, .to = i + 1 };
		for (uint32_t i = 0; i < count; i++)
			sizes[i] = 24;
		graph = graph_make(&(struct graph_spec){ .object_count = count,
							 .sizes = sizes,
							 .edges = edges,
							 .edge_count = edge_count,
							 .roots = &root,
							 .root_count = count ? 1 : 0 });
	}
	pages_free(edges, edge_count, sizeof(*edges));
	pages_free(sizes, count, sizeof(*sizes));
	return graph;
}

void graph_mark_repeated(struct hd_graph *graph)
{
	for (uint32_t i = 0; i < graph->root_count; i++) {
		struct graph_root *x = &graph->roots[i];
		for (uint32_t k = 0; k < i; k++) {
			const struct graph_root *y = &graph->roots[k];
			x->repeated = x->repeated ||
				      (x->node == y->node && x->container == y->container &&
				       x->kind == y->kind && x->flags == y->flags);
		}
	}
}
