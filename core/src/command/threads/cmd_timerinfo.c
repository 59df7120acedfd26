/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "analysis/pool/callback_name.h"
#include "analysis/pool/timers.h"
#include "analysis/pool/work_counts.h"
#include "command/table.h"

#define TIMER_OPTIONS(X)                                                                     \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "show N timers (0: all, as without)", NULL) \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "count equal timers, and do not list them", NULL)

OPTIONS(timer, TIMER_OPTIONS);

#define TIMER_LIST(X)                                                                         \
	X(TIMER_ADDRESS, "address", "Timer", KIND_ADDRESS, 12, 0, "the TimerQueueTimer")      \
	X(TIMER_DUE, "due", "Due", KIND_NUMBER, 12, 0,                                        \
	  "milliseconds, counted from when it was set")                                       \
	X(TIMER_PERIOD, "period", "Every", KIND_NUMBER, 12, 0,                                \
	  "milliseconds; null: it fires once")                                                \
	X(TIMER_LEFT, "left_at_most", "Left", KIND_SIGNED, 12, 0,                             \
	  "milliseconds until it fires, at most: the exact moment of the dump is not "        \
	  "known; negative: it is late")                                                      \
	X(TIMER_STATE, "state", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                        \
	  "the object that the callback gets")                                                \
	X(TIMER_STATE_TYPE, "state_type", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT, "type of that") \
	X(TIMER_METHOD, "method", "Callback", KIND_TEXT, 0, 0, "what it calls")

COLUMNS(timer, TIMER_COLUMNS, TIMER_LIST);

const struct schema timers_schema = {
	.name = "timers",
	SCHEMA_COLUMNS(timer_columns),
	.is_main = true,
	.heading =
		"Timer                 Due        Every         Left Callback (type of its state)",
	.lines = "{address:012a}[ {due:9} ms|             ][ {period:9} ms|             ][ "
		 "{left_at_most:9} ms|             ] {method:m}[ ({state_type})]\n",
};

#define MERGED_LIST(X)                                                    \
	X(MERGED_COUNT, "count", "Count", KIND_NUMBER, 12, 0, "timers")   \
	X(MERGED_DUE, "due", "Due", KIND_NUMBER, 12, 0,                   \
	  "milliseconds, counted from when they were set")                \
	X(MERGED_PERIOD, "period", "Every", KIND_NUMBER, 12, 0,           \
	  "milliseconds; null: they fire once")                           \
	X(MERGED_FIRST, "first", "First", KIND_ADDRESS, 12, LOOK_ADDRESS, \
	  "the first TimerQueueTimer of these")                           \
	X(MERGED_METHOD, "method", "Callback", KIND_TEXT, 0, 0, "what they call")

COLUMNS(merged, MERGED_COLUMNS, MERGED_LIST);

SCHEMA(merged, .name = "merged",
       .heading = "       Count          Due        Every First        Callback",
       .lines = "{count:12}[ {due:9} ms|             ][ {period:9} ms|             ] "
		"{first:012a} {method:m}\n");

