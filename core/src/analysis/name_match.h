/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/**
 * Does @p name contain @p part, as the option -type means it?
 *
 * If @p part has no capital letter, capital and small ASCII letters are the same.  A star in it
 * matches any characters or none; if its first character is ^ the name must begin with it, if its
 * last one is $ the name must end with it.  Backticks are ignored on both sides; an arity in
 * @p part (`2, or 2) matches that many arguments in the name: <A, B>.  Any character may be written
 * as the escape that answers show for some: \u000a, or \xff for a byte that is not UTF-8.
 */
bool name_matches(const char *name, size_t size, const char *part);

/**
 * Is @p name called @p wanted?  If there is a star, ^ or $ in @p wanted, as name_matches() means it; else the whole name
 * must be the same.
 */
bool name_is(const char *name, size_t size, const char *wanted);
