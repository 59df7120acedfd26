/* SPDX-License-Identifier: MIT */
#pragma once

#include "collect/connection.h"
#include "collect/stream_scan.h"
#include "util/output_file.h"

/** When a trace is stopped. */
enum trace_goal {
	TRACE_NOTHING, /**< at once */
	TRACE_ONE_EVENT,
	TRACE_SNAPSHOT, /**< a heap snapshot is there, or parts of it are lost */
};

/** Why it was stopped. */
enum trace_end {
	TRACE_REACHED, /**< the trace's goal was reached */
	TRACE_HUNG_UP, /**< the stream ended before that */
	TRACE_IDLE,    /**< no data came, and the process did nothing */
	TRACE_TIMEOUT,
	TRACE_STOPPED, /**< the process was stopped, by a debugger or a signal */
};

/** The connections of a session. */
struct trace_session {
	int stream, control; /**< sockets; control: for the command that stops the session, or -1 */
	uint64_t id;
};

/** One EventPipe session: its stream goes to a file, and a scan reads it on the way. */
struct trace {
	struct endpoint *endpoint;
	struct job *job;
	struct output_file *file; /**< NULL: nowhere */
	enum trace_goal goal;
	uint64_t deadline; /**< until when the goal must be reached, by collect_now_ms() */
	bool is_hasty; /**< give up soon when nothing comes: the runtime may not have started yet */
	struct stream_scan scan;
	uint64_t size;    /**< bytes of the stream */
	uint64_t written; /**< bytes whose writing to the disk has begun */
	enum trace_end end;
	/* while it runs */
	struct trace_session session;
	bool is_stopping, has_ended;
	bool is_given_up;    /**< waiting for its end is useless */
	uint64_t last_bytes; /**< when the last bytes came, by collect_now_ms() */
	uint64_t drain_end;  /**< after it was told to stop: until when the rest is read */
	struct watch watch;
	char progress[80];
	uint8_t *buffer;
};

/**
 * Begin a session, by the newest command that the runtime knows.
 *
 * @param command Index of the newest command to try, 0 at first; set to the one that was accepted.
 * @param trace The caller has set the members that are not "while it runs"; to be given to
 * trace_deinit() in any case.
 */
HD_NODISCARD enum hd_status trace_begin(struct trace *trace, const struct ipc_session *session,
					unsigned int *command, struct hd_error *err);

/**
 * Receive until the goal is reached or cannot be reached, stop the session, and read the rest.
 *
 * @retval HD_OK trace->end says why
 * @retval HD_ERR_FORMAT it is not a NetTrace stream
 * @retval HD_ERR_OS the file cannot be written: see trace->file->error
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status trace_run(struct trace *trace, struct hd_error *err);

/** Stops the session if it still runs. */
void trace_deinit(struct trace *trace);
