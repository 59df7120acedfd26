/* SPDX-License-Identifier: MIT */
/* Traces as a test makes them. */
#include "format/nettrace/nettrace.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/nettrace_graph.h"
#include "support/suite.h"

static void check_error(const struct nettrace_maker *maker, const struct format_options *options,
			enum hd_status expected, const char *message)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(read_maker(maker, options, &graph, &err), expected);
	CU_ASSERT_PTR_NULL(graph);
	graph_destroy(graph);
	ASSERT_TEXT(err.message, message);
}

static uint64_t total_of(const struct hd_graph *graph)
{
	return (uint64_t)graph->object_count * 1000 + graph->forward.edge_count * 100 +
	       graph->root_count * 10 + (graph->node_count - graph->object_count);
}

TEST(every_kind_of_header_gives_the_same)
{
	for (unsigned int kind = 0; kind < 8; kind++) {
		struct nettrace_maker maker = { .version = kind & 1 ? 6 : 4,
						.is_compressed = kind & 2,
						.pointer_size = kind & 4 ? 4 : 8,
						.pid = 77 };
		nettrace_begin(&maker);
		nettrace_type(&maker, 0x100, MODULE, 0x2000002, 0, "A");
		put_snapshot(&maker, 3);
		nettrace_end(&maker);
		struct hd_graph *graph = graph_of(&maker);
		ASSERT_UINT(total_of(graph), 2310);
		ASSERT_UINT(graph->total_size, 64);
		ASSERT_UINT(graph_id(graph, 1), 0x1020);
		ASSERT_UINT(graph->info.is_32bit, maker.pointer_size == 4);
		ASSERT_UINT(graph->info.pid, 77);
		ASSERT_UINT(graph->findings.count, 1); /* type 0x200 */
		CU_ASSERT(!graph->info.is_partial);
		graph_destroy(graph);
		nettrace_deinit(&maker);
	}
}

TEST(a_snapshot_is_chosen_by_its_number)
{
	static const struct nt_node more[] = { { 0x2000, 24, 0x100, 0 },
					       { 0x2020, 24, 0x100, 0 },
					       { 0x2040, 24, 0x100, 0 } };
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8, .is_compressed = true };
	nettrace_begin(&maker);
	nettrace_gc_start(&maker, 1); /* without a snapshot */
	nettrace_gc_end(&maker, 1);
	put_snapshot(&maker, 2);
	nettrace_gc_start(&maker, 3);
	nettrace_nodes(&maker, 0, more, 3);
	nettrace_gc_end(&maker, 3);
	nettrace_type(&maker, 0x100, MODULE, 0x2000002, 0, "Late");
	nettrace_type(&maker, 0x200, MODULE, 0x2000003, 0, "Later");
	nettrace_end(&maker);
	for (uint32_t snapshot = 0; snapshot < 3; snapshot++) {
		struct hd_graph *graph =
			graph_with(&maker, &(struct format_options){ .snapshot = snapshot });
		ASSERT_UINT(graph->object_count, snapshot == 2 ? 3 : 2);
		const struct graph_finding *finding = dump_finding(graph, "snapshots");
		REQUIRE(finding);
		ASSERT_UINT(finding->count, 2);
		CU_ASSERT_PTR_NOT_NULL(strstr(finding->detail, "--snapshot 1 to 2"));
		ASSERT_TEXT(graph->types[graph->node_types[0]].name, "Late");
		graph_destroy(graph);
	}
	check_error(&maker, &(struct format_options){ .snapshot = 3 }, HD_ERR_FORMAT,
		    "trace: no heap snapshot 3: there are 2 in this trace");
	nettrace_deinit(&maker);
}

TEST(a_walk_without_the_beginning_of_its_collection_may_lack_something)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	nettrace_begin(&maker);
	nettrace_type(&maker, 0x100, MODULE, 0x2000002, 0, "A");
	nettrace_nodes(&maker, 0, two_nodes, 2);
	nettrace_edges(&maker, 0, three_edges, 3);
	nettrace_gc_end(&maker, 1);
	nettrace_end(&maker);
	struct hd_graph *graph = graph_of(&maker);
	ASSERT_UINT(graph->object_count, 2);
	CU_ASSERT(graph->info.is_partial);
	const struct graph_finding *finding = dump_finding(graph, "partial-heap");
	REQUIRE(finding);
	CU_ASSERT_PTR_NOT_NULL(strstr(finding->detail, "beginning (GCStart)"));
	graph_destroy(graph);
	nettrace_deinit(&maker);
}

