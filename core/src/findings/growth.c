/* SPDX-License-Identifier: MIT */
#include "findings/growth.h"

#include "findings/counted.h"
#include "findings/rule.h"
#include "framework/collection_layout.h"
#include "gc/heap.h"

#define YOUNG_MIN     10u
#define FEW_MIN       3u
#define FEW_SHARE     100u
#define YOUNG_SHARE   10000u
#define OLD_PER_YOUNG 3u
#define LITTLE_SHARE  10u
/* Bytes that came since the last collection, and that it has left of those before. */
#define LATELY_MIN (MEGABYTE / 4)
#define LEFT_MIN   ((uint64_t)64 << 10)

/* Does generation 1 count as young, because generation 0 has little?  On a small heap, less than a megabyte is much. */
static bool has_little(const struct report_facts *facts)
{
	uint64_t recent = facts->sums.recent;
	return recent < MEGABYTE && recent < facts->sums.all_live / LITTLE_SHARE;
}

/* How many of the references from @p begin to @p end in all rows of forward edges lead to young objects. */
static uint64_t count_young(const struct report_facts *facts, uint64_t begin, uint64_t end)
{
	unsigned int oldest = has_little(facts) ? GENERATION_1 : GENERATION_0;
	uint64_t count = 0;
	for (uint64_t i = begin; i < end; i++)
		count += facts_generation(facts, facts->graph->forward.targets[i]) <= oldest;
	return count;
}

/*
 * Whether the young elements of a collection that only grew are its last ones.  A Dictionary does not count that a value
 * takes the place of another one, which is so if the young ones are anywhere.  Of other collections they may be: they put
 * new ones first, or into chains.
 */
static enum growth_state growth_by_place(const struct report_facts *facts,
					 const struct counted *owner, const char **ret_reason)
{
	if (!owner->layout || !owner->layout->hides_changes || owner->array == HD_NONE ||
	    !owner->has_room || !facts->graph || !graph_has_forward(facts->graph))
		return GROWTH_GROWS;
	uint64_t begin = csr_begin(&facts->graph->forward, owner->array);
	uint64_t end = csr_begin(&facts->graph->forward, owner->array + 1);
	uint64_t young = count_young(facts, begin, end);
	uint64_t last = young + young / 4, tail = young / 4 + YOUNG_MIN;
	if (young < YOUNG_MIN || last > end - begin || tail > end - begin ||
	    count_young(facts, end - last, end) * 2 >= young)
		return GROWTH_GROWS;
	*ret_reason = "new elements took the place of old ones";
	return count_young(facts, end - tail, end) * 2 >= tail ? GROWTH_UNKNOWN : GROWTH_TURNS;
}

/* The parts of generation 0 that come first after a collection. */
#define FIRST_PARTS UINT64_C(3)

/*
 * Are all young members together in less than half of what is young, and the first ones there?  Then they are the end of
 * what came at one time, as when a program starts, and was going on when the last collection was made.  What grows is all
 * over it, in several places, or comes again after a time.  The generation 0 of several heaps is no line of time.
 */
static bool is_burst(const struct report_facts *facts, const struct member_ages *ages)
{
	uint64_t parts = ages->parts, above = parts & (parts - 1);
	if (!facts->heap || facts->heap->heap_count != 1 || !parts)
		return false;
	/* One run of bits: without its first one, and with that added, nothing of it is left. */
	bool is_one_run = ((parts + (parts ^ above)) & parts) == 0;
	return is_one_run && (parts & FIRST_PARTS) &&
	       (unsigned int)__builtin_popcountll(parts) < YOUNG_PARTS / 2;
}

/*
 * Did some come before the last collection as well as after it?  Then the young ones are not the end of what came at one time,
 * though they are all together right after a collection.
 */
static bool came_twice(const struct member_ages *ages, uint64_t least)
{
	uint64_t lately = ages->of[0] + ages->of[1];
	return ages->of[1] >= least && ages->all - lately >= OLD_PER_YOUNG * lately;
}

/* Did some members come between the last two collections, and many more before? They may come in turns. */
static bool came_before_last(const struct member_ages *ages, uint64_t least)
{
	uint64_t between = ages->of[1];
	return between >= least && ages->all - between >= OLD_PER_YOUNG * between;
}

