/* SPDX-License-Identifier: MIT */
#include <strings.h>

#include "analysis/async/async_types.h"
#include "analysis/async/task_state.h"
#include "analysis/heap/object_pass.h"
#include "analysis/name_match.h"
#include "analysis/pool/callback_name.h"
#include "analysis/pool/work_counts.h"
#include "command/table.h"

#define DUMPTASKS_OPTIONS(X)                                                                      \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "count them by status and method", NULL)            \
	X(OPT_STATUS, "status", VALUE_CHOICE, "STATUS", "only tasks with this TaskStatus",        \
	  task_status_names)                                                                      \
	X(OPT_TYPE, "type", VALUE_TYPE, "NAME", "tasks whose type or method contains NAME", NULL) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "show N rows (0: all, as without)", NULL)

OPTIONS(dumptasks, DUMPTASKS_OPTIONS);

#define TASK_LIST(X)                                                                        \
	X(TASK_ADDRESS, "address", "Address", KIND_ADDRESS, 12, 0, "the task")              \
	X(TASK_STATUS, "status", "Status", KIND_TEXT, 20, 0, "its TaskStatus")              \
	X(TASK_OPTION_SET, "options", NULL, KIND_SET, 0, 0, "names of TaskCreationOptions") \
	X(TASK_METHOD, "method", "Method", KIND_TEXT, 0, 0,                                 \
	  "what it calls, the async method that it is of, or its type")                     \
	X(TASK_TYPE, "type", NULL, KIND_TYPE, 0, 0, "its type")                             \
	X(TASK_EXCEPTION, "exception", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,               \
	  "the first exception of a faulted task")                                          \
	X(TASK_EXCEPTION_TYPE, "exception_type", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT,        \
	  "type of that")                                                                   \
	X(TASK_CONTINUATION, "continuation", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,         \
	  "the object that goes on when it is complete")

COLUMNS(task, TASK_COLUMNS, TASK_LIST);

const struct schema tasks_schema = {
	.name = "tasks",
	SCHEMA_COLUMNS(task_columns),
	.is_main = true,
	.heading = "Address      Status               Method",
	.lines = "{address:012a} {status:-20} {method:m}[ {exception:x} {exception_type}]\n",
};

static const struct column count_columns[] = {
	{ "count", "Count", KIND_NUMBER, 8, LOOK_THOUSANDS, "tasks" },
	{ "status", "Status", KIND_TEXT, 20, LOOK_LEFT, "their TaskStatus" },
	{ "first", "First", KIND_ADDRESS, 12, LOOK_ADDRESS, "the first of them" },
	{ "method", "Method", KIND_TEXT, 0, 0, "what they call, or their type" },
};
static const struct schema counts_schema = {
	.name = "tasks",
	SCHEMA_COLUMNS(count_columns),
	.is_main = true,
};

static const struct column total_columns[] = {
	{ "count", NULL, KIND_NUMBER, 0, 0, "tasks that were asked for" },
};
SCHEMA(total, .name = "total");

struct task_listing {
	struct call *call;
	struct members *members;
	struct async_types types;
	struct work_counts counts;
	struct text method;
	uint64_t total;
	bool failed;
};

static void task_listing_deinit(struct task_listing *listing)
{
	async_types_deinit(&listing->types);
	work_counts_deinit(&listing->counts);
	text_deinit(&listing->method);
	members_destroy(listing->members);
}

static void write_task(struct task_listing *listing, const struct object *task,
		       const struct task_state *state)
{
	struct call *call = listing->call;
	struct runtime *runtime = call->heap->runtime;
	size_t size;
	const char *name = type_name(runtime, task->type, &size);
	struct object exception;
	struct cell cells[TASK_COLUMNS] = {
		[TASK_ADDRESS] = cell_number(task->address),
		[TASK_STATUS] = cell_string(task_status_name(state->status)),
		[TASK_OPTION_SET] = cell_set(task_option_names, task_options_of(state->flags)),
		[TASK_METHOD] = cell_text(listing->method.bytes, listing->method.size),
		[TASK_TYPE] = cell_type(name, size, task->type->method_table),
	};
	if (member_object(listing->members, state->exception, &exception)) {
		name = type_name(runtime, exception.type, &size);
		cells[TASK_EXCEPTION] = cell_number(state->exception);
		cells[TASK_EXCEPTION_TYPE] = cell_type(name, size, exception.type->method_table);
	}
	if (state->continuation)
		cells[TASK_CONTINUATION] = cell_number(state->continuation);
	answer_row(&call->answer, cells);
}

