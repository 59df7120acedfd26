/* SPDX-License-Identifier: MIT */
#include "format/viewers/heapsnapshot_ids.h"
#include "format/viewers/viewers.h"
#include "graph/reach.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "support/writer_checks.h"
#include "util/text.h"

#define FIELDS ((size_t)7)

static bool append(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

static struct text written_as(const struct hd_graph *graph, bool live_only)
{
	struct reach live = { 0 };
	struct text text = { 0 };
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(reach_from_roots(graph, NULL, &live, &err), HD_OK);
	const struct write_options options = { .live_only = live_only, .live = live.bitmap };
	ASSERT_UINT(heapsnapshot_write(graph, &options, NULL, append, &text, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	CU_ASSERT_FATAL(text.size && !text.failed);
	reach_deinit(&live);
	return text;
}

/* Find the text between two texts; cuts @p text there. */
static char *between(struct text *text, const char *before, const char *after)
{
	char *from = strstr(text->bytes, before);
	REQUIRE(from);
	from += strlen(before);
	char *end = strstr(from, after);
	REQUIRE(end);
	*end = '\0';
	return from;
}

static void check_part(const struct hd_graph *graph, bool live_only, const char *before,
		       const char *expected)
{
	struct text text = written_as(graph, live_only);
	ASSERT_TEXT(between(&text, before, "]"), expected);
	text_deinit(&text);
}

#define COUNTS  "\"column\"]},"
#define NODES   "\n\"nodes\":["
#define EDGES   "\n\"edges\":["
#define STRINGS "\n\"strings\":["

/*
 * 0 -> 1, 1 -> 4 (missing); 2 <-> 3 dead, 3 -> 3; a static and a weak root.  Nodes of the file:
 * root, GC roots, (Handles), (Static variables), (Not reachable), 0 .. 4.
 */
static struct hd_graph *small_graph(void)
{
	static const struct made_edge edges[] = {
		{ 0, 1 }, { 1, 4 }, { 2, 3 }, { 3, 2 }, { 3, 3 },
	};
	static const uint64_t ids[] = { 0x10, 0x7f00000010, 0x7f00000028, 0x7f00000048, 0x18 };
	static const uint64_t sizes[] = { 24, 0x123456789a, 40, 32 };
	static const uint32_t types[] = { 0, 1, 0, 2 };
	static const struct graph_root roots[] = {
		{ .node = 0, .container = 1, .kind = HD_ROOT_STATIC },
		{ .node = 0, .container = 1, .kind = HD_ROOT_STATIC, .repeated = true },
		{ .node = 2, .container = HD_NONE, .kind = HD_ROOT_HANDLE, .flags = HD_ROOT_WEAK },
		{ .node = 1, .container = HD_NONE, .kind = HD_ROOT_HANDLE },
	};
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 4,
								  .missing_count = 1,
								  .type_count = 3,
								  .ids = ids,
								  .sizes = sizes,
								  .types = types,
								  .edges = edges,
								  .edge_count = 5,
								  .roots = roots,
								  .root_count = 4 });
	REQUIRE(graph);
	return graph;
}

TEST(a_small_graph_is_written_by_v8s_rules)
{
	static const char begin[] = "{\"snapshot\":{\"meta\":{\"node_fields\":[\"type\",\"name\",";
	struct hd_graph *graph = small_graph();
	struct text text = written_as(graph, false);
	CU_ASSERT(strncmp(text.bytes, begin, sizeof(begin) - 1) == 0);
	ASSERT_TEXT(text.bytes + text.size - 9, "\"weak\"]}\n");
	ASSERT_TEXT(between(&text, COUNTS, "}"),
		    "\"node_count\":10,\"edge_count\":13,\"trace_function_count\":0");
	text_deinit(&text);
	check_part(graph, false, NODES,
		   "9,1,2,0,2,0,0\n"
		   ",9,2,4,0,2,0,0\n"
		   ",9,8,12,0,2,0,0\n"
		   ",9,9,14,0,1,0,0\n"
		   ",9,3,30,0,1,0,0\n"
		   ",3,12,5,24,1,0,0\n"
		   ",3,13,3221225477,78187493530,1,0,0\n"
		   ",3,12,3221225483,40,1,0,0\n"
		   ",3,14,3221225491,32,2,0,0\n"
		   ",0,4,32,0,0,0,0\n");
	/* Positions times 7; "Type1" is string 13, "weak" 15. */
	check_part(graph, false, EDGES,
		   "1,1,7\n,1,2,28\n"
		   ",1,0,14\n,1,1,21\n"
		   ",6,15,49\n,1,1,42\n"
		   ",2,13,35\n"
		   ",1,0,49\n"
		   ",1,0,42\n,1,0,63\n,1,0,56\n,1,0,49\n,1,1,56\n");
	check_part(graph, false, STRINGS,
		   "\"<dummy>\",\n\"\",\n\"(GC roots)\",\n\"(Not reachable)\",\n\"(missing)\",\n"
		   "\"(Internal)\",\n\"(Stack)\",\n\"(Finalizer queue)\",\n\"(Handles)\",\n"
		   "\"(Static variables)\",\n\"(Garbage collector)\",\n\"(Thread statics)\",\n"
		   "\"Type0\",\n\"Type1\",\n\"Type2\",\n\"weak\"");
	graph_destroy(graph);
}

TEST(what_is_dead_is_left_out)
{
	struct hd_graph *graph = small_graph();
	struct text text = written_as(graph, true);
	ASSERT_TEXT(between(&text, COUNTS, "}"),
		    "\"node_count\":7,\"edge_count\":7,\"trace_function_count\":0");
	text_deinit(&text);
	check_part(graph, true, NODES,
		   "9,1,2,0,1,0,0\n"
		   ",9,2,4,0,2,0,0\n"
		   ",9,8,12,0,1,0,0\n"
		   ",9,9,14,0,1,0,0\n"
		   ",3,12,5,24,1,0,0\n"
		   ",3,13,3221225477,78187493530,1,0,0\n"
		   ",0,4,32,0,0,0,0\n");
	check_part(graph, true, EDGES,
		   "1,1,7\n,1,0,14\n,1,1,21\n,1,0,35\n,2,13,28\n,1,0,35\n,1,0,42\n");
	graph_destroy(graph);
}

/* Life is found out if it is not given. */
TEST(options_may_be_missing)
{
	struct hd_graph *graph = small_graph();
	struct text with = written_as(graph, false), without = { 0 };
	ASSERT_UINT(heapsnapshot_write(graph, NULL, NULL, append, &without, NULL), HD_OK);
	ASSERT_TEXT(without.bytes, with.bytes);
	text_deinit(&with);
	text_deinit(&without);
	graph_destroy(graph);
}

static void set_name(struct hd_graph *graph, uint32_t type, const char *name)
{
	graph->types[type].name = name;
	graph->types[type].name_size = name ? (uint32_t)strlen(name) : 0;
}

TEST(names_become_valid_json)
{
	static const struct {
		const char *name, *written;
	} names[] = {
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "a\nb\x01", "\"a\\u000ab\\u0001\"" },
		{ "x\xff\xc3", "\"x\\ufffd\\ufffd\"" },
		{ "\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\"" },
		{ "\xe2\x80\xa8\x7f", "\"\\u2028\\u007f\"" },
		{ NULL, "\"(unknown type)\"" },
		{ "", "\"(unknown type)\"" },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct hd_graph *graph = small_graph();
		set_name(graph, 2, names[i].name);
		struct text text = written_as(graph, false);
		const char *all = strstr(text.bytes, STRINGS);
		REQUIRE(all);
		CU_ASSERT(strstr(all, names[i].written) != NULL);
		text_deinit(&text);
		graph_destroy(graph);
	}
}

