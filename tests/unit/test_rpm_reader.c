/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/graph_maker.h"
#include "support/suite.h"

static const struct graph_type *type_of(const struct hd_graph *graph, uint64_t id)
{
	uint32_t node = hd_graph_find(graph, id);
	CU_ASSERT_FATAL(node < graph->object_count);
	return &graph->types[graph->node_types[node]];
}

#define ASSERT_NAME(got, got_size, expected)                                \
	do {                                                                \
		char got_[200];                                             \
		(void)snprintf(got_, sizeof(got_), "%.*s", (int)(got_size), \
			       (got) ? (got) : "(null)");                   \
		ASSERT_UINT((got_size), sizeof(expected) - 1);              \
		ASSERT_TEXT(got_, expected);                                \
	} while (0)

#define ASSERT_TYPE_NAME(graph, id, expected) \
	ASSERT_NAME(type_of(graph, id)->name, type_of(graph, id)->name_size, expected)

/* The ids that an object refers to, as text. */
static const char *targets_of(const struct hd_graph *graph, uint64_t id)
{
	static char text[400];
	uint32_t node = hd_graph_find(graph, id);
	uint32_t buf[40];
	size_t count = hd_graph_references(graph, node, 0, buf, 40), used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIx64,
					 i ? " " : "", graph->ids[buf[i]]);
	}
	return text;
}

static uint64_t size_of(const struct hd_graph *graph, uint64_t id)
{
	return graph_size(graph, hd_graph_find(graph, id));
}

TEST(the_example_of_the_format_is_read)
{
	struct text text = dump_source_file("tests/data/seed001.heap");
	struct hd_graph *graph = dump_graph(text.bytes);
	text_deinit(&text);
	ASSERT_UINT(graph->domains.count, 1);
	ASSERT_NAME(graph->domains.rows[0].name, graph->domains.rows[0].name_size, "bubblecs.exe");
	ASSERT_UINT(graph->domains.rows[0].version, 2);
	CU_ASSERT(graph->domains.rows[0].has_start && graph->domains.rows[0].has_end);
	ASSERT_UINT(graph->domains.rows[0].start, 0x763f9d2);
	ASSERT_UINT(graph->domains.rows[0].end, 0x763fbef);
	ASSERT_UINT(graph->object_count, 6);
	ASSERT_UINT(graph->node_count, 6 + 8 + 1);
	ASSERT_UINT(graph->total_size, 0x64 + 0x64 + 0x18 + 0x118 + 0x24 + 0x28);
	ASSERT_TYPE_NAME(graph, 0x7c79f, "System.RuntimeType");
	ASSERT_TYPE_NAME(graph, 0x7cb42, "System.RuntimeType");
	ASSERT_TYPE_NAME(graph, 0x1ce004, "System.NullReferenceException");
	ASSERT_TEXT(targets_of(graph, 0x1ce056),
		    "1ce11f 1ce14c 1ce079 1ce113 1ce116 1ce267 1ce26a 1ce26d");
	ASSERT_UINT(size_of(graph, 0x1ce056), 0x118);
	ASSERT_UINT(graph->root_count, 3);
	ASSERT_UINT(graph->roots[0].kind, HD_ROOT_GC);
	ASSERT_UINT(graph->ids[graph->roots[0].node], 0x22c81b);
	CU_ASSERT(graph_is_missing(graph, graph->roots[0].node));
	ASSERT_UINT(graph->ids[graph->roots[2].node], 0x22c823);
	graph_destroy(graph);
}

TEST(what_the_example_leaves_open_is_found)
{
	struct text text = dump_source_file("tests/data/seed001.heap");
	struct hd_graph *graph = dump_graph(text.bytes);
	text_deinit(&text);
	ASSERT_UINT(graph->findings.count, 3);
	REQUIRE(dump_finding(graph, "unresolved-reference"));
	ASSERT_UINT(dump_finding(graph, "unresolved-reference")->count, 8);
	REQUIRE(dump_finding(graph, "unresolved-root"));
	ASSERT_UINT(dump_finding(graph, "unresolved-root")->count, 1);
	REQUIRE(dump_finding(graph, "unresolved-type"));
	ASSERT_UINT(dump_finding(graph, "unresolved-type")->count, 2); /* 1d and 1b */
	CU_ASSERT_PTR_NULL(type_of(graph, 0x1ce056)->name);
	graph_destroy(graph);
}

