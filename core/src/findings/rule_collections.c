/* SPDX-License-Identifier: MIT */
/* Collections whose arrays are nearly empty: doc/report.md 4.12. */
#include "findings/counted.h"
#include "findings/rule.h"
#include "findings/rules.h"
#include "findings/typed.h"
#include "findings/waste.h"
#include "framework/collection_layout.h"
#include "framework/member.h"

#define ROOM_MIN 4u
/* Buckets that a ConcurrentDictionary has from the start. */
#define CHAINS_MIN 64u
#define BYTES_MIN  65536u

static bool is_wasteful(struct report *report, uint32_t node, struct waste *ret)
{
	struct report_facts *facts = &report->facts;
	struct counted counted;
	if (!counted_read(facts, node, &counted) || !counted.has_count || !counted.has_room ||
	    counted.room <= (counted.layout->shape == SHAPE_CHAINS ? CHAINS_MIN : ROOM_MIN) ||
	    counted.count * 4 >= counted.room || counted_turns(&counted) ||
	    waste_is_explained(report, node))
		return false;
	uint32_t idom = facts_idom(facts, node);
	ret->holder = idom == HD_NONE ? HD_NONE : facts->graph->node_types[idom];
	ret->type = facts->graph->node_types[node];
	ret->sample = node;
	ret->used = counted.count;
	ret->room = counted.room;
	ret->bytes = (counted.room - counted.count) * counted.slot;
	/* Hostile counts: not more than the array has. */
	if (counted.array == HD_NONE || ret->bytes > graph_size(facts->graph, counted.array))
		return false;
	return facts->classes[node] == CLASS_PROCESS;
}

static enum hd_status collect_wastes(struct report *report, struct wastes *wastes,
				     struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		struct typed_nodes all = typed_nodes(facts, type);
		const struct counted_type *counted =
			all.count ? counted_type_of(facts, all.nodes[0]) : NULL;
		size_t begin = wastes->rows_count;
		struct waste waste;
		for (uint32_t i = 0; counted && i < all.count; i++) {
			if (is_wasteful(report, all.nodes[i], &waste))
				TRY(wastes_add(wastes, begin, &waste, err));
		}
	}
	return HD_OK;
}

static enum hd_status add_waste_finding(struct report *report, const struct waste *waste,
					struct hd_error *err)
{
	struct report_finding finding;
	waste_describe(report, waste, "collections", &finding);
	bool is_large =
		facts_permille(&report->facts, waste->bytes) >= 100 && waste->bytes >= MEGABYTE;
	finding.severity = is_large ? SEVERITY_MEDIUM : SEVERITY_LOW;
	finding.look_at =
		report_text(report, "the capacity that %s is made with", finding.holder.name);
	return finding_add(report, &finding, err);
}

static enum hd_status find_wastes(struct report *report, struct hd_error *err)
{
	HD_CLEANUP(wastes) struct wastes wastes = { 0 };
	TRY(collect_wastes(report, &wastes, err));
	for (size_t i = 0; i < wastes.rows_count; i++) {
		uint64_t permille = facts_permille(&report->facts, wastes.rows[i].bytes);
		rule_met(report, permille / 10);
		if (permille >= 10 && wastes.rows[i].bytes >= BYTES_MIN &&
		    !waste_is_told(report, wastes.rows[i].sample, wastes.rows[i].bytes))
			TRY(add_waste_finding(report, &wastes.rows[i], err));
	}
	return HD_OK;
}

const struct report_rule collections_rule = {
	.name = "collections",
	.turn = TURN_WASTE,
	.threshold =
		"collections filled under 25 %, with empty slots of 1 % of the live heap and 64 "
		"KB; medium: of 10 % and 1 MB",
	.needs = RULE_FIELDS,
	.find = find_wastes,
};
