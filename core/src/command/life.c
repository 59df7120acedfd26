/* SPDX-License-Identifier: MIT */
#include "command/life.h"

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

void life_write(const struct life *life, struct call *call)
{
	char number[2][COUNT_SIZE];
	if (!life->graph)
		return;
	if (call->as_json) {
		json_object(&call->json, "live");
		json_number(&call->json, "count", life->live->count);
		json_number(&call->json, "roots", life->roots);
		json_end(&call->json);
		completeness_json(call);
		return;
	}
	out_printf(&call->out, "Calculating live objects complete: %s from %s\n",
		   format_count(life->live->count, "object", number[0]),
		   format_count(life->roots, "root", number[1]));
	completeness_write(call, DEAD_PERHAPS);
}

bool life_has(const struct life *life, uint64_t address)
{
	if (!life->graph)
		return true;
	uint32_t node = hd_graph_find(life->graph, address);
	return node != HD_NONE && life_has_node(life, node);
}
