/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "analysis/pool/pool_state.h"
#include "command/table.h"
#include "command/threads/work_rows.h"

enum {
	OPT_WORK_ITEMS
};

static const struct option pool_options[] = {
	[OPT_WORK_ITEMS] = { "wi", VALUE_NONE, NULL, "also what is queued, merged by method",
			     NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static const struct sos_option pool_sos_options[] = {
	{ " ti ", "timerinfo lists the timers" },
	{ " stat ", "-wi merges the work items" },
	{ NULL, NULL },
};

enum pool_column {
	NUMBER_CPU,
	NUMBER_TOTAL,
	NUMBER_RUNNING,
	NUMBER_IDLE,
	NUMBER_MIN,
	NUMBER_MAX,
	NUMBER_GOAL,
	NUMBER_BLOCKED,
	NUMBER_ADDED,
	NUMBER_QUEUED,
	NUMBER_COLUMNS
};

static const struct column pool_columns[NUMBER_COLUMNS] = {
	[NUMBER_CPU] = { "cpu_percent", "CPU utilization:   ", KIND_SIGNED, 0, 0,
			 "of all processors, as the pool has measured it last" },
	[NUMBER_TOTAL] = { "workers", "Workers Total:     ", KIND_SIGNED, 0, 0,
			   "threads of the pool" },
	[NUMBER_RUNNING] = { "running", "Workers Running:   ", KIND_SIGNED, 0, 0,
			     "threads that run a work item" },
	[NUMBER_IDLE] = { "idle", "Workers Idle:      ", KIND_SIGNED, 0, 0,
			  "threads that wait for work" },
	[NUMBER_MIN] = { "min", "Worker Min Limit:  ", KIND_SIGNED, 0, 0,
			 "so many threads are made without delay" },
	[NUMBER_MAX] = { "max", "Worker Max Limit:  ", KIND_SIGNED, 0, 0,
			 "there are never more threads" },
	[NUMBER_GOAL] = { "goal", "Worker Goal:       ", KIND_SIGNED, 0, 0,
			  "threads that the pool wants now" },
	[NUMBER_BLOCKED] = { "blocked", "Workers Blocked:   ", KIND_SIGNED, 0, 0,
			     "threads in a wait for a task, which the pool knows of" },
	[NUMBER_ADDED] = { "added_for_blocked", "Added for Blocked: ", KIND_SIGNED, 0, 0,
			   "threads that were added because of these" },
	[NUMBER_QUEUED] = { "queued", "Work Items Queued: ", KIND_NUMBER, 0, 0,
			    "what waits for a thread" },
};

static void pool_layout(struct out *out, const struct cell *cells)
{
	for (unsigned int i = 0; i < NUMBER_COLUMNS; i++) {
		if (!cells[i].is_there)
			continue;
		out_puts(out, pool_columns[i].heading);
		out_printf(out, "%" PRId64 "%s\n", cells[i].signed_number,
			   i == NUMBER_CPU ? "%" : "");
	}
}

static const struct schema pool_schema = {
	SCHEMA_COLUMNS(pool_columns),
	.layout = pool_layout,
};

static struct cell pool_cell(const struct pool_state *pool, enum pool_number number)
{
	return pool_knows(pool, number) ? cell_signed(pool->values[number]) : (struct cell){ 0 };
}

static void write_pool(struct call *call, const struct pool_state *pool,
		       const struct pool_queues *queues)
{
	struct cell cells[NUMBER_COLUMNS] = {
		[NUMBER_CPU] = pool_cell(pool, POOL_CPU),
		[NUMBER_TOTAL] = pool_cell(pool, POOL_EXISTING),
		[NUMBER_RUNNING] = pool_cell(pool, POOL_WORKING),
		[NUMBER_MIN] = pool_cell(pool, POOL_MIN),
		[NUMBER_MAX] = pool_cell(pool, POOL_MAX),
		[NUMBER_GOAL] = pool_cell(pool, POOL_GOAL),
		[NUMBER_BLOCKED] = pool_cell(pool, POOL_BLOCKED),
		[NUMBER_ADDED] = pool_cell(pool, POOL_ADDED),
	};
	if (pool_knows(pool, POOL_EXISTING)) {
		cells[NUMBER_IDLE] =
			cell_signed(pool->values[POOL_EXISTING] - pool->values[POOL_WORKING]);
	}
	if (queues->is_known)
		cells[NUMBER_QUEUED] = cell_number(pool_queues_count(queues));
	answer_record(&call->answer, &pool_schema, cells);
}

static enum hd_status run_threadpool(struct call *call)
{
	struct members *members;
	struct pool_state pool;
	struct pool_queues queues;
	TRY(members_create(call->heap, &members, call->err));
	const struct queue_reader reader = { call->heap, members, &call->job };
	pool_state_read(members, &pool);
	enum hd_status status = pool_queues_read(&reader, &queues, call->err);
	if (status == HD_OK && !pool.address && !queues.is_known)
		answer_remark(&call->answer, "The thread pool was not used.\n");
	if (status == HD_OK) {
		write_pool(call, &pool, &queues);
		if (call->options[OPT_WORK_ITEMS].given)
			status = write_merged_work(call, members, &queues, UINT64_MAX);
	}
	pool_queues_deinit(&queues);
	members_destroy(members);
	return status;
}

const struct command threadpool_command = {
	.name = "threadpool",
	.summary = "show the workers of the thread pool, its limits, and how much is queued",
	.description =
		"Workers Blocked counts waits for tasks (Task.Wait, Result), not those for locks: waits\n"
		"shows these. A pool whose workers are all blocked while work is queued is starved.\n",
	.example = "threadpool -wi",
	.top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP,
	.options = pool_options,
	.sos_options = pool_sos_options,
	.run = run_threadpool,
};
