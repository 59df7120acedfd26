/* SPDX-License-Identifier: MIT */
/* <heapdump/snapshot.h>: a graph of events that a profiler gets one by one. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <heapdump/snapshot.h>

#include "command/session/export_graph.h"
#include "format/nettrace/nettrace_gather.h"
#include "format/nettrace/nettrace_heap.h"
#include "format/raw/raw_graph.h"
#include "mem/mapped_file.h"
#include "session/losses.h"
#include "util/alloc.h"
#include "util/caller_struct.h"
#include "util/output_file.h"
#include "util/page_file.h"
#include "util/sink.h"
#include "util/sort.h"

/* Far more than any event of EventPipe has: its buffers are not larger. */
#define PAYLOAD_MAX ((size_t)1 << 24)
/* More than any disk has: there the disk is the limit. */
#define SPILL_MAX (UINT64_C(1) << 60)

struct hd_snapshot {
	pthread_mutex_t lock; /* of what follows, until it is finished */
	struct nt_gathering gathering;
	bool is_sealed; /* gathering does not change any more */
	uint64_t late;  /* events that came after that */
	/* the caller's thread only: */
	char name[32]; /* of the process */
	bool no_files, keeps_trace, is_live;
	struct raw_frozen frozen;   /* the caller's hd_snapshot_frozen() */
	struct output_file spill;   /* what is not in memory; fd -1: all is */
	struct hd_session *session; /* has the graph when it is made */
};

static enum hd_status check_options(const struct hd_snapshot_options *options, struct hd_error *err)
{
	if ((options->pointer_size && options->pointer_size != 4 && options->pointer_size != 8) ||
	    options->workers > JOB_WORKERS_MAX || options->live > 1) {
		return fail(
			err, HD_ERR_ARGUMENT, 0,
			"an option of the snapshot is out of range: pointers have 4 or 8 bytes, and "
			"there are at most %u workers",
			JOB_WORKERS_MAX);
	}
	return HD_OK;
}

/* Let what goes beyond max_memory go to a file; if that cannot be, nothing may go beyond. */
static void begin_spill(struct hd_snapshot *snapshot, const struct hd_snapshot_options *options)
{
	struct hd_error ignored;
	bool is_straight = false;
	/*
	 * A file that is not regular, such as a FIFO, is not opened before there is anything for
	 * it.
	 */
	if (!options->spill || !options->max_memory ||
	    output_place_check(options->spill, &is_straight, &ignored) != HD_OK || is_straight ||
	    output_file_open(&snapshot->spill, options->spill, NULL, &ignored) != HD_OK)
		return;
	if (snapshot->spill.place && page_file_begin(snapshot->spill.fd, options->max_memory)) {
		snapshot->gathering.max_bytes = SPILL_MAX;
		snapshot->session->settings.max_mem = SPILL_MAX;
	} else {
		output_file_abandon(&snapshot->spill);
	}
}

static void set_up(struct hd_snapshot *snapshot, const struct hd_snapshot_options *options)
{
	struct nt_gathering *gathering = &snapshot->gathering;
	struct settings *settings = &snapshot->session->settings;
	settings->max_mem = options->max_memory;
	settings->workers = options->workers ? options->workers : 1;
	settings->no_files = options->no_files;
	gathering->max_bytes =
		options->max_memory ? options->max_memory : settings->defaults.max_mem;
	gathering->pointer_size = options->pointer_size ? options->pointer_size : sizeof(void *);
	gathering->pid = options->process ? options->process : (uint32_t)getpid();
	gathering->keeps_metadata = options->keep_trace;
	snapshot->keeps_trace = options->keep_trace;
	snapshot->no_files = options->no_files;
	snapshot->is_live = options->live;
	begin_spill(snapshot, options);
	(void)snprintf(snapshot->name, sizeof(snapshot->name), "process %" PRIu32, gathering->pid);
	nt_gather_begin(gathering);
}

