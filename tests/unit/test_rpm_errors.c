/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/suite.h"

/* Every bad line stands on line 4, between these. */
#define HEAD "a 2 x 1\nt 1 T\no 10 1 8\n"
#define TAIL "r 10 3 0\nc x 2\n"

#define OBJECT_ID "a hexadecimal object id"
#define TYPE_ID   "a hexadecimal type id"
#define SIZE      "a hexadecimal object size"
#define KIND      "a root kind (0 to 5)"
#define FLAGS     "root flags (0 to 7)"
#define RECORD    "a record: a, t, o, r or c"
#define CONTAINER "the type id of a static root's container"
#define DOMAIN    "the name of an AppDomain"
#define LINE_END  "the end of the line"
#define BITS      " of at most 64 bits"

/* A bad line, what a strict reader says, and the lines that a lenient one reads in its place. */
static const struct bad_line {
	const char *line;
	unsigned int column;
	const char *expected, *found;
	const char *kind;
	const char *instead;
} bad_lines[] = {
	{ "o zz 1 8", 3, OBJECT_ID, "\"zz\"", "bad-hex", "" },
	{ "o 1z 1 8", 3, OBJECT_ID, "\"1z\"", "bad-hex", "" },
	{ "o 0x20 1 8", 3, OBJECT_ID, "\"0x20\"", "bad-hex", "" },
	{ "o 20 1g 8", 6, TYPE_ID, "\"1g\"", "bad-hex", "" },
	{ "o 20 1 -8", 8, SIZE, "\"-8\"", "bad-hex", "" },
	{ "o 20 1 8 30 4x 50", 13, OBJECT_ID, "\"4x\"", "bad-hex", "" },
	{ "o 20 1 8,30", 8, SIZE, "\"8,30\"", "bad-hex", "" },
	{ "o 20 1 8\v30", 8, SIZE, "\"8\\u000b30\"", "bad-hex", "" },
	{ "o\t20 1 \x80 1", 8, SIZE, "\"\\x80\"", "bad-hex", "" },
	{ "  o 20 1 8 q", 12, OBJECT_ID, "\"q\"", "bad-hex", "" },
	{ "o zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", 3, OBJECT_ID,
	  "\"zzzzzzzzzzzzzzzzzzzzzzzz\"", "bad-hex", "" },
	{ "t x Name", 3, TYPE_ID, "\"x\"", "bad-hex", "" },
	{ "r x 3 0", 3, OBJECT_ID, "\"x\"", "bad-hex", "" },
	{ "r 10 x 0", 6, KIND, "\"x\"", "bad-hex", "" },
	{ "r 10 3 x", 8, FLAGS, "\"x\"", "bad-hex", "" },
	{ "a x y", 3, "the version, 2", "\"x\"", "bad-hex", "" },
	{ "o", 2, OBJECT_ID, LINE_END, "missing-element", "" },
	{ "o 20", 5, TYPE_ID, LINE_END, "missing-element", "" },
	{ "o 20 ", 5, TYPE_ID, LINE_END, "missing-element", "" },
	{ "o 20 1", 7, SIZE, LINE_END, "missing-element", "" },
	{ "t", 2, TYPE_ID, LINE_END, "missing-element", "" },
	{ "t 2", 4, "a type name", LINE_END, "missing-element", "" },
	{ "t 2 \t", 4, "a type name", LINE_END, "missing-element", "" },
	{ "r", 2, OBJECT_ID, LINE_END, "missing-element", "" },
	{ "r 10", 5, KIND, LINE_END, "missing-element", "" },
	{ "r 10 3", 7, FLAGS, LINE_END, "missing-element", "" },
	{ "a", 2, "the version, 2", LINE_END, "missing-element", "" },
	{ "a 2", 4, DOMAIN, LINE_END, "missing-element", "" },
	{ "c", 2, DOMAIN, LINE_END, "missing-element", "" },
	{ "o 10000000000000000 1 8", 3, OBJECT_ID BITS, "\"10000000000000000\"", "overflow", "" },
	{ "o 20 10000000000000000 8", 6, TYPE_ID BITS, "\"10000000000000000\"", "overflow", "" },
	{ "o 20 1 ffffffffffffffff0", 8, SIZE BITS, "\"ffffffffffffffff0\"", "overflow", "" },
	{ "o 20 1 8 10000000000000000", 10, OBJECT_ID BITS, "\"10000000000000000\"", "overflow",
	  "" },
	{ "t 10000000000000000 X", 3, TYPE_ID BITS, "\"10000000000000000\"", "overflow", "" },
	{ "r 10000000000000000 3 0", 3, OBJECT_ID BITS, "\"10000000000000000\"", "overflow", "" },
	{ "a 2 y 10000000000000000", 7, "a hexadecimal timestamp" BITS, "\"10000000000000000\"",
	  "overflow", "" },
	{ "c x 10000000000000000", 5, "a hexadecimal timestamp" BITS, "\"10000000000000000\"",
	  "overflow", "" },
	{ "r 10 6 0", 6, KIND, "\"6\"", "bad-root-kind", "r 10 0 0\n" },
	{ "r 10 ff 2", 6, KIND, "\"ff\"", "bad-root-kind", "r 10 0 2\n" },
	{ "r 10 3 8", 8, FLAGS, "\"8\"", "bad-root-flags", "r 10 3 0\n" },
	{ "r 10 3 1f", 8, FLAGS, "\"1f\"", "bad-root-flags", "r 10 3 7\n" },
	{ "r 10 3 0 1", 10, LINE_END, "\"1\"", "surplus-element", "r 10 3 0\n" },
	{ "r 10 4 0 1 2", 12, LINE_END, "\"2\"", "surplus-element", "r 10 4 0 1\n" },
	{ "z 1 2", 1, RECORD, "\"z\"", "unknown-record", "" },
	{ "oo 20 1 8", 1, RECORD, "\"oo\"", "unknown-record", "" },
	{ "O 20 1 8", 1, RECORD, "\"O\"", "unknown-record", "" },
	{ "# a comment", 1, RECORD, "\"#\"", "unknown-record", "" },
	{ " \xff\xfe", 2, RECORD, "\"\\xff\\xfe\"", "unknown-record", "" },
	{ "t 1 U", 5, "the name that this type id has already", "\"U\"", "duplicate-type", "" },
	{ "t 1 t", 5, "the name that this type id has already", "\"t\"", "duplicate-type", "" },
};

