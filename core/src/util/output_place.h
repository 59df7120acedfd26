/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_OUTPUT_PLACE_H
#define HEAPDUMP_SRC_UTIL_OUTPUT_PLACE_H

#include <stdbool.h>

#include "util/fail.h"
#include "util/job.h"

/*
 * Where outputs go: all that has to do with the names of files.  Whoever writes needs nothing of it
 * but a descriptor.
 *
 * What is written may hold the secrets of a process, and whoever runs this may be root:
 *
 * - A new file gets the mode 0600, less the umask.
 * - One that replaces a file of the caller's, in a folder of the caller's own (see path_end.h), gets
 *   the permissions of that one: of 0777, without those for another group.  Nothing else is taken
 *   over, neither owner nor ACLs nor capabilities.
 * - In a sticky folder that is not the caller's own, a file of somebody else is not replaced.
 * - What is no regular file (a device, a FIFO) is written into, but only where the caller's own folder
 *   has it, or it belongs to the caller or to root and has no second name.
 * - A link is followed only under the same condition.
 */

/** The place of a file that is not complete yet. */
struct output_place;

/**
 * Open what will get the name @p path; see struct output_file for how.
 *
 * @param[in] path Borrowed for the call.
 * @param job Of this thread, or NULL: stops the wait for a reader of a FIFO.
 * @param[out] ret To be given to output_place_commit() or output_place_abandon(); NULL for what is
 * written straight: it is complete when the descriptor is closed.
 * @param[out] ret_fd Owned; what is written straight does not block.
 * @retval HD_ERR_OS the directory cannot be written, @p path is a directory, ...
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status output_place_open(const char *path, struct job *job,
					      struct output_place **ret, int *ret_fd,
					      struct hd_error *err);

/**
 * Would output_place_open() do it?  Tries it, but waits for nobody, and leaves nothing.
 *
 * @param[out] ret_straight Is it written straight?
 */
HD_NODISCARD enum hd_status output_place_check(const char *path, bool *ret_straight,
					       struct hd_error *err);

/**
 * Give the file its name.  It frees @p place in any case; on failure nothing of it is left.
 *
 * @param fd What output_place_open() gave, with everything written; stays open.
 * @return errno, or 0.
 */
int output_place_commit(struct output_place *place, int fd);

/** Leave nothing of it, and free @p place; NULL is allowed. */
void output_place_abandon(struct output_place *place);

/**
 * Open a file to write into it as it is: it is created, or cut to nothing, or appended to.  What is
 * there is written into only where output_place_open() would write it straight, were it no regular file.
 *
 * @param job Of this thread, or NULL: stops the wait for a reader of a FIFO.
 * @param[out] ret_fd Owned; writing to it blocks.
 * @retval HD_ERR_OS
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status output_place_open_stream(const char *path, bool append, struct job *job,
						     int *ret_fd, struct hd_error *err);

/**
 * A file without a name in $TMPDIR, else /tmp, that is gone once it is closed.
 *
 * @param[out] ret_folder $TMPDIR or /tmp; borrowed from the environment.  Set on failure, too.
 * @return A descriptor, owned; -1 and errno.
 */
int output_place_open_unnamed(const char **ret_folder);

#endif