enum hd_status hd_snapshot_create(const struct hd_snapshot_options *options,
				  struct hd_snapshot **ret, struct hd_error *err)
{
	struct hd_snapshot_options own = { .struct_size = sizeof(own) };
	if (!ret)
		return fail(err, HD_ERR_ARGUMENT, 0, "there is no place for the snapshot");
	if (options && !caller_struct_read(&own, sizeof(own),
					   SIZE_TO(struct hd_snapshot_options, spill), options)) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "the options of the snapshot are of another version of the library");
	}
	TRY(check_options(&own, err));
	struct hd_snapshot *snapshot = mem_calloc(1, sizeof(*snapshot));
	TRY_MEMORY(snapshot, err);
	snapshot->spill.fd = -1;
	enum hd_status status = hd_session_create(&snapshot->session, err);
	if (status == HD_OK && pthread_mutex_init(&snapshot->lock, NULL) != 0) {
		hd_session_destroy(snapshot->session);
		status = fail_nomem(err);
	}
	if (status != HD_OK) {
		mem_free(snapshot);
		return status;
	}
	set_up(snapshot, &own);
	*ret = snapshot;
	return HD_OK;
}

static void frozen_deinit(struct raw_frozen *frozen)
{
	mem_free(frozen->starts);
	mem_free(frozen->ends);
	*frozen = (struct raw_frozen){ 0 };
}

void hd_snapshot_destroy(struct hd_snapshot *snapshot)
{
	if (!snapshot)
		return;
	nt_gather_deinit(&snapshot->gathering);
	frozen_deinit(&snapshot->frozen);
	hd_session_destroy(snapshot->session);
	if (snapshot->spill.fd >= 0)
		page_file_end();
	output_file_abandon(&snapshot->spill);
	(void)pthread_mutex_destroy(&snapshot->lock);
	mem_free(snapshot);
}

static uint64_t monotonic_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

enum hd_status hd_snapshot_event(struct hd_snapshot *snapshot,
				 const struct hd_snapshot_event *event, struct hd_error *err)
{
	struct hd_snapshot_event own;
	if (!snapshot ||
	    !caller_struct_read(&own, sizeof(own), SIZE_TO(struct hd_snapshot_event, time),
				event) ||
	    !own.provider || (!own.payload && own.size)) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "there is no snapshot, no event, or an event of another version of the "
			    "library");
	}
	event = &own;
	const struct nt_metadata metadata = { .provider = nt_provider_utf8(event->provider,
									   strlen(event->provider)),
					      .event = event->id,
					      .version = event->version };
	if (metadata.provider == NT_OTHER)
		return HD_OK;
	if (event->size > PAYLOAD_MAX) {
		hd_snapshot_lost(snapshot, 1);
		return fail(err, HD_ERR_NOMEM, 0, "an event of over 16 MiB is counted as lost");
	}
	struct nt_event taken = { .metadata = &metadata,
				  .payload = event->payload,
				  .size = (uint32_t)event->size,
				  .thread = event->thread ? event->thread : (uint64_t)gettid(),
				  .time = event->time };
	enum hd_status status = HD_OK;
	(void)pthread_mutex_lock(&snapshot->lock);
	/* Asked here: the order of the calls is that of the times. */
	taken.time = taken.time ? taken.time : monotonic_now();
	if (snapshot->is_sealed) {
		snapshot->late++;
	} else {
		const size_t size = event->metadata ? event->metadata_size : 0;
		status = nt_gather(&snapshot->gathering, &taken, event->metadata,
				   size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, err);
	}
	(void)pthread_mutex_unlock(&snapshot->lock);
	return status;
}

void hd_snapshot_lost(struct hd_snapshot *snapshot, uint64_t count)
{
	if (!snapshot)
		return;
	(void)pthread_mutex_lock(&snapshot->lock);
	if (!snapshot->is_sealed)
		snapshot->gathering.lost += count;
	(void)pthread_mutex_unlock(&snapshot->lock);
}

ORDER_BY2(compare_snapshot_ranges, struct hd_snapshot_range, start, end)

