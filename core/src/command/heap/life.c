/* SPDX-License-Identifier: MIT */
#include "command/heap/life.h"

#include "command/completeness.h"

enum hd_status life_init(struct life *life, struct call *call, bool is_dead)
{
	struct hd_graph *graph;
	*life = (struct life){ .is_dead = is_dead };
	TRY(session_graph(call->session, call_is_conservative(call), &call->job, &graph,
			  call->err));
	TRY(session_live(call->session, &call->job, &life->live, call->err));
	job_end(&call->job);
	life->graph = graph;
	for (uint32_t i = 0; i < graph->root_count; i++)
		life->roots += !root_is_weak(&graph->roots[i]);
	return HD_OK;
}

enum live_column {
	LIVE_COUNT,
	LIVE_ROOTS,
	LIVE_COLUMNS
};

static const struct column live_columns[LIVE_COLUMNS] = {
	[LIVE_COUNT] = { "count", NULL, KIND_NUMBER, 0, 0, "objects that roots keep alive" },
	[LIVE_ROOTS] = { "roots", NULL, KIND_NUMBER, 0, 0, "roots that are not weak" },
};

static void live_layout(struct out *out, const struct cell *cells)
{
	char number[2][COUNT_SIZE];
	out_printf(out, "Calculating live objects complete: %s from %s\n",
		   format_count(cells[LIVE_COUNT].number, "object", number[0]),
		   format_count(cells[LIVE_ROOTS].number, "root", number[1]));
}

static const struct schema live_schema = { .name = "live",
					   SCHEMA_COLUMNS(live_columns),
					   .layout = live_layout };

void life_write(const struct life *life, struct call *call)
{
	if (!life->graph)
		return;
	const struct cell cells[LIVE_COLUMNS] = {
		[LIVE_COUNT] = cell_number(life->live->count),
		[LIVE_ROOTS] = cell_number(life->roots),
	};
	answer_record(&call->answer, &live_schema, cells);
	completeness_json(call);
	completeness_write(call, DEAD_PERHAPS);
}

bool life_has(const struct life *life, uint64_t address)
{
	if (!life->graph)
		return true;
	uint32_t node = hd_graph_find(life->graph, address);
	return node != HD_NONE && life_has_node(life, node);
}
