/* SPDX-License-Identifier: MIT */
/* memory: who has the memory of a process, or the bytes of a core. */

#include "analysis/modules/load_contexts.h"
#include "command/completeness.h"
#include "command/memory/memory_advice_text.h"
#include "command/memory/memory_call.h"
#include "command/memory/memory_cgroup_text.h"
#include "command/memory/memory_generations.h"
#include "command/memory/memory_malloc_text.h"
#include "command/other_session.h"
#include "command/table.h"
#include "native/memory_lines.h"
#include "targets/target.h"

#define MEMORY_OPTIONS(X)                                                                    \
	X(OPT_DETAIL, "detail", VALUE_NONE, NULL,                                            \
	  "a row for each file, thread, context and table; malloc's arenas and sizes", NULL) \
	X(OPT_LIVE, "live", VALUE_NONE, NULL,                                                \
	  "also split generations: live, dead, free, unused (finds all references)", NULL)   \
	X(OPT_AGAINST, "against", VALUE_FILE, "OTHER",                                       \
	  "compare with OTHER, an earlier core, or a process", NULL)

OPTIONS(memory, MEMORY_OPTIONS);

/* The data of an answer. */
struct memory_answer {
	const struct memory_account *account;
	const struct memory_account *before; /* NULL: it is not compared */
	struct generation_bytes generations; /* with -live */
	struct advice_facts facts;
};

/* A column of bytes that only a process, or only a core, has. */
#define BYTES_COLUMN(name, title, kind, width, help)                            \
	{                                                                       \
		name, title, kind, width, LOOK_THOUSANDS | LOOK_LEAVE_OUT, help \
	}

/* Columns that a group, a row and the total have; where they begin, bytes_cells() begins, too. */
#define BYTES_COLUMNS                                                                       \
	BYTES_COLUMN("resident", "Resident", KIND_SIGNED, 16,                               \
		     "bytes in memory; those shared with other processes in full"),         \
		BYTES_COLUMN("pss", "Pss", KIND_SIGNED, 16,                                 \
			     "the same, shared pages divided by the number of sharers"),    \
		BYTES_COLUMN("swap", "Swap", KIND_SIGNED, 12, "bytes in the swap space"),   \
		BYTES_COLUMN("in_core", "In the core", KIND_BYTES, 16,                      \
			     "bytes that the core's file has"),                             \
		BYTES_COLUMN("zeros", "Zero pages", KIND_BYTES, 16,                         \
			     "of these, in pages of zeros outside of files and objects: "   \
			     "probably never used"),                                        \
		{ "addresses",                                                              \
		  "Addresses",                                                              \
		  KIND_BYTES,                                                               \
		  20,                                                                       \
		  LOOK_THOUSANDS,                                                           \
		  "bytes of its addresses, of which the kernel gives memory only "          \
		  "when they are used" },                                                   \
		BYTES_COLUMN("before", "Before", KIND_SIGNED, 16,                           \
			     "with -against: what OTHER has in memory; of a core, without " \
			     "pages of zeros"),                                             \
		BYTES_COLUMN("now", "Now", KIND_SIGNED, 16,                                 \
			     "with -against: the same of what is open"),                    \
		BYTES_COLUMN("difference", "Difference", KIND_SIGNED, 16,                   \
			     "with -against: now less before")
#define BYTES_COUNT 9u

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

/* The last three; @p buf has NUMBER_SIZE + 1 and lives until they are written. */
static void compared_cells(int64_t before, int64_t now, struct cell cells[BYTES_COUNT], char *buf)
{
	int64_t more = now - before;
	(void)format_change(more < 0 ? 0 - (uint64_t)more : 0, more > 0 ? (uint64_t)more : 0, buf);
	cells[6] = cell_signed(before);
	cells[7] = cell_signed(now);
	cells[8] = cell_shown(cell_signed(more), buf);
}

