/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/job.h"
#include "util/output_place.h"

struct background_writer;

/**
 * A file that gets its name only when it is complete.  It is written without a name (O_TMPFILE), so
 * that nothing remains of it however the process ends; or, if the file system cannot do that, under
 * another name, and renamed at the end.  If the path exists and is not a regular file (/dev/null, a
 * FIFO), it is written directly.  For permissions and for who may replace what, see output_place.h.
 */
struct output_file {
	int fd;
	char *path; /**< for messages */
	struct output_place
		*place;  /**< where it will be; NULL: it is written directly, or will never have a
			  * name */
	struct job *job; /**< job of the thread that opened it, or NULL; borrowed */
	uint64_t size;   /**< bytes given to output_file_write() */
	int error;       /**< errno of the first failed write, or 0 */
	struct background_writer *writer; /**< or NULL */
};

/**
 * @param[in] path Borrowed for the call.
 * @param job A job of this thread, or NULL: it can stop the wait for the reader of a FIFO, here and
 * while the file is written.  It must live as long as the file is open.
 * @retval HD_OK
 * @retval HD_ERR_OS the directory cannot be written, @p path is a directory, ...
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status output_file_open(struct output_file *file, const char *path,
					     struct job *job, struct hd_error *err);

/**
 * Open a file without a name in $TMPDIR or /tmp, which disappears when it is closed.  To be
 * abandoned; to be committed only to get the error of a failed write.  It can be read, also at
 * /proc/self/fd.  Its path is that of the folder.
 */
HD_NODISCARD enum hd_status output_file_open_unnamed(struct output_file *file,
						     struct hd_error *err);

/**
 * From now on, let another thread write while the next bytes are made.  This is not done for what
 * is written directly: that may wait for a reader, and the waiting thread must notice that the job
 * was stopped.
 */
void output_file_write_in_background(struct output_file *file);

/**
 * Write all @p size bytes; false if this or an earlier write failed: output_file_commit() says why.
 */
bool output_file_write(struct output_file *file, const char *bytes, size_t size);

/**
 * Give the file its name; on failure it is deleted.
 *
 * @retval HD_ERR_OS
 * @retval HD_ERR_CANCELLED the job was stopped while a reader did not read
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status output_file_commit(struct output_file *file, struct hd_error *err);

/** Give up: the file is deleted.  A zeroed struct with fd -1 is allowed. */
void output_file_abandon(struct output_file *file);
