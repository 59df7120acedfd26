/* SPDX-License-Identifier: MIT */
/* memory: who has the memory of a process, or the bytes of a core. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/memory/memory_account.h"
#include "command/call.h"
#include "command/memory/memory_malloc_text.h"
#include "command/table.h"
#include "targets/process/process_residency.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/sink.h"

enum {
	OPT_DETAIL
};

static const struct option memory_options[] = {
	[OPT_DETAIL] = { "detail", VALUE_NONE, NULL,
			 "a row for each file, thread, context and table; malloc's arenas and sizes",
			 NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* A column of bytes that only a process, or only a core, has. */
#define BYTES_COLUMN(name, title, kind, width, help)                            \
	{                                                                       \
		name, title, kind, width, LOOK_THOUSANDS | LOOK_LEAVE_OUT, help \
	}

/* Columns that a group, a row and the total have; where they begin, bytes_cells() begins, too. */
#define BYTES_COLUMNS                                                                     \
	BYTES_COLUMN("resident", "Resident", KIND_SIGNED, 16,                             \
		     "bytes in memory; those shared with other processes in full"),       \
		BYTES_COLUMN("pss", "Pss", KIND_SIGNED, 16,                               \
			     "the same, shared pages divided by the number of sharers"),  \
		BYTES_COLUMN("swap", "Swap", KIND_SIGNED, 12, "bytes in the swap space"), \
		BYTES_COLUMN("in_core", "In the core", KIND_BYTES, 16,                    \
			     "bytes that the core's file has"),                           \
		BYTES_COLUMN("zeros", "Zero pages", KIND_BYTES, 16,                       \
			     "of these, in pages of zeros outside of files and objects: " \
			     "probably never used"),                                      \
	{                                                                                 \
		"addresses", "Addresses", KIND_BYTES, 20, LOOK_THOUSANDS,                 \
			"bytes of its addresses, of which the kernel gives memory only "  \
			"when they are used"                                              \
	}
#define BYTES_COUNT 6u

static void bytes_cells(const struct memory_account *account, const struct memory_bytes *bytes,
			struct cell cells[BYTES_COUNT])
{
	if (account->is_live) {
		cells[0] = cell_signed(bytes->resident);
		cells[1] = cell_signed(bytes->pss);
		cells[2] = cell_signed(bytes->swap);
	} else {
		cells[3] = cell_number(bytes->captured);
		cells[4] = cell_number(bytes->zeros);
	}
	cells[5] = cell_number(bytes->addresses);
}

/* The columns of a process, or those of a core. */
static struct table_options bytes_options(const struct memory_account *account, unsigned int first)
{
	uint64_t live = (uint64_t)7 << first, core = (uint64_t)3 << (first + 3);
	/* What a core has of addresses is in its file. */
	uint64_t addresses = (uint64_t)1 << (first + 5);
	return (struct table_options){ .limit = UINT64_MAX,
				       .hidden = account->is_live ? core : live | addresses };
}

enum group_column {
	GROUP_NAME,
	GROUP_BYTES,
	GROUP_SHARE = GROUP_BYTES + BYTES_COUNT,
	GROUP_COLUMNS
};

static const struct column group_columns[GROUP_COLUMNS] = {
	[GROUP_NAME] = { "group", "", KIND_TEXT, 12, LOOK_LEFT, "a part of the memory" },
	BYTES_COLUMNS,
	[GROUP_SHARE] = { "share", "Share", KIND_PERCENT, 7, 0,
			  "percentage of all that is in memory, or in the core" },
};

static const struct schema group_schema = { .name = "groups", SCHEMA_COLUMNS(group_columns) };

enum row_column {
	ROW_GROUP,
	ROW_KIND,
	ROW_OWNER,
	ROW_BYTES,
	ROW_WHAT = ROW_BYTES + BYTES_COUNT,
	ROW_COLUMNS
};

