/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/completeness.h"
#include "command/heap/heap_call.h"
#include "command/sql/sql_columns.h"
#include "command/sql/sql_database.h"
#include "command/table.h"
#include "util/alloc.h"
#include "util/text.h"

#define SQL_OPTIONS(X) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N rows (0 = all)", NULL)

OPTIONS(sql, SQL_OPTIONS);

/* So many rows are looked at for the widths of a table of text; a column is not wider than WIDTH_MAX. */
#define ROWS_MEASURED 200u
#define WIDTH_MAX     100u

/* The columns of a result. */
struct result {
	struct call *call;
	sqlite3_stmt *statement;
	struct column columns[SCHEMA_COLUMNS_MAX];
	char *names[SCHEMA_COLUMNS_MAX];
	uint8_t widths[SCHEMA_COLUMNS_MAX];
	struct schema schema;
	size_t count;
};

/* The rows by which a table of text is laid out, until they are written. */
struct measured {
	struct cell cells[ROWS_MEASURED][SCHEMA_COLUMNS_MAX];
	char *texts[ROWS_MEASURED][SCHEMA_COLUMNS_MAX]; /* of the cells; NULL: it is not text */
	size_t count;
};

static enum cell_kind kind_of(const char *declared)
{
	if (declared && strcmp(declared, "ADDRESS") == 0)
		return KIND_ADDRESS;
	if (declared && strcmp(declared, "BYTES") == 0)
		return KIND_BYTES;
	return KIND_ANY;
}

static bool is_taken(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->count; i++) {
		if (strcmp(result->names[i], name) == 0)
			return true;
	}
	return false;
}

/*
 * Replace what no name of a column has in any format: points, which JSON would take for objects, quotes,
 * backslashes, and what nobody sees.
 */
static void clean_name(char *name)
{
	char *to = name;
	for (size_t left = strlen(name), length; left; left -= length, name += length) {
		length = utf8_length(name, left);
		bool is_bad = !length || strchr(".\"\\", *name) || utf8_is_invisible(name, length);
		length = length ? length : 1;
		if (is_bad) {
			*to++ = '_';
		} else {
			memmove(to, name, length);
			to += length;
		}
	}
	*to = '\0';
}

/* A name that no other column has. */
static char *name_column(const struct result *result, const char *name)
{
	char buf[96];
	(void)snprintf(buf, sizeof(buf) - 8, "%s", name ? name : "");
	clean_name(buf);
	size_t size = strlen(buf);
	for (unsigned int i = 2; is_taken(result, buf); i++)
		(void)snprintf(buf + size, sizeof(buf) - size, "_%u", i);
	return mem_strndup(buf, strlen(buf));
}

static enum hd_status describe_result(struct result *result)
{
	int count = sqlite3_column_count(result->statement);
	if (count > (int)SCHEMA_COLUMNS_MAX) {
		return fail(result->call->err, HD_ERR_ARGUMENT, 0,
			    "a result has at most %u columns, this one has %d", SCHEMA_COLUMNS_MAX,
			    count);
	}
	for (int i = 0; i < count; i++) {
		char *name = name_column(result, sqlite3_column_name(result->statement, i));
		TRY_MEMORY(name, result->call->err);
		const char *declared = sqlite3_column_decltype(result->statement, i);
		result->names[i] = name;
		result->columns[i] = (struct column){
			.name = name,
			.heading = name,
			.kind = kind_of(declared),
			.look = declared && strcmp(declared, "TEXT") == 0 ? LOOK_LEFT : 0,
		};
		result->count++;
	}
	result->schema = (struct schema){
		.name = "rows",
		.columns = result->columns,
		.count = result->count,
		.is_main = true,
	};
	return HD_OK;
}

