/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/pool/hill_climbing.h"
#include "analysis/pool/pool_state.h"
#include "command/table.h"
#include "command/threads/work_rows.h"

#define POOL_OPTIONS(X)                                                                        \
	X(OPT_CHANGES, "ti", VALUE_NONE, NULL, "also how the goal has changed, and why", NULL) \
	X(OPT_HC, "hc", VALUE_NONE, NULL, "the same as -ti", NULL)                             \
	X(OPT_WORK_ITEMS, "wi", VALUE_NONE, NULL, "also what is queued, merged by method", NULL)

OPTIONS(pool, POOL_OPTIONS);

static const struct sos_option pool_sos_options[] = {
	{ " stat ", "-wi merges the work items" },
	{ NULL, NULL },
};

#define NUMBER_LIST(X)                                                                 \
	X(NUMBER_CPU, "cpu_percent", "CPU utilization:   ", KIND_SIGNED, 0, 0,         \
	  "of all processors, as the pool has measured it last")                       \
	X(NUMBER_TOTAL, "workers", "Workers Total:     ", KIND_SIGNED, 0, 0,           \
	  "threads of the pool")                                                       \
	X(NUMBER_RUNNING, "running", "Workers Running:   ", KIND_SIGNED, 0, 0,         \
	  "threads that run a work item")                                              \
	X(NUMBER_IDLE, "idle", "Workers Idle:      ", KIND_SIGNED, 0, 0,               \
	  "threads that wait for work")                                                \
	X(NUMBER_MIN, "min", "Worker Min Limit:  ", KIND_SIGNED, 0, 0,                 \
	  "so many threads are made without delay")                                    \
	X(NUMBER_MAX, "max", "Worker Max Limit:  ", KIND_SIGNED, 0, 0,                 \
	  "there are never more threads")                                              \
	X(NUMBER_GOAL, "goal", "Worker Goal:       ", KIND_SIGNED, 0, 0,               \
	  "threads that the pool wants now")                                           \
	X(NUMBER_BLOCKED, "blocked", "Workers Blocked:   ", KIND_SIGNED, 0, 0,         \
	  "threads in a wait for a task, which the pool knows of")                     \
	X(NUMBER_ADDED, "added_for_blocked", "Added for Blocked: ", KIND_SIGNED, 0, 0, \
	  "threads that were added because of these")                                  \
	X(NUMBER_QUEUED, "queued", "Work Items Queued: ", KIND_NUMBER, 0, 0,           \
	  "what waits for a thread")                                                   \
	X(NUMBER_SAMPLES, "samples", "Times Measured:    ", KIND_SIGNED, 0, 0,         \
	  "how often the pool has measured its throughput")

COLUMNS(pool, NUMBER_COLUMNS, NUMBER_LIST);

SCHEMA(pool, .name = NULL);

#define CHANGE_LIST(X)                                                         \
	X(CHANGE_BEFORE, "ms_before_last", "Before Last", KIND_SIGNED, 11, 0,  \
	  "milliseconds before the last change")                               \
	X(CHANGE_REASON, "transition", "Transition", KIND_TEXT, 19, LOOK_LEFT, \
	  "the reason, as the runtime names it")                               \
	X(CHANGE_THREADS, "threads", "Goal", KIND_SIGNED, 6, 0,                \
	  "workers that the pool wanted from then on")                         \
	X(CHANGE_SAMPLES, "samples", "Samples", KIND_SIGNED, 8, 0,             \
	  "measurements in the throughput")                                    \
	X(CHANGE_THROUGHPUT, "throughput", "Throughput", KIND_SINGLE, 12, 0,   \
	  "work items per second")

COLUMNS(change, CHANGE_COLUMNS, CHANGE_LIST);

static const struct schema changes_schema = {
	.name = "goal_changes",
	SCHEMA_COLUMNS(change_columns),
	.heading = "Before Last Transition            Goal  Samples   Throughput",
	.lines = "{ms_before_last:10}s {transition:-19} {threads:6} {samples:8} {throughput:12}\n",
};

