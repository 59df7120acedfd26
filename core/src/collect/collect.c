/* SPDX-License-Identifier: MIT */
#include "collect/collect.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/other_traces.h"
#include "collect/trace.h"
#include "util/text.h"

/*
 * Keywords of Microsoft-Windows-DotNETRuntime: GC, Type, GCHeapDump, GCHeapCollect,
 * GCHeapAndTypeNames; GCHeapSurvivalAndMovement gives the ranges of the generations.
 */
#define SNAPSHOT_KEYWORDS   UINT64_C(0x1980001)
#define GENERATION_KEYWORDS UINT64_C(0x400000)
#define RUNDOWN_LOADER      UINT64_C(0x8) /* only modules */

#define COLLECT_TRIES_MAX  3u
#define NAME_TRIES_MAX     2u /* how many more, for names of types */
#define MEGABYTE           ((uint64_t)1 << 20)
#define EVENT_SIZE         ((uint64_t)65536) /* bytes of a full GCBulkNode or GCBulkEdge */
#define FLUSH_MS           5000u
#define OTHERS_MS          15000u /* wait for other traces of the process to end */
#define START_MS           20000u /* time that a runtime may take to start */
#define DYING_MS           300u   /* time from the end of a process's sockets to its own end */
#define COLLECT_VERSION_MS 5000u
#define FLUSHED_VERSION    10u /* the first .NET in which a session begins with no types known */

/* All tries together. */
struct collecting {
	struct endpoint *endpoint;
	const struct collect_options *options;
	struct job *job;
	struct room room;
	unsigned int command; /* index for trace_begin() */
	struct collected best;
	enum trace_end end;      /* of the last one */
	uint64_t needed;         /* bytes, as the last try has shown; 0: not known */
	bool was_lost;           /* objects or references, in the last try */
	unsigned int name_tries; /* number of tries that were only for names of types */
	uint64_t start_deadline; /* until when the runtime may still be starting; 0: it is not */
};

void collected_deinit(struct collected *collected)
{
	output_file_abandon(&collected->file);
	findings_deinit(&collected->findings);
	*collected = (struct collected){ .file = { .fd = -1 } };
}

