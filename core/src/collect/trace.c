/* SPDX-License-Identifier: MIT */
#include "collect/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/text.h"

#define TRACE_BUFFER_SIZE ((size_t)1 << 20)
#define WRITE_STEP        ((uint64_t)8 << 20)
#define TRACE_POLL_MS     100
#define HASTY_MS          10000u /* for the answer of a runtime that connects to us */
#define STOP_MS           2000u  /* for sending the command that stops the session */
#define IDLE_MS           5000u  /* without bytes and without work: nothing will come */
#define SILENCE_MS        10000u /* without bytes after the first objects */
#define TRACE_LOOK_MS     1000u  /* without bytes, before we look at what the process does */
#define DRAIN_MS          2500u  /* after the deadline, for the rest of a stream that is stopped */
#define CANCELLED_MS      3000u  /* for the end of a session that is no longer needed */

static const enum ipc_command commands[] = { IPC_COLLECT_TRACING_5, IPC_COLLECT_TRACING_4,
					     IPC_COLLECT_TRACING_3, IPC_COLLECT_TRACING_2 };

#define COMMAND_COUNT ((unsigned int)(sizeof(commands) / sizeof(commands[0])))

static enum hd_status trace_refused(const struct trace *trace, uint32_t code, struct hd_error *err)
{
	const char *text = ipc_error_text(code);
	return fail(err, HD_ERR_UNSUPPORTED, 0, "process %d does not begin a trace (0x%08x): %s",
		    trace->endpoint->pid, code, text ? text : "its runtime gives no reason");
}

/*
 * Send one command; if it is accepted, the connection becomes the stream.  The runtime collects
 * garbage and walks its heap before it answers; it also does so later for requests that were given
 * up.
 */
static enum hd_status ask_for_trace(struct trace *trace, const struct ipc_session *session,
				    enum ipc_command command, uint32_t *ret_code,
				    struct hd_error *err)
{
	uint64_t deadline = trace->deadline;
	if (trace->is_hasty && trace->endpoint->listener >= 0 &&
	    collect_now_ms() + HASTY_MS < deadline)
		deadline = collect_now_ms() + HASTY_MS;
	const struct patience patience = { .job = trace->job,
					   .deadline = deadline,
					   .watch = &trace->watch };
	HD_CLEANUP(text) struct text message = { 0 }, reply = { 0 };
	int fd = -1;
	ipc_collect_message(&message, command, session);
	enum hd_status status = connection_send(trace->endpoint, &message, &patience, &fd, err);
	if (status == HD_OK)
		status = connection_reply(trace->endpoint, fd, &patience, &reply, ret_code, err);
	if (status == HD_OK && !*ret_code && reply.size < sizeof(trace->session.id)) {
		status = fail(err, HD_ERR_FORMAT, 0, "process %d sent no number of a session",
			      trace->endpoint->pid);
	}
	if (status == HD_OK && !*ret_code) {
		memcpy(&trace->session.id, reply.bytes, sizeof(trace->session.id));
		trace->session.stream = fd;
		fd = -1;
	}
	if (fd >= 0)
		(void)close(fd);
	return status;
}

enum hd_status trace_begin(struct trace *trace, const struct ipc_session *session,
			   unsigned int *command, struct hd_error *err)
{
	trace->session.stream = trace->session.control = -1;
	trace->watch = watch_of(trace->endpoint->pid, collect_now_ms());
	trace->buffer = mem_alloc(TRACE_BUFFER_SIZE, 1);
	TRY_MEMORY(trace->buffer, err);
	uint32_t code = IPC_UNKNOWN_COMMAND;
	for (; *command < COMMAND_COUNT; ++*command) {
		TRY(ask_for_trace(trace, session, commands[*command], &code, err));
		if (code != IPC_UNKNOWN_COMMAND)
			break;
	}
	if (code == IPC_UNKNOWN_COMMAND) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "process %d has a runtime before .NET Core 3.1: read its memory "
			    "instead (heapdump PID export FILE)",
			    trace->endpoint->pid);
	}
	if (code)
		return trace_refused(trace, code, err);
	/* For a runtime that connects to us, this is known only now. */
	trace->last_bytes = collect_now_ms();
	trace->watch = watch_of(trace->endpoint->pid, trace->last_bytes);
	return HD_OK;
}

