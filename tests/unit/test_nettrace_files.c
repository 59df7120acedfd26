/* SPDX-License-Identifier: MIT */
/* Traces of a real process, beside which lies what another reader found in them. */
#include <jansson.h>
#include <unistd.h>

#include "format/nettrace/nettrace.h"
#include "format/nettrace/nettrace_heap.h"
#include "mem/mapped_file.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/nettrace_graph.h"
#include "support/suite.h"
#include "support/turns.h"
#include "util/alloc.h"

static struct text source_file(const char *name)
{
	char path[128];
	(void)snprintf(path, sizeof(path), "tests/data/%s", name);
	return dump_source_file(path);
}

static json_t *expected_of(const char *name)
{
	char path[128];
	(void)snprintf(path, sizeof(path), "%s/tests/data/%s.expected.json", HD_SOURCE_DIR, name);
	json_t *json = json_load_file(path, 0, NULL);
	REQUIRE(json);
	return json;
}

static struct hd_graph *read_file(const char *name, bool exact)
{
	struct text file = source_file(name);
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	(void)read_trace(file.bytes, file.size, &(struct format_options){ .exact = exact }, &graph,
			 &err);
	ASSERT_TEXT(err.message, "");
	REQUIRE(graph);
	text_deinit(&file);
	return graph;
}

static uint64_t number(const json_t *json, const char *object, const char *key)
{
	const json_t *value = json_object_get(json_object_get(json, object), key);
	return value ? (uint64_t)json_integer_value(value) : 0;
}

static bool append(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

static void check_exact(const char *name)
{
	struct text trace = source_file(name), expected = source_file("small300.gcdump");
	struct text got = { 0 };
	struct hd_error err = { 0 };
	const struct mapped_file file = { .bytes = (const uint8_t *)trace.bytes,
					  .size = trace.size };
	ASSERT_UINT(nettrace_to_gcdump(&(struct dump_input){ .path = name,
							     .bytes = file.bytes,
							     .size = file.size },
				       NULL, NULL, append, &got, &err),
		    HD_OK);
	ASSERT_UINT_FATAL(got.size, expected.size);
	CU_ASSERT(memcmp(got.bytes, expected.bytes, got.size) == 0);
	text_deinit(&trace);
	text_deinit(&expected);
	text_deinit(&got);
}

TEST(converts_to_the_bytes_that_dotnet_gcdump_writes)
{
	check_exact("small300.nettrace");
	check_exact("small300_v6.nettrace");
}

static const char *provider_name(enum nt_provider provider)
{
	return provider == NT_RUNTIME   ? "Microsoft-Windows-DotNETRuntime"
	       : provider == NT_RUNDOWN ? "Microsoft-Windows-DotNETRuntimeRundown"
					: "Microsoft-DotNETCore-EventPipe";
}

/* Events of each kind, and nothing beyond. */
static void check_events(const struct nt_stream *stream, const json_t *events)
{
	uint64_t total = 0, expected_total = 0;
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)events, key, value) expected_total +=
		strcmp(key, "SP") ? (uint64_t)json_integer_value(value) : 0;
	for (size_t i = 0; i < stream->metadata.rows_count; i++) {
		const struct nt_metadata *row = &stream->metadata.rows[i];
		uint64_t count = 0;
		for (size_t k = 0; k < stream->metadata.rows_count; k++) {
			const struct nt_metadata *same = &stream->metadata.rows[k];
			if (same->provider == row->provider && same->event == row->event &&
			    same->version == row->version)
				count += same->count;
		}
		total += row->count;
		if (row->provider == NT_OTHER || !row->count)
			continue;
		char name[128];
		(void)snprintf(name, sizeof(name), "%s/%u/v%u", provider_name(row->provider),
			       row->event, row->version);
		ASSERT_UINT(count, (uint64_t)json_integer_value(json_object_get(events, name)));
	}
	ASSERT_UINT(total, expected_total);
	ASSERT_UINT(stream->interval, (uint64_t)json_integer_value(json_object_get(events, "SP")));
}

