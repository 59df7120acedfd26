/* SPDX-License-Identifier: MIT */
#include "answer/arrow_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "answer/arrow_export.h"
#include "util/alloc.h"

/* Bytes of the name of a table or a command in metadata. */
#define NAME_SIZE 256u

/* The columns of the table, each array by the number of the column. */
struct kept_columns {
	char **names;
	uint32_t *kinds;
	struct column_facts *facts;
	enum column_type *types; /* once all rows are there */
	struct hd_value *values; /* of a row */
	uint32_t count;
	bool has_parent; /* the first one is "parent_row" */
};

struct arrow_table {
	struct visit visit;
	struct hd_visitor visitor;
	const char *wanted; /* NULL: the main table */
	uint32_t batch_rows;
	const struct hd_table *table; /* the one that is kept */
	struct kept_columns columns;
	uint64_t *rows; /* of each table of the answer, by hd_table.index */
	size_t rows_count, rows_capacity;
	struct chunk *first, *last;
	uint64_t bytes;         /* of all chunks but the last */
	struct text others;     /* the names of the tables, for a message */
	struct hd_error failed; /* why the visitor stopped the command, or what get_next() says */
	char table_name[NAME_SIZE], command[NAME_SIZE];
};

static void free_chunks(struct arrow_table *table)
{
	while (table->first) {
		struct chunk *chunk = table->first;
		table->first = chunk->next;
		chunk_destroy(chunk);
	}
}

void arrow_table_destroy(struct arrow_table *table)
{
	if (!table)
		return;
	struct kept_columns *columns = &table->columns;
	free_chunks(table);
	for (uint32_t i = 0; columns->names && i < columns->count; i++)
		mem_free(columns->names[i]);
	mem_free(columns->names);
	mem_free(columns->kinds);
	mem_free(columns->facts);
	mem_free(columns->types);
	mem_free(columns->values);
	pages_free(table->rows, table->rows_capacity, sizeof(*table->rows));
	text_deinit(&table->others);
	visit_deinit(&table->visit);
	mem_free(table);
}

/* The arrays of the columns; false when memory is exhausted. */
static bool make_columns(struct kept_columns *columns, const struct hd_table *from)
{
	columns->has_parent = from->parent;
	uint32_t first = columns->has_parent, count = from->column_count + first;
	columns->names = mem_calloc(count + 1, sizeof(*columns->names));
	columns->kinds = mem_calloc(count + 1, sizeof(*columns->kinds));
	columns->facts = mem_calloc(count + 1, sizeof(*columns->facts));
	columns->types = mem_calloc(count + 1, sizeof(*columns->types));
	columns->values = mem_calloc(count + 1, sizeof(*columns->values));
	columns->count = count;
	if (!columns->names || !columns->kinds || !columns->facts || !columns->types ||
	    !columns->values)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		bool is_parent = i < first;
		const char *name = is_parent ? "parent_row" : from->columns[i - first].name;
		columns->kinds[i] = is_parent ? HD_KIND_NUMBER : from->columns[i - first].kind;
		columns->names[i] = mem_strndup(name, strlen(name));
		if (!columns->names[i])
			return false;
	}
	return true;
}

/* The number of rows of a table; NULL when memory is exhausted. */
static uint64_t *rows_of(struct arrow_table *table, const struct hd_table *of)
{
	while (table->rows_count <= of->index) {
		if (!PAGES_RESERVE(table, rows))
			return NULL;
		table->rows[table->rows_count++] = 0;
	}
	return &table->rows[of->index];
}

static void note_other(struct arrow_table *table, const struct hd_table *other)
{
	if (!*other->name || table->others.size > NAME_SIZE || *rows_of(table, other))
		return;
	text_printf(&table->others, "%s%s", table->others.size ? ", " : "", other->name);
}

static void begin_columns(void *arg, const struct hd_table *table)
{
	struct arrow_table *own = arg;
	if (own->failed.status || own->table)
		return;
	bool is_new = own->rows_count <= table->index;
	if (!rows_of(own, table)) {
		(void)fail_nomem(&own->failed);
		return;
	}
	bool is_wanted = own->wanted ? strcmp(own->wanted, table->name) == 0 : table->is_main != 0;
	if (!is_wanted) {
		if (is_new)
			note_other(own, table);
		return;
	}
	own->table = table;
	(void)snprintf(own->table_name, sizeof(own->table_name), "%s", table->name);
	if (!make_columns(&own->columns, table))
		(void)fail_nomem(&own->failed);
}

/* The chunk that a row goes to. */
static enum hd_status provide_chunk(struct arrow_table *table)
{
	struct chunk *last = table->last;
	if (last && last->rows < table->batch_rows && chunk_has_room(last, table->columns.values))
		return HD_OK;
	struct chunk *next = chunk_create(table->columns.kinds, table->columns.count);
	TRY_MEMORY(next, &table->failed);
	if (last) {
		table->bytes += chunk_size(last);
		last->next = next;
	} else {
		table->first = next;
	}
	table->last = next;
	return HD_OK;
}

