/* SPDX-License-Identifier: MIT */
/* Stopping a process at a moment when its heap can be walked. */
#include <time.h>

#include "gc/heap.h"
#include "mem/mapped_file.h"
#include "runtime/runtime.h"
#include "session/session_state.h"
#include "session/survey.h"
#include "targets/process/proc.h"
#include "targets/process/process_memory.h"

/* How often a process is stopped at most, and how long it may be stopped for this in all. */
#define STOP_TRIES_MAX      20u
#define STOPPED_SECONDS_MAX 2.0

/*
 * How often it is stopped at most because threads have been asked to stop for a GC, and one has not: half a
 * second in all.  Whoever has not stopped by then does not for a reason.
 */
#define SUSPENDING_MAX 10u

/* How often it is stopped at most because native memory was needed but not copied. */
#define LACKED_MAX 4u

/*
 * If a process has this many bytes of its own memory or more, it is checked which of them are
 * needed.
 */
#define LARGE_MIN ((uint64_t)32 << 20)

/* Milliseconds that it runs between two stops: 1, 2, 4, ...; 3 seconds in all. */
#define PAUSE_MAX 200u

static enum hd_status let_run(unsigned int tries, struct job *job, struct hd_error *err)
{
	unsigned int pause = tries < 9 ? 1u << (tries - 1) : PAUSE_MAX;
	if (pause > PAUSE_MAX)
		pause = PAUSE_MAX;
	job_begin(job, "Waiting for a garbage collection to end", 0);
	const struct timespec time = { .tv_nsec = (long)pause * 1000000 };
	(void)nanosleep(&time, NULL);
	return job_step(job, 0, 0) ? HD_OK : fail_cancelled(err);
}

/* The runtime of @p target, NULL if none can be read: the commands that need it will say so. */
static enum hd_status find_runtime(struct target *target, struct job *job, struct runtime **ret,
				   struct hd_error *err)
{
	struct hd_error reason = { 0 };
	mapped_files_guard_begin();
	target_set_job(target, job);
	enum hd_status status = runtime_open(target, job, ret, &reason);
	target_set_job(target, NULL);
	mapped_files_guard_end();
	enum hd_status answered = target_check(target, &reason);
	if (answered != HD_OK) {
		runtime_destroy(*ret);
		*ret = NULL;
		status = answered;
	}
	if (answered == HD_OK && status != HD_ERR_NOMEM && status != HD_ERR_CANCELLED)
		return HD_OK;
	if (err)
		*err = reason;
	return status;
}

/* A process before it is stopped. */
struct watched {
	struct target *target; /* its runtime while it runs; NULL: not found */
	struct runtime *runtime;
	/* The native memory that must be copied, unless all of it is. */
	bool is_lean;
	struct page_list kept;
};

/* Does it have so much memory that it is worth finding out which part is needed? */
static bool is_large(int pid)
{
	HD_CLEANUP(text) struct text text = { 0 };
	uint64_t bytes = 0;
	if (proc_read_file(pid, "status", &text) && text.bytes) {
		bytes = kilobytes_parse(text.bytes, "RssAnon") +
			kilobytes_parse(text.bytes, "VmSwap");
	}
	return bytes >= LARGE_MIN;
}

static void watched_deinit(struct watched *watched)
{
	runtime_destroy(watched->runtime);
	target_destroy(watched->target);
	page_list_deinit(&watched->kept);
	*watched = (struct watched){ 0 };
}

/*
 * Look at the running process: find the word that tells whether a GC is moving objects (its address
 * never changes), and the native memory that its runtime uses (this mostly stays the same).
 */
static enum hd_status watch(int pid, const struct target_options *options, struct job *job,
			    struct watched *ret, struct hd_error *err)
{
	struct target_options running = *options;
	struct hd_error reason;
	running.no_stop = true;
	ret->is_lean = !options->copy_all && is_large(pid);
	if (ret->is_lean)
		running.kept = &ret->kept;
	enum hd_status status = target_open_process(pid, &running, job, &ret->target, &reason);
	if (status == HD_ERR_CANCELLED)
		return fail_cancelled(err);
	/* Any other failure will be found again when the process is stopped. */
	if (status != HD_OK)
		return process_server_check(options->server, err);
	TRY(find_runtime(ret->target, job, &ret->runtime, err));
	if (!ret->runtime || !ret->is_lean)
		return HD_OK;
	TRY(survey_native(ret->runtime, job, err));
	return target_check(ret->target, err);
}

