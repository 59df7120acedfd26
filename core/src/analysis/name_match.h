/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ANALYSIS_NAME_MATCH_H
#define HEAPDUMP_SRC_ANALYSIS_NAME_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Does @p name hold @p part, as the option -type means it?
 *
 * Without a capital letter in @p part, capital and small ASCII letters are the same.  A star in it is any
 * characters or none; with ^ as its first character the name must begin so, with $ as its last it must end so.
 * Backticks are passed over on both sides; an arity in @p part (`2, or 2) stands for so many arguments where the
 * name has them: <A, B>.  Any character may be written as an escape, as those are that are printed so: \u000a, a
 * byte that is not UTF-8 as \xff.
 */
bool name_matches(const char *name, size_t size, const char *part);

#endif
