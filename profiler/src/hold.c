/* SPDX-License-Identifier: MIT */
#include "hold.h"

#include <semaphore.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "own_thread.h"
#include "runtime.h"

/* One at a time. */
static struct {
	sem_t tried, over, ended;
	bool is_held;
} hold;

/* All signals that could interrupt it are blocked. */
static void await_post(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0) {
	}
}

static void *run_hold(void *arg)
{
	(void)arg;
	(void)prctl(PR_SET_NAME, "heapdump");
	const bool is_held = runtime_suspend();
	hold.is_held = is_held;
	(void)sem_post(&hold.tried);
	if (is_held) {
		await_post(&hold.over);
		runtime_resume();
	}
	(void)sem_post(&hold.ended);
	return NULL;
}

bool hold_begin(void)
{
	if (sem_init(&hold.tried, 0, 0) != 0 || sem_init(&hold.over, 0, 0) != 0 ||
	    sem_init(&hold.ended, 0, 0) != 0 || own_thread_start(run_hold, NULL) != 0)
		return false;
	await_post(&hold.tried);
	if (!hold.is_held)
		await_post(&hold.ended);
	return hold.is_held;
}

void hold_end(void)
{
	(void)sem_post(&hold.over);
	await_post(&hold.ended);
}
