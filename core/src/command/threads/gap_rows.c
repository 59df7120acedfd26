/* SPDX-License-Identifier: MIT */
#include "command/threads/gap_rows.h"

#include "output/out.h"

static const struct column gap_columns[] = {
	{ "text", NULL, KIND_TEXT, 0, 0, "one sentence" },
	{ "count", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "of so many threads, objects or fields" },
};

SCHEMA(gap, .name = "gaps", .lines = "  {text}\n");

/*
 * The noun for what is counted, and the sentences for one and for several; NULL: nothing is
 * counted.
 */
static const struct {
	const char *noun, *one, *several;
} gap_words[WAIT_GAPS] = {
	[GAP_NO_THREADS] = { NULL, "No managed thread was found.", NULL },
	[GAP_SOME_THREADS] = { NULL, "The list of managed threads is not whole (info).", NULL },
	[GAP_NO_MONITORS] = { NULL,
			      "The table of sync blocks was not found: who has a monitor is not "
			      "known.",
			      NULL },
	[GAP_MONITORS] = { "sync block", "has a monitor that cannot be read.",
			   "have monitors that cannot be read." },
	[GAP_RECORDS] = { "thread", "has a record of its wait that cannot be read.",
			  "have records of their waits that cannot be read." },
	[GAP_NAMES] = { "thread", "is in a method whose name cannot be read.",
			"are in methods whose names cannot be read." },
	[GAP_STACKS] = { "thread", "has a stack that cannot be walked to its end.",
			 "have stacks that cannot be walked to their ends." },
	[GAP_ASYNC] = { "async call", "is not known: its method, or what it waits for.",
			"are not known: their methods, or what they wait for." },
	[GAP_FACTS] = { "field", "of the framework has another name here.",
			"of the framework have other names here." },
	[GAP_LOCKS] = { "thread", "waits for a monitor that is not known.",
			"wait for monitors that are not known." },
};

void write_gap_rows(struct call *call, const struct wait_gaps *gaps, const char *head)
{
	static const struct table_options options = { .no_heading = true };
	HD_CLEANUP(text) struct text text = { 0 };
	if (gaps->is_any)
		answer_remark(&call->answer, "%s", head);
	answer_table(&call->answer, &gap_schema, &options);
	for (unsigned int i = 0; i < WAIT_GAPS; i++) {
		char count[COUNT_SIZE];
		uint64_t of = gaps->counts[i];
		if (!of)
			continue;
		text.size = 0;
		if (gap_words[i].noun)
			text_printf(&text, "%s ", format_count(of, gap_words[i].noun, count));
		text_puts(&text,
			  of > 1 && gap_words[i].several ? gap_words[i].several : gap_words[i].one);
		const struct cell cells[] = { cell_text(text.bytes, text.size),
					      gap_words[i].noun ? cell_number(of)
								: (struct cell){ 0 } };
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
}
