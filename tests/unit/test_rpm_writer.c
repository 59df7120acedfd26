/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "support/writer_checks.h"
#include "util/alloc.h"

static void check_round_trip(const struct hd_graph *graph)
{
	struct text text = dump_written(graph);
	struct hd_graph *again = dump_graph(text.bytes);
	ASSERT_GRAPH(again, graph, GRAPH_CONTENT);
	struct text second = dump_written(again);
	ASSERT_UINT(second.size, text.size);
	CU_ASSERT(second.size == text.size && memcmp(second.bytes, text.bytes, text.size) == 0);
	graph_destroy(again);
	text_deinit(&second);
	text_deinit(&text);
}

TEST(a_small_graph_is_written_as_expected)
{
	static const struct made_edge edges[] = { { 0, 1 }, { 0, 3 }, { 0, 0 }, { 2, 0 } };
	static const uint64_t ids[] = { 0x10, 0xabcdef, UINT64_MAX, 0x18 };
	static const uint64_t sizes[] = { 0, 0xffffffff, 0x123456789a };
	static const uint32_t types[] = { 0, 1, 1 };
	static const struct graph_root roots[] = {
		{ .node = 2, .container = 1, .kind = HD_ROOT_STATIC, .flags = 5 },
		{ .node = 3, .container = HD_NONE, .kind = HD_ROOT_STACK, .flags = 2 },
	};
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 3,
								  .missing_count = 1,
								  .type_count = 3,
								  .ids = ids,
								  .sizes = sizes,
								  .types = types,
								  .edges = edges,
								  .edge_count = 4,
								  .roots = roots,
								  .root_count = 2 });
	REQUIRE(graph);
	graph->domains.rows[0].has_start = true;
	graph->domains.rows[0].start = 0x763f9d2;
	struct text text = dump_written(graph);
	ASSERT_TEXT(text.bytes, "a 2 Test.exe 763f9d2\n"
				"t 10 Type0\n"
				"t 11 Type1\n"
				"t 12 Type2\n"
				"o 10 10 0 abcdef 18 10\n"
				"o abcdef 11 ffffffff\n"
				"o ffffffffffffffff 11 123456789a 10\n"
				"r ffffffffffffffff 4 5 11\n"
				"r 18 1 2\n"
				"c Test.exe\n");
	text_deinit(&text);
	graph_destroy(graph);
}

