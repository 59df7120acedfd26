/* SPDX-License-Identifier: MIT */
/* Handles that pile up: doc/report.md 4.17. */
#include "findings/rule.h"
#include "findings/rules.h"
#include "findings/typed.h"
#include "framework/member.h"
#include "roots/root_set.h"
#include "util/bitmap.h"

#define HANDLES_MIN 1000u

static enum hd_status add_handles_finding(struct report *report, const struct tally *types,
					  size_t row, struct hd_error *err)
{
	struct report_finding finding = { .severity = SEVERITY_MEDIUM,
					  .bytes = types->bytes[row],
					  .objects = types->counts[row],
					  .member_type = (uint32_t)types->keys[row] };
	if (finding.bytes < facts_limit(&report->facts) / 2)
		finding.severity = SEVERITY_LOW;
	holder_find(report, types->first[row], &finding.holder);
	const char *type = report_short_name(report, finding.member_type);
	finding.id =
		report_text(report, "handles:%s", report_type_name(report, finding.member_type));
	finding.title = report_text(report, "%s strong handles to %s",
				    report_number(report, types->counts[row]), type);
	finding.sentence =
		report_text(report, "%s strong or pinned handles refer to %s and keep %s.",
			    report_number(report, types->counts[row]), type,
			    report_bytes(report, finding.bytes));
	finding.look_at = "calls of GCHandle.Alloc without Free";
	finding.next = "gchandles -stat";
	finding_count(&finding, "handles", types->counts[row]);
	finding_sample(&finding, types->first[row]);
	return finding_add(report, &finding, err);
}

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

static enum hd_status find_handles(struct report *report, struct hd_error *err)
{
	struct tally types = { .count = 0 };
	TRY(count_handles(&report->facts, &types, err));
	if (types.is_full)
		rule_limited(report);
	for (size_t i = 0; i < types.count; i++) {
		rule_met(report, types.counts[i]);
		if (types.counts[i] < HANDLES_MIN)
			continue;
		TRY(add_handles_finding(report, &types, i, err));
		claim_handled(&report->facts, (uint32_t)types.keys[i]);
	}
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
