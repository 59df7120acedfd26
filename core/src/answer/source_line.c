/* SPDX-License-Identifier: MIT */
#include "answer/source_line.h"

#include <inttypes.h>

#include "answer/schema.h"
#include "output/fit.h"
#include "output/out.h"

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
