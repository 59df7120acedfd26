/* SPDX-License-Identifier: MIT */
#include "analysis/heap/size_counts.h"

#include <stdlib.h>

#include "analysis/heap/heap_range.h"
#include "util/alloc.h"

/* A table of counts by key, which is never full: of one worker. */
struct counter {
	struct size_slot {
		uint64_t key; /* size, generation and is_free; 0: empty */
		uint64_t count;
	} * slots;
	size_t capacity, used; /* capacity is a power of two */
	struct gaps gaps;
};

#define SLOTS_FIRST     1024u
#define KEY_GENERATIONS 8u

static uint64_t key_of(uint64_t size, uint8_t generation, bool is_free)
{
	/* A size is a multiple of 8, and not 0. */
	return size << 1 | (uint64_t)generation << 1 | is_free;
}

static struct size_slot *find_size_slot(struct size_slot *slots, size_t capacity, uint64_t key)
{
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (capacity - 1);
	while (slots[at].key && slots[at].key != key)
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static bool grow_counter(struct counter *counter)
{
	size_t capacity = counter->capacity ? 2 * counter->capacity : SLOTS_FIRST;
	struct size_slot *slots = pages_alloc(capacity, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < counter->capacity; i++) {
		if (counter->slots[i].key)
			*find_size_slot(slots, capacity, counter->slots[i].key) = counter->slots[i];
	}
	pages_free(counter->slots, counter->capacity, sizeof(*slots));
	counter->slots = slots;
	counter->capacity = capacity;
	return true;
}

static bool count_key(struct counter *counter, uint64_t key, uint64_t count)
{
	if (2 * counter->used >= counter->capacity && !grow_counter(counter))
		return false;
	struct size_slot *slot = find_size_slot(counter->slots, counter->capacity, key);
	counter->used += !slot->key;
	slot->key = key;
	slot->count += count;
	return true;
}

static enum hd_status count_segment_sizes(void *arg, struct walker *walker, struct hd_error *err)
{
	struct counter *counter = arg;
	const struct segment *segment = walker->segment;
	for (;;) {
		enum walk_result result = walker_next(walker);
		const struct object *object = &walker->object;
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&counter->gaps, walker->heap, &walker->damage);
			continue;
		}
		uint8_t generation = (uint8_t)segment_generation_at(segment, object->address);
		uint64_t size = (object->size + 7) & ~(uint64_t)7;
		TRY_MEMORY(count_key(counter, key_of(size, generation, object->type->is_free), 1),
			   err);
	}
}

static int compare_sizes(const void *a, const void *b)
{
	const struct objects_of_size *x = a, *y = b;
	if (x->is_free != y->is_free)
		return x->is_free ? 1 : -1;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

static bool add_rows(struct size_counts *ret, const struct counter *all)
{
	for (size_t i = 0; i < all->capacity; i++) {
		uint64_t key = all->slots[i].key;
		if (!key)
			continue;
		if (!PAGES_RESERVE(ret, rows))
			return false;
		ret->rows[ret->rows_count++] = (struct objects_of_size){
			.size = (key >> 1) & ~(uint64_t)7,
			.generation = (uint8_t)(key >> 1 & (KEY_GENERATIONS - 1)),
			.is_free = key & 1,
			.count = all->slots[i].count,
		};
	}
	if (ret->rows_count)
		qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), compare_sizes);
	return true;
}

/* Add the counts of all workers to those of the first. */
static bool merge_counters(struct counter *counters)
{
	for (size_t i = 1; i < JOB_WORKERS_MAX; i++) {
		for (size_t j = 0; j < counters[i].capacity; j++) {
			const struct size_slot *slot = &counters[i].slots[j];
			if (slot->key && !count_key(&counters[0], slot->key, slot->count))
				return false;
		}
	}
	return true;
}

enum hd_status size_counts_read(struct size_counts *ret, struct heap *heap, struct job *job,
				struct gaps *gaps, struct hd_error *err)
{
	struct heap_range range;
	struct counter counters[JOB_WORKERS_MAX] = { 0 };
	void *args[JOB_WORKERS_MAX];
	*ret = (struct size_counts){ 0 };
	TRY(heap_range_init(&range, heap, &(const struct range_choice){ 0 }, err));
	for (size_t i = 0; i < JOB_WORKERS_MAX; i++)
		args[i] = &counters[i];
	enum hd_status status = heap_walk(heap,
					  &(const struct heap_tour){ .segments = range.segments,
								     .count = range.count,
								     .what = "Scanning heap",
								     .visit = count_segment_sizes,
								     .args = args },
					  job, err);
	job_end(job);
	heap_range_deinit(&range);
	if (status == HD_OK && (!merge_counters(counters) || !add_rows(ret, &counters[0])))
		status = fail_nomem(err);
	for (size_t i = 0; i < JOB_WORKERS_MAX; i++) {
		gaps_merge(gaps, &counters[i].gaps);
		pages_free(counters[i].slots, counters[i].capacity, sizeof(*counters[i].slots));
	}
	gaps_settle(gaps, heap);
	return status;
}

void size_counts_deinit(struct size_counts *counts)
{
	pages_free(counts->rows, counts->rows_capacity, sizeof(*counts->rows));
	*counts = (struct size_counts){ 0 };
}
