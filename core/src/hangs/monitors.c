/* SPDX-License-Identifier: MIT */
#include "hangs/monitors.h"

#include <stdlib.h>

#include "inspect/managed_lock.h"
#include "runtime/coreclr/threads/sync_block.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

void monitors_deinit(struct monitors *monitors)
{
	pages_free(monitors->rows, monitors->rows_capacity, sizeof(*monitors->rows));
	*monitors = (struct monitors){ 0 };
}

ORDER_BY(compare_monitors, struct monitor, block.object)

/* Since 11, the state of a monitor is in a Lock. */
static void read_lock(struct runtime *runtime, struct members *members, struct monitor *monitor)
{
	struct sync_block *block = &monitor->block;
	struct managed_lock lock;
	if (!managed_lock_read(members, block->lock, &lock))
		return;
	block->has_monitor = true;
	block->is_held = lock.is_held;
	block->waiters = lock.waiters;
	block->recursion = lock.recursion;
	block->owner = lock.holder ? runtime_thread_by_id(runtime, lock.holder) : NULL;
	block->os_id = block->owner ? block->owner->os_id : 0;
	monitor->event = lock.event;
	monitor->condition = lock.condition;
}

bool monitor_read(struct runtime *runtime, struct members *members, uint32_t index,
		  struct monitor *ret)
{
	struct monitor monitor = { .index = index };
	if (!runtime_sync_block(runtime, index, &monitor.block))
		return false;
	if (monitor.block.lock)
		read_lock(runtime, members, &monitor);
	*ret = monitor;
	return true;
}

static bool has_pulse_waiters(const struct runtime *runtime, struct members *members,
			      const struct monitor *monitor)
{
	uint64_t cursor = 0, who;
	/* A queue that cannot be read may have some. */
	if (monitor->condition)
		return condition_waiter(members, monitor->condition, &cursor, &who) || cursor;
	return runtime_pulse_waiter(runtime, monitor->block.address, &cursor, &who);
}

static enum hd_status read_used_monitors(struct runtime *runtime, struct members *members,
					 struct job *job, struct monitors *monitors,
					 struct hd_error *err)
{
	struct monitor monitor;
	for (uint32_t i = 1; monitor_read(runtime, members, i, &monitor); i++) {
		const struct sync_block *block = &monitor.block;
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		if (!block->object || !block->address)
			continue;
		monitors->unread += !block->has_monitor;
		if (!block->has_monitor || (!block->is_held && !block->waiters &&
					    !has_pulse_waiters(runtime, members, &monitor)))
			continue;
		TRY_MEMORY(PAGES_RESERVE(monitors, rows), err);
		monitors->rows[monitors->rows_count++] = monitor;
	}
	return HD_OK;
}

enum hd_status monitors_read(struct runtime *runtime, struct members *members, struct job *job,
			     struct monitors *ret, struct hd_error *err)
{
	*ret = (struct monitors){ .is_missing = !runtime_has_sync_table(runtime) };
	if (!ret->is_missing)
		TRY(read_used_monitors(runtime, members, job, ret, err));
	if (ret->rows_count)
		qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), compare_monitors);
	return HD_OK;
}

struct monitor *monitor_of(const struct monitors *monitors, uint64_t object)
{
	const struct monitor key = { .block = { .object = object } };
	return object && monitors->rows_count ? bsearch(&key, monitors->rows, monitors->rows_count,
							sizeof(key), compare_monitors)
					      : NULL;
}
