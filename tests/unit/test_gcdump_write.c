/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "format/gcdump/gcdump_cint.h"
#include "format/gcdump/gcdump_encode.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "support/writer_checks.h"
#include "util/alloc.h"
#include "util/bitmap.h"

static bool take(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

static struct text written(const struct hd_graph *graph, const struct write_options *options)
{
	struct text text = { 0 };
	struct hd_error err = { 0 };
	ASSERT_UINT(gcdump_write(graph, options, NULL, take, &text, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	return text;
}

static uint64_t load(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

static void list_node(const struct gcdump *file, uint32_t node, struct text *ret)
{
	struct gcdump_record record;
	uint32_t offset = (uint32_t)load(file->offsets + (size_t)node * 4, 4);
	REQUIRE(gcdump_record(file, offset, &record) ? file : NULL);
	const struct gcdump_text *name = &file->types[record.type].name;
	text_printf(ret, "%" PRIu32 " %.*s %" PRId32 " %" PRIx64 ":", node, (int)name->size,
		    (const char *)name->bytes, record.size,
		    load(file->addresses + (size_t)node * 8, 8));
	const uint8_t *at = record.children;
	for (uint32_t i = 0; i < record.child_count; i++) {
		int32_t difference = 0;
		at = gcdump_cint(at, record.end, &difference);
		REQUIRE(at);
		text_printf(ret, " %" PRIu32, node + (uint32_t)difference);
	}
	text_puts(ret, "\n");
}

/* Nodes of a file: index, type, size, address, children. */
static struct text nodes_of(const struct text *bytes)
{
	struct text ret = { 0 };
	struct gcdump file;
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(
		gcdump_parse((const uint8_t *)bytes->bytes, bytes->size, "made", &file, &err),
		HD_OK);
	ASSERT_UINT(file.root, 0);
	for (uint32_t i = 0; i < file.node_count; i++)
		list_node(&file, i, &ret);
	gcdump_deinit(&file);
	return ret;
}

static void check_nodes(const struct hd_graph *graph, const struct write_options *options,
			const char *expected)
{
	struct text bytes = written(graph, options), nodes = nodes_of(&bytes);
	ASSERT_TEXT(nodes.bytes, expected);
	text_deinit(&bytes);
	text_deinit(&nodes);
}

/* Objects of two types, a missing one, an edge each; nothing leads to the last. */
static struct hd_graph *small_graph(const struct graph_root *roots, uint32_t count)
{
	static const struct made_edge edges[] = {
		{ 0, 1 }, { 0, 4 }, { 0, 0 }, { 1, 0 }, { 3, 1 }
	};
	static const uint64_t ids[] = { 0x1000, 0x1010, 0x1020, 0x1030, 0x8 };
	static const uint64_t sizes[] = { 24, 40, 24, 0 };
	static const uint32_t types[] = { 0, 1, 0, 1 };
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 4,
								  .missing_count = 1,
								  .type_count = 2,
								  .ids = ids,
								  .sizes = sizes,
								  .types = types,
								  .edges = edges,
								  .edge_count = 5,
								  .roots = roots,
								  .root_count = count });
	REQUIRE(graph);
	return graph;
}

static const struct graph_root two_roots[] = {
	{ .node = 0, .container = HD_NONE, .kind = HD_ROOT_STACK },
	{ .node = 2, .container = HD_NONE, .kind = HD_ROOT_HANDLE, .flags = HD_ROOT_WEAK },
};

TEST(objects_and_missing_nodes_follow_the_tree)
{
	struct hd_graph *graph = small_graph(two_roots, 2);
	check_nodes(graph, NULL,
		    "0 [.NET Roots] 0 0: 1\n"
		    "1 [local vars] 0 0: 2\n"
		    "2 Type0 24 1000: 3 6 2\n"
		    "3 Type1 40 1010: 2\n"
		    "4 Type0 24 1020:\n"
		    "5 Type1 0 1030: 3\n"
		    "6 UNDEFINED 0 8:\n");
	graph_destroy(graph);
}

TEST(the_dead_have_a_node_that_says_so)
{
	struct hd_graph *graph = small_graph(two_roots, 2);
	uint64_t live = 0x13; /* nodes 0, 1, 4 */
	check_nodes(graph, &(struct write_options){ .live = &live },
		    "0 [.NET Roots] 0 0: 1 2\n"
		    "1 [local vars] 0 0: 3\n"
		    "2 [not reachable from roots] 0 0: 5 6\n"
		    "3 Type0 24 1000: 4 7 3\n"
		    "4 Type1 40 1010: 3\n"
		    "5 Type0 24 1020:\n"
		    "6 Type1 0 1030: 4\n"
		    "7 UNDEFINED 0 8:\n");
	graph_destroy(graph);
}

TEST(the_dead_are_left_out_if_asked)
{
	struct hd_graph *graph = small_graph(two_roots, 2);
	uint64_t live = 0x13;
	check_nodes(graph, &(struct write_options){ .live = &live, .live_only = true },
		    "0 [.NET Roots] 0 0: 1\n"
		    "1 [local vars] 0 0: 2\n"
		    "2 Type0 24 1000: 3 4 2\n"
		    "3 Type1 40 1010: 2\n"
		    "4 UNDEFINED 0 8:\n");
	graph_destroy(graph);
}

/* Each kind of root, and where it is in dotnet-gcdump's tree. */
static const struct {
	uint8_t kind, flags, handle;
	const char *name;
	const char *path;
} kinds[] = {
	{ HD_ROOT_STATIC, 0, 0, "App.A.first", "[static vars]/[static var App.A.first]" },
	{ HD_ROOT_STATIC, 0, 0, NULL, "[static vars]/[static var Type1.?]" },
	{ HD_ROOT_THREAD_STATIC, 0, 0, "App.A.first",
	  "[thread static vars]/[static var App.A.first]" },
	{ HD_ROOT_STACK, HD_ROOT_PINNED, 0, NULL, "[local vars]" },
	{ HD_ROOT_STACK, HD_ROOT_CONSERVATIVE, 0, NULL, "[local vars]" },
	{ HD_ROOT_HANDLE, 0, GRAPH_HANDLE_NONE, NULL, "[other roots]/[strong Handles]" },
	{ HD_ROOT_HANDLE, HD_ROOT_PINNED, GRAPH_HANDLE_NONE, NULL,
	  "[other roots]/[pinning Handles]" },
	{ HD_ROOT_HANDLE, 0, GRAPH_HANDLE_STRONG, NULL, "[other roots]/[strong Handles]" },
	{ HD_ROOT_HANDLE, 1, GRAPH_HANDLE_PINNED, NULL, "[other roots]/[pinning Handles]" },
	{ HD_ROOT_HANDLE, 1, GRAPH_HANDLE_ASYNC_PINNED, NULL, "[other roots]/[pinning Handles]" },
	{ HD_ROOT_HANDLE, 0, GRAPH_HANDLE_DEPENDENT, NULL, "[other roots]/[Dependent Handles]" },
	{ HD_ROOT_HANDLE, 0, GRAPH_HANDLE_REF_COUNTED, NULL, "[other roots]/[COM/WinRT Objects]" },
	{ HD_ROOT_HANDLE, 0, GRAPH_HANDLE_SIZED_REF, NULL, "[other roots]/[other Handles]" },
	{ HD_ROOT_HANDLE, 0, GRAPH_HANDLE_VARIABLE, NULL, "[other roots]/[other Handles]" },
	{ HD_ROOT_HANDLE, HD_ROOT_WEAK, GRAPH_HANDLE_WEAK_LONG, NULL, NULL },
	{ HD_ROOT_FINALIZER, 0, 0, NULL, "[other roots]/[finalizer Handles]" },
	{ HD_ROOT_GC, 0, 0, NULL, "[other roots]/[frozen objects]" },
	{ HD_ROOT_INTERNAL, 0, 0, "Thread object", "[other roots]/[internal]" },
};

TEST(each_root_is_where_dotnet_gcdump_has_it)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct graph_root root = {
			.node = 1, .container = 1, .kind = kinds[i].kind, .flags = kinds[i].flags
		};
		struct hd_graph *graph = small_graph(&root, 1);
		graph->origins.details = pages_alloc(1, sizeof(*graph->origins.details));
		REQUIRE(graph->origins.details);
		graph->origins.details[0].name = kinds[i].name;
		graph->origins.details[0].handle = kinds[i].handle;
		char expected[300] = "0 [.NET Roots] 0 0:\n";
		const char *slash = kinds[i].path ? strchr(kinds[i].path, '/') : NULL;
		int first = slash ? (int)(slash - kinds[i].path) : 0;
		if (slash) {
			(void)snprintf(expected, sizeof(expected),
				       "0 [.NET Roots] 0 0: 1\n1 %.*s 0 0: 2\n2 %s 0 0: 4\n", first,
				       kinds[i].path, slash + 1);
		} else if (kinds[i].path) {
			(void)snprintf(expected, sizeof(expected),
				       "0 [.NET Roots] 0 0: 1\n1 %s 0 0: 3\n", kinds[i].path);
		}
		struct text bytes = written(graph, NULL), nodes = nodes_of(&bytes);
		REQUIRE(nodes.bytes);
		CU_ASSERT(strncmp(nodes.bytes, expected, strlen(expected)) == 0);
		text_deinit(&bytes);
		text_deinit(&nodes);
		graph_destroy(graph);
	}
}