TEST(exact_reading_takes_the_snapshot_that_dotnet_gcdump_takes)
{
	static const struct nt_node more[] = { { 0x2000, 24, 0x100, 0 } };
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	nettrace_begin(&maker);
	/* number 1, generation 1, reason 1, type 0 */
	nettrace_event(&maker, false, 1, "\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0", 16);
	nettrace_nodes(&maker, 0, more, 1);
	nettrace_gc_end(&maker, 1);
	put_snapshot(&maker, 2);
	nettrace_end(&maker);
	for (uint32_t snapshot = 0; snapshot < 3; snapshot++) {
		const struct format_options options = { .exact = true, .snapshot = snapshot };
		struct hd_graph *graph = graph_with(&maker, &options);
		ASSERT_UINT(graph->object_count, snapshot == 1 ? 1 : 2);
		graph_destroy(graph);
	}
	nettrace_deinit(&maker);
}

TEST(processes_are_kept_apart)
{
	struct nettrace_maker maker = { .version = 6, .pointer_size = 8, .pid = 2 };
	static const struct nt_node other[] = { { 0x1000, 32, 0x100, 0 } };
	nettrace_begin(&maker);
	nettrace_type(&maker, 0x100, MODULE, 0x2000002, 0, "Two");
	nettrace_gc_start(&maker, 1);
	nettrace_nodes(&maker, 0, two_nodes, 2);
	maker.pid = 1;
	maker.sequence = 0;
	nettrace_gc_start(&maker, 1);
	nettrace_type(&maker, 0x100, MODULE, 0x2000002, 0, "One");
	nettrace_nodes(&maker, 0, other, 1);
	nettrace_gc_end(&maker, 1);
	maker.pid = 2;
	maker.sequence = 3;
	nettrace_edges(&maker, 0, three_edges, 3);
	nettrace_gc_end(&maker, 1);
	nettrace_end(&maker);
	struct hd_graph *one = graph_with(&maker, &(struct format_options){ .snapshot = 1 });
	struct hd_graph *two = graph_with(&maker, &(struct format_options){ .snapshot = 2 });
	ASSERT_UINT(one->info.pid, 1);
	ASSERT_UINT(one->object_count, 1);
	ASSERT_TEXT(one->types[one->node_types[0]].name, "One");
	ASSERT_UINT(two->info.pid, 2);
	ASSERT_UINT(total_of(two), 2300);
	ASSERT_TEXT(two->types[two->node_types[0]].name, "Two");
	CU_ASSERT(!one->info.is_partial && !two->info.is_partial);
	CU_ASSERT_PTR_NULL(dump_finding(one, "lost-events"));
	graph_destroy(one);
	graph_destroy(two);
	nettrace_deinit(&maker);
}

/* Nodes and edges in blocks of their own; what of it is lost is the caller's. */
static void put_blocks(struct nettrace_maker *maker, uint32_t lost_nodes, uint32_t lost_edges)
{
	nettrace_gc_start(maker, 9);
	for (uint32_t i = 0; i < 4; i++) {
		const struct nt_node node = { 0x1000 + 32 * i, 32, 0x100, 2 };
		const uint64_t targets[] = { 0x1000 + 32 * ((i + 1) % 4), 0x1000 };
		if (i == lost_nodes) {
			nettrace_lose(maker, 1);
		} else {
			nettrace_nodes(maker, i, &node, 1);
		}
		if (i == lost_edges) {
			nettrace_lose(maker, 1);
		} else {
			nettrace_edges(maker, i, targets, 2);
		}
	}
	nettrace_root(maker, 0x1000, NT_ROOT_HANDLE, 0);
	nettrace_gc_end(maker, 9);
	nettrace_end(maker);
}

