/* SPDX-License-Identifier: MIT */
#include "command/async/chain_rows.h"

#include <string.h>

#include "analysis/async/async_chains.h"
#include "framework/owns.h"

#define ROW_LIST(X)                                                                               \
	X(ROW_COUNT, "count", "Count", KIND_NUMBER, 6, 0, "how many chains are like this one")    \
	X(ROW_WAITS_FOR, "waits_for", "Waits for", KIND_TEXT, 20, 0,                              \
	  "what the innermost method waits for")                                                  \
	X(ROW_OBJECT, "object", "Object", KIND_ADDRESS, 12, 0, "that object, of the first chain") \
	X(ROW_METHOD, "method", "Async method", KIND_TEXT, 0, 0, "the innermost method")          \
	X(ROW_ROOT_METHOD, "root_method", NULL, KIND_TEXT, 0, 0, "the outermost method")          \
	X(ROW_FOR_METHOD, "for_method", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                       \
	  "who awaits it: the innermost method of the program, or the outermost of "              \
	  "all")

COLUMNS(chain_row, ROW_COLUMNS, ROW_LIST);

static const struct schema chain_rows_schema = {
	.name = "async_chains",
	SCHEMA_COLUMNS(chain_row_columns),
	.heading =
		" Count Waits for            Object       Async method (dumpasync shows the chains)",
	.lines = "{count:6} {waits_for:-20} {object:012a?            } {method:m}[?for_method , "
		 "awaited by {for_method:m}]\n",
};

/* Names of methods. */
struct chain_words {
	struct text method, root, program;
};

static bool is_same_text(const struct text *a, const struct text *b)
{
	return a->size == b->size && (!a->size || memcmp(a->bytes, b->bytes, a->size) == 0);
}

static void write_chain_row(struct call *call, struct async_graph *graph,
			    const struct async_chain *chain, struct chain_words *words)
{
	const struct async_node *end = &graph->rows[graph->rows[chain->first].end];
	struct text *method = &words->method, *root = &words->root, *program = &words->program;
	method->size = root->size = program->size = 0;
	text_puts(method, async_node_name(graph, end));
	text_puts(root, async_node_name(graph, &graph->rows[chain->first]));
	uint32_t own = async_innermost_own(graph, chain->first);
	if (own != ASYNC_NO_NODE)
		text_puts(program, async_node_name(graph, &graph->rows[own]));
	if (!program->size || (is_same_text(program, method) && root->size &&
			       !framework_owns(graph->heap->runtime, root->bytes, root->size)))
		program = root;
	struct cell cells[ROW_COLUMNS] = {
		[ROW_COUNT] = cell_number(chain->count),
		[ROW_WAITS_FOR] = cell_string(async_wait_name(end->wait)),
		[ROW_METHOD] = cell_text(method->bytes, method->size),
		[ROW_ROOT_METHOD] = cell_text(root->bytes, root->size),
	};
	if (program->size && !is_same_text(program, method)) {
		cells[ROW_FOR_METHOD] = cell_shown(cell_text(program->bytes, program->size),
						   out_is_narrow(&call->out) ? "" : NULL);
	}
	if (end->object)
		cells[ROW_OBJECT] = cell_number(end->object);
	answer_row(&call->answer, cells);
}

enum hd_status write_chain_rows(struct call *call, struct async_graph *graph)
{
	const struct async_wanted all = { 0 };
	HD_CLEANUP(async_chains) struct async_chains chains = { 0 };
	struct chain_words words = { 0 };
	TRY(async_chains_create(graph, &all, &chains, call->err));
	bool is_text = answer_is_text(&call->answer);
	size_t shown = is_text && chains.sorted_count > CHAIN_ROWS_SHOWN ? CHAIN_ROWS_SHOWN
									 : chains.sorted_count;
	if (shown)
		answer_remark(&call->answer, "\n");
	if (shown || !is_text) {
		answer_table(&call->answer, &chain_rows_schema, NULL);
		for (size_t i = 0; i < shown; i++) {
			write_chain_row(call, graph, &chains.rows[chains.sorted[i]], &words);
		}
		(void)answer_table_end(&call->answer);
	}
	if (shown < chains.sorted_count) {
		answer_remark(&call->answer, "(the first %zu of %zu)\n", shown,
			      chains.sorted_count);
	}
	text_deinit(&words.method);
	text_deinit(&words.root);
	text_deinit(&words.program);
	return HD_OK;
}
