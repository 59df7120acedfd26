/* SPDX-License-Identifier: MIT */
#include "format/viewers/dominator_stacks.h"
#include "format/viewers/viewers.h"
#include "graph/reach.h"
#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "support/writer_checks.h"
#include "util/alloc.h"
#include "util/text.h"

/* A graph, and what its stacks are made of. */
struct fixture {
	struct hd_graph *graph;
	struct dominators dominators;
	struct dominator_stacks stacks;
};

static void set_up(struct fixture *fixture, struct hd_graph *graph)
{
	*fixture = (struct fixture){ .graph = graph };
	REQUIRE(graph);
	ASSERT_UINT_FATAL(dominators_init(graph, NULL, &fixture->dominators, NULL), HD_OK);
	ASSERT_UINT_FATAL(
		dominator_stacks_init(&fixture->stacks, graph, &fixture->dominators, NULL, NULL),
		HD_OK);
}

static void tear_down(struct fixture *fixture)
{
	dominator_stacks_deinit(&fixture->stacks);
	dominators_deinit(&fixture->dominators);
	graph_destroy(fixture->graph);
}

static bool append(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

static struct text written_by(graph_write_fn writer, const struct fixture *fixture)
{
	const struct write_options options = { .dominators = &fixture->dominators };
	struct text text = { 0 };
	ASSERT_UINT(writer(fixture->graph, &options, NULL, append, &text, NULL), HD_OK);
	return text;
}

static void check_text(graph_write_fn writer, const struct fixture *fixture, const char *expected)
{
	struct text text = written_by(writer, fixture);
	ASSERT_TEXT(text.bytes, expected);
	text_deinit(&text);
}

static void name_type(struct hd_graph *graph, uint32_t type, const char *name)
{
	graph->types[type].name = name;
	graph->types[type].name_size = (uint32_t)strlen(name);
}

/*
 * Static in Type2: 0 (Type0) -> 1, 2 (Type1); 1 -> 3, 4 (Type1: a run).  A stack root: 5 (Type0)
 * -> 6 (Type1), and -> 7, which 0 leads to as well; a weak root: 8, dead.  All of 100 bytes.
 */
static struct hd_graph *small_graph(void)
{
	static const struct made_edge edges[] = {
		{ 0, 1 }, { 0, 2 }, { 1, 3 }, { 1, 4 }, { 5, 6 }, { 5, 7 }, { 0, 7 },
	};
	static const uint64_t sizes[] = { 100, 100, 100, 100, 100, 100, 100, 100, 100 };
	static const uint32_t types[] = { 0, 1, 1, 1, 1, 0, 1, 1, 0 };
	static const struct graph_root roots[] = {
		{ .node = 0, .container = HD_NONE, .kind = HD_ROOT_STACK },
		{ .node = 5, .container = HD_NONE, .kind = HD_ROOT_STACK },
		{ .node = 0, .container = 2, .kind = HD_ROOT_STATIC },
		{ .node = 8, .container = 2, .kind = HD_ROOT_STATIC, .flags = HD_ROOT_WEAK },
	};
	return graph_make(&(struct graph_spec){ .object_count = 9,
						.type_count = 3,
						.sizes = sizes,
						.types = types,
						.edges = edges,
						.edge_count = 7,
						.roots = roots,
						.root_count = 4 });
}

TEST(equal_paths_are_one_stack)
{
	struct fixture fixture;
	set_up(&fixture, small_graph());
	check_text(folded_write, &fixture,
		   "(Static variables);Type2;Type0 100\n"
		   "(Static variables);Type2;Type0;Type1 (run) 400\n"
		   "(Stack);Type0 100\n"
		   "(Stack);Type0;Type1 100\n"
		   "(Several roots);Type1 100\n");
	ASSERT_UINT(fixture.stacks.size, 800);
	check_text(speedscope_write, &fixture,
		   "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		   "\"exporter\":\"heapdump\",\n\"name\":\"heap\",\n\"activeProfileIndex\":0,\n"
		   "\"shared\":{\"frames\":[\n{\"name\":\"(Static variables)\"},\n"
		   "{\"name\":\"(Stack)\"},\n{\"name\":\"(Several roots)\"},\n"
		   "{\"name\":\"Type2\"},\n{\"name\":\"Type0\"},\n{\"name\":\"Type1\"},\n"
		   "{\"name\":\"Type1 (run)\"},\n{\"name\":\"(other)\"}]},\n"
		   "\"profiles\":[{\"type\":\"sampled\",\"name\":\"Retained bytes\","
		   "\"unit\":\"bytes\",\"startValue\":0,\"endValue\":800,\n"
		   "\"samples\":[[0,3,4],\n[0,3,4,6],\n[1,4],\n[1,4,5],\n[2,5]],\n"
		   "\"weights\":[100,\n400,\n100,\n100,\n100]}]}\n");
	tear_down(&fixture);
}

TEST(roots_have_their_own_names)
{
	struct graph_root_detail details[4] = {
		{ .frame = 0 },
		{ .frame = 0 },
		{ .name = "A.B", .frame = HD_NONE },
		{ .name = "A.C", .frame = HD_NONE },
	};
	struct graph_frame frame = { .method = "M()" };
	struct hd_graph *graph = small_graph();
	REQUIRE(graph);
	graph->origins.details = details;
	graph->origins.frames = &frame;
	graph->origins.frame_count = 1;
	struct fixture fixture;
	set_up(&fixture, graph);
	check_text(folded_write, &fixture,
		   "(Static variables);A.B;Type0 100\n"
		   "(Static variables);A.B;Type0;Type1 (run) 400\n"
		   "(Stack);M();Type0 100\n"
		   "(Stack);M();Type0;Type1 100\n"
		   "(Several roots);Type1 100\n");
	graph->origins.details = NULL;
	graph->origins.frames = NULL;
	graph->origins.frame_count = 0;
	tear_down(&fixture);
}

TEST(names_do_not_break_lines_or_json)
{
	struct hd_graph *graph = small_graph();
	REQUIRE(graph);
	name_type(graph, 0, "a;b\nc \xff");
	name_type(graph, 1, "\"\\");
	struct fixture fixture;
	set_up(&fixture, graph);
	check_text(folded_write, &fixture,
		   "(Static variables);Type2;a,b\\u000ac \\xff 100\n"
		   "(Static variables);Type2;a,b\\u000ac \\xff;\"\\ (run) 400\n"
		   "(Stack);a,b\\u000ac \\xff 100\n"
		   "(Stack);a,b\\u000ac \\xff;\"\\ 100\n"
		   "(Several roots);\"\\ 100\n");
	struct text text = written_by(speedscope_write, &fixture);
	CU_ASSERT(strstr(text.bytes, "{\"name\":\"a;b\\u000ac \\ufffd\"}") != NULL);
	CU_ASSERT(strstr(text.bytes, "{\"name\":\"\\\"\\\\ (run)\"}") != NULL);
	text_deinit(&text);
	tear_down(&fixture);
}

/* Every branch is met once, its parent first, and its total is what is in it. */
static void check_tree(const struct fixture *fixture)
{
	const struct dominator_stacks *stacks = &fixture->stacks;
	size_t count = stacks->branches_count, met = 0;
	uint64_t *sums = calloc(count, sizeof(*sums)), sum = 0;
	bool *seen = calloc(count, sizeof(*seen));
	REQUIRE(sums);
	REQUIRE(seen);
	for (uint32_t i = 0; i != HD_NONE; i = dominator_stacks_next(stacks, i)) {
		const struct stack_branch *branch = &stacks->branches[i];
		uint32_t path[STACK_DEPTH_MAX];
		CU_ASSERT_FATAL(i < count && !seen[i]);
		CU_ASSERT(i == 0 || seen[branch->parent]);
		CU_ASSERT(branch->depth < STACK_DEPTH_MAX);
		ASSERT_UINT(dominator_stacks_path(stacks, i, path), branch->depth);
		CU_ASSERT(i == 0 || path[branch->depth - 1] == i);
		seen[i] = true;
		met++;
		sum += branch->self + branch->other;
	}
	ASSERT_UINT(met, count);
	for (size_t i = count; i-- > 0;) {
		const struct stack_branch *branch = &stacks->branches[i];
		sums[i] += branch->self + branch->other;
		ASSERT_UINT(sums[i], branch->total);
		if (i)
			sums[branch->parent] += sums[i];
	}
	struct reach live = { 0 };
	ASSERT_UINT(reach_from_roots(fixture->graph, NULL, &live, NULL), HD_OK);
	ASSERT_UINT(stacks->size, reach_size(fixture->graph, &live));
	ASSERT_UINT(sum, reach_size(fixture->graph, &live));
	reach_deinit(&live);
	free(sums);
	free(seen);
}

TEST(sums_are_those_of_live_objects)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		uint32_t count = 1 + (uint32_t)(seed * 31 % 2000), types[2001];
		struct random_spec spec = { .seed = seed,
					    .object_count = count,
					    .missing_count = (uint32_t)(seed % 7),
					    .degree_percent = (uint32_t)(seed * 13 % 200),
					    .root_count = (uint32_t)(seed % 50),
					    .weak_percent = 20,
					    .near = (uint32_t)(seed % 3 * 10) };
		struct hd_graph *graph = graph_make_random(&spec);
		REQUIRE(graph);
		struct random random = { .state = seed };
		for (uint32_t i = 0; i < count; i++)
			types[i] = (uint32_t)random_below(&random, graph->type_count);
		memcpy(graph->node_types, types, count * sizeof(*types));
		struct fixture fixture;
		set_up(&fixture, graph);
		check_tree(&fixture);
		tear_down(&fixture);
	}
}