static int compare_timers(const void *left, const void *right)
{
	const struct set_timer *a = left, *b = right;
	if (a->due_at != b->due_at)
		return a->due_at < b->due_at ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static void write_timer(struct call *call, struct members *members, const struct set_timers *timers,
			const struct set_timer *timer, struct text *method)
{
	struct heap *heap = call->heap;
	struct object object, state;
	uint64_t target;
	struct cell cells[TIMER_COLUMNS] = {
		[TIMER_ADDRESS] = cell_number(timer->address),
		[TIMER_DUE] = cell_number(timer->due),
		[TIMER_LEFT] = cell_signed(timer->due_at - timers->latest),
	};
	if (timer->period != UINT32_MAX && timer->period)
		cells[TIMER_PERIOD] = cell_number(timer->period);
	method->size = 0;
	if (member_object(members, timer->address, &object) &&
	    callback_append(method, heap, members, &object, &target)) {
		cells[TIMER_METHOD] = cell_text(method->bytes, method->size);
	} else {
		cells[TIMER_METHOD] = cell_string("<not known>");
	}
	if (timer->state)
		cells[TIMER_STATE] = cell_number(timer->state);
	if (member_object(members, timer->state, &state)) {
		size_t size;
		const char *name = type_name(heap->runtime, state.type, &size);
		cells[TIMER_STATE_TYPE] = cell_type(name, size, state.type->method_table);
	}
	answer_row(&call->answer, cells);
}

static const struct column complete_columns[] = {
	{ "complete", NULL, KIND_FLAG, 0, 0, "could all lists of timers be read to their ends?" },
};
static const struct schema timers_complete_schema = { SCHEMA_COLUMNS(complete_columns) };

static enum hd_status count_timers(struct call *call, const struct set_timers *timers,
				   struct work_counts *counts)
{
	for (size_t i = 0; i < timers->rows_count; i++) {
		const struct set_timer *timer = &timers->rows[i];
		uint64_t times = (uint64_t)timer->due << 32 | timer->period;
		TRY(work_counts_add(counts, times, timer->address, call->err));
		if (i % 1024 == 0)
			TRY(call_check(call));
	}
	work_counts_sort(counts);
	return HD_OK;
}

static void write_timer_counts(struct call *call, const struct work_counts *counts)
{
	answer_table(&call->answer, &merged_schema, NULL);
	for (size_t i = 0; i < counts->rows_count; i++) {
		const struct work_count *row = &counts->rows[i];
		uint32_t period = (uint32_t)row->group;
		struct cell cells[MERGED_COLUMNS] = {
			[MERGED_COUNT] = cell_number(row->count),
			[MERGED_DUE] = cell_number(row->group >> 32),
			[MERGED_FIRST] = cell_number(row->first),
			[MERGED_METHOD] = cell_text(row->callback, row->callback_size),
		};
		if (period != UINT32_MAX && period)
			cells[MERGED_PERIOD] = cell_number(period);
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
}

/* Equal timers together; text leaves it out where each line would be one timer of the list. */
static enum hd_status write_merged(struct call *call, struct members *members,
				   const struct set_timers *timers, bool is_alone)
{
	HD_CLEANUP(work_counts)
	struct work_counts counts = { .heap = call->heap, .members = members };
	TRY(count_timers(call, timers, &counts));
	bool is_text = answer_is_text(&call->answer);
	if (is_alone || !is_text || counts.rows_count < timers->rows_count) {
		if (!is_alone)
			answer_remark(&call->answer, "\n");
		write_timer_counts(call, &counts);
	}
	return HD_OK;
}

static enum hd_status list_timers(struct call *call, struct members *members,
				  const struct set_timers *timers)
{
	struct answer *answer = &call->answer;
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	HD_CLEANUP(text) struct text method = { 0 };
	answer_table(answer, &timers_schema, &options);
	for (size_t i = 0; i < timers->rows_count; i++) {
		if (answer_wants_row(answer))
			write_timer(call, members, timers, &timers->rows[i], &method);
		if (i % 1024 == 0)
			TRY(call_check(call));
	}
	if (answer_table_end(answer))
		answer_cut(answer, options.limit);
	return HD_OK;
}

static enum hd_status write_timers(struct call *call, struct members *members,
				   const struct set_timers *timers)
{
	struct answer *answer = &call->answer;
	bool is_counted = call->options[OPT_STAT].given;
	if (!is_counted)
		TRY(list_timers(call, members, timers));
	TRY(write_merged(call, members, timers, is_counted));
	const struct cell complete[] = { cell_flag(!timers->is_broken) };
	answer_data(answer, &timers_complete_schema, complete);
	if (timers->is_broken) {
		answer_remark(answer,
			      "A list of timers cannot be read to its end: some may be missing.\n");
	}
	char count[COUNT_SIZE];
	answer_remark(answer, "\n%s set.\n", format_count(timers->rows_count, "timer", count));
	return HD_OK;
}

static enum hd_status run_timerinfo(struct call *call)
{
	HD_CLEANUP(members) struct members *members = NULL;
	HD_CLEANUP(set_timers) struct set_timers timers = { 0 };
	TRY(members_create(call->heap, &members, call->err));
	TRY(set_timers_read(call->heap, members, &call->job, &timers, call->err));
	if (timers.rows_count)
		qsort(timers.rows, timers.rows_count, sizeof(*timers.rows), compare_timers);
	return write_timers(call, members, &timers);
}

COMMAND(timerinfo, .alias = "ti", .has_rows = true,
	.summary = "list the timers that are set, the next one first",
	.description =
		"Task.Delay, CancellationTokenSource, PeriodicTimer and System.Timers.Timer are timers,\n"
		"too. A core does not hold the time: Left is counted from the last moment that a timer\n"
		"or the thread pool has noted, so it may be less. Equal timers are counted below.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP | NEEDS_FIELDS,
	.options = timer_options);
