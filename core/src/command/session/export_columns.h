/* SPDX-License-Identifier: MIT */
/* Exports of tables in columns: a folder of Parquet files, or one table as a stream of Arrow (doc/columns.md 3). */
#pragma once

#include "command/session/export_graph.h"

/** The tables, as their files are called; NULL ends. */
extern const char *const columns_tables[];

/** One export. */
struct columns_export {
	const char *path;
	const char
		*table; /**< only this one; NULL: all, or the first one where there is one only */
	bool is_stream; /**< one table as a stream of Arrow, and not a folder of Parquet files */
	bool is_plain;  /**< not compressed */
};

/** Is it a table in columns, by the format that is named, or by the name that is given?  Then @p ret has path and is_stream. */
bool export_wants_columns(const struct value *format, const struct value *path,
			  struct columns_export *ret);

/** May it go there, and has the target such a table? */
HD_NODISCARD enum hd_status export_columns_check(struct call *call,
						 const struct columns_export *what);

/**
 * Write tables of call->graph; a file or folder appears when all is complete.
 *
 * @param[out] ret_rows Rows that were written.
 */
HD_NODISCARD enum hd_status export_columns(struct call *call, const struct columns_export *what,
					   uint64_t *ret_rows);
