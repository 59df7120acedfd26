/* SPDX-License-Identifier: MIT */
/* A process that is large by native memory, not by its heap: doc/report.md 4.25. */
#include "findings/rule.h"
#include "native/native_share.h"

#define NATIVE_MIN      ((uint64_t)64 << 20)
#define TIMES_COMMITTED 3u

/* "332 MB in memory": what all of it is. */
static const char *all_text(struct report *report, const struct native_share *share)
{
	const char *all = report_bytes(report, share->all);
	return share->is_live
		       ? report_text(report, "The process has %s in memory", all)
		       : report_text(report, "The core has %s in pages that are not zero", all);
}

static const char *native_text(struct report *report, const struct native_share *share)
{
	const char *native = report_bytes(report, share->native);
	if (!share->is_malloc && !share->arenas)
		return report_text(report, "%s are native memory", native);
	if (!share->is_malloc) {
		return report_text(report, "%s are native memory, with %s area%s of malloc", native,
				   report_number(report, share->arenas),
				   share->arenas == 1 ? "" : "s");
	}
	return report_text(report, "%s are malloc in %s arena%s", native,
			   report_number(report, share->arenas), share->arenas == 1 ? "" : "s");
}

/* {0}: percent, {1}: all of it, {2}: times, {3}: the part. */
static const struct telling of_native = {
	.id = "native-memory",
	.title = "native memory is {0} % of all",
	.sentence = "{1}, {2} times what the GC heap has committed ({size1}); {3}. No collection "
		    "makes that smaller; one dump cannot tell whether it grows.",
	.look_at = "native libraries and calls of NativeMemory and Marshal.AllocHGlobal; if memory "
		   "shows much of malloc as free: MALLOC_ARENA_MAX",
	.next = "memory -detail",
};

static enum hd_status find_native(struct report *report, struct hd_error *err)
{
	const struct native_share *share = report->facts.native;
	uint64_t percent =
		share->all ? (uint64_t)((double)share->native * 100 / (double)share->all) : 0;
	rule_met(report, percent);
	if (!share->gc_committed || share->native < NATIVE_MIN ||
	    share->native < share->all - share->native ||
	    share->all / TIMES_COMMITTED < share->gc_committed)
		return HD_OK;
	struct report_finding finding = {
		.severity = SEVERITY_MEDIUM,
		.confidence = share->is_malloc ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
		.bytes = share->native,
		.member_type = HD_NONE,
		.holder = { .subject = HD_NONE, .root_kind = "none", .name = "native code" }
	};
	double times = (double)share->all / (double)share->gc_committed;
	const char *const texts[] = { report_number(report, percent), all_text(report, share),
				      report_text(report, "%.*f", times < 10, times),
				      native_text(report, share) };
	finding_count(&finding, "bytes in memory", share->all);
	finding_count(&finding, "bytes committed by the GC", share->gc_committed);
	if (share->arenas)
		finding_count(&finding, "arenas", share->arenas);
	return finding_tell(report, &finding, &of_native, texts, err);
}

const struct report_rule native_memory_rule = {
	.name = "native-memory",
	.turn = TURN_WASTE,
	.threshold = "half of all memory, 64 MB, and all is 3 times what the GC has committed",
	.needs = RULE_FIELDS | RULE_MEMORY,
	.is_outside = true,
	.find = find_native,
};