/* One string for types of one name: DevTools tells classes by its number. */
TEST(types_of_one_name_are_one_class)
{
	struct hd_graph *graph = small_graph();
	set_name(graph, 2, "Type0");
	struct text text = written_as(graph, false);
	const char *first = strstr(text.bytes, "\"Type0\"");
	REQUIRE(first);
	CU_ASSERT(strstr(first + 1, "\"Type0\"") == NULL);
	text_deinit(&text);
	graph_destroy(graph);
}

TEST(types_tell_strings)
{
	static const struct {
		const char *name;
		char type;
	} names[] = {
		{ "System.String", '2' },
		{ "System.String[]", '3' },
		{ "System.Stringy", '3' },
		{ "A[,,]", '3' },
		{ "A[*]", '3' },
		{ "A[][]", '3' },
		{ "System.Byte[] (Bytes > 1K)", '3' },
		{ "System.String (Bytes > 1K)", '2' },
		{ "A`1[[B, C]]", '3' },
		{ "A<B[]>", '3' },
		{ "]", '3' },
		{ "[]", '3' },
		{ ")", '3' },
		{ "a b)", '3' },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct hd_graph *graph = small_graph();
		set_name(graph, 2, names[i].name);
		struct text text = written_as(graph, false);
		const char *node = strstr(text.bytes, ",14,3221225491,");
		REQUIRE(node);
		ASSERT_UINT((unsigned char)node[-1], (unsigned char)names[i].type);
		text_deinit(&text);
		graph_destroy(graph);
	}
}

