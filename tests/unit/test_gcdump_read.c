/* SPDX-License-Identifier: MIT */
/* Files that a test makes. */
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/gcdump_samples.h"
#include "support/suite.h"
#include "util/text.h"

static struct hd_graph *graph_of(const struct made_gcdump *spec)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(read_made(spec, false, 1, &graph, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	REQUIRE(graph);
	return graph;
}

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* Each kind of pseudo-node with object 1 below it: a row is a node of its own. */
static const struct {
	const char16_t *name;
	uint8_t kind, flags, handle;
	const char *root_name;
} groups[] = {
	{ u"[local vars]", HD_ROOT_STACK, 0, 0, NULL },
	{ u"[Stack]", HD_ROOT_STACK, 0, 0, NULL },
	{ u"[Pinned local vars]", HD_ROOT_STACK, HD_ROOT_PINNED, 0, NULL },
	{ u"[strong Handles]", HD_ROOT_HANDLE, 0, GRAPH_HANDLE_STRONG, NULL },
	{ u"[StrongHandle]", HD_ROOT_HANDLE, 0, GRAPH_HANDLE_STRONG, NULL },
	{ u"[pinning Handles]", HD_ROOT_HANDLE, HD_ROOT_PINNED, GRAPH_HANDLE_PINNED, NULL },
	{ u"[PinnedHandle]", HD_ROOT_HANDLE, HD_ROOT_PINNED, GRAPH_HANDLE_PINNED, NULL },
	{ u"[AsyncPinnedHandle]", HD_ROOT_HANDLE, HD_ROOT_PINNED, GRAPH_HANDLE_ASYNC_PINNED, NULL },
	{ u"[finalizer Handles]", HD_ROOT_FINALIZER, 0, 0, NULL },
	{ u"[FinalizerQueue]", HD_ROOT_FINALIZER, 0, 0, NULL },
	{ u"[Dependent Handles]", HD_ROOT_HANDLE, 0, GRAPH_HANDLE_DEPENDENT, NULL },
	{ u"[RefCountedHandle]", HD_ROOT_HANDLE, 0, GRAPH_HANDLE_REF_COUNTED, NULL },
	{ u"[COM/WinRT Objects]", HD_ROOT_HANDLE, 0, GRAPH_HANDLE_REF_COUNTED, NULL },
	{ u"[SizedRefHandle]", HD_ROOT_HANDLE, 0, GRAPH_HANDLE_SIZED_REF, NULL },
	{ u"[other Handles]", HD_ROOT_HANDLE, 0, 0, "[other Handles]" },
	{ u"[GC Heaps]", HD_ROOT_INTERNAL, 0, 0, "[GC Heaps]" },
	{ u"[what nobody knows]", HD_ROOT_INTERNAL, 0, 0, "[what nobody knows]" },
	{ u"[frozen objects]", HD_ROOT_GC, 0, 0, NULL },
	{ u"[static var A.B.c]", HD_ROOT_STATIC, 0, 0, "A.B.c" },
	{ u"[static vars]", HD_ROOT_STATIC, 0, 0, NULL },
	{ u"[other roots]", HD_ROOT_INTERNAL, 0, 0, "[other roots]" },
};

TEST(pseudo_nodes_become_roots)
{
	for (uint32_t i = 0; i < COUNT(groups); i++) {
		const struct made_gcdump_type types[] = {
			{ u"UNDEFINED", 0, NULL },
			{ u"[.NET Roots]", -1, NULL },
			{ u"A.B", -1, u"a.dll" },
			{ groups[i].name, -1, NULL },
		};
		static const struct made_gcdump_node nodes[] = {
			{ .type = 1, CHILDREN1(2) },
			{ .type = 2, .size = 24, .address = 0x1000 },
			{ .type = 3, CHILDREN1(1) },
		};
		const struct made_gcdump spec = { .types = types,
						  .nodes = nodes,
						  .type_count = 4,
						  .node_count = 3,
						  .width = 64 };
		struct hd_graph *graph = graph_of(&spec);
		ASSERT_UINT(graph->object_count, 1);
		ASSERT_UINT(graph->type_count, 1);
		ASSERT_UINT(graph->types[0].id, 3);
		ASSERT_UINT_FATAL(graph->root_count, 1);
		const struct graph_root *root = &graph->roots[0];
		ASSERT_UINT(root->kind, groups[i].kind);
		ASSERT_UINT(root->flags, groups[i].flags);
		ASSERT_UINT(graph->origins.details[0].handle, groups[i].handle);
		CU_ASSERT(!graph->origins.details[0].name == !groups[i].root_name);
		if (groups[i].root_name)
			ASSERT_TEXT(graph->origins.details[0].name, groups[i].root_name);
		bool has_container = root->kind == HD_ROOT_STATIC && groups[i].root_name;
		ASSERT_UINT(root->container, has_container ? 0 : HD_NONE);
		graph_destroy(graph);
	}
}

/* Nested nodes, nodes with two parents, cycles; what is no pseudo-node though it looks like one. */
static const struct made_gcdump_type tree_types[] = {
	{ u"UNDEFINED", 0, NULL },
	{ u"[.NET Roots]", -1, NULL },
	{ u"[thread static vars]", -1, NULL },
	{ u"[static var X.y]", -1, NULL },
	{ u"[outer]", -1, NULL },
	{ u"[inner]", -1, NULL },
	{ u"[not reachable from roots]", -1, NULL },
	{ u"[]c", -1, u"a.dll" },
	{ u"X", -1, u"a.dll" },
	{ u"[strong Handles]", -1, NULL },
};

static const struct made_gcdump_node tree_nodes[] = {
	/* 0 */ { .type = 1, .children = { 1, 3, 5, 9, 12, 13 }, .child_count = 6 },
	/* 1 */ { .type = 2, CHILDREN1(2) },
	/* 2 */ { .type = 3, CHILDREN2(6, 0) },
	/* 3 */ { .type = 4, CHILDREN2(4, 3) },
	/* 4 */ { .type = 5, .children = { 7, 3, 8 }, .child_count = 3 },
	/* 5 */ { .type = 6, CHILDREN2(8, 4) },
	/* 6 */ { .type = 7, .size = 24, .address = 0x1000, CHILDREN1(7) },
	/* 7 */ { .type = 8, .size = 32, .address = 0x2000, CHILDREN2(10, 11) },
	/* 8 */ { .address = 0, .is_undefined = true },
	/* 9 */ { .type = 9, .children = { 7, 7, 11, 10 }, .child_count = 4 },
	/* 10 */ { .address = 0x3000, .is_undefined = true },
	/* 11, of which an object knows: an object */ { .type = 4, CHILDREN1(12) },
	/* 12, and so is this one */ { .type = 5, CHILDREN1(6) },
	/* 13, with a size */ { .type = 8, .size = 8 },
};

static struct made_gcdump tree_spec(void)
{
	return (struct made_gcdump){ .types = tree_types,
				     .nodes = tree_nodes,
				     .type_count = COUNT(tree_types),
				     .node_count = COUNT(tree_nodes),
				     .width = 64 };
}

TEST(a_tree_of_roots_may_be_odd)
{
	const struct made_gcdump spec = tree_spec();
	struct hd_graph *graph = graph_of(&spec);
	/* 6, 7, and 11, 12, 13 under numbers. */
	ASSERT_UINT_FATAL(graph->object_count, 5);
	ASSERT_UINT_FATAL(graph->node_count, 6);
	static const uint64_t ids[] = { 1, 2, 3, 0x1000, 0x2000, 0x3000 };
	for (uint32_t i = 0; i < 6; i++)
		ASSERT_UINT(graph->ids[i], ids[i]);
	REQUIRE(dump_finding(graph, "synthetic-id"));
	ASSERT_UINT(dump_finding(graph, "synthetic-id")->count, 3);
	REQUIRE(dump_finding(graph, "undefined-node"));
	CU_ASSERT(graph->info.is_partial);
	static const struct {
		uint64_t id;
		uint8_t kind;
		const char *name;
	} roots[] = {
		{ 2, HD_ROOT_INTERNAL, NULL },
		{ 3, HD_ROOT_INTERNAL, NULL },
		{ 0x2000, HD_ROOT_HANDLE, NULL },
		{ 0x2000, HD_ROOT_HANDLE, NULL },
		{ 1, HD_ROOT_HANDLE, NULL },
		{ 0x3000, HD_ROOT_HANDLE, NULL },
		{ 0x1000, HD_ROOT_THREAD_STATIC, "X.y" },
		{ 0x2000, HD_ROOT_INTERNAL, "[outer]/[inner]" },
	};
	ASSERT_UINT_FATAL(graph->root_count, COUNT(roots));
	for (uint32_t i = 0; i < COUNT(roots); i++) {
		ASSERT_UINT(graph_id(graph, graph->roots[i].node), roots[i].id);
		ASSERT_UINT(graph->roots[i].kind, roots[i].kind);
		CU_ASSERT(!graph->origins.details[i].name == !roots[i].name);
		if (roots[i].name)
			ASSERT_TEXT(graph->origins.details[i].name, roots[i].name);
		ASSERT_UINT(graph->roots[i].repeated, i == 3);
	}
	ASSERT_TEXT(graph->types[graph->roots[6].container].name, "X");
	graph_destroy(graph);
}

TEST(a_root_may_be_undefined_or_an_object)
{
	struct made_gcdump spec = tree_spec();
	spec.root = 8;
	struct hd_graph *graph = graph_of(&spec);
	ASSERT_UINT(graph->root_count, 0);
	graph_destroy(graph);
	spec.root = 7;
	graph = graph_of(&spec);
	ASSERT_UINT_FATAL(graph->root_count, 1);
	ASSERT_UINT(graph_id(graph, graph->roots[0].node), 0x2000);
	ASSERT_UINT(graph->roots[0].kind, HD_ROOT_INTERNAL);
	graph_destroy(graph);
}

TEST(types_and_sizes)
{
	struct made_gcdump spec = plain_spec();
	spec.log = u"heapdump: true sizes\n20 100000000\n60 5\nrest";
	struct hd_graph *graph = graph_of(&spec);
	ASSERT_UINT_FATAL(graph->object_count, 6);
	static const uint64_t sizes[] = { 64, (uint64_t)1 << 32,       8192,
					  24, 4294967296 - 2000000000, INT32_MAX };
	for (uint32_t i = 0; i < 6; i++)
		ASSERT_UINT(graph_size(graph, i), sizes[i]);
	ASSERT_UINT_FATAL(graph->type_count, 4);
	ASSERT_TEXT(graph->types[0].name, "Ns.\xc3\xa9\xe6\x96\x87<T>");
	ASSERT_TEXT(graph->types[0].module, "/x/\xc3\xbc.dll");
	ASSERT_UINT(graph->types[0].count, 3);
	ASSERT_UINT(graph->types[0].id, 3);
	ASSERT_TEXT(graph->types[1].name, "emoji \xf0\x9f\x98\x80");
	CU_ASSERT(!graph->types[1].module);
	CU_ASSERT(!graph->types[2].name && !graph->types[3].name);
	CU_ASSERT(graph->types[3].module == graph->types[0].module ||
		  strcmp(graph->types[3].module, graph->types[0].module) == 0);
	REQUIRE(dump_finding(graph, "unresolved-type"));
	ASSERT_UINT(dump_finding(graph, "unresolved-type")->count, 2);
	REQUIRE(dump_finding(graph, "cut-size"));
	ASSERT_UINT(graph->findings.count, 2);
	/* The text export needs no more than that. */
	struct text text = dump_written(graph);
	CU_ASSERT(text.size > 100);
	text_deinit(&text);
	graph_destroy(graph);
}

TEST(what_is_known_of_the_process)
{
	static const struct made_gcdump_segment segments[] = {
		/* One of before regions: 4, then large, 2, 1, 0. */
		{ 0x1000, 0x9000, { 0x9000, 0x5000, 0x4000, 0x3000, 0x2000 } },
		{ 0xa000, 0xb000, { 0, 0, 0xb000, 0, 0 } },
		{ 0x8000, 0x9800, { 0, 0x9800, 0, 0, 0 } },      /* begins in another one */
		{ 0x10, 0x10, { 0x10, 0, 0, 0, 0 } },            /* empty */
		{ 0xc000, 0xd000, { 0xffff, 0, 0, 0, 0xbff0 } }, /* ends outside */
	};
	static const struct {
		uint64_t start, end;
		unsigned int generation;
	} ranges[] = { { 0x1000, 0x2000, 4 }, { 0x2000, 0x3000, 3 }, { 0x3000, 0x4000, 2 },
		       { 0x4000, 0x5000, 1 }, { 0x5000, 0x9000, 0 }, { 0x9000, 0x9800, 1 },
		       { 0xa000, 0xb000, 2 }, { 0xc000, 0xd000, 0 } };
	struct made_gcdump spec = plain_spec();
	spec.heap.segments = segments;
	spec.heap.segment_count = COUNT(segments);
	spec.heap.version = 1;
	spec.process.name = u"proc\u00e9";
	spec.process.machine = u"host";
	spec.tool = u"maker";
	spec.process.id = 42;
	spec.process.time = 638000000000000000;
	struct hd_graph *graph = graph_of(&spec);
	const struct graph_info *info = &graph->info;
	ASSERT_TEXT(info->process, "proc\xc3\xa9");
	ASSERT_TEXT(info->machine, "host");
	ASSERT_TEXT(info->tool, "maker");
	ASSERT_UINT(info->pid, 42);
	ASSERT_UINT(info->time, 638000000000000000);
	CU_ASSERT(!info->is_32bit);
	ASSERT_UINT_FATAL(info->range_count, COUNT(ranges));
	for (size_t i = 0; i < COUNT(ranges); i++) {
		ASSERT_UINT(info->ranges[i].start, ranges[i].start);
		ASSERT_UINT(info->ranges[i].end, ranges[i].end);
		ASSERT_UINT(info->ranges[i].generation, ranges[i].generation);
	}
	graph_destroy(graph);
	spec.process.time = INT64_MAX;
	spec.process.id = -1;
	spec.width = 32;
	graph = graph_of(&spec);
	CU_ASSERT(!graph->info.time && !graph->info.pid && graph->info.is_32bit);
	graph_destroy(graph);
	spec.width = 0;
	graph = graph_of(&spec);
	CU_ASSERT(graph->info.is_32bit); /* all addresses are small */
	graph_destroy(graph);
}

TEST(samples_and_wrong_totals_are_findings)
{
	static const float multipliers[] = { 1, 1, 2.5f };
	struct made_gcdump spec = tree_spec();
	spec.sampling.multipliers = multipliers;
	spec.sampling.multiplier_count = 2;
	struct hd_graph *graph = graph_of(&spec);
	CU_ASSERT(!dump_finding(graph, "sampled") && !dump_finding(graph, "total-size"));
	graph_destroy(graph);
	spec.sampling.multiplier_count = 3;
	spec.total_error = 5;
	graph = graph_of(&spec);
	REQUIRE(dump_finding(graph, "sampled"));
	REQUIRE(dump_finding(graph, "total-size"));
	ASSERT_TEXT(dump_finding(graph, "total-size")->detail,
		    "the file says that its nodes have 69 bytes, they have 64");
	CU_ASSERT(graph->info.is_partial);
	graph_destroy(graph);
}

TEST(repeated_addresses_are_kept_apart)
{
	struct made_gcdump_node nodes[PLAIN_NODES];
	memcpy(nodes, plain_nodes, sizeof(nodes));
	nodes[5].address = 0x20;
	nodes[5].child_count = 1;
	nodes[5].children[0] = 6;
	nodes[3].children[0] = 5;
	struct made_gcdump spec = plain_spec();
	spec.nodes = nodes;
	struct hd_graph *graph = graph_of(&spec);
	ASSERT_UINT(graph->object_count, 6);
	uint32_t first = hd_graph_find(graph, 0x20), second = hd_graph_find(graph, 1);
	ASSERT_UINT(graph_size(graph, first), INT32_MAX);
	ASSERT_UINT(graph_size(graph, second), 24);
	uint32_t target = HD_NONE;
	ASSERT_UINT(hd_graph_references(graph, hd_graph_find(graph, 0x10), 0, &target, 1), 1);
	ASSERT_UINT(target, second);
	ASSERT_UINT(hd_graph_references(graph, second, 0, &target, 1), 1);
	ASSERT_UINT(graph_id(graph, target), 0x60);
	graph_destroy(graph);
}

/* Nodes in the order in which they are first mentioned: roots, then what they lead to. */
TEST(objects_may_stand_in_any_order)
{
	struct made_gcdump spec = plain_spec();
	struct hd_graph *expected = graph_of(&spec);
	struct made_gcdump_node nodes[PLAIN_NODES];
	memcpy(nodes, plain_nodes, sizeof(nodes));
	/* Two change places, and those that refer to them. */
	for (size_t i = 0; i < COUNT(nodes); i++) {
		for (size_t k = 0; k < nodes[i].child_count; k++) {
			if (nodes[i].children[k] == 3 || nodes[i].children[k] == 6)
				nodes[i].children[k] = 9 - nodes[i].children[k];
		}
	}
	struct made_gcdump_node third = nodes[3];
	nodes[3] = nodes[6];
	nodes[6] = third;
	spec.nodes = nodes;
	struct hd_graph *graph = graph_of(&spec);
	REQUIRE(graph->object_count == expected->object_count ? graph : NULL);
	ASSERT_UINT(graph->forward.edge_count, expected->forward.edge_count);
	for (uint32_t i = 0; i < graph->object_count; i++) {
		ASSERT_UINT(graph->ids[i], expected->ids[i]);
		ASSERT_UINT(graph_size(graph, i), graph_size(expected, i));
		ASSERT_UINT(graph->node_types[i], expected->node_types[i]);
		ASSERT_UINT(csr_degree(&graph->forward, i), csr_degree(&expected->forward, i));
	}
	for (uint64_t i = 0; i < graph->forward.edge_count; i++)
		ASSERT_UINT(graph->forward.targets[i], expected->forward.targets[i]);
	ASSERT_UINT(graph->root_count, expected->root_count);
	for (uint32_t i = 0; i < graph->root_count; i++)
		ASSERT_UINT(graph->roots[i].node, expected->roots[i].node);
	graph_destroy(graph);
	graph_destroy(expected);
}

TEST(each_failed_allocation_is_reported)
{
	check_failed_allocations_of(tree_spec());
}

SUITE(.name = "gcdump_read")