static const struct column row_columns[ROW_COLUMNS] = {
	[ROW_GROUP] = { "group", NULL, KIND_TEXT, 0, 0, "the part that it belongs to" },
	[ROW_KIND] = { "kind", NULL, KIND_TEXT, 0, 0, "what it is: gen0, malloc-used, ..." },
	[ROW_OWNER] = { "owner", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,
			"with -detail: the file, thread, context or table" },
	BYTES_COLUMNS,
	[ROW_WHAT] = { NULL, "What", KIND_TEXT, 0, LOOK_LEFT, NULL },
};

static const struct schema row_schema = {
	.name = "rows",
	SCHEMA_COLUMNS(row_columns),
	.is_main = true,
};

static const struct column total_columns[] = { BYTES_COLUMNS };

static const struct schema total_schema = {
	.name = "total",
	SCHEMA_COLUMNS(total_columns),
};

static const struct column complete_columns[] = {
	{ "complete", NULL, KIND_FLAG, 0, 0, "could all heaps of the runtime be read?" },
};

static const struct schema complete_schema = { SCHEMA_COLUMNS(complete_columns) };

static int64_t main_bytes(const struct memory_account *account, const struct memory_bytes *bytes)
{
	return account->is_live ? bytes->resident : (int64_t)bytes->captured;
}