TEST(the_older_example_is_the_same_without_times)
{
	struct text old = dump_source_file("tests/data/seed000.heap");
	struct hd_graph *graph = dump_graph(old.bytes);
	CU_ASSERT(!graph->domains.rows[0].has_start && !graph->domains.rows[0].has_end);
	struct text text = dump_source_file("tests/data/seed001.heap");
	struct hd_graph *timed = dump_graph(text.bytes);
	timed->domains.rows[0] = graph->domains.rows[0];
	ASSERT_GRAPH(graph, timed, GRAPH_EXACT);
	graph_destroy(graph);
	graph_destroy(timed);
	text_deinit(&old);
	text_deinit(&text);
}

TEST(the_rest_of_the_line_is_the_type_name)
{
	struct hd_graph *graph = dump_graph(
		"a 2 x 1\n"
		"t 1 System.Collections.Generic.Dictionary`2[[System.String, mscorlib],[X, Y]]\n"
		"t 2 A  B\tC\n"
		"t 3 \xd0\x9a\xd0\xbb\xd0\xb0\xd1\x81\xd1\x81+<\xe2\x82\xac>\n"
		"t 4   leading and trailing  \t\n"
		"t 5 deadbeef\n"
		"t 6 a 2 deadbeef\n"
		"t 7 \xff\x01\n"
		"o 1 1 1\no 2 2 1\no 3 3 1\no 4 4 1\no 5 5 1\no 6 6 1\no 7 7 1\nc x 1\n");
	ASSERT_TYPE_NAME(
		graph, 1,
		"System.Collections.Generic.Dictionary`2[[System.String, mscorlib],[X, Y]]");
	ASSERT_TYPE_NAME(graph, 2, "A  B\tC");
	ASSERT_TYPE_NAME(graph, 3, "\xd0\x9a\xd0\xbb\xd0\xb0\xd1\x81\xd1\x81+<\xe2\x82\xac>");
	ASSERT_TYPE_NAME(graph, 4, "leading and trailing");
	ASSERT_TYPE_NAME(graph, 5, "deadbeef");
	ASSERT_TYPE_NAME(graph, 6, "a 2 deadbeef");
	ASSERT_TYPE_NAME(graph, 7, "\xff\x01");
	ASSERT_UINT(graph->findings.count, 0);
	graph_destroy(graph);
}

TEST(type_ids_belong_to_their_section)
{
	struct hd_graph *graph =
		dump_graph("a 2 one.exe 1\nt 1 Mine\no 10 1 8\nr 10 4 0 1\nc one.exe 2\n"
			   "a 2 two.exe 3\nt 1 Yours\no 20 1 8 10\nr 20 4 0 1\n"
			   "c two.exe 4\n");
	ASSERT_UINT(graph->domains.count, 2);
	ASSERT_UINT(graph->type_count, 2);
	ASSERT_TYPE_NAME(graph, 0x10, "Mine");
	ASSERT_TYPE_NAME(graph, 0x20, "Yours");
	ASSERT_UINT(type_of(graph, 0x10)->domain, 0);
	ASSERT_UINT(type_of(graph, 0x20)->domain, 1);
	ASSERT_NAME(graph->types[graph->roots[0].container].name, 4, "Mine");
	ASSERT_NAME(graph->types[graph->roots[1].container].name, 5, "Yours");
	ASSERT_TEXT(targets_of(graph, 0x20), "10");
	ASSERT_UINT(graph->findings.count, 0);
	graph_destroy(graph);
}

TEST(a_type_may_follow_its_objects)
{
	struct hd_graph *graph = dump_graph(
		"a 2 x\no 10 1 8\no 11 2 8\nr 10 4 0 3\nt 2 Two\nt 1 One\nt 3 Three\nc x\n");
	ASSERT_TYPE_NAME(graph, 0x10, "One");
	ASSERT_TYPE_NAME(graph, 0x11, "Two");
	ASSERT_NAME(graph->types[graph->roots[0].container].name, 5, "Three");
	ASSERT_UINT(graph->findings.count, 0);
	graph_destroy(graph);
}

TEST(a_type_repeated_alike_is_one)
{
	struct hd_graph *graph =
		dump_graph("a 2 x\nt 1 One\no 10 1 8\nt 1 One\nt 01 One \no 11 1 8\nc x\n");
	ASSERT_UINT(graph->type_count, 1);
	ASSERT_UINT(graph->types[0].count, 2);
	ASSERT_UINT(graph->types[0].size, 16);
	ASSERT_UINT(graph->findings.count, 0);
	graph_destroy(graph);
}

