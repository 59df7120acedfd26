/* SPDX-License-Identifier: MIT */
#pragma once

#include "collect/connection.h"

/*
 * A snapshot that the process takes itself, by our profiler's library, which its runtime is told to load
 * (doc/formats.md 8.3).
 */

/** The library's answer about the file that it has written. */
struct inside_answer {
	uint64_t is_complete, objects, references, roots, size;
};

/**
 * Find the library that belongs to this program, and check that process @p pid sees the same one: it is loaded into
 * the process, so that only the user and root may be able to change it.
 *
 * @param[out] ret Its path is appended.
 * @retval HD_ERR_NOTFOUND it is not installed
 * @retval HD_ERR_OS it is not trusted, or the process sees another one, or none
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status inside_find_library(int pid, struct text *ret, struct hd_error *err);

/**
 * Send the library, and wait until it has written the file.
 *
 * @param[in] path The file, absolute, as the process sees it.
 * @retval HD_ERR_OS the runtime or the library has refused; the message says why
 * @retval HD_ERR_FORMAT not an answer
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status inside_collect(struct endpoint *endpoint, const char *library,
					   const char *path, const struct patience *patience,
					   struct inside_answer *ret, struct hd_error *err);