static void write_memory_groups(struct call *call, const struct memory_account *account)
{
	struct table_options options = bytes_options(account, GROUP_BYTES);
	int64_t all = main_bytes(account, &account->total);
	answer_table(&call->answer, &group_schema, &options);
	for (enum memory_group group = 0; group < MEMORY_GROUPS; group++) {
		struct memory_bytes bytes = memory_account_of_group(account, group);
		int64_t part = main_bytes(account, &bytes);
		struct cell cells[GROUP_COLUMNS] = {
			[GROUP_NAME] = cell_string(memory_group_text(group)),
			[GROUP_SHARE] = cell_percent(part > 0 ? (double)part : 0, (double)all),
		};
		bytes_cells(account, &bytes, cells + GROUP_BYTES);
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
}

static void write_memory_row(struct call *call, const struct memory_account *account,
			     enum memory_kind kind, const char *owner,
			     const struct memory_bytes *bytes)
{
	struct text what = { 0 };
	const char *group = memory_group_text(memory_kind_group(kind));
	text_printf(&what, "%s: %s%s%s", group, memory_kind_text(kind), owner ? ", " : "",
		    owner ? owner : "");
	struct cell cells[ROW_COLUMNS] = {
		[ROW_GROUP] = cell_string(group),
		[ROW_KIND] = cell_string(memory_kind_word(kind)),
		[ROW_OWNER] = cell_string(owner),
		[ROW_WHAT] = cell_text(what.bytes, what.size),
	};
	bytes_cells(account, bytes, cells + ROW_BYTES);
	answer_row(&call->answer, cells);
	text_deinit(&what);
}

static bool is_nothing(const struct memory_bytes *bytes)
{
	return !bytes->addresses && !bytes->resident && !bytes->pss && !bytes->swap;
}

static void write_kinds(struct call *call, const struct memory_account *account)
{
	for (enum memory_kind kind = 0; kind < MEMORY_KINDS; kind++) {
		struct memory_bytes bytes = memory_account_of_kind(account, kind);
		if (!is_nothing(&bytes))
			write_memory_row(call, account, kind, NULL, &bytes);
	}
}

static int compare_memory_rows(const void *a, const void *b, void *arg)
{
	const struct memory_account *account = arg;
	const struct memory_row *left = &account->rows[*(const uint32_t *)a];
	const struct memory_row *right = &account->rows[*(const uint32_t *)b];
	int64_t mine = main_bytes(account, &left->bytes);
	int64_t other = main_bytes(account, &right->bytes);
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (mine != other)
		return mine > other ? -1 : 1;
	return (left > right) - (left < right);
}

/* By kind, the largest first. */
static enum hd_status write_details(struct call *call, struct memory_account *account)
{
	uint32_t *order = mem_alloc(account->rows_count, sizeof(*order));
	if (!order)
		return fail_nomem(call->err);
	for (size_t i = 0; i < account->rows_count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, account->rows_count, sizeof(*order), compare_memory_rows, account);
	for (size_t i = 0; i < account->rows_count && !answer_is_stopped(&call->answer); i++) {
		const struct memory_row *row = &account->rows[order[i]];
		if (!is_nothing(&row->bytes))
			write_memory_row(call, account, row->kind, row->owner, &row->bytes);
	}
	mem_free(order);
	return HD_OK;
}

static void write_sum(struct call *call, const struct memory_account *account)
{
	const struct memory_bytes *total = &account->total;
	char resident[32], pss[32], swap[32];
	if (account->is_live) {
		answer_remark(
			&call->answer,
			"%s in memory (Rss; %s if shared pages are divided, Pss), %s swapped\n\n",
			format_bytes((uint64_t)total->resident, resident),
			format_bytes((uint64_t)total->pss, pss),
			format_bytes((uint64_t)total->swap, swap));
	} else {
		answer_remark(&call->answer,
			      "%s in the core; a core does not tell what was in memory\n\n",
			      format_bytes(total->captured, resident));
	}
}

static enum hd_status write_memory(struct call *call, struct memory_account *account)
{
	struct cell total[BYTES_COUNT] = { 0 };
	write_sum(call, account);
	write_memory_groups(call, account);
	answer_remark(&call->answer, "\n");
	struct table_options options = bytes_options(account, ROW_BYTES);
	enum hd_status status = HD_OK;
	answer_table(&call->answer, &row_schema, &options);
	if (call->options[OPT_DETAIL].given) {
		status = write_details(call, account);
	} else {
		write_kinds(call, account);
	}
	(void)answer_table_end(&call->answer);
	TRY(status);
	bytes_cells(account, &account->total, total);
	memory_write_malloc(call, account, call->options[OPT_DETAIL].given);
	if (answer_is_data(&call->answer)) {
		answer_record(&call->answer, &total_schema, total);
		answer_record(&call->answer, &complete_schema,
			      (const struct cell[]){ cell_flag(!account->is_partial) });
	} else if (account->is_partial) {
		answer_remark(&call->answer,
			      "\nIncomplete: not all heaps of the runtime could be read: what they "
			      "have may be in other rows.\n");
	}
	return HD_OK;
}

/* The account of what is open; a warning says if there is no runtime in it. */
static enum hd_status make_call_account(struct call *call, struct memory_account **ret)
{
	struct target *target = call->session->target;
	struct heap *heap = NULL;
	struct hd_error reason = { 0 };
	if (!target) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "a heap dump file does not hold memory: open a core or a process");
	}
	/* A process that a debugger has stopped; it may have run since the last time. */
	if (target->process.server && (target->debugger.route || target->options.no_stop)) {
		process_residency_destroy(target->process.residency);
		target->process.residency = NULL;
		TRY(process_residency_read(target->process.server, &target->process.residency,
					   call->err));
	}
	enum hd_status status = session_heap(call->session, &call->job, &heap, &reason);
	if (status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED) {
		*call->err = reason;
		return status;
	}
	if (status != HD_OK)
		sink_warn(call->sink, reason.message);
	return memory_account_create(target, heap, &call->job, ret, call->err);
}

static enum hd_status run_memory(struct call *call)
{
	struct memory_account *account;
	TRY(make_call_account(call, &account));
	enum hd_status status = write_memory(call, account);
	memory_account_destroy(account);
	return status;
}

const struct command memory_command = {
	.name = "memory",
	.has_rows = true,
	.top_level = TOP_LEVEL_NEVER,
	.summary = "show who has the memory of the process",
	.description =
		"Every byte that smaps counts for a process (Rss) has one owner, so that the rows add\n"
		"up to it; of a core, every byte of its file. \"Reserved\" addresses have no memory.\n",
	.example = "memory -detail",
	.needs = NEEDS_ACCOUNT,
	.options = memory_options,
	.run = run_memory,
};
