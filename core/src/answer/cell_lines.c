/* SPDX-License-Identifier: MIT */
#include "answer/cell_lines.h"

#include <inttypes.h>
#include <string.h>

#include "answer/schema.h"
#include "output/fit.h"
#include "output/out.h"

void out_address_line(struct out *out, const char *label, const struct cell *cell)
{
	if (cell->is_there) {
		out_printf(out, "%s%016" PRIx64 "\n", label, cell->number);
	} else {
		out_printf(out, "%s<not known>\n", label);
	}
}

void out_text_line(struct out *out, const char *label, const struct cell *cell)
{
	out_puts(out, label);
	if (cell->is_there) {
		text_escape(&out->text, cell->text.bytes, cell->text.size);
	} else {
		out_puts(out, "<not known>");
	}
	out_puts(out, "\n");
}

void out_text_lines(struct out *out, size_t spaces, const struct cell *cell)
{
	if (!cell->is_there || !cell->text.size)
		return;
	const char *line = cell->text.bytes, *end = line + cell->text.size;
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *stop = newline ? newline : end;
		out_pad(out, spaces);
		text_escape(&out->text, line, (size_t)(stop - line));
		out_puts(out, "\n");
		line = newline ? newline + 1 : end;
	}
}

void out_padded_text(struct out *out, const struct cell *cell, size_t columns)
{
	size_t begin = out->text.size, used = 0;
	if (cell->is_there && cell->text.size) {
		text_escape(&out->text, cell->text.bytes, cell->text.size);
		used = out->text.failed
			       ? columns
			       : fit_columns(out->text.bytes + begin, out->text.size - begin);
	}
	out_pad(out, used < columns ? columns - used : 0);
}

void out_flag_line(struct out *out, const char *label, const struct cell *cell)
{
	const char *known = cell->flag ? "yes" : "no";
	out_printf(out, "%s%s\n", label, cell->is_there ? known : "<not known>");
}