TEST(statics_of_one_name_share_a_node)
{
	static const struct graph_root roots[] = {
		{ .node = 0, .container = 0, .kind = HD_ROOT_THREAD_STATIC },
		{ .node = 1, .container = HD_NONE, .kind = HD_ROOT_STATIC },
		{ .node = 2, .container = 0, .kind = HD_ROOT_THREAD_STATIC },
		{ .node = 2, .container = 1, .kind = HD_ROOT_STATIC },
	};
	struct hd_graph *graph = small_graph(roots, 4);
	uint64_t live = 0x1f;
	check_nodes(graph, &(struct write_options){ .live = &live },
		    "0 [.NET Roots] 0 0: 1 3\n"
		    "1 [thread static vars] 0 0: 2\n"
		    "2 [static var Type0.?] 0 0: 5 7\n"
		    "3 [static vars] 0 0: 4 6\n"
		    "4 [static var Type1.?] 0 0: 7\n"
		    "5 Type0 24 1000: 6 9 5\n"
		    "6 Type1 40 1010: 5\n"
		    "7 Type0 24 1020:\n"
		    "8 Type1 0 1030: 6\n"
		    "9 UNDEFINED 0 8:\n");
	graph_destroy(graph);
}

static struct gcdump parsed(const struct text *bytes)
{
	struct gcdump file = { 0 };
	ASSERT_UINT_FATAL(
		gcdump_parse((const uint8_t *)bytes->bytes, bytes->size, "made", &file, NULL),
		HD_OK);
	return file;
}

