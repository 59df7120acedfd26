/* SPDX-License-Identifier: MIT */
#include "analysis/heap/size_counts.h"
#include "command/heap/heap_call.h"
#include "command/table.h"

#define SIZES_LIST(X)                                                                              \
	X(SIZES_SIZE, "size", "Size", KIND_BYTES, 14, LOOK_THOUSANDS,                              \
	  "bytes of each object, rounded up to 8")                                                 \
	X(SIZES_COUNT, "count", "Count", KIND_NUMBER, 14, LOOK_THOUSANDS,                          \
	  "how many objects have that size")                                                       \
	X(SIZES_BEFORE_SIZE, "cumulative_size", "Cumulative Size", KIND_BYTES, 15, LOOK_THOUSANDS, \
	  "bytes of all smaller objects")                                                          \
	X(SIZES_BEFORE_COUNT, "cumulative_count", "Cumulative Count", KIND_NUMBER, 16,             \
	  LOOK_THOUSANDS, "number of all smaller objects")                                         \
	X(SIZES_GENERATION, "generation", NULL, KIND_TEXT, 0, 0, "0, 1, 2, loh, poh or nongc")     \
	X(SIZES_FREE, "free", NULL, KIND_FLAG, 0, 0, "are they Free blocks, not objects?")

COLUMNS(size, SIZES_COLUMNS, SIZES_LIST);

static const struct schema sizes_schema = {
	.name = "sizes",
	SCHEMA_COLUMNS(size_columns),
	.is_main = true,
};
/* One table for each generation. */
static const struct schema part_schema = { SCHEMA_COLUMNS(size_columns) };

static const struct {
	const char *name; /* SOS's */
	uint8_t generation;
	bool is_free, may_lack;
} parts[] = {
	{ "generation0 ", GENERATION_0, false, false },
	{ "generation1 ", GENERATION_1, false, false },
	{ "generation2 ", GENERATION_2, false, false },
	{ "large ", GENERATION_LOH, false, false },
	{ "pinned ", GENERATION_POH, false, false },
	{ "frozen ", GENERATION_NONGC, false, true },
	{ "generation0 free ", GENERATION_0, true, false },
	{ "generation1 free ", GENERATION_1, true, false },
	{ "generation2 free ", GENERATION_2, true, false },
	{ "large free ", GENERATION_LOH, true, false },
	{ "pinned free ", GENERATION_POH, true, false },
	{ "frozen free ", GENERATION_NONGC, true, true },
};

/* The rows from *@p at on that belong together; *@p at is after them then. */
static enum hd_status write_size_part(struct call *call, const struct size_counts *counts,
				      size_t *at)
{
	uint64_t size = 0, count = 0;
	const struct objects_of_size *first = &counts->rows[*at];
	for (; *at < counts->rows_count; ++*at) {
		const struct objects_of_size *row = &counts->rows[*at];
		if (row->generation != first->generation || row->is_free != first->is_free)
			break;
		const struct cell cells[SIZES_COLUMNS] = {
			[SIZES_SIZE] = cell_number(row->size),
			[SIZES_COUNT] = cell_number(row->count),
			[SIZES_BEFORE_SIZE] = cell_number(size),
			[SIZES_BEFORE_COUNT] = cell_number(count),
			[SIZES_GENERATION] =
				cell_string(generation_name((enum generation)row->generation)),
			[SIZES_FREE] = cell_flag(row->is_free),
		};
		size += row->size * row->count;
		count += row->count;
		if (answer_wants_row(&call->answer))
			answer_row(&call->answer, cells);
		TRY(call_check(call));
	}
	return HD_OK;
}

static enum hd_status write_text(struct call *call, const struct size_counts *counts)
{
	size_t at = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct objects_of_size *row =
			at < counts->rows_count ? &counts->rows[at] : NULL;
		bool is_there = row && row->generation == parts[i].generation &&
				row->is_free == parts[i].is_free;
		if (!is_there && parts[i].may_lack)
			continue;
		answer_remark(&call->answer, "Size Statistics for %sobjects\n\n", parts[i].name);
		if (is_there) {
			answer_table(&call->answer, &part_schema, NULL);
			TRY(write_size_part(call, counts, &at));
			(void)answer_table_end(&call->answer);
		} else {
			answer_remark(&call->answer, "(none)\n");
		}
		answer_remark(&call->answer, "\n");
	}
	return HD_OK;
}

static enum hd_status write_data(struct call *call, const struct size_counts *counts)
{
	size_t at = 0;
	answer_table(&call->answer, &sizes_schema, NULL);
	while (at < counts->rows_count)
		TRY(write_size_part(call, counts, &at));
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

static enum hd_status run_sizestats(struct call *call)
{
	HD_CLEANUP(size_counts) struct size_counts counts = { 0 };
	struct gaps gaps = { 0 };
	TRY(size_counts_read(&counts, call->heap, &call->job, &gaps, call->err));
	TRY(answer_is_text(&call->answer) ? write_text(call, &counts) : write_data(call, &counts));
	gaps_report(call, &gaps);
	return HD_OK;
}

COMMAND(sizestats, .has_rows = true,
	.summary = "count the objects of each generation by their size",
	.description =
		"As in SOS, the cumulative columns are about the objects that are smaller than those\n"
		"of the row, and sizes are rounded up to 8 bytes. Free blocks have tables of their\n"
		"own.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP);