#define BAD_LINES (sizeof(bad_lines) / sizeof(bad_lines[0]))

/* Open and expect the strict error. */
static void check_error(const char *text, size_t size, uint64_t line, const char *message)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(dump_open(text, size, &(struct dump_reading){ 0 }, &graph, &err),
		    HD_ERR_FORMAT);
	CU_ASSERT_PTR_NULL(graph);
	ASSERT_UINT(err.status, HD_ERR_FORMAT);
	ASSERT_UINT(err.address, line);
	const char *path_end = strstr(err.message, ": ");
	ASSERT_TEXT(path_end ? path_end + 2 : err.message, message);
	graph_destroy(graph);
}

static void check_bad_line(const struct bad_line *bad, const char *line_end)
{
	char text[300], message[300];
	(void)snprintf(text, sizeof(text), HEAD "%s%s" TAIL, bad->line, line_end);
	(void)snprintf(message, sizeof(message),
		       "line 4, column %u: expected %s, found %s (--lenient goes on)", bad->column,
		       bad->expected, bad->found);
	check_error(text, strlen(text), 4, message);
}

TEST(a_strict_reader_names_line_column_and_what_it_expects)
{
	for (size_t i = 0; i < BAD_LINES; i++) {
		check_bad_line(&bad_lines[i], "\n");
		check_bad_line(&bad_lines[i], "\r\n");
	}
}

TEST(a_lenient_reader_counts_and_goes_on)
{
	for (size_t i = 0; i < BAD_LINES; i++) {
		const struct bad_line *bad = &bad_lines[i];
		char text[300], clean[300], detail[300];
		(void)snprintf(text, sizeof(text), HEAD "%s\n" TAIL, bad->line);
		(void)snprintf(clean, sizeof(clean), HEAD "%s" TAIL, bad->instead);
		(void)snprintf(detail, sizeof(detail), "line 4, column %u: expected %s, found %s",
			       bad->column, bad->expected, bad->found);
		struct hd_graph *graph = dump_graph_lenient(text);
		ASSERT_SAME_DUMP(graph, clean);
		ASSERT_UINT(graph->findings.count, 1);
		const struct graph_finding *finding = dump_finding(graph, bad->kind);
		REQUIRE(finding);
		ASSERT_UINT(finding->count, 1);
		ASSERT_UINT(finding->line, 4);
		ASSERT_TEXT(finding->detail, detail);
		graph_destroy(graph);
	}
}

