/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/completeness.h"
#include "command/heap/heap_call.h"
#include "command/sql/sql_columns.h"
#include "command/sql/sql_database.h"
#include "command/sql/sql_output.h"
#include "command/sql/sql_result.h"
#include "command/table.h"
#include "util/alloc.h"
#include "util/text.h"

#define SQL_OPTIONS(X)                                                                  \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N rows (0 = all)", NULL) \
	X(OPT_OUTPUT, "o", VALUE_OUTPUT, "FILE",                                        \
	  "write the rows to FILE, which ends in .parquet, .arrows or .csv", NULL)

OPTIONS(sql, SQL_OPTIONS);

/* So many rows are looked at for the widths of a table of text; a column is not wider than WIDTH_MAX. */
#define ROWS_MEASURED 200u
#define WIDTH_MAX     100u

/* The rows by which a table of text is laid out, until they are written. */
struct measured {
	struct cell cells[ROWS_MEASURED][SCHEMA_COLUMNS_MAX];
	char *texts[ROWS_MEASURED][SCHEMA_COLUMNS_MAX]; /* of the cells; NULL: it is not text */
	size_t count;
};

/* A copy of a row whose texts are its own; false: memory is exhausted. */
static bool keep_result_row(const struct sql_result *result, struct measured *measured)
{
	struct cell *cells = measured->cells[measured->count];
	char **texts = measured->texts[measured->count++];
	sql_result_row(result, cells);
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
static void measure(struct sql_result *result, const struct measured *measured)
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

static enum hd_status measure_rows(struct sql_database *database, struct sql_result *result,
				   struct measured *measured, bool *ret_more)
{
	bool is_there = true;
	while (measured->count < ROWS_MEASURED) {
		TRY(sql_result_step(database, result, &is_there));
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

static enum hd_status write_rows(struct sql_database *database, struct sql_result *result,
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
		TRY(sql_result_step(database, result, &has_more));
		if (!has_more)
			break;
		sql_result_row(result, cells);
		goes_on = write_row(call, cells);
		TRY(call_check(call));
	}
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, limit);
	return HD_OK;
}

static enum hd_status answer_statement(struct sql_database *database, struct sql_result *result)
{
	const struct value *output = &result->call->options[OPT_OUTPUT];
	TRY(sql_result_describe(result));
	if (output->given) {
		uint64_t limit = call_limit(result->call, OPT_LIMIT, UINT64_MAX);
		return sql_output_write(database, result, output->text, limit);
	}
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
	struct sql_result result = { .call = database->source.call };
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
	sql_result_deinit(&result);
	return status;
}

static enum hd_status check_sql(struct call *call)
{
	const struct value *output = &call->options[OPT_OUTPUT];
	return output->given ? sql_output_check(call, output->text) : HD_OK;
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
		"Tables of the same name as a command hold its answer. With -o the rows go to a file,\n"
		"for DuckDB and pandas (.parquet), for programs with Arrow (.arrows), or as .csv.\n",
	.example = "sql \"SELECT type, count(*) FROM objects GROUP BY type\"",
	.needs = NEEDS_EITHER, .options = sql_options, .words = { { "SELECT", VALUE_TEXT, false } },
	.check = check_sql, .append_help = append_sql_help);