/* Lines of a text, and the sum of their numbers. */
static uint64_t sum_of_lines(const struct text *text, uint64_t *lines)
{
	uint64_t sum = 0;
	const char *at = text->bytes, *end;
	for (*lines = 0; (end = strchr(at, '\n')) != NULL; at = end + 1, ++*lines) {
		const char *blank = memrchr(at, ' ', (size_t)(end - at));
		REQUIRE(blank);
		sum += strtoull(blank + 1, NULL, 10);
	}
	return sum;
}

TEST(a_long_list_is_one_frame)
{
	struct fixture fixture;
	set_up(&fixture, graph_make_list(1000000));
	struct text text = written_by(folded_write, &fixture);
	CU_ASSERT(strstr(text.bytes, "Type0 (run) 24000000\n") != NULL);
	uint64_t lines;
	ASSERT_UINT(sum_of_lines(&text, &lines), 24000000);
	ASSERT_UINT(lines, 1);
	text_deinit(&text);
	tear_down(&fixture);
}

/* A list of two types in turn is as deep as stacks may be. */
static struct hd_graph *list_of_two_types(uint32_t count)
{
	struct hd_graph *graph = graph_make_list(count);
	REQUIRE(graph);
	struct graph_type *types = pages_alloc(2, sizeof(*types));
	REQUIRE(types);
	types[0] = graph->types[0];
	types[1] = (struct graph_type){ .id = 0x11, .name = "Other", .name_size = 5 };
	pages_free(graph->types, graph->type_count, sizeof(*graph->types));
	graph->types = types;
	graph->type_count = 2;
	for (uint32_t i = 0; i < count; i++)
		graph->node_types[i] = i % 2;
	return graph;
}