/* Is its type, or its method, the one that -type asks for? */
static bool is_of_type(const struct task_listing *listing, const struct object *task)
{
	const struct value *part = &listing->call->options[OPT_TYPE];
	size_t size;
	const char *name = type_name(listing->call->heap->runtime, task->type, &size);
	return !part->given || name_matches(name, size, part->text) ||
	       name_matches(listing->method.bytes, listing->method.size, part->text);
}

static enum hd_status meet_task(void *arg, const struct object *task, struct hd_error *err)
{
	struct task_listing *listing = arg;
	struct call *call = listing->call;
	const struct value *status = &call->options[OPT_STATUS];
	bool is_stat = call->options[OPT_STAT].given;
	struct task_state state;
	uint64_t target;
	enum async_type kind =
		async_type_of(&listing->types, call->heap->runtime, task->type, &listing->failed);
	if (listing->failed)
		return fail_nomem(err);
	if (!async_type_is_task(kind) ||
	    !task_state_read(call->heap, listing->members, task, &state) ||
	    (status->given && strcasecmp(status->text, task_status_name(state.status)) != 0))
		return HD_OK;
	bool is_shown = !is_stat && answer_wants_row(&call->answer);
	listing->method.size = 0;
	if (is_shown || call->options[OPT_TYPE].given) {
		(void)callback_append(&listing->method, call->heap, listing->members, task,
				      &target);
	}
	if (!is_of_type(listing, task))
		return HD_OK;
	listing->total++;
	if (is_stat)
		return work_counts_add(&listing->counts, state.status, task->address, err);
	if (is_shown)
		write_task(listing, task, &state);
	return HD_OK;
}

static void write_counts(struct task_listing *listing)
{
	struct answer *answer = &listing->call->answer;
	work_counts_sort(&listing->counts);
	for (size_t i = 0; i < listing->counts.rows_count; i++) {
		const struct work_count *row = &listing->counts.rows[i];
		const struct cell cells[] = {
			cell_number(row->count),
			cell_string(task_status_name((enum task_status)row->group)),
			cell_number(row->first),
			cell_text(row->callback, row->callback_size),
		};
		if (answer_wants_row(answer))
			answer_row(answer, cells);
	}
}

static enum hd_status run_dumptasks(struct call *call)
{
	HD_CLEANUP(task_listing) struct task_listing listing = { .call = call };
	bool is_stat = call->options[OPT_STAT].given;
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	TRY(members_create(call->heap, &listing.members, call->err));
	listing.counts = (struct work_counts){ .heap = call->heap, .members = listing.members };
	answer_table(&call->answer, is_stat ? &counts_schema : &tasks_schema, &options);
	TRY(object_pass_all(call->heap, meet_task, &listing, &call->job, call->err));
	char count[COUNT_SIZE];
	const struct cell total[] = { cell_number(listing.total) };
	if (is_stat)
		write_counts(&listing);
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, options.limit);
	answer_data(&call->answer, &total_schema, total);
	answer_remark(&call->answer, "\n%s.\n", format_count(listing.total, "task", count));
	return HD_OK;
}

COMMAND(dumptasks, .has_rows = true,
	.summary = "list the tasks on the heap with their status, method and exception",
	.description =
		"Async methods are tasks, too: dumpasync shows them as chains. A faulted task has its\n"
		"first exception at the end of its line.\n",
	.example = "dumptasks -stat", .needs = NEEDS_HEAP | NEEDS_FIELDS,
	.options = dumptasks_options);
