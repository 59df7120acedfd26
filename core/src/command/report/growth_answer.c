/* SPDX-License-Identifier: MIT */
/* Answers what grew between two heaps. */
#include "command/report/growth_text.h"
#include "command/report/report_answer.h"
#include "util/alloc.h"
#include "util/text.h"

/* Text shows this many rows of each table. */
#define GROWTH_TOP 5u

#define AGAINST_LIST(X)                                                                               \
	X(AGAINST_OTHER, "other", NULL, KIND_TEXT, 0, 0,                                              \
	  "what is compared with, as it was named: the earlier one")                                  \
	X(AGAINST_PROCESS, "process", NULL, KIND_TEXT, 0, 0,                                          \
	  "are both of one process: same, other, other-program or unknown")                           \
	X(AGAINST_HOURS, "hours", NULL, KIND_REAL, 0, 0, "between the two; null: not known")          \
	X(AGAINST_APPROXIMATE, "hours_are_approximate", NULL, KIND_FLAG, 0, 0,                        \
	  "do they come from when files were written?")                                               \
	X(AGAINST_LATER, "other_is_later", NULL, KIND_FLAG, 0, 0,                                     \
	  "is the other one the later one?")                                                          \
	X(AGAINST_USED, "used", NULL, KIND_FLAG, 0, 0, "does it change findings?")                    \
	X(AGAINST_OBJECTION, "why_not_used", NULL, KIND_TEXT, 0, 0,                                   \
	  "why it changes none; null: it does")                                                       \
	X(AGAINST_COMPLETE, "complete", NULL, KIND_FLAG, 0, 0,                                        \
	  "does the other one have all roots, references and objects?")                               \
	X(AGAINST_LIVE_BEFORE, "live_before", NULL, KIND_BYTES, 0, 0,                                 \
	  "bytes that were alive in the other one")                                                   \
	X(AGAINST_LIVE, "live", NULL, KIND_BYTES, 0, 0, "bytes that are alive in what is open")       \
	X(AGAINST_OBJECTS_BEFORE, "objects_before", NULL, KIND_NUMBER, 0, 0,                          \
	  "the same in objects")                                                                      \
	X(AGAINST_OBJECTS, "objects", NULL, KIND_NUMBER, 0, 0, "the same in objects")                 \
	X(AGAINST_OLDS, "old_sampled", NULL, KIND_NUMBER, 0, 0,                                       \
	  "objects of generation 2 in the other one that were looked up")                             \
	X(AGAINST_OLDS_FOUND, "old_found", NULL, KIND_NUMBER, 0, 0,                                   \
	  "those of them that are still alive, at the same address")                                  \
	X(AGAINST_BETWEEN, "why_no_series", NULL, KIND_TEXT, 0, 0,                                    \
	  "why the dumps in between tell nothing of steady growth; null: they do, or there are none") \
	X(AGAINST_BY_ADDRESS, "by_address", NULL, KIND_FLAG, 0, 0,                                    \
	  "can objects be told from each other by address?")

COLUMNS(against, AGAINST_COLUMNS, AGAINST_LIST);

SCHEMA(against, .name = "against");

static void remark_against(struct call *call, const struct heap_comparison *comparison)
{
	HD_CLEANUP(text) struct text text = { 0 };
	text_escape(&text, comparison->with->name, strlen(comparison->with->name));
	growth_summary(comparison, &text);
	answer_remark(&call->answer, "\nCompared with %s\n", text.bytes ? text.bytes : "?");
}

static const struct column earlier_columns[] = {
	{ "name", NULL, KIND_TEXT, 0, 0,
	  "a dump of the series, as it was named; the first one is other" },
	{ "live", NULL, KIND_BYTES, 0, 0, "bytes that were alive in it" },
	{ "objects", NULL, KIND_NUMBER, 0, 0, "the same in objects" },
};
static const struct schema earlier_schema = { .name = "series", SCHEMA_COLUMNS(earlier_columns) };