#define ASSERT_UNITS(got, expected)                                           \
	do {                                                                  \
		char text_[200];                                              \
		const struct gcdump_text *got_ = &(got);                      \
		(void)snprintf(text_, sizeof(text_), "%.*s", (int)got_->size, \
			       got_->bytes ? (const char *)got_->bytes : ""); \
		ASSERT_TEXT(text_, (expected));                               \
	} while (0)

TEST(sizes_over_2_gib_are_clamped_and_told)
{
	static const uint64_t sizes[] = { 0x7fffffff, 0x80000000, 0x123456789a, 24 };
	struct hd_graph *graph = graph_make(&(struct graph_spec){
		.object_count = 4, .sizes = sizes, .roots = two_roots, .root_count = 1 });
	REQUIRE(graph);
	check_nodes(graph, NULL,
		    "0 [.NET Roots] 0 0: 1\n"
		    "1 [local vars] 0 0: 2\n"
		    "2 Type0 (Bytes > 100M) 2147483647 1000:\n"
		    "3 Type0 (Bytes > 100M) 2147483647 1010:\n"
		    "4 Type0 (Bytes > 100M) 2147483647 1020:\n"
		    "5 Type0 24 1030:\n");
	struct text bytes = written(graph, NULL);
	struct gcdump file = parsed(&bytes);
	ASSERT_UINT((uint64_t)file.total_size, 3 * (uint64_t)INT32_MAX + 24);
	ASSERT_UNITS(file.about.log, "heapdump: true sizes\n"
				     "1010 80000000\n"
				     "1020 123456789a\n");
	gcdump_deinit(&file);
	text_deinit(&bytes);
	/* The file does not tell of what is left out. */
	uint64_t live = 0xb;
	bytes = written(graph, &(struct write_options){ .live = &live, .live_only = true });
	file = parsed(&bytes);
	ASSERT_UNITS(file.about.log, "heapdump: true sizes\n1010 80000000\n");
	gcdump_deinit(&file);
	text_deinit(&bytes);
	graph_destroy(graph);
}

