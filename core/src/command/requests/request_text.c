/* SPDX-License-Identifier: MIT */
#include "command/requests/request_text.h"

void padded_text_put(struct out *out, const struct cell *cell, size_t width)
{
	size_t before = out->text.size;
	if (cell->is_there)
		text_escape(&out->text, cell->text.bytes, cell->text.size);
	for (size_t size = out->text.size - before; size < width; size++)
		out_puts(out, " ");
}
