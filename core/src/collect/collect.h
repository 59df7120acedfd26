/* SPDX-License-Identifier: MIT */
#pragma once

#include "collect/connection.h"
#include "collect/room.h"
#include "util/findings.h"
#include "util/output_file.h"

/** The content of a received stream, as its check has found it. */
struct collected_check {
	uint32_t snapshot;            /**< number of the heap snapshot that is the best */
	bool is_whole;                /**< nothing of it is missing */
	uint64_t objects, references; /**< usable ones in that snapshot */
	uint64_t unnamed;             /**< objects whose type has no name */
};

/** Options for taking a snapshot. */
struct collect_options {
	uint64_t buffer;   /**< bytes of the first try; 0: from an estimate */
	uint64_t deadline; /**< for all tries together, by collect_now_ms(); 0: each try gets one
			   * that depends on the size of the process */
	bool generations;  /**< also ask for the address ranges of the generations */
	const char *path; /**< the stream is written to this file; NULL: to a file without a name */
	/** Called once for each try, before it begins; may be NULL. */
	void (*say)(void *arg, const char *line);
	/** Check what has arrived; NULL: only what the events say while they arrive counts. */
	enum hd_status (*check)(void *arg, int fd, struct collected_check *ret,
				struct hd_error *err);
	void *arg;
};

/** A stream that was collected. */
struct collected {
	struct output_file file; /**< the stream, complete; to be committed or abandoned */
	uint64_t size;           /**< its size in bytes */
	uint64_t objects, references, unnamed;
	uint32_t snapshot; /**< which of the snapshots in the stream; 0: the first */
	uint64_t buffer;   /**< bytes asked for in the last try */
	unsigned int tries;
	bool is_complete;
	struct findings findings; /**< what is missing */
};

/**
 * Take one snapshot of the heap of a runtime, over EventPipe (doc/formats.md 9): its garbage
 * collector walks the heap, and the process is stopped for that time.  If events are lost, it is
 * done again with a larger buffer; if names of types are lost, it is done again when other traces
 * of the process have ended.
 *
 * @param[out] ret To be given to collected_deinit(); untouched on failure, and then no file
 * remains.
 * @retval HD_OK at least some objects are there: see ret->is_complete
 * @retval HD_ERR_OS
 * @retval HD_ERR_FORMAT not a NetTrace stream, or not a reply
 * @retval HD_ERR_UNSUPPORTED the runtime has no such command
 * @retval HD_ERR_CANCELLED the session was stopped
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status collect_snapshot(struct endpoint *endpoint,
					     const struct collect_options *options, struct job *job,
					     struct collected *ret, struct hd_error *err);

/** Abandons the file if it was not committed.  A zeroed struct with fd -1 is allowed. */
void collected_deinit(struct collected *collected);
