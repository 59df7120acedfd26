/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COLLECT_TRACE_H
#define HEAPDUMP_SRC_COLLECT_TRACE_H

#include "collect/connection.h"
#include "collect/stream_scan.h"
#include "util/output_file.h"

/** When a trace is stopped. */
enum trace_goal {
	TRACE_ONE_EVENT,
	TRACE_SNAPSHOT, /**< a heap snapshot is there, or parts of it are lost */
};

/** Why it was stopped. */
enum trace_end {
	TRACE_REACHED, /**< its goal */
	TRACE_HUNG_UP, /**< the stream ended before */
	TRACE_IDLE,    /**< nothing came, and the process did nothing */
	TRACE_TIMEOUT,
	TRACE_STOPPED, /**< the process was, by a debugger or a signal */
};

/** One EventPipe session: its stream goes to a file and past a scan. */
struct trace {
	struct endpoint *endpoint;
	struct job *job;
	struct output_file *file; /**< NULL: nowhere */
	enum trace_goal goal;
	uint64_t deadline; /**< of the goal, by collect_now_ms() */
	bool is_hasty; /**< give up soon when nothing comes: the runtime may not have started yet */
	struct stream_scan scan;
	uint64_t size;    /**< bytes of the stream */
	uint64_t written; /**< of them, on the way to the disk */
	enum trace_end end;
	/* while it runs */
	int stream, control; /**< sockets; control: the command that stops it, or -1 */
	uint64_t session;
	bool is_stopping, has_ended;
	bool is_given_up;    /**< there is no use in waiting for its end */
	uint64_t last_bytes; /**< by collect_now_ms() */
	uint64_t drain_end;  /**< until when the rest is taken once it is stopping */
	struct watch watch;
	char progress[80];
	uint8_t *buffer;
};

/**
 * Begin a session, by the newest command that the runtime knows.
 *
 * @param command Index of the newest one to try, 0 at first; becomes the one that was taken.
 * @param trace What is not "while it runs" was set before; to be given to trace_deinit() in any case.
 */
HD_NODISCARD enum hd_status trace_begin(struct trace *trace, const struct ipc_session *session,
					unsigned int *command, struct hd_error *err);

/**
 * Receive until the goal is reached or will not be, stop the session, and take the rest.
 *
 * @retval HD_OK trace->end says why
 * @retval HD_ERR_FORMAT it is no NetTrace stream
 * @retval HD_ERR_OS the file cannot be written: see trace->file->error
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status trace_run(struct trace *trace, struct hd_error *err);

/** A session that still runs is stopped. */
void trace_deinit(struct trace *trace);

#endif
