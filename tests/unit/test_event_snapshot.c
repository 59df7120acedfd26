/* SPDX-License-Identifier: MIT */
/* <heapdump/snapshot.h>: what single events become, against what the reader makes of the trace that has them. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <heapdump/heapdump.h>

#include "format/nettrace/nettrace.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/event_player.h"
#include "support/exported.h"
#include "support/nettrace_graph.h"
#include "support/newer.h"
#include "support/suite.h"
#include "support/turns.h"
#include "util/alloc.h"

#define GC_START     1u
#define GC_END       2u
#define BULK_ROOTS   16u
#define BULK_NODES   18u
#define BULK_EDGES   19u
#define ONE_MEGABYTE ((uint64_t)1 << 20)

static struct text trace;
static struct event_list events;

static void set_up(void)
{
	trace = dump_source_file("tests/data/small300.nettrace");
	event_list_read(&events, trace.bytes, trace.size);
}

static void tear_down(void)
{
	event_list_deinit(&events);
	text_deinit(&trace);
}

static int take(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return 0;
}

static struct hd_sink sink_to(struct text *text)
{
	return (struct hd_sink){
		.struct_size = sizeof(struct hd_sink), .arg = text, .write = take, .binary = 1
	};
}

static struct hd_snapshot *snapshot_with(uint64_t max_memory)
{
	const struct hd_snapshot_options options = { .struct_size = sizeof(options),
						     .max_memory = max_memory,
						     .process = 77,
						     .no_files = 1,
						     .keep_trace = 1 };
	struct hd_snapshot *snapshot = NULL;
	(void)!hd_snapshot_create(&options, &snapshot, NULL);
	REQUIRE(snapshot);
	return snapshot;
}

static struct hd_snapshot_state state_of(struct hd_snapshot *snapshot)
{
	struct hd_snapshot_state state = { .struct_size = sizeof(state) };
	CU_ASSERT_EQUAL(hd_snapshot_state(snapshot, &state), 0);
	return state;
}

static struct text written(struct hd_snapshot *snapshot, const char *format)
{
	struct text text = { 0 };
	struct hd_error err = { 0 };
	const struct hd_sink sink = sink_to(&text);
	ASSERT_UINT(hd_snapshot_finish(snapshot, NULL, format, &sink, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
	return text;
}

/* Finish it as a text log, and look at what it has. */
static struct hd_snapshot_state finished(struct hd_snapshot *snapshot)
{
	struct text text = written(snapshot, "rpm");
	text_deinit(&text);
	return state_of(snapshot);
}

static struct hd_graph *graph_of_file(const char *bytes, size_t size)
{
	struct hd_graph *graph = NULL;
	(void)!read_trace(bytes, size, &(struct format_options){ .no_files = true }, &graph, NULL);
	REQUIRE(graph);
	return graph;
}

TEST(events_become_the_graph_that_the_reader_makes_of_their_trace)
{
	struct hd_graph *expected = graph_of_file(trace.bytes, trace.size);
	struct hd_snapshot *snapshot = snapshot_with(0);
	ASSERT_UINT(state_of(snapshot).has_started, 0);
	CU_ASSERT_PTR_NULL(hd_snapshot_session(snapshot));
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	struct hd_snapshot_state state = state_of(snapshot);
	CU_ASSERT(state.has_started && state.has_ended && !state.is_complete && state.memory);
	state = finished(snapshot);
	ASSERT_UINT(state.is_complete, 1);
	ASSERT_UINT(state.objects, 1112);
	ASSERT_UINT(state.references, expected->forward.edge_count);
	ASSERT_UINT(state.roots, expected->root_count);
	ASSERT_UINT(state.lost + state.strays + state.ignored, 0);
	const struct hd_graph *graph = hd_session_graph(hd_snapshot_session(snapshot));
	REQUIRE(graph);
	ASSERT_GRAPH(graph, expected, GRAPH_EXACT);
	ASSERT_UINT(graph->info.pid, 77);
	hd_snapshot_destroy(snapshot);
	graph_destroy(expected);
}

