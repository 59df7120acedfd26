/* SPDX-License-Identifier: MIT */
/* Names of types in traces that a test makes. */
#include <unistd.h>

#include "format/nettrace/nettrace_types.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/dump_text.h"
#include "support/metadata_maker.h"
#include "support/nettrace_graph.h"
#include "support/suite.h"

static void check_name(const char *raw, const char *expected)
{
	struct text text = { 0 };
	nt_append_type_name(&text, raw, strlen(raw));
	ASSERT_TEXT(text.bytes, expected);
	text_deinit(&text);
}

TEST(names_are_those_of_the_heap)
{
	check_name("System.String", "System.String");
	check_name("System.Int32[,]", "System.Int32[,]");
	check_name("A.B[*]", "A.B[*]");
	check_name("A.List`1[System.Int32]", "A.List<System.Int32>");
	check_name("A.D`2[S,A.L`1[O]][]", "A.D<S, A.L<O>>[]");
	check_name("A.D`2+E[S,T[]]", "A.D<S, T[]>+E");
	check_name("A.D`1+E`1[S,T]", "A.D<S>+E<T>");
	check_name("E[S,T]", "E<S, T>");
	check_name("A.D`2[B`1+C[X],Y]", "A.D<B<X>+C, Y>");
	check_name("A.Open`2", "A.Open`2");
	check_name("<>c", "<>c");
	check_name("<>c__DisplayClass1_0`1[X]", "<>c__DisplayClass1_0<X>");
	check_name("A\\+B\\[1", "A+B[1");
	check_name("A[", "A[");
	check_name("A`1[B", "A<B>");
	check_name("A`1]]", "A`1]]");
	check_name("`1[X]", "<X>");
	struct text deep = { 0 };
	for (int i = 0; i < 20000; i++)
		text_puts(&deep, "A`1[");
	struct text text = { 0 };
	nt_append_type_name(&text, deep.bytes, deep.size);
	CU_ASSERT(!text.failed && text.size > 20000);
	text_deinit(&text);
	text_deinit(&deep);
}

/* An assembly with Outer`1 and in it Inner, RIDs 2 and 3; @p path is a template of mkstemp(). */
static void make_assembly(char *path)
{
	struct metadata_maker maker;
	maker_init(&maker);
	maker_type(&maker, "", "<Module>");
	uint32_t outer = maker_type(&maker, "Space", "Outer`1");
	uint32_t inner = maker_type(&maker, "", "Inner");
	maker_nest(&maker, inner, outer);
	uint32_t size, image_size;
	uint8_t *bytes = maker_finish(&maker, &size);
	uint8_t *image = maker_image(&(struct image_kind){ 0 }, bytes, size, &image_size);
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, image, image_size) == (ssize_t)image_size && !close(fd));
	free(bytes);
	free(image);
	maker_deinit(&maker);
}

static void put_nested(struct nettrace_maker *maker, const char *path, const char *outer)
{
	nettrace_begin(maker);
	nettrace_type(maker, 0x100, MODULE, 0x2000003, 0, "Inner[A.X]");
	nettrace_parameter(maker, 0x300);
	nettrace_type(maker, 0x200, MODULE, 0x2000000, NT_TYPE_ARRAY, "Inner[A.X][][,]");
	nettrace_parameter(maker, 0x100);
	nettrace_type(maker, 0x300, MODULE, 0x2000000, NT_TYPE_ARRAY, "Inner[A.X][]");
	nettrace_type(maker, 0x400, MODULE, 0x2000002, 0, outer);
	/* They have the token of another type, and say nothing about the assembly. */
	nettrace_type(maker, 0x500, MODULE, 0x2000003, 0, "FNPTR");
	nettrace_parameter(maker, 0x700);
	nettrace_type(maker, 0x600, MODULE, 0x2000003, 0, "A.X*");
	put_snapshot(maker, 1);
	nettrace_module(maker, MODULE, path);
	nettrace_end(maker);
}

