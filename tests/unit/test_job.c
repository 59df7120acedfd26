/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "util/job.h"

#define LONG_MS 120000

struct work {
	struct job job;
	unsigned int asked; /* by the first thread alone */
	bool ended[3];      /* as the job was cancelled */
};

static int is_cancelled(void *arg)
{
	struct work *work = arg;
	return ++work->asked > 1;
}

/* The first worker has little to do, the others go on until they are told to stop. */
static void work_on(void *arg, unsigned int index)
{
	struct work *work = arg;
	const struct timespec nap = { .tv_nsec = 1000000 };
	for (unsigned int i = 0; index && i < LONG_MS && !work->ended[index]; i++) {
		work->ended[index] = !job_step(&work->job, index, 1);
		(void)nanosleep(&nap, NULL);
	}
}

TEST(a_job_is_cancelled_while_the_first_worker_waits)
{
	struct work work = { .job = { .cancelled = is_cancelled, .workers = 3 } };
	work.job.arg = &work;
	run_parallel(3, &work.job, work_on, &work);
	CU_ASSERT(work.ended[1]);
	CU_ASSERT(work.ended[2]);
	CU_ASSERT(work.asked >= 2);
}

TEST(without_a_job_all_work_is_done)
{
	struct work work = { .asked = 0 };
	work.ended[1] = work.ended[2] = true;
	run_parallel(3, NULL, work_on, &work);
	ASSERT_UINT(work.asked, 0);
}

SUITE(.name = "job")