TEST(all_formats_are_those_of_the_exporters)
{
	static const char *const formats[] = { "rpm", "gcdump", "heapsnapshot", "folded",
					       "speedscope" };
	struct hd_graph *expected = graph_of_file(trace.bytes, trace.size);
	struct hd_snapshot *snapshot = snapshot_with(0);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct text text = written(snapshot, formats[i]), again = { 0 };
		const struct hd_sink sink = sink_to(&again);
		const char *const words[] = { "export", "-", "-format", formats[i] };
		ASSERT_UINT((unsigned int)hd_command_run(hd_snapshot_session(snapshot), 4, words,
							 &sink, NULL),
			    HD_EXIT_OK);
		CU_ASSERT(text.size > 1000);
		ASSERT_UINT(text.size, again.size);
		CU_ASSERT(text.size == again.size && !memcmp(text.bytes, again.bytes, text.size));
		text_deinit(&text);
		text_deinit(&again);
	}
	struct text log = dump_written(expected), ours = written(snapshot, "rpm");
	/* The first line has the name of the process, which the events do not tell. */
	const char *rest = strchr(log.bytes, '\n'), *own = strchr(ours.bytes, '\n');
	REQUIRE(rest && own ? log.bytes : NULL);
	/* Nor does its last one, which has the time. */
	const char *end = strstr(rest, "\nc ");
	REQUIRE(end);
	CU_ASSERT(!strncmp(own, rest, (size_t)(end - rest)));
	text_deinit(&log);
	text_deinit(&ours);
	hd_snapshot_destroy(snapshot);
	graph_destroy(expected);
}

TEST(the_trace_that_is_written_has_the_same_snapshot)
{
	struct hd_graph *expected = graph_of_file(trace.bytes, trace.size);
	struct hd_snapshot *snapshot = snapshot_with(0);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	struct text text = written(snapshot, "nettrace");
	struct hd_graph *graph = graph_of_file(text.bytes, text.size);
	ASSERT_GRAPH(graph, expected, GRAPH_EXACT);
	ASSERT_UINT(graph->info.pid, 77);
	ASSERT_UINT(graph->findings.count, expected->findings.count);
	struct event_list again;
	event_list_read(&again, text.bytes, text.size);
	CU_ASSERT(again.stream.outcome.is_complete);
	ASSERT_UINT(again.stream.outcome.lost + again.stream.outcome.damaged +
			    again.stream.outcome.unknown,
		    0);
	event_list_deinit(&again);
	text_deinit(&text);
	graph_destroy(graph);
	graph_destroy(expected);
	hd_snapshot_destroy(snapshot);
}

TEST(a_trace_that_would_not_be_whole_is_refused)
{
	struct text text = { 0 };
	const struct hd_sink sink = sink_to(&text);
	struct hd_snapshot *snapshot = snapshot_with(0);
	for (size_t i = 0; i < events.count; i++) {
		struct hd_snapshot_event event = events.rows[i];
		event.metadata = event.id == BULK_EDGES ? NULL : event.metadata;
		ASSERT_UINT(hd_snapshot_event(snapshot, &event, NULL), HD_OK);
	}
	ASSERT_UINT(hd_snapshot_finish(snapshot, NULL, "nettrace", &sink, NULL),
		    HD_ERR_UNSUPPORTED);
	ASSERT_UINT(finished(snapshot).is_complete, 1);
	hd_snapshot_destroy(snapshot);
	snapshot = snapshot_with(0);
	hd_snapshot_lost(snapshot, 3);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	ASSERT_UINT(hd_snapshot_finish(snapshot, NULL, "nettrace", &sink, NULL),
		    HD_ERR_UNSUPPORTED);
	struct hd_snapshot_state state = finished(snapshot);
	ASSERT_UINT(state.is_complete, 0);
	ASSERT_UINT(state.lost, 3);
	hd_snapshot_destroy(snapshot);
	ASSERT_UINT(text.size, 0);
	text_deinit(&text);
}

TEST(no_event_of_the_collection_may_be_missing)
{
	static const uint32_t ids[] = { GC_START, GC_END, BULK_NODES, BULK_EDGES };
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct hd_snapshot *snapshot = snapshot_with(0);
		size_t at = event_list_find(&events, 0, ids[i]);
		ASSERT_UINT(event_list_play(&events, 0, at, snapshot), HD_OK);
		ASSERT_UINT(event_list_play(&events, at + 1, events.count, snapshot), HD_OK);
		struct text text = { 0 };
		const struct hd_sink sink = sink_to(&text);
		enum hd_status status = hd_snapshot_finish(snapshot, NULL, "rpm", &sink, NULL);
		ASSERT_UINT(status, ids[i] == BULK_NODES ? HD_ERR_FORMAT : HD_OK);
		ASSERT_UINT(state_of(snapshot).is_complete, 0);
		text_deinit(&text);
		hd_snapshot_destroy(snapshot);
	}
}