TEST(lost_blocks_leave_the_objects_before_them)
{
	static const struct {
		uint32_t nodes, edges, objects;
	} losses[] = {
		{ 9, 9, 4 }, { 3, 9, 3 }, { 2, 9, 2 }, { 9, 3, 3 }, { 9, 1, 1 }, { 2, 1, 1 }
	};
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		struct nettrace_maker maker = { .version = i % 2 ? 6 : 4, .pointer_size = 8 };
		nettrace_begin(&maker);
		nettrace_type(&maker, 0x100, MODULE, 0x2000002, 0, "A");
		put_blocks(&maker, losses[i].nodes, losses[i].edges);
		struct hd_graph *graph = graph_of(&maker);
		ASSERT_UINT(graph->object_count, losses[i].objects);
		ASSERT_UINT(graph->forward.edge_count, 2 * (uint64_t)losses[i].objects);
		ASSERT_UINT(graph->node_count, losses[i].objects < 4 ? losses[i].objects + 1 : 4);
		ASSERT_UINT(graph->root_count, 1);
		ASSERT_UINT(graph->info.is_partial, i > 0);
		const struct graph_finding *lost = dump_finding(graph, "lost-events");
		ASSERT_UINT(lost ? lost->count : 0,
			    (losses[i].nodes < 4 ? 1u : 0u) + (losses[i].edges < 4 ? 1u : 0u));
		ASSERT_UINT(dump_finding(graph, "partial-heap") != NULL, i > 0);
		graph_destroy(graph);
		graph = NULL;
		if (i) {
			struct hd_error err = { 0 };
			ASSERT_UINT(read_maker(&maker, &(struct format_options){ .exact = true },
					       &graph, &err),
				    HD_ERR_FORMAT);
		}
		nettrace_deinit(&maker);
	}
}

TEST(a_sequence_point_tells_of_a_lost_end)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	nettrace_begin(&maker);
	nettrace_gc_start(&maker, 9);
	nettrace_nodes(&maker, 0, two_nodes, 2);
	nettrace_edges(&maker, 0, three_edges, 3);
	nettrace_point(&maker, 25); /* 3 came */
	nettrace_end(&maker);
	struct hd_graph *graph = graph_of(&maker);
	ASSERT_UINT(graph->object_count, 2);
	ASSERT_UINT(dump_finding(graph, "lost-events")->count, 22);
	CU_ASSERT(graph->info.is_partial);
	graph_destroy(graph);
	check_error(
		&maker, &(struct format_options){ .exact = true }, HD_ERR_FORMAT,
		"trace: the end of the heap snapshot is missing: dotnet-gcdump makes nothing of "
		"such a snapshot; read it without --exact");
	nettrace_deinit(&maker);
}

static const struct graph_root *root_at(const struct hd_graph *graph, uint64_t id, uint32_t nth,
					const struct graph_root_detail **ret)
{
	for (uint32_t i = 0; i < graph->root_count; i++) {
		if (graph_id(graph, graph->roots[i].node) == id && !nth--) {
			*ret = &graph->origins.details[i];
			return &graph->roots[i];
		}
	}
	return NULL;
}

/* Check the id of a root: it is an address only for handles. */
static void check_id(const struct graph_root_detail *detail, uint8_t kind, uint32_t id)
{
	char method[32];
	(void)snprintf(method, sizeof(method), "MethodDesc %x", id);
	ASSERT_UINT(detail->address, kind == NT_ROOT_HANDLE ? id : 0);
	ASSERT_TEXT(detail->name, kind == NT_ROOT_STACK ? method : NULL);
}