TEST(the_file_tells_of_the_process)
{
	struct hd_graph *graph = small_graph(two_roots, 1);
	struct graph_info *info = &graph->info;
	info->process = "dotnet";
	info->machine = "b\xc3\xb6x";
	info->pid = 4711;
	info->time = 638000000000000001;
	info->ranges = pages_alloc(3, sizeof(*info->ranges));
	REQUIRE(info->ranges);
	info->range_count = 3;
	info->ranges[0] = (struct graph_range){ 0x1000, 0x1800, 2 };
	info->ranges[1] = (struct graph_range){ 0x2000, 0x2008, 4 };
	info->ranges[2] = (struct graph_range){ 0x3000, 0x3001, 99 };
	struct text bytes = written(graph, NULL);
	struct gcdump file = parsed(&bytes);
	const struct gcdump_about *about = &file.about;
	CU_ASSERT(about->is_64bit && about->has_is_64bit && about->has_tool);
	ASSERT_UNITS(about->tool, "heapdump");
	ASSERT_UNITS(about->process, "dotnet");
	ASSERT_UNITS(about->machine, "b\xc3\xb6x");
	CU_ASSERT(about->log.bytes == NULL);
	ASSERT_UINT((uint64_t)about->process_id, 4711);
	ASSERT_UINT((uint64_t)about->time, 638000000000000001);
	ASSERT_UINT(about->heap.segment_count, 3);
	ASSERT_UINT((uint64_t)about->heap.bytes, 0x800 + 8 + 1);
	const uint64_t ends[3][5] = { { 0, 0, 0x1800 }, { 0, 0, 0, 0, 0x2008 } };
	for (size_t i = 0; i < 3; i++) {
		ASSERT_UINT(about->heap.segments[i].start, info->ranges[i].start);
		ASSERT_UINT(about->heap.segments[i].end, info->ranges[i].end);
		for (size_t k = 0; k < 5; k++)
			ASSERT_UINT(about->heap.segments[i].ends[k], ends[i][k]);
	}
	gcdump_deinit(&file);
	text_deinit(&bytes);
	info->is_32bit = true;
	info->pid = (uint64_t)1 << 40; /* no room for it */
	info->time = UINT64_MAX;
	bytes = written(graph, NULL);
	file = parsed(&bytes);
	CU_ASSERT(!file.about.is_64bit);
	ASSERT_UINT((uint64_t)file.about.process_id, 0);
	ASSERT_UINT((uint64_t)file.about.time, 0);
	gcdump_deinit(&file);
	text_deinit(&bytes);
	graph_destroy(graph);
}

TEST(types_have_their_modules)
{
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .type_count = 4 });
	REQUIRE(graph);
	graph->types[0].module = graph->types[1].module = "/app/a.dll";
	graph->types[1].name = "Ns.\xe6\x96\x87<T>";
	graph->types[1].name_size = 9;
	graph->types[2].name = NULL;
	graph->types[2].id = 0xabc;
	graph->types[3].module = "";
	struct text bytes = written(graph, NULL);
	struct gcdump file = parsed(&bytes);
	ASSERT_UINT(file.type_count, 6);
	ASSERT_UNITS(file.types[0].name, "UNDEFINED");
	CU_ASSERT(!file.types[0].module.bytes);
	ASSERT_UINT((uint64_t)file.types[0].size, 0);
	ASSERT_UNITS(file.types[1].name, "Type0");
	ASSERT_UNITS(file.types[1].module, "/app/a.dll");
	ASSERT_UINT((uint64_t)file.types[1].size, (uint64_t)-1);
	ASSERT_UNITS(file.types[2].name, "Ns.\xe6\x96\x87<T>");
	ASSERT_UINT(file.types[2].name.units, 7);
	ASSERT_UNITS(file.types[2].module, "/app/a.dll");
	ASSERT_UNITS(file.types[3].name, "UNKNOWN 0xabc");
	CU_ASSERT(!file.types[3].module.bytes);
	CU_ASSERT(file.types[4].module.bytes && !file.types[4].module.units);
	ASSERT_UNITS(file.types[5].name, "[.NET Roots]");
	gcdump_deinit(&file);
	text_deinit(&bytes);
	graph_destroy(graph);
}

/* A heap's ids are asked for many at once. */
static uint64_t id_of(const void *arg, uint32_t node)
{
	(void)arg;
	return 0x1000 + (uint64_t)node * 24;
}

static void ids_of(const void *arg, uint32_t first, uint64_t *ret, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ret[i] = id_of(arg, first + (uint32_t)i);
}

