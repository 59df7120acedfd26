/* SPDX-License-Identifier: MIT */
/* Writes a table as a stream of Arrow (IPC): doc/formats.md 12. */
#pragma once

#include "format/columns/fields.h"

/** A stream that is being written. */
struct arrow_file;

/**
 * Begin: as parquet_begin().
 *
 * @retval HD_ERR_UNSUPPORTED the texts of a dictionary take 2 GB or more
 */
HD_NODISCARD enum hd_status arrow_file_begin(const struct field_table *table,
					     const struct field_target *target,
					     struct arrow_file **ret);
/** Write a batch: as parquet_rows(). */
HD_NODISCARD enum hd_status arrow_file_rows(struct arrow_file *file,
					    const struct field_values *values, uint32_t rows);
/** Write the mark of the end: as parquet_end(). */
HD_NODISCARD enum hd_status arrow_file_end(struct arrow_file *file, enum hd_status status);
