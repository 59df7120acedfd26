/* SPDX-License-Identifier: MIT */
/* The rows of a query in a file: Parquet, Arrow or CSV, as its name ends. */
#pragma once

#include "util/fail.h"

struct call;
struct sql_database;
struct sql_result;

/** Refuse a file whose ending is none of the three, and rows as the answer about the file: HD_ERR_ARGUMENT. */
HD_NODISCARD enum hd_status sql_output_check(const struct call *call, const char *path);

/**
 * Write at most @p limit rows to @p path, which appears when it is complete, and say so in the answer.
 *
 * A column whose values have no declared type has the type that holds all of them.  If later rows
 * have values that it does not hold, the query is run again.
 */
HD_NODISCARD enum hd_status sql_output_write(struct sql_database *database,
					     const struct sql_result *result, const char *path,
					     uint64_t limit);