TEST(missing_objects_become_nodes_once)
{
	struct hd_graph *graph =
		dump_graph("a 2 x\nt 1 T\no 10 1 8 30 5 10 30\no 20 1 8 30\nr 30 3 0\n"
			   "r 40 3 0\nr 40 3 2\nr 10 3 0\nc x\n");
	ASSERT_UINT(graph->object_count, 2);
	ASSERT_UINT(graph->node_count, 5);
	ASSERT_UINT(graph->ids[2], 0x5);
	ASSERT_UINT(graph->ids[3], 0x30);
	ASSERT_UINT(graph->ids[4], 0x40);
	ASSERT_TEXT(targets_of(graph, 0x10), "30 5 10 30");
	ASSERT_TEXT(targets_of(graph, 0x30), "");
	REQUIRE(dump_finding(graph, "unresolved-reference"));
	ASSERT_UINT(dump_finding(graph, "unresolved-reference")->count, 4);
	REQUIRE(dump_finding(graph, "unresolved-root"));
	ASSERT_UINT(dump_finding(graph, "unresolved-root")->count, 3);
	ASSERT_UINT(graph->findings.count, 2);
	graph_destroy(graph);
}

TEST(equal_roots_count_each)
{
	struct hd_graph *graph =
		dump_graph("a 2 x\nt 1 T\nt 2 U\no 10 1 8\no 11 1 8\nr 11 3 1\nr 10 3 1\n"
			   "r 11 3 1\nr 11 3 0\nr 10 4 0 1\nr 10 4 0 2\nr 10 4 0 1\n"
			   "r 11 3 1\nc x\n");
	ASSERT_UINT_FATAL(graph->root_count, 8);
	for (size_t i = 0; i < 8; i++)
		CU_ASSERT(!graph->roots[i].repeated);
	ASSERT_UINT(graph->findings.count, 0);
	graph_destroy(graph);
}

TEST(every_root_kind_and_flag_is_kept)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x\nt 1 T\no 10 1 8\n");
	for (unsigned int kind = 0; kind < 6; kind++) {
		for (unsigned int flags = 0; flags < 8; flags++)
			text_printf(&text, "r 10 %x %x%s\n", kind, flags, kind == 4 ? " 1" : "");
	}
	text_puts(&text, "c x\n");
	struct hd_graph *graph = dump_graph(text.bytes);
	ASSERT_UINT_FATAL(graph->root_count, 48);
	for (uint32_t i = 0; i < 48; i++) {
		ASSERT_UINT(graph->roots[i].kind, i / 8);
		ASSERT_UINT(graph->roots[i].flags, i % 8);
		ASSERT_UINT(graph->roots[i].container, i / 8 == 4 ? 0 : HD_NONE);
		ASSERT_UINT(root_is_weak(&graph->roots[i]), i >> 1 & 1);
	}
	graph_destroy(graph);
	text_deinit(&text);
}

TEST(a_container_may_be_undefined)
{
	struct hd_graph *graph = dump_graph("a 2 x\nt 1 T\no 10 1 8\nr 10 4 0 13c\nc x\n");
	ASSERT_UINT(graph->types[graph->roots[0].container].id, 0x13c);
	CU_ASSERT_PTR_NULL(graph->types[graph->roots[0].container].name);
	REQUIRE(dump_finding(graph, "unresolved-type"));
	ASSERT_UINT(dump_finding(graph, "unresolved-type")->count, 1);
	graph_destroy(graph);
}

/* The a line's name and time, and the c line's. */
static const struct {
	const char *rest;
	const char *name;
	bool has_time;
	uint64_t time;
} names[] = {
	{ "bubblecs.exe", "bubblecs.exe", false, 0 },
	{ "bubblecs.exe 763f9d2", "bubblecs.exe", true, 0x763f9d2 },
	{ "NHLSchedule.exe 444D20DF", "NHLSchedule.exe", true, 0x444d20df },
	{ "dead", "dead", false, 0 },
	{ "dead beef", "dead", true, 0xbeef },
	{ "dead beef cafe", "dead beef", true, 0xcafe },
	{ "My Game.exe", "My Game.exe", false, 0 },
	{ "My Game.exe 10", "My Game.exe", true, 0x10 },
	{ "x\t \tffffffffffffffff", "x", true, UINT64_MAX },
	{ "x 000000000000000000001", "x", true, 1 },
	{ "x 0x10", "x 0x10", false, 0 },
	{ "x 10g", "x 10g", false, 0 },
	{ "  x   y  0  ", "x   y", true, 0 },
	{ "12 34 \\u0035", "12 34 5", false, 0 },
	{ "\\u000a\\u0020 1", "\n ", true, 1 },
};