/* Is there no descriptor or memory left for a connection? */
static bool error_means_used_up(const struct hd_error *err)
{
	return err->os_errno == EMFILE || err->os_errno == ENFILE || err->os_errno == ENOBUFS ||
	       err->os_errno == ENOMEM;
}

/*
 * Send the command that stops the session; its reply comes later, while the stream is read.  If no
 * connection can be made, only closing the stream ends the session.
 */
static enum hd_status stop_session(struct trace *trace, struct hd_error *err)
{
	if (trace->is_stopping || trace->has_ended)
		return HD_OK;
	trace->is_stopping = true;
	trace->last_bytes = collect_now_ms();
	trace->drain_end =
		trace->last_bytes > trace->deadline ? trace->last_bytes : trace->deadline;
	trace->drain_end += DRAIN_MS;
	const struct patience patience = { .deadline = trace->last_bytes + STOP_MS,
					   .watch = &trace->watch };
	HD_CLEANUP(text) struct text message = { 0 };
	struct hd_error reason = { 0 };
	ipc_message(&message, IPC_STOP_TRACING, &trace->session.id, sizeof(trace->session.id));
	enum hd_status status = connection_send(trace->endpoint, &message, &patience,
						&trace->session.control, &reason);
	if (status == HD_OK)
		return HD_OK;
	trace->session.control = -1;
	if (status == HD_ERR_OS && error_means_used_up(&reason)) {
		trace->is_given_up = true;
		if (err)
			*err = reason;
		return status;
	}
	/* The runtime has not received it: what does not come soon will never come. */
	if (status == HD_ERR_OS && reason.os_errno)
		trace->drain_end = trace->last_bytes + DRAIN_MS;
	return HD_OK;
}

/* The reply to that command: it is not needed. */
static void take_reply(struct trace *trace)
{
	uint8_t bytes[64];
	ssize_t got = recv(trace->session.control, bytes, sizeof(bytes), 0);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	(void)close(trace->session.control);
	trace->session.control = -1;
}

/* Wait for bytes; true: there are some, or the end. */
static bool wait_for_bytes(struct trace *trace)
{
	struct pollfd at[2] = { { .fd = trace->session.stream, .events = POLLIN },
				{ .fd = trace->session.control, .events = POLLIN } };
	if (poll(at, 2, TRACE_POLL_MS) <= 0)
		return false;
	if (trace->session.control >= 0 && at[1].revents)
		take_reply(trace);
	return at[0].revents != 0;
}

/* Read bytes of the stream into the buffer; 0: there are none now, or trace->has_ended. */
static size_t receive_trace(struct trace *trace)
{
	ssize_t got = recv(trace->session.stream, trace->buffer, TRACE_BUFFER_SIZE, 0);
	if (got > 0)
		return (size_t)got;
	if (got == 0 || (errno != EAGAIN && errno != EINTR))
		trace->has_ended = true;
	return 0;
}

static enum hd_status write_bytes(struct trace *trace, size_t size, struct hd_error *err)
{
	if (!trace->file)
		return HD_OK;
	if (!output_file_write(trace->file, (const char *)trace->buffer, size))
		return fail(err, HD_ERR_OS, 0, "the trace cannot be written");
	/*
	 * Begin writing to the disk while more comes, so that little has to be written at the end.
	 */
	if (trace->file->place && trace->size - trace->written >= WRITE_STEP) {
		(void)sync_file_range(trace->file->fd, (off_t)trace->written,
				      (off_t)(trace->size - trace->written), SYNC_FILE_RANGE_WRITE);
		trace->written = trace->size;
	}
	return HD_OK;
}

static enum hd_status take_trace_bytes(struct trace *trace, size_t size, struct hd_error *err)
{
	trace->last_bytes = collect_now_ms();
	trace->size += size;
	TRY_MEMORY(stream_scan_feed(&trace->scan, trace->buffer, size), err);
	if (trace->scan.state == SCAN_BAD) {
		return fail(err, HD_ERR_FORMAT, trace->scan.offset,
			    "process %d sent no trace that can be read: %s (at byte %llu): try "
			    "again",
			    trace->endpoint->pid, trace->scan.problem,
			    (unsigned long long)trace->scan.offset);
	}
	return write_bytes(trace, size, err);
}

static bool goal_is_reached(const struct trace *trace)
{
	const struct stream_scan *scan = &trace->scan;
	if (trace->goal == TRACE_ONE_EVENT)
		return scan->snapshot.event_count > 0;
	return scan->snapshot.is_done || scan->snapshot.is_lost;
}

