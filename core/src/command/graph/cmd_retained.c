/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/completeness.h"
#include "command/table.h"
#include "graph/heap_graph.h"
#include "util/job.h"

enum {
	OPT_CONSERVATIVE
};

/* As graph_places.generation() has it. */
#define FROZEN 5u

static const struct option retained_options[] = {
	[OPT_CONSERVATIVE] = { "conservative", VALUE_CONSERVATIVE, NULL,
			       "take all words on stacks for references", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* Objects of the frozen heap live as long as the process. */
static bool is_frozen(const struct hd_graph *graph, uint32_t node)
{
	const struct graph_places *places = &graph->places;
	return places->generation && places->generation(places->arg, node) == FROZEN;
}

enum retained_column {
	RETAINED_OBJECT,
	RETAINED_ALIVE,
	RETAINED_COUNT,
	RETAINED_SIZE,
	RETAINED_DOMINATOR,
	/* text only */
	RETAINED_TYPE,
	RETAINED_DOMINATOR_TYPE,
	RETAINED_FROZEN,
	RETAINED_COMPLETE,
	RETAINED_COLUMNS
};

static const struct column retained_columns[RETAINED_COLUMNS] = {
	[RETAINED_OBJECT] = { "object", NULL, KIND_ADDRESS, 0, 0, "the object" },
	[RETAINED_ALIVE] = { "alive", NULL, KIND_FLAG, 0, 0, "does a root keep it alive?" },
	[RETAINED_COUNT] = { "count", NULL, KIND_NUMBER, 0, 0,
			     "objects that would be freed with it, and itself" },
	[RETAINED_SIZE] = { "size", NULL, KIND_BYTES, 0, 0, "their bytes" },
	[RETAINED_DOMINATOR] = { "dominator", NULL, KIND_ADDRESS, 0, 0,
				 "the object that retains it; null: no single one does" },
	[RETAINED_TYPE] = { NULL, NULL, KIND_TYPE, 0, 0, NULL },
	[RETAINED_DOMINATOR_TYPE] = { NULL, NULL, KIND_TYPE, 0, 0, NULL },
	[RETAINED_FROZEN] = { NULL, NULL, KIND_FLAG, 0, 0, NULL },
	[RETAINED_COMPLETE] = { NULL, NULL, KIND_FLAG, 0, 0, NULL },
};

static void put_object(struct out *out, const struct cell *object, const struct cell *type)
{
	out_styled(out, STYLE_ADDRESS, "%" PRIx64, object->number);
	out_puts(out, " (");
	out_type_cell(out, type);
	out_puts(out, ")");
}

static void retained_layout(struct out *out, const struct cell *cells)
{
	char count[COUNT_SIZE], size[COUNT_SIZE];
	uint64_t objects = cells[RETAINED_COUNT].number;
	put_object(out, &cells[RETAINED_OBJECT], &cells[RETAINED_TYPE]);
	if (!objects) {
		out_puts(out, cells[RETAINED_COMPLETE].flag
				      ? " is dead: no root keeps it alive, it retains nothing.\n"
				      : ": nothing was found that keeps it alive.\n");
		return;
	}
	out_printf(out, " retains %s, %s: %s.\n", format_count(objects, "object", count),
		   format_count(cells[RETAINED_SIZE].number, "byte", size),
		   cells[RETAINED_FROZEN].flag ? "it is frozen, and never freed"
		   : objects == 1              ? "itself alone"
					       : "they would be freed with it");
	if (!cells[RETAINED_DOMINATOR].is_there) {
		out_puts(out, "No single object keeps it alive.\n");
		return;
	}
	out_puts(out, "It is itself retained by ");
	put_object(out, &cells[RETAINED_DOMINATOR], &cells[RETAINED_DOMINATOR_TYPE]);
	out_puts(out, ".\n");
}

static const struct schema retained_schema = { SCHEMA_COLUMNS(retained_columns),
					       .layout = retained_layout };

static struct cell retained_type_cell(const struct hd_graph *graph, uint32_t node)
{
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	return cell_type(type->name, type->name_size, type->id);
}

static void write_retained(struct call *call, const struct dominators *dominators, uint32_t node)
{
	const struct hd_graph *graph = call->graph;
	uint32_t idom = dominators->idom[node];
	bool is_alive = dominators->retained_count[node];
	struct cell cells[RETAINED_COLUMNS] = {
		[RETAINED_OBJECT] = cell_number(graph_id(graph, node)),
		[RETAINED_ALIVE] = cell_flag(is_alive),
		[RETAINED_COUNT] = cell_number(dominators->retained_count[node]),
		[RETAINED_SIZE] = cell_number(dominators->retained_size[node]),
		[RETAINED_TYPE] = retained_type_cell(graph, node),
		[RETAINED_FROZEN] = cell_flag(is_frozen(graph, node)),
		[RETAINED_COMPLETE] = cell_flag(call_is_complete(call)),
	};
	if (idom != HD_NONE) {
		cells[RETAINED_DOMINATOR] = cell_number(graph_id(graph, idom));
		cells[RETAINED_DOMINATOR_TYPE] = retained_type_cell(graph, idom);
	}
	answer_record(&call->answer, &retained_schema, cells);
	completeness_json(call);
	completeness_write(call, is_alive ? RETAINED_ROUGHLY : "it need not be dead");
}

static enum hd_status run_retained(struct call *call)
{
	uint32_t node;
	TRY(call_object(call, 0, &node));
	const struct dominators *dominators;
	TRY(session_dominators(call->session, &call->job, &dominators, call->err));
	job_end(&call->job);
	call->findings = !dominators->retained_count[node];
	write_retained(call, dominators, node);
	return HD_OK;
}

const struct command retained_command = {
	.name = "retained",
	.summary = "count what would be freed if an object went away",
	.description =
		"The objects that every strong path from the roots reaches through this one, itself\n"
		"included: what its dominator subtree holds.\n",
	.example = "retained 1ce056",
	.needs = NEEDS_GRAPH,
	.options = retained_options,
	.words = { { "ID", VALUE_ADDRESS, false } },
	.run = run_retained,
};