TEST(a_reference_to_nothing_is_no_missing_event)
{
	struct hd_snapshot *snapshot = snapshot_with(0);
	for (size_t i = 0; i < events.count; i++) {
		struct hd_snapshot_event event = events.rows[i];
		HD_FREE uint8_t *payload = mem_alloc(event.size + 1, 1);
		REQUIRE(payload);
		if (event.size)
			memcpy(payload, event.payload, event.size);
		/* The target of the first reference. */
		if (event.id == BULK_EDGES && event.size > 18)
			memset(payload + 10, 0x11, 8);
		event.payload = payload;
		ASSERT_UINT(hd_snapshot_event(snapshot, &event, NULL), HD_OK);
	}
	struct hd_snapshot_state state = finished(snapshot);
	const struct hd_graph *graph = hd_session_graph(hd_snapshot_session(snapshot));
	REQUIRE(graph);
	ASSERT_UINT(graph->findings.count, 1);
	ASSERT_UINT(graph->findings.rows[0].kind, FINDING_UNRESOLVED_REFERENCE);
	ASSERT_UINT(state.objects, 1112);
	ASSERT_UINT(state.is_complete, 1);
	hd_snapshot_destroy(snapshot);
}

TEST(events_outside_of_their_collection_are_told)
{
	for (unsigned int late = 0; late < 2; late++) {
		struct hd_snapshot *snapshot = snapshot_with(0);
		size_t begin = event_list_find(&events, 0, GC_START);
		size_t end = event_list_find(&events, 0, GC_END) + 1;
		size_t at = event_list_find(&events, 0, BULK_ROOTS);
		if (!late)
			ASSERT_UINT(event_list_play(&events, at, at + 1, snapshot), HD_OK);
		ASSERT_UINT(event_list_play(&events, begin, at, snapshot), HD_OK);
		ASSERT_UINT(event_list_play(&events, at + 1, end, snapshot), HD_OK);
		if (late)
			ASSERT_UINT(event_list_play(&events, at, at + 1, snapshot), HD_OK);
		struct hd_snapshot_state state = finished(snapshot);
		ASSERT_UINT(state.strays, 1);
		ASSERT_UINT(state.objects, 1112);
		ASSERT_UINT(state.is_complete, 0);
		hd_snapshot_destroy(snapshot);
	}
}

TEST(the_rest_of_an_earlier_collection_is_left_out)
{
	struct hd_snapshot *snapshot = snapshot_with(0);
	size_t roots = event_list_find(&events, 0, BULK_EDGES);
	size_t end = event_list_find(&events, 0, GC_END) + 1;
	ASSERT_UINT(event_list_play(&events, roots, end, snapshot), HD_OK);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	struct hd_snapshot_state state = finished(snapshot);
	ASSERT_UINT(state.is_complete, 1);
	CU_ASSERT(state.ignored > 0);
	struct hd_graph *expected = graph_of_file(trace.bytes, trace.size);
	ASSERT_GRAPH(hd_session_graph(hd_snapshot_session(snapshot)), expected, GRAPH_CONTENT);
	graph_destroy(expected);
	hd_snapshot_destroy(snapshot);
}

TEST(only_one_of_two_collections_is_taken)
{
	static const struct nt_node more[] = { { 0x2000, 24, 0x100, 0 } };
	for (unsigned int cut = 0; cut < 2; cut++) {
		struct nettrace_maker maker = { .version = 4, .pointer_size = 8 };
		nettrace_begin(&maker);
		nettrace_type(&maker, 0x100, MODULE, 0x2000002, 0, "A");
		nettrace_gc_start(&maker, 1); /* sends no objects */
		nettrace_gc_end(&maker, 1);
		nettrace_gc_start(&maker, 2);
		nettrace_nodes(&maker, 0, more, 1);
		if (!cut)
			nettrace_gc_end(&maker, 2);
		nettrace_gc_start(&maker, 3);
		nettrace_gc_end(&maker, 3);
		put_snapshot(&maker, 4);
		nettrace_end(&maker);
		struct event_list list;
		event_list_read(&list, maker.file.bytes, maker.file.size);
		struct hd_snapshot *snapshot = snapshot_with(0);
		ASSERT_UINT(event_list_play(&list, 0, list.count, snapshot), HD_OK);
		struct hd_snapshot_state state = finished(snapshot);
		ASSERT_UINT(state.objects, cut ? 2 : 1);
		ASSERT_UINT(state.references, cut ? 3 : 0);
		ASSERT_UINT(state.roots, cut);
		ASSERT_UINT(state.is_complete, 1);
		hd_snapshot_destroy(snapshot);
		event_list_deinit(&list);
		nettrace_deinit(&maker);
	}
}