/*
 * Check whether the copy has the native memory that commands need.  What it lacks, because it is
 * newer than the first look, will be copied the next time.
 */
static enum hd_status try_copy(struct target *target, struct runtime *runtime, struct job *job,
			       struct page_list *kept, bool *ret_lacks, struct hd_error *err)
{
	*ret_lacks = false;
	if (!target->process.copy || !runtime)
		return HD_OK;
	TRY(survey_native(runtime, job, err));
	const struct page_list *missed = process_copy_missed(target->process.copy);
	*ret_lacks = missed->rows_count > 0;
	page_list_join(kept, missed);
	return HD_OK;
}

/* How the process is stopped, after the look at it while it ran. */
static struct target_options stopping_options(const struct target_options *with,
					      struct watched *watched)
{
	struct target_options stopping = *with;
	if (watched->runtime) {
		stopping.busy_at = runtime_gc(watched->runtime)->structures_invalid_at;
		stopping.kept = watched->is_lean ? &watched->kept : NULL;
		stopping.type_at = runtime_object_method_table(watched->runtime);
		stopping.find_heap = survey_find_heap;
		stopping.find_heap_arg = watched->runtime;
	}
	return stopping;
}

/*
 * Is a GC moving objects, or about to?  @p suspending counts the looks in a row at which a thread had not stopped for
 * it: after some it does not for a reason.
 */
static bool is_collecting(const struct runtime *runtime, unsigned int *suspending)
{
	bool is_suspending = runtime_is_suspending(runtime);
	*suspending = is_suspending ? *suspending + 1 : 0;
	return runtime_gc_is_moving(runtime) || (is_suspending && *suspending < SUSPENDING_MAX);
}

/* @p with: with a server. */
static enum hd_status attach(int pid, const struct target_options *with, struct job *job,
			     struct target **ret, struct runtime **ret_clr, struct hd_error *err)
{
	HD_CLEANUP(watched) struct watched watched = { 0 };
	TRY(watch(pid, with, job, &watched, err));
	double stopped = 0;
	unsigned int lacked = 0, suspending = 0;
	struct target_options stopping = stopping_options(with, &watched);
	for (unsigned int tries = 1;; tries++) {
		struct target *target = NULL;
		struct runtime *runtime = NULL;
		bool lacks = false;
		bool is_last = tries >= STOP_TRIES_MAX || stopped >= STOPPED_SECONDS_MAX;
		if (is_last)
			stopping.busy_at = 0;
		TRY(target_open_process(pid, &stopping, job, &target, err));
		target->process.stops = tries;
		enum hd_status status = HD_OK;
		if (!target->process.is_busy)
			status = find_runtime(target, job, &runtime, err);
		stopped += target->process.stopped_seconds;
		bool again = target->process.is_busy ||
			     (runtime && is_collecting(runtime, &suspending) && !is_last);
		target->process.suspending = suspending;
		if (status == HD_OK && !again) {
			status = try_copy(target, runtime, job, &watched.kept, &lacks, err);
			again = lacks && !is_last && ++lacked < LACKED_MAX;
		}
		if (status == HD_OK && !again) {
			*ret = target;
			*ret_clr = runtime;
			return HD_OK;
		}
		/* Before the next copy is made, because there is memory for only one. */
		runtime_destroy(runtime);
		target_destroy(target);
		TRY(status);
		if (!lacks)
			TRY(let_run(tries, job, err));
	}
}

enum hd_status session_attach(int pid, const struct target_options *options, struct job *job,
			      struct target **ret, struct runtime **ret_clr, struct hd_error *err)
{
	struct target_options with = options ? *options : (struct target_options){ 0 };
	struct proc_status unused;
	TRY(proc_check(pid, &unused, err));
	/* Before anything is read that a hostile process may have invented. */
	TRY(process_server_create(pid, &with.server, err));
	enum hd_status status = attach(pid, &with, job, ret, ret_clr, err);
	process_server_release(with.server);
	return status;
}
