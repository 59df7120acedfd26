/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/guard.h"

/** After how many items a long loop calls job_step(). */
#define JOB_STRIDE 65536u

/**
 * One long piece of work, as its caller sees it: it can be cancelled, shows progress, has workers
 * and a memory limit.  When zero-initialised, it is never cancelled, silent, single-threaded and
 * unlimited.
 */
struct job {
	int (*cancelled)(void *arg); /**< or NULL; called on the thread that made the job */
	void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
	void *arg;
	unsigned int workers; /**< threads to use; 0 counts as 1 */
	uint64_t max_mem;     /**< bytes that large arrays may take; 0 = no limit */
	_Atomic bool stop;    /**< set when the work was cancelled or a worker failed */
	_Atomic uint64_t done;
	uint64_t total;
	const char *what;
	uint64_t next_poll; /**< CLOCK_MONOTONIC milliseconds of the next progress line */
	bool shown;
};

/** Begin a stage of @p total units, which progress calls @p what; @p job may be NULL. */
void job_begin(struct job *job, const char *what, uint64_t total);

/**
 * Count @p units as done.  On the job's own thread (@p worker 0) it also polls for cancellation and
 * shows progress, at most 5 times a second.
 *
 * @return false when the work must end with HD_ERR_CANCELLED.
 */
bool job_step(struct job *job, unsigned int worker, uint64_t units);

/** The same on the job's own thread, for a function that then ends with HD_ERR_CANCELLED. */
HD_NODISCARD enum hd_status job_check(struct job *job, uint64_t units, struct hd_error *err);

/** End the last stage: clears the progress line. */
void job_end(struct job *job);

/** End the last stage of @p job when this scope ends, as HD_CLEANUP does. */
#define JOB_STAGE(job) HD_CLEANUP(job_stage) struct job *job_stage_ __attribute__((unused)) = (job)

/** For JOB_STAGE. */
static inline void job_stage_deinit(struct job **job)
{
	job_end(*job);
}

/** Fail with HD_ERR_CANCELLED and its message. */
enum hd_status fail_cancelled(struct hd_error *err);

/** Fail with HD_ERR_NOMEM if @p bytes are more than the job's memory limit. */
enum hd_status job_check_memory(const struct job *job, uint64_t bytes, struct hd_error *err);

/** Most workers of a job, and the length of arrays with one element for each. */
#define JOB_WORKERS_MAX 64u

/** Workers of @p job, at least 1, at most JOB_WORKERS_MAX. */
unsigned int job_workers(const struct job *job);

/**
 * Call fn(arg, i) for each i less than @p count and wait.  Each i has its own thread; 0 runs on the
 * calling thread, and so do those whose thread cannot be made.  Signals stay with the calling
 * thread.
 *
 * @param job Is checked for cancellation even while this thread only waits; may be NULL.
 */
void run_parallel(unsigned int count, struct job *job, void (*fn)(void *arg, unsigned int index),
		  void *arg);