static void check_container(const char *name, uint32_t version)
{
	struct text file = source_file(name);
	json_t *expected = expected_of(name);
	struct nt_trace trace;
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(
		nt_trace_read((const uint8_t *)file.bytes, file.size, name, NULL, &trace, &err),
		HD_OK);
	const struct nt_stream *stream = &trace.stream;
	ASSERT_UINT(stream->version, version);
	ASSERT_UINT(stream->about.pid, number(expected, "trace", "pid"));
	ASSERT_UINT(stream->about.sync_time, number(expected, "trace", "qpc"));
	ASSERT_UINT(stream->about.frequency, number(expected, "trace", "freq"));
	ASSERT_UINT(stream->about.pointer_size, number(expected, "trace", "ptr"));
	for (size_t i = 0; i < 8; i++) {
		ASSERT_UINT(
			stream->about.time[i],
			(uint64_t)json_integer_value(json_array_get(
				json_object_get(json_object_get(expected, "trace"), "time"), i)));
	}
	CU_ASSERT(stream->outcome.is_complete);
	CU_ASSERT_PTR_NULL(stream->outcome.stopped);
	ASSERT_UINT(stream->outcome.lost + stream->outcome.damaged + stream->outcome.unknown, 0);
	check_events(stream, json_object_get(expected, "events"));
	ASSERT_UINT(stream->outcome.blocks[NT_EVENTS],
		    number(expected, "objects", version == 4 ? "obj EventBlock" : "blk 2"));
	ASSERT_UINT(stream->outcome.blocks[NT_METADATA],
		    number(expected, "objects", version == 4 ? "obj MetadataBlock" : "blk 3"));
	ASSERT_UINT(trace.snapshots_count, 1);
	nt_trace_deinit(&trace);
	json_decref(expected);
	text_deinit(&file);
}

TEST(the_container_has_the_events_that_are_expected)
{
	check_container("small300.nettrace", 4);
	check_container("small300_v6.nettrace", 6);
}

static const struct graph_type *find_type(const struct hd_graph *graph, const char *name,
					  const char *module)
{
	for (uint32_t i = 0; i < graph->type_count; i++) {
		const struct graph_type *type = &graph->types[i];
		if (strcmp(type->module ? type->module : "", module ? module : "") == 0 &&
		    type->name_size == strlen(name) &&
		    memcmp(type->name, name, type->name_size) == 0)
			return type;
	}
	return NULL;
}

TEST(the_exact_graph_has_the_types_that_are_expected)
{
	struct hd_graph *graph = read_file("small300.nettrace", true);
	json_t *expected = expected_of("small300.nettrace");
	const json_t *types = json_object_get(expected, "per_type");
	size_t compared = 0;
	for (size_t i = 0; i < json_array_size(types); i++) {
		const json_t *row = json_array_get(types, i);
		const char *name = json_string_value(json_object_get(row, "name"));
		uint64_t total = (uint64_t)json_integer_value(json_object_get(row, "total"));
		if (!total)
			continue; /* of the tree of roots */
		const struct graph_type *type =
			find_type(graph, name, json_string_value(json_object_get(row, "module")));
		REQUIRE(type);
		ASSERT_UINT(type->count,
			    (uint64_t)json_integer_value(json_object_get(row, "count")));
		ASSERT_UINT(type->size, total);
		compared++;
	}
	CU_ASSERT(compared > 90);
	json_decref(expected);
	graph_destroy(graph);
}

