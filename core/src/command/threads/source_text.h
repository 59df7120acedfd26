/* SPDX-License-Identifier: MIT */
#pragma once

#include "answer/cell_lines.h"
#include "command/call.h"

struct async_graph;
struct async_node;
struct root_row;

/**
 * The cells for the file and the line of the instruction at @p place in the code of @p method_desc:
 * runtime_source_line(), with the PDBs that the settings of @p call name.  They stay empty where nothing
 * is known.
 */
void source_text_cells(struct call *call, uint64_t method_desc, uint64_t place,
		       struct cell *ret_file, struct cell *ret_line);

/** The same for the await that the async method @p node is at. */
void source_text_await(struct call *call, const struct async_graph *graph,
		       const struct async_node *node, struct cell *ret_file, struct cell *ret_line);

/**
 * The same for the frame of root number @p root of call->graph, if it is on a stack: fill the cells
 * of @p row, after root_row_fill().
 */
void source_text_root(struct call *call, uint32_t root, struct root_row *row);
