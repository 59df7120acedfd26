/* SPDX-License-Identifier: MIT */
/* Old objects that no root holds and no collection has taken yet: doc/report.md 4.15. */
#include "findings/rule.h"
#include "findings/rules.h"
#include "framework/member.h"
#include "gc/heap.h"

#define DEAD_MIN ((uint64_t)256 << 20)

static enum hd_status find_dead(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	const struct heap_sums *sums = &facts->sums;
	uint64_t dead = sums->dead[GENERATION_2] + sums->dead[GENERATION_LOH];
	uint64_t all = dead + sums->live[GENERATION_2] + sums->live[GENERATION_LOH];
	rule_met(report, all ? (uint64_t)((double)dead * 100 / (double)all) : 0);
	if (!facts->is_complete || dead <= DEAD_MIN || dead * 2 <= all)
		return HD_OK;
	struct report_finding finding = {
		.severity = SEVERITY_INFO,
		.bytes = dead,
		.objects = sums->dead_objects,
		.member_type = HD_NONE,
		.id = "dead:old",
		.holder = { .subject = HD_NONE, .root_kind = "none", .name = "nothing" }
	};
	finding.title = report_text(report, "%s that no collection has taken yet",
				    report_bytes(report, dead));
	finding.sentence = report_text(
		report,
		"%s of the %s in generation 2 and the large object heap are dead: no collection "
		"has taken them yet. This is a budget of the collector, not a leak.",
		report_bytes(report, dead), report_bytes(report, all));
	finding.look_at = "DOTNET_GCConserveMemory and DOTNET_GCHeapHardLimit, if memory is short";
	finding.next = "dumpheap -stat -dead";
	return finding_add(report, &finding, err);
}

const struct report_rule dead_rule = {
	.name = "dead",
	.turn = TURN_WASTE,
	.threshold = "half of generation 2 and the large object heap is dead, and 256 MB",
	.needs = RULE_FIELDS | RULE_GENERATIONS,
	.find = find_dead,
};