/* Until a collection has ended, one that was cut is what there is. */
TEST(a_collection_that_was_cut_stays_until_another_has_objects)
{
	struct hd_snapshot *snapshot = snapshot_with(0);
	size_t end = event_list_find(&events, 0, GC_END);
	ASSERT_UINT(event_list_play(&events, 0, end, snapshot), HD_OK);
	size_t begin = event_list_find(&events, 0, GC_START);
	ASSERT_UINT(event_list_play(&events, begin, begin + 1, snapshot), HD_OK);
	struct hd_snapshot_state state = state_of(snapshot);
	CU_ASSERT(state.has_started && !state.has_ended);
	state = finished(snapshot);
	ASSERT_UINT(state.objects, 1112);
	ASSERT_UINT(state.is_complete, 0);
	hd_snapshot_destroy(snapshot);
}

TEST(memory_stays_under_its_limit)
{
	struct hd_snapshot *snapshot = snapshot_with(3 * ONE_MEGABYTE);
	size_t at = event_list_find(&events, 0, BULK_NODES);
	uint64_t before = alloc_live();
	ASSERT_UINT(event_list_play(&events, 0, at + 1, snapshot), HD_OK);
	for (unsigned int i = 0; i < 100; i++)
		(void)event_list_play(&events, at + 1, at + 2, snapshot);
	struct hd_snapshot_state state = state_of(snapshot);
	CU_ASSERT(state.memory <= 3 * ONE_MEGABYTE);
	CU_ASSERT(alloc_live() - before <= 3 * ONE_MEGABYTE + 64 * ONE_MEGABYTE / 1024);
	hd_snapshot_destroy(snapshot);
	snapshot = snapshot_with(3 * ONE_MEGABYTE);
	struct hd_snapshot_event event = events.rows[at];
	char *large = calloc(1, 3 * ONE_MEGABYTE);
	REQUIRE(large);
	event.payload = large;
	event.size = 3 * ONE_MEGABYTE;
	ASSERT_UINT(hd_snapshot_event(snapshot, &event, NULL), HD_ERR_NOMEM);
	event.size = 17 * ONE_MEGABYTE;
	ASSERT_UINT(hd_snapshot_event(snapshot, &event, NULL), HD_ERR_NOMEM);
	free(large);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	state = finished(snapshot);
	ASSERT_UINT(state.lost, 2);
	ASSERT_UINT(state.is_complete, 0);
	ASSERT_UINT(state.objects, 1112);
	hd_snapshot_destroy(snapshot);
}

TEST(events_after_the_finish_are_dropped)
{
	struct hd_snapshot *snapshot = snapshot_with(0);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	(void)finished(snapshot);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	ASSERT_UINT(finished(snapshot).ignored, events.count);
	hd_snapshot_destroy(snapshot);
}

/* A thread that plays everything but the collection, again and again. */
static void *play_types(void *arg)
{
	struct hd_snapshot *snapshot = arg;
	for (unsigned int round = 0; round < 20; round++) {
		for (size_t i = 0; i < events.count; i++) {
			if (events.rows[i].id == 15 || events.rows[i].id > 100)
				(void)!hd_snapshot_event(snapshot, &events.rows[i], NULL);
			(void)state_of(snapshot);
		}
	}
	return NULL;
}

