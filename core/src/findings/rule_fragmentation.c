/* SPDX-License-Identifier: MIT */
/* Free memory that cannot be given back, and who pins it: doc/report.md 4.14. */
#include "analysis/heap/generation_bytes.h"
#include "analysis/heap/heap_gaps.h"
#include "findings/rule.h"
#include "roots/root_set.h"
#include "util/alloc.h"

#define LARGE_MIN     (16 * MEGABYTE)
#define PINS_MIN      100u
#define FREE_OF_SMALL 80u
#define FREE_OF_LARGE 50u

static const struct telling of_holes = {
	.id = "fragmentation:loh",
	.title = "{bytes} free in the large object heap",
	.sentence =
		"{bytes} of the {size0} of the large object heap are free, between objects that "
		"are still used: only what fits into a hole can go there.",
	.look_at = "who allocates large arrays of changing sizes: ArrayPool, or "
		   "GCSettings.LargeObjectHeapCompactionMode",
	.next = "gcheapstat",
};

/* {0}: the size of generations 0 to 2. */
static const struct telling of_pinned = {
	.id = "fragmentation:pinned:{full}",
	.title = "{bytes} free between pinned objects",
	.sentence = "{bytes} of {0} are free but stuck: {objects} pinned objects lie in them, most "
		    "of them {type}.",
	.look_at =
		"who makes pinned handles: the pinned object heap has room for buffers that stay "
		"pinned",
	.next = "gchandles -type pinned",
};

/* Objects that handles pin, by type. */
static uint64_t count_pins(const struct report_facts *facts, struct tally *ret)
{
	const struct handle_list *list = &facts->roots->handles;
	uint64_t count = 0;
	for (size_t i = 0; i < list->rows_count; i++) {
		uint8_t type = list->rows[i].type;
		uint32_t node = type == HANDLE_PINNED || type == HANDLE_ASYNC_PINNED
					? facts_node(facts, list->rows[i].object)
					: HD_NONE;
		if (node == HD_NONE || facts_generation(facts, node) > GENERATION_2)
			continue;
		count++;
		tally_add(ret, facts->graph->node_types[node], node,
			  graph_size(facts->graph, node));
	}
	return count;
}

static enum hd_status add_large_holes(struct report *report, uint64_t size, uint64_t free,
				      struct hd_error *err)
{
	struct report_finding finding = { .severity = SEVERITY_MEDIUM,
					  .bytes = free,
					  .member_type = HD_NONE,
					  .holder = { .subject = HD_NONE,
						      .root_kind = "heap",
						      .name = "the large object heap" } };
	finding_count(&finding, "bytes of the large object heap", size);
	return finding_tell(report, &finding, &of_holes, NULL, err);
}

/* Sums of generations 0 to 2, and what is committed of all. */
struct small_sums {
	uint64_t size, free, committed;
	uint64_t
		settled; /* size, without what was allocated and dropped since the last collection */
};

static enum hd_status add_pinned(struct report *report, const struct small_sums *sums,
				 const struct tally *pins, uint64_t count, struct hd_error *err)
{
	uint64_t size = sums->size, free = sums->free, committed = sums->committed;
	size_t top = tally_top(pins);
	bool is_most = free > committed / 2 && free > size / 100 * FREE_OF_SMALL;
	struct report_finding finding = { .severity = is_most ? SEVERITY_HIGH : SEVERITY_MEDIUM,
					  .bytes = free,
					  .objects = count };
	finding_about(report, &finding, pins->first[top], pins->first[top]);
	finding_count(&finding, "pinned objects", count);
	return finding_tell(report, &finding, &of_pinned,
			    (const char *[]){ report_bytes(report, size) }, err);
}

static enum hd_status judge_bytes(struct report *report, const struct generation_bytes *sum,
				  struct hd_error *err)
{
	const uint64_t *size = sum->of[BYTES_SIZE], *free = sum->of[BYTES_FREE];
	uint64_t small = size[0] + size[1] + size[2], small_free = free[0] + free[1] + free[2];
	uint64_t large = size[GENERATION_LOH], large_free = free[GENERATION_LOH], committed = 0;
	struct tally pins = { .count = 0 };
	for (size_t i = 0; i < BYTES_GENERATIONS; i++)
		committed += sum->of[BYTES_COMMITTED][i];
	uint64_t count = count_pins(&report->facts, &pins);
	report->facts.sums.free_soh = small_free;
	report->facts.sums.free_loh = large_free;
	/* Between two collections, garbage fills the holes: the next one makes them free again. */
	uint64_t garbage = report->facts.sums.dead[GENERATION_0];
	struct small_sums sums = { small, small_free, committed,
				   small > garbage ? small - garbage : 0 };
	rule_met(report, large ? (uint64_t)((double)large_free * 100 / (double)large) : 0);
	if (large_free > LARGE_MIN && (double)large_free * 100 > (double)large * FREE_OF_LARGE)
		TRY(add_large_holes(report, large, large_free, err));
	if (count >= PINS_MIN && small_free > LARGE_MIN / 2 &&
	    (double)small_free * 100 > (double)sums.settled * FREE_OF_SMALL)
		return add_pinned(report, &sums, &pins, count, err);
	return HD_OK;
}

static enum hd_status find_fragmentation(struct report *report, struct hd_error *err)
{
	struct heap *heap = report->facts.heap;
	HD_FREE struct generation_bytes *heaps = mem_calloc(heap->heap_count, sizeof(*heaps));
	struct generation_bytes sum = { 0 };
	const struct life none = { 0 };
	struct gaps gaps = { 0 };
	TRY_MEMORY(heaps, err);
	TRY(generation_bytes_count(heaps, heap, &none, report->facts.job, &gaps, err));
	for (uint32_t i = 0; i < heap->heap_count; i++)
		generation_bytes_add(&sum, &heaps[i]);
	return judge_bytes(report, &sum, err);
}

const struct report_rule fragmentation_rule = {
	.name = "fragmentation",
	.turn = TURN_STATES,
	.threshold = "large object heap: half of it free, and 16 MB; else 80 % free, 8 MB, and 100 "
		     "pinned objects",
	.needs = RULE_FIELDS | RULE_ROOTS,
	.find = find_fragmentation,
};