/* The columns of a process, those of a core, or those of two of them. */
static struct table_options bytes_options(const struct memory_answer *memory, unsigned int first)
{
	uint64_t live = (uint64_t)7 << first, core = (uint64_t)3 << (first + 3);
	/* The addresses that a core has are in its file. */
	uint64_t addresses = (uint64_t)1 << (first + 5), two = (uint64_t)7 << (first + 6);
	uint64_t hidden = two | (memory->account->is_live ? core : live | addresses);
	if (memory->before)
		hidden = live | core | addresses;
	return (struct table_options){ .limit = UINT64_MAX, .hidden = hidden };
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

SCHEMA(group, .name = "groups");

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

SCHEMA(row, .name = "rows", .is_main = true);

static const struct column total_columns[] = { BYTES_COLUMNS };

SCHEMA(total, .name = "total");

static const struct column complete_columns[] = {
	{ "complete", NULL, KIND_FLAG, 0, 0, "could all heaps of the runtime be read?" },
};

static const struct schema complete_schema = { SCHEMA_COLUMNS(complete_columns) };

static int64_t main_bytes(const struct memory_answer *memory, const struct memory_bytes *bytes)
{
	return memory->account->is_live || memory->before
		       ? memory_bytes_used(memory->account, bytes)
		       : (int64_t)bytes->captured;
}

static void write_memory_groups(struct call *call, const struct memory_answer *memory)
{
	const struct memory_account *account = memory->account;
	struct table_options options = bytes_options(memory, GROUP_BYTES);
	int64_t all = main_bytes(memory, &account->total);
	answer_table(&call->answer, &group_schema, &options);
	for (enum memory_group group = 0; group < MEMORY_GROUPS; group++) {
		struct memory_bytes bytes = memory_account_of_group(account, group);
		int64_t part = main_bytes(memory, &bytes);
		char change[NUMBER_SIZE + 1];
		struct cell cells[GROUP_COLUMNS] = {
			[GROUP_NAME] = cell_string(memory_group_text(group)),
			[GROUP_SHARE] = cell_percent(part > 0 ? (double)part : 0, (double)all),
		};
		bytes_cells(account, &bytes, cells + GROUP_BYTES);
		if (memory->before) {
			struct memory_bytes then = memory_account_of_group(memory->before, group);
			compared_cells(memory_bytes_used(memory->before, &then), part,
				       cells + GROUP_BYTES, change);
		}
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
}

static void write_memory_row(struct call *call, const struct memory_answer *memory,
			     const struct memory_line *line)
{
	HD_CLEANUP(text) struct text what = { 0 };
	char change[NUMBER_SIZE + 1];
	const char *group = memory_group_text(memory_kind_group(line->kind));
	text_printf(&what, "%s: %s%s%s", group, memory_kind_text(line->kind),
		    line->owner ? ", " : "", line->owner ? line->owner : "");
	struct cell cells[ROW_COLUMNS] = {
		[ROW_GROUP] = cell_string(group),
		[ROW_KIND] = cell_string(memory_kind_word(line->kind)),
		[ROW_OWNER] = cell_string(line->owner),
		[ROW_WHAT] = cell_text(what.bytes, what.size),
	};
	bytes_cells(memory->account, &line->bytes, cells + ROW_BYTES);
	if (memory->before)
		compared_cells(line->before, line->now, cells + ROW_BYTES, change);
	answer_row(&call->answer, cells);
}

static enum hd_status write_memory_rows(struct call *call, const struct memory_answer *memory)
{
	struct table_options options = bytes_options(memory, ROW_BYTES);
	HD_CLEANUP(memory_lines) struct memory_lines lines = { 0 };
	TRY(memory_lines_make(memory->account, memory->before, call->options[OPT_DETAIL].given,
			      &lines, call->err));
	answer_table(&call->answer, &row_schema, &options);
	for (size_t i = 0; i < lines.count && !answer_is_stopped(&call->answer); i++)
		write_memory_row(call, memory, &lines.rows[i]);
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

static const struct column against_columns[] = {
	{ "other", NULL, KIND_TEXT, 0, 0, "what it is compared with, as it was named" },
	{ "is_process", NULL, KIND_FLAG, 0, 0, "is that a process, and not a core?" },
};

SCHEMA(against, .name = "against");

/* Write which figures the two tables compare. */
static void write_comparison(struct call *call, const struct memory_answer *memory)
{
	const struct memory_account *now = memory->account, *before = memory->before;
	uint64_t is = (uint64_t)memory_bytes_used(now, &now->total);
	uint64_t was = (uint64_t)memory_bytes_used(before, &before->total);
	char is_text[32], was_text[32];
	const char *what = "bytes in memory (Rss)";
	if (now->is_live != before->is_live) {
		what = "a process has bytes in memory (Rss), a core has bytes that are\n"
		       "not in pages of zeros, and often lacks mapped files";
	} else if (!now->is_live) {
		what = "bytes in the cores, without pages of zeros";
	}
	answer_data(&call->answer, &against_schema,
		    (const struct cell[]){ cell_string(call->options[OPT_AGAINST].text),
					   cell_flag(before->is_live) });
	answer_remark(&call->answer, "%s now, %s before: %s\n\n", format_bytes(is, is_text),
		      format_bytes(was, was_text), what);
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

/* Whether all that the answer is made of could be read. */
static void write_whether_complete(struct call *call, const struct memory_answer *memory)
{
	bool is_partial =
		memory->account->is_partial || (memory->before && memory->before->is_partial);
	bool is_complete =
		!is_partial && (!call->options[OPT_LIVE].given || call_is_complete(call));
	if (answer_is_data(&call->answer)) {
		answer_record(&call->answer, &complete_schema,
			      (const struct cell[]){ cell_flag(is_complete) });
	} else if (is_partial) {
		answer_remark(&call->answer,
			      "\nIncomplete: not all heaps of %s could be read: what they "
			      "have may be in other rows.\n",
			      memory->before ? "both runtimes" : "the runtime");
	}
}

static enum hd_status write_memory(struct call *call, const struct memory_answer *memory)
{
	const struct memory_account *account = memory->account;
	struct cell total[BYTES_COUNT] = { 0 };
	char change[NUMBER_SIZE + 1];
	if (memory->before) {
		write_comparison(call, memory);
	} else {
		write_sum(call, account);
	}
	if (memory->facts.has_group)
		memory_write_cgroup(call, &memory->facts.group);
	write_memory_groups(call, memory);
	answer_remark(&call->answer, "\n");
	TRY(write_memory_rows(call, memory));
	memory_write_malloc(call, account, call->options[OPT_DETAIL].given);
	if (call->options[OPT_LIVE].given)
		memory_write_generations(call, &memory->generations);
	memory_write_advice(call, &memory->facts);
	memory_write_settings(call, &memory->facts.settings);
	bytes_cells(account, &account->total, total);
	if (memory->before) {
		compared_cells(memory_bytes_used(memory->before, &memory->before->total),
			       memory_bytes_used(account, &account->total), total, change);
	}
	if (answer_is_data(&call->answer))
		answer_record(&call->answer, &total_schema, total);
	write_whether_complete(call, memory);
	return HD_OK;
}

/* The account of what the option names, which is open only until it is made. */
static enum hd_status make_other_account(struct call *call, struct memory_account **ret)
{
	HD_CLEANUP(other_session) struct hd_session *other = NULL;
	TRY(other_session_open(call, call->options[OPT_AGAINST].text, &other));
	if (!other->target) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "%.100s: a heap dump file does not hold memory: name a core "
			    "or a process",
			    other->path);
	}
	TRY(make_call_account(call, other, ret));
	memory_account_keep_rows(*ret);
	session_warn(other, call->sink, true);
	return HD_OK;
}

/* Collect the evidence that only a walk over the heap gives. */
static enum hd_status walk_for_evidence(struct call *call, const struct generation_bytes *bytes,
					struct memory_evidence *evidence)
{
	HD_CLEANUP(load_contexts) struct load_contexts contexts = { 0 };
	TRY(load_contexts_read(call->heap, &call->job, &contexts, call->err));
	for (size_t i = 0; i < contexts.rows_count; i++)
		evidence->unloading += contexts.rows[i].is_unloading;
	for (size_t i = 0; i < BYTES_GENERATIONS; i++) {
		evidence->live += bytes->of[BYTES_LIVE][i];
		evidence->dead += bytes->of[BYTES_UNROOTED][i];
	}
	evidence->loh = bytes->of[BYTES_SIZE][GENERATION_LOH];
	evidence->loh_free = bytes->of[BYTES_FREE][GENERATION_LOH];
	evidence->is_walked = true;
	return HD_OK;
}

/* Read the settings, and whether the process's cgroup has enough memory. */
static enum hd_status read_facts(struct call *call, struct memory_answer *memory)
{
	struct advice_facts *facts = &memory->facts;
	struct target *target = call->session->target;
	memory_evidence_read(memory->account, &facts->evidence);
	/* The heap was opened for the account; that there is none has been said. */
	TRY(memory_settings_read(target, call->session->heap, &call->job, &facts->settings,
				 call->err));
	facts->has_group = cgroup_of_session(call->session, &facts->group);
	facts->evidence.is_pressed = facts->has_group && facts->group.is_tight;
	return HD_OK;
}

static enum hd_status answer_with_facts(struct call *call, struct memory_answer *memory)
{
	if (call->options[OPT_LIVE].given) {
		TRY(session_heap(call->session, &call->job, &call->heap, call->err));
		TRY(memory_count_generations(call, &memory->generations));
		TRY(walk_for_evidence(call, &memory->generations, &memory->facts.evidence));
	}
	return write_memory(call, memory);
}

static enum hd_status answer_with_account(struct call *call, struct memory_answer *memory)
{
	TRY(read_facts(call, memory));
	return answer_with_facts(call, memory);
}

static enum hd_status run_memory(struct call *call)
{
	HD_CLEANUP(memory_account) struct memory_account *account = NULL, *before = NULL;
	if (call->options[OPT_AGAINST].given)
		TRY(make_other_account(call, &before));
	TRY(make_call_account(call, call->session, &account));
	struct memory_answer memory = { .account = account, .before = before };
	return answer_with_account(call, &memory);
}

COMMAND(memory, .has_rows = true, .top_level = TOP_LEVEL_NEVER,
	.summary = "show who has the memory of the process",
	.description =
		"Every byte that smaps counts for a process (Rss) has one owner, so that the rows add\n"
		"up to it; of a core, every byte of its file. \"Reserved\" addresses have no memory.\n"
		"With -against, the rows of OTHER are next to them, with the difference.\n",
	.example = "memory -detail", .needs = NEEDS_ACCOUNT, .options = memory_options);