TEST(roots_keep_what_they_are)
{
	static const struct {
		uint8_t kind;
		uint32_t flags;
		uint8_t expected_kind, expected_flags, handle;
	} rows[] = {
		{ NT_ROOT_STACK, 0, HD_ROOT_STACK, 0, GRAPH_HANDLE_NONE },
		{ NT_ROOT_STACK, 1, HD_ROOT_STACK, HD_ROOT_PINNED, GRAPH_HANDLE_NONE },
		{ NT_ROOT_FINALIZER, 0, HD_ROOT_FINALIZER, 0, GRAPH_HANDLE_NONE },
		{ NT_ROOT_HANDLE, 0, HD_ROOT_HANDLE, 0, GRAPH_HANDLE_STRONG },
		{ NT_ROOT_HANDLE, 1, HD_ROOT_HANDLE, HD_ROOT_PINNED, GRAPH_HANDLE_PINNED },
		{ NT_ROOT_HANDLE, 2, HD_ROOT_HANDLE, HD_ROOT_WEAK, GRAPH_HANDLE_NONE },
		{ NT_ROOT_HANDLE, 8, HD_ROOT_HANDLE, 0, GRAPH_HANDLE_REF_COUNTED },
		{ NT_ROOT_OLDER, 0, HD_ROOT_INTERNAL, 0, GRAPH_HANDLE_NONE },
		{ NT_ROOT_SIZED_REF, 0, HD_ROOT_HANDLE, 0, GRAPH_HANDLE_SIZED_REF },
		{ NT_ROOT_OVERFLOW, 0, HD_ROOT_INTERNAL, 0, GRAPH_HANDLE_NONE },
	};
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	nettrace_begin(&maker);
	nettrace_gc_start(&maker, 1);
	nettrace_nodes(&maker, 0, two_nodes, 2);
	nettrace_edges(&maker, 0, three_edges, 3);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		nettrace_root_with(&maker, 0x1000, rows[i].kind, rows[i].flags, 0x7f4300 + i);
	nettrace_root(&maker, 0, NT_ROOT_STACK, 0);
	nettrace_root(&maker, 0x1047, NT_ROOT_STACK, NT_ROOT_INTERIOR); /* in the second object */
	nettrace_root(&maker, 0x1048, NT_ROOT_STACK, NT_ROOT_INTERIOR); /* after it */
	nettrace_static(&maker, 0x1020, 0x200, 0, "Head");
	nettrace_static(&maker, 0x1020, 0x300, 1, "own");
	nettrace_static(&maker, 0, 0x200, 0, "Null");
	nettrace_type(&maker, 0x200, MODULE, 0x2000002, 0, "N.List`1[System.Int32]");
	nettrace_gc_end(&maker, 1);
	nettrace_end(&maker);
	struct hd_graph *graph = graph_of(&maker);
	const struct graph_root_detail *detail = NULL;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct graph_root *root = root_at(graph, 0x1000, i, &detail);
		REQUIRE(root);
		ASSERT_UINT(root->kind, rows[i].expected_kind);
		ASSERT_UINT(root->flags, rows[i].expected_flags);
		ASSERT_UINT(detail->handle, rows[i].handle);
		check_id(detail, rows[i].kind, 0x7f4300 + i);
	}
	const struct graph_root *root = root_at(graph, 0x1020, 0, &detail);
	REQUIRE(root);
	ASSERT_UINT(root->flags, HD_ROOT_INTERIOR);
	root = root_at(graph, 0x1048, 0, &detail);
	REQUIRE(root);
	CU_ASSERT(graph_is_missing(graph, root->node));
	root = root_at(graph, 0x1020, 1, &detail);
	REQUIRE(root);
	ASSERT_UINT(root->kind, HD_ROOT_STATIC);
	ASSERT_TEXT(detail->name, "N.List<System.Int32>.Head");
	root = root_at(graph, 0x1020, 2, &detail);
	REQUIRE(root);
	ASSERT_UINT(root->kind, HD_ROOT_THREAD_STATIC);
	ASSERT_TEXT(detail->name, "Type(0x300).own");
	ASSERT_UINT(graph->root_count, 14);
	graph_destroy(graph);
	nettrace_deinit(&maker);
}

TEST(weak_tables_refer_from_key_to_value)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 4 };
	nettrace_begin(&maker);
	nettrace_gc_start(&maker, 1);
	nettrace_pair(&maker, 0x1020, 0x1020);
	nettrace_pair(&maker, 0x1000, 0x1020);
	nettrace_pair(&maker, 0x1020, 0x9000);
	nettrace_pair(&maker, 0, 0x1000);      /* dead */
	nettrace_pair(&maker, 0x5000, 0x1000); /* of no object */
	nettrace_nodes(&maker, 0, two_nodes, 2);
	nettrace_edges(&maker, 0, three_edges, 3);
	nettrace_gc_end(&maker, 1);
	nettrace_end(&maker);
	struct hd_graph *graph = graph_of(&maker);
	ASSERT_UINT(total_of(graph), 2601); /* 3 + 3 references, 0x9000 is missing */
	ASSERT_UINT(csr_degree(&graph->forward, 0), 3);
	ASSERT_UINT(csr_degree(&graph->forward, 1), 3);
	graph_destroy(graph);
	nettrace_deinit(&maker);
}