TEST(ids_of_heaps_come_in_batches)
{
	enum {
		COUNT = 5000
	};
	struct hd_graph *graph = graph_make_list(COUNT);
	REQUIRE(graph);
	uint64_t *ids = graph->ids;
	graph->ids = NULL;
	graph->places.id = id_of;
	uint64_t live[COUNT / 64 + 1];
	for (size_t i = 0; i < COUNT / 64 + 1; i++)
		live[i] = i % 3 ? UINT64_MAX : 0x8000000000000001;
	live[COUNT / 64] &= ((uint64_t)1 << COUNT % 64) - 1;
	for (unsigned int i = 0; i < 2; i++) {
		const struct write_options options = { .live = live, .live_only = i };
		graph->places.ids = NULL;
		struct text one = written(graph, &options);
		graph->places.ids = ids_of;
		struct text many = written(graph, &options);
		ASSERT_UINT(many.size, one.size);
		CU_ASSERT(memcmp(many.bytes, one.bytes, one.size) == 0);
		struct gcdump file = parsed(&many);
		ASSERT_UINT(load(file.addresses + ((size_t)file.node_count - 1) * 8, 8),
			    id_of(NULL, i ? COUNT / 64 * 64 : COUNT - 1));
		gcdump_deinit(&file);
		text_deinit(&one);
		text_deinit(&many);
	}
	graph->ids = ids;
	graph->places = (struct graph_places){ 0 };
	graph_destroy(graph);
}

/* Random graphs: read back by the reader they are the same. */
static struct hd_graph *read_back(const struct text *bytes)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	const struct format_options options = { 0 };
	struct job job = { 0 };
	ASSERT_UINT_FATAL(
		gcdump_read_bytes(&(struct dump_input){ .path = "made",
							.bytes = (const uint8_t *)bytes->bytes,
							.size = bytes->size },
				  &options, &job, &graph, &err),
		HD_OK);
	REQUIRE(graph);
	return graph;
}

static void check_same(const struct hd_graph *got, const struct hd_graph *expected)
{
	ASSERT_UINT_FATAL(got->object_count, expected->object_count);
	ASSERT_UINT_FATAL(got->node_count, expected->node_count);
	ASSERT_UINT(got->forward.edge_count, expected->forward.edge_count);
	ASSERT_UINT(got->total_size, expected->total_size);
	for (uint32_t i = 0; i < got->node_count; i++)
		ASSERT_UINT(graph_id(got, i), graph_id(expected, i));
	for (uint32_t i = 0; i < got->object_count; i++) {
		ASSERT_UINT(graph_size(got, i), graph_size(expected, i));
		const struct graph_type *type = &got->types[got->node_types[i]];
		const struct graph_type *other = &expected->types[expected->node_types[i]];
		ASSERT_UINT_FATAL(type->name_size, other->name_size);
		CU_ASSERT(memcmp(type->name, other->name, type->name_size) == 0);
		uint64_t begin = csr_begin(&got->forward, i);
		uint64_t count = csr_begin(&got->forward, i + 1) - begin;
		uint64_t from = csr_begin(&expected->forward, i);
		ASSERT_UINT_FATAL(count, csr_begin(&expected->forward, i + 1) - from);
		for (uint64_t k = 0; k < count; k++)
			ASSERT_UINT(got->forward.targets[begin + k],
				    expected->forward.targets[from + k]);
	}
}

/* Strong roots of a node and kind. */
static uint32_t root_count(const struct hd_graph *graph, uint32_t node, uint8_t kind)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		count += root->node == node && root->kind == kind && !root_is_weak(root);
	}
	return count;
}

TEST(what_is_written_is_read_back)
{
	for (uint64_t seed = 1; seed < 30; seed++) {
		struct hd_graph *graph = graph_make_random(
			&(struct random_spec){ .seed = seed,
					       .object_count = 1 + (uint32_t)seed * 20,
					       .missing_count = (uint32_t)seed % 5,
					       .degree_percent = 200,
					       .root_count = (uint32_t)seed,
					       .weak_percent = 20 });
		REQUIRE(graph);
		uint64_t *live = bitmap_alloc(graph->node_count);
		REQUIRE(live);
		struct text bytes = written(graph, &(struct write_options){ .live = live });
		struct hd_graph *again = read_back(&bytes);
		check_same(again, graph);
		for (uint32_t i = 0; i < graph->root_count; i++) {
			const struct graph_root *root = &graph->roots[i];
			ASSERT_UINT(root_count(again, root->node, root->kind),
				    root_count(graph, root->node, root->kind));
		}
		bitmap_free(live, graph->node_count);
		graph_destroy(again);
		graph_destroy(graph);
		text_deinit(&bytes);
	}
}