/* Is it useless to wait any longer? trace->end gets the reason. */
static bool is_in_vain(struct trace *trace)
{
	uint64_t now = collect_now_ms();
	uint64_t silence = now - trace->last_bytes;
	watch_look(&trace->watch, now);
	if (trace->watch.is_stopped) {
		trace->is_given_up = true;
		trace->end = trace->is_stopping ? trace->end : TRACE_STOPPED;
		return true;
	}
	if (trace->is_stopping) {
		trace->is_given_up = now >= trace->drain_end || silence >= SILENCE_MS;
		return trace->is_given_up;
	}
	trace->end = TRACE_TIMEOUT;
	if (now >= trace->deadline)
		return true;
	trace->end = TRACE_IDLE;
	/* The heap was walked before the reply came; a collection of the program's own may have come in between. */
	if (trace->goal == TRACE_SNAPSHOT && !trace->scan.snapshot.has_nodes &&
	    now - trace->watch.began >= IDLE_MS)
		return true;
	if (silence < TRACE_LOOK_MS)
		return false;
	if (trace->is_hasty && !trace->scan.snapshot.event_count)
		return true;
	if (trace->goal == TRACE_ONE_EVENT)
		return watch_idle(&trace->watch, now) >= TRACE_LOOK_MS;
	if (trace->scan.snapshot.has_nodes && silence >= SILENCE_MS)
		return true;
	return silence >= IDLE_MS && watch_idle(&trace->watch, now) >= IDLE_MS;
}

/* Show progress. */
static void show_trace_progress(struct trace *trace)
{
	char objects[NUMBER_SIZE], size[NUMBER_SIZE];
	if (!trace->job || !trace->scan.snapshot.objects)
		return;
	(void)snprintf(trace->progress, sizeof(trace->progress),
		       "Collecting heap: %s objects, %s MB",
		       format_thousands(trace->scan.snapshot.objects, objects),
		       format_thousands(trace->size >> 20, size));
	trace->job->what = trace->progress;
}

/* One turn of the loop; *@p ret_over: the stream has ended, or will never end. */
static enum hd_status turn(struct trace *trace, bool *ret_over, struct hd_error *err)
{
	size_t got = wait_for_bytes(trace) ? receive_trace(trace) : 0;
	TRY(job_check(trace->job, 0, err));
	if (got) {
		TRY(take_trace_bytes(trace, got, err));
		show_trace_progress(trace);
	}
	*ret_over = trace->has_ended || trace->scan.state == SCAN_END;
	if (*ret_over && !trace->is_stopping)
		trace->end = goal_is_reached(trace) ? TRACE_REACHED : TRACE_HUNG_UP;
	if (*ret_over)
		return HD_OK;
	if (!trace->is_stopping && goal_is_reached(trace)) {
		trace->end = TRACE_REACHED;
		return stop_session(trace, err);
	}
	if (is_in_vain(trace)) {
		*ret_over = trace->is_given_up;
		return stop_session(trace, err);
	}
	return HD_OK;
}

enum hd_status trace_run(struct trace *trace, struct hd_error *err)
{
	for (bool is_over = false; !is_over;)
		TRY(turn(trace, &is_over, err));
	return HD_OK;
}

/* End a session that is no longer needed: the process must not keep it. */
static void drop_session(struct trace *trace)
{
	uint64_t deadline = collect_now_ms() + CANCELLED_MS;
	if (stop_session(trace, NULL) != HD_OK)
		return;
	while (!trace->has_ended && collect_now_ms() < deadline) {
		if (wait_for_bytes(trace))
			(void)receive_trace(trace);
	}
}

void trace_deinit(struct trace *trace)
{
	if (trace->session.stream >= 0 && !trace->has_ended && trace->scan.state != SCAN_END &&
	    !trace->is_given_up)
		drop_session(trace);
	/* The job must not point to the text any longer: its owner goes away. */
	if (trace->job && trace->job->what == trace->progress)
		trace->job->what = "Collecting heap";
	if (trace->session.stream >= 0)
		(void)close(trace->session.stream);
	if (trace->session.control >= 0)
		(void)close(trace->session.control);
	trace->session.stream = trace->session.control = -1;
	mem_free(trace->buffer);
	trace->buffer = NULL;
	stream_scan_deinit(&trace->scan);
	*trace = (struct trace){ 0 };
}
