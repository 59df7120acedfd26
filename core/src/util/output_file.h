/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_OUTPUT_FILE_H
#define HEAPDUMP_SRC_UTIL_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/job.h"
#include "util/output_place.h"

struct write_behind;

/**
 * A file that appears under its name only when it is complete: it is written without a name, so that
 * nothing is left of it however the process ends (O_TMPFILE), or under another name where the file
 * system cannot do that, and renamed at the end.  What exists and is no regular file (/dev/null, a
 * FIFO) is written straight.  Who may replace what, and its permissions: output_place.h.
 */
struct output_file {
	int fd;
	char *path; /**< for messages */
	struct output_place
		*place;  /**< where it will be; NULL: written straight, or never to appear */
	struct job *job; /**< of the thread that opened it, or NULL; borrowed */
	uint64_t size;   /**< bytes given to output_file_write() */
	int error;       /**< errno of the first failed write, or 0 */
	struct write_behind *behind; /**< or NULL */
};

/**
 * @param[in] path Borrowed for the call.
 * @param job Of this thread, or NULL: stops the wait for the reader of a FIFO, here and while it is
 * written.  It must live as long as the file is open.
 * @retval HD_OK
 * @retval HD_ERR_OS the directory cannot be written, @p path is a directory, ...
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status output_file_open(struct output_file *file, const char *path,
					     struct job *job, struct hd_error *err);

/**
 * A file without a name in $TMPDIR, else /tmp: gone once it is closed, to be abandoned, not committed
 * unless a write failed.  It can be read, also at /proc/self/fd.  Its path is that of the folder.
 */
HD_NODISCARD enum hd_status output_file_open_unnamed(struct output_file *file,
						     struct hd_error *err);

/**
 * Let a thread of its own do the writing from now on, while the next bytes are made.  What is written
 * straight is not: it may wait for a reader, and whoever waits must see that the job was stopped.
 */
void output_file_write_behind(struct output_file *file);

/** Write all of @p size bytes; false once that failed: output_file_commit() says why. */
bool output_file_write(struct output_file *file, const char *bytes, size_t size);

/**
 * Make the file appear; on failure nothing of it is left.
 *
 * @retval HD_ERR_OS
 * @retval HD_ERR_CANCELLED the job was stopped while a reader did not read
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status output_file_commit(struct output_file *file, struct hd_error *err);

/** Give up: nothing of it is left.  A zeroed struct with fd -1 is allowed. */
void output_file_abandon(struct output_file *file);

#endif