TEST(threads_may_give_events_at_the_same_time)
{
	struct hd_snapshot *snapshot = snapshot_with(0);
	pthread_t threads[3];
	for (size_t i = 0; i < 3; i++)
		ASSERT_UINT((unsigned int)pthread_create(&threads[i], NULL, play_types, snapshot),
			    0);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	for (size_t i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
	struct hd_snapshot_state state = finished(snapshot);
	ASSERT_UINT(state.objects, 1112);
	ASSERT_UINT(state.is_complete, 1);
	hd_snapshot_destroy(snapshot);
}

TEST(a_file_has_the_format_of_its_ending)
{
	char path[] = "/tmp/event_snapshot_XXXXXX.gcdump";
	int fd = mkstemps(path, 7);
	CU_ASSERT(fd >= 0);
	struct hd_snapshot *snapshot = snapshot_with(0);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	ASSERT_UINT(hd_snapshot_finish(snapshot, path, NULL, NULL, NULL), HD_OK);
	struct hd_graph *graph = NULL;
	ASSERT_UINT(format_open(path, NULL, NULL, &graph, NULL, NULL), HD_OK);
	REQUIRE(graph);
	ASSERT_UINT(graph->object_count, 1112);
	graph_destroy(graph);
	struct hd_error err;
	ASSERT_UINT(hd_snapshot_finish(snapshot, "/tmp", "rpm", NULL, &err), HD_ERR_OS);
	ASSERT_UINT(hd_snapshot_finish(snapshot, "/dev/full", "rpm", NULL, &err), HD_ERR_OS);
	hd_snapshot_destroy(snapshot);
	(void)unlink(path);
	(void)close(fd);
}

/* Everything with the allocation failing from the @p nth on; false once none is left to fail. */
static bool fails_well(uint64_t nth)
{
	const struct hd_snapshot_options options = { .struct_size = sizeof(options),
						     .no_files = 1,
						     .keep_trace = 1 };
	struct hd_snapshot *snapshot = NULL;
	struct text text = { 0 };
	const struct hd_sink sink = sink_to(&text);
	struct hd_error err = { 0 };
	alloc_fail_at(nth);
	enum hd_status status = hd_snapshot_create(&options, &snapshot, &err);
	if (status == HD_OK) {
		status = event_list_play(&events, 0, events.count, snapshot);
		CU_ASSERT((status == HD_OK) == !state_of(snapshot).lost);
		enum hd_status end = hd_snapshot_finish(snapshot, NULL, "gcdump", &sink, &err);
		/* If every event of the objects is lost, there is nothing to write. */
		CU_ASSERT(end == HD_OK || end == HD_ERR_NOMEM || end == HD_ERR_FORMAT);
		status = status == HD_OK ? end : status;
		if (end == HD_OK)
			end = hd_snapshot_finish(snapshot, NULL, "nettrace", &sink, &err);
		status = status == HD_OK ? end : status;
	}
	bool failed = alloc_calls() >= nth;
	alloc_fail_at(0);
	CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
	if (snapshot && status == HD_OK)
		ASSERT_UINT(state_of(snapshot).is_complete, 1);
	hd_snapshot_destroy(snapshot);
	text_deinit(&text);
	return failed;
}

TEST(every_allocation_may_fail)
{
	uint64_t nth = 1 + first_turn(share_of(1, 3));
	while (nth < 3000 && fails_well(nth))
		nth += turn_step(share_of(1, 3));
	CU_ASSERT(nth > 30 && nth < 3000);
}

static void try_create(void)
{
	struct hd_snapshot *snapshot = NULL;
	struct hd_snapshot_options options = { .struct_size = sizeof(options), .pointer_size = 5 };
	ASSERT_UINT(hd_snapshot_create(NULL, NULL, NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_snapshot_create(&options, &snapshot, NULL), HD_ERR_ARGUMENT);
	options.pointer_size = 0;
	options.workers = 1000;
	ASSERT_UINT(hd_snapshot_create(&options, &snapshot, NULL), HD_ERR_ARGUMENT);
	options.workers = 0;
	NEWER(struct hd_snapshot_options) newer = NEWER_OF(options, 1);
	NEWER_SIZE(newer);
	ASSERT_UINT(hd_snapshot_create(&newer.known, &snapshot, NULL), HD_ERR_ARGUMENT);
	options.struct_size--;
	ASSERT_UINT(hd_snapshot_create(&options, &snapshot, NULL), HD_ERR_ARGUMENT);
	CU_ASSERT_PTR_NULL(snapshot);
	newer.more = 0;
	ASSERT_UINT(hd_snapshot_create(&newer.known, &snapshot, NULL), HD_OK);
	hd_snapshot_destroy(snapshot);
	ASSERT_UINT(hd_snapshot_create(NULL, &snapshot, NULL), HD_OK);
	hd_snapshot_destroy(snapshot);
	hd_snapshot_destroy(NULL);
}

static void try_event(void)
{
	struct hd_snapshot *snapshot = snapshot_with(0);
	struct hd_snapshot_event event = events.rows[0];
	ASSERT_UINT(hd_snapshot_event(NULL, &event, NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_snapshot_event(snapshot, NULL, NULL), HD_ERR_ARGUMENT);
	event.provider = NULL;
	ASSERT_UINT(hd_snapshot_event(snapshot, &event, NULL), HD_ERR_ARGUMENT);
	event.provider = "";
	event.payload = NULL;
	event.size = 1;
	ASSERT_UINT(hd_snapshot_event(snapshot, &event, NULL), HD_ERR_ARGUMENT);
	event.size = 0;
	ASSERT_UINT(hd_snapshot_event(snapshot, &event, NULL), HD_OK);
	NEWER(struct hd_snapshot_event) newer = NEWER_OF(event, 0);
	NEWER_SIZE(newer);
	ASSERT_UINT(hd_snapshot_event(snapshot, &newer.known, NULL), HD_OK);
	newer.more = 1;
	ASSERT_UINT(hd_snapshot_event(snapshot, &newer.known, NULL), HD_ERR_ARGUMENT);
	event.struct_size--;
	ASSERT_UINT(hd_snapshot_event(snapshot, &event, NULL), HD_ERR_ARGUMENT);
	struct hd_snapshot_state state = { .struct_size = 1 };
	NEWER(struct hd_snapshot_state) larger = { .known.has_ended = 7, .more = 7 };
	NEWER_SIZE(larger);
	CU_ASSERT_EQUAL(hd_snapshot_state(snapshot, &larger.known), 0);
	CU_ASSERT(larger.known.struct_size == sizeof(larger) && !larger.known.has_ended);
	ASSERT_UINT(larger.more, 0);
	CU_ASSERT_EQUAL(hd_snapshot_state(snapshot, &state), -1);
	CU_ASSERT_EQUAL(hd_snapshot_state(snapshot, NULL), -1);
	CU_ASSERT_EQUAL(hd_snapshot_state(NULL, &state), -1);
	hd_snapshot_lost(NULL, 1);
	CU_ASSERT_PTR_NULL(hd_snapshot_session(NULL));
	hd_snapshot_destroy(snapshot);
}

static void try_finish(void)
{
	struct hd_snapshot *snapshot = snapshot_with(0);
	struct text text = { 0 };
	struct hd_sink sink = sink_to(&text);
	ASSERT_UINT(hd_snapshot_finish(NULL, "/dev/null", NULL, NULL, NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_snapshot_finish(snapshot, NULL, NULL, NULL, NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_snapshot_finish(snapshot, NULL, "nosuch", &sink, NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_snapshot_finish(snapshot, "x.nosuch", NULL, NULL, NULL), HD_ERR_ARGUMENT);
	sink.write = NULL;
	ASSERT_UINT(hd_snapshot_finish(snapshot, NULL, NULL, &sink, NULL), HD_ERR_ARGUMENT);
	sink.struct_size--;
	ASSERT_UINT(hd_snapshot_finish(snapshot, "/dev/null", "rpm", &sink, NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_snapshot_finish(snapshot, "/dev/null", "rpm", NULL, NULL), HD_ERR_FORMAT);
	ASSERT_UINT(hd_snapshot_frozen(NULL, NULL, 0, NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_snapshot_frozen(snapshot, NULL, 1, NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_snapshot_frozen(snapshot, NULL, 0, NULL), HD_OK);
	hd_snapshot_destroy(snapshot);
}

static uint32_t count_frozen_roots(const struct hd_graph *graph, uint32_t first, uint32_t end)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < graph->root_count; i++) {
		const struct graph_root *root = &graph->roots[i];
		count += root->kind == HD_ROOT_GC && root->node >= first && root->node < end;
	}
	return count;
}

TEST(frozen_objects_get_roots_where_they_are_known)
{
	struct hd_graph *expected = graph_of_file(trace.bytes, trace.size);
	const uint64_t *ids = expected->ids;
	/* In any order, one in another, one empty, and one that has no object. */
	const struct hd_snapshot_range ranges[] = { { ids[20], ids[25] },
						    { ids[10], ids[14] + 1 },
						    { ids[12], ids[13] },
						    { ids[30], ids[30] },
						    { UINT64_MAX - 1, UINT64_MAX } };
	for (size_t count = 0; count < 6; count++) {
		struct hd_snapshot *snapshot = snapshot_with(0);
		ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
		if (count)
			ASSERT_UINT(hd_snapshot_frozen(snapshot, ranges, count, NULL), HD_OK);
		ASSERT_UINT(finished(snapshot).is_complete, 1);
		const struct hd_graph *graph = hd_session_graph(hd_snapshot_session(snapshot));
		ASSERT_UINT(graph->origins.lacks_frozen, count == 0);
		uint32_t frozen = count > 1 ? 10 : count ? 5 : 0;
		ASSERT_UINT(graph->root_count, expected->root_count + frozen);
		ASSERT_UINT(count_frozen_roots(graph, 0, HD_NONE), frozen);
		ASSERT_UINT(count_frozen_roots(graph, 20, 25), count ? 5 : 0);
		ASSERT_UINT(count_frozen_roots(graph, 10, 15), count > 1 ? 5 : 0);
		hd_snapshot_destroy(snapshot);
	}
	graph_destroy(expected);
}

TEST(nothing_crashes_without_its_arguments)
{
	static const struct attempt functions[] = {
		{ "hd_snapshot_create", try_create }, { "hd_snapshot_destroy", try_create },
		{ "hd_snapshot_event", try_event },   { "hd_snapshot_finish", try_finish },
		{ "hd_snapshot_frozen", try_finish }, { "hd_snapshot_lost", try_event },
		{ "hd_snapshot_session", try_event }, { "hd_snapshot_state", try_event },
	};
	const size_t count = sizeof(functions) / sizeof(functions[0]);
	for (size_t i = 0; i < count; i++)
		functions[i].attempt();
	ASSERT_UINT(exported_check_header("snapshot.h", functions, count), count);
}

TEST(what_is_more_than_the_memory_goes_to_a_file)
{
	const struct hd_snapshot_options options = { .struct_size = sizeof(options),
						     .max_memory = 1,
						     .process = 77,
						     .no_files = 1,
						     .spill = "/var/tmp/heapdump-test.gcdump" };
	struct hd_snapshot *snapshot = snapshot_with(1);
	/* Without one, there is no memory for anything. */
	CU_ASSERT(event_list_play(&events, 0, events.count, snapshot) == HD_ERR_NOMEM);
	hd_snapshot_destroy(snapshot);
	CU_ASSERT_FATAL(hd_snapshot_create(&options, &snapshot, NULL) == HD_OK);
	ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
	struct hd_snapshot_state state = finished(snapshot);
	ASSERT_UINT(state.objects, 1112);
	ASSERT_UINT(state.lost, 0);
	hd_snapshot_destroy(snapshot);
	CU_ASSERT(access(options.spill, F_OK) != 0);
}

TEST(a_fifo_is_no_place_for_what_is_more_than_the_memory)
{
	char folder[] = "/var/tmp/heapdump-test-XXXXXX", path[64];
	REQUIRE(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/a.gcdump", folder);
	CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
	const struct hd_snapshot_options options = {
		.struct_size = sizeof(options), .max_memory = 1 << 20, .process = 77, .spill = path
	};
	struct hd_snapshot *snapshot = NULL;
	/* Nobody reads: opening it would wait for ever. */
	(void)alarm(300);
	CU_ASSERT(hd_snapshot_create(&options, &snapshot, NULL) == HD_OK);
	hd_snapshot_destroy(snapshot);
	(void)alarm(0);
	(void)unlink(path);
	(void)rmdir(folder);
}

TEST(live_leaves_out_what_no_root_keeps_alive)
{
	struct hd_snapshot_options options = { .struct_size = sizeof(options),
					       .process = 77,
					       .no_files = 1 };
	size_t sizes[2];
	for (options.live = 0; options.live < 2; options.live++) {
		struct hd_snapshot *snapshot = NULL;
		CU_ASSERT_FATAL(hd_snapshot_create(&options, &snapshot, NULL) == HD_OK);
		ASSERT_UINT(event_list_play(&events, 0, events.count, snapshot), HD_OK);
		struct text text = written(snapshot, "rpm");
		sizes[options.live] = text.size;
		text_deinit(&text);
		hd_snapshot_destroy(snapshot);
	}
	CU_ASSERT(sizes[1] < sizes[0]);
	struct hd_snapshot *snapshot = NULL;
	CU_ASSERT(hd_snapshot_create(&options, &snapshot, NULL) == HD_ERR_ARGUMENT);
}

SUITE(.name = "event_snapshot", .set_up = set_up, .tear_down = tear_down)