/* Keep sorted ranges, without what of them is in one before. */
static void keep_ranges(struct raw_frozen *frozen, const struct hd_snapshot_range *ranges,
			size_t count)
{
	uint64_t last = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t start = ranges[i].start > last ? ranges[i].start : last;
		if (start >= ranges[i].end)
			continue;
		frozen->starts[frozen->count] = start;
		frozen->ends[frozen->count++] = last = ranges[i].end;
	}
	frozen->is_known = true;
}

enum hd_status hd_snapshot_frozen(struct hd_snapshot *snapshot,
				  const struct hd_snapshot_range *ranges, size_t count,
				  struct hd_error *err)
{
	if (!snapshot || (!ranges && count)) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "there is no snapshot, or there are no ranges");
	}
	frozen_deinit(&snapshot->frozen);
	struct raw_frozen *frozen = &snapshot->frozen;
	struct hd_snapshot_range *sorted = mem_alloc(count + 1, sizeof(*sorted));
	frozen->starts = mem_alloc(count + 1, sizeof(*frozen->starts));
	frozen->ends = mem_alloc(count + 1, sizeof(*frozen->ends));
	if (!sorted || !frozen->starts || !frozen->ends) {
		mem_free(sorted);
		frozen_deinit(frozen);
		return fail_nomem(err);
	}
	if (count) {
		memcpy(sorted, ranges, count * sizeof(*sorted));
		qsort(sorted, count, sizeof(*sorted), compare_snapshot_ranges);
	}
	keep_ranges(frozen, sorted, count);
	mem_free(sorted);
	return HD_OK;
}

/*
 * Is nothing missing of what the runtime has sent?  A root or a reference that leads to no object is damage
 * of the heap itself: no event is missing for that.
 */
static bool has_all_events(const struct hd_session *session)
{
	struct met_loss met[FINDING_KINDS];
	const size_t count = session_losses(session, met);
	for (size_t i = 0; i < count; i++) {
		if (met[i].kind != FINDING_UNRESOLVED_REFERENCE &&
		    met[i].kind != FINDING_UNRESOLVED_ROOT)
			return false;
	}
	return true;
}

int hd_snapshot_state(struct hd_snapshot *snapshot, struct hd_snapshot_state *ret)
{
	if (!snapshot)
		return -1;
	(void)pthread_mutex_lock(&snapshot->lock);
	const struct nt_gathering *gathering = &snapshot->gathering;
	struct hd_snapshot_state state = { .struct_size = sizeof(state),
					   .has_started = gathering->is_done ||
							  (gathering->window.is_open &&
							   gathering->window.has_nodes) ||
							  gathering->cut.items_count,
					   .has_ended = gathering->is_done,
					   .memory = gathering->bytes,
					   .lost = gathering->lost,
					   .strays = gathering->strays,
					   .ignored = gathering->ignored + snapshot->late };
	(void)pthread_mutex_unlock(&snapshot->lock);
	const struct hd_graph *graph = snapshot->session->graph;
	if (graph) {
		state.is_complete = has_all_events(snapshot->session);
		state.objects = graph->object_count;
		state.references = hd_graph_reference_count(graph);
		state.roots = graph->root_count;
	}
	return caller_struct_write(ret, &state, sizeof(state),
				   SIZE_TO(struct hd_snapshot_state, roots))
		       ? 0
		       : -1;
}

struct hd_session *hd_snapshot_session(struct hd_snapshot *snapshot)
{
	return snapshot && snapshot->session->graph ? snapshot->session : NULL;
}

static enum hd_status make_graph(struct hd_snapshot *snapshot, struct job *job,
				 struct hd_error *err)
{
	struct hd_session *session = snapshot->session;
	const struct format_options options = { .no_files = snapshot->no_files };
	struct nt_trace trace;
	struct hd_graph *graph = NULL;
	char *path = mem_strndup(snapshot->name, strlen(snapshot->name));
	enum hd_status status =
		nt_gathered_trace(&snapshot->gathering, snapshot->name, job, &trace, err);
	if (status == HD_OK && !path)
		status = fail_nomem(err);
	if (status == HD_OK && !trace.snapshots_count) {
		status = fail(
			err, HD_ERR_FORMAT, 0,
			"%s: no collection has sent objects: start a session with the keywords "
			"0x1980001 of Microsoft-Windows-DotNETRuntime",
			snapshot->name);
	}
	if (status == HD_OK)
		status = nt_heap_graph(&trace, &trace.snapshots[0], &options, job, &graph, err);
	nt_trace_deinit(&trace);
	if (status == HD_OK) {
		graph_use_ranges(graph);
		status = raw_graph_frozen(graph, &snapshot->frozen, err);
	}
	if (status != HD_OK) {
		graph_destroy(graph);
		mem_free(path);
		return status;
	}
	session->graph = graph;
	session->format = &nettrace_format;
	session->path = path;
	if (!snapshot->keeps_trace)
		nt_gather_free_events(&snapshot->gathering);
	return HD_OK;
}