static void say_collecting(const struct collecting *collecting, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say_collecting(const struct collecting *collecting, const char *format, ...)
{
	char line[256];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (collecting->options->say)
		collecting->options->say(collecting->options->arg, line);
}

/* When everything must have come, for a try that begins now. */
static uint64_t deadline(const struct collecting *collecting)
{
	if (collecting->options->deadline)
		return collecting->options->deadline;
	return collect_now_ms() + room_seconds(&collecting->room) * 1000;
}

static bool is_too_late(const struct collecting *collecting)
{
	return collecting->options->deadline && collect_now_ms() >= collecting->options->deadline;
}

static struct patience patience_of(const struct collecting *collecting, uint64_t ms)
{
	uint64_t end = collect_now_ms() + ms, last = deadline(collecting);
	return (struct patience){ .job = collecting->job, .deadline = end < last ? end : last };
}

/*
 * Begin and end a session by which the runtime forgets which types it has sent.  If that fails, there will be types
 * without names.
 */
static enum hd_status flush_by(struct collecting *collecting, const struct ipc_session *session,
			       enum trace_goal goal, struct hd_error *err)
{
	HD_CLEANUP(trace)
	struct trace trace = { .endpoint = collecting->endpoint,
			       .job = collecting->job,
			       .goal = goal,
			       .deadline = patience_of(collecting, FLUSH_MS).deadline };
	enum hd_status status = trace_begin(&trace, session, &collecting->command, err);
	if (status == HD_OK && goal != TRACE_NOTHING)
		status = trace_run(&trace, err);
	return status == HD_ERR_CANCELLED || status == HD_ERR_NOMEM ? status : HD_OK;
}

/*
 * Before .NET 10 the runtime sends a type only once for all sessions; the end of any session of
 * another provider makes it forget this (dotnet-gcdump, EventPipeDotNetHeapDumper.cs).
 */
static enum hd_status flush_by_samples(struct collecting *collecting, struct hd_error *err)
{
	const struct ipc_session session = {
		.buffer_mb = 64,
		.provider = { 0, 4, "Microsoft-DotNETCore-SampleProfiler" },
	};
	return flush_by(collecting, &session, TRACE_ONE_EVENT, err);
}

/*
 * The above is not enough while the program itself or another tool listens to the runtime's events;
 * a session of the same provider that wants no types is.  The runtime makes objects for the first
 * such session: it is begun only when names were missing.
 */
static enum hd_status flush_types(struct collecting *collecting, struct hd_error *err)
{
	const struct ipc_session session = {
		.buffer_mb = 64,
		.provider = { 1, 4, "Microsoft-Windows-DotNETRuntime" },
	};
	return flush_by(collecting, &session, TRACE_NOTHING, err);
}

static enum hd_status flush_old(struct collecting *collecting, struct hd_error *err)
{
	HD_CLEANUP(text) struct text version = { 0 };
	uint64_t now = collect_now_ms(), end = patience_of(collecting, COLLECT_VERSION_MS).deadline;
	endpoint_version(collecting->endpoint, (unsigned int)(end > now ? end - now : 0),
			 collecting->job, &version);
	unsigned long number = version.bytes ? strtoul(version.bytes, NULL, 10) : 0;
	return number && number < FLUSHED_VERSION ? flush_by_samples(collecting, err) : HD_OK;
}

/* Is it a runtime that may not have made its heap yet?  It begins a session then, but no collection, not even later. */
static bool is_starting(const struct collecting *collecting)
{
	return collect_now_ms() < collecting->start_deadline;
}

/* How large the buffer should have been. */
static uint64_t needed_by(const struct trace *trace)
{
	const struct stream_scan *scan = &trace->scan;
	if (!scan->snapshot.lost_events || scan->snapshot.lost_events > UINT32_MAX)
		return 0;
	return trace->size + scan->snapshot.lost_events * EVENT_SIZE;
}

/* Is the one result more useful than the other? */
static bool is_better_try(const struct collected *best, const struct collected_check *check)
{
	if (best->file.fd < 0)
		return check->objects > 0;
	if (best->is_complete != check->is_whole)
		return check->is_whole;
	if (check->is_whole && best->unnamed != check->unnamed)
		return check->unnamed < best->unnamed;
	return check->objects > best->objects;
}

/* Find out what has arrived: from what was seen on the way, and by checking the whole stream. */
static enum hd_status check_stream(struct collecting *collecting, const struct trace *trace,
				   const struct output_file *file, struct collected_check *ret,
				   struct hd_error *err)
{
	const struct stream_scan *scan = &trace->scan;
	const struct collect_options *options = collecting->options;
	*ret = (struct collected_check){ .is_whole = true,
					 .objects = scan->snapshot.objects,
					 .references = scan->snapshot.references };
	if (options->check && scan->snapshot.has_nodes) {
		enum hd_status status = options->check(options->arg, file->fd, ret, err);
		if (status == HD_ERR_FORMAT) {
			/* The check itself has found this: nothing is usable. */
			*ret = (struct collected_check){ 0 };
		} else if (status != HD_OK) {
			return status;
		}
	}
	ret->is_whole = ret->is_whole && scan->snapshot.is_done && !scan->snapshot.is_lost;
	collecting->end = trace->end;
	collecting->needed = needed_by(trace);
	collecting->was_lost =
		scan->snapshot.is_lost || (scan->snapshot.has_nodes && !ret->is_whole);
	return HD_OK;
}

static void keep_if_better(struct collecting *collecting, const struct trace *trace,
			   struct output_file *file, const struct collected_check *check)
{
	struct collected *best = &collecting->best;
	const struct stream_scan *scan = &trace->scan;
	if (!is_better_try(best, check)) {
		output_file_abandon(file);
		return;
	}
	if (best->file.fd >= 0)
		output_file_abandon(&best->file);
	best->file = *file;
	best->size = trace->size;
	best->objects = check->objects;
	best->references = check->references;
	best->unnamed = check->unnamed;
	best->snapshot = check->snapshot;
	best->is_complete = check->is_whole;
	findings_deinit(&best->findings);
	if (check->is_whole && scan->state != SCAN_END) {
		findings_add(&best->findings, FINDING_NO_END, NULL,
			     "the trace has no end: names of modules may be missing");
	}
	if (check->is_whole && scan->snapshot.is_lost_elsewhere && !collecting->options->check) {
		findings_add(&best->findings, FINDING_LOST_EVENTS, NULL,
			     "events of other threads were lost: names of types may be missing");
	}
}

/* End of the try. */
static enum hd_status take_try(struct collecting *collecting, const struct trace *trace,
			       struct output_file *file, uint64_t buffer, struct hd_error *err)
{
	struct collected_check check;
	enum hd_status status = check_stream(collecting, trace, file, &check, err);
	if (status != HD_OK) {
		output_file_abandon(file);
		return status;
	}
	collecting->best.tries++;
	collecting->best.buffer = buffer;
	keep_if_better(collecting, trace, file, &check);
	return HD_OK;
}

static enum hd_status open_trace_file(const struct collecting *collecting, struct output_file *ret,
				      struct hd_error *err)
{
	const char *path = collecting->options->path;
	return path ? output_file_open(ret, path, collecting->job, err)
		    : output_file_open_unnamed(ret, err);
}

/* Run one session. */
static enum hd_status try_once(struct collecting *collecting, uint64_t buffer, struct hd_error *err)
{
	struct output_file file;
	TRY(open_trace_file(collecting, &file, err));
	const uint64_t generations = collecting->options->generations ? GENERATION_KEYWORDS : 0;
	const struct ipc_session session = {
		.buffer_mb = (uint32_t)(buffer / MEGABYTE),
		.rundown = RUNDOWN_LOADER,
		.provider = { SNAPSHOT_KEYWORDS | generations, 5,
			      "Microsoft-Windows-DotNETRuntime" },
	};
	HD_CLEANUP(trace)
	struct trace trace = { .endpoint = collecting->endpoint,
			       .job = collecting->job,
			       .file = &file,
			       .goal = TRACE_SNAPSHOT,
			       .deadline = deadline(collecting),
			       .is_hasty = is_starting(collecting) };
	job_begin(collecting->job, "Collecting heap", 0);
	enum hd_status status = trace_begin(&trace, &session, &collecting->command, err);
	if (status == HD_OK)
		status = trace_run(&trace, err);
	job_end(collecting->job);
	if (status == HD_OK) {
		status = take_try(collecting, &trace, &file, buffer, err);
	} else if (file.error && !collecting->options->path) {
		errno = file.error;
		status = fail(err, HD_ERR_OS, 0,
			      "%s: cannot write what the process sends: %s: set TMPDIR to a folder "
			      "with more room",
			      file.path, strerrordesc_np(file.error));
		output_file_abandon(&file);
	} else if (file.error) {
		status = output_file_commit(&file, err);
	} else {
		output_file_abandon(&file);
	}
	return status;
}

/* The buffer of the next try; 0: another try is useless. */
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

/* Fail with what ended a trace too early, and what to do about it. */
struct reason {
	const char *what, *advice;
};

static struct reason reason_of(const struct collecting *collecting)
{
	static const char again[] = "collect again, or read its memory (heapdump PID export FILE)";
	int pid = collecting->endpoint->pid;
	if (pid && process_has_ended(pid, collecting->end == TRACE_HUNG_UP ? DYING_MS : 0)) {
		return (struct reason){ "the process has ended",
					"only a core of it still has what is missing" };
	}
	if (collecting->end == TRACE_STOPPED || (pid && process_is_stopped(pid))) {
		return (struct reason){ "the process was stopped",
					"let it continue and collect again, or read its memory "
					"(heapdump PID export FILE)" };
	}
	switch (collecting->end) {
	case TRACE_REACHED:
		return (struct reason){ "events were lost",
					"free memory for the process, or read its memory (heapdump "
					"PID export FILE)" };
	case TRACE_HUNG_UP:
		return (struct reason){ "the process ended the trace", again };
	case TRACE_IDLE:
		return (struct reason){ "nothing more came from the process", again };
	case TRACE_TIMEOUT:
	case TRACE_STOPPED:
		break;
	}
	return (struct reason){ "it took too long", "collect again with a longer -timeout, or read "
						    "its memory (heapdump PID export FILE)" };
}

/* There are no objects at all: why? */
static enum hd_status no_heap(const struct collecting *collecting, struct hd_error *err)
{
	struct reason reason = reason_of(collecting);
	errno = 0;
	return fail(err, HD_ERR_OS, 0, "no heap was collected from process %d, %s: %s",
		    collecting->endpoint->pid, reason.what, reason.advice);
}

/* Add findings about what is missing. */
static void add_collect_findings(struct collecting *collecting)
{
	struct collected *best = &collecting->best;
	char number[NUMBER_SIZE];
	if (!best->is_complete) {
		struct reason reason = reason_of(collecting);
		findings_add(&best->findings, FINDING_PARTIAL, reason.advice,
			     "%s (a buffer of %s MB)", reason.what,
			     format_thousands(best->buffer / MEGABYTE, number));
	}
	if (best->unnamed) {
		findings_add(&best->findings, FINDING_UNRESOLVED_TYPE, NULL,
			     "the process did not name the types of %s objects, as happens "
			     "while others trace it too",
			     format_thousands(best->unnamed, number));
	}
}

static void tell_buffer(const struct collecting *collecting, uint64_t buffer)
{
	const char *bound = "";
	char number[NUMBER_SIZE];
	if (buffer >= room_largest(&collecting->room)) {
		bound = collecting->room.is_cgroup ? " (what its cgroup leaves it)"
						   : " (what the machine has free)";
	}
	say_collecting(collecting,
		       "%sprocess %d is asked for a buffer of up to %s MB of its own memory%s",
		       collecting->was_lost ? "events were lost: " : "", collecting->endpoint->pid,
		       format_thousands(buffer / MEGABYTE, number), bound);
}

/* The last try has brought all objects, but types without names: prepare a try for these. */
static enum hd_status prepare_names(struct collecting *collecting, bool *ret_again,
				    struct hd_error *err)
{
	if (collecting->name_tries++ == 0) {
		say_collecting(collecting, "process %d did not name all types: trying again",
			       collecting->endpoint->pid);
		*ret_again = !is_too_late(collecting);
		return *ret_again ? flush_types(collecting, err) : HD_OK;
	}
	say_collecting(collecting,
		       "process %d did not name all types: trying again when other traces of it "
		       "have ended",
		       collecting->endpoint->pid);
	const struct patience patience = patience_of(collecting, OTHERS_MS);
	job_begin(collecting->job, "Waiting for other traces of the process", 0);
	TRY(others_await_end(collecting->endpoint->pid, &patience, ret_again, err));
	*ret_again = *ret_again && !is_too_late(collecting);
	return *ret_again ? flush_types(collecting, err) : HD_OK;
}

/* Decide what comes after a try; *@p buffer is that of the next one, 0: there is none. */
static enum hd_status plan_next(struct collecting *collecting, uint64_t *buffer,
				struct hd_error *err)
{
	const struct collected *best = &collecting->best;
	bool is_again = false;
	/* Nothing came, and there is no time for another try: that is what the user can change. */
	if (collecting->end == TRACE_IDLE && is_starting(collecting) && is_too_late(collecting))
		collecting->end = TRACE_TIMEOUT;
	if (is_too_late(collecting) || collecting->end == TRACE_HUNG_UP ||
	    collecting->end == TRACE_TIMEOUT || collecting->end == TRACE_STOPPED) {
		*buffer = 0;
		return HD_OK;
	}
	if (best->is_complete) {
		if (best->unnamed && collecting->name_tries < NAME_TRIES_MAX)
			TRY(prepare_names(collecting, &is_again, err));
		*buffer = is_again ? *buffer : 0;
		return HD_OK;
	}
	/* Nothing at all has come: the collection may have been that of another session. */
	if (best->file.fd < 0 && !collecting->was_lost && collecting->end == TRACE_IDLE) {
		if (is_starting(collecting))
			collecting->best.tries--;
		*buffer = best->tries < 2 ? *buffer : 0;
		return HD_OK;
	}
	if (!collecting->was_lost || best->tries >= COLLECT_TRIES_MAX + collecting->name_tries) {
		*buffer = 0;
		return HD_OK;
	}
	*buffer = next_buffer(collecting, *buffer);
	return HD_OK;
}

static enum hd_status try_all(struct collecting *collecting, struct hd_error *err)
{
	uint64_t buffer = collecting->options->buffer, told = 0;
	buffer = buffer ? (buffer + MEGABYTE - 1) / MEGABYTE * MEGABYTE
			: room_first(&collecting->room);
	if (buffer > room_largest(&collecting->room))
		buffer = room_largest(&collecting->room);
	while (buffer) {
		if (buffer != told)
			tell_buffer(collecting, buffer);
		told = buffer;
		enum hd_status status = try_once(collecting, buffer, err);
		if (status == HD_OK) {
			status = plan_next(collecting, &buffer, err);
		} else if (collecting->best.file.fd >= 0 && status != HD_ERR_CANCELLED &&
			   status != HD_ERR_NOMEM) {
			break; /* it does not lose the result of an earlier one */
		}
		TRY(status);
	}
	if (collecting->best.file.fd < 0)
		return no_heap(collecting, err);
	add_collect_findings(collecting);
	return HD_OK;
}

/* A runtime that connects to us may wait for this before it starts. */
static enum hd_status resume_runtime(const struct collecting *collecting, struct hd_error *err)
{
	struct endpoint *endpoint = collecting->endpoint;
	if (endpoint->listener < 0 || endpoint->is_resumed)
		return HD_OK;
	const struct patience patience = patience_of(collecting, FLUSH_MS);
	HD_CLEANUP(text) struct text message = { 0 }, reply = { 0 };
	uint32_t code;
	ipc_message(&message, IPC_RESUME_RUNTIME, NULL, 0);
	enum hd_status status = connection_call(endpoint, &message, &patience, &reply, &code, err);
	endpoint->is_resumed = status == HD_OK;
	return status;
}

static void tell_waiting(void *arg)
{
	struct collecting *collecting = arg;
	say_collecting(collecting, "another heapdump collects from process %d: waiting for its end",
		       collecting->endpoint->pid);
	job_begin(collecting->job, "Waiting for another heapdump", 0);
}

static enum hd_status run_collecting(struct collecting *collecting, struct hd_error *err)
{
	TRY(resume_runtime(collecting, err));
	TRY(flush_old(collecting, err));
	room_read("", collecting->endpoint->pid, &collecting->room);
	return try_all(collecting, err);
}

enum hd_status collect_snapshot(struct endpoint *endpoint, const struct collect_options *options,
				struct job *job, struct collected *ret, struct hd_error *err)
{
	struct collecting collecting = { .endpoint = endpoint,
					 .options = options,
					 .job = job,
					 .best = { .file = { .fd = -1 } } };
	int turn;
	/* One that connects to us may have just been told to start. */
	const uint64_t age = endpoint->listener >= 0 ? 0 : process_age(endpoint->pid);
	if (age < START_MS)
		collecting.start_deadline = collect_now_ms() + START_MS - age;
	const struct patience patience = { .job = job, .deadline = deadline(&collecting) };
	TRY(others_exclude(endpoint, &patience, tell_waiting, &collecting, &turn, err));
	enum hd_status status = run_collecting(&collecting, err);
	if (turn >= 0)
		(void)close(turn);
	if (status != HD_OK) {
		collected_deinit(&collecting.best);
		return status;
	}
	*ret = collecting.best;
	return HD_OK;
}