TEST(the_last_word_may_be_the_time)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct text text = { 0 };
		text_printf(&text, "a 2 %s\nt 1 T\nc %s\n", names[i].rest, names[i].rest);
		struct hd_graph *graph = dump_graph(text.bytes);
		const struct graph_domain *domain = &graph->domains.rows[0];
		char name[64];
		(void)snprintf(name, sizeof(name), "%.*s", (int)domain->name_size, domain->name);
		ASSERT_TEXT(name, names[i].name);
		ASSERT_UINT(domain->has_start, names[i].has_time);
		ASSERT_UINT(domain->has_end, names[i].has_time);
		ASSERT_UINT(domain->start, names[i].time);
		ASSERT_UINT(domain->end, names[i].time);
		ASSERT_UINT(graph->findings.count, 0);
		graph_destroy(graph);
		text_deinit(&text);
	}
}

TEST(times_may_stand_on_one_line_alone)
{
	struct hd_graph *graph = dump_graph("a 2 x 5\nc x\na 2 y\nc y 7\na 2 z 5\nc z 7\n");
	CU_ASSERT(graph->domains.rows[0].has_start && !graph->domains.rows[0].has_end);
	CU_ASSERT(!graph->domains.rows[1].has_start && graph->domains.rows[1].has_end);
	CU_ASSERT(graph->domains.rows[2].has_start && graph->domains.rows[2].has_end);
	ASSERT_UINT(graph->domains.rows[0].start, 5);
	ASSERT_UINT(graph->domains.rows[1].end, 7);
	ASSERT_UINT(graph->domains.rows[2].start, 5);
	ASSERT_UINT(graph->domains.rows[2].end, 7);
	ASSERT_UINT(graph->findings.count, 0);
	graph_destroy(graph);
}

TEST(an_end_of_another_name_is_found)
{
	struct hd_graph *graph = dump_graph("a 2 x 5\nc X 5\n");
	REQUIRE(dump_finding(graph, "section-name-mismatch"));
	ASSERT_UINT(graph->findings.count, 1);
	graph_destroy(graph);
}

TEST(a_missing_end_is_found)
{
	static const char *const texts[] = { "a 2 x 5\nt 1 T\no 1 1 8\n", "a 2 x 5\n", "a 2 x 5",
					     "a 2 y\nc y\na 2 x 5\no 1 1 8\nt 1 T" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct hd_graph *graph = dump_graph(texts[i]);
		ASSERT_UINT(graph->findings.count, 1);
		REQUIRE(dump_finding(graph, "missing-end-record"));
		ASSERT_UINT(dump_finding(graph, "missing-end-record")->count, 1);
		graph_destroy(graph);
	}
	struct hd_graph *graph = dump_graph("a 2 x\nt 1 T\na 2 y\nt 1 U\no 1 1 1\nc y\n");
	ASSERT_UINT(graph->findings.count, 1);
	CU_ASSERT_PTR_NOT_NULL(dump_finding(graph, "missing-end-record"));
	ASSERT_UINT(graph->domains.count, 2);
	ASSERT_TYPE_NAME(graph, 1, "U");
	graph_destroy(graph);
}

#define PLAIN                                                                              \
	"a 2 x y 5\nt 1 A B\nt 2 C\no 10 1 18 20 30\no 20 2 20\no 30 2 8 10\nr 10 4 0 2\n" \
	"r 30 1 1\nc x y 6\n"