/* The earlier dumps, in their order, which only data has. */
static void write_series(struct call *call, const struct heap_comparison *comparison)
{
	if (answer_is_text(&call->answer))
		return;
	answer_table(&call->answer, &earlier_schema, NULL);
	for (const struct compared_with *with = comparison->with; with; with = with->next) {
		answer_row(&call->answer,
			   (const struct cell[]){ cell_string(with->name),
						  cell_number(with->before->live),
						  cell_number(with->before->objects) });
	}
	(void)answer_table_end(&call->answer);
}

static void write_against(struct call *call, const struct heap_comparison *comparison)
{
	const struct compared_with *with = comparison->with;
	const struct inventory *before = comparison->before, *after = &comparison->after;
	const struct cell cells[AGAINST_COLUMNS] = {
		[AGAINST_OTHER] = cell_string(with->name),
		[AGAINST_PROCESS] = cell_string(same_process_name(comparison->process)),
		[AGAINST_HOURS] = with->hours > 0 ? cell_real(with->hours) : cell_null(),
		[AGAINST_APPROXIMATE] = cell_flag(with->is_approximate),
		[AGAINST_LATER] = cell_flag(comparison->is_later),
		[AGAINST_USED] = cell_flag(!comparison->objection),
		[AGAINST_OBJECTION] = cell_string(comparison->objection),
		[AGAINST_COMPLETE] = cell_flag(before->is_complete),
		[AGAINST_LIVE_BEFORE] = cell_number(before->live),
		[AGAINST_LIVE] = cell_number(after->live),
		[AGAINST_OBJECTS_BEFORE] = cell_number(before->objects),
		[AGAINST_OBJECTS] = cell_number(after->objects),
		[AGAINST_OLDS] = cell_number(comparison->olds),
		[AGAINST_OLDS_FOUND] = cell_number(comparison->olds_found),
		[AGAINST_BETWEEN] = cell_string(comparison->between),
		[AGAINST_BY_ADDRESS] = cell_flag(comparison->by_address),
	};
	struct answer *answer = &call->answer;
	answer_data(answer, &against_schema, cells);
	if (answer_is_text(answer))
		remark_against(call, comparison);
}

#define HOLDING_LIST(X)                                                                        \
	X(HOLDING_NAME, "name", NULL, KIND_TEXT, 0, 0, "the field or root that holds it")      \
	X(HOLDING_TYPE, "type", NULL, KIND_TEXT, 0, 0, "the type of what it holds")            \
	X(HOLDING_STATE, "state", NULL, KIND_TEXT, 0, 0, "new, grew, same, shrank or unknown") \
	X(HOLDING_COUNT_BEFORE, "count_before", NULL, KIND_NUMBER, 0, 0,                       \
	  "such objects in the other one; null: too few, or not known")                        \
	X(HOLDING_COUNT, "count", NULL, KIND_NUMBER, 0, 0,                                     \
	  "such objects now; null: too few, or not known")                                     \
	X(HOLDING_BYTES_BEFORE, "bytes_before", NULL, KIND_BYTES, 0, 0,                        \
	  "what they kept alive in the other one")                                             \
	X(HOLDING_BYTES, "bytes", NULL, KIND_BYTES, 0, 0, "what they keep alive now")          \
	X(HOLDING_RATE, "bytes_per_hour", NULL, KIND_REAL, 0, 0,                               \
	  "growth in an hour; null: the times are not known")                                  \
	X(HOLDING_INSERTED, "inserted", NULL, KIND_NUMBER, 0, 0,                               \
	  "what was put in since, as the collection counts; null: not known")                  \
	X(HOLDING_REMOVED, "removed", NULL, KIND_NUMBER, 0, 0, "what was taken out since")     \
	X(HOLDING_SAMPLED, "old_sampled", NULL, KIND_NUMBER, 0, 0,                             \
	  "old ones that were looked up; null: not by address")                                \
	X(HOLDING_SURVIVED, "old_found", NULL, KIND_NUMBER, 0, 0,                              \
	  "those that are still alive, at the same address")                                   \
	X(HOLDING_STEADY, "steady", NULL, KIND_FLAG, 0, 0,                                     \
	  "did it grow from each dump of a series to the next one? null: there is no series")

