/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/path_end.h"

/*
 * Folders that get their names when all files in them are complete.  Until then a folder has a hidden name next to
 * the one that it will have, and is one of those that this process has begun: a path in it, by the name that it will
 * have, leads there.
 */

/** One of them. */
struct output_folder;

/** Does the path name a folder that is to be made: does it end with a slash? */
bool output_folder_is_meant(const char *path);

/**
 * Begin one.  Nothing may have the name already.
 *
 * @param[in] path Ends with a slash.
 * @param[out] ret To be given to output_folder_end().
 * @param[out] ret_fd Owned by the caller, O_PATH: of no use but to be closed.
 * @retval HD_ERR_OS
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status output_folder_begin(const char *path, struct output_folder **ret,
						int *ret_fd, struct hd_error *err);

/**
 * Give it its name, or delete it with all files that were made in it; free it.
 *
 * @return errno, or 0; then it is deleted.
 */
int output_folder_end(struct output_folder *folder, bool is_complete);

/**
 * Make a file in a folder that was begun.
 *
 * @return A descriptor; -1 and errno; ENOENT: the path is in none of them.
 */
int output_folder_file(const char *path);