TEST(blanks_and_line_ends_do_not_matter)
{
	static const char *const texts[] = {
		"a 2 x y 5\r\nt 1 A B\r\nt 2 C\r\no 10 1 18 20 30\r\no 20 2 20\r\no 30 2 8 10\r\n"
		"r 10 4 0 2\r\nr 30 1 1\r\nc x y 6\r\n",
		"a\t2\tx y\t5\nt\t1\tA B\nt\t2\tC\no\t10\t1\t18\t20\t30\no\t20\t2\t20\n"
		"o\t30\t2\t8\t10\nr\t10\t4\t0\t2\nr\t30\t1\t1\nc\tx y\t6\n",
		"\n\n  \n\t\n\r\na 2 x y 5\n\nt 1 A B\n\nt 2 C\n \r\no 10 1 18 20 30\n\no 20 2 20\n\n"
		"o 30 2 8 10\n\nr 10 4 0 2\n\nr 30 1 1\n\nc x y 6\n\n\n",
		"\xef\xbb\xbf" PLAIN,
		"\xef\xbb\xbf \n" PLAIN,
		"  a 2 x y 5\n\tt 1 A B\n t 2 C\n  o 10 1 18 20 30\n o 20 2 20\n\to 30 2 8 10\n"
		" r 10 4 0 2\n r 30 1 1\n c x y 6\n",
		"a 2 x y 5 \nt 1 A B \nt 2 C\t\no 10 1 18 20 30 \no 20 2 20\t \no 30 2 8 10  \n"
		"r 10 4 0 2 \nr 30 1 1 \nc x y 6 \n",
		"a  2  x y  5\nt  1  A B\nt 2  C\no  10  1  18  20  30\no 20  2 20\no 30 2  8 10\n"
		"r  10 4  0 2\nr 30  1 1\nc  x y  6\n",
		"a 02 x y 0005\nt 00000000000000000001 A B\nt 02 C\n"
		"o 00000000000000000010 1 18 020 000000000000000000030\no 0020 2 20\no 30 2 08 10\n"
		"r 0010 04 00 02\nr 30 1 01\nc x y 6\n",
		"a 2 x y 5\nt 1 A B\nt 2 C\no 10 1 18 20 30\no 20 2 20\no 30 2 8 10\nr 10 4 0 2\n"
		"r 30 1 1\nc x y 6",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct hd_graph *graph = dump_graph(texts[i]);
		ASSERT_SAME_DUMP(graph, PLAIN);
		ASSERT_UINT(graph->findings.count, 0);
		graph_destroy(graph);
	}
}

TEST(digits_may_be_capitals)
{
	struct hd_graph *graph = dump_graph("a 2 x\nt AB T\no DEADBEEF ab FF CafeBabe\nc x\n");
	ASSERT_UINT(graph->ids[0], 0xdeadbeef);
	ASSERT_UINT(size_of(graph, 0xdeadbeef), 0xff);
	ASSERT_TEXT(targets_of(graph, 0xdeadbeef), "cafebabe");
	ASSERT_TYPE_NAME(graph, 0xdeadbeef, "T");
	graph_destroy(graph);
}

TEST(sizes_have_64_bits)
{
	static const uint64_t sizes[] = { 0,           1,
					  0x7fffffff,  0xfffffffe,
					  0xffffffff,  0x100000000,
					  0x100000001, UINT64_C(0x7fffffffffffffff) };
	struct text text = { 0 };
	text_puts(&text, "a 2 x\nt 1 T\n");
	uint64_t total = 0;
	for (uint64_t i = 0; i < 8; i++) {
		text_printf(&text, "o %" PRIx64 " 1 %" PRIx64 "\n", 0x80 - 0x10 * i, sizes[i]);
		total += sizes[i];
	}
	text_puts(&text, "c x\n");
	struct hd_graph *graph = dump_graph(text.bytes);
	for (uint64_t i = 0; i < 8; i++)
		ASSERT_UINT(size_of(graph, 0x80 - 0x10 * i), sizes[i]);
	ASSERT_UINT(graph->total_size, total);
	ASSERT_UINT(graph->types[0].size, total);
	graph_destroy(graph);
	text_deinit(&text);
}

TEST(ids_have_64_bits)
{
	struct hd_graph *graph =
		dump_graph("a 2 x\nt ffffffffffffffff T\no 0 ffffffffffffffff 8 ffffffffffffffff\n"
			   "o ffffffffffffffff ffffffffffffffff 8 0 8000000000000000\n"
			   "o 8000000000000000 ffffffffffffffff 8 fffffffffffffffe\n"
			   "r ffffffffffffffff 4 0 ffffffffffffffff\nc x\n");
	ASSERT_UINT(graph->ids[0], 0);
	ASSERT_UINT(graph->ids[1], UINT64_C(1) << 63);
	ASSERT_UINT(graph->ids[2], UINT64_MAX);
	ASSERT_UINT(graph->ids[3], UINT64_MAX - 1);
	ASSERT_TEXT(targets_of(graph, 0), "ffffffffffffffff");
	ASSERT_TEXT(targets_of(graph, UINT64_MAX), "0 8000000000000000");
	ASSERT_UINT(graph->roots[0].node, 2);
	ASSERT_UINT(graph->types[0].id, UINT64_MAX);
	graph_destroy(graph);
}

