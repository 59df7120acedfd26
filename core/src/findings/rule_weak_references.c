/* SPDX-License-Identifier: MIT */
/* WeakReference objects whose targets are gone: doc/report.md 4.11. */
#include "findings/owners.h"
#include "findings/rule.h"
#include "mem/memory.h"

#define REFERENCES_MIN 10000u
#define SAMPLE         100u
/* The low bits of a handle say what it is (WeakReference.cs). */
#define HANDLE_TAGS ((uint64_t)3)

static const struct telling of_references = {
	.least = { [SEVERITY_MEDIUM] = { .objects = REFERENCES_MIN, .half_limits = 1 },
		   [SEVERITY_LOW] = { .objects = REFERENCES_MIN } },
	.id = "weak-references:{holder}:{full}",
	.title = "{count1} empty WeakReferences in {holder}",
	.sentence = "{holder} holds {objects} WeakReferences ({bytes}), and the targets of "
		    "{count1} of them are gone: nobody takes these out.",
	.look_at = "where {holder} is pruned",
	.next = "gcroot -type {full}",
};

static bool is_cleared(const struct report_facts *facts, uint32_t node)
{
	struct member handle = facts_fact(facts, node, FACT_WEAK_REFERENCE_HANDLE);
	uint64_t target = 1;
	if (handle.state != MEMBER_READ)
		return false;
	uint64_t slot = handle.bits & ~HANDLE_TAGS;
	return !slot || (memory_u64(facts->heap->memory, slot, &target) && !target);
}

static enum hd_status check_type(struct report *report, uint32_t type, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct typed_nodes all = typed_nodes(facts, type);
	uint64_t cleared = 0, bytes = 0;
	rule_met(report, all.count);
	if (all.count < REFERENCES_MIN)
		return HD_OK;
	for (uint32_t i = 0; i < all.count; i++) {
		cleared += is_cleared(facts, all.nodes[i]);
		bytes += facts_retained(facts, all.nodes[i]);
	}
	uint32_t sample[SAMPLE];
	struct owners owners;
	size_t sampled = typed_sample(&all, sample, SAMPLE);
	owners_find(facts, HD_NONE, sample, sampled, &owners);
	if (cleared * 2 < all.count || !owners.count)
		return HD_OK;
	if (owners.rows[0].array != HD_NONE)
		bytes += graph_size(facts->graph, owners.rows[0].array);
	struct member_ages ages = typed_ages(facts, all.nodes, all.count);
	struct report_finding finding = { .bytes = bytes, .objects = all.count };
	finding.growth = growth_of(facts, &ages, owners.rows, owners.count);
	if (!finding_weigh(report, &of_references, &finding))
		return HD_OK;
	if (finding.growth.state == GROWTH_GROWS && finding.growth.has_version &&
	    bytes >= facts_limit(facts))
		finding.severity = SEVERITY_HIGH;
	finding_about(report, &finding, owners.rows[0].node, sample[0]);
	finding_count(&finding, "references", all.count);
	finding_count(&finding, "empty", cleared);
	for (uint32_t i = 0; i < all.count && finding.severity <= SEVERITY_MEDIUM; i++)
		facts_claim(facts, all.nodes[i]);
	return finding_tell(report, &finding, &of_references, NULL, err);
}

static enum hd_status find_weak_references(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (uint32_t type = HD_NONE;
	     (type = typed_next(facts, type, "System.WeakReference")) != HD_NONE;)
		TRY(check_type(report, type, err));
	return HD_OK;
}

const struct report_rule weak_references_rule = {
	.name = "weak-references",
	.turn = TURN_DEFECTS,
	.threshold = "10,000 WeakReferences in one collection, half of them empty",
	.needs = RULE_FIELDS,
	.rests_on_growth = true,
	.find = find_weak_references,
};
