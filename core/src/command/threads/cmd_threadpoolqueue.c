/* SPDX-License-Identifier: MIT */
#include "command/table.h"
#include "command/threads/work_rows.h"

#define QUEUE_OPTIONS(X) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "show N rows (0: all, as without)", NULL)

OPTIONS(queue, QUEUE_OPTIONS);

static enum hd_status run_threadpoolqueue(struct call *call)
{
	HD_CLEANUP(members) struct members *members = NULL;
	HD_CLEANUP(pool_queues) struct pool_queues queues = { 0 };
	TRY(members_create(call->heap, &members, call->err));
	const struct queue_reader reader = { call->heap, members, &call->job };
	TRY(pool_queues_read(&reader, &queues, call->err));
	return write_merged_work(call, members, &queues, call_limit(call, OPT_LIMIT, UINT64_MAX));
}

COMMAND(threadpoolqueue, .alias = "tpq", .has_rows = true,
	.summary = "show what is queued in the thread pool, merged by method",
	.description = "Most first. Local queues belong to one worker each.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP | NEEDS_FIELDS,
	.options = queue_options);
