/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/heap/generation_bytes.h"
#include "command/completeness.h"
#include "command/heap/heap_call.h"
#include "command/table.h"
#include "util/alloc.h"

#define GCHEAPSTAT_OPTIONS(X)                                               \
	X(OPT_UNREACHABLE, "unreachable", VALUE_NONE, NULL,                 \
	  "also the bytes of objects that no root keeps alive", NULL)       \
	X(OPT_UNROOTED, "inclUnrooted", VALUE_NONE, NULL, "the same", NULL) \
	X(OPT_IU, "iu", VALUE_NONE, NULL, "the same", NULL)                 \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,       \
	  "with -unreachable: treat every word on a stack as a reference", NULL)

OPTIONS(gcheapstat, GCHEAPSTAT_OPTIONS);

static const struct {
	const char *heading;
	bool has_percentages;
} figures[BYTES_FIGURES] = {
	[BYTES_SIZE] = { "", false },
	[BYTES_FREE] = { "Free space:\n", true },
	[BYTES_UNROOTED] = { "Unrooted objects:\n", true },
	[BYTES_COMMITTED] = { "Committed space:\n", false },
};

/* The figures of a heap, or of all. */
enum heap_figure_column {
	HEAP_INDEX,
	HEAP_FIGURES, /* as in struct generation_bytes */
	HEAP_SIZE = HEAP_FIGURES,
	HEAP_FREE = HEAP_SIZE + BYTES_GENERATIONS,
	HEAP_UNROOTED = HEAP_FREE + BYTES_GENERATIONS,
	HEAP_COMMITTED = HEAP_UNROOTED + BYTES_GENERATIONS,
	HEAP_COLUMNS = HEAP_COMMITTED + BYTES_GENERATIONS
};

#define COLUMNS_OF(first, key, look, help)                                             \
	[first] = { key ".gen0", NULL, KIND_BYTES, 0, look, help " in generation 0" }, \
	{ key ".gen1", NULL, KIND_BYTES, 0, look, help " in generation 1" },           \
	{ key ".gen2", NULL, KIND_BYTES, 0, look, help " in generation 2" },           \
	{ key ".loh", NULL, KIND_BYTES, 0, look, help " in the large object heap" },   \
	{ key ".poh", NULL, KIND_BYTES, 0, look, help " in the pinned object heap" },  \
	{                                                                              \
		key ".foh", NULL, KIND_BYTES, 0, look, help " in the frozen segments"  \
	}

static const struct column heap_columns[HEAP_COLUMNS] = {
	[HEAP_INDEX] = { "index", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,
			 "number of the logical heap, from 0" },
	COLUMNS_OF(HEAP_SIZE, "size", 0, "bytes up to the end of the last object"),
	COLUMNS_OF(HEAP_FREE, "free", 0, "bytes of Free blocks"),
	COLUMNS_OF(HEAP_UNROOTED, "unrooted", LOOK_LEAVE_OUT,
		   "bytes of objects that no root keeps alive"),
	COLUMNS_OF(HEAP_COMMITTED, "committed", 0, "committed bytes"),
};

SCHEMA(heap, .name = "heaps", .is_main = true);
static const struct schema total_schema = { .name = "total", SCHEMA_COLUMNS(heap_columns) };

static void make_figure_cells(const struct generation_bytes *bytes, bool has_unrooted,
			      struct cell cells[HEAP_COLUMNS])
{
	for (size_t i = 0; i < BYTES_FIGURES; i++) {
		for (size_t j = 0; j < BYTES_GENERATIONS && (has_unrooted || i != BYTES_UNROOTED);
		     j++) {
			cells[HEAP_FIGURES + i * BYTES_GENERATIONS + j] =
				cell_number(bytes->of[i][j]);
		}
	}
}

/* Data: by heap. */
static void write_heap_figures(struct call *call, const struct generation_bytes *heaps,
			       const struct generation_bytes *total, bool has_unrooted)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	struct answer *answer = &call->answer;
	answer_table(answer, &heap_schema, &options);
	for (uint32_t i = 0; i < call->heap->heap_count; i++) {
		struct cell cells[HEAP_COLUMNS] = { [HEAP_INDEX] = cell_number(i) };
		make_figure_cells(&heaps[i], has_unrooted, cells);
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
	struct cell cells[HEAP_COLUMNS] = { 0 };
	make_figure_cells(total, has_unrooted, cells);
	answer_record(answer, &total_schema, cells);
}

/* One figure of a heap; SOS's columns. */
enum figure_column {
	FIGURE_HEAP,
	FIGURE_BYTES,
	FIGURE_SHARES = FIGURE_BYTES + BYTES_GENERATIONS,
	FIGURE_COLUMNS = FIGURE_SHARES + 3
};

