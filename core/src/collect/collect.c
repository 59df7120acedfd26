/* SPDX-License-Identifier: MIT */
#include "collect/collect.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/trace.h"

/* Keywords of Microsoft-Windows-DotNETRuntime: GC, Type, GCHeapDump, GCHeapCollect,
 * GCHeapAndTypeNames; GCHeapSurvivalAndMovement gives the ranges of the generations. */
#define SNAPSHOT_KEYWORDS   UINT64_C(0x1980001)
#define GENERATION_KEYWORDS UINT64_C(0x400000)
#define RUNDOWN_LOADER      UINT64_C(0x8) /* modules alone */

#define TRIES_MAX       3u
#define MEGABYTE        ((uint64_t)1 << 20)
#define EVENT_SIZE      ((uint64_t)65536) /* of a GCBulkNode or GCBulkEdge that is full */
#define FLUSH_MS        5000u
#define START_MS        20000u /* for a runtime that connects to us to start */
#define DYING_MS        300u   /* from the end of its sockets to that of a process */
#define VERSION_MS      1000u
#define TIMEOUT         30u             /* seconds */
#define WALK_PER_SECOND (64 * MEGABYTE) /* of a slow machine */
#define FLUSHED_VERSION 10u /* .NET, from which on a session begins with no types known */

/* All tries together. */
struct collecting {
	struct endpoint *endpoint;
	const char *path;
	const struct collect_options *options;
	struct job *job;
	struct room room;
	unsigned int command; /* index for trace_begin() */
	struct collected best;
	enum trace_end end; /* of the last one */
	uint64_t needed;    /* bytes, as the last one has shown; 0: not known */
	bool was_lost;
	uint64_t start_deadline; /* until which the runtime may still be starting; 0: it is not */
};

void collected_deinit(struct collected *collected)
{
	if (collected->file.fd >= 0 || collected->file.temporary)
		output_file_abandon(&collected->file);
	findings_deinit(&collected->findings);
	*collected = (struct collected){ .file = { .fd = -1 } };
}

