/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "util/fail.h"

/*
 * Who may change where an output goes?  A folder is the caller's own when it belongs to the caller
 * or to root and nobody else may write to it (neither its group nor others, also where it is
 * sticky).  In every other folder a name may be a trap: there, only files are written into that
 * belong to the caller or to root and have no second name (hard link).  A link of this sort is
 * followed only if the folder is sticky: in others, somebody else may have moved it there.
 */

/** Where a path for writing leads to: a name in a folder, and what has that name now. */
struct path_end {
	int folder;              /**< O_PATH descriptor, owned; only for calls like openat() */
	char name[NAME_MAX + 1]; /**< in the folder, without a slash */
	bool exists;             /**< something has the name */
	bool is_proc_link; /**< the name is a link in /proc that only the kernel can follow (a pipe) */
	struct stat file;   /**< of what has the name, or of what the link in /proc leads to */
	bool is_own_folder; /**< only the caller and root can change its names */
	bool is_sticky;     /**< for another folder: only a file's owner can remove it */
};

/**
 * Follow @p path from folder to folder by their descriptors, so that nobody can change it
 * meanwhile.  Symbolic links are followed, even the last one, and even if it leads to nothing yet;
 * but not if somebody else may have put it there.
 *
 * @param[in] path Borrowed for the call.
 * @param[out] ret To be given to path_end_deinit(); untouched on failure.
 * @retval HD_ERR_OS no such folder, a link that is not followed, too many links, ...
 */
HD_NODISCARD enum hd_status path_end_find(const char *path, struct path_end *ret,
					  struct hd_error *err);

/** Close the folder.  A zeroed struct with the folder -1 is allowed. */
void path_end_deinit(struct path_end *end);

/** Is it safe to write into what has the name? false if somebody else may have put it there. */
bool path_end_is_trusted(const struct path_end *end);

/**
 * Fail with HD_ERR_OS and the errno @p code: "PATH: cannot write: REASON"; with HD_ERR_CANCELLED if
 * it is ECANCELED.
 */
enum hd_status path_end_fail(const char *path, int code, struct hd_error *err);
