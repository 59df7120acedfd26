/* SPDX-License-Identifier: MIT */
#include "answer/cell_lines.h"

#include <inttypes.h>
#include <string.h>

#include "answer/schema.h"
#include "output/fit.h"
#include "output/out.h"

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
	HD_CLEANUP(text) struct text whole = { 0 };
	if (cell->is_there)
		text_escape(&whole, cell->text.bytes, cell->text.size);
	size_t used = fit_columns(whole.bytes, whole.size);
	if (used > columns && out->width) {
		fit_text(&out->text, whole.bytes, whole.size, columns);
		used = columns;
	} else {
		text_append(&out->text, whole.bytes, whole.size);
	}
	out->text.failed |= whole.failed;
	out_pad(out, used < columns ? columns - used : 0);
}

void source_line_put(struct out *out, const struct cell *file, const struct cell *line)
{
	if (!file->is_there)
		return;
	out_puts(out, " [");
	out_begin_name(out, FIT_PATH);
	text_escape(&out->text, file->text.bytes, file->text.size);
	out_end_name(out);
	out_printf(out, " @ %" PRIu64 "]", line->number);
}