TEST(a_dump_file_is_called_after_its_program)
{
	static const struct {
		const char *program, *process, *domain;
		uint64_t start; /* 0: not known */
		const char *begin, *end;
	} rows[] = {
		{ NULL, "shop", "clrhost", 0x444d20df, "a 2 shop 444d20df\n", "c shop 444d20e1\n" },
		{ "my shop", "dotnet", NULL, 0, "a 2 my shop\n", "c my shop\n" },
		{ NULL, NULL, "host", 0, "a 2 host\n", "c host\n" },
		{ NULL, "", NULL, 0, "a 2 clrhost\n", "c clrhost\n" },
		/* The host runs any program. */
		{ NULL, "dotnet", NULL, 0, "a 2 clrhost\n", "c clrhost\n" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hd_graph *graph = graph_make(&(struct graph_spec){ .type_count = 1 });
		REQUIRE(graph);
		graph->domains.rows[0].name = rows[i].domain;
		graph->domains.rows[0].name_size =
			rows[i].domain ? (uint32_t)strlen(rows[i].domain) : 0;
		graph->info.program = rows[i].program;
		graph->info.process = rows[i].process;
		/* When it was written says nothing about the machine's start. */
		graph->info.time = UINT64_C(631355968000000000);
		graph->domains.rows[0].has_start = graph->domains.rows[0].has_end = rows[i].start;
		graph->domains.rows[0].start = rows[i].start;
		graph->domains.rows[0].end = rows[i].start + 2;
		struct text text = dump_written(graph);
		size_t begin = strlen(rows[i].begin), end = strlen(rows[i].end);
		CU_ASSERT(strncmp(text.bytes, rows[i].begin, begin) == 0);
		CU_ASSERT(text.size > end &&
			  strcmp(text.bytes + text.size - end, rows[i].end) == 0);
		text_deinit(&text);
		graph_destroy(graph);
	}
}

static uint64_t id_of(const void *arg, uint32_t node)
{
	(void)arg;
	return 0x1000 + (uint64_t)node * 16;
}

/* Kinds and flags that only heaps have; a heap's time is not known. */
TEST(roots_of_a_heap_become_those_of_the_format)
{
	static const struct graph_root roots[] = {
		{ .node = 0, .container = 1, .kind = HD_ROOT_THREAD_STATIC },
		{ .node = 0, .container = HD_NONE, .kind = HD_ROOT_THREAD_STATIC },
		{ .node = 1, .container = HD_NONE, .kind = HD_ROOT_STATIC, .flags = 1 },
		{ .node = 1,
		  .container = HD_NONE,
		  .kind = HD_ROOT_STACK,
		  .flags = HD_ROOT_CONSERVATIVE | HD_ROOT_INTERIOR },
		{ .node = 1, .container = HD_NONE, .kind = HD_ROOT_GC },
	};
	struct hd_graph *graph = graph_make(&(struct graph_spec){
		.object_count = 2, .type_count = 2, .roots = roots, .root_count = 5 });
	REQUIRE(graph);
	graph->places.id = id_of;
	struct text text = dump_written(graph);
	ASSERT_TEXT(text.bytes, "a 2 Test.exe 0\n"
				"t 10 Type0\n"
				"t 11 Type1\n"
				"o 1000 10 18\n"
				"o 1010 10 20\n"
				"r 1000 4 0 11\n"
				"r 1000 0 0\n"
				"r 1010 0 1\n"
				"r 1010 1 5\n"
				"r 1010 5 0\n"
				"c Test.exe 0\n");
	text_deinit(&text);
	graph_destroy(graph);
}

/* A name in memory, and how a file has to hold it. */
static const struct {
	const char *name;
	const char *written;
} type_names[] = {
	{ "System.String", "System.String" },
	{ "A`1[[B, C]]", "A`1[[B, C]]" },
	{ "a\nb", "a\\u000ab" },
	{ "a\r\nb", "a\\u000d\\u000ab" },
	{ "a\033[31m", "a\\u001b[31m" },
	{ "\001\037\177", "\\u0001\\u001f\\u007f" },
	{ "\302\233m\302\240\302\237", "\\u009bm\302\240\\u009f" },
	{ "\302", "\302" },
	{ "\233", "\233" },
	{ " a", "\\u0020a" },
	{ "a ", "a\\u0020" },
	{ "\ta\t", "\\u0009a\\u0009" },
	{ "a  b\tc", "a  b\tc" },
	{ " ", "\\u0020" },
	{ "\n", "\\u000a" },
	{ "\\u000a", "\\u005cu000a" },
	{ "\\\\u000a", "\\\\u005cu000a" },
	{ "C:\\users\\u00zz\\", "C:\\users\\u00zz\\" },
	{ "\\u0080", "\\u005cu0080" },
	{ "\\u00a0", "\\u00a0" },
	{ "\\\n", "\\\\u000a" },
	{ "\xd0\x9a\xe2\x82\xac\xff", "\xd0\x9a\xe2\x82\xac\xff" },
	{ "x dead", "x dead" },
	{ "o 10 1 8", "o 10 1 8" },
};

TEST(type_names_are_escaped_where_a_reader_needs_it)
{
	for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++) {
		struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 1 });
		REQUIRE(graph);
		graph->types[0].name = type_names[i].name;
		graph->types[0].name_size = (uint32_t)strlen(type_names[i].name);
		struct text text = dump_written(graph);
		char expected[200];
		(void)snprintf(expected, sizeof(expected),
			       "a 2 Test.exe\nt 10 %s\no 1000 10 18\nc Test.exe\n",
			       type_names[i].written);
		ASSERT_TEXT(text.bytes, expected);
		text_deinit(&text);
		check_round_trip(graph);
		graph_destroy(graph);
	}
}

/* The name of a section, with times and without. */
static const struct {
	const char *name;
	const char *written, *written_with_time;
} domain_names[] = {
	{ "x.exe", "x.exe", "x.exe" },
	{ "dead", "dead", "dead" },
	{ "My Game.exe", "My Game.exe", "My Game.exe" },
	{ "x dead", "x \\u0064ead", "x dead" },
	{ "x y 12", "x y \\u00312", "x y 12" },
	{ "x\t0", "x\t\\u0030", "x\t0" },
	{ " a ", "\\u0020a\\u0020", "\\u0020a\\u0020" },
	{ "x\n1", "x\\u000a1", "x\\u000a1" },
	{ "\\u0041", "\\u005cu0041", "\\u005cu0041" },
	{ "1 \\u0041", "1 \\u005cu0041", "1 \\u005cu0041" },
};

