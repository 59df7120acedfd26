/* SPDX-License-Identifier: MIT */
/* The result of a query: its columns, and its rows one after the other. */
#pragma once

#include <sqlite3.h>

#include "answer/schema.h"
#include "util/fail.h"

struct call;
struct sql_database;

/** The columns of a result. */
struct sql_result {
	struct call *call;
	sqlite3_stmt *statement; /**< borrowed */
	struct column columns[SCHEMA_COLUMNS_MAX];
	char *names[SCHEMA_COLUMNS_MAX]; /**< owned */
	uint8_t widths[SCHEMA_COLUMNS_MAX];
	struct schema schema;
	size_t count;
};

/** Fill all but call, statement and widths; HD_ERR_ARGUMENT: there are too many columns. */
HD_NODISCARD enum hd_status sql_result_describe(struct sql_result *result);
/** Go to the next row; *@p ret false at the end. */
HD_NODISCARD enum hd_status sql_result_step(struct sql_database *database,
					    const struct sql_result *result, bool *ret);
/** The cells of the row, whose texts are borrowed until the next one. */
void sql_result_row(const struct sql_result *result, struct cell *cells);
void sql_result_deinit(struct sql_result *result);