TEST(the_exact_graph_tells_what_the_trace_does)
{
	struct hd_graph *exact = read_file("small300.nettrace", true);
	struct hd_graph *graph = read_file("small300.nettrace", false);
	ASSERT_TEXT(exact->info.process, "heapapp");
	ASSERT_TEXT(exact->info.command, graph->info.command);
	CU_ASSERT_PTR_NULL(exact->info.tool);
	ASSERT_UINT(exact->info.pid, graph->info.pid);
	CU_ASSERT(exact->info.time != 0);
	ASSERT_UINT(exact->info.time, graph->info.time);
	CU_ASSERT(!exact->info.is_partial);
	graph_destroy(exact);
	graph_destroy(graph);
}

static uint64_t roots_of(const struct hd_graph *graph, enum hd_root_kind kind, uint8_t flags,
			 enum graph_handle handle)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		count += graph->roots[i].kind == kind && graph->roots[i].flags == flags &&
			 graph->origins.details[i].handle == handle;
	}
	return count;
}

static void check_graph(const char *name)
{
	struct hd_graph *graph = read_file(name, false);
	json_t *expected = expected_of(name);
	uint64_t pairs = number(expected, "builder", "cwt");
	ASSERT_UINT(graph->object_count, number(expected, "builder", "objects"));
	ASSERT_UINT(graph->node_count, graph->object_count);
	ASSERT_UINT(graph->total_size, number(expected, "builder", "bytes"));
	ASSERT_UINT(graph->forward.edge_count, number(expected, "builder", "edges") + pairs);
	ASSERT_UINT(roots_of(graph, HD_ROOT_STACK, 0, GRAPH_HANDLE_NONE),
		    number(expected, "builder", "root kind0 flags0"));
	ASSERT_UINT(roots_of(graph, HD_ROOT_FINALIZER, 0, GRAPH_HANDLE_NONE),
		    number(expected, "builder", "root kind1 flags0"));
	ASSERT_UINT(roots_of(graph, HD_ROOT_HANDLE, 0, GRAPH_HANDLE_STRONG),
		    number(expected, "builder", "root kind2 flags0"));
	ASSERT_UINT(roots_of(graph, HD_ROOT_HANDLE, HD_ROOT_PINNED, GRAPH_HANDLE_PINNED),
		    number(expected, "builder", "root kind2 flags1"));
	ASSERT_UINT(roots_of(graph, HD_ROOT_HANDLE, HD_ROOT_WEAK, GRAPH_HANDLE_NONE),
		    number(expected, "builder", "root kind2 flags2"));
	ASSERT_UINT(roots_of(graph, HD_ROOT_STATIC, 0, GRAPH_HANDLE_NONE),
		    number(expected, "builder", "static flags0"));
	ASSERT_UINT(graph->info.pid, number(expected, "trace", "pid"));
	ASSERT_TEXT(graph->info.process, "heapapp");
	ASSERT_TEXT(graph->info.command, "/opt/example-org/srcs/build/app/out/heapapp "
					 "/opt/example-org/services/leaky/bin/heapapp.dll "
					 "300 3000");
	CU_ASSERT(!graph->info.is_partial && !graph->info.is_32bit);
	ASSERT_UINT(graph->findings.count, 0);
	json_decref(expected);
	graph_destroy(graph);
}

TEST(the_graph_has_the_objects_and_roots_that_are_expected)
{
	check_graph("small300.nettrace");
	check_graph("small300_v6.nettrace");
}

TEST(version_6_gives_the_graph_of_version_4)
{
	struct hd_graph *four = read_file("small300.nettrace", false);
	struct hd_graph *six = read_file("small300_v6.nettrace", false);
	ASSERT_GRAPH(six, four, GRAPH_EXACT);
	graph_destroy(four);
	graph_destroy(six);
}

