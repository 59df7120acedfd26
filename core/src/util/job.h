/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_JOB_H
#define HEAPDUMP_SRC_UTIL_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"

/** How often loops over many items ask job_step(): each that many items. */
#define JOB_STRIDE 65536u

/**
 * One long piece of work as its caller sees it: may be cancelled, shows progress, has workers and
 * a memory limit.  Zero-initialised it is never cancelled, silent, single-threaded, unlimited.
 */
struct job {
	int (*cancelled)(void *arg); /**< or NULL; called on the thread that made the job */
	void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
	void *arg;
	unsigned int workers; /**< threads to use; 0 counts as 1 */
	uint64_t max_mem;     /**< bytes that large arrays may take; 0 = no limit */
	_Atomic bool stop;    /**< set once cancelled, or once a worker failed */
	_Atomic uint64_t done;
	uint64_t total;
	const char *what;
	uint64_t next_poll; /**< CLOCK_MONOTONIC milliseconds of the next progress line */
	bool shown;
};

/** Begin a stage of @p total units, called @p what in progress; NULL @p job is allowed. */
void job_begin(struct job *job, const char *what, uint64_t total);

/**
 * Count @p units as done.  On the job's own thread (@p worker 0) also polls for cancellation and
 * shows progress, 5 times a second at most.
 *
 * @return false when the work must end with HD_ERR_CANCELLED.
 */
bool job_step(struct job *job, unsigned int worker, uint64_t units);

/** End the last stage: clears the progress line. */
void job_end(struct job *job);

/** HD_ERR_CANCELLED with its one message. */
enum hd_status fail_cancelled(struct hd_error *err);

/** HD_ERR_NOMEM if @p bytes are more than the job's memory limit. */
enum hd_status job_check_memory(const struct job *job, uint64_t bytes, struct hd_error *err);

/** Most workers of a job: arrays that have one element for each are this long. */
#define JOB_WORKERS_MAX 64u

/** Workers of @p job, at least 1, at most JOB_WORKERS_MAX. */
unsigned int job_workers(const struct job *job);

/**
 * Call fn(arg, i) for each i below @p count, each on a thread of its own, 0 on this one, and wait.
 * An index whose thread cannot be made runs on this one.  Signals stay with the calling thread.
 *
 * @param job Asked whether it is cancelled also while this thread only waits; may be NULL.
 */
void run_parallel(unsigned int count, struct job *job, void (*fn)(void *arg, unsigned int index),
		  void *arg);

#endif