TEST(section_names_keep_apart_from_times)
{
	for (size_t i = 0; i < sizeof(domain_names) / sizeof(domain_names[0]); i++) {
		for (unsigned int times = 0; times < 4; times++) {
			struct hd_graph *graph =
				graph_make(&(struct graph_spec){ .object_count = 0 });
			REQUIRE(graph);
			struct graph_domain *domain = &graph->domains.rows[0];
			domain->name = domain_names[i].name;
			domain->name_size = (uint32_t)strlen(domain->name);
			domain->version = 2;
			domain->has_start = times & 1;
			domain->has_end = times & 2;
			domain->start = times & 1 ? 0xbeef : 0;
			struct text text = dump_written(graph);
			char expected[200];
			(void)snprintf(expected, sizeof(expected), "a 2 %s%s\nt 10 Type0\nc %s%s\n",
				       times & 1 ? domain_names[i].written_with_time
						 : domain_names[i].written,
				       times & 1 ? " beef" : "",
				       times & 2 ? domain_names[i].written_with_time
						 : domain_names[i].written,
				       times & 2 ? " 0" : "");
			ASSERT_TEXT(text.bytes, expected);
			text_deinit(&text);
			check_round_trip(graph);
			graph_destroy(graph);
		}
	}
}

#define DOMAINS 3u
#define TYPES   6u

/* Put types in several sections that use the same ids, and give everything odd values. */
static void decorate(struct hd_graph *graph, uint64_t seed)
{
	static const char *const names[] = { "one two", "a\nb cafe", "\\u000a " };
	struct random random = { .state = seed };
	pages_free(graph->domains.rows, 1, sizeof(*graph->domains.rows));
	graph->domains.rows = pages_alloc(DOMAINS, sizeof(*graph->domains.rows));
	REQUIRE(graph->domains.rows);
	graph->domains.count = DOMAINS;
	for (uint32_t i = 0; i < DOMAINS; i++) {
		bool start = random_below(&random, 2), end = random_below(&random, 2);
		graph->domains.rows[i] = (struct graph_domain){
			.name = names[i],
			.name_size = (uint32_t)strlen(names[i]),
			.version = 2,
			.has_start = start,
			.has_end = end,
			.start = start ? random_next(&random) >> random_below(&random, 64) : 0,
			.end = end ? random_next(&random) >> random_below(&random, 64) : 0,
		};
	}
	for (uint32_t i = 0; i < TYPES; i++) {
		const size_t count = sizeof(type_names) / sizeof(type_names[0]);
		const char *name = type_names[random_below(&random, count)].name;
		graph->types[i].domain = i % DOMAINS;
		graph->types[i].id = i / DOMAINS;
		graph->types[i].name = i == 5 ? NULL : name; /* one that is never defined */
		graph->types[i].name_size = i == 5 ? 0 : (uint32_t)strlen(name);
	}
}

/* Objects of all types, large and small, and roots of all kinds, in a random graph. */
static struct hd_graph *make_graph(uint64_t seed)
{
	struct random random = { .state = seed };
	uint32_t objects = TYPES + (uint32_t)random_below(&random, 300);
	uint32_t missing = (uint32_t)random_below(&random, 10);
	uint64_t *sizes = calloc(objects, sizeof(*sizes));
	uint32_t *types = calloc(objects, sizeof(*types));
	struct made_edge edges[700];
	struct graph_root roots[60];
	REQUIRE(sizes);
	REQUIRE(types);
	for (uint32_t i = 0; i < objects; i++) {
		sizes[i] = random_next(&random) >> (20 + random_below(&random, 44));
		types[i] = i < TYPES ? i : (uint32_t)random_below(&random, TYPES);
	}
	for (size_t i = 0; i < 700; i++) {
		edges[i].from = (uint32_t)random_below(&random, objects);
		edges[i].to = (uint32_t)random_below(&random, objects + missing);
	}
	/* A missing node exists because something names it. */
	for (uint32_t i = 0; i < missing; i++)
		edges[i].to = objects + i;
	for (size_t i = 0; i < 60; i++) {
		uint32_t domain = (uint32_t)(i / 20);
		uint8_t kind = (uint8_t)random_below(&random, 6);
		roots[i] = (struct graph_root){
			.node = (uint32_t)random_below(&random, objects + missing),
			.container = kind == HD_ROOT_STATIC ? domain : HD_NONE,
			.domain = domain,
			.kind = kind,
			.flags = (uint8_t)random_below(&random, 8),
		};
	}
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = objects,
								  .missing_count = missing,
								  .type_count = TYPES,
								  .sizes = sizes,
								  .types = types,
								  .edges = edges,
								  .edge_count = 700,
								  .roots = roots,
								  .root_count = 60 });
	free(sizes);
	free(types);
	REQUIRE(graph);
	decorate(graph, seed + 1000);
	return graph;
}