static enum hd_status keep_columns(struct arrow_table *table, const struct hd_value *values)
{
	struct kept_columns *columns = &table->columns;
	uint32_t first = columns->has_parent;
	if (first) {
		uint64_t *parents = rows_of(table, table->table->parent);
		TRY_MEMORY(parents, &table->failed);
		columns->values[0] = (struct hd_value){ .kind = HD_KIND_NUMBER,
							.number = *parents ? *parents - 1 : 0 };
	}
	for (uint32_t i = first; i < columns->count; i++)
		columns->values[i] = values[i - first];
	TRY(provide_chunk(table));
	TRY(chunk_append(table->last, columns->values, columns->facts, &table->failed));
	uint64_t max = table->visit.max_mem;
	if (!max || table->bytes + chunk_size(table->last) <= max)
		return HD_OK;
	return fail(&table->failed, HD_ERR_NOMEM, 0,
		    "the columns take more than the memory limit of %" PRIu64
		    " bytes (max-mem): ask for fewer rows, with -limit or -type",
		    max);
}

static int take_row(void *arg, const struct hd_table *table, const struct hd_value *values)
{
	struct arrow_table *own = arg;
	uint64_t *rows = own->failed.status ? NULL : rows_of(own, table);
	if (!rows) {
		if (!own->failed.status)
			(void)fail_nomem(&own->failed);
		return 1;
	}
	(*rows)++;
	return table == own->table && keep_columns(own, values) != HD_OK;
}

struct arrow_table *arrow_table_create(const char *name, uint32_t batch_rows)
{
	struct arrow_table *table = mem_calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->wanted = name;
	table->batch_rows = batch_rows;
	table->visitor = (struct hd_visitor){
		.struct_size = sizeof(table->visitor),
		.arg = table,
		.row = take_row,
		.begin = begin_columns,
	};
	table->visit.visitor = &table->visitor;
	return table;
}

struct visit *arrow_table_visit(struct arrow_table *table)
{
	return &table->visit;
}

enum hd_status arrow_table_check_rows(const struct arrow_table *table, struct hd_error *err)
{
	if (table->failed.status == HD_OK)
		return HD_OK;
	if (err)
		*err = table->failed;
	return (enum hd_status)table->failed.status;
}

enum hd_status arrow_table_check(const struct arrow_table *table, struct hd_error *err)
{
	TRY(arrow_table_check_rows(table, err));
	if (table->table)
		return HD_OK;
	const char *others = table->others.bytes ? table->others.bytes : "none with a name";
	if (!table->wanted) {
		return fail(err, HD_ERR_NOTFOUND, 0, "the answer has no main table; its tables: %s",
			    others);
	}
	return fail(err, HD_ERR_NOTFOUND, 0, "the answer has no table %.100s; its tables: %s",
		    table->wanted, others);
}

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[HD_KIND_NULL] = "null",     [HD_KIND_FLAG] = "flag",
		[HD_KIND_NUMBER] = "number", [HD_KIND_SIGNED] = "signed",
		[HD_KIND_BYTES] = "bytes",   [HD_KIND_ADDRESS] = "address",
		[HD_KIND_REAL] = "real",     [HD_KIND_PERCENT] = "percent",
		[HD_KIND_TEXT] = "text",     [HD_KIND_TYPE] = "type",
		[HD_KIND_SET] = "set",       [HD_KIND_ANY] = "any",
	};
	return names[kind];
}

static int stream_nomem(struct arrow_table *table)
{
	(void)fail_nomem(&table->failed);
	return ENOMEM;
}

static bool make_schema(const struct arrow_table *table, struct ArrowSchema *ret)
{
	const struct kept_columns *columns = &table->columns;
	const struct arrow_metadata metadata[] = {
		{ "heapdump.version", hd_version() },
		{ "heapdump.command", table->command },
		{ "heapdump.table", table->table_name },
		{ NULL, NULL },
	};
	struct ArrowSchema schema;
	if (!arrow_schema_make("+s", "", metadata, columns->count, &schema))
		return false;
	for (uint32_t i = 0; i < columns->count; i++) {
		const struct arrow_metadata kind[] = {
			{ "heapdump.kind", kind_name(columns->kinds[i]) }, { NULL, NULL }
		};
		if (!arrow_schema_make(arrow_format(columns->types[i]), columns->names[i], kind, 0,
				       schema.children[i])) {
			schema.release(&schema);
			return false;
		}
	}
	*ret = schema;
	return true;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
	struct arrow_table *table = stream->private_data;
	table->failed = (struct hd_error){ 0 };
	return make_schema(table, ret) ? 0 : stream_nomem(table);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
	struct arrow_table *table = stream->private_data;
	struct chunk *chunk = table->first;
	table->failed = (struct hd_error){ 0 };
	if (!chunk) {
		*ret = (struct ArrowArray){ 0 };
		return 0;
	}
	for (uint32_t i = 0; i < chunk->count; i++) {
		enum hd_status status =
			chunk_settle(chunk, i, table->columns.types[i], &table->failed);
		if (status != HD_OK)
			return status == HD_ERR_NOMEM ? ENOMEM : EINVAL;
	}
	struct chunk *next = chunk->next;
	if (!arrow_batch_make(chunk, table->columns.types, ret))
		return stream_nomem(table);
	table->first = next;
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	const struct arrow_table *table = stream->private_data;
	return table->failed.status ? table->failed.message : NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
	arrow_table_destroy(stream->private_data);
	stream->private_data = NULL;
	stream->release = NULL;
}

void arrow_table_stream(struct arrow_table *table, const char *command,
			struct ArrowArrayStream *ret)
{
	struct kept_columns *columns = &table->columns;
	for (uint32_t i = 0; i < columns->count; i++)
		columns->types[i] = column_type_of(columns->kinds[i], &columns->facts[i]);
	(void)snprintf(table->command, sizeof(table->command), "%s", command);
	table->wanted = NULL;
	*ret = (struct ArrowArrayStream){
		.get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = release_stream,
		.private_data = table,
	};
}
