/* SPDX-License-Identifier: MIT */
/* Tables that are the answer of a command: its rows, under its names. */
#include "answer/root_row.h"
#include "answer/rows.h"
#include "answer/tables.h"
#include "command/sql/sql_columns.h"
#include "util/alloc.h"

extern const struct schema gchandles_schema, clrthreads_schema, stack_schema, stack_frame_schema,
	eeheap_heap_schema, eeheap_segment_schema, syncblk_schema, finalizequeue_schema,
	verifyheap_schema, tasks_schema, waits_schema, timers_schema, work_schema,
	http_requests_schema, requests_schema;

/* The findings of a target and of a dump file have different columns. */
static const struct column finding_columns[] = {
	{ "kind", NULL, KIND_TEXT, 0, 0, "what it is" },
	{ "count", NULL, KIND_NUMBER, 0, 0, "how often it was met; NULL of a core or a process" },
	{ "line", NULL, KIND_NUMBER, 0, 0, "for a text log: where it was met first" },
	{ "detail", NULL, KIND_TEXT, 0, 0, "what is missing or odd, and what that costs" },
	{ "advice", NULL, KIND_TEXT, 0, 0, "what can be done; NULL: nothing is known" },
};
static const struct schema info_findings_schema = { .name = "findings",
						    SCHEMA_COLUMNS(finding_columns) };

/* The source of a table. */
struct kept_source {
	const char *words[3]; /* the command line; NULL ends */
	const char *table;    /* of its answer */
	const struct schema *outer, *own;
	const char *prefix; /* of the columns of outer */
};

static const struct kept_source kept_sources[] = {
	{ { "types" }, "types", NULL, &statistics_schema, NULL },
	{ { "roots" }, "roots", NULL, &root_schema, NULL },
	{ { "gchandles" }, "handles", NULL, &gchandles_schema, NULL },
	{ { "clrthreads" }, "threads", NULL, &clrthreads_schema, NULL },
	{ { "clrstack", "-all" }, "threads.frames", &stack_schema, &stack_frame_schema, "thread_" },
	{ { "eeheap", "-gc" },
	  "heaps.segments",
	  &eeheap_heap_schema,
	  &eeheap_segment_schema,
	  "heap_" },
	{ { "syncblk", "-all" }, "blocks", NULL, &syncblk_schema, NULL },
	{ { "finalizequeue" }, "objects", NULL, &finalizequeue_schema, NULL },
	{ { "info" }, "findings", NULL, &info_findings_schema, NULL },
	{ { "verifyheap" }, "findings", NULL, &verifyheap_schema, NULL },
	{ { "dumptasks" }, "tasks", NULL, &tasks_schema, NULL },
	{ { "waits", "-all" }, "threads", NULL, &waits_schema, NULL },
	{ { "timerinfo" }, "timers", NULL, &timers_schema, NULL },
	{ { "threadpoolqueue" }, "work_items", NULL, &work_schema, NULL },
	{ { "dumphttp" }, "requests", NULL, &http_requests_schema, NULL },
	{ { "dumprequests" }, "requests", NULL, &requests_schema, NULL },
};

/* The rows of a table. */
struct kept_cursor {
	const struct hd_rows *rows;
	const struct hd_table *table; /* NULL: the answer has none */
	uint64_t next;
	size_t count; /* columns */
	/* Where they are in the answer; -1: nowhere. */
	int16_t places[SQL_COLUMNS_MAX];
	bool is_outer[SQL_COLUMNS_MAX];
};

static double estimate_kept(const struct sql_source *source)
{
	(void)source;
	return 1000;
}

static size_t kept_index_of(const struct sql_table *table)
{
	size_t index = 0;
	while (sql_kept_at(index) != table)
		index++;
	return index;
}

static enum hd_status provide_rows(struct sql_source *source, const struct sql_table *table,
				   const struct hd_rows **ret)
{
	const struct kept_source *kept = table->arg;
	struct hd_rows **rows = &source->kept[kept_index_of(table)];
	int count = 0;
	while (count < 3 && kept->words[count])
		count++;
	if (!*rows)
		TRY(command_rows(source->call, count, kept->words, rows));
	*ret = *rows;
	return HD_OK;
}

static void find_places(struct kept_cursor *cursor, const struct sql_table *table)
{
	struct sql_column columns[SQL_COLUMNS_MAX];
	cursor->count = sql_columns(table, columns);
	for (size_t i = 0; i < cursor->count; i++) {
		const struct hd_table *of = cursor->table;
		cursor->is_outer[i] = columns[i].is_outer;
		if (of && columns[i].is_outer)
			of = of->parent;
		cursor->places[i] = (int16_t)hd_table_column(of, columns[i].column->name);
	}
}