static struct cell pool_cell(const struct pool_state *pool, enum pool_number number)
{
	return pool_knows(pool, number) ? cell_signed(pool->values[number]) : (struct cell){ 0 };
}

static void write_pool(struct call *call, const struct pool_state *pool,
		       const struct pool_queues *queues, const struct hill_log *log)
{
	char percent[24];
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
	if (cells[NUMBER_CPU].is_there) {
		(void)snprintf(percent, sizeof(percent), "%" PRId64 "%%", pool->values[POOL_CPU]);
		cells[NUMBER_CPU].shown = percent;
	}
	if (log->is_known)
		cells[NUMBER_SAMPLES] = cell_signed(log->samples);
	answer_record(&call->answer, &pool_schema, cells);
}

/* The clock has 32 bits, which may have gone round since. */
static int64_t ms_before(const struct hill_change *change, const struct hill_change *last)
{
	return (int32_t)((uint32_t)last->ticks - (uint32_t)change->ticks);
}

static void write_changes(struct call *call, const struct hill_log *log)
{
	char reason[64];
	if (!log->is_known) {
		answer_remark(
			&call->answer,
			"How the goal has changed is not known: nothing was measured, or this "
			"version of the runtime keeps it elsewhere.\n");
		return;
	}
	if (answer_is_text(&call->answer) && !log->rows_count) {
		answer_remark(&call->answer, "The goal has not changed until now.\n");
		return;
	}
	answer_remark(&call->answer, "\n");
	answer_table(&call->answer, &changes_schema, NULL);
	for (size_t i = 0; i < log->rows_count; i++) {
		const struct hill_change *change = &log->rows[i];
		hill_change_reason(call->heap->runtime, change, reason, sizeof(reason));
		int64_t ms = ms_before(change, &log->rows[log->rows_count - 1]);
		char before[32], rate[64];
		(void)snprintf(before, sizeof(before), "%.3f", (double)ms / 1000);
		(void)snprintf(rate, sizeof(rate), "%.1f", (double)change->throughput);
		const struct cell cells[CHANGE_COLUMNS] = {
			[CHANGE_BEFORE] = cell_shown(cell_signed(ms), before),
			[CHANGE_REASON] = cell_string(reason),
			[CHANGE_THREADS] = cell_signed(change->threads),
			[CHANGE_SAMPLES] = cell_signed(change->samples),
			[CHANGE_THROUGHPUT] =
				cell_shown(cell_real((double)change->throughput), rate),
		};
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	if (log->is_broken)
		answer_remark(&call->answer, "(the rest cannot be read)\n");
}

static enum hd_status run_threadpool(struct call *call)
{
	HD_CLEANUP(members) struct members *members = NULL;
	struct pool_state pool;
	HD_CLEANUP(pool_queues) struct pool_queues queues = { 0 };
	HD_CLEANUP(hill_log) struct hill_log log = { 0 };
	TRY(members_create(call->heap, &members, call->err));
	const struct queue_reader reader = { call->heap, members, &call->job };
	pool_state_read(members, &pool);
	TRY(pool_queues_read(&reader, &queues, call->err));
	TRY(pool_hill_log_read(&reader, &log, call->err));
	if (!pool.address && !queues.is_known)
		answer_remark(&call->answer, "The thread pool was not used.\n");
	write_pool(call, &pool, &queues, &log);
	if (call->options[OPT_CHANGES].given || call->options[OPT_HC].given)
		write_changes(call, &log);
	if (call->options[OPT_WORK_ITEMS].given)
		TRY(write_merged_work(call, members, &queues, UINT64_MAX));
	return HD_OK;
}

COMMAND(threadpool,
	.summary = "show the workers of the thread pool, its limits, and how much is queued",
	.description =
		"Workers Blocked counts waits for tasks (Task.Wait, Result), not those for locks: waits\n"
		"shows these. A pool whose workers are all blocked while work is queued is starved.\n",
	.example = "threadpool -wi", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_FIELDS, .options = pool_options,
	.sos_options = pool_sos_options);