/* A type of large objects only, two types of one name, and names that end like those of a class. */
static struct hd_graph *large_objects(void)
{
	static const uint64_t sizes[] = { 1000,  1001,  9999,  10000,     99999,     100000,
					  10000, 24,    10000, 100000000, 999999999, 2000,
					  24,    12345, 1000,  2500,      5000000000 };
	static const uint32_t types[] = { 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 3, 4, 5, 5, 5, 5 };
	static const char *const names[] = {
		"B[]", "B[]", "B[]", "\xe6\x96\x87", "X (Bytes > 1K)", "X (Bytes > 10K)"
	};
	struct hd_graph *graph = graph_make(&(struct graph_spec){ .object_count = 17,
								  .type_count = 6,
								  .sizes = sizes,
								  .types = types,
								  .roots = two_roots,
								  .root_count = 1 });
	REQUIRE(graph);
	for (uint32_t i = 0; i < 6; i++) {
		graph->types[i].name = names[i];
		graph->types[i].name_size = (uint32_t)strlen(names[i]);
	}
	graph->types[1].module = "b.dll";
	return graph;
}

TEST(large_objects_have_types_of_their_own)
{
	struct hd_graph *graph = large_objects();
	check_nodes(graph, NULL,
		    "0 [.NET Roots] 0 0: 1\n"
		    "1 [local vars] 0 0: 2\n"
		    "2 B[] 1000 1000:\n"
		    "3 B[] (Bytes > 1K) 1001 1010:\n"
		    "4 B[] (Bytes > 1K) 9999 1020:\n"
		    "5 B[] (Bytes > 10K) 10000 1030:\n"
		    "6 B[] (Bytes > 10K) 99999 1040:\n"
		    "7 B[] (Bytes > 100K) 100000 1050:\n"
		    "8 B[] (Bytes > 10K) 10000 1060:\n"
		    "9 B[] 24 1070:\n"
		    "10 B[] (Bytes > 10K) 10000 1080:\n"
		    "11 B[] (Bytes > 100M) 100000000 1090:\n"
		    "12 B[] (Bytes > 100M) 999999999 10a0:\n"
		    "13 \xe6\x96\x87 (Bytes > 1K) 2000 10b0:\n"
		    "14 X (Bytes > 1K) 24 10c0:\n"
		    "15 X (Bytes > 10K) (Bytes > 10K) 12345 10d0:\n"
		    "16 X (Bytes > 10K) 1000 10e0:\n"
		    "17 X (Bytes > 10K) (Bytes > 1K) 2500 10f0:\n"
		    "18 X (Bytes > 10K) (Bytes > 100M) 2147483647 1100:\n");
	graph_destroy(graph);
}

TEST(types_of_large_objects_are_joined_again)
{
	struct hd_graph *graph = large_objects();
	struct text bytes = written(graph, NULL);
	struct hd_graph *again = read_back(&bytes);
	check_same(again, graph);
	ASSERT_UINT(again->type_count, graph->type_count);
	for (uint32_t i = 0; i < graph->object_count; i++)
		ASSERT_UINT(again->node_types[i], graph->node_types[i]);
	graph_destroy(again);
	graph_destroy(graph);
	text_deinit(&bytes);
}

TEST(the_writer_stops_when_nobody_takes_more)
{
	check_refused_pieces_of_list(gcdump_write, 100000, 3);
}

TEST(writing_can_be_cancelled)
{
	check_cancelling_of_list(gcdump_write, 200000, 7);
}

TEST(each_failed_allocation_is_reported)
{
	static const uint64_t sizes[] = { 24, 0x80000000, 24, 24 };
	static const struct graph_root roots[] = {
		{ .node = 0, .container = 0, .kind = HD_ROOT_STATIC },
		{ .node = 1, .container = HD_NONE, .kind = HD_ROOT_FINALIZER },
	};
	struct hd_graph *graph = graph_make(&(struct graph_spec){
		.object_count = 4, .sizes = sizes, .roots = roots, .root_count = 2 });
	REQUIRE(graph);
	graph->types[0].name = NULL;
	graph->info.process = "\xff";
	uint64_t live = 0x3;
	for (unsigned int live_only = 0; live_only < 2; live_only++) {
		const struct write_options options = { .live = &live, .live_only = live_only };
		const struct graph_writing what = { gcdump_write, graph, &options };
		check_failed_allocations(&(struct writing){ write_graph, &what }, 11);
	}
	graph_destroy(graph);
}

SUITE(.name = "gcdump write")