TEST(stacks_are_not_too_deep)
{
	struct fixture fixture;
	set_up(&fixture, list_of_two_types(1000000));
	check_tree(&fixture);
	struct text text = written_by(folded_write, &fixture);
	uint64_t lines;
	ASSERT_UINT(sum_of_lines(&text, &lines), 24000000);
	CU_ASSERT(lines > STACK_DEPTH_MAX - 5 && lines < STACK_DEPTH_MAX);
	CU_ASSERT(text.size < 1000000);
	text_deinit(&text);
	tear_down(&fixture);
}

/* 30,000 types below one object, each too small to be shown, but for one. */
TEST(small_branches_are_one)
{
	enum {
		COUNT = 30001
	};
	struct made_edge *edges = calloc(COUNT, sizeof(*edges));
	uint32_t *types = calloc(COUNT, sizeof(*types));
	uint64_t *sizes = calloc(COUNT, sizeof(*sizes));
	REQUIRE(edges);
	REQUIRE(types);
	REQUIRE(sizes);
	const struct graph_root root = { .container = HD_NONE, .kind = HD_ROOT_STATIC };
	for (uint32_t i = 0; i < COUNT; i++) {
		types[i] = i;
		sizes[i] = i == 7 ? 1000000 : 100;
		edges[i] = (struct made_edge){ .from = 0, .to = i };
	}
	struct fixture fixture;
	set_up(&fixture, graph_make(&(struct graph_spec){ .object_count = COUNT,
							  .type_count = COUNT,
							  .types = types,
							  .sizes = sizes,
							  .edges = edges + 1,
							  .edge_count = COUNT - 1,
							  .roots = &root,
							  .root_count = 1 }));
	check_tree(&fixture);
	check_text(folded_write, &fixture,
		   "(Static variables);Type0 100\n"
		   "(Static variables);Type0;(other) 2999900\n"
		   "(Static variables);Type0;Type7 1000000\n");
	tear_down(&fixture);
	free(edges);
	free(types);
	free(sizes);
}

