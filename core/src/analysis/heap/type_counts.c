/* SPDX-License-Identifier: MIT */
#include "analysis/heap/type_counts.h"

#include <string.h>

#include "analysis/name_match.h"
#include "util/alloc.h"

bool type_counts_grow(struct type_counts *counts, size_t index)
{
	size_t capacity = counts->capacity ? counts->capacity : 256;
	while (capacity <= index)
		capacity *= 2;
	struct count *rows = mem_calloc(capacity, sizeof(*rows));
	if (!rows)
		return false;
	if (counts->capacity)
		memcpy(rows, counts->rows, counts->capacity * sizeof(*rows));
	mem_free(counts->rows);
	counts->rows = rows;
	counts->capacity = capacity;
	return true;
}

void type_counts_deinit(struct type_counts *counts)
{
	mem_free(counts->rows);
	*counts = (struct type_counts){ 0 };
}

bool type_counts_merge(struct type_counts *sum, const struct type_counts *other)
{
	if (other->capacity > sum->capacity && !type_counts_grow(sum, other->capacity - 1))
		return false;
	for (size_t i = 0; i < other->capacity; i++) {
		sum->rows[i].count += other->rows[i].count;
		sum->rows[i].size += other->rows[i].size;
	}
	return true;
}

/* One worker's counts. */
struct type_counter {
	const struct heap_range *range;
	struct type_counts counts;
	struct gaps gaps;
};

static enum hd_status count_segment_types(void *arg, struct walker *walker, struct hd_error *err)
{
	struct type_counter *counter = arg;
	const struct segment *segment = walker->segment;
	heap_range_walk(counter->range, walker, segment);
	for (;;) {
		enum walk_result result = walker_next(walker);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&counter->gaps, walker->heap, &walker->damage);
		} else if ((counter->range->is_whole ||
			    heap_range_has(counter->range, segment, walker->object.address)) &&
			   !type_counts_add(&counter->counts, &walker->object)) {
			return fail_nomem(err);
		}
	}
}

enum hd_status type_counts_walk(struct type_counts *counts, struct gaps *gaps, struct heap *heap,
				const struct heap_range *range, struct job *job,
				struct hd_error *err)
{
	unsigned int workers = job_workers(job);
	HD_FREE struct type_counter *counters = mem_calloc(workers, sizeof(*counters));
	HD_FREE void **args = mem_calloc(workers, sizeof(void *));
	enum hd_status status = counters && args ? HD_OK : fail_nomem(err);
	for (unsigned int i = 0; status == HD_OK && i < workers; i++) {
		counters[i].range = range;
		args[i] = &counters[i];
	}
	if (status == HD_OK) {
		status = heap_walk(heap,
				   &(const struct heap_tour){ .segments = range->segments,
							      .count = range->count,
							      .what = "Scanning heap",
							      .visit = count_segment_types,
							      .args = args },
				   job, err);
		job_end(job);
	}
	for (unsigned int i = 0; counters && i < workers; i++) {
		if (status == HD_OK && !type_counts_merge(counts, &counters[i].counts))
			status = fail_nomem(err);
		gaps_merge(gaps, &counters[i].gaps);
		type_counts_deinit(&counters[i].counts);
	}
	return status;
}

enum hd_status type_counts_statistics(const struct type_counts *counts, struct runtime *runtime,
				      const char *part, struct statistics *ret,
				      struct hd_error *err)
{
	size_t count =
		type_count(runtime) < counts->capacity ? type_count(runtime) : counts->capacity;
	size_t kept = 0;
	TRY(statistics_init(ret, count, err));
	for (size_t i = 0; i < count; i++) {
		if (!counts->rows[i].count)
			continue;
		const struct type *type = type_at(runtime, i);
		size_t size;
		const char *name = type_name(runtime, type, &size);
		if (part && !name_matches(name, size, part))
			continue;
		ret->rows[kept++] = (struct type_count){ .id = type->method_table,
							 .name = name,
							 .name_size = (uint32_t)size,
							 .type = (uint32_t)i,
							 .count = counts->rows[i].count,
							 .size = counts->rows[i].size };
		ret->count += counts->rows[i].count;
		ret->size += counts->rows[i].size;
	}
	ret->row_count = kept;
	return HD_OK;
}

void statistics_keep(struct statistics *statistics, uint64_t method_table)
{
	size_t kept = 0;
	statistics->count = statistics->size = 0;
	for (size_t i = 0; i < statistics->row_count; i++) {
		if (statistics->rows[i].id != method_table)
			continue;
		statistics->count += statistics->rows[i].count;
		statistics->size += statistics->rows[i].size;
		statistics->rows[kept++] = statistics->rows[i];
	}
	statistics->row_count = kept;
}
