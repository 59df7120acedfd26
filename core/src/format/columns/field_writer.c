/* SPDX-License-Identifier: MIT */
#include "format/columns/field_writer.h"

enum hd_status field_writer_begin(struct field_writer *writer, enum field_format format,
				  const struct field_table *table,
				  const struct field_target *target)
{
	*writer = (struct field_writer){ .format = format, .rows = target->rows };
	if (format == FIELD_ARROW) {
		return arrow_file_begin(table, target, &writer->arrow);
	}
	return parquet_begin(table, target, &writer->parquet);
}

enum hd_status field_writer_rows(struct field_writer *writer, const struct field_values *values,
				 uint32_t rows)
{
	if (writer->rows) {
		*writer->rows += rows;
	}
	return writer->arrow ? arrow_file_rows(writer->arrow, values, rows)
			     : parquet_rows(writer->parquet, values, rows);
}

enum hd_status field_writer_end(struct field_writer *writer, enum hd_status status)
{
	return writer->arrow ? arrow_file_end(writer->arrow, status)
			     : parquet_end(writer->parquet, status);
}
