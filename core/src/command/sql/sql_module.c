/* SPDX-License-Identifier: MIT */
/* The tables as SQLite's virtual tables: all of them by one module. */
#include <stdlib.h>
#include <string.h>

#include "command/sql/sql_columns.h"
#include "command/sql/sql_database.h"
#include "util/alloc.h"

/* The bits of idxNum: how a cursor is to begin. */
#define PLAN_COLUMN_MASK 0xffu
#define PLAN_EQUAL       0x100
#define PLAN_LIKE        0x200
#define PLAN_GROUPED     0x400
#define PLAN_AGGREGATED  0x800 /* by GROUP BY: no row is seen but by aggregates */

/* sqlite3_create_module_v2() keeps this for a table. */
struct module_data {
	struct sql_database *database;
	const struct sql_table *table;
};

struct virtual_table {
	sqlite3_vtab base;
	struct sql_database *database;
	const struct sql_table *table;
};

struct virtual_cursor {
	sqlite3_vtab_cursor base;
	const struct virtual_table *table;
	void *cursor; /* of the table; NULL: not begun */
	char *text;   /* of the key */
	bool is_there;
	sqlite3_int64 row;
};

static int connect_table(sqlite3 *handle, void *arg, int argc, const char *const *argv,
			 sqlite3_vtab **ret, char **message)
{
	(void)argc;
	(void)argv;
	(void)message;
	const struct module_data *data = arg;
	struct sql_column columns[SQL_COLUMNS_MAX];
	size_t count = sql_columns(data->table, columns);
	HD_CLEANUP(text) struct text text = { 0 };
	text_puts(&text, "CREATE TABLE x(");
	for (size_t i = 0; i < count; i++) {
		text_printf(&text, "%s\"%s\" %s%s", i ? ", " : "", columns[i].name,
			    sql_declared_type(columns[i].column),
			    data->table->hidden >> i & 1 ? " HIDDEN" : "");
	}
	text_puts(&text, ")");
	data->database->is_declaring = true;
	int result = text.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(handle, text.bytes);
	data->database->is_declaring = false;
	if (result != SQLITE_OK)
		return result;
	struct virtual_table *table = mem_calloc(1, sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	table->database = data->database;
	table->table = data->table;
	*ret = &table->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
	mem_free(base);
	return SQLITE_OK;
}

static bool has_bit(uint64_t bits, int column)
{
	return column >= 0 && bits >> column & 1;
}

/* The constraint that narrows most: the first column that has one; -1: none. */
static int best_constraint(const struct sql_table *table, const sqlite3_index_info *info,
			   bool is_like)
{
	int best = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		unsigned char op = info->aConstraint[i].op;
		bool fits = is_like ? op == SQLITE_INDEX_CONSTRAINT_LIKE &&
					      has_bit(table->likes, column)
				    : op == SQLITE_INDEX_CONSTRAINT_EQ &&
					      has_bit(table->equals, column);
		if (fits && info->aConstraint[i].usable &&
		    (best < 0 || column < info->aConstraint[best].iColumn))
			best = i;
	}
	return best;
}

/*
 * Does a query ask for rows in an order that the table can make?  GROUP BY wants equal values one after
 * the other, ORDER BY wants the groups in their order too, which is that of the first group column.
 */
static bool can_group(const struct sql_table *table, sqlite3_index_info *info)
{
	bool is_group = sqlite3_vtab_distinct(info) == 1;
	if (!info->nOrderBy || info->colUsed & ~table->group_reads)
		return false;
	for (int i = 0; i < info->nOrderBy; i++) {
		if (!has_bit(table->groups, info->aOrderBy[i].iColumn))
			return false;
	}
	return is_group || (info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
			    info->aOrderBy[0].iColumn == table->order);
}

/* A row that is found by its address, or rows of one type among all. */
static double narrowed(const struct sql_table *table, int column, double rows)
{
	bool is_address = strcmp(sql_declared_type(&table->columns[column]), "ADDRESS") == 0 &&
			  strcmp(table->columns[column].name, "mt") != 0;
	return is_address ? 4 : rows / 20 + 1;
}

