/* SPDX-License-Identifier: MIT */
#include "util/job.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "util/text.h"

#define SHOW_INTERVAL 200u /* ms between two progress lines */
#define SECOND_NS     1000000000
#define JOIN_NS       20000000 /* between two checks for cancellation */

static uint64_t job_now_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void job_begin(struct job *job, const char *what, uint64_t total)
{
	if (!job)
		return;
	job->what = what;
	job->total = total;
	atomic_store(&job->done, 0);
	if (!job->next_poll)
		job->next_poll = job_now_ms() + SHOW_INTERVAL;
}

bool job_step(struct job *job, unsigned int worker, uint64_t units)
{
	if (!job)
		return true;
	uint64_t done = atomic_fetch_add_explicit(&job->done, units, memory_order_relaxed) + units;
	if (worker == 0) {
		if (job->cancelled && job->cancelled(job->arg))
			atomic_store(&job->stop, true);
		uint64_t now = job->progress ? job_now_ms() : 0;
		if (job->progress && now >= job->next_poll) {
			job->next_poll = now + SHOW_INTERVAL;
			job->shown = true;
			job->progress(job->arg, job->what, done, job->total);
		}
	}
	return !atomic_load_explicit(&job->stop, memory_order_relaxed);
}

enum hd_status job_check(struct job *job, uint64_t units, struct hd_error *err)
{
	return job_step(job, 0, units) ? HD_OK : fail_cancelled(err);
}

void job_end(struct job *job)
{
	if (job && job->shown)
		job->progress(job->arg, NULL, 0, 0);
	if (job)
		job->shown = false;
}

enum hd_status fail_cancelled(struct hd_error *err)
{
	return fail(err, HD_ERR_CANCELLED, 0, "interrupted");
}

enum hd_status job_check_memory(const struct job *job, uint64_t bytes, struct hd_error *err)
{
	if (!job || !job->max_mem || bytes <= job->max_mem)
		return HD_OK;
	char need[32], most[32];
	return fail(err, HD_ERR_NOMEM, 0,
		    "this needs about %s, max-mem allows %s: raise it (--max-mem SIZE)",
		    format_bytes(bytes, need), format_bytes(job->max_mem, most));
}

unsigned int job_workers(const struct job *job)
{
	if (!job || job->workers < 1)
		return 1;
	return job->workers < JOB_WORKERS_MAX ? job->workers : JOB_WORKERS_MAX;
}

struct parallel_call {
	void (*fn)(void *arg, unsigned int index);
	void *arg;
	unsigned int index;
};

static void *parallel_main(void *arg)
{
	const struct parallel_call *call = arg;
	call->fn(call->arg, call->index);
	return NULL;
}

/* Only this thread may ask whether the job is cancelled: the others may go on for a long time. */
static void join(pthread_t thread, struct job *job)
{
	for (;;) {
		struct timespec end;
		(void)clock_gettime(CLOCK_MONOTONIC, &end);
		end.tv_nsec += JOIN_NS;
		if (end.tv_nsec >= SECOND_NS) {
			end.tv_nsec -= SECOND_NS;
			end.tv_sec++;
		}
		if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &end) != ETIMEDOUT)
			return;
		(void)job_step(job, 0, 0);
	}
}

void run_parallel(unsigned int count, struct job *job, void (*fn)(void *arg, unsigned int index),
		  void *arg)
{
	pthread_t threads[JOB_WORKERS_MAX];
	bool started[JOB_WORKERS_MAX] = { false };
	struct parallel_call calls[JOB_WORKERS_MAX];
	sigset_t all, old;
	/* Signals stay with this thread; but one that a worker's own fault raises must come through. */
	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGBUS);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned int i = 1; i < count && i < JOB_WORKERS_MAX; i++) {
		calls[i] = (struct parallel_call){ .fn = fn, .arg = arg, .index = i };
		started[i] = pthread_create(&threads[i], NULL, parallel_main, &calls[i]) == 0;
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	for (unsigned int i = 0; i < count; i++) {
		if (i >= JOB_WORKERS_MAX || !started[i])
			fn(arg, i);
	}
	for (unsigned int i = 1; i < count && i < JOB_WORKERS_MAX; i++) {
		if (started[i])
			join(threads[i], job);
	}
}