static enum hd_status open_kept(struct sql_source *source, const struct sql_table *table,
				const struct sql_request *request, void **ret)
{
	(void)request;
	const struct kept_source *kept = table->arg;
	struct kept_cursor *cursor = mem_calloc(1, sizeof(*cursor));
	TRY_MEMORY(cursor, source->call->err);
	enum hd_status status = provide_rows(source, table, &cursor->rows);
	if (status != HD_OK) {
		mem_free(cursor);
		return status;
	}
	cursor->table = hd_rows_find(cursor->rows, kept->table);
	find_places(cursor, table);
	*ret = cursor;
	return HD_OK;
}

static enum hd_status next_kept(void *arg, bool *ret)
{
	struct kept_cursor *cursor = arg;
	*ret = cursor->next < hd_rows_count(cursor->rows, cursor->table);
	cursor->next += *ret;
	return HD_OK;
}

static struct cell cell_of_value(const struct hd_value *value)
{
	switch ((enum hd_kind)value->kind) {
	case HD_KIND_REAL:
	case HD_KIND_PERCENT:
		return cell_of(KIND_REAL, cell_real(value->real));
	case HD_KIND_TEXT:
	case HD_KIND_TYPE:
	case HD_KIND_SET:
		return cell_of(KIND_TEXT, cell_text(value->text, value->size));
	case HD_KIND_NULL:
	case HD_KIND_ANY:
		return (struct cell){ 0 };
	default: /* for SQLite all others are whole numbers, which may have a sign */
		return cell_of(KIND_SIGNED, cell_signed(value->signed_number));
	}
}

static void kept_cell(void *arg, size_t column, struct cell *ret)
{
	const struct kept_cursor *cursor = arg;
	const struct hd_table *table = cursor->table;
	uint64_t row = cursor->next - 1;
	*ret = (struct cell){ 0 };
	if (column >= cursor->count || cursor->places[column] < 0)
		return;
	if (cursor->is_outer[column]) {
		row = hd_rows_parent(cursor->rows, table, row);
		table = table->parent;
	}
	const struct hd_value *values = hd_rows_at(cursor->rows, table, row);
	if (values)
		*ret = cell_of_value(&values[cursor->places[column]]);
}

static void close_kept(void *arg)
{
	mem_free(arg);
}

#define KEPT(index, sql_name, sql_help, of_heaps)                                    \
	{                                                                            \
		.name = (sql_name), .help = (sql_help), .is_of_heaps = (of_heaps),   \
		.estimate = estimate_kept, .open = open_kept, .next = next_kept,     \
		.cell = kept_cell, .close = close_kept, .arg = &kept_sources[index], \
	}

static const struct sql_table kept_tables[] = {
	KEPT(0, "types", "the types, also those without objects, as the command types", false),
	KEPT(1, "roots", "the roots, as the command roots", false),
	KEPT(2, "handles", "the GC handles, as gchandles", true),
	KEPT(3, "threads", "the managed threads, as clrthreads", true),
	KEPT(4, "frames", "the frames of all threads, as clrstack -all", true),
	KEPT(5, "segments", "the segments of the GC heap, as eeheap -gc", true),
	KEPT(6, "sync_blocks", "the sync blocks, as syncblk -all", true),
	KEPT(7, "finalizer_queue", "the objects with finalizers, as finalizequeue", true),
	KEPT(8, "findings", "what is missing or odd, as info", false),
	KEPT(9, "damage", "damage of the heap, as verifyheap", true),
	KEPT(10, "tasks", "the tasks on the heap, as dumptasks", true),
	KEPT(11, "waits", "what each managed thread waits for, as waits -all", true),
	KEPT(12, "timers", "the timers that are set, as timerinfo", true),
	KEPT(13, "work_items",
	     "what is queued in the thread pool, merged by method, as threadpoolqueue", true),
	KEPT(14, "http_requests", "the requests of HttpClient, as dumphttp", true),
	KEPT(15, "requests", "the requests that ASP.NET Core works on, as dumprequests", true),
};

_Static_assert(sizeof(kept_tables) / sizeof(kept_tables[0]) ==
		       sizeof(kept_sources) / sizeof(kept_sources[0]),
	       "each table has a source");

size_t sql_kept_count(void)
{
	return sizeof(kept_tables) / sizeof(kept_tables[0]);
}

const struct sql_table *sql_kept_at(size_t index)
{
	return &kept_tables[index];
}

void sql_kept_schemas(const struct sql_table *table, const struct schema **ret_outer,
		      const struct schema **ret_own, const char **ret_prefix)
{
	const struct kept_source *kept = table->arg;
	*ret_outer = kept->outer;
	*ret_own = kept->own;
	*ret_prefix = kept->prefix;
}
