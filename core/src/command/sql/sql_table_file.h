/* SPDX-License-Identifier: MIT */
/* A whole table of sql as a file of columns, without SQLite. */
#pragma once

#include "command/sql/sql_table.h"
#include "format/columns/field_writer.h"

/** Tables that are read for several files: what they keep is made once. */
struct sql_table_reader;

/** HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status sql_table_reader_open(struct call *call, struct sql_table_reader **ret);
/** Warns of gaps in the heap if @p is_done.  NULL is allowed. */
void sql_table_reader_close(struct sql_table_reader *reader, bool is_done);

/**
 * Write all rows of the table with that name.
 *
 * @param[in] lacks As in struct field_table.
 */
HD_NODISCARD enum hd_status sql_table_write(struct sql_table_reader *reader, const char *name,
					    const char *lacks, enum field_format format,
					    const struct field_target *target);
