/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "gc/walk.h"
#include "util/alloc.h"
#include "util/job.h"

/* One heap_walk(), shared by its workers. */
struct parallel_walk {
	struct heap *heap;
	const struct heap_tour *tour;
	size_t count; /* of its segments */
	struct job *job;
	_Atomic size_t next;
	_Atomic bool stop;
	enum hd_status status[JOB_WORKERS_MAX];
	struct hd_error errors[JOB_WORKERS_MAX];
};

static const struct segment *walked_segment(const struct parallel_walk *walk, size_t index)
{
	return walk->tour->segments ? walk->tour->segments[index] : &walk->heap->segments[index];
}

static enum hd_status walk_segment(struct parallel_walk *walk, struct walker *walker,
				   const struct segment *segment, struct hd_error *err)
{
	walker_begin(walker, segment, segment->begin, segment->end);
	void *arg = walk->tour->args ? walk->tour->args[walker->worker] : NULL;
	TRY(walk->tour->visit(arg, walker, err));
	if (walker->cancelled ||
	    !job_step(walk->job, walker->worker, segment->end - walker->reported))
		return fail_cancelled(err);
	return HD_OK;
}

static void walk_worker(void *arg, unsigned int index)
{
	struct parallel_walk *walk = arg;
	struct hd_error *err = &walk->errors[index];
	struct walker walker;
	enum hd_status status = walker_init(&walker, walk->heap, err);
	if (status == HD_OK) {
		walker.job = walk->job;
		walker.worker = index;
		while (status == HD_OK && !atomic_load(&walk->stop)) {
			size_t next = atomic_fetch_add(&walk->next, 1);
			if (next >= walk->count)
				break;
			status = walk_segment(walk, &walker, walked_segment(walk, next), err);
		}
		walker_deinit(&walker);
	}
	walk->status[index] = status;
	if (status != HD_OK)
		atomic_store(&walk->stop, true);
}

static unsigned int worker_count(const struct parallel_walk *walk)
{
	unsigned int workers = walk->heap->memory->is_parallel ? job_workers(walk->job) : 1;
	if (workers > walk->count)
		workers = walk->count ? (unsigned int)walk->count : 1;
	return workers < JOB_WORKERS_MAX ? workers : JOB_WORKERS_MAX;
}

static enum hd_status first_failure(const struct parallel_walk *walk, unsigned int workers,
				    struct hd_error *err)
{
	for (unsigned int i = 0; i < workers; i++) {
		if (walk->status[i] == HD_OK)
			continue;
		if (err)
			*err = walk->errors[i];
		return walk->status[i];
	}
	/* Without memory for the types, sound objects can look like damage. */
	return runtime_type_table_failed(walk->heap->runtime) ? fail_nomem(err) : HD_OK;
}

enum hd_status heap_walk(struct heap *heap, const struct heap_tour *tour, struct job *job,
			 struct hd_error *err)
{
	HD_FREE struct parallel_walk *walk = mem_calloc(1, sizeof(*walk));
	TRY_MEMORY(walk, err);
	walk->heap = heap;
	walk->tour = tour;
	walk->count = tour->segments ? tour->count : heap->segment_count;
	walk->job = job;
	uint64_t total = 0;
	for (size_t i = 0; i < walk->count; i++)
		total += walked_segment(walk, i)->end - walked_segment(walk, i)->begin;
	job_begin(job, tour->what, total);
	(void)runtime_type_table_failed(heap->runtime);
	unsigned int workers = worker_count(walk);
	run_parallel(workers, walk->job, walk_worker, walk);
	return first_failure(walk, workers, err);
}
