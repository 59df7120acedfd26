/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_PATH_END_H
#define HEAPDUMP_SRC_UTIL_PATH_END_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "util/fail.h"

/*
 * Who may change where an output goes?  A folder is the caller's own when it belongs to the caller or
 * to root and nobody else may write to it (neither its group nor others, also where it is sticky).
 * In every other folder a name may be a trap: only what belongs to the caller or to root and has no
 * second name (hard link) is written into there; and a link of which that is true is followed only where the
 * folder is sticky: elsewhere others may have moved it there.
 */

/** Where a path leads to, as something to write to: a name in a folder, and what has that name now. */
struct path_end {
	int folder;              /**< O_PATH descriptor, owned; only for calls like openat() */
	char name[NAME_MAX + 1]; /**< in the folder, without a slash */
	bool exists;             /**< something has the name */
	bool is_proc_link; /**< the name is a link in /proc that only the kernel can follow (a pipe) */
	struct stat file;   /**< of what has the name, or of what the link in /proc leads to */
	bool is_own_folder; /**< nobody but the caller and root can change its names */
	bool is_sticky;     /**< of a folder that is not: only its owner can remove a file */
};

/**
 * Go along @p path, from folder to folder by their descriptors, so that nobody can change it under
 * way.  Symbolic links are followed, also the last one, also when it leads to nothing yet; but not
 * where somebody else may have put it there.
 *
 * @param[in] path Borrowed for the call.
 * @param[out] ret To be given to path_end_deinit(); untouched on failure.
 * @retval HD_ERR_OS no such folder, a link that is not followed, too many links, ...
 */
HD_NODISCARD enum hd_status path_end_find(const char *path, struct path_end *ret,
					  struct hd_error *err);

/** Close the folder.  Zeroed, with the folder -1, is allowed. */
void path_end_deinit(struct path_end *end);

/** Is it safe to write into what has the name?  false where somebody else may have put it there. */
bool path_end_is_trusted(const struct path_end *end);

/** HD_ERR_OS, with @p code as its errno: "PATH: cannot write: REASON"; HD_ERR_CANCELLED if ECANCELED. */
enum hd_status path_end_fail(const char *path, int code, struct hd_error *err);

#endif