static void tell(const struct collecting *collecting, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void tell(const struct collecting *collecting, const char *format, ...)
{
	char line[256];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (collecting->options->say)
		collecting->options->say(collecting->options->arg, line);
}

/*
 * Older runtimes tell a type once for all sessions; the end of any session of another provider
 * makes them forget (dotnet-gcdump, EventPipeDotNetHeapDumper.cs).
 */
static enum hd_status flush_types(struct collecting *collecting, struct hd_error *err)
{
	struct text version = { 0 };
	endpoint_version(collecting->endpoint, VERSION_MS, collecting->job, &version);
	bool is_new = version.bytes && strtoul(version.bytes, NULL, 10) >= FLUSHED_VERSION;
	text_deinit(&version);
	if (is_new)
		return HD_OK;
	const struct ipc_session session = {
		.buffer_mb = 64,
		.provider = { 0, 4, "Microsoft-DotNETCore-SampleProfiler" },
	};
	struct trace trace = { .endpoint = collecting->endpoint,
			       .job = collecting->job,
			       .goal = TRACE_ONE_EVENT,
			       .deadline = now_ms() + FLUSH_MS };
	enum hd_status status = trace_begin(&trace, &session, &collecting->command, err);
	if (status == HD_OK)
		status = trace_run(&trace, err);
	trace_deinit(&trace);
	return status;
}

static uint64_t deadline(const struct collecting *collecting)
{
	uint64_t seconds = collecting->options->timeout;
	if (!seconds)
		seconds = TIMEOUT + collecting->room.anonymous / WALK_PER_SECOND;
	return now_ms() + seconds * 1000;
}

/* Is it a runtime that may not have got as far as having a heap? */
static bool is_starting(const struct collecting *collecting)
{
	return now_ms() < collecting->start_deadline;
}

/* How many bytes the buffer should have had. */
static uint64_t needed_by(const struct trace *trace)
{
	const struct stream_scan *scan = &trace->scan;
	if (!scan->lost_events || scan->lost_events > UINT32_MAX)
		return 0;
	return trace->size + scan->lost_events * EVENT_SIZE;
}

static void keep(struct collecting *collecting, const struct trace *trace, struct output_file *file,
		 uint64_t buffer)
{
	struct collected *best = &collecting->best;
	const struct stream_scan *scan = &trace->scan;
	collecting->end = trace->end;
	collecting->needed = needed_by(trace);
	collecting->was_lost = scan->is_lost || (scan->has_nodes && !scan->is_done);
	bool is_complete = scan->is_done && !scan->is_lost;
	bool is_better = (is_complete || scan->objects) &&
			 (is_complete || best->file.fd < 0 || scan->objects > best->objects);
	best->tries++;
	best->buffer = buffer;
	if (!is_better) {
		output_file_abandon(file);
		return;
	}
	if (best->file.fd >= 0)
		output_file_abandon(&best->file);
	best->file = *file;
	best->size = trace->size;
	best->objects = scan->objects;
	best->references = scan->references;
	best->is_complete = is_complete;
	findings_deinit(&best->findings);
	if (is_complete && scan->state != SCAN_END) {
		findings_add(&best->findings, "no-end", "collect again",
			     "the trace has no end: names of modules may be missing");
	}
	if (is_complete && scan->is_lost_elsewhere) {
		findings_add(&best->findings, "lost-events", "collect again",
			     "events of other threads were lost: names of types may be missing");
	}
}

/* One session. */
static enum hd_status try_once(struct collecting *collecting, uint64_t buffer, struct hd_error *err)
{
	struct output_file file;
	TRY(output_file_open(&file, collecting->path, err));
	const uint64_t generations = collecting->options->generations ? GENERATION_KEYWORDS : 0;
	const struct ipc_session session = {
		.buffer_mb = (uint32_t)(buffer / MEGABYTE),
		.rundown = RUNDOWN_LOADER,
		.provider = { SNAPSHOT_KEYWORDS | generations, 5,
			      "Microsoft-Windows-DotNETRuntime" },
	};
	struct trace trace = { .endpoint = collecting->endpoint,
			       .job = collecting->job,
			       .file = &file,
			       .goal = TRACE_SNAPSHOT,
			       .deadline = deadline(collecting),
			       .is_hasty = is_starting(collecting) };
	job_begin(collecting->job, "collecting the heap", 0);
	enum hd_status status = trace_begin(&trace, &session, &collecting->command, err);
	if (status == HD_OK)
		status = trace_run(&trace, err);
	job_end(collecting->job);
	if (status == HD_OK) {
		keep(collecting, &trace, &file, buffer);
	} else if (file.error) {
		status = output_file_commit(&file, err);
	} else {
		output_file_abandon(&file);
	}
	trace_deinit(&trace);
	return status;
}

/* The buffer of the next try; 0: there is no use in one. */
static uint64_t next_buffer(const struct collecting *collecting, uint64_t buffer)
{
	uint64_t largest = room_largest(&collecting->room);
	uint64_t next = collecting->needed + collecting->needed / 4 + 64 * MEGABYTE;
	if (!collecting->needed || next < buffer * 2)
		next = collecting->needed ? buffer * 2 : buffer * 4;
	if (next < collecting->room.needed && !collecting->needed)
		next = collecting->room.needed;
	next = (next < largest ? next : largest) / MEGABYTE * MEGABYTE;
	return next > buffer + buffer / 8 ? next : 0;
}

/* There are no objects at all: why? */
static enum hd_status no_heap(const struct collecting *collecting, struct hd_error *err)
{
	int pid = collecting->endpoint->pid;
	if (pid && process_has_ended(pid, collecting->end == TRACE_HUNG_UP ? DYING_MS : 0)) {
		return fail(err, HD_ERR_OS, 0, "process %d has ended while its heap was collected",
			    pid);
	}
	if (pid && process_is_stopped(pid)) {
		return fail(err, HD_ERR_OS, 0,
			    "process %d was stopped while its heap was collected: let it continue",
			    pid);
	}
	const char *what = collecting->end == TRACE_HUNG_UP   ? "ended the trace"
			   : collecting->end == TRACE_TIMEOUT ? "took too long (-timeout SECONDS)"
							      : "began no garbage collection";
	return fail(err, HD_ERR_OS, 0,
		    "process %d %s before a heap was there: try again, or read its memory "
		    "(heapdump %d export FILE)",
		    pid, what, pid);
}

/* What is wrong with what there is. */
static void add_findings(struct collecting *collecting)
{
	struct collected *best = &collecting->best;
	if (best->is_complete)
		return;
	uint64_t mb = best->buffer / MEGABYTE;
	if (collecting->was_lost && collecting->end == TRACE_REACHED) {
		findings_add(&best->findings, "partial",
			     "free memory for the process, or read its memory (heapdump PID export "
			     "FILE)",
			     "events were lost with a buffer of %" PRIu64
			     " MB: of the heap %" PRIu64 " objects are there, not all of them",
			     mb, best->objects);
		return;
	}
	const char *why =
		collecting->end == TRACE_HUNG_UP ? "the process ended it" : "it took too long";
	findings_add(&best->findings, "partial", "collect again, with a longer -timeout",
		     "the trace is cut (%s): of the heap %" PRIu64
		     " objects are there, not all of them",
		     why, best->objects);
}

static void tell_buffer(const struct collecting *collecting, uint64_t buffer)
{
	const char *bound = "";
	if (buffer >= room_largest(&collecting->room)) {
		bound = collecting->room.is_cgroup ? " (what its cgroup leaves it)"
						   : " (what the machine has free)";
	}
	tell(collecting,
	     "%sprocess %d is asked for a buffer of up to %" PRIu64 " MB of its own memory%s",
	     collecting->best.tries ? "events were lost: " : "", collecting->endpoint->pid,
	     buffer / MEGABYTE, bound);
}

static enum hd_status try_all(struct collecting *collecting, struct hd_error *err)
{
	uint64_t buffer = collecting->options->buffer;
	buffer = buffer ? (buffer + MEGABYTE - 1) / MEGABYTE * MEGABYTE
			: room_first(&collecting->room);
	if (buffer > room_largest(&collecting->room))
		buffer = room_largest(&collecting->room);
	for (bool is_again = false; buffer;) {
		if (!is_again)
			tell_buffer(collecting, buffer);
		enum hd_status status = try_once(collecting, buffer, err);
		/* A later try that fails does not take away what an earlier one has got. */
		if (status != HD_OK && (collecting->best.file.fd < 0 ||
					status == HD_ERR_CANCELLED || status == HD_ERR_NOMEM))
			return status;
		is_again = status == HD_OK && collecting->end == TRACE_IDLE &&
			   collecting->best.file.fd < 0 && is_starting(collecting);
		if (is_again) {
			collecting->best.tries--;
			continue;
		}
		if (status != HD_OK || collecting->best.is_complete || !collecting->was_lost ||
		    collecting->end == TRACE_HUNG_UP || collecting->best.tries >= TRIES_MAX)
			break;
		buffer = next_buffer(collecting, buffer);
	}
	if (collecting->best.file.fd < 0)
		return no_heap(collecting, err);
	add_findings(collecting);
	return HD_OK;
}

/* A runtime that connects to us may wait with its start for this. */
static enum hd_status resume(struct endpoint *endpoint, struct job *job, struct hd_error *err)
{
	if (endpoint->listener < 0 || endpoint->is_resumed)
		return HD_OK;
	const struct patience patience = { .job = job, .deadline = now_ms() + FLUSH_MS };
	struct text message = { 0 }, reply = { 0 };
	uint32_t code;
	ipc_message(&message, IPC_RESUME_RUNTIME, NULL, 0);
	enum hd_status status = connection_call(endpoint, &message, &patience, &reply, &code, err);
	text_deinit(&message);
	text_deinit(&reply);
	endpoint->is_resumed = status == HD_OK;
	return status;
}

enum hd_status collect_snapshot(struct endpoint *endpoint, const char *path,
				const struct collect_options *options, struct job *job,
				struct collected *ret, struct hd_error *err)
{
	struct collecting collecting = { .endpoint = endpoint,
					 .path = path,
					 .options = options,
					 .job = job,
					 .best = { .file = { .fd = -1 } } };
	if (endpoint->listener >= 0)
		collecting.start_deadline = now_ms() + START_MS;
	TRY(resume(endpoint, job, err));
	TRY(flush_types(&collecting, err));
	room_read(endpoint->pid, &collecting.room);
	enum hd_status status = try_all(&collecting, err);
	if (status != HD_OK) {
		collected_deinit(&collecting.best);
		return status;
	}
	*ret = collecting.best;
	return HD_OK;
}
