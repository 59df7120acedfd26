/* SPDX-License-Identifier: MIT */
/* The columns of a table as SQL sees them. */
#pragma once

#include "command/sql/sql_table.h"

/** Bytes of the name of a column. */
#define SQL_NAME_SIZE 48u

/** One column. */
struct sql_column {
	char name[SQL_NAME_SIZE]; /**< no points: "thread.id" is thread_id */
	const struct column *column;
	bool is_outer; /**< of the row that the row is in */
};

/** Fill @p ret, SQL_COLUMNS_MAX; @return how many there are. */
size_t sql_columns(const struct sql_table *table, struct sql_column *ret);

/** Its type in a declaration: ADDRESS, BYTES, INTEGER, REAL, TEXT; "" of values of any. */
const char *sql_declared_type(const struct column *column);

/** Append the help of sql: the tables with their columns, and queries to begin with. */
void append_sql_help(struct text *text);

/** The schemas of a table that is a command's answer; @p ret_outer may come out NULL. */
void sql_kept_schemas(const struct sql_table *table, const struct schema **ret_outer,
		      const struct schema **ret_own, const char **ret_prefix);