TEST(what_is_written_is_read_back)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct hd_graph *graph = make_graph(seed);
		check_round_trip(graph);
		graph_destroy(graph);
	}
}

TEST(a_root_that_repeats_another_is_left_out)
{
	struct hd_graph *graph =
		dump_graph("a 2 x\nt 1 T\no 10 1 8\nr 10 1 0\nr 10 1 0\nr 10 3 2\nc x\n");
	struct text both = dump_written(graph);
	ASSERT_TEXT(both.bytes, "a 2 x\nt 1 T\no 10 1 8\nr 10 1 0\nr 10 1 0\nr 10 3 2\nc x\n");
	graph->roots[1].repeated = true;
	struct text one = dump_written(graph);
	ASSERT_TEXT(one.bytes, "a 2 x\nt 1 T\no 10 1 8\nr 10 1 0\nr 10 3 2\nc x\n");
	text_deinit(&both);
	text_deinit(&one);
	graph_destroy(graph);
}

TEST(two_writes_are_the_same_bytes)
{
	struct hd_graph *graph = make_graph(7);
	struct text a = dump_written(graph), b = dump_written(graph);
	ASSERT_UINT_FATAL(a.size, b.size);
	CU_ASSERT_EQUAL(memcmp(a.bytes, b.bytes, a.size), 0);
	text_deinit(&a);
	text_deinit(&b);
	graph_destroy(graph);
}

TEST(the_samples_are_written_back)
{
	static const char *const samples[] = { "tests/data/seed000.heap", "tests/data/seed001.heap",
					       "corefiles/bubblecs.heap" };
	for (size_t i = 0; i < 3; i++) {
		struct text sample = dump_source_file(samples[i]);
		struct hd_graph *graph = dump_graph(sample.bytes);
		check_round_trip(graph);
		graph_destroy(graph);
		text_deinit(&sample);
	}
}

TEST(a_section_that_a_lenient_reader_made_is_written_back)
{
	struct hd_graph *graph = dump_graph_lenient("o 10 1 8\nt 1 T\nc\na 2 x\nc x\n");
	ASSERT_UINT(graph->domains.count, 2);
	check_round_trip(graph);
	graph_destroy(graph);
}

TEST(the_writer_stops_when_nobody_takes_more)
{
	check_refused_pieces_of_list(rpm_format.write, 100000, 6);
}

/* It polls with each piece. */
TEST(writing_can_be_cancelled)
{
	struct hd_graph *graph = graph_make_list(100000);
	REQUIRE(graph);
	for (unsigned int polls = 1; polls < 5; polls++) {
		unsigned int left = polls;
		struct job job = { .cancelled = cancel_countdown, .arg = &left };
		struct taker taker = { .left = SIZE_MAX };
		ASSERT_UINT(rpm_format.write(graph, NULL, &job, take_some, &taker, NULL),
			    HD_ERR_CANCELLED);
		ASSERT_UINT(taker.pieces, polls);
	}
	graph_destroy(graph);
}

TEST(each_failed_allocation_is_reported)
{
	struct hd_graph *graph = make_graph(3);
	const struct graph_writing what = { .write = rpm_format.write, .graph = graph };
	check_failed_allocations(&(struct writing){ write_graph, &what }, 6);
	graph_destroy(graph);
}

SUITE(.name = "rpm writer")