static void link_of(const void *arg, uint32_t from, uint32_t to, struct text *text)
{
	static const char *const links[] = {
		".next", "[3]", "", "[2].key", " (dependent handle)", "[99999999999]"
	};
	(void)to;
	CU_ASSERT_PTR_NULL(arg);
	text_puts(text, links[from]);
}

static uint64_t id_of(const void *arg, uint32_t node)
{
	(void)arg;
	return 0x1000 + (uint64_t)node * 24;
}

/* A heap: fields have names, roots details. */
static struct hd_graph *heap_graph(struct graph_root_detail *details, struct graph_frame *frame)
{
	static const struct made_edge edges[] = {
		{ 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 4, 5 }, { 5, 0 },
	};
	static const struct graph_root roots[] = {
		{ .node = 0, .container = HD_NONE, .kind = HD_ROOT_STATIC },
		{ .node = 1, .container = HD_NONE, .kind = HD_ROOT_STACK },
		{ .node = 2, .container = HD_NONE, .kind = HD_ROOT_HANDLE },
		{ .node = 3, .container = HD_NONE, .kind = HD_ROOT_HANDLE, .flags = HD_ROOT_WEAK },
		{ .node = 4, .container = HD_NONE, .kind = HD_ROOT_GC },
	};
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 6,
								  .edges = edges,
								  .edge_count = 6,
								  .roots = roots,
								  .root_count = 5 });
	REQUIRE(graph);
	graph->places.id = id_of;
	graph->places.link = link_of;
	details[0] = (struct graph_root_detail){ .name = "A.B", .frame = HD_NONE };
	details[1] = (struct graph_root_detail){ .frame = 0 };
	details[2] = (struct graph_root_detail){ .handle = GRAPH_HANDLE_PINNED, .frame = HD_NONE };
	details[3] =
		(struct graph_root_detail){ .handle = GRAPH_HANDLE_WEAK_LONG, .frame = HD_NONE };
	details[4] = (struct graph_root_detail){ .frame = HD_NONE };
	graph->origins.details = details;
	graph->origins.frames = frame;
	graph->origins.frame_count = 1;
	return graph;
}

static void heap_destroy(struct hd_graph *graph)
{
	graph->origins.details = NULL;
	graph->origins.frames = NULL;
	graph->origins.frame_count = 0;
	graph_destroy(graph);
}