static const struct column figure_columns[FIGURE_COLUMNS] = {
	[FIGURE_HEAP] = { NULL, "Heap", KIND_TEXT, 8, LOOK_LEFT, NULL },
	[FIGURE_BYTES] = { NULL, "Gen0", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "Gen1", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "Gen2", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "LOH", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "POH", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "FRZ", KIND_BYTES, 10, LOOK_LEFT, NULL },
	[FIGURE_SHARES] = { NULL, "", KIND_TEXT, 8, LOOK_LEFT, NULL },
	{ NULL, "", KIND_TEXT, 8, LOOK_LEFT, NULL },
	{ NULL, "", KIND_TEXT, 8, LOOK_LEFT, NULL },
};

static void figure_layout(struct out *out, const struct cell *cells)
{
	out_printf(out, "%-8s", cells[FIGURE_HEAP].text.bytes);
	for (size_t i = FIGURE_BYTES; i < FIGURE_SHARES; i++)
		out_printf(out, " %-10" PRIu64, cells[i].number);
	for (size_t i = FIGURE_SHARES; i < FIGURE_COLUMNS; i++) {
		if (cells[i].is_there)
			out_printf(out, " %-8s", cells[i].text.bytes);
	}
	out_puts(out, "\n");
}

SCHEMA(figure,
       .heading = "Heap     Gen0       Gen1       Gen2       LOH        POH        FRZ       ",
       .layout = figure_layout);

/* "SOH:17%"; nothing where there is no size. */
static struct cell share_cell(char buf[32], const char *name, uint64_t part, uint64_t size)
{
	*buf = '\0';
	if (size)
		(void)snprintf(buf, 32, "%s:%" PRIu64 "%%", name, part * 100 / size);
	return cell_string(buf);
}

static void write_figure_row(struct answer *answer, const char *name,
			     const struct generation_bytes *bytes, enum bytes_figure figure,
			     bool has_percentages)
{
	const uint64_t *part = bytes->of[figure], *size = bytes->of[BYTES_SIZE];
	struct cell cells[FIGURE_COLUMNS] = { [FIGURE_HEAP] = cell_string(name) };
	char shares[3][32];
	for (size_t i = 0; i < BYTES_GENERATIONS; i++)
		cells[FIGURE_BYTES + i] = cell_number(part[i]);
	if (has_percentages) {
		struct cell *at = &cells[FIGURE_SHARES];
		at[0] = share_cell(shares[0], "SOH", part[0] + part[1] + part[2],
				   size[0] + size[1] + size[2]);
		at[1] = share_cell(shares[1], "LOH", part[GENERATION_LOH], size[GENERATION_LOH]);
		at[2] = share_cell(shares[2], "POH", part[GENERATION_POH], size[GENERATION_POH]);
	}
	answer_row(answer, cells);
}

/* Text: by figure. */
static void write_figures(struct call *call, const struct generation_bytes *heaps,
			  const struct generation_bytes *total, bool has_unrooted)
{
	struct answer *answer = &call->answer;
	for (unsigned int i = 0; i < BYTES_FIGURES; i++) {
		enum bytes_figure figure = (enum bytes_figure)i;
		if (figure == BYTES_UNROOTED && !has_unrooted)
			continue;
		answer_remark(answer, "%s", figures[i].heading);
		answer_table(answer, &figure_schema, NULL);
		for (uint32_t j = 0; j < call->heap->heap_count; j++) {
			char name[16];
			(void)snprintf(name, sizeof(name), "Heap%" PRIu32, j);
			write_figure_row(answer, name, &heaps[j], figure,
					 figures[i].has_percentages);
		}
		write_figure_row(answer, "Total", total, figure, false);
		(void)answer_table_end(answer);
		if (i + 1 < BYTES_FIGURES)
			answer_remark(answer, "\n");
	}
}

static enum hd_status run_gcheapstat(struct call *call)
{
	HD_FREE struct generation_bytes *heaps = mem_calloc(call->heap->heap_count, sizeof(*heaps));
	TRY_MEMORY(heaps, call->err);
	bool has_unrooted = call->options[OPT_UNREACHABLE].given ||
			    call->options[OPT_UNROOTED].given || call->options[OPT_IU].given;
	struct life dead = { 0 };
	struct gaps gaps = { 0 };
	struct generation_bytes total = { 0 };
	if (has_unrooted)
		TRY(call_life(call, true, &dead));
	TRY(generation_bytes_count(heaps, call->heap, &dead, &call->job, &gaps, call->err));
	for (uint32_t i = 0; i < call->heap->heap_count; i++)
		generation_bytes_add(&total, &heaps[i]);
	write_heap_figures(call, heaps, &total, has_unrooted);
	write_figures(call, heaps, &total, has_unrooted);
	if (has_unrooted) {
		completeness_json(call);
		completeness_write(call, DEAD_PERHAPS);
	}
	gaps_report(call, &gaps);
	return HD_OK;
}

COMMAND(gcheapstat, .has_rows = true,
	.summary = "show the bytes of each generation: objects, free, committed, dead",
	.example = "gcheapstat -unreachable", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP,
	.options = gcheapstat_options);
