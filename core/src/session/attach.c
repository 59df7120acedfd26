/* SPDX-License-Identifier: MIT */
/* Stopping a process at a moment when its heap can be walked. */
#include <time.h>

#include "clr/clr.h"
#include "mem/mapped_file.h"
#include "session/session.h"

/* How often a process is stopped at most, and how long it may stand still in all for that. */
#define TRIES_MAX           20u
#define STOPPED_SECONDS_MAX 2.0

/* Milliseconds that it runs between two stops: 1, 2, 4, ... */
#define PAUSE_MAX 50u

static enum hd_status let_run(unsigned int tries, struct job *job, struct hd_error *err)
{
	unsigned int pause = 1u << (tries - 1);
	if (pause > PAUSE_MAX)
		pause = PAUSE_MAX;
	job_begin(job, "waiting for a garbage collection to end", 0);
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
	enum hd_status status = clr_open(target, job, ret, &reason);
	mapped_files_guard_end();
	if (status != HD_ERR_NOMEM && status != HD_ERR_CANCELLED)
		return HD_OK;
	if (err)
		*err = reason;
	return status;
}

enum hd_status session_attach(int pid, const struct target_options *options, struct job *job,
			      struct target **ret, struct clr **ret_clr, struct hd_error *err)
{
	double stopped = 0;
	for (unsigned int tries = 1;; tries++) {
		struct target *target = NULL;
		struct clr *clr = NULL;
		TRY(target_open_process(pid, options, job, &target, err));
		target->stops = tries;
		enum hd_status status = find_runtime(target, job, &clr, err);
		stopped += target->stopped_seconds;
		bool again = status == HD_OK && clr && clr->gc.structures_invalid != 0 &&
			     tries < TRIES_MAX && stopped < STOPPED_SECONDS_MAX;
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
