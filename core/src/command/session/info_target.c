/* SPDX-License-Identifier: MIT */
/* info about a core or a process: what it is, what can be read of it, what is missing. */
#include <string.h>

#include "analysis/heap/heap_gaps.h"
#include "analysis/heap/heap_range.h"
#include "command/session/core_kind.h"
#include "command/session/crash.h"
#include "command/session/info.h"
#include "framework/survey.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/runtime_ops.h"
#include "targets/target_files.h"
#include "util/alloc.h"

/* See job_workers(). */
#define WORKERS_MAX JOB_WORKERS_MAX

/* The counts of a walk of the heap, or of a worker's part of it. */
struct target_totals {
	struct heap_totals heap; /**< its types are counted at the end */
	struct gaps gaps;
	uint8_t *seen; /**< by type index: objects of it were met */
	size_t seen_capacity;
};

static bool see_type(struct target_totals *totals, size_t index)
{
	if (index >= totals->seen_capacity) {
		size_t capacity = index + 256;
		uint8_t *seen = mem_realloc(totals->seen, capacity, 1);
		if (!seen)
			return false;
		memset(seen + totals->seen_capacity, 0, capacity - totals->seen_capacity);
		totals->seen = seen;
		totals->seen_capacity = capacity;
	}
	totals->seen[index] = 1;
	return true;
}

static enum hd_status count_segment_totals(void *arg, struct walker *walker, struct hd_error *err)
{
	struct target_totals *totals = arg;
	for (;;) {
		enum walk_result result = walker_next(walker);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&totals->gaps, walker->heap, &walker->damage);
			continue;
		}
		bool is_free = walker->object.type->is_free;
		if (!is_free && !see_type(totals, walker->object.type->index))
			return fail_nomem(err);
		totals->heap.objects += !is_free;
		totals->heap.marked |= walker->object.mark_bits & 1;
		totals->heap.bytes += is_free ? 0 : walker->object.size;
		totals->heap.free_count += is_free;
		totals->heap.free_size += is_free ? walker->object.size : 0;
	}
}

static enum hd_status count_heap_objects(struct call *call, struct target_totals *ret)
{
	struct heap_range range;
	TRY(heap_range_init(&range, call->heap, &(const struct range_choice){ 0 }, call->err));
	struct target_totals totals[WORKERS_MAX] = { 0 };
	void *args[WORKERS_MAX];
	for (size_t i = 0; i < WORKERS_MAX; i++)
		args[i] = &totals[i];
	enum hd_status status = heap_walk(call->heap,
					  &(const struct heap_tour){ .segments = range.segments,
								     .count = range.count,
								     .what = "Scanning heap",
								     .visit = count_segment_totals,
								     .args = args },
					  &call->job, call->err);
	job_end(&call->job);
	heap_range_deinit(&range);
	for (size_t i = 0; i < type_count(call->heap->runtime); i++) {
		bool seen = false;
		for (size_t j = 0; j < WORKERS_MAX && !seen; j++)
			seen = i < totals[j].seen_capacity && totals[j].seen[i];
		ret->heap.types += seen;
	}
	for (size_t i = 0; i < WORKERS_MAX; i++) {
		mem_free(totals[i].seen);
		ret->heap.objects += totals[i].heap.objects;
		ret->heap.bytes += totals[i].heap.bytes;
		ret->heap.free_count += totals[i].heap.free_count;
		ret->heap.free_size += totals[i].heap.free_size;
		ret->heap.marked |= totals[i].heap.marked;
		gaps_merge(&ret->gaps, &totals[i].gaps);
	}
	gaps_settle(&ret->gaps, call->heap);
	return status;
}

/* Add the gaps that the walk met to the findings: info is about these. */
static void add_gaps(struct call *call, const struct target_totals *totals)
{
	struct findings *findings = &call->session->target->findings;
	const struct gaps *gaps = &totals->gaps;
	if (!call->heap->is_walkable) {
		const char *advice, *reason = no_heap_reason(call->heap, &advice);
		findings_add(findings, FINDING_NO_HEAP, advice, "%s", reason);
	}
	if (gaps->missing)
		heap_report_missing(call->heap, gaps->missing_bytes, gaps->missing);
	if (gaps->damaged)
		heap_report_gaps(call->heap, gaps->damaged);
}

/* A signal in a thread that collects is how a damaged heap mostly shows. */
static void add_crash(struct call *call, const struct crash *crash, bool any_marks)
{
	if (crash_is_collecting(call, crash, any_marks)) {
		findings_add(&call->session->target->findings, FINDING_GC_CRASH, NULL,
			     "the process ended by %s in a thread that was collecting garbage: "
			     "mostly the heap is damaged then",
			     target_crash_name(crash->fault.signal));
	}
}

/*
 * Ask for the metadata of every module, and for all types by name, as commands do: what is missing becomes
 * findings.  Types may be of modules that no list has.
 */
static void check_modules(struct call *call)
{
	struct runtime *runtime = call->heap->runtime;
	struct module *const *modules = NULL;
	size_t count = 0;
	struct hd_error err;
	if (!(runtime_capabilities(runtime) & RUNTIME_MODULES))
		return;
	if (module_list(runtime, &modules, &count, &err) != HD_OK) {
		findings_add(runtime_findings(runtime), FINDING_MODULES_MISSING, NULL,
			     "the list of modules cannot be read: %s", err.message);
		return;
	}
	for (size_t i = 0; i < count; i++)
		(void)module_find(runtime, modules[i]->address);
	(void)type_by_name(runtime, net_type_name(NET_OBJECT), 0);
	module_prove_all(runtime);
	struct framework_survey survey;
	if (framework_survey_make(runtime, &survey, NULL) == HD_OK)
		framework_survey_report(runtime, &survey);
}

/* Read the roots, so that what is missing of them becomes findings. */
static enum hd_status check_roots(struct call *call)
{
	const struct root_set *roots;
	struct hd_error err = { 0 };
	if (call->session->roots || !call->heap->is_walkable)
		return HD_OK;
	enum hd_status status = session_roots(call->session, false, &call->job, &roots, &err);
	job_end(&call->job);
	if (status == HD_ERR_CANCELLED || status == HD_ERR_NOMEM) {
		*call->err = err;
		return status;
	}
	if (status != HD_OK) {
		findings_add(&call->session->target->findings, FINDING_NO_ROOTS, NULL,
			     "the roots cannot be read: %s", err.message);
	}
	return HD_OK;
}

enum hd_status run_info_target(struct call *call, bool layout)
{
	struct target *target = call->session->target;
	enum hd_status status = session_heap(call->session, &call->job, &call->heap, call->err);
	if (status == HD_ERR_CANCELLED || status == HD_ERR_NOMEM || (layout && status != HD_OK))
		return status;
	if (layout) {
		write_layout_info(&call->answer, call->heap->runtime);
		return HD_OK;
	}
	struct target_totals totals = { 0 };
	struct crash crash = { 0 };
	if (status == HD_OK) {
		TRY(count_heap_objects(call, &totals));
		crash_find(call, &crash);
		add_crash(call, &crash, totals.heap.marked);
		add_gaps(call, &totals);
		check_modules(call);
		runtime_report_others(call->heap->runtime);
		TRY(check_roots(call));
	} else {
		findings_add(&target->findings, FINDING_NO_RUNTIME, NULL, "%s", call->err->message);
		*call->err = (struct hd_error){ 0 };
	}
	target_add_file_findings(target);
	session_warned(call->session);
	call->findings = target->findings.count > 0;
	return write_target_info(call, &totals.heap, &crash);
}