TEST(a_type_id_of_zero_is_an_id)
{
	struct hd_graph *graph = dump_graph("a 2 x\no 10 0 8\no 20 0 8\nt 0 Zero\nc x\n");
	ASSERT_UINT(graph->type_count, 1);
	ASSERT_TYPE_NAME(graph, 0x10, "Zero");
	ASSERT_TYPE_NAME(graph, 0x20, "Zero");
	graph_destroy(graph);
}

/* A random file's object lines in some order; the same seed makes the same lines. */
static void append_objects(struct text *text, uint64_t seed, const uint32_t *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct random random = { .state = seed * 1000 + order[i] + 1 };
		text_printf(text, "o %x %x %" PRIx64, 0x100 + order[i] * 7,
			    (unsigned int)random_below(&random, 5),
			    random_below(&random, 9) ? random_below(&random, 200)
						     : random_next(&random) >> 20);
		for (uint64_t degree = random_below(&random, 5); degree; degree--) {
			text_printf(text, " %x",
				    0x100 + 7 * (unsigned int)random_below(&random, count + 3));
		}
		text_puts(text, "\n");
	}
}

TEST(the_order_of_objects_does_not_matter)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct random random = { .state = seed };
		uint32_t order[150], count = 1 + (uint32_t)random_below(&random, 150);
		struct text sorted = { 0 }, mixed = { 0 };
		static const char head[] = "a 2 x\nt 0 A\nt 1 B\nt 2 C\nt 3 D\nt 4 E\n";
		text_puts(&sorted, head);
		text_puts(&mixed, head);
		for (uint32_t i = 0; i < count; i++)
			order[i] = i;
		append_objects(&sorted, seed, order, count);
		for (uint32_t i = count; i-- > 1;) {
			uint32_t k = (uint32_t)random_below(&random, i + 1), swap = order[k];
			order[k] = order[i];
			order[i] = swap;
		}
		append_objects(&mixed, seed, order, count);
		text_puts(&sorted, "r 107 3 0\nr 100 1 0\nc x\n");
		text_puts(&mixed, "r 107 3 0\nr 100 1 0\nc x\n");
		struct hd_graph *graph = dump_graph(mixed.bytes),
				*expected = dump_graph(sorted.bytes);
		ASSERT_GRAPH(graph, expected, GRAPH_EXACT);
		graph_destroy(graph);
		graph_destroy(expected);
		text_deinit(&sorted);
		text_deinit(&mixed);
	}
}

TEST(an_object_in_two_sections_is_one)
{
	struct hd_graph *graph =
		dump_graph("a 2 one\nt 1 S\nt 2 T\no 10 1 18 20 30\no 20 2 5\nc one\n"
			   "a 2 two\nt 1 T\nt 2 S\no 30 1 8\no 10 2 18 20 30\no 20 1 5\n"
			   "r 10 3 0\nc two\n");
	ASSERT_UINT(graph->object_count, 3);
	ASSERT_UINT(graph->forward.edge_count, 2);
	ASSERT_UINT(graph->total_size, 0x18 + 5 + 8);
	ASSERT_UINT(type_of(graph, 0x10)->domain, 0);
	ASSERT_UINT(type_of(graph, 0x20)->domain, 0);
	ASSERT_UINT(type_of(graph, 0x30)->domain, 1);
	ASSERT_TEXT(targets_of(graph, 0x10), "20 30");
	ASSERT_UINT(graph->findings.count, 0);
	graph_destroy(graph);
}

TEST(a_large_object_in_two_sections_is_one)
{
	struct hd_graph *graph =
		dump_graph("a 2 one\nt 1 S\no 10 1 ffffffff\no 20 1 123456789a\nc one\n"
			   "a 2 two\nt 1 S\no 20 1 123456789a\no 10 1 ffffffff\nc two\n");
	ASSERT_UINT(graph->object_count, 2);
	ASSERT_UINT(size_of(graph, 0x10), 0xffffffff);
	ASSERT_UINT(size_of(graph, 0x20), UINT64_C(0x123456789a));
	ASSERT_UINT(graph->total_size, UINT64_C(0x123456789a) + 0xffffffff);
	ASSERT_UINT(graph->findings.count, 0);
	graph_destroy(graph);
}

SUITE(.name = "rpm reader")