TEST(edges_of_a_heap_have_names)
{
	struct graph_root_detail details[5];
	struct graph_frame frame = { .method = "M()" };
	struct hd_graph *graph = heap_graph(details, &frame);
	/* Strings: 12 Type0, 13 M(), 14 pinned handle, 15 weak long handle, 16 A.B, then links. */
	check_part(graph, false, EDGES,
		   "1,1,7\n"
		   ",1,0,14\n,1,1,21\n,1,2,28\n,1,3,35\n"
		   ",2,13,49\n"
		   ",2,14,56\n,6,15,63\n"
		   ",2,16,42\n"
		   ",1,0,70\n"
		   ",2,17,49\n,1,3,56\n,1,0,63\n,2,18,70\n,3,19,77\n,2,20,42\n");
	struct text text = written_as(graph, false);
	CU_ASSERT(strstr(text.bytes,
			 "\"Type0\",\n\"M()\",\n\"pinned handle\",\n\"weak long handle\","
			 "\n\"A.B\",\n\"next\",\n\"[2].key\",\n\"(dependent handle)\","
			 "\n\"[99999999999]\"]}\n") != NULL);
	CU_ASSERT(strstr(text.bytes, "\"(Frozen objects)\"") != NULL);
	text_deinit(&text);
	heap_destroy(graph);
}

static struct hd_graph *graph_of_ids(const uint64_t *ids, uint32_t count)
{
	struct hd_graph *graph =
		graph_make(&(struct graph_spec){ .object_count = count, .ids = ids });
	REQUIRE(graph);
	return graph;
}

TEST(ids_are_addresses_where_these_are_unique)
{
	static const struct {
		uint64_t ids[3];
		bool is_32bit, by_address;
	} cases[] = {
		{ { 0x10, 0x28, 0x7f0000000000 }, false, true },
		{ { 1, 2, 3 }, false, false },                     /* no addresses */
		{ { 0x10, 0x14, 0x20 }, false, false },            /* of 32 bits, not marked so */
		{ { 0x10, 0x1c, 0xfffffffc }, true, true },        /* of 32 bits */
		{ { 0x1000, 0x2000, 0x400001000 }, false, false }, /* 16 GiB apart */
		{ { 0x1000, 0x2000, 0x400001008 }, false, true },  /* nearly */
		{ { 0x2000, 0x400001000, 0x400002000 }, false, false } /* runs that overlap */,
		{ { 0x2000, 0x400001000, 0x400003000 }, false, true },
		{ { 0, 8, UINT64_MAX - 7 }, false, true },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_graph *graph = graph_of_ids(cases[i].ids, 3);
		graph->info.is_32bit = cases[i].is_32bit;
		struct heapsnapshot_ids ids;
		heapsnapshot_ids_init(&ids, graph);
		ASSERT_UINT(ids.by_address, cases[i].by_address);
		uint32_t x = heapsnapshot_id(&ids, 0), y = heapsnapshot_id(&ids, 1),
			 z = heapsnapshot_id(&ids, 2);
		CU_ASSERT(x != y && y != z && x != z && x & y & z & 1);
		graph_destroy(graph);
	}
}

/* An address per part of 16 GiB is not a process: a number per node is as good. */
TEST(ids_of_scattered_addresses_are_numbers)
{
	uint64_t addresses[40];
	for (uint32_t i = 0; i < 40; i++)
		addresses[i] = (uint64_t)i << 34 | (uint64_t)i * 64;
	struct hd_graph *graph = graph_of_ids(addresses, 40);
	struct heapsnapshot_ids ids;
	heapsnapshot_ids_init(&ids, graph);
	CU_ASSERT(!ids.by_address);
	ASSERT_UINT(heapsnapshot_id(&ids, 39), 79);
	graph_destroy(graph);
}

/* Numbers of a part of the file; the array is to be freed. */
static uint64_t *numbers_of(const struct text *text, const char *before, size_t *count)
{
	const char *at = strstr(text->bytes, before);
	REQUIRE(at);
	at += strlen(before);
	uint64_t *numbers = malloc(text->size * sizeof(*numbers));
	REQUIRE(numbers);
	for (*count = 0; *at != ']'; at += *at == ',' || *at == '\n') {
		char *end;
		numbers[(*count)++] = strtoull(at, &end, 10);
		CU_ASSERT_FATAL(end > at);
		at = end + (end[0] == '\n' && end[1] != ']');
	}
	return numbers;
}