TEST(nested_types_have_their_outer_class_if_the_assembly_is_the_right_one)
{
	static const struct {
		const char *outer, *inner, *array;
		bool has_file;
		struct format_options options;
	} rows[] = {
		{ "Space.Outer`1[A.X]",
		  "Space.Outer<A.X>+Inner",
		  "Space.Outer<A.X>+Inner[][,]",
		  true,
		  { .trust_files = true } },
		{ "Space.Outer`1[A.X]",
		  "Space.Outer<A.X>+Inner",
		  "Space.Outer<A.X>+Inner[][,]",
		  true,
		  { .trust_files = true, .sysroot = "/" } },
		/* Names alone can be guessed: they prove nothing. */
		{ "Space.Outer`1[A.X]", "Inner<A.X>", "Inner<A.X>[][,]", true, { 0 } },
		{ "Space.Other`1[A.X]", "Inner<A.X>", "Inner<A.X>[][,]", true, { 0 } },
		{ "Space.Outer`1[A.X]",
		  "Inner<A.X>",
		  "Inner<A.X>[][,]",
		  true,
		  { .sysroot = "/proc/self/fdinfo" } },
		{ "Space.Outer`1[A.X]",
		  "Inner<A.X>",
		  "Inner<A.X>[][,]",
		  true,
		  { .no_files = true } },
		{ "Space.Other`1[A.X]",
		  "Inner<A.X>",
		  "Inner<A.X>[][,]",
		  true,
		  { .trust_files = true } },
		{ "Space.Outer`1[A.X]", "Inner<A.X>", "Inner<A.X>[][,]", false, { 0 } },
	};
	char path[] = "/tmp/hd_nettrace_XXXXXX";
	make_assembly(path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
		put_nested(&maker, rows[i].has_file ? path : "/nowhere/x.dll", rows[i].outer);
		struct hd_graph *graph = graph_with(&maker, &rows[i].options);
		ASSERT_TEXT(graph->types[graph->node_types[0]].name, rows[i].inner);
		ASSERT_TEXT(graph->types[graph->node_types[1]].name, rows[i].array);
		ASSERT_TEXT(graph->types[4].name, "fnptr");
		bool is_trusting = rows[i].options.trust_files;
		bool is_other = is_trusting && strcmp(rows[i].outer, rows[0].outer) != 0;
		bool is_read =
			rows[i].has_file && !rows[i].options.no_files && !rows[i].options.sysroot;
		ASSERT_UINT(dump_finding(graph, "unproven-module") != NULL,
			    is_read && !is_trusting);
		ASSERT_UINT(short_names_has(&graph->findings.short_names, rows[i].array,
					    strlen(rows[i].array)),
			    (is_read && !is_trusting) || is_other);
		const struct graph_finding *other = dump_finding(graph, "other-module");
		ASSERT_UINT(other != NULL, is_other);
		if (other) {
			ASSERT_UINT(other->count, 1);
			CU_ASSERT(strncmp(other->detail, path, strlen(path)) == 0);
		}
		ASSERT_TEXT(graph->types[0].module, rows[i].has_file ? path : "/nowhere/x.dll");
		graph_destroy(graph);
		nettrace_deinit(&maker);
	}
	CU_ASSERT(unlink(path) == 0);
}

static void write_trace(const struct nettrace_maker *maker, char *path)
{
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	size_t size = maker->file.size;
	CU_ASSERT_FATAL(write(fd, maker->file.bytes, size) == (ssize_t)size && !close(fd));
}

static void take_warning(void *arg, const char *message)
{
	text_puts(arg, message);
}

