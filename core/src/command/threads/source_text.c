/* SPDX-License-Identifier: MIT */
#include "command/threads/source_text.h"

#include "analysis/async/async_graph.h"
#include "answer/root_row.h"
#include "gc/heap.h"
#include "output/root_label.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/source.h"

void source_text_cells(struct call *call, uint64_t method_desc, uint64_t place,
		       struct cell *ret_file, struct cell *ret_line)
{
	struct source_line line;
	runtime_symbols_set(call->heap->runtime, call->settings.symbols);
	if (!method_desc || !runtime_source_line(call->heap->runtime, method_desc, place, &line))
		return;
	*ret_file = cell_string(line.file);
	*ret_line = cell_number(line.line);
}

void source_text_await(struct call *call, const struct async_graph *graph,
		       const struct async_node *node, struct cell *ret_file, struct cell *ret_line)
{
	struct source_line line;
	runtime_symbols_set(call->heap->runtime, call->settings.symbols);
	if (!async_node_line(graph, node, &line))
		return;
	*ret_file = cell_string(line.file);
	*ret_line = cell_number(line.line);
}

void source_text_root(struct call *call, uint32_t root, struct root_row *row)
{
	const struct graph_frame *frame = root_frame(call->graph, root);
	struct code_info code;
	if (!call->heap || !frame || !frame->ip || !graph_frame_is_method(frame))
		return;
	uint64_t place = frame->ip - !frame->is_active;
	if (row->source.frame != frame) {
		row->source.frame = frame;
		row->source.file = row->source.line = (struct cell){ 0 };
		if (runtime_code_at(call->heap->runtime, place, &code)) {
			source_text_cells(call, code.method_desc, place, &row->source.file,
					  &row->source.line);
		}
	}
	row->cells[ROOT_FILE] = row->source.file;
	row->cells[ROOT_LINE] = row->source.line;
}
