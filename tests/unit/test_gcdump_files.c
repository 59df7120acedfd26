/* SPDX-License-Identifier: MIT */
/* Compares files that dotnet-gcdump wrote with what is known of them. */
#include <inttypes.h>

#include "format/gcdump/gcdump.h"
#include "format/gcdump/gcdump_names.h"
#include "format/gcdump/gcdump_reading.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/nettrace_graph.h"
#include "support/suite.h"
#include "util/text.h"

/* The number after "KEY": in a text; leaves the test when there is none. */
static uint64_t number_of(const char *json, const char *key)
{
	char quoted[64];
	(void)snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
	const char *at = strstr(json, quoted);
	REQUIRE(at);
	return strtoull(at + strlen(quoted), NULL, 10);
}

/* The JSON string at @p at, without escapes, into @p ret; false: null. */
static bool string_at(const char *at, char *ret, size_t size)
{
	size_t next = 0;
	if (*at++ != '"')
		return false;
	for (; *at != '"' && next + 1 < size; at++) {
		at += *at == '\\';
		ret[next++] = *at;
	}
	ret[next] = '\0';
	return true;
}

/* Count and bytes of all types of a name and a module. */
static struct hd_type sum_types(const struct hd_graph *graph, const char *name, const char *module)
{
	struct hd_type sum = { 0 };
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		if (!type->name || strcmp(type->name, name) != 0 ||
		    strcmp(type->module ? type->module : "", module) != 0)
			continue;
		sum.object_count += type->count;
		sum.object_size += type->size;
	}
	return sum;
}

/* Roots with a name, or of a kind without one. */
static uint64_t count_roots(const struct hd_graph *graph, uint8_t kind, uint8_t handle,
			    const char *name)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root_detail *detail = &graph->origins.details[i];
		count += graph->roots[i].kind == kind && detail->handle == handle &&
			 (name ? detail->name && strcmp(detail->name, name) == 0 : !detail->name);
	}
	return count;
}

struct expected {
	uint64_t objects, pseudo_nodes, pseudo_edges, roots;
};

/* Every entry of per_type: types of objects, and pseudo-nodes, which have no module. */
static void check_types(const struct hd_graph *graph, const char *json, struct expected *expected)
{
	const char *at = strstr(json, "\"per_type\"");
	REQUIRE(at);
	while ((at = strstr(at + 1, "\"name\": "))) {
		char name[512], module[512] = "";
		const char *module_at = strstr(at, "\"module\": ");
		REQUIRE(module_at);
		CU_ASSERT(string_at(at + 8, name, sizeof(name)));
		bool has_module = string_at(module_at + 10, module, sizeof(module));
		uint64_t count = number_of(at, "count"), total = number_of(at, "total");
		if (name[0] == '[' && !has_module) {
			expected->pseudo_nodes += count;
			CU_ASSERT(!sum_types(graph, name, module).object_count);
		} else if (strcmp(name, "UNDEFINED") != 0) {
			struct hd_type sum = sum_types(graph, name, module);
			expected->objects += count;
			ASSERT_UINT(sum.object_count, count);
			ASSERT_UINT(sum.object_size, total);
		}
	}
}

