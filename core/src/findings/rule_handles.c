/* SPDX-License-Identifier: MIT */
/* Handles that pile up: doc/report.md 4.17. */
#include "findings/rule.h"
#include "roots/root_set.h"
#include "util/bitmap.h"

#define HANDLES_MIN 1000u

static const struct telling of_handles = {
	.least = { [SEVERITY_MEDIUM] = { .objects = HANDLES_MIN, .half_limits = 1 },
		   [SEVERITY_LOW] = { .objects = HANDLES_MIN } },
	.id = "handles:{full}",
	.title = "{objects} strong handles to {type}",
	.sentence = "{objects} strong or pinned handles refer to {type} and keep {bytes}.",
	.look_at = "calls of GCHandle.Alloc without Free",
	.next = "gchandles -stat",
};

/*
 * The node that a strong or pinned handle refers to; HD_NONE: it is of another kind, or refers to
 * none.
 */
static uint32_t held_node(const struct report_facts *facts, size_t row)
{
	const struct handle_list *list = &facts->roots->handles;
	uint8_t type = list->rows[row].type;
	return type == HANDLE_STRONG || type == HANDLE_PINNED
		       ? facts_node(facts, list->rows[row].object)
		       : HD_NONE;
}

/* Many handles may refer to one object, which is kept once. */
static enum hd_status count_handles(const struct report_facts *facts, struct tally *ret,
				    struct hd_error *err)
{
	uint64_t *seen = bitmap_alloc(facts->graph->node_count);
	TRY_MEMORY(seen, err);
	for (size_t i = 0; i < facts->roots->handles.rows_count; i++) {
		uint32_t node = held_node(facts, i);
		if (node != HD_NONE && !facts_is_claimed(facts, node, 0)) {
			tally_add(ret, facts->graph->node_types[node], node,
				  bitmap_add(seen, node) ? facts_retained(facts, node) : 0);
		}
	}
	bitmap_free(seen, facts->graph->node_count);
	return HD_OK;
}

/* All of one type that have handles: why they are there is told. */
static void claim_handled(struct report_facts *facts, uint32_t type)
{
	for (size_t i = 0; i < facts->roots->handles.rows_count; i++) {
		uint32_t node = held_node(facts, i);
		if (node != HD_NONE && facts->graph->node_types[node] == type)
			facts_claim(facts, node);
	}
}

static enum hd_status add_handles_finding(struct report *report, const struct tally *types,
					  size_t row, struct hd_error *err)
{
	struct report_finding finding = { .bytes = types->bytes[row],
					  .objects = types->counts[row] };
	rule_met(report, finding.objects);
	if (!finding_weigh(report, &of_handles, &finding))
		return HD_OK;
	finding_about(report, &finding, types->first[row], types->first[row]);
	finding_count(&finding, "handles", types->counts[row]);
	claim_handled(&report->facts, finding.member_type);
	return finding_tell(report, &finding, &of_handles, NULL, err);
}

static enum hd_status find_handles(struct report *report, struct hd_error *err)
{
	struct tally types = { .count = 0 };
	TRY(count_handles(&report->facts, &types, err));
	if (types.is_full)
		rule_limited(report);
	for (size_t i = 0; i < types.count; i++)
		TRY(add_handles_finding(report, &types, i, err));
	return HD_OK;
}

const struct report_rule handles_rule = {
	.name = "handles",
	.turn = TURN_HANDLES,
	.threshold = "1,000 strong or pinned handles to objects of one type",
	.needs = RULE_FIELDS | RULE_ROOTS,
	.rests_on_growth = true,
	.find = find_handles,
};
