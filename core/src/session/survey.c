/* SPDX-License-Identifier: MIT */
#include "session/survey.h"

#include "analysis/heap/out_of_memory.h"
#include "analysis/threads/frame_variables.h"
#include "gc/segments.h"
#include "inspect/thread_name.h"
#include "mem/mapped_file.h"
#include "roots/root_set.h"
#include "runtime/coreclr/statics/handle_arrays.h"
#include "runtime/coreclr/threads/sync_block.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "util/text.h"

/* Most thread-static fields that are read, counted for each thread. */
#define THREAD_FIELDS_MAX 1000000u

/* Ignore all failures except those after which the caller cannot go on. */
static enum hd_status forgive(enum hd_status status, const struct hd_error *reason,
			      struct hd_error *err)
{
	if (status != HD_ERR_NOMEM && status != HD_ERR_CANCELLED)
		return HD_OK;
	if (err)
		*err = *reason;
	return status;
}

/* Is each segment in the target?  A process makes new ones. */
static void touch_segments(const struct heap *heap)
{
	uint8_t byte;
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		if (segment->begin == segment->end)
			continue;
		(void)memory_u8(heap->memory, segment->begin, &byte);
		(void)memory_u8(heap->memory, segment->end - 1, &byte);
	}
}

/* The static fields of all types. */
struct statics_survey {
	struct runtime *runtime;
	struct job *job;
	uint64_t left; /* how many more thread-static fields are read */
};

static void touch_field(struct statics_survey *statics, const struct field *field)
{
	struct runtime *runtime = statics->runtime;
	uint8_t byte;
	uint64_t address = field_static_address(runtime, field, NULL);
	if (address)
		(void)memory_u8(runtime_memory(runtime), address, &byte);
	for (size_t i = 0;
	     field->is_thread_static && i < runtime_thread_count(runtime) && statics->left;
	     i++, statics->left--) {
		address =
			field_thread_static_address(runtime, field, runtime_thread_at(runtime, i));
		if (address)
			(void)memory_u8(runtime_memory(runtime), address, &byte);
	}
}

static bool touch_fields(void *arg, const struct type *type)
{
	struct statics_survey *statics = arg;
	HD_CLEANUP(field_list) struct field_list fields = { 0 };
	if (!job_step(statics->job, 0, 0))
		return false;
	if (field_list_read(statics->runtime, type, &fields, NULL) != HD_OK)
		return true;
	for (size_t i = 0; i < fields.count; i++) {
		if (fields.rows[i].is_static && fields.rows[i].declaring == type)
			touch_field(statics, &fields.rows[i]);
	}
	return true;
}

static enum hd_status touch_types(struct runtime *runtime, struct job *job, struct hd_error *err)
{
	struct statics_survey statics = { .runtime = runtime,
					  .job = job,
					  .left = THREAD_FIELDS_MAX };
	type_touch_free(runtime);
	return type_for_each(runtime, touch_fields, &statics, err);
}

/* The arrays in which the runtime itself keeps objects, which are named after this. */
static void touch_arrays(const struct runtime *runtime)
{
	HD_CLEANUP(handle_arrays) struct handle_arrays arrays = { 0 };
	(void)handle_arrays_read(runtime, &arrays);
}

static void touch_threads(struct heap *heap)
{
	HD_CLEANUP(text) struct text name = { 0 };
	for (size_t i = 0; i < runtime_thread_count(heap->runtime); i++)
		(void)thread_name(heap, runtime_thread_at(heap->runtime, i), &name);
}

/* The monitors of objects, and who waits for a pulse: a block may lie on two pages. */
static enum hd_status touch_sync_blocks(const struct runtime *runtime, struct job *job,
					struct hd_error *err)
{
	struct sync_block block;
	for (uint32_t i = 1; runtime_sync_block(runtime, i, &block); i++) {
		uint64_t cursor = 0, thread;
		if (block.address)
			(void)runtime_pulse_waiter(runtime, block.address, &cursor, &thread);
		if (i % JOB_STRIDE == 0 && !job_step(job, 0, 0))
			return fail_cancelled(err);
	}
	return HD_OK;
}

/* Allocations that the GC notes, and the limits of its heap, among the variables of its module. */
static void touch_limits(const struct heap *heap)
{
	struct out_of_memory unused;
	out_of_memory_read(heap, &unused);
}

static enum hd_status look_at_heap(struct runtime *runtime, struct job *job, struct hd_error *err)
{
	struct heap *heap;
	struct root_set *roots;
	TRY(heap_open(runtime, &heap, err));
	touch_segments(heap);
	touch_threads(heap);
	touch_limits(heap);
	touch_arrays(runtime);
	modules_touch(runtime);
	runtime_code_touch(runtime);
	enum hd_status status = touch_sync_blocks(runtime, job, err);
	if (status == HD_OK)
		status = forgive(touch_types(runtime, job, err), err, NULL);
	if (status == HD_OK)
		status = forgive(frame_variables_touch(runtime, job, err), err, NULL);
	if (status == HD_OK)
		status = root_set_create(heap, false, job, &roots, err);
	if (status == HD_OK)
		root_set_destroy(roots);
	heap_destroy(heap);
	return status;
}

enum hd_status survey_native(struct runtime *runtime, struct job *job, struct hd_error *err)
{
	struct hd_error reason = { 0 };
	size_t known = runtime_findings(runtime)->count;
	mapped_files_guard_begin();
	target_set_job(runtime_target(runtime), job);
	enum hd_status status = look_at_heap(runtime, job, &reason);
	target_set_job(runtime_target(runtime), NULL);
	mapped_files_guard_end();
	findings_cut(runtime_findings(runtime), known);
	return forgive(status, &reason, err);
}

static bool heap_is_sound(const struct heap *heap)
{
	return heap->is_walkable && !heap->gc_in_progress && !heap->problem_count;
}

enum hd_status survey_find_heap(void *arg, struct memory *memory, struct page_list *ret,
				struct hd_error *err)
{
	struct runtime *runtime = arg;
	struct memory *before = runtime_set_memory(runtime, memory);
	struct heap *heap = NULL;
	struct hd_error reason = { 0 };
	enum hd_status status = runtime_read_gc(runtime, &reason);
	if (status == HD_OK)
		status = heap_open(runtime, &heap, &reason);
	(void)runtime_set_memory(runtime, before);
	if (status != HD_OK || !heap_is_sound(heap)) {
		heap_destroy(heap);
		TRY(forgive(status, &reason, err));
		return HD_ERR_NOTFOUND;
	}
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		uint64_t begin = segment->begin - HEAP_SEGMENT_BEFORE_MEM;
		page_list_add(ret, begin, segment->end - begin);
	}
	heap_destroy(heap);
	return HD_OK;
}
