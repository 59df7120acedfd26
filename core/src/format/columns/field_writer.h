/* SPDX-License-Identifier: MIT */
/* Writes a table in columns, whatever the format. */
#pragma once

#include "format/columns/arrow_file.h"
#include "format/columns/parquet.h"

enum field_format {
	FIELD_PARQUET,
	FIELD_ARROW,
};

/** A file that is being written. */
struct field_writer {
	enum field_format format;
	struct parquet *parquet; /**< one of the two */
	struct arrow_file *arrow;
	uint64_t *rows; /**< of the target */
};

/** Begin, as parquet_begin() does; on failure there is nothing to end. */
HD_NODISCARD enum hd_status field_writer_begin(struct field_writer *writer,
					       enum field_format format,
					       const struct field_table *table,
					       const struct field_target *target);
/** As parquet_rows(). */
HD_NODISCARD enum hd_status field_writer_rows(struct field_writer *writer,
					      const struct field_values *values, uint32_t rows);
/** As parquet_end(). */
HD_NODISCARD enum hd_status field_writer_end(struct field_writer *writer, enum hd_status status);