static struct cell read_cell(const struct result *result, size_t column)
{
	sqlite3_stmt *statement = result->statement;
	int i = (int)column;
	bool is_number = result->columns[column].kind != KIND_ANY;
	switch (sqlite3_column_type(statement, i)) {
	case SQLITE_INTEGER:
		if (is_number)
			return cell_number((uint64_t)sqlite3_column_int64(statement, i));
		return cell_of(KIND_SIGNED, cell_signed(sqlite3_column_int64(statement, i)));
	case SQLITE_FLOAT:
		return cell_of(KIND_REAL, cell_real(sqlite3_column_double(statement, i)));
	case SQLITE_TEXT:
	case SQLITE_BLOB: {
		const char *text = (const char *)sqlite3_column_blob(statement, i);
		size_t size = (size_t)sqlite3_column_bytes(statement, i);
		return cell_of(KIND_TEXT, cell_text(size ? text : "", size));
	}
	default:
		return (struct cell){ 0 };
	}
}

static void read_row(const struct result *result, struct cell *cells)
{
	for (size_t i = 0; i < result->count; i++)
		cells[i] = read_cell(result, i);
}

/* A copy of a row whose texts are its own; false: memory is exhausted. */
static bool keep_result_row(const struct result *result, struct measured *measured)
{
	struct cell *cells = measured->cells[measured->count];
	char **texts = measured->texts[measured->count++];
	read_row(result, cells);
	bool is_kept = true;
	for (size_t i = 0; i < result->count; i++) {
		struct cell *cell = &cells[i];
		if (!cell->is_there || cell->kind != KIND_TEXT)
			continue;
		texts[i] = mem_strndup(cell->text.bytes, cell->text.size);
		cell->text.bytes = texts[i];
		is_kept = is_kept && texts[i];
	}
	return is_kept;
}

static void forget_rows(struct measured *measured)
{
	for (size_t row = 0; row < measured->count; row++) {
		for (size_t i = 0; i < SCHEMA_COLUMNS_MAX; i++)
			mem_free(measured->texts[row][i]);
	}
	mem_free(measured);
}

static bool is_left(const struct measured *measured, size_t column)
{
	for (size_t row = 0; row < measured->count; row++) {
		const struct cell *cell = &measured->cells[row][column];
		if (cell->is_there && cell->kind == KIND_TEXT)
			return true;
	}
	return false;
}

/* As wide as its longest value of those; the last one of text is as long as it is. */
static void measure(struct result *result, const struct measured *measured)
{
	HD_CLEANUP(text) struct text text = { 0 };
	for (size_t i = 0; i < result->count; i++) {
		size_t width = strlen(result->names[i]);
		for (size_t row = 0; row < measured->count; row++) {
			text.size = 0;
			cell_format(&text, &result->columns[i], &measured->cells[row][i]);
			width = text.size > width ? text.size : width;
		}
		if (is_left(measured, i))
			result->columns[i].look |= LOOK_LEFT;
		bool is_last = i + 1 == result->count;
		if (is_last && result->columns[i].look & LOOK_LEFT)
			width = 0;
		result->widths[i] = (uint8_t)(width < WIDTH_MAX ? width : WIDTH_MAX);
		if (result->columns[i].kind == KIND_ADDRESS)
			result->columns[i].look |= LOOK_ADDRESS;
	}
}

/* Go to the next row; false at the end. */
static enum hd_status step(struct sql_database *database, const struct result *result, bool *ret)
{
	int code = sqlite3_step(result->statement);
	*ret = code == SQLITE_ROW;
	if (code == SQLITE_ROW || code == SQLITE_DONE)
		return HD_OK;
	return sql_database_fail(database, code);
}

static enum hd_status measure_rows(struct sql_database *database, struct result *result,
				   struct measured *measured, bool *ret_more)
{
	bool is_there = true;
	while (measured->count < ROWS_MEASURED) {
		TRY(step(database, result, &is_there));
		if (!is_there)
			break;
		TRY_MEMORY(keep_result_row(result, measured), result->call->err);
	}
	*ret_more = is_there;
	measure(result, measured);
	return HD_OK;
}

static bool write_row(struct call *call, const struct cell *cells)
{
	if (!answer_wants_row(&call->answer))
		return false;
	answer_row(&call->answer, cells);
	return true;
}

