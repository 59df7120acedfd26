/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch;
struct text;

/** Can the frames of functions be told by their first instructions? */
bool framed_rows_are_known(const struct arch *arch);

/**
 * Does a function whose code begins with @p code have the frame that compilers make: it saves the frame pointer, and sets
 * it to the stack?  If so, append its rows, which begin with those of arch.entry_rows.  They say nothing about its end.
 *
 * @param ret NULL: only tell
 */
bool framed_rows_write(const struct arch *arch, const uint8_t *code, size_t size, struct text *ret);

/** Is the byte in front of @p at in @p code one between functions, or the last of a return? */
bool framed_function_ends(const struct arch *arch, const uint8_t *code, size_t at);
