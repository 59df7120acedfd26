/* SPDX-License-Identifier: MIT */
/* Writes a table as a Parquet file: doc/formats.md 11. */
#pragma once

#include "format/columns/fields.h"

/** A file that is being written. */
struct parquet;

/**
 * Begin a file.
 *
 * @param[in] table Borrowed with all that it leads to, until the file is ended.
 * @param[out] ret To be given to parquet_end(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED as struct format's write
 */
HD_NODISCARD enum hd_status parquet_begin(const struct field_table *table,
					  const struct field_target *target, struct parquet **ret);

/**
 * Write a group of rows.  Its memory is that of its largest page.
 *
 * @param[in] values One for each column.
 * @param rows At most FIELD_ROWS_MAX; 0 writes nothing.
 * @retval HD_ERR_UNSUPPORTED a text takes 2 GB or more
 */
HD_NODISCARD enum hd_status parquet_rows(struct parquet *parquet, const struct field_values *values,
					 uint32_t rows);

/** Write the footer unless @p status is a failure, free all, and return the first failure. */
HD_NODISCARD enum hd_status parquet_end(struct parquet *parquet, enum hd_status status);
