/* SPDX-License-Identifier: MIT */
#include "hearing.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static struct hd_snapshot *_Atomic heard;
static atomic_uint callbacks_inside;

void hearing_begin(struct hd_snapshot *snapshot)
{
	atomic_store(&heard, snapshot);
}

void hearing_end(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	atomic_store(&heard, NULL);
	while (atomic_load(&callbacks_inside))
		(void)nanosleep(&moment, NULL);
}

struct hd_snapshot *hearing_enter(void)
{
	(void)atomic_fetch_add(&callbacks_inside, 1);
	struct hd_snapshot *snapshot = atomic_load(&heard);
	if (!snapshot)
		hearing_leave();
	return snapshot;
}

void hearing_leave(void)
{
	(void)atomic_fetch_sub(&callbacks_inside, 1);
}