COLUMNS(holding, HOLDING_COLUMNS, HOLDING_LIST);

static void put_growth(struct out *out, uint64_t before, uint64_t after, const struct cell *name)
{
	char more[40], was[32], is[32];
	out_printf(out, "%12s %11s %11s  ", growth_more(before, after, more),
		   format_bytes(before, was), format_bytes(after, is));
	text_escape(&out->text, name->text.bytes, name->text.size);
}

static void holding_layout(struct out *out, const struct cell *cells)
{
	put_growth(out, cells[HOLDING_BYTES_BEFORE].number, cells[HOLDING_BYTES].number,
		   &cells[HOLDING_NAME]);
	out_puts(out, ": ");
	text_escape(&out->text, cells[HOLDING_TYPE].text.bytes, cells[HOLDING_TYPE].text.size);
	out_puts(out, "\n");
}

static const struct schema holdings_schema = {
	.name = "growth_by_holder",
	SCHEMA_COLUMNS(holding_columns),
	.heading = "\n   Bytes +/-      Before         Now  By holder",
	.layout = holding_layout,
};

static struct cell cell_if(bool is_known, uint64_t number)
{
	return is_known ? cell_number(number) : cell_null();
}

static const struct column between_columns[] = {
	{ "count", NULL, KIND_NUMBER, 0, 0, "such objects in the next dump of the series" },
	{ "bytes", NULL, KIND_BYTES, 0, 0, "what they kept alive there" },
};
static const struct schema between_schema = { .name = "between", SCHEMA_COLUMNS(between_columns) };

/* The dumps of a series between the first one and the present one, which only data has. */
static void write_between(struct call *call, const struct since_series *series)
{
	if (answer_is_text(&call->answer))
		return;
	answer_table(&call->answer, &between_schema, NULL);
	for (uint32_t i = 0; i < series->count; i++) {
		answer_row(&call->answer, (const struct cell[]){ cell_number(series->counts[i]),
								 cell_number(series->bytes[i]) });
	}
	(void)answer_table_end(&call->answer);
}

static void write_holding(struct call *call, const struct change *change)
{
	const struct since *since = &change->since;
	const struct holding *any = change->after ? change->after : change->before;
	const struct cell cells[HOLDING_COLUMNS] = {
		[HOLDING_NAME] = cell_string(any->name),
		[HOLDING_TYPE] = cell_string(any->member),
		[HOLDING_STATE] = cell_string(since_name(since->state)),
		[HOLDING_COUNT_BEFORE] = cell_if(change->before, since->count_before),
		[HOLDING_COUNT] = cell_if(change->after, since->count),
		[HOLDING_BYTES_BEFORE] = cell_if(change->before, since->bytes_before),
		[HOLDING_BYTES] = cell_if(change->after, since->bytes),
		[HOLDING_RATE] = since->has_rate ? cell_real(since->bytes_per_hour) : cell_null(),
		[HOLDING_INSERTED] = cell_if(since->has_changes, since->inserted),
		[HOLDING_REMOVED] = cell_if(since->has_changes, since->removed),
		[HOLDING_SAMPLED] = cell_if(since->sampled, since->sampled),
		[HOLDING_SURVIVED] = cell_if(since->sampled, since->survived),
		[HOLDING_STEADY] =
			since->series.count ? cell_flag(since->series.is_steady) : cell_null(),
	};
	answer_row_begin(&call->answer, cells);
	write_between(call, &since->series);
	answer_row_end(&call->answer);
}

/* Text has what grew, at most GROWTH_TOP rows; data has all. */
static bool lists_growth(const struct call *call, uint64_t before, uint64_t after, size_t row)
{
	return !answer_is_text(&call->answer) || (after > before && row < GROWTH_TOP);
}

static void begin_growth(struct call *call, const struct schema *schema, bool is_empty)
{
	const struct table_options options = { .no_heading = is_empty };
	answer_table(&call->answer, schema, &options);
}

