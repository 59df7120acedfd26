/* SPDX-License-Identifier: MIT */
#include "answer/tables.h"

#include <inttypes.h>
#include <stdio.h>

static const struct column object_columns[OBJECT_COLUMNS] = {
	[OBJECT_ADDRESS] = { "address", "Address", KIND_ADDRESS, 16, LOOK_ADDRESS,
			     "where the object begins, or its id in the dump" },
	[OBJECT_MT] = { "mt", "MT", KIND_ADDRESS, 16, 0, "MethodTable, or the dump's type id" },
	[OBJECT_TYPE] = { "type", NULL, KIND_TYPE, 0, 0, "name of its type" },
	[OBJECT_SIZE] = { "size", "Size", KIND_BYTES, 14, LOOK_THOUSANDS, "its own bytes" },
	[OBJECT_FREE] = { "free", NULL, KIND_FLAG, 0, 0, "is it a Free block, not an object?" },
	[OBJECT_GENERATION] = { "generation", NULL, KIND_TEXT, 0, 0, "0, 1, 2, loh, poh or nongc" },
	[OBJECT_CLASS] = { NULL, "Type", KIND_TYPE, 0, 0, NULL },
	[OBJECT_NOTE] = { NULL, "", KIND_TEXT, 0, 0, NULL },
};

const struct schema object_schema = {
	.name = "objects",
	SCHEMA_COLUMNS(object_columns),
	.is_main = true,
};

void brief_address(struct out *out, const struct cell *cells)
{
	out_printf(out, "%012" PRIx64 "\n", cells[0].number);
}

void object_table(struct answer *answer, uint64_t limit,
		  void (*brief)(struct out *out, const struct cell *cells))
{
	const struct table_options options = { .limit = limit,
					       .brief = brief,
					       .hidden = 1u << OBJECT_CLASS | 1u << OBJECT_NOTE };
	answer_table(answer, &object_schema, &options);
}

const char *generation_of_node(const struct hd_graph *graph, uint32_t node)
{
	static const char *const names[] = { "0", "1", "2", "loh", "poh", "nongc" };
	if (!graph->places.generation)
		return NULL;
	unsigned int generation = graph->places.generation(graph->places.arg, node);
	return generation < sizeof(names) / sizeof(names[0]) ? names[generation] : NULL;
}

void object_row(struct answer *answer, const struct hd_graph *graph, uint32_t node)
{
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	const struct cell cells[OBJECT_COLUMNS] = {
		[OBJECT_ADDRESS] = cell_number(graph_id(graph, node)),
		[OBJECT_MT] = cell_number(type->id),
		[OBJECT_TYPE] = cell_type(type->name, type->name_size, type->id),
		[OBJECT_SIZE] = cell_number(graph_size(graph, node)),
		[OBJECT_FREE] = cell_flag(false),
		[OBJECT_GENERATION] = cell_string(generation_of_node(graph, node)),
	};
	answer_row(answer, cells);
}

enum statistics_column {
	STATISTICS_MT,
	STATISTICS_NAME,
	STATISTICS_COUNT,
	STATISTICS_SIZE,
	STATISTICS_DOMAIN,
	STATISTICS_CLASS,
	STATISTICS_COLUMNS
};

#define STATISTICS_HELP_MT     "MethodTable, or the dump's type id"
#define STATISTICS_HELP_NAME   "name of the type"
#define STATISTICS_HELP_COUNT  "its objects"
#define STATISTICS_HELP_SIZE   "bytes of its objects"
#define STATISTICS_HELP_DOMAIN "section of the dump file that the type is of"

static const struct column statistics_columns[STATISTICS_COLUMNS] = {
	[STATISTICS_MT] = { "mt", "MT", KIND_ADDRESS, 2, LOOK_ADDRESS, STATISTICS_HELP_MT },
	[STATISTICS_NAME] = { "name", NULL, KIND_TYPE, 0, 0, STATISTICS_HELP_NAME },
	[STATISTICS_COUNT] = { "count", "Count", KIND_NUMBER, 5, LOOK_THOUSANDS,
			       STATISTICS_HELP_COUNT },
	[STATISTICS_SIZE] = { "size", "TotalSize", KIND_BYTES, 9, LOOK_THOUSANDS,
			      STATISTICS_HELP_SIZE },
	[STATISTICS_DOMAIN] = { "domain", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,
				STATISTICS_HELP_DOMAIN },
	[STATISTICS_CLASS] = { NULL, "Class Name", KIND_TYPE, 0, 0, NULL },
};

