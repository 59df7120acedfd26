/* SPDX-License-Identifier: MIT */
/* Cells as several layouts write them. */
#pragma once

#include <stddef.h>

struct cell;
struct out;

/** Each line of the text, escaped, after as many spaces; nothing when there is none. */
void out_text_lines(struct out *out, size_t spaces, const struct cell *cell);
/**
 * The text, escaped, and spaces up to so many columns; only these when there is none.  Where the answer has a width, a
 * longer text is cut.
 */
void out_padded_text(struct out *out, const struct cell *cell, size_t columns);
/** " [/src/Program.cs @ 65]", in which the path may be shortened; nothing for empty cells. */
void source_line_put(struct out *out, const struct cell *file, const struct cell *line);