/* Every entry of root_children: what a pseudo-node has for roots. */
static void check_roots(const struct hd_graph *graph, const char *json, uint64_t null_slots,
			struct expected *expected)
{
	static const struct {
		const char *name;
		uint8_t kind, handle;
	} groups[] = {
		{ "[local vars]", HD_ROOT_STACK, GRAPH_HANDLE_NONE },
		{ "[strong Handles]", HD_ROOT_HANDLE, GRAPH_HANDLE_STRONG },
		{ "[pinning Handles]", HD_ROOT_HANDLE, GRAPH_HANDLE_PINNED },
		{ "[Dependent Handles]", HD_ROOT_HANDLE, GRAPH_HANDLE_DEPENDENT },
		{ "[finalizer Handles]", HD_ROOT_FINALIZER, GRAPH_HANDLE_NONE },
		{ "[COM/WinRT Objects]", HD_ROOT_HANDLE, GRAPH_HANDLE_REF_COUNTED },
	};
	const char *at = strstr(json, "\"root_children\": {");
	REQUIRE(at);
	const char *end = strchr(at, '}');
	for (at = strchr(at, '\n') + 3; at < end; at = strchr(at, '\n') + 3) {
		char name[512];
		if (!string_at(at, name, sizeof(name)))
			break;
		uint64_t count = strtoull(strstr(at, "\": ") + 3, NULL, 10);
		/* A compiler's class. */
		if (strncmp(name, "[]", 2) == 0)
			continue;
		expected->pseudo_edges += count;
		if (strncmp(name, "[static var ", 12) == 0) {
			name[strlen(name) - 1] = '\0';
			ASSERT_UINT(count_roots(graph, HD_ROOT_STATIC, 0, name + 12), count);
			expected->roots += count;
		}
		for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
			if (strcmp(groups[i].name, name) != 0)
				continue;
			count -= groups[i].kind == HD_ROOT_STACK ? null_slots : 0;
			ASSERT_UINT(count_roots(graph, groups[i].kind, groups[i].handle, NULL),
				    count);
			expected->roots += count;
		}
	}
}

