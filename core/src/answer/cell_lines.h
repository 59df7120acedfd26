/* SPDX-License-Identifier: MIT */
/* A line for a cell, as the layouts of records have them: "Name:      value". */
#pragma once

#include <stddef.h>

struct cell;
struct out;

/** "LABEL" and the address with 16 digits, or <not known>. */
void out_address_line(struct out *out, const char *label, const struct cell *cell);
/** "LABEL" and the text, or <not known>. */
void out_text_line(struct out *out, const char *label, const struct cell *cell);
/** Each line of the text, escaped, after as many spaces; nothing when there is none. */
void out_text_lines(struct out *out, size_t spaces, const struct cell *cell);
/** The text, escaped, and spaces up to so many columns; only these when there is none. */
void out_padded_text(struct out *out, const struct cell *cell, size_t columns);
/** "LABEL" and yes, no, or <not known>. */
void out_flag_line(struct out *out, const char *label, const struct cell *cell);
