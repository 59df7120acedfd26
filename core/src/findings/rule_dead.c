/* SPDX-License-Identifier: MIT */
/* Old objects that no root holds and no collection has taken yet: doc/report.md 4.15. */
#include "findings/rule.h"
#include "gc/heap.h"

#define DEAD_MIN ((uint64_t)256 << 20)

static const struct telling of_dead = {
	.id = "dead:old",
	.title = "{bytes} that no collection has taken yet",
	.sentence = "{bytes} of the {0} in generation 2 and the large object heap are dead: no "
		    "collection has taken them yet. This is a budget of the collector, not a leak.",
	.look_at = "DOTNET_GCConserveMemory and DOTNET_GCHeapHardLimit, if memory is short",
	.next = "dumpheap -stat -dead",
};

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
		.holder = { .subject = HD_NONE, .root_kind = "none", .name = "nothing" }
	};
	return finding_tell(report, &finding, &of_dead,
			    (const char *[]){ report_bytes(report, all) }, err);
}

const struct report_rule dead_rule = {
	.name = "dead",
	.turn = TURN_WASTE,
	.threshold = "half of generation 2 and the large object heap is dead, and 256 MB",
	.needs = RULE_FIELDS | RULE_GENERATIONS,
	.find = find_dead,
};