static int plan_query(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct virtual_table *table = (const struct virtual_table *)base;
	const struct sql_table *of = table->table;
	double rows = of->estimate(&table->database->source);
	bool is_like = false;
	int best = best_constraint(of, info, false);
	if (best < 0) {
		best = best_constraint(of, info, true);
		is_like = best >= 0;
	}
	if (best < 0 && of->needs)
		return SQLITE_CONSTRAINT;
	double cost = rows;
	if (best >= 0) {
		int column = info->aConstraint[best].iColumn;
		info->aConstraintUsage[best].argvIndex = 1;
		info->idxNum = column | (is_like ? PLAN_LIKE : PLAN_EQUAL);
		rows = narrowed(of, column, rows);
		cost = rows < 100 ? rows : cost / 2;
	} else if (can_group(of, info)) {
		info->idxNum = PLAN_GROUPED;
		if (sqlite3_vtab_distinct(info) == 1)
			info->idxNum |= PLAN_AGGREGATED;
		info->orderByConsumed = 1;
	}
	info->estimatedCost = cost;
	info->estimatedRows = (sqlite3_int64)rows;
	/* The columns go with the plan: xFilter is not told. */
	info->idxStr = sqlite3_mprintf("%llx", (unsigned long long)info->colUsed);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct virtual_cursor *cursor = mem_calloc(1, sizeof(*cursor));
	if (!cursor)
		return SQLITE_NOMEM;
	cursor->table = (const struct virtual_table *)base;
	cursor->table->database->source.cursors++;
	*ret = &cursor->base;
	return SQLITE_OK;
}

static void end_scan(struct virtual_cursor *cursor)
{
	if (cursor->cursor)
		cursor->table->table->close(cursor->cursor);
	cursor->cursor = NULL;
	mem_free(cursor->text);
	cursor->text = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	HD_FREE struct virtual_cursor *cursor = (struct virtual_cursor *)base;
	end_scan(cursor);
	cursor->table->database->source.cursors--;
	return SQLITE_OK;
}

/* The query ends with what the table's function said. */
static int pass_failure(const struct virtual_cursor *cursor, enum hd_status status)
{
	struct sql_source *source = &cursor->table->database->source;
	if (status == HD_OK)
		return SQLITE_OK;
	source->status = status;
	return status == HD_ERR_NOMEM       ? SQLITE_NOMEM
	       : status == HD_ERR_CANCELLED ? SQLITE_INTERRUPT
					    : SQLITE_ERROR;
}

static int go_on(struct virtual_cursor *cursor)
{
	cursor->row++;
	return pass_failure(cursor, cursor->table->table->next(cursor->cursor, &cursor->is_there));
}

/* The value that a plan's condition compares with; false: no row can fit it. */
static bool read_key(struct virtual_cursor *cursor, int plan, sqlite3_value *value,
		     struct sql_key *ret)
{
	ret->column = (unsigned int)plan & PLAN_COLUMN_MASK;
	ret->match = plan & PLAN_LIKE ? SQL_MATCH_LIKE : SQL_MATCH_EQUAL;
	int kind = sqlite3_value_type(value);
	const struct column *column = &cursor->table->table->columns[ret->column];
	ret->is_text = column->kind == KIND_TYPE || column->kind == KIND_TEXT;
	if (!ret->is_text) {
		ret->number = (uint64_t)sqlite3_value_int64(value);
		return kind == SQLITE_INTEGER;
	}
	const char *text = (const char *)sqlite3_value_text(value);
	if (kind == SQLITE_NULL || !text)
		return false;
	cursor->text = mem_strndup(text, (size_t)sqlite3_value_bytes(value));
	ret->text = cursor->text;
	return true;
}

