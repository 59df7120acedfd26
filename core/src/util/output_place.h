/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "util/fail.h"
#include "util/job.h"

/*
 * Where outputs go: everything about the names of files.  Code that writes only needs a descriptor
 * from here.
 *
 * What is written may contain the secrets of a process, and the user may be root:
 *
 * - A new file gets the mode 0600, minus the umask.
 * - A file that replaces a file of the caller, in a folder of the caller's own (see path_end.h),
 *   gets its permissions: those in 0777, without those for another group.  Owner, ACLs and
 *   capabilities are not copied.
 * - In a sticky folder that is not the caller's own, a file that belongs to somebody else is not
 *   replaced.
 * - What is not a regular file (a device, a FIFO) is written into, but only if it is in a folder of
 *   the caller's own, or belongs to the caller or to root and has no second name.
 * - A link is followed only under the same condition.
 * - A folder (its path ends with a slash) is made like a file: it gets its name when it is complete, which
 *   nothing may have before.  Until then, paths in it lead to files that are made
 *   in it; these have their names at once, and go with the folder if that is given up.
 */

/** The place of a file, or a folder, that is not complete yet. */
struct output_place;

/** Bytes of the name that something has until it is complete. */
#define OUTPUT_PART_SIZE 48u
/** Make such a name, which an attacker cannot have taken before, and which is never too long. */
void output_part_name(char part[OUTPUT_PART_SIZE]);

/**
 * Open what will get the name @p path; see struct output_file for how.
 *
 * @param[in] path Borrowed for the call.
 * @param job A job of this thread, or NULL: it can stop the wait for a reader of a FIFO.
 * @param[out] ret To be given to output_place_commit() or output_place_abandon(); NULL for what is
 * written directly: it is complete when the descriptor is closed.  @param[out] ret_fd Owned;
 * non-blocking for what is written directly.
 * @retval HD_ERR_OS the directory cannot be written, @p path is a directory, ...
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status output_place_open(const char *path, struct job *job,
					      struct output_place **ret, int *ret_fd,
					      struct hd_error *err);

/**
 * Would output_place_open() succeed?  Tries it, but does not wait, and leaves nothing behind.
 *
 * @param[out] ret_straight Whether it would be written directly.
 */
HD_NODISCARD enum hd_status output_place_check(const char *path, bool *ret_straight,
					       struct hd_error *err);

/**
 * Give the file its name.  Frees @p place in any case; on failure the file is deleted.
 *
 * @param fd The descriptor of output_place_open(), when everything is written; stays open.
 * @return errno, or 0.
 */
int output_place_commit(struct output_place *place, int fd);

/** Delete the file, and free @p place; NULL is allowed. */
void output_place_abandon(struct output_place *place);

/**
 * Open a file to write directly into it: it is created, or emptied, or appended to.  An existing
 * file is only written into if output_place_open() would write directly into it when it were not a
 * regular file.
 *
 * @param job A job of this thread, or NULL: it can stop the wait for a reader of a FIFO.
 * @param[out] ret_fd Owned; writing to it blocks.
 * @retval HD_ERR_OS
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status output_place_open_stream(const char *path, bool append, struct job *job,
						     int *ret_fd, struct hd_error *err);

/**
 * Open a file without a name in $TMPDIR or /tmp, which disappears when it is closed.
 *
 * @param[out] ret_folder $TMPDIR or /tmp; borrowed from the environment.  Set on failure, too.
 * @return A descriptor, owned; -1 and errno.
 */
int output_place_open_unnamed(const char **ret_folder);