TEST(ranges_are_those_behind_the_objects)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	nettrace_begin(&maker);
	nettrace_gc_start(&maker, 1);
	nettrace_range(&maker, 0, 0x500, 0x100); /* before the walk */
	nettrace_nodes(&maker, 0, two_nodes, 2);
	nettrace_edges(&maker, 0, three_edges, 3);
	nettrace_range(&maker, 2, 0x8000, 0x100);
	nettrace_range(&maker, 1, 0x1000, 0x800);
	nettrace_range(&maker, 4, 0x17f0, 0x800);     /* overlaps */
	nettrace_range(&maker, 9, 0x20000, 0x800);    /* no generation */
	nettrace_range(&maker, 3, UINT64_MAX, 0x800); /* wraps */
	nettrace_range(&maker, 3, 0x30000, 0);
	nettrace_gc_end(&maker, 1);
	nettrace_end(&maker);
	struct hd_graph *graph = graph_of(&maker);
	ASSERT_UINT_FATAL(graph->info.range_count, 2);
	ASSERT_UINT(graph->info.ranges[0].start, 0x1000);
	ASSERT_UINT(graph->info.ranges[0].generation, 1);
	ASSERT_UINT(graph->info.ranges[1].end, 0x8100);
	/* 2026-11-21 02:05:11.314 is 10 ms before the event, at 1 ms a tick; the offset of 1000 is ours. */
	ASSERT_UINT(graph->info.time % 10000000, 3140000);
	ASSERT_UINT(graph->info.time / 864000000000u, 739940);
	graph_destroy(graph);
	nettrace_deinit(&maker);
}

TEST(what_is_no_snapshot_is_an_error)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	nettrace_begin(&maker);
	nettrace_gc_start(&maker, 1);
	nettrace_gc_end(&maker, 1);
	nettrace_end(&maker);
	check_error(
		&maker, NULL, HD_ERR_FORMAT,
		"trace: no heap snapshot in this trace: collect one with the keywords 0x1980001 "
		"of Microsoft-Windows-DotNETRuntime");
	maker.file.size -= 4;
	struct hd_error err = { 0 };
	struct hd_graph *graph = NULL;
	ASSERT_UINT(read_maker(&maker, NULL, &graph, &err), HD_ERR_FORMAT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "cut off"));
	maker.file.size = 0;
	maker_put(&maker.file, "Nettrace\0\0\0\0\7\0\0\0\0\0\0\0", 20);
	check_error(&maker, NULL, HD_ERR_UNSUPPORTED,
		    "trace: NetTrace of version 7: 4 and 6 can be read");
	maker.file.size = 0;
	maker_put(&maker.file, "Nettrace\x14\0\0\0!FastSerialization.2", 32);
	check_error(&maker, NULL, HD_ERR_FORMAT, "trace: no NetTrace header at offset 8");
	nettrace_deinit(&maker);
	CU_ASSERT(nettrace_detect("Nettrace", 8) && !nettrace_detect("Nettrac", 7));
}

/* Counts of events that say more than they have. */
TEST(counts_may_lie)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	static const struct nt_node huge[] = { { 0x1000, 24, 0x100, 0 },
					       { 0x1020, 24, 0x100, UINT64_MAX } };
	nettrace_begin(&maker);
	nettrace_gc_start(&maker, 1);
	nettrace_nodes(&maker, 0, huge, 2);
	nettrace_edges(&maker, 0, three_edges, 3);
	static const uint32_t ids[] = { 15, 16, 17, 18, 19, 36, 37, 38, 23, 152, 1, 2 };
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		uint8_t payload[40];
		memset(payload, 0xff, sizeof(payload));
		for (size_t size = 0; size <= sizeof(payload); size++)
			nettrace_event(&maker, false, ids[i], payload, size);
	}
	nettrace_end(&maker);
	struct hd_graph *graph = graph_of(&maker);
	ASSERT_UINT(graph->object_count, 1);
	CU_ASSERT(graph->info.is_partial);
	graph_destroy(graph);
	nettrace_deinit(&maker);
}

SUITE(.name = "nettrace")
