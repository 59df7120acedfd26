/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_OUTPUT_FILE_H
#define HEAPDUMP_SRC_UTIL_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct write_behind;

/**
 * A file that appears under its name only when it is complete: it is written without a name, so that
 * nothing is left of it however the process ends (O_TMPFILE), or beside the name where the file system
 * cannot do that, and renamed at the end.  What exists and is no regular file (/dev/null, a FIFO) is
 * written straight.
 */
struct output_file {
	int fd;
	char *path;
	char *temporary;             /**< a name to open it by until then; NULL: written straight */
	bool is_unnamed;             /**< temporary is not in its folder yet */
	int error;                   /**< errno of the first failed write, or 0 */
	struct write_behind *behind; /**< or NULL */
};

/**
 * @param[in] path Borrowed for the call.
 * @retval HD_OK
 * @retval HD_ERR_OS the directory cannot be written, @p path is a directory, ...
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status output_file_open(struct output_file *file, const char *path,
					     struct hd_error *err);

/**
 * A file without a name in $TMPDIR, else /tmp: gone once it is closed, to be abandoned, not committed
 * unless a write failed.  It can be read, also at /proc/self/fd.
 */
HD_NODISCARD enum hd_status output_file_open_unnamed(struct output_file *file,
						     struct hd_error *err);

/**
 * Let a thread of its own do the writing from now on, while the next bytes are made.  What is written
 * straight is not: it may wait for a reader, and a signal is to find who waits.
 */
void output_file_write_behind(struct output_file *file);

/** Write all of @p size bytes; false once that failed: output_file_commit() says why. */
bool output_file_write(struct output_file *file, const char *bytes, size_t size);

/** Make the file appear; on failure nothing of it is left. */
HD_NODISCARD enum hd_status output_file_commit(struct output_file *file, struct hd_error *err);

/** Give up: nothing of it is left. */
void output_file_abandon(struct output_file *file);

#endif