static struct hd_graph *open_file(const char *name, unsigned int workers)
{
	struct text file = dump_source_file(name);
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	const struct dump_reading how = { .workers = workers, .exact = true };
	ASSERT_UINT(dump_open(file.bytes, file.size, &how, &graph, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	text_deinit(&file);
	REQUIRE(graph);
	return graph;
}

/* @p null_slots: children of [local vars] that are no node with an address. */
static void check_fixture(const char *name, uint64_t null_slots)
{
	char path[64], json_path[64];
	(void)snprintf(path, sizeof(path), "tests/data/%s.gcdump", name);
	(void)snprintf(json_path, sizeof(json_path), "tests/data/%s.gcdump.expected.json", name);
	struct hd_graph *graph = open_file(path, 1);
	struct text json = dump_source_file(json_path);
	struct expected expected = { 0 };
	check_types(graph, json.bytes, &expected);
	check_roots(graph, json.bytes, null_slots, &expected);
	ASSERT_UINT(graph->object_count, expected.objects);
	ASSERT_UINT(graph->node_count, graph->object_count);
	ASSERT_UINT(number_of(json.bytes, "nodes"),
		    expected.objects + expected.pseudo_nodes +
			    number_of(json.bytes, "undefined_nodes"));
	ASSERT_UINT(graph->forward.edge_count,
		    number_of(json.bytes, "edges") - expected.pseudo_edges);
	ASSERT_UINT(graph->root_count, expected.roots);
	/* Edges of the tree that lead on in it, and to nothing, are not roots. */
	ASSERT_UINT(graph->root_count,
		    expected.pseudo_edges - (expected.pseudo_nodes - 1) - null_slots);
	ASSERT_UINT(graph->total_size, number_of(json.bytes, "total_size"));
	ASSERT_TEXT(graph->info.tool, "dotnet-gcdump");
	CU_ASSERT(!graph->info.process && !graph->info.machine && !graph->info.pid);
	CU_ASSERT(!graph->info.is_32bit && !graph->info.is_partial);
	ASSERT_UINT(graph->findings.count, 0);
	ASSERT_UINT(graph->domains.count, 1);
	for (uint32_t i = 1; i < graph->object_count; i++)
		CU_ASSERT_FATAL(graph->ids[i - 1] < graph->ids[i]);
	text_deinit(&json);
	graph_destroy(graph);
}

TEST(files_of_dotnet_gcdump_are_read_whole)
{
	check_fixture("small300", 5);
	check_fixture("small1000", 4);
}

/* sample_nodes of small300: a list node and what it refers to, a static and its list. */
TEST(an_object_is_what_the_file_says)
{
	struct hd_graph *graph = open_file("tests/data/small300.gcdump", 1);
	uint32_t node = hd_graph_find(graph, 0x7f4c9dc233c8);
	struct hd_object object;
	ASSERT_UINT_FATAL((uint64_t)hd_graph_object(graph, node, &object), 0);
	ASSERT_UINT(object.size, 40);
	ASSERT_TEXT(graph->types[object.type].name, "HeapApp.ListNode");
	ASSERT_UINT(object.reference_count, 1);
	uint32_t target = HD_NONE;
	ASSERT_UINT(hd_graph_references(graph, node, 0, &target, 1), 1);
	ASSERT_UINT(graph_id(graph, target), 0x7f5878201918);
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const char *name = graph->origins.details[i].name;
		if (!name || strcmp(name, "HeapApp.ListNode.Head") != 0)
			continue;
		ASSERT_TEXT(graph->types[graph->roots[i].container].name, "HeapApp.ListNode");
		target = graph->roots[i].node;
	}
	ASSERT_TEXT(graph->types[graph->node_types[target]].name, "HeapApp.ListNode");
	graph_destroy(graph);
}

static void check_name(const char *name, const char *expected)
{
	struct text text = { 0 };
	gcdump_type_name(&text, name, strlen(name));
	ASSERT_TEXT(text.bytes, expected);
	text_deinit(&text);
}

/* As DotNetHeapDumpGraphReader.cs converts the runtime's names. */
TEST(names_are_those_of_the_heap)
{
	check_name("System.String", "System.String");
	check_name("System.String (Bytes > 10K)", "System.String");
	check_name("System.Byte[] (Bytes > 100M)", "System.Byte[]");
	check_name("A (Bytes > 2K)", "A (Bytes > 2K)");
	check_name(" (Bytes > 1K)", " (Bytes > 1K)");
	check_name("System.Int32<,>", "System.Int32[,]");
	check_name("System.Int32<*>", "System.Int32[*]");
	check_name("System.Int32<,,>[] (Bytes > 1M)", "System.Int32[,,][]");
	check_name("A.D<S,A.L<O>>[]", "A.D<S, A.L<O>>[]");
	check_name("A.D<S[],T<,>>", "A.D<S[], T[,]>");
	check_name("A.D<S, T>", "A.D<S, T>");
	check_name("[]c", "<>c");
	check_name("[]c[]", "<>c[]");
	check_name("A.B+[]c__DisplayClass1_0<X,Y>", "A.B+<>c__DisplayClass1_0<X, Y>");
	check_name("L<[]c>", "L<<>c>");
	check_name("<Main>d__1", "<Main>d__1");
	check_name("<>c", "<>c");
	check_name("A[,]", "A[,]");
	check_name("D<A[,],B>", "D<A[,], B>");
	check_name("[RCW A,B]", "[RCW A,B]");
	check_name("A<,", "A<,");
	check_name("A>,>", "A>,>");
	check_name("[", "[");
}

static void same_types(const struct hd_graph *a, const struct hd_graph *b)
{
	for (uint32_t i = 0; i < a->type_count; i++) {
		const struct graph_type *type = &a->types[i];
		if (!type->count)
			continue;
		const char *module = type->module ? type->module : "";
		struct hd_type sum = sum_types(b, type->name, module);
		ASSERT_UINT(sum.object_count, type->count);
		ASSERT_UINT(sum.object_size, type->size);
	}
}

/* One heap, as dotnet-gcdump wrote it and as the trace that it made that of. */
TEST(the_types_are_those_of_the_trace)
{
	struct text text = dump_source_file("tests/data/small300.nettrace");
	const struct format_options options = { .no_files = true };
	struct hd_graph *trace = NULL, *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(read_trace(text.bytes, text.size, &options, &trace, &err), HD_OK);
	text_deinit(&text);
	text = dump_source_file("tests/data/small300.gcdump");
	ASSERT_UINT_FATAL(
		gcdump_read_bytes(&(struct dump_input){ .path = "g",
							.bytes = (const uint8_t *)text.bytes,
							.size = text.size },
				  &options, NULL, &graph, &err),
		HD_OK);
	same_types(graph, trace);
	same_types(trace, graph);
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		struct hd_type sum = sum_types(graph, type->name, type->module ? type->module : "");
		ASSERT_UINT(sum.object_count, type->count); /* no other type is the same */
	}
	graph_destroy(graph);
	graph_destroy(trace);
	text_deinit(&text);
}

SUITE(.name = "gcdump_files")
