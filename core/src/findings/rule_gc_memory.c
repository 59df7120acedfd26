/* SPDX-License-Identifier: MIT */
/* Memory that the GC keeps without objects: doc/report.md 4.28. */
#include "findings/rule.h"
#include "gc/heap.h"
#include "native/memory_settings_text.h"
#include "native/memory_share.h"
#include "util/text.h"

/* So much is a budget for new objects: for the process, and for each heap of the GC. */
#define ROOM (64 * MEGABYTE)
/* Besides it is so many quarters of what the GC has, and a tenth of all memory. */
#define QUARTERS 3u
#define ALL_PART 10u

/* {0}: what the GC has, {1}: of objects, {2}: the kind of GC, {3}: the settings. */
static const struct telling of_free = {
	.id = "gc-memory",
	.title = "{bytes} of the GC's memory are free",
	.sentence = "The GC has {0} in memory for {1} of objects: {bytes} are free, and it keeps "
		    "them for new objects. {2}; {3}.",
	.look_at = "what needed so much at one time; GC.Collect with GCCollectionMode.Aggressive "
		   "gives memory back after it",
	.next = "memory -live",
};

/* Large holes are told already. */
static bool are_holes_told(const struct report *report)
{
	for (size_t i = 0; i < report->findings_count; i++) {
		if (strcmp(report->findings[i].id, "fragmentation:loh") == 0)
			return true;
	}
	return false;
}

static const char *gc_text(struct report *report, const struct memory_share *share)
{
	if (!heap_gc(report->facts.heap)->is_server)
		return "It is a workstation GC";
	return report_text(report, "It is a server GC with %s heap%s",
			   report_number(report, share->heaps), share->heaps == 1 ? "" : "s");
}

static enum hd_status find_free(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	const struct memory_share *share = facts->native;
	uint64_t objects = facts->sums.all_live + facts->sums.all_dead;
	uint64_t held = objects + (are_holes_told(report) ? facts->sums.free_loh : 0);
	uint64_t free = share->gc > held ? share->gc - held : 0;
	rule_met(report, share->gc ? (uint64_t)((double)free * 100 / (double)share->gc) : 0);
	if (!facts->is_complete || free / ROOM < 1 + (uint64_t)share->heaps ||
	    free / QUARTERS < share->gc / (QUARTERS + 1) || free < share->all / ALL_PART)
		return HD_OK;
	HD_CLEANUP(text) struct text settings = { 0 };
	memory_settings_append_gc(&settings, &share->settings);
	text_append(&settings, "", 1);
	TRY_MEMORY(!settings.failed, err);
	struct report_finding finding = {
		.severity = SEVERITY_MEDIUM,
		.confidence = share->is_live ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
		.bytes = free,
		.member_type = HD_NONE,
		.holder = { .subject = HD_NONE, .root_kind = "heap", .name = "the GC" }
	};
	const char *const texts[] = { report_bytes(report, share->gc),
				      report_bytes(report, objects), gc_text(report, share),
				      report_text(report, "%s", settings.bytes) };
	finding_count(&finding, "bytes in memory for the GC", share->gc);
	finding_count(&finding, "bytes of objects", objects);
	finding_count(&finding, "bytes committed by the GC", share->gc_committed);
	finding_count(&finding, "heaps", share->heaps);
	if (share->settings.limits.is_known && share->settings.limits.heap)
		finding_count(&finding, "limit of the heap", share->settings.limits.heap);
	return finding_tell(report, &finding, &of_free, texts, err);
}

const struct report_rule gc_memory_rule = {
	.name = "gc-memory",
	.turn = TURN_WASTE,
	.threshold =
		"three quarters of the GC's memory are free, 64 MB and 64 MB for each heap, and a "
		"tenth of all memory",
	.needs = RULE_FIELDS | RULE_MEMORY,
	.is_outside = true,
	.find = find_free,
};
