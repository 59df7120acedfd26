/* SPDX-License-Identifier: MIT */
#include "analysis/waits/monitors.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/job.h"

void monitors_deinit(struct monitors *monitors)
{
	pages_free(monitors->rows, monitors->rows_capacity, sizeof(*monitors->rows));
	*monitors = (struct monitors){ 0 };
}

static int compare_monitors(const void *left, const void *right)
{
	const struct monitor *a = left, *b = right;
	return a->block.object < b->block.object ? -1 : a->block.object > b->block.object;
}

static bool has_pulse_waiters(const struct clr *clr, const struct sync_block *block)
{
	uint64_t cursor = 0, thread;
	return block->has_monitor && clr_pulse_waiter(clr, block->address, &cursor, &thread);
}

static enum hd_status read_held_monitors(struct clr *clr, struct job *job,
					 struct monitors *monitors, struct hd_error *err)
{
	struct sync_block block;
	for (uint32_t i = 1; clr_sync_block(clr, i, &block); i++) {
		if (job && i % JOB_STRIDE == 0 && !job_step(job, 0, 0))
			return fail_cancelled(err);
		if (!block.object ||
		    (!block.is_held && !block.waiters && !has_pulse_waiters(clr, &block)))
			continue;
		if (!PAGES_RESERVE(monitors, rows))
			return fail_nomem(err);
		monitors->rows[monitors->rows_count++] =
			(struct monitor){ .block = block, .index = i };
	}
	return HD_OK;
}

enum hd_status monitors_read(struct clr *clr, struct job *job, struct monitors *ret,
			     struct hd_error *err)
{
	struct monitors monitors = { 0 };
	enum hd_status status =
		clr_has_sync_table(clr) ? read_held_monitors(clr, job, &monitors, err) : HD_OK;
	if (status != HD_OK) {
		monitors_deinit(&monitors);
		return status;
	}
	if (monitors.rows_count)
		qsort(monitors.rows, monitors.rows_count, sizeof(*monitors.rows), compare_monitors);
	*ret = monitors;
	return HD_OK;
}

struct monitor *monitor_of(const struct monitors *monitors, uint64_t object)
{
	const struct monitor key = { .block = { .object = object } };
	return object && monitors->rows_count ? bsearch(&key, monitors->rows, monitors->rows_count,
							sizeof(key), compare_monitors)
					      : NULL;
}
