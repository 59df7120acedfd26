/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/completeness.h"

enum {
	OPT_CONSERVATIVE
};

/* As graph_places.generation() has it. */
#define FROZEN 5u

const struct option retained_options[] = {
	[OPT_CONSERVATIVE] = { "conservative", VALUE_NONE, NULL,
			       "take all words on stacks for references", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static void write_json(struct call *call, const struct dominators *dominators, uint32_t node)
{
	struct json *json = &call->json;
	uint32_t idom = dominators->idom[node];
	json_address(json, "object", graph_id(call->graph, node));
	json_bool(json, "alive", dominators->retained_count[node]);
	json_number(json, "count", dominators->retained_count[node]);
	json_number(json, "size", dominators->retained_size[node]);
	if (idom != HD_NONE) {
		json_address(json, "dominator", graph_id(call->graph, idom));
	} else {
		json_null(json, "dominator");
	}
	completeness_json(call);
}

static void write_type(struct call *call, uint32_t node)
{
	const struct graph_type *type = &call->graph->types[call->graph->node_types[node]];
	out_type(&call->out, type->name, type->name_size, type->id);
}

/* Objects of the frozen heap live as long as the process. */
static bool is_frozen(const struct hd_graph *graph, uint32_t node)
{
	const struct graph_places *places = &graph->places;
	return places->generation && places->generation(places->arg, node) == FROZEN;
}

static void write_text(struct call *call, const struct dominators *dominators, uint32_t node)
{
	struct out *out = &call->out;
	char count[COUNT_SIZE], size[COUNT_SIZE];
	uint64_t objects = dominators->retained_count[node];
	out_styled(out, STYLE_ADDRESS, "%" PRIx64, graph_id(call->graph, node));
	out_puts(out, " (");
	write_type(call, node);
	if (!dominators->retained_count[node] && !call_is_complete(call)) {
		out_puts(out, "): nothing was found that keeps it alive.\n");
		completeness_write(call, "it need not be dead");
		return;
	}
	if (!dominators->retained_count[node]) {
		out_puts(out, ") is dead: no root keeps it alive, it retains nothing.\n");
		return;
	}
	out_printf(out, ") retains %s, %s: %s.\n", format_count(objects, "object", count),
		   format_count(dominators->retained_size[node], "byte", size),
		   is_frozen(call->graph, node) ? "it is frozen, and never freed"
		   : objects == 1               ? "itself alone"
						: "they would be freed with it");
	uint32_t idom = dominators->idom[node];
	if (idom == HD_NONE) {
		out_puts(out, "No single object keeps it alive.\n");
		completeness_write(call, RETAINED_ROUGHLY);
		return;
	}
	out_puts(out, "It is itself retained by ");
	out_styled(out, STYLE_ADDRESS, "%" PRIx64, graph_id(call->graph, idom));
	out_puts(out, " (");
	write_type(call, idom);
	out_puts(out, ").\n");
	completeness_write(call, RETAINED_ROUGHLY);
}

enum hd_status run_retained(struct call *call)
{
	uint32_t node;
	TRY(call_object(call, 0, &node));
	const struct dominators *dominators;
	TRY(session_dominators(call->session, &call->job, &dominators, call->err));
	job_end(&call->job);
	call->findings = !dominators->retained_count[node];
	if (call->as_json) {
		write_json(call, dominators, node);
	} else {
		write_text(call, dominators, node);
	}
	return HD_OK;
}