static int begin_scan(sqlite3_vtab_cursor *base, int plan, const char *columns, int argc,
		      sqlite3_value **argv)
{
	struct virtual_cursor *cursor = (struct virtual_cursor *)base;
	const struct virtual_table *table = cursor->table;
	struct sql_source *source = &table->database->source;
	struct sql_request request = { .is_grouped = (plan & PLAN_GROUPED) != 0,
				       .used = strtoull(columns, NULL, 16) };
	/* With another cursor, a row would count for the rows joined to it, too. */
	request.is_weighted = plan & PLAN_AGGREGATED && source->is_weighted && source->cursors == 1;
	end_scan(cursor);
	cursor->is_there = false;
	cursor->row = 0;
	if (argc > 0) {
		if (!read_key(cursor, plan, argv[0], &request.key))
			return SQLITE_OK;
		if (request.key.is_text && !request.key.text)
			return SQLITE_NOMEM;
	}
	if (table->table->is_of_heaps && !source->heap) {
		return pass_failure(
			cursor,
			fail(source->call->err, HD_ERR_UNSUPPORTED, 0,
			     "the table %s needs a core or a process; a heap dump file does not hold "
			     "their memory",
			     table->table->name));
	}
	enum hd_status status = table->table->open(source, table->table, &request, &cursor->cursor);
	return status == HD_OK ? go_on(cursor) : pass_failure(cursor, status);
}

static int next_table_row(sqlite3_vtab_cursor *base)
{
	return go_on((struct virtual_cursor *)base);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	return !((const struct virtual_cursor *)base)->is_there;
}

/* Names of types live as long as what is open; other texts until the next row. */
static void give_text(sqlite3_context *context, const struct cell *cell, bool is_lasting)
{
	sqlite3_result_text64(context, cell->text.bytes, cell->text.size,
			      is_lasting ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void give_set(sqlite3_context *context, const struct cell *cell)
{
	HD_CLEANUP(text) struct text text = { 0 };
	text_set(&text, cell, " ");
	if (text.failed) {
		sqlite3_result_error_nomem(context);
	} else {
		sqlite3_result_text64(context, text.bytes ? text.bytes : "", text.size,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
	}
}

static void give_cell(sqlite3_context *context, enum cell_kind kind, const struct cell *cell)
{
	switch (kind) {
	case KIND_FLAG:
		sqlite3_result_int(context, cell->flag);
		break;
	case KIND_NUMBER:
	case KIND_BYTES:
	case KIND_ADDRESS:
	case KIND_SIGNED:
		sqlite3_result_int64(context, cell->signed_number);
		break;
	case KIND_PERCENT:
	case KIND_REAL:
	case KIND_SINGLE:
		sqlite3_result_double(context, cell->real);
		break;
	case KIND_TEXT:
	case KIND_TYPE:
		give_text(context, cell, kind == KIND_TYPE);
		break;
	case KIND_SET:
		give_set(context, cell);
		break;
	case KIND_ANY:
		sqlite3_result_null(context);
		break;
	}
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index)
{
	const struct virtual_cursor *cursor = (const struct virtual_cursor *)base;
	const struct sql_table *table = cursor->table->table;
	struct cell cell = { 0 };
	table->cell(cursor->cursor, (size_t)index, &cell);
	if (!cell.is_there) {
		sqlite3_result_null(context);
		return SQLITE_OK;
	}
	/* Tables that are a command's answer say with each value what it is. */
	enum cell_kind kind = table->columns ? table->columns[index].kind : KIND_ANY;
	give_cell(context, kind == KIND_ANY ? (enum cell_kind)cell.kind : kind, &cell);
	return SQLITE_OK;
}

static int give_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((const struct virtual_cursor *)base)->row;
	return SQLITE_OK;
}

/* No xCreate: the tables are there without a CREATE. */
static const sqlite3_module module = {
	.iVersion = 1,
	.xConnect = connect_table,
	.xBestIndex = plan_query,
	.xDisconnect = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = begin_scan,
	.xNext = next_table_row,
	.xEof = is_at_end,
	.xColumn = give_column,
	.xRowid = give_row_id,
};

int sql_module_add(struct sql_database *database, const struct sql_table *table, const char *name)
{
	struct module_data *data = mem_alloc(1, sizeof(*data));
	if (!data)
		return SQLITE_NOMEM;
	*data = (struct module_data){ .database = database, .table = table };
	return sqlite3_create_module_v2(database->handle, name, &module, data, mem_free);
}
