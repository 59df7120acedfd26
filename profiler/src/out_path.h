/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/*
 * Patterns of file names: %p is the id of the process, %t the time (20261125-143059, local), %r the reason (signal,
 * rss, every, oom, exit, heap, growth, pressure, high), %% a percent sign.
 */

/** The mistake in a pattern, in a few words; NULL: none. */
const char *out_path_problem(const char *pattern);

/** Is its format one that the library writes, and cannot read? */
bool out_path_is_only_written(const char *pattern);

/**
 * Make the name of a file.
 *
 * @param[out] ret The name, NUL-terminated.
 * @return false if it does not fit into @p size bytes
 */
bool out_path_make(const char *pattern, int pid, time_t now, const char *reason, char *ret,
		   size_t size);

/** Could @p name, without a folder, be of a file that out_path_make() has named? */
bool out_path_matches(const char *pattern, const char *name);
