/* SPDX-License-Identifier: MIT */
/* Objects of a part of a heap, counted by type; and large Free blocks. */
#include "analysis/heap/object_tally.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/sort.h"

static bool add_fragment(struct object_tally *tally, const struct fragment *fragment)
{
	if (!PAGES_RESERVE(tally, fragments))
		return false;
	tally->fragments[tally->fragments_count++] = *fragment;
	return true;
}

bool object_tally_follow_free(struct object_tally *tally, const struct object *object)
{
	const struct fragment fragment = { tally->free_at, tally->free_size, object->address,
					   object->type };
	bool is_added = !tally->free_at || tally->fragments_count >= FRAGMENTS_MAX ||
			add_fragment(tally, &fragment);
	bool is_large = object->type->is_free && object->size >= FRAGMENT_MIN;
	tally->free_at = is_large ? object->address : 0;
	tally->free_size = object->size;
	return is_added;
}

void object_tally_begin(struct object_tally *tally, struct walker *walker,
			const struct segment *segment)
{
	heap_range_walk(tally->filter->range, walker, segment);
	tally->free_at = 0;
	tally->node = life_node(tally->filter->life, segment->begin);
}

void object_tally_meet_gap(struct object_tally *tally, const struct walker *walker)
{
	gaps_add(&tally->gaps, walker->heap, &walker->damage);
	tally->free_at = 0;
}

/* The same where all objects are asked for, which is the usual case. */
static enum hd_status tally_whole_segment(struct object_tally *tally, struct walker *walker,
					  struct hd_error *err)
{
	for (;;) {
		enum walk_result result = walker_next(walker);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			object_tally_meet_gap(tally, walker);
		} else if (!object_tally_meet_block(tally, &walker->object) ||
			   !type_counts_add(&tally->counts, &walker->object)) {
			return fail_nomem(err);
		}
	}
}

static enum hd_status tally_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct object_tally *tally = arg;
	bool failed = false;
	object_tally_begin(tally, walker, walker->segment);
	if (object_filter_is_open(tally->filter))
		return tally_whole_segment(tally, walker, err);
	while (!failed) {
		enum walk_result result = walker_next(walker);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			object_tally_meet_gap(tally, walker);
		} else if (object_tally_meet(tally, walker, &failed) &&
			   !type_counts_add(&tally->counts, &walker->object)) {
			failed = true;
		}
	}
	return fail_nomem(err);
}

ORDER_BY(compare_fragments, struct fragment, address)

/* Add up the tallies of all workers in the first one. */
static bool merge_tallies(struct object_tally *tallies, unsigned int count)
{
	struct object_tally *sum = &tallies[0];
	for (unsigned int i = 1; i < count; i++) {
		struct object_tally *other = &tallies[i];
		if (!type_counts_merge(&sum->counts, &other->counts))
			return false;
		gaps_merge(&sum->gaps, &other->gaps);
		for (size_t j = 0; j < other->fragments_count; j++) {
			if (!add_fragment(sum, &other->fragments[j]))
				return false;
		}
	}
	if (sum->fragments_count) {
		qsort(sum->fragments, sum->fragments_count, sizeof(*sum->fragments),
		      compare_fragments);
	}
	return true;
}

enum hd_status object_tally_count(struct object_tally *ret, struct heap *heap,
				  const struct object_filter *filter, struct job *job,
				  struct hd_error *err)
{
	unsigned int workers = job_workers(job);
	HD_FREE struct object_tally *tallies = mem_calloc(workers, sizeof(*tallies));
	void *args[JOB_WORKERS_MAX] = { NULL };
	TRY_MEMORY(tallies, err);
	for (unsigned int i = 0; i < workers; i++) {
		tallies[i].filter = filter;
		args[i] = &tallies[i];
	}
	enum hd_status status =
		heap_walk(heap,
			  &(const struct heap_tour){ .segments = filter->range->segments,
						     .count = filter->range->count,
						     .what = "Scanning heap",
						     .visit = tally_segment,
						     .args = args },
			  job, err);
	job_end(job);
	if (status == HD_OK && !merge_tallies(tallies, workers))
		status = fail_nomem(err);
	if (status == HD_OK) {
		*ret = tallies[0];
		tallies[0] = (struct object_tally){ 0 };
	}
	for (unsigned int i = 0; i < workers; i++)
		object_tally_deinit(&tallies[i]);
	return status;
}

void object_tally_deinit(struct object_tally *tally)
{
	type_counts_deinit(&tally->counts);
	pages_free(tally->fragments, tally->fragments_capacity, sizeof(*tally->fragments));
	tally->fragments = NULL;
	tally->fragments_count = tally->fragments_capacity = 0;
	*tally = (struct object_tally){ 0 };
}
