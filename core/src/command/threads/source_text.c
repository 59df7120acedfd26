/* SPDX-License-Identifier: MIT */
#include "command/threads/source_text.h"

#include <inttypes.h>

#include "clr/code/source.h"
#include "heap/heap.h"
#include "report/fit.h"

void source_text_cells(struct call *call, uint64_t method_desc, uint64_t place,
		       struct cell *ret_file, struct cell *ret_line)
{
	struct source_line line;
	clr_symbols_set(call->heap->clr, call->settings.symbols);
	if (!method_desc || !clr_source_line(call->heap->clr, method_desc, place, &line))
		return;
	*ret_file = cell_string(line.file);
	*ret_line = cell_number(line.line);
}

void source_text_await(struct call *call, const struct type *machine, int32_t state,
		       struct cell *ret_file, struct cell *ret_line)
{
	struct source_line line;
	clr_symbols_set(call->heap->clr, call->settings.symbols);
	if (state < 0 || !clr_await_line(call->heap->clr, machine, (uint32_t)state, &line))
		return;
	*ret_file = cell_string(line.file);
	*ret_line = cell_number(line.line);
}

void source_text_put(struct out *out, const struct cell *file, const struct cell *line)
{
	if (!file->is_there)
		return;
	out_puts(out, " [");
	out_begin_name(out, FIT_PATH);
	text_escape(&out->text, file->text.bytes, file->text.size);
	out_end_name(out);
	out_printf(out, " @ %" PRIu64 "]", line->number);
}