static enum hd_status write_holdings(struct call *call, const struct heap_comparison *comparison)
{
	size_t count = comparison->changes_count;
	HD_FREE const struct change **order = NULL;
	TRY(comparison_by_growth(comparison, &order, call->err));
	begin_growth(call, &holdings_schema,
		     !count || order[0]->since.bytes <= order[0]->since.bytes_before);
	for (size_t i = 0; i < count; i++) {
		if (lists_growth(call, order[i]->since.bytes_before, order[i]->since.bytes, i))
			write_holding(call, order[i]);
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

#define SUMS_LIST(X)                                                         \
	X(SUMS_NAME, "name", NULL, KIND_TEXT, 0, 0, "the type, or the root") \
	X(SUMS_COUNT_BEFORE, "count_before", NULL, KIND_NUMBER, 0, 0,        \
	  "live objects in the other one")                                   \
	X(SUMS_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "live objects now")  \
	X(SUMS_BYTES_BEFORE, "bytes_before", NULL, KIND_BYTES, 0, 0,         \
	  "their bytes in the other one")                                    \
	X(SUMS_BYTES, "bytes", NULL, KIND_BYTES, 0, 0, "their bytes now")

COLUMNS(sums, SUMS_COLUMNS, SUMS_LIST);

static void sums_layout(struct out *out, const struct cell *cells)
{
	put_growth(out, cells[SUMS_BYTES_BEFORE].number, cells[SUMS_BYTES].number,
		   &cells[SUMS_NAME]);
	out_puts(out, "\n");
}

static const struct schema roots_schema = {
	.name = "growth_by_root",
	SCHEMA_COLUMNS(sums_columns),
	.heading = "\n   Bytes +/-      Before         Now  By root",
	.layout = sums_layout,
};

static const struct schema types_schema = {
	.name = "growth_by_type",
	SCHEMA_COLUMNS(sums_columns),
	.heading = "\n   Bytes +/-      Before         Now  By type",
	.layout = sums_layout,
};

static void write_growth_sums(struct call *call, const struct diff *diff,
			      const struct schema *schema)
{
	const struct diff_row *rows = diff->rows;
	begin_growth(call, schema, !diff->row_count || rows[0].size_after <= rows[0].size_before);
	for (size_t i = 0; i < diff->row_count; i++) {
		const struct diff_row *row = &rows[i];
		if (row->size_before == row->size_after ||
		    !lists_growth(call, row->size_before, row->size_after, i))
			continue;
		answer_row(&call->answer,
			   (const struct cell[SUMS_COLUMNS]){
				   [SUMS_NAME] = cell_string(row->name),
				   [SUMS_COUNT_BEFORE] = cell_number(row->count_before),
				   [SUMS_COUNT] = cell_number(row->count_after),
				   [SUMS_BYTES_BEFORE] = cell_number(row->size_before),
				   [SUMS_BYTES] = cell_number(row->size_after) });
	}
	(void)answer_table_end(&call->answer);
}

static enum hd_status write_all_sums(struct call *call, const struct named_sums *before,
				     const struct named_sums *after, const struct schema *schema)
{
	HD_CLEANUP(diff) struct diff diff = { 0 };
	TRY(growth_of_sums(before, after, &diff, call->err));
	write_growth_sums(call, &diff, schema);
	return HD_OK;
}

enum hd_status growth_write(struct call *call, const struct report *report)
{
	const struct heap_comparison *comparison = report->comparison;
	if (!comparison)
		return HD_OK;
	const struct inventory *before = comparison->before, *after = &comparison->after;
	bool is_text = answer_is_text(&call->answer);
	write_against(call, comparison);
	write_series(call, comparison);
	/* Nobody asks what one program has more than another, or than itself. */
	if (is_text &&
	    (comparison->process == PROCESS_OTHER_PROGRAM || comparison->with->is_same_file))
		return HD_OK;
	TRY(write_holdings(call, comparison));
	TRY(write_all_sums(call, &before->roots, &after->roots, &roots_schema));
	return write_all_sums(call, &before->types, &after->types, &types_schema);
}