static const struct column plain_columns[STATISTICS_COLUMNS] = {
	[STATISTICS_MT] = { "mt", "MT", KIND_ADDRESS, 16, LOOK_ADDRESS | LOOK_ZEROS,
			    STATISTICS_HELP_MT },
	[STATISTICS_NAME] = { "name", NULL, KIND_TYPE, 0, 0, STATISTICS_HELP_NAME },
	[STATISTICS_COUNT] = { "count", "Count", KIND_NUMBER, 8, 0, STATISTICS_HELP_COUNT },
	[STATISTICS_SIZE] = { "size", "TotalSize", KIND_BYTES, 12, 0, STATISTICS_HELP_SIZE },
	[STATISTICS_DOMAIN] = { "domain", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,
				STATISTICS_HELP_DOMAIN },
	[STATISTICS_CLASS] = { NULL, "Class Name", KIND_TYPE, 0, 0, NULL },
};

const struct schema statistics_schema = {
	.name = "types",
	SCHEMA_COLUMNS(statistics_columns),
	.is_main = true,
};

SCHEMA(plain, .name = "types", .is_main = true);

#define TOTAL_LIST(X)                                                            \
	X(TOTAL_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "objects of all types") \
	X(TOTAL_SIZE, "size", NULL, KIND_BYTES, 0, 0, "their bytes")

COLUMNS(total, TOTAL_COLUMNS, TOTAL_LIST);

SCHEMA(total, .name = "total", .lines = "Total {count:,} objects, {size:,} bytes\n");
static const struct schema plain_total_schema = { .name = "total",
						  SCHEMA_COLUMNS(total_columns),
						  .lines = "Total {count} objects\n" };

static void statistics_cells(const struct type_count *row, struct cell cells[STATISTICS_COLUMNS])
{
	struct cell name = cell_type(row->name, row->name_size, row->id);
	cells[STATISTICS_MT] = cell_number(row->id);
	cells[STATISTICS_NAME] = name;
	cells[STATISTICS_COUNT] = cell_number(row->count);
	cells[STATISTICS_SIZE] = cell_number(row->size);
	cells[STATISTICS_DOMAIN] = cell_text(row->domain, row->domain_size);
	cells[STATISTICS_CLASS] = name;
}

static void write_table(struct answer *answer, const struct statistics *statistics,
			const struct schema *schema, const uint8_t *widths)
{
	const struct table_options options = { .limit = UINT64_MAX, .widths = widths };
	bool is_cut = statistics->limit && statistics->limit < statistics->row_count;
	size_t skip = is_cut ? statistics->row_count - (size_t)statistics->limit : 0;
	char shown[NUMBER_SIZE], all[NUMBER_SIZE];
	answer_table(answer, schema, &options);
	if (is_cut) {
		answer_remark(answer, "(the last %s of %s)\n",
			      format_thousands(statistics->limit, shown),
			      format_thousands(statistics->row_count, all));
	}
	for (size_t i = skip; i < statistics->row_count && !answer_is_stopped(answer); i++) {
		struct cell cells[STATISTICS_COLUMNS] = { 0 };
		statistics_cells(&statistics->rows[i], cells);
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
	if (is_cut)
		answer_truncated(answer);
}

static void write_statistics_total(struct answer *answer, const struct statistics *statistics,
				   const struct schema *schema)
{
	const struct cell cells[TOTAL_COLUMNS] = {
		[TOTAL_COUNT] = cell_number(statistics->count),
		[TOTAL_SIZE] = cell_number(statistics->size),
	};
	answer_record(answer, schema, cells);
}

static void widen(uint8_t *width, int size)
{
	if (size > *width)
		*width = (uint8_t)size;
}

void statistics_table(struct answer *answer, const struct statistics *statistics)
{
	uint8_t widths[STATISTICS_COLUMNS];
	char number[NUMBER_SIZE];
	for (size_t i = 0; i < STATISTICS_COLUMNS; i++)
		widths[i] = statistics_columns[i].width;
	for (size_t i = 0; i < statistics->row_count; i++) {
		const struct type_count *row = &statistics->rows[i];
		widen(&widths[STATISTICS_MT], snprintf(NULL, 0, "%" PRIx64, row->id));
		widen(&widths[STATISTICS_COUNT], (int)strlen(format_thousands(row->count, number)));
		widen(&widths[STATISTICS_SIZE], (int)strlen(format_thousands(row->size, number)));
	}
	write_table(answer, statistics, &statistics_schema, widths);
	write_statistics_total(answer, statistics, &total_schema);
}

void statistics_total_plain(struct answer *answer, const struct statistics *statistics)
{
	write_statistics_total(answer, statistics, &plain_total_schema);
}

void statistics_table_plain(struct answer *answer, const struct statistics *statistics)
{
	answer_remark(answer, "Statistics:\n");
	write_table(answer, statistics, &plain_schema, NULL);
	statistics_total_plain(answer, statistics);
}