/* Without roots nothing is live. */
TEST(an_empty_heap_has_no_stacks)
{
	struct fixture fixture;
	set_up(&fixture, graph_make(&(struct graph_spec){ .object_count = 3 }));
	check_tree(&fixture);
	struct text text = written_by(folded_write, &fixture);
	ASSERT_UINT(text.size, 0);
	text_deinit(&text);
	text = written_by(speedscope_write, &fixture);
	CU_ASSERT(strstr(text.bytes, "\"frames\":[]}") != NULL);
	CU_ASSERT(strstr(text.bytes, "\"endValue\":0,\n\"samples\":[],\n\"weights\":[]}") != NULL);
	text_deinit(&text);
	tear_down(&fixture);
}

static const graph_write_fn writers[] = { folded_write, speedscope_write };

TEST(the_writers_stop_when_nobody_takes_more)
{
	struct fixture fixture;
	struct hd_graph *graph = list_of_two_types(1000);
	char *name = calloc(1, 301);
	REQUIRE(name);
	memset(name, 'x', 300);
	name_type(graph, 0, name);
	set_up(&fixture, graph);
	const struct write_options options = { .dominators = &fixture.dominators };
	for (size_t i = 0; i < 2; i++) {
		const struct graph_writing what = { writers[i], graph, &options };
		check_refused_pieces(&(struct writing){ write_graph, &what }, i ? 1 : 6);
	}
	tear_down(&fixture);
	free(name);
}

TEST(writing_can_be_cancelled)
{
	struct fixture fixture;
	set_up(&fixture, list_of_two_types(300000));
	const struct write_options options = { .dominators = &fixture.dominators };
	for (size_t i = 0; i < 2; i++) {
		const struct graph_writing what = { writers[i], fixture.graph, &options };
		check_cancelling(&(struct writing){ write_graph, &what }, 4);
	}
	tear_down(&fixture);
}

TEST(each_failed_allocation_is_reported)
{
	struct fixture fixture;
	set_up(&fixture, small_graph());
	const struct write_options options = { .dominators = &fixture.dominators };
	for (size_t i = 0; i < 2; i++) {
		const struct graph_writing what = { writers[i], fixture.graph, &options };
		check_failed_allocations(&(struct writing){ write_graph, &what }, 8);
	}
	struct job job = { .max_mem = 10 };
	struct taker taker = { .left = SIZE_MAX };
	ASSERT_UINT(folded_write(fixture.graph, &options, &job, take_some, &taker, NULL),
		    HD_ERR_NOMEM);
	tear_down(&fixture);
}

SUITE(.name = "dominator stacks")
