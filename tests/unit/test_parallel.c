/* SPDX-License-Identifier: MIT */
#include "gc/walk.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"

/* heap_walk()'s visits count this. */
struct visits {
	uint64_t objects, segments;
	enum hd_status fail;
	struct job *cancel;
};

static enum hd_status visit(void *arg, struct walker *walker, struct hd_error *err)
{
	struct visits *visits = arg;
	visits->segments++;
	if (visits->fail != HD_OK)
		return fail(err, visits->fail, 0, "visit failed");
	while (walker_next(walker) == WALK_OBJECT) {
		visits->objects++;
		if (visits->cancel)
			atomic_store(&visits->cancel->stop, true);
	}
	return HD_OK;
}

/* One object in the first segment, ten in each other one. */
static struct fake_clr *make_segments(size_t count)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	(void)fake_object(fake, fake->object_type, 0);
	for (size_t i = 1; i < count; i++) {
		(void)fake_segment(fake, 0, GENERATION_2, 0x1000);
		for (size_t k = 0; k < 10; k++)
			(void)fake_object(fake, fake->object_type, 0);
	}
	return fake;
}

TEST(test_heap_walk)
{
	struct fake_clr *fake = make_segments(50);
	struct heap *heap = fake_heap(fake);
	for (unsigned int workers = 0; workers <= 4; workers++) {
		struct job job = { .workers = workers };
		struct visits visits[4] = { 0 };
		void *args[4] = { &visits[0], &visits[1], &visits[2], &visits[3] };
		ASSERT_UINT(heap_walk(heap,
				      &(const struct heap_tour){
					      .what = "Walking", .visit = visit, .args = args },
				      &job, NULL),
			    HD_OK);
		uint64_t objects = 0, segments = 0;
		for (size_t i = 0; i < 4; i++) {
			objects += visits[i].objects;
			segments += visits[i].segments;
		}
		ASSERT_UINT(objects, 1 + 49 * 10);
		ASSERT_UINT(segments, 50);
		ASSERT_UINT(job.done, job.total);
	}
	/* Some segments; no job; memory that one thread at a time reads. */
	struct visits visits = { 0 };
	void *args[] = { &visits, NULL, NULL, NULL };
	const struct segment *two[] = { &heap->segments[0], &heap->segments[7] };
	ASSERT_UINT(heap_walk(heap,
			      &(const struct heap_tour){ .segments = two,
							 .count = 2,
							 .what = "Walking",
							 .visit = visit,
							 .args = args },
			      NULL, NULL),
		    HD_OK);
	ASSERT_UINT(visits.segments, 2);
	ASSERT_UINT(visits.objects, 11);
	ASSERT_UINT(heap_walk(heap,
			      &(const struct heap_tour){ .segments = two,
							 .count = 0,
							 .what = "Walking",
							 .visit = visit,
							 .args = args },
			      NULL, NULL),
		    HD_OK);
	ASSERT_UINT(visits.segments, 2);
	struct job job = { .workers = 4 };
	heap->memory->is_parallel = false;
	ASSERT_UINT(heap_walk(heap,
			      &(const struct heap_tour){
				      .what = "Walking", .visit = visit, .args = args },
			      &job, NULL),
		    HD_OK);
	ASSERT_UINT(visits.segments, 52);
	fake_clr_destroy(fake);
}

TEST(test_heap_walk_fails)
{
	struct fake_clr *fake = make_segments(20);
	struct heap *heap = fake_heap(fake);
	struct job job = { .workers = 1 };
	struct hd_error err = { 0 };
	struct visits visits = { .fail = HD_ERR_FORMAT };
	void *args[] = { &visits };
	ASSERT_UINT(heap_walk(heap,
			      &(const struct heap_tour){
				      .what = "Walking", .visit = visit, .args = args },
			      &job, &err),
		    HD_ERR_FORMAT);
	ASSERT_TEXT(err.message, "visit failed");
	ASSERT_UINT(visits.segments, 1);
	visits = (struct visits){ .cancel = &job };
	ASSERT_UINT(heap_walk(heap,
			      &(const struct heap_tour){
				      .what = "Walking", .visit = visit, .args = args },
			      &job, &err),
		    HD_ERR_CANCELLED);
	ASSERT_UINT(visits.segments, 1);
	for (uint64_t nth = 1; nth < 100; nth++) {
		visits = (struct visits){ 0 };
		job.stop = false;
		alloc_fail_at(nth);
		enum hd_status status =
			heap_walk(heap,
				  &(const struct heap_tour){
					  .what = "Walking", .visit = visit, .args = args },
				  &job, &err);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		if (!failed)
			break;
	}
	ASSERT_UINT(visits.objects, 191);
	fake_clr_destroy(fake);
}

/* A long segment: progress comes as it is walked, and a cancelled job ends the walk inside it. */
TEST(test_progress)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	(void)fake_segment(fake, 0, GENERATION_0, 20 << 20);
	for (size_t i = 0; i < (18 << 20) / 8216; i++)
		(void)fake_object(fake, fake->object_array_type, 1024);
	struct heap *heap = fake_heap(fake);
	struct job job = { .workers = 1 };
	struct visits visits = { .cancel = &job };
	void *args[] = { &visits };
	ASSERT_UINT(heap_walk(heap,
			      &(const struct heap_tour){
				      .what = "Walking", .visit = visit, .args = args },
			      &job, NULL),
		    HD_ERR_CANCELLED);
	CU_ASSERT(visits.objects > 0 && visits.objects < 1000);
	CU_ASSERT(job.done > 0 && job.done < job.total);
	fake_clr_destroy(fake);
}

SUITE(.name = "parallel walk")