static enum hd_status write_rows(struct sql_database *database, struct result *result,
				 const struct measured *measured, bool has_more)
{
	struct call *call = result->call;
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX);
	const struct table_options options = { .limit = limit, .widths = result->widths };
	bool goes_on = true;
	answer_table(&call->answer, &result->schema, &options);
	for (size_t i = 0; i < measured->count && goes_on; i++)
		goes_on = write_row(call, measured->cells[i]);
	while (goes_on && has_more) {
		struct cell cells[SCHEMA_COLUMNS_MAX];
		TRY(step(database, result, &has_more));
		if (!has_more)
			break;
		read_row(result, cells);
		goes_on = write_row(call, cells);
		TRY(call_check(call));
	}
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, limit);
	return HD_OK;
}

static enum hd_status answer_statement(struct sql_database *database, struct result *result)
{
	TRY(describe_result(result));
	struct measured *measured = mem_calloc(1, sizeof(*measured));
	TRY_MEMORY(measured, result->call->err);
	bool has_more = true;
	enum hd_status status = HD_OK;
	if (answer_is_text(&result->call->answer))
		status = measure_rows(database, result, measured, &has_more);
	if (status == HD_OK)
		status = write_rows(database, result, measured, has_more);
	forget_rows(measured);
	return status;
}

/* A second statement is refused: what it answers would have no place. */
static enum hd_status check_rest(struct sql_database *database, const char *rest)
{
	sqlite3_stmt *second = NULL;
	int code = sqlite3_prepare_v2(database->handle, rest, -1, &second, NULL);
	bool is_empty = code == SQLITE_OK && !second;
	(void)sqlite3_finalize(second);
	if (is_empty)
		return HD_OK;
	return fail(database->source.call->err, HD_ERR_ARGUMENT, 0,
		    "one statement at a time: there is more after the \";\"");
}

/* Compile the query; once more where its rows may then stand for many. */
static int compile(struct sql_database *database, const char *query, sqlite3_stmt **ret,
		   const char **ret_rest)
{
	int code = sqlite3_prepare_v2(database->handle, query, -1, ret, ret_rest);
	if (code != SQLITE_OK || !sql_weight_allows(&database->asked, query))
		return code;
	(void)sqlite3_finalize(*ret);
	*ret = NULL;
	code = sql_weight_use(database);
	if (code != SQLITE_OK)
		return code;
	return sqlite3_prepare_v2(database->handle, query, -1, ret, ret_rest);
}

static enum hd_status run_query(struct sql_database *database, const char *query)
{
	struct result result = { .call = database->source.call };
	const char *rest = "";
	int code = compile(database, query, &result.statement, &rest);
	if (code != SQLITE_OK)
		return sql_database_fail(database, code);
	enum hd_status status;
	if (!result.statement) {
		status = fail(result.call->err, HD_ERR_ARGUMENT, 0,
			      "there is no statement: sql \"SELECT ...\"");
	} else {
		status = check_rest(database, rest);
	}
	if (status == HD_OK)
		status = answer_statement(database, &result);
	(void)sqlite3_finalize(result.statement);
	for (size_t i = 0; i < result.count; i++)
		mem_free(result.names[i]);
	return status;
}

static enum hd_status run_sql(struct call *call)
{
	struct sql_database database;
	struct gaps gaps = { 0 };
	enum hd_status status = sql_database_open(&database, call);
	database.source.gaps = &gaps;
	if (status == HD_OK)
		status = run_query(&database, call->words[0].text);
	if (status == HD_OK && call->heap)
		gaps_report(call, &gaps);
	sql_database_close(&database);
	if (status == HD_OK) {
		completeness_json(call);
		completeness_write(call,
				   "rows may be missing, and what is not live may still be alive");
	}
	return status;
}

COMMAND(sql, .has_rows = true, .is_raw = true, .summary = "ask the heap with SQL",
	.description =
		"One SELECT statement of SQLite over the tables below, which can be read and not\n"
		"changed. Addresses are numbers: 0x7f0fd5c0b2f8. A column of addresses is shown in\n"
		"hexadecimal; what is computed from one is a number: printf('%x', max(address)).\n"
		"Tables of the same name as a command hold its answer.\n",
	.example = "sql \"SELECT type, count(*) FROM objects GROUP BY type\"",
	.needs = NEEDS_EITHER, .options = sql_options, .words = { { "SELECT", VALUE_TEXT, false } },
	.append_help = append_sql_help);
