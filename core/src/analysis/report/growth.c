/* SPDX-License-Identifier: MIT */
#include "analysis/report/growth.h"

#include "analysis/report/counted.h"
#include "analysis/report/rule.h"
#include "inspect/member.h"

#define YOUNG_MIN     10u
#define YOUNG_SHARE   10000u
#define OLD_PER_YOUNG 3u

/* The members that were made since the last collection; generation 1, if generation 0 is nearly empty. */
static uint64_t young_members(const struct report_facts *facts, const struct member_ages *ages)
{
	return facts->sums.recent < MEGABYTE ? ages->of[0] + ages->of[1] : ages->of[0];
}

struct growth growth_of(const struct report_facts *facts, const struct member_ages *ages,
			const struct counted *owners, size_t count)
{
	struct growth growth = { .state = GROWTH_UNKNOWN,
				 .young = young_members(facts, ages),
				 .all = ages->all };
	bool grew = true;
	for (size_t i = 0; i < count; i++) {
		if (counted_turns(&owners[i])) {
			growth.state = GROWTH_TURNS;
			growth.reason = "more was put in than is in there";
		}
		if (!growth.has_count || counted_turns(&owners[i])) {
			growth.has_count |= owners[i].has_count;
			growth.has_version |= owners[i].has_version;
			growth.count = owners[i].count;
			growth.version = owners[i].version;
		}
		grew &= !owners[i].has_version || counted_only_grew(&owners[i]);
	}
	if (growth.state == GROWTH_TURNS)
		return growth;
	if (!facts->has_generations) {
		growth.reason = "the generations are not known";
		return growth;
	}
	uint64_t least = ages->all / YOUNG_SHARE > YOUNG_MIN ? ages->all / YOUNG_SHARE : YOUNG_MIN;
	uint64_t recent = facts->sums.all_live / 50;
	recent = recent > MEGABYTE ? recent : MEGABYTE;
	if (grew && growth.young >= least &&
	    ages->all - growth.young >= OLD_PER_YOUNG * growth.young) {
		growth.state = GROWTH_GROWS;
		growth.reason = "nothing was ever removed, and young elements are in it";
	} else if (!growth.young && facts->has_recent && facts->sums.recent >= recent) {
		growth.state = GROWTH_IDLE;
		growth.reason = "nothing that was allocated since the last collection is in it";
	} else if (growth.young >= least && grew) {
		growth.reason = "most of it is younger than the last collection";
	} else if (!grew) {
		growth.reason = "it was filled at once";
	} else {
		growth.reason = "too little was allocated since the last collection";
	}
	return growth;
}
