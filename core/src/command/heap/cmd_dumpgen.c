/* SPDX-License-Identifier: MIT */
#include "analysis/heap/object_pass.h"
#include "answer/tables.h"
#include "command/heap/heap_call.h"
#include "command/table.h"

#define DUMPGEN_OPTIONS(X)                                                                     \
	X(OPT_TYPE, "type", VALUE_TYPE, "TEXT", "objects whose type name contains TEXT", NULL) \
	X(OPT_MT, "mt", VALUE_TYPE_ID, "MT", "list the objects of this MethodTable", NULL)     \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "with -mt: only the statistics", NULL)           \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N",                                               \
	  "list at most N types, or objects with -mt (0 = all)", NULL)

OPTIONS(dumpgen, DUMPGEN_OPTIONS);

static enum hd_status write_dumpgen_statistics(struct call *call, const struct heap_range *range)
{
	HD_CLEANUP(type_counts) struct type_counts counts = { 0 };
	struct gaps gaps = { 0 };
	struct statistics statistics;
	TRY(type_counts_walk(&counts, &gaps, call->heap, range, &call->job, call->err));
	TRY(type_counts_statistics(&counts, call->heap->runtime, call->options[OPT_TYPE].text,
				   &statistics, call->err));
	if (call->options[OPT_MT].given)
		statistics_keep(&statistics, call->options[OPT_MT].number);
	statistics_sort(&statistics, false, false);
	statistics.limit = call->options[OPT_LIMIT].number;
	statistics_table_plain(&call->answer, &statistics);
	statistics_deinit(&statistics);
	gaps_report(call, &gaps);
	return HD_OK;
}

/* As SOS has them: all digits, and no commas. */
static const struct column row_columns[] = {
	{ "address", "Address", KIND_ADDRESS, 16, LOOK_ZEROS | LOOK_ADDRESS,
	  "where the object begins" },
	{ "mt", "MT", KIND_ADDRESS, 16, LOOK_ZEROS, "its MethodTable" },
	{ "type", NULL, KIND_TYPE, 0, 0, "name of its type" },
	{ "size", "Size", KIND_BYTES, 8, 0, "its own bytes" },
	{ "free", NULL, KIND_FLAG, 0, 0, "is it a Free block, not an object?" },
	{ "generation", NULL, KIND_TEXT, 0, 0, "0, 1, 2, loh, poh or nongc" },
};

SCHEMA(row, .name = "objects", .is_main = true);

static void write_dumpgen_row(struct call *call, const struct object *object,
			      const char *generation)
{
	size_t size;
	const char *name = type_name(call->heap->runtime, object->type, &size);
	const struct cell cells[] = {
		cell_number(object->address),
		cell_number(object->type->method_table),
		cell_type(name, size, object->type->method_table),
		cell_number(object->size),
		cell_flag(object->type->is_free),
		cell_string(generation),
	};
	answer_row(&call->answer, cells);
}

static enum hd_status list_generation(struct call *call, struct object_pass *pass)
{
	const struct heap_range *range = pass->tally.filter->range;
	const char *generation = generation_name((enum generation)range->generation);
	for (;;) {
		enum pass_result result;
		if (call->out.stopped)
			return fail_cancelled(call->err);
		TRY(object_pass_next(pass, &result, call->err));
		if (result == PASS_END)
			return HD_OK;
		if (result != PASS_OBJECT || !answer_wants_row(&call->answer))
			continue;
		write_dumpgen_row(call, &pass->walker.object, generation);
		TRY(call_check(call));
	}
}

/* After the rows: how many objects there are, and their bytes. */
static enum hd_status write_total(struct call *call, struct object_tally *tally)
{
	struct statistics statistics;
	TRY(type_counts_statistics(&tally->counts, call->heap->runtime, NULL, &statistics,
				   call->err));
	statistics_total_plain(&call->answer, &statistics);
	statistics_deinit(&statistics);
	gaps_report(call, &tally->gaps);
	return HD_OK;
}

static enum hd_status dumpgen_list(struct call *call, const struct heap_range *range)
{
	HD_CLEANUP(object_pass) struct object_pass pass = { 0 };
	const struct life life = { 0 };
	const struct object_filter filter = { .range = range,
					      .life = &life,
					      .method_table = call->options[OPT_MT].number,
					      .type_part = call->options[OPT_TYPE].text };
	TRY(object_pass_open(&pass, call->heap, &filter, &call->job, call->err));
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX);
	answer_table(&call->answer, &row_schema, &(const struct table_options){ .limit = limit });
	TRY(list_generation(call, &pass));
	job_end(&call->job);
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, limit);
	return write_total(call, &pass.tally);
}

static enum hd_status run_dumpgen(struct call *call)
{
	HD_CLEANUP(heap_range) struct heap_range range = { 0 };
	const struct range_choice choice = range_choice(NULL, NULL, &call->words[0], NULL);
	TRY(heap_range_init(&range, call->heap, &choice, call->err));
	bool rows = call->options[OPT_MT].given && !call->options[OPT_STAT].given;
	return rows ? dumpgen_list(call, &range) : write_dumpgen_statistics(call, &range);
}

COMMAND(dumpgen, .has_rows = true, .alias = "dg",
	.summary = "count the objects of one generation by type",
	.description =
		"GENERATION is gen0, gen1, gen2, loh, poh or foh (frozen objects). For a dump file\n"
		"with generations dumpheap -stat -gen does the same.\n",
	.example = "dumpgen gen2 -type System.String", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP, .options = dumpgen_options,
	.words = { { "GENERATION", VALUE_CHOICE, false } }, .choices = generation_choices);
