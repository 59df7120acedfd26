/* SPDX-License-Identifier: MIT */
#include "analysis/heap/generation_bytes.h"

#include "analysis/heap/heap_range.h"
#include "util/alloc.h"
#include "util/job.h"

/* One worker's counts, by heap. */
struct heapstat_counter {
	const struct life *dead;
	struct generation_bytes *heaps;
	struct gaps gaps;
};

static enum hd_status count_segment_bytes(void *arg, struct walker *walker, struct hd_error *err)
{
	struct heapstat_counter *counter = arg;
	const struct segment *segment = walker->segment;
	struct generation_bytes *bytes = &counter->heaps[segment->heap];
	uint32_t node = life_node(counter->dead, segment->begin);
	(void)err;
	for (;;) {
		enum walk_result result = walker_next(walker);
		const struct object *object = &walker->object;
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&counter->gaps, walker->heap, &walker->damage);
			continue;
		}
		enum bytes_figure figure = BYTES_FREE;
		if (!object->type->is_free) {
			if (!counter->dead->graph)
				continue;
			figure = life_passes(counter->dead, object, &node) ? BYTES_UNROOTED
									   : BYTES_LIVE;
		}
		uint32_t generation = segment_generation_at(segment, object->address);
		if (generation < BYTES_GENERATIONS)
			bytes->of[figure][generation] += object->size;
	}
}

/* Sizes in an ephemeral segment: generations 2, 1 and 0 come one after the other. */
static void add_ephemeral(const struct segment *segment, struct generation_bytes *bytes)
{
	uint64_t *size = bytes->of[BYTES_SIZE], *committed = bytes->of[BYTES_COMMITTED];
	uint64_t old = segment->gen1_begin - segment->begin;
	uint64_t middle = segment->gen0_begin - segment->gen1_begin;
	uint64_t head = segment->begin & 0xfff, all = segment_committed_size(segment);
	size[GENERATION_2] += old;
	size[GENERATION_1] += middle;
	size[GENERATION_0] += segment->end - segment->gen0_begin;
	committed[GENERATION_2] += old + head;
	committed[GENERATION_1] += middle;
	committed[GENERATION_0] += all > head + old + middle ? all - head - old - middle : 0;
}

static void add_segments(const struct heap *heap, struct generation_bytes *heaps)
{
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		struct generation_bytes *bytes = &heaps[segment->heap];
		if (segment->generation == GENERATION_EPHEMERAL) {
			add_ephemeral(segment, bytes);
		} else if (segment->generation < BYTES_GENERATIONS) {
			bytes->of[BYTES_SIZE][segment->generation] += segment->end - segment->begin;
			bytes->of[BYTES_COMMITTED][segment->generation] +=
				segment_committed_size(segment);
		}
	}
}

void generation_bytes_add(struct generation_bytes *sum, const struct generation_bytes *other)
{
	for (size_t i = 0; i < BYTES_COUNTED; i++) {
		for (size_t j = 0; j < BYTES_GENERATIONS; j++)
			sum->of[i][j] += other->of[i][j];
	}
}

static enum hd_status count_heap(struct generation_bytes *ret, struct heap *heap,
				 struct heapstat_counter *counters, struct job *job,
				 struct hd_error *err)
{
	unsigned int workers = job_workers(job);
	void *args[JOB_WORKERS_MAX] = { NULL };
	for (unsigned int i = 0; i < workers; i++)
		args[i] = &counters[i];
	enum hd_status status = heap_walk(heap,
					  &(const struct heap_tour){ .what = "Scanning heap",
								     .visit = count_segment_bytes,
								     .args = args },
					  job, err);
	job_end(job);
	for (unsigned int i = 0; status == HD_OK && i < workers; i++) {
		for (uint32_t j = 0; j < heap->heap_count; j++)
			generation_bytes_add(&ret[j], &counters[i].heaps[j]);
	}
	return status;
}

enum hd_status generation_bytes_count(struct generation_bytes *ret, struct heap *heap,
				      const struct life *dead, struct job *job, struct gaps *gaps,
				      struct hd_error *err)
{
	unsigned int workers = job_workers(job);
	struct heapstat_counter counters[JOB_WORKERS_MAX] = { 0 };
	HD_FREE struct generation_bytes *heaps =
		mem_calloc((size_t)workers * heap->heap_count, sizeof(*heaps));
	TRY_MEMORY(heaps, err);
	for (unsigned int i = 0; i < workers; i++) {
		counters[i] =
			(struct heapstat_counter){ .dead = dead,
						   .heaps = heaps + (size_t)i * heap->heap_count };
	}
	TRY(count_heap(ret, heap, counters, job, err));
	for (unsigned int i = 0; i < workers; i++)
		gaps_merge(gaps, &counters[i].gaps);
	add_segments(heap, ret);
	return HD_OK;
}