/* Nodes that edges, but weak ones, lead to from the first. */
static size_t reached_from_root(const uint64_t *nodes, size_t node_count, const uint64_t *edges)
{
	uint64_t *first = calloc(node_count + 1, sizeof(*first));
	size_t *queue = calloc(node_count + 1, sizeof(*queue)), tail = 1;
	bool *seen = calloc(node_count + 1, sizeof(*seen));
	REQUIRE(first);
	REQUIRE(queue);
	REQUIRE(seen);
	for (size_t i = 0; i < node_count; i++)
		first[i + 1] = first[i] + nodes[i * FIELDS + 4];
	seen[0] = true;
	for (size_t head = 0; head < tail; head++) {
		for (uint64_t e = first[queue[head]]; e < first[queue[head] + 1]; e++) {
			uint64_t to = edges[3 * e + 2];
			ASSERT_UINT(to % FIELDS, 0);
			CU_ASSERT_FATAL(to / FIELDS < node_count);
			if (edges[3 * e] == 6 || seen[to / FIELDS])
				continue;
			seen[to / FIELDS] = true;
			queue[tail++] = to / FIELDS;
		}
	}
	free(first);
	free(queue);
	free(seen);
	return tail;
}

static void check_file(const struct hd_graph *graph, bool live_only)
{
	struct text text = written_as(graph, live_only);
	size_t node_numbers, edge_numbers;
	uint64_t *nodes = numbers_of(&text, NODES, &node_numbers);
	uint64_t *edges = numbers_of(&text, EDGES, &edge_numbers);
	size_t node_count = node_numbers / FIELDS;
	uint64_t size = 0, edge_count = 0;
	for (size_t i = 0; i < node_count; i++) {
		size += nodes[i * FIELDS + 3];
		edge_count += nodes[i * FIELDS + 4];
	}
	ASSERT_UINT(node_numbers % FIELDS, 0);
	ASSERT_UINT(edge_numbers, 3 * edge_count);
	ASSERT_UINT(reached_from_root(nodes, node_count, edges), node_count);
	char counts[96];
	(void)snprintf(counts, sizeof(counts),
		       "\"node_count\":%zu,\"edge_count\":%" PRIu64 ",\"trace_function_count\":0",
		       node_count, edge_count);
	ASSERT_TEXT(between(&text, COUNTS, "}"), counts);
	struct reach live = { 0 };
	ASSERT_UINT(reach_from_roots(graph, NULL, &live, NULL), HD_OK);
	ASSERT_UINT(size, live_only ? reach_size(graph, &live) : graph->total_size);
	reach_deinit(&live);
	free(nodes);
	free(edges);
	text_deinit(&text);
}

TEST(random_graphs_are_reached_from_the_root)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct random_spec spec = { .seed = seed,
					    .object_count = 1 + (uint32_t)(seed * 7 % 300),
					    .missing_count = (uint32_t)(seed % 7),
					    .degree_percent = (uint32_t)(seed * 13 % 300),
					    .root_count = (uint32_t)(seed % 5),
					    .weak_percent = 30 };
		struct hd_graph *graph = graph_make_random(&spec);
		REQUIRE(graph);
		graph_mark_repeated(graph);
		check_file(graph, false);
		check_file(graph, true);
		graph_destroy(graph);
	}
}

TEST(the_writer_stops_when_nobody_takes_more)
{
	check_refused_pieces_of_list(heapsnapshot_write, 40000, 6);
}

TEST(writing_can_be_cancelled)
{
	check_cancelling_of_list(heapsnapshot_write, 200000, 19);
}

TEST(each_failed_allocation_is_reported)
{
	for (unsigned int live_only = 0; live_only < 2; live_only++) {
		struct graph_root_detail details[5];
		struct graph_frame frame = { .method = "M()" };
		struct hd_graph *graph = heap_graph(details, &frame);
		const struct write_options options = { .live_only = live_only };
		const struct graph_writing what = { heapsnapshot_write, graph, &options };
		check_failed_allocations(&(struct writing){ write_graph, &what }, 10);
		heap_destroy(graph);
	}
}

SUITE(.name = "heapsnapshot")