TEST(each_problem_is_counted_by_its_kind)
{
	struct hd_graph *graph = dump_graph_lenient(HEAD "o z\nq\no y\nr 10 6 9\no 20 1 8\nt\nq\n"
							 "o x\n" TAIL);
	static const struct {
		const char *kind;
		uint64_t count, line;
	} expected[] = {
		{ "bad-hex", 3, 4 },        { "unknown-record", 2, 5 },  { "bad-root-kind", 1, 7 },
		{ "bad-root-flags", 1, 7 }, { "missing-element", 1, 9 },
	};
	ASSERT_UINT(graph->findings.count, 5);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct graph_finding *finding = dump_finding(graph, expected[i].kind);
		REQUIRE(finding);
		ASSERT_UINT(finding->count, expected[i].count);
		ASSERT_UINT(finding->line, expected[i].line);
	}
	ASSERT_SAME_DUMP(graph, HEAD "r 10 0 1\no 20 1 8\n" TAIL);
	graph_destroy(graph);
}

TEST(the_first_bad_line_is_the_error)
{
	static const char text[] = "a 2 x\n\n\no 10 1 8\n\no z\nq\nc x\n";
	check_error(text, sizeof(text) - 1, 6,
		    "line 6, column 3: expected " OBJECT_ID ", found \"z\" (--lenient goes on)");
	static const char last[] = "a 2 x\nc x\nq";
	check_error(last, sizeof(last) - 1, 3,
		    "line 3, column 1: expected " RECORD ", found \"q\" (--lenient goes on)");
}

TEST(a_static_root_needs_its_container)
{
	static const char text[] = HEAD "r 10 4 0\n" TAIL;
	check_error(text, sizeof(text) - 1, 4,
		    "line 4, column 9: expected " CONTAINER ", found " LINE_END
		    " (--lenient goes on)");
	static const char bad[] = HEAD "r 10 4 0 x\n" TAIL;
	check_error(bad, sizeof(bad) - 1, 4,
		    "line 4, column 10: expected " CONTAINER ", found \"x\" (--lenient goes on)");
	struct hd_graph *graph = dump_graph_lenient(text);
	ASSERT_UINT_FATAL(graph->root_count, 2);
	ASSERT_UINT(graph->roots[0].kind, HD_ROOT_INTERNAL);
	ASSERT_UINT(graph->roots[0].container, HD_NONE);
	REQUIRE(dump_finding(graph, "missing-element"));
	ASSERT_UINT(graph->findings.count, 1);
	graph_destroy(graph);
}

TEST(only_version_2_is_read_strictly)
{
	static const char text[] = "a 3 x 1\nt 1 T\no 10 1 8\n" TAIL;
	check_error(text, sizeof(text) - 1, 1,
		    "line 1, column 3: expected version 2, found \"3\" (--lenient goes on)");
	struct hd_graph *graph = dump_graph_lenient(text);
	REQUIRE(dump_finding(graph, "bad-version"));
	ASSERT_UINT(graph->findings.count, 1);
	ASSERT_UINT(graph->domains.rows[0].version, 3);
	graph->domains.rows[0].version = 2;
	ASSERT_SAME_DUMP(graph, HEAD TAIL);
	graph_destroy(graph);
}