/* Cut the file, and read what is left of it. */
static bool check_cut(int fd, size_t size, const struct hd_graph *whole, bool exact)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	const struct format_options options = { .exact = exact, .no_files = true };
	CU_ASSERT_FATAL(ftruncate(fd, (off_t)size) == 0);
	enum hd_status status =
		nettrace_read(&(struct dump_input){ .path = "trace", .fd = fd, .size = size },
			      &options, NULL, &graph, &err);
	if (status != HD_OK) {
		ASSERT_UINT(status, HD_ERR_FORMAT);
		CU_ASSERT(err.message[0]);
		return false;
	}
	CU_ASSERT(graph->object_count <= whole->object_count);
	if (!exact && graph->object_count < whole->object_count)
		CU_ASSERT(graph->info.is_partial);
	REQUIRE(dump_finding(graph, "truncated"));
	uint32_t wrong = 0;
	for (uint32_t i = 0; i < graph->object_count; i++) {
		uint32_t node = hd_graph_find(whole, graph_id(graph, i));
		wrong += node >= whole->object_count ||
			 csr_degree(&graph->forward, i) > csr_degree(&whole->forward, node);
	}
	ASSERT_UINT(wrong, 0);
	graph_destroy(graph);
	return true;
}

static void check_cuts(const char *name)
{
	struct text text = source_file(name);
	struct hd_graph *whole = read_file(name, false);
	struct dump_file file;
	dump_file_make(&file, text.bytes, text.size);
	/* The last byte is not needed, although dotnet-gcdump does not do without. */
	CU_ASSERT(check_cut(file.fd, text.size - 1, whole, true));
	size_t good = 0, exact = 0;
	/* The seed says which. */
	const size_t step = turn_step(share_of(29, 97));
	for (size_t size = text.size - 1 - first_turn((unsigned int)step); size >= step;) {
		size -= step;
		good += check_cut(file.fd, size, whole, false);
		exact += check_cut(file.fd, size, whole, true);
	}
	CU_ASSERT(good > 700 / step);
	CU_ASSERT(exact > 700 / step && exact <= good);
	dump_file_close(&file);
	graph_destroy(whole);
	text_deinit(&text);
}

TEST(a_trace_cut_anywhere_gives_what_is_there)
{
	check_cuts("small300.nettrace");
	check_cuts("small300_v6.nettrace");
}

TEST(any_byte_may_be_damaged)
{
	struct text file = source_file("small300.nettrace");
	/* Half of them, with sanitizers a quarter; the seed says which. */
	for (size_t at = 0; at < file.size; at += at < 1000 ? 1 : 61) {
		if (!is_turn(at, share_of(2, 4)))
			continue;
		for (int bit = 0; bit < 8; bit += 7) {
			file.bytes[at] = (char)(file.bytes[at] ^ 1 << bit);
			for (int exact = 0; exact < 2; exact++) {
				struct hd_graph *graph = NULL;
				struct hd_error err = { 0 };
				const struct format_options options = { .exact = exact,
									.no_files = true };
				if (read_trace(file.bytes, file.size, &options, &graph, &err) ==
				    HD_OK)
					graph_destroy(graph);
				else
					CU_ASSERT(err.message[0]);
			}
			file.bytes[at] = (char)(file.bytes[at] ^ 1 << bit);
		}
	}
	text_deinit(&file);
}

TEST(memory_may_run_out_anywhere)
{
	struct text file = source_file("small300.nettrace");
	for (int exact = 0; exact < 2; exact++) {
		const struct format_options options = { .exact = exact, .no_files = true };
		enum hd_status status = HD_ERR_NOMEM;
		const unsigned int share = share_of(2, 4);
		for (uint64_t nth = 1 + first_turn(share); status != HD_OK;
		     nth += (nth < 300 ? 1 : 7) * turn_step(share)) {
			struct hd_graph *graph = NULL;
			struct hd_error err = { 0 };
			alloc_fail_at(nth);
			status = read_trace(file.bytes, file.size, &options, &graph, &err);
			alloc_fail_at(0);
			if (status == HD_OK)
				graph_destroy(graph);
			else
				ASSERT_UINT_FATAL(status, HD_ERR_NOMEM);
		}
	}
	text_deinit(&file);
}

SUITE(.name = "nettrace_files")