TEST(only_an_answer_with_a_short_name_says_that_a_module_was_not_read)
{
	char path[] = "/tmp/hd_nettrace_XXXXXX", trace[] = "/tmp/hd_nettrace_XXXXXX";
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	struct hd_session *session = NULL;
	struct text opened = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink),
				      .warn = take_warning,
				      .arg = &opened };
	make_assembly(path);
	put_nested(&maker, path, "Space.Outer`1[A.X]");
	write_trace(&maker, trace);
	ASSERT_UINT_FATAL(hd_session_create(&session, NULL), HD_OK);
	ASSERT_UINT(hd_session_open(session, trace, 0, &sink, NULL), HD_OK);
	ASSERT_UINT(opened.size, 0);
	static const struct {
		const char *line;
		bool warns;
	} rows[] = {
		{ "sql 'select count(*) from objects'", false },
		{ "dumpheap -stat -type Space", false },
		{ "dumpheap -stat -type Inner", true },
		{ "dumpheap -stat -type Inner", false }, /* it was told */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer answer = command_run(session, rows[i].line);
		bool warns = answer.warnings.bytes &&
			     strstr(answer.warnings.bytes, "unproven-module") != NULL;
		ASSERT_UINT(warns, rows[i].warns);
		answer_deinit(&answer);
	}
	struct answer info = command_run(session, "info");
	CU_ASSERT(strstr(answer_text(&info), "unproven-module") != NULL);
	answer_deinit(&info);
	hd_session_destroy(session);
	text_deinit(&opened);
	nettrace_deinit(&maker);
	CU_ASSERT(unlink(path) == 0 && unlink(trace) == 0);
}

TEST(types_without_a_name_have_a_number)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	static const struct nt_node nodes[] = { { 0x1000, 24, 0x100, 0 },
						{ 0x1020, 24, 0x200, 0 },
						{ 0x1040, 0x200000000, 0xabc, 0 } };
	nettrace_begin(&maker);
	nettrace_type(&maker, 0x100, MODULE, 0x2000005, 0, "");
	nettrace_type(&maker, 0x200, MODULE, 0x2000000, NT_TYPE_ARRAY, "");
	nettrace_type(&maker, 0x300, MODULE, 0x2000006, 0, "\\");
	nettrace_gc_start(&maker, 1);
	nettrace_nodes(&maker, 0, nodes, 3);
	nettrace_gc_end(&maker, 1);
	nettrace_end(&maker);
	struct hd_graph *graph = graph_of(&maker);
	ASSERT_TEXT(graph->types[graph->node_types[0]].name, "Type(0x2000005)");
	ASSERT_TEXT(graph->types[graph->node_types[1]].name, "ArrayType(0x2000000)");
	ASSERT_TEXT(graph->types[graph->node_types[2]].name, "UNKNOWN 0xabc");
	ASSERT_TEXT(graph->types[2].name, "Type(0x2000006)");
	ASSERT_UINT(graph_size(graph, 2), 0x200000000);
	ASSERT_UINT(dump_finding(graph, "unresolved-type")->count, 1);
	graph_destroy(graph);
	nettrace_deinit(&maker);
}

/* Names in the tree of roots and of COM objects, as their .gcdump has them. */
TEST(com_objects_are_nodes_as_in_dotnet_gcdump)
{
	struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
	nettrace_begin(&maker);
	nettrace_type(&maker, 0x100, MODULE, 0x2000002, NT_TYPE_RCW, "Com`1[X]");
	nettrace_gc_start(&maker, 1);
	nettrace_rcw(&maker, 0x1000, 0x7777);
	nettrace_ccw(&maker, 0x1020, 0x100, 0x8888);
	nettrace_ccw(&maker, 0x1020, 0x100, 0);
	nettrace_nodes(&maker, 0, two_nodes, 2);
	nettrace_edges(&maker, 0, three_edges, 3);
	nettrace_gc_end(&maker, 1);
	nettrace_end(&maker);
	struct hd_graph *graph = graph_with(&maker, &(struct format_options){ .exact = true });
	uint32_t rcw = hd_graph_find(graph, 0x1000), ccw = hd_graph_find(graph, 0x8888);
	CU_ASSERT_FATAL(rcw != HD_NONE && ccw != HD_NONE);
	ASSERT_UINT(graph_size(graph, rcw), 1024);
	ASSERT_UINT(csr_degree(&graph->forward, rcw), 3);
	ASSERT_TEXT(graph->types[graph->node_types[rcw]].name, "[RCW Com<X>]");
	ASSERT_UINT(graph_size(graph, ccw), 200);
	ASSERT_TEXT(graph->types[graph->node_types[ccw]].name,
		    "[CCW 0x8888 for type [RCW Com<X>]]");
	graph_destroy(graph);
	nettrace_deinit(&maker);
}

SUITE(.name = "nettrace types")