TEST(records_stand_in_sections)
{
	static const struct {
		const char *text;
		uint64_t line;
		const char *found;
	} cases[] = {
		{ "o 10 1 8\n", 1, "o" },        { "\nt 1 T\na 2 x\nc x\n", 2, "t" },
		{ "r 10 0 0\n", 1, "r" },        { "c x\n", 1, "c" },
		{ "a 2 x\nc x\nc x\n", 3, "c" }, { "a 2 x\nc x\no 10 1 8\na 2 y\nc y\n", 3, "o" },
		{ "o z\na 2 x\nc x\n", 1, "o" }, { "c \n", 1, "c" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char message[200];
		(void)snprintf(message, sizeof(message),
			       "line %" PRIu64 ", column 1: expected an \"a\" record before this "
			       "one, found \"%s\" (--lenient goes on)",
			       cases[i].line, cases[i].found);
		check_error(cases[i].text, strlen(cases[i].text), cases[i].line, message);
	}
}

TEST(a_lenient_reader_takes_records_without_a_section)
{
	struct hd_graph *graph = dump_graph_lenient("o 10 1 8\nt 1 T\na 2 x\nt 1 U\no 20 1 8\nc x\n"
						    "o 30 1 8\nt 1 V\nc ?\nc y\n");
	ASSERT_UINT(graph->object_count, 3);
	ASSERT_UINT(graph->domains.count, 3);
	for (uint32_t node = 0; node < 3; node++) {
		const struct graph_type *type = &graph->types[graph->node_types[node]];
		ASSERT_UINT(type->domain, node);
		CU_ASSERT_EQUAL(type->name[0], "TUV"[node]);
	}
	const struct graph_finding *finding = dump_finding(graph, "outside-section");
	REQUIRE(finding);
	ASSERT_UINT(finding->count, 3);
	ASSERT_UINT(finding->line, 1);
	graph_destroy(graph);
}

TEST(an_object_defined_twice_is_an_error_with_both_lines)
{
	static const char *const others[] = {
		"o 20 2 8 10 30",    "o 20 1 9 10 30", "o 20 1 8 10",     "o 20 1 8 30 10",
		"o 20 1 8 10 30 10", "o 20 1 8",       "o 20 1 ffffffff", "o 20 1 123456789 10 30",
	};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char text[200];
		static const char first[] = "a 2 x\nt 1 T\nt 2 U\n\no 20 1 8 10 30\no 10 1 8\n";
		(void)snprintf(text, sizeof(text), "%s%s\nc x\n", first, others[i]);
		check_error(text, strlen(text), 7,
			    "line 7, column 3: object 20 is defined again with different content "
			    "(first on line 5) (--lenient goes on)");
		struct hd_graph *graph = dump_graph_lenient(text);
		(void)snprintf(text, sizeof(text), "%sc x\n", first);
		ASSERT_SAME_DUMP(graph, text);
		REQUIRE(dump_finding(graph, "duplicate-object"));
		ASSERT_UINT(dump_finding(graph, "duplicate-object")->count, 1);
		ASSERT_UINT(dump_finding(graph, "duplicate-object")->line, 7);
		graph_destroy(graph);
	}
}

TEST(large_sizes_that_differ_are_told_with_both_lines)
{
	static const char text[] = "a 2 x\nt 1 T\no 20 1 100000000\no 10 1 ffffffff\n"
				   "o 20 1 100000001\no 10 1 ffffffff\nc x\n";
	check_error(text, sizeof(text) - 1, 5,
		    "line 5, column 3: object 20 is defined again with different content "
		    "(first on line 3) (--lenient goes on)");
	struct hd_graph *graph = dump_graph_lenient(text);
	ASSERT_SAME_DUMP(graph, "a 2 x\nt 1 T\no 20 1 100000000\no 10 1 ffffffff\nc x\n");
	REQUIRE(dump_finding(graph, "duplicate-object"));
	ASSERT_UINT(dump_finding(graph, "duplicate-object")->line, 5);
	graph_destroy(graph);
}

TEST(every_further_definition_is_counted)
{
	struct hd_graph *graph = dump_graph_lenient("a 2 x\nt 1 T\no 20 1 8\no 10 1 8\no 20 1 9\n"
						    "o 20 1 8\no 10 1 7\no 20 1 a\nc x\n");
	ASSERT_SAME_DUMP(graph, "a 2 x\nt 1 T\no 10 1 8\no 20 1 8\nc x\n");
	REQUIRE(dump_finding(graph, "duplicate-object"));
	ASSERT_UINT(dump_finding(graph, "duplicate-object")->count, 3);
	graph_destroy(graph);
}

TEST(sizes_that_exceed_64_bits_together_are_an_error)
{
	static const char text[] = "a 2 x\nt 1 T\no 10 1 ffffffffffffffff\no 20 1 1\nc x\n";
	for (int lenient = 0; lenient < 2; lenient++) {
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		ASSERT_UINT(dump_open(text, sizeof(text) - 1,
				      &(struct dump_reading){ .lenient = lenient }, &graph, &err),
			    HD_ERR_FORMAT);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "exceed 64 bits"));
	}
}

SUITE(.name = "rpm errors")
