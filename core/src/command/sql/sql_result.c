/* SPDX-License-Identifier: MIT */
#include "command/sql/sql_result.h"

#include <stdio.h>
#include <string.h>

#include "command/sql/sql_database.h"
#include "util/alloc.h"
#include "util/text.h"

static enum cell_kind kind_of(const char *declared)
{
	if (declared && strcmp(declared, "ADDRESS") == 0)
		return KIND_ADDRESS;
	if (declared && strcmp(declared, "BYTES") == 0)
		return KIND_BYTES;
	return KIND_ANY;
}

static bool is_taken(const struct sql_result *result, const char *name)
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
static char *name_column(const struct sql_result *result, const char *name)
{
	char buf[96];
	(void)snprintf(buf, sizeof(buf) - 8, "%s", name ? name : "");
	clean_name(buf);
	size_t size = strlen(buf);
	for (unsigned int i = 2; is_taken(result, buf); i++)
		(void)snprintf(buf + size, sizeof(buf) - size, "_%u", i);
	return mem_strndup(buf, strlen(buf));
}

enum hd_status sql_result_describe(struct sql_result *result)
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

static struct cell read_cell(const struct sql_result *result, size_t column)
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

void sql_result_row(const struct sql_result *result, struct cell *cells)
{
	for (size_t i = 0; i < result->count; i++)
		cells[i] = read_cell(result, i);
}

enum hd_status sql_result_step(struct sql_database *database, const struct sql_result *result,
			       bool *ret)
{
	int code = sqlite3_step(result->statement);
	*ret = code == SQLITE_ROW;
	if (code == SQLITE_ROW || code == SQLITE_DONE)
		return HD_OK;
	return sql_database_fail(database, code);
}

void sql_result_deinit(struct sql_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		mem_free(result->names[i]);
	*result = (struct sql_result){ .call = NULL };
}