/*
 * Did some things come lately, but none of the members?  What the last collection has left counts most: members are among that,
 * and what is used for a moment is not.
 */
static bool left_nothing(const struct report_facts *facts, const struct member_ages *ages)
{
	uint64_t left = facts->sums.live[GENERATION_1] + facts->sums.dead[GENERATION_1];
	return !ages->of[GENERATION_0] && !ages->of[GENERATION_1] && facts->sums.has_recent &&
	       facts->sums.recent >= LATELY_MIN && left >= LEFT_MIN;
}

/* So many young members say that it grows; of a few hundred that are counted, a part is enough. */
static uint64_t least_young(uint64_t all, bool has_version)
{
	if (all / YOUNG_SHARE > YOUNG_MIN)
		return all / YOUNG_SHARE;
	if (!has_version || all / FEW_SHARE >= YOUNG_MIN)
		return YOUNG_MIN;
	return all / FEW_SHARE > FEW_MIN ? all / FEW_SHARE : FEW_MIN;
}

static const char *young_reason(bool has_proof)
{
	return has_proof ? "nothing was ever removed, and young elements are in it"
			 : "young elements are in it";
}

/* Note of a collection what it says of itself; of several, of the first one, or of one with turnover. */
static void add_owner(struct growth *growth, const struct counted *owner)
{
	if (counted_turns(owner)) {
		growth->state = GROWTH_TURNS;
		growth->reason = "more was put in than is in there";
	}
	if (!growth->has_count || counted_turns(owner)) {
		growth->has_count |= owner->has_count;
		growth->has_version |= owner->has_version;
		growth->count = owner->count;
		growth->version = owner->version;
	}
	growth->has_proof |= owner->took_nothing || counted_only_grew(owner);
}

struct growth growth_of(const struct report_facts *facts, const struct member_ages *ages,
			const struct counted *owners, size_t count)
{
	struct growth growth = { .state = GROWTH_UNKNOWN,
				 .young = ages->of[0] + (has_little(facts) ? ages->of[1] : 0),
				 .all = ages->all };
	bool grew = true, took_out = false;
	for (size_t i = 0; i < count; i++) {
		add_owner(&growth, &owners[i]);
		grew &= !owners[i].has_version || counted_only_grew(&owners[i]);
		took_out |= owners[i].took_out;
	}
	if (growth.state == GROWTH_TURNS)
		return growth;
	if (!facts->has_generations) {
		growth.reason = "the generations are not known";
		return growth;
	}
	uint64_t least = least_young(ages->all, growth.has_version);
	uint64_t recent = facts->sums.all_live / 50;
	recent = recent > MEGABYTE ? recent : MEGABYTE;
	/* If objects are only in generation 1, they may be the end of an earlier growth. */
	if (grew && ages->of[0] && growth.young >= least &&
	    ages->all - growth.young >= OLD_PER_YOUNG * growth.young) {
		growth.state = GROWTH_GROWS;
		growth.reason = young_reason(growth.has_proof);
		if (took_out) {
			growth.state = GROWTH_UNKNOWN;
			growth.reason = "some were taken out, and nothing counts how many";
		} else if (is_burst(facts, ages) && !came_twice(ages, least)) {
			growth.state = GROWTH_UNKNOWN;
			growth.reason = "its young elements were put in at one time";
		} else if (count == 1) {
			growth.state = growth_by_place(facts, &owners[0], &growth.reason);
		}
	} else if (!growth.young && facts->sums.has_recent && facts->sums.recent >= recent &&
		   came_before_last(ages, least)) {
		growth.reason = "some came shortly before the last collection, and none since";
	} else if (!growth.young && facts->sums.has_recent && facts->sums.recent >= recent) {
		growth.state = GROWTH_IDLE;
		growth.reason = "nothing that was allocated since the last collection is in it";
	} else if (left_nothing(facts, ages)) {
		growth.state = GROWTH_IDLE;
		growth.reason = "nothing that came since the collection before the last is in it";
	} else if (growth.young >= least && grew) {
		growth.reason = "most of it is younger than the last collection";
	} else if (!grew) {
		growth.reason = "it was filled at once";
	} else {
		growth.reason = "too little was allocated since the last collection";
	}
	return growth;
}
