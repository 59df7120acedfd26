/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/** name_difference() answers this when a name is something else. */
#define NAME_DIFFERS 3u

/**
 * How much the nearest of the words of @p name (what is between points, pluses and brackets) differs from what was
 * probably meant by @p part: letters that are missing, added or others, 0 to 2; NAME_DIFFERS: more than that.  Case is
 * ignored; only the last word of @p part counts.
 *
 * Cost: the words of @p name that are about as long, by their length squared; words of over 64 bytes are passed over.
 */
unsigned int name_difference(const char *name, size_t size, const char *part);