/* The snapshot that is written. */
struct written_snapshot {
	struct exporting exporting; /* the first: write_trace() gets it */
	const struct hd_snapshot *snapshot;
	const struct hd_sink *sink; /* where to, unless there is a path */
};

static enum hd_status write_trace(const struct exporting *exporting, format_write_fn write,
				  void *arg)
{
	const struct hd_snapshot *snapshot = ((const struct written_snapshot *)exporting)->snapshot;
	HD_CLEANUP(nt_trace) struct nt_trace trace = { 0 };
	TRY(nt_gathered_trace(&snapshot->gathering, snapshot->name, exporting->job, &trace,
			      exporting->err));
	return nt_gathered_write(&snapshot->gathering, &trace, exporting->job, write, arg,
				 exporting->err);
}

static bool write_to_sink(void *arg, const char *bytes, size_t size)
{
	const struct hd_sink *sink = ((const struct written_snapshot *)arg)->sink;
	return sink->write(sink->arg, bytes, size) == 0;
}

/* The format that is asked for. */
static enum hd_status choose_format(const struct hd_snapshot *snapshot, const char *path,
				    const char *name, const struct format **ret,
				    struct hd_error *err)
{
	const struct format *format = &gcdump_format;
	if (name) {
		format = format_find(name);
	} else if (path) {
		format = format_of_path(path);
	}
	if (!format) {
		return fail(err, HD_ERR_ARGUMENT, 0, "%.200s: not %s of a dump", name ? name : path,
			    name ? "the format" : "the ending");
	}
	if (format == &nettrace_format && !snapshot->keeps_trace) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "a .nettrace is written only if the option keep_trace was set");
	}
	*ret = format;
	return HD_OK;
}

enum hd_status hd_snapshot_finish(struct hd_snapshot *snapshot, const char *path,
				  const char *format, const struct hd_sink *sink,
				  struct hd_error *err)
{
	if (!snapshot || (!path && !sink))
		return fail(err, HD_ERR_ARGUMENT, 0, "no snapshot, or neither a path nor a sink");
	struct hd_sink own;
	if (sink) {
		TRY(sink_read(sink, !path, &own, err));
		sink = &own;
	}
	struct job job;
	struct written_snapshot written = { .exporting = { .session = snapshot->session,
							   .live_only = snapshot->is_live,
							   .job = &job,
							   .err = err },
					    .snapshot = snapshot,
					    .sink = sink };
	struct exporting *exporting = &written.exporting;
	TRY(choose_format(snapshot, path, format, &exporting->format, err));
	session_job(&snapshot->session->settings, sink, &job);
	(void)pthread_mutex_lock(&snapshot->lock);
	snapshot->is_sealed = true;
	(void)pthread_mutex_unlock(&snapshot->lock);
	if (!snapshot->session->graph) {
		/* Files of modules may shrink while they are read. */
		mapped_files_guard_begin();
		enum hd_status made = make_graph(snapshot, &job, err);
		mapped_files_guard_end();
		TRY(made);
	}
	exporting->graph = snapshot->session->graph;
	if (exporting->format == &nettrace_format)
		exporting->make = write_trace;
	TRY(export_prepare(exporting));
	uint64_t size;
	enum hd_status status = path ? export_file(exporting, path, &size)
				     : export_write(exporting, write_to_sink, &written);
	job_end(&job);
	return status;
}
