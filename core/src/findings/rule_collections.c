/* SPDX-License-Identifier: MIT */
/* Collections whose arrays are nearly empty: doc/report.md 4.12. */
#include "findings/counted.h"
#include "findings/rule.h"
#include "framework/collection_layout.h"

#define ROOM_MIN 4u
/* Buckets that a ConcurrentDictionary has from the start. */
#define CHAINS_MIN 64u
#define BYTES_MIN  65536u

static const struct waste_telling of_collections = {
	.telling = {
		.least = { [SEVERITY_MEDIUM] = { .permille = 100, .bytes = MEGABYTE },
			   [SEVERITY_LOW] = { .permille = 10, .bytes = BYTES_MIN } },
		.id = "collections:{holder}:{full}",
		.title = "{objects} nearly empty {type} in {holder}",
		.sentence_of_one = "{objects} {type} in {holder} uses {count1} of its {count2} "
				   "slots; {bytes} are empty.",
		.sentence = "{objects} {type} in {holder} use {count1} of their {count2} slots; "
			    "{bytes} are empty.",
		.look_at = "the capacity that {holder} is made with",
		.next = "dumpheap -type {full}",
	},
	.counts = { "collections", "used", "slots" },
};

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

static enum hd_status find_wastes(struct report *report, struct hd_error *err)
{
	HD_CLEANUP(wastes) struct wastes wastes = { 0 };
	TRY(collect_wastes(report, &wastes, err));
	return wastes_tell(report, &wastes, &of_collections, err);
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
