/* SPDX-License-Identifier: MIT */
/* The tables objects, strings and exceptions. */
#include "command/sql/sql_objects.h"

#include "command/sql/sql_sizes.h"
#include "graph/heap_graph.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/bitmap.h"

#define OBJECTS_LIST(X)                                                                         \
	X(OBJECTS_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0,                                 \
	  "where it begins; its id in a dump file")                                             \
	X(OBJECTS_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "MethodTable, or id, of its type")        \
	X(OBJECTS_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")                      \
	X(OBJECTS_SIZE, "size", NULL, KIND_BYTES, 0, 0, "its own bytes")                        \
	X(OBJECTS_GENERATION, "generation", NULL, KIND_TEXT, 0, 0,                              \
	  "0, 1, 2, loh, poh or nongc; NULL where a dump file tells none")                      \
	X(OBJECTS_SEGMENT, "segment", NULL, KIND_ADDRESS, 0, 0,                                 \
	  "address of its segment; NULL in a dump file")                                        \
	X(OBJECTS_FREE, "free", NULL, KIND_FLAG, 0, 0, "is it a Free block?")                   \
	X(OBJECTS_LIVE, "live", NULL, KIND_FLAG, 0, 0,                                          \
	  "does a strong root reach it?  Not in SELECT *: it takes a pass over all references") \
	X(OBJECTS_RETAINED, "retained", NULL, KIND_BYTES, 0, 0,                                 \
	  "bytes that it retains; NULL before a command such as dominators; not in SELECT *")   \
	X(OBJECTS_DOMAIN, "domain", NULL, KIND_TEXT, 0, 0,                                      \
	  "AppDomain of its type in a text log; else NULL")

COLUMNS(objects, OBJECTS_COLUMNS, OBJECTS_LIST);

#define STRINGS_LIST(X)                                                            \
	X(STRINGS_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "where it begins") \
	X(STRINGS_VALUE, "value", NULL, KIND_TEXT, 0, 0,                           \
	  "its text, up to 1,048,576 characters; NULL in a dump file")             \
	X(STRINGS_LENGTH, "length", NULL, KIND_NUMBER, 0, 0,                       \
	  "its UTF-16 units; NULL in a dump file")                                 \
	X(STRINGS_SIZE, "size", NULL, KIND_BYTES, 0, 0, "its own bytes")           \
	X(STRINGS_GENERATION, "generation", NULL, KIND_TEXT, 0, 0, "as in objects")

COLUMNS(strings, STRINGS_COLUMNS, STRINGS_LIST);

#define EXCEPTIONS_LIST(X)                                                            \
	X(EXCEPTIONS_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "where it begins") \
	X(EXCEPTIONS_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "MethodTable of its type")   \
	X(EXCEPTIONS_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")         \
	X(EXCEPTIONS_MESSAGE, "message", NULL, KIND_TEXT, 0, 0,                       \
	  "what it says; NULL: null, or not readable")                                \
	X(EXCEPTIONS_HRESULT, "hresult", NULL, KIND_SIGNED, 0, 0, "its HResult")      \
	X(EXCEPTIONS_INNER, "inner", NULL, KIND_ADDRESS, 0, 0,                        \
	  "its inner exception; 0: it has none")

COLUMNS(exceptions, EXCEPTIONS_COLUMNS, EXCEPTIONS_LIST);

/* A cursor of each of the three. */
struct object_rows {
	struct sql_source *source;
	struct sql_objects *objects;
	struct sql_sizes *sizes; /* in place of objects: rows by type */
	const struct sql_object *row;
	const struct reach *live;
	struct text text;                /* value of a string */
	struct exception_info exception; /* of the row */
	uint32_t length;
	bool is_read, is_text; /* value or exception: asked for; known */
};

static bool accepts_string(struct runtime *runtime, const struct type *type)
{
	(void)runtime;
	return type->is_string;
}

/* Narrow the choice of objects by the condition. */
static void narrow(const struct sql_table *table, const struct sql_key *key,
		   struct sql_choice *choice)
{
	if (key->match == SQL_MATCH_ALL)
		return;
	const char *name = table->columns[key->column].name;
	if (strcmp(name, "type") == 0) {
		choice->match = key->match;
		choice->text = key->text;
	} else if (strcmp(name, "mt") == 0) {
		choice->method_table = key->number;
	} else {
		choice->has_address = true;
		choice->address = key->number;
	}
}

static enum hd_status begin_object_rows(struct object_rows *rows, const struct sql_table *table,
					const struct sql_request *request)
{
	struct sql_choice choice = { .accepts = NULL };
	bool is_objects = table == &sql_objects_table;
	narrow(table, &request->key, &choice);
	if (table == &sql_strings_table) {
		choice.accepts = accepts_string;
		choice.type_name = "System.String";
	} else if (!is_objects) {
		choice.accepts = type_is_exception;
	}
	if (is_objects && request->used & SQL_BIT(OBJECTS_LIVE)) {
		struct call *call = rows->source->call;
		struct hd_graph *graph;
		TRY(session_graph(call->session, false, &call->job, &graph, call->err));
		TRY(session_live(call->session, &call->job, &rows->live, call->err));
	}
	if (request->is_grouped)
		return sql_sizes_open(rows->source, request->is_weighted, &rows->sizes);
	return sql_objects_open(rows->source, &choice, &rows->objects);
}

static void close_rows(void *cursor)
{
	HD_FREE struct object_rows *rows = cursor;
	exception_info_deinit(&rows->exception);
	text_deinit(&rows->text);
	sql_objects_close(rows->objects);
	sql_sizes_close(rows->sizes);
}

static enum hd_status open_rows(struct sql_source *source, const struct sql_table *table,
				const struct sql_request *request, void **ret)
{
	struct object_rows *rows = mem_calloc(1, sizeof(*rows));
	TRY_MEMORY(rows, source->call->err);
	rows->source = source;
	enum hd_status status = begin_object_rows(rows, table, request);
	if (status != HD_OK) {
		close_rows(rows);
		return status;
	}
	*ret = rows;
	return HD_OK;
}

static enum hd_status next_object_row(void *cursor, bool *ret)
{
	struct object_rows *rows = cursor;
	rows->is_read = false;
	if (rows->sizes) {
		rows->row = sql_sizes_next(rows->sizes);
	} else {
		TRY(sql_objects_next(rows->objects, &rows->row));
	}
	*ret = rows->row != NULL;
	return HD_OK;
}

/* The graph that knows what is alive and what retains what; NULL: none was made. */
static uint32_t node_of_row(const struct object_rows *rows)
{
	if (!rows->source->heap)
		return rows->row->node;
	const struct hd_graph *graph = rows->source->call->session->graph;
	return graph ? hd_graph_find(graph, rows->row->address) : HD_NONE;
}

static struct cell live_cell(const struct object_rows *rows)
{
	uint32_t node = node_of_row(rows);
	if (!rows->live || node >= rows->live->node_count)
		return (struct cell){ 0 };
	return cell_flag(bitmap_has(rows->live->bitmap, node));
}

static struct cell retained_cell(const struct object_rows *rows)
{
	const struct dominators *dominators = &rows->source->call->session->dominators;
	uint32_t node = dominators->idom ? node_of_row(rows) : HD_NONE;
	if (node >= dominators->node_count)
		return (struct cell){ 0 };
	return cell_number(dominators_size(dominators, node));
}

static struct cell domain_cell(const struct object_rows *rows)
{
	const struct hd_graph *graph = rows->source->call->graph;
	if (rows->source->heap || rows->sizes)
		return (struct cell){ 0 };
	const struct graph_type *type = &graph->types[graph->node_types[rows->row->node]];
	const struct graph_domain *domain = &graph->domains.rows[type->domain];
	return cell_text(domain->name, domain->name_size);
}

static void object_cell(void *cursor, size_t column, struct cell *ret)
{
	const struct object_rows *rows = cursor;
	const struct sql_object *row = rows->row;
	switch ((enum objects_column)column) {
	case OBJECTS_ADDRESS:
		*ret = cell_number(row->address);
		break;
	case OBJECTS_MT:
		*ret = cell_number(row->type_id);
		break;
	case OBJECTS_TYPE:
		*ret = cell_type(row->type_name, row->type_size, row->type_id);
		break;
	case OBJECTS_SIZE:
		*ret = cell_number(row->size);
		break;
	case OBJECTS_GENERATION:
		*ret = sql_generation(rows->source, row);
		break;
	case OBJECTS_SEGMENT:
		*ret = row->segment ? cell_number(row->segment->address) : (struct cell){ 0 };
		break;
	case OBJECTS_FREE:
		*ret = cell_flag(row->is_free);
		break;
	case OBJECTS_LIVE:
		*ret = live_cell(rows);
		break;
	case OBJECTS_RETAINED:
		*ret = retained_cell(rows);
		break;
	case OBJECTS_DOMAIN:
		*ret = domain_cell(rows);
		break;
	case OBJECTS_COLUMNS:
		break;
	}
}

static void read_string(struct object_rows *rows)
{
	rows->is_read = true;
	rows->is_text = false;
	rows->text.size = 0;
	if (!rows->source->heap)
		return;
	rows->length = rows->row->object.length;
	rows->is_text = string_value(rows->source->heap, rows->row->address, SQL_STRING_UNITS_MAX,
				     &rows->text, &rows->length) &&
			!rows->text.failed;
}

static void string_row_cell(void *cursor, size_t column, struct cell *ret)
{
	struct object_rows *rows = cursor;
	const struct sql_object *row = rows->row;
	if (!rows->is_read && column == STRINGS_VALUE)
		read_string(rows);
	switch ((enum strings_column)column) {
	case STRINGS_ADDRESS:
		*ret = cell_number(row->address);
		break;
	case STRINGS_VALUE:
		*ret = rows->is_text
			       ? cell_text(rows->text.size ? rows->text.bytes : "", rows->text.size)
			       : (struct cell){ 0 };
		break;
	case STRINGS_LENGTH:
		*ret = rows->source->heap ? cell_number(row->object.length) : (struct cell){ 0 };
		break;
	case STRINGS_SIZE:
		*ret = cell_number(row->size);
		break;
	case STRINGS_GENERATION:
		*ret = sql_generation(rows->source, row);
		break;
	case STRINGS_COLUMNS:
		break;
	}
}

static void read_exception(struct object_rows *rows)
{
	rows->is_read = true;
	exception_info_deinit(&rows->exception);
	rows->exception = (struct exception_info){ 0 };
	rows->is_text = exception_read(rows->source->heap, &rows->row->object, &rows->exception);
}

static void exception_cell(void *cursor, size_t column, struct cell *ret)
{
	struct object_rows *rows = cursor;
	const struct sql_object *row = rows->row;
	if (!rows->is_read)
		read_exception(rows);
	*ret = (struct cell){ 0 };
	switch ((enum exceptions_column)column) {
	case EXCEPTIONS_ADDRESS:
		*ret = cell_number(row->address);
		break;
	case EXCEPTIONS_MT:
		*ret = cell_number(row->type_id);
		break;
	case EXCEPTIONS_TYPE:
		*ret = cell_type(row->type_name, row->type_size, row->type_id);
		break;
	case EXCEPTIONS_MESSAGE:
		if (rows->is_text)
			*ret = cell_string(rows->exception.message);
		break;
	case EXCEPTIONS_HRESULT:
		if (rows->is_text)
			*ret = cell_signed(rows->exception.hresult);
		break;
	case EXCEPTIONS_INNER:
		if (rows->is_text)
			*ret = cell_number(rows->exception.inner);
		break;
	case EXCEPTIONS_COLUMNS:
		break;
	}
}

const struct sql_table sql_objects_table = {
	.name = "objects",
	.help = "all objects, Free blocks among them",
	.columns = objects_columns,
	.count = OBJECTS_COLUMNS,
	.equals = SQL_BIT(OBJECTS_ADDRESS) | SQL_BIT(OBJECTS_MT) | SQL_BIT(OBJECTS_TYPE),
	.likes = SQL_BIT(OBJECTS_TYPE),
	.groups = SQL_BIT(OBJECTS_TYPE) | SQL_BIT(OBJECTS_MT),
	.order = OBJECTS_TYPE,
	.hidden = SQL_BIT(OBJECTS_LIVE) | SQL_BIT(OBJECTS_RETAINED),
	.group_reads = SQL_BIT(OBJECTS_TYPE) | SQL_BIT(OBJECTS_MT) | SQL_BIT(OBJECTS_SIZE) |
		       SQL_BIT(OBJECTS_FREE),
	.estimate = sql_objects_estimate,
	.open = open_rows,
	.next = next_object_row,
	.cell = object_cell,
	.close = close_rows,
};

const struct sql_table sql_strings_table = {
	.name = "strings",
	.help = "the strings among the objects, with their texts",
	.columns = strings_columns,
	.count = STRINGS_COLUMNS,
	.equals = SQL_BIT(STRINGS_ADDRESS),
	.estimate = sql_objects_estimate,
	.open = open_rows,
	.next = next_object_row,
	.cell = string_row_cell,
	.close = close_rows,
};

const struct sql_table sql_exceptions_table = {
	.name = "exceptions",
	.help = "the exceptions among the objects",
	.columns = exceptions_columns,
	.count = EXCEPTIONS_COLUMNS,
	.equals = SQL_BIT(EXCEPTIONS_ADDRESS) | SQL_BIT(EXCEPTIONS_MT) | SQL_BIT(EXCEPTIONS_TYPE),
	.likes = SQL_BIT(EXCEPTIONS_TYPE),
	.is_of_heaps = true,
	.estimate = sql_objects_estimate,
	.open = open_rows,
	.next = next_object_row,
	.cell = exception_cell,
	.close = close_rows,
};
