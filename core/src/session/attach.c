/* SPDX-License-Identifier: MIT */
/* Stopping a process at a moment when its heap can be walked. */
#include <time.h>

#include "clr/clr.h"
#include "mem/mapped_file.h"
#include "session/session.h"
#include "target/proc.h"
#include "target/process_server.h"

/* How often a process is stopped at most, and how long it may stand still in all for that. */
#define TRIES_MAX           20u
#define STOPPED_SECONDS_MAX 2.0

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

/* The runtime of @p target, NULL where none can be read: the commands that need it will say so. */
static enum hd_status find_runtime(struct target *target, struct job *job, struct clr **ret,
				   struct hd_error *err)
{
	struct hd_error reason = { 0 };
	mapped_files_guard_begin();
	target_set_job(target, job);
	enum hd_status status = clr_open(target, job, ret, &reason);
	target_set_job(target, NULL);
	mapped_files_guard_end();
	enum hd_status answered = target_check(target, &reason);
	if (answered != HD_OK) {
		clr_destroy(*ret);
		*ret = NULL;
		status = answered;
	}
	if (answered == HD_OK && status != HD_ERR_NOMEM && status != HD_ERR_CANCELLED)
		return HD_OK;
	if (err)
		*err = reason;
	return status;
}

/*
 * Where the process keeps the word that tells whether a GC is moving objects; 0 = not known.  It
 * never moves, so the process need not stand still.
 */
static enum hd_status find_busy_word(int pid, const struct target_options *options, struct job *job,
				     uint64_t *ret, struct hd_error *err)
{
	struct target_options running = *options;
	struct target *target = NULL;
	struct clr *clr = NULL;
	struct hd_error unused;
	running.no_stop = true;
	*ret = 0;
	/* What is wrong will be wrong again when it is stopped. */
	if (target_open_process(pid, &running, job, &target, &unused) != HD_OK)
		return process_server_check(options->server, err);
	enum hd_status status = find_runtime(target, job, &clr, err);
	if (status == HD_OK && clr)
		*ret = clr->gc.structures_invalid_at;
	clr_destroy(clr);
	target_destroy(target);
	return status;
}

/* @p with: with a server. */
static enum hd_status attach(int pid, const struct target_options *with, struct job *job,
			     struct target **ret, struct clr **ret_clr, struct hd_error *err)
{
	double stopped = 0;
	struct target_options stopping = *with;
	TRY(find_busy_word(pid, with, job, &stopping.busy_at, err));
	for (unsigned int tries = 1;; tries++) {
		struct target *target = NULL;
		struct clr *clr = NULL;
		bool is_last = tries >= TRIES_MAX || stopped >= STOPPED_SECONDS_MAX;
		if (is_last)
			stopping.busy_at = 0;
		TRY(target_open_process(pid, &stopping, job, &target, err));
		target->stops = tries;
		enum hd_status status = HD_OK;
		if (!target->is_busy)
			status = find_runtime(target, job, &clr, err);
		stopped += target->stopped_seconds;
		bool again = target->is_busy || (clr && clr->gc.structures_invalid && !is_last);
		if (status == HD_OK && !again) {
			*ret = target;
			*ret_clr = clr;
			return HD_OK;
		}
		/* Before the next copy is made: there is memory for one. */
		clr_destroy(clr);
		target_destroy(target);
		TRY(status);
		TRY(let_run(tries, job, err));
	}
}

enum hd_status session_attach(int pid, const struct target_options *options, struct job *job,
			      struct target **ret, struct clr **ret_clr, struct hd_error *err)
{
	struct target_options with = options ? *options : (struct target_options){ 0 };
	struct proc_status unused;
	TRY(proc_check(pid, &unused, err));
	/* Before anything that the process may have made up is read. */
	TRY(process_server_create(pid, &with.server, err));
	enum hd_status status = attach(pid, &with, job, ret, ret_clr, err);
	process_server_release(with.server);
	return status;
}
