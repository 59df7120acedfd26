/* SPDX-License-Identifier: MIT */
/* Rows written as a file of columns: Parquet, Arrow. */
#pragma once

#include "answer/columns.h"
#include "format/columns/field_writer.h"

/** Such a file; its columns have the kinds of answers, and any value may be missing. */
struct rows_file {
	enum field_format format;
	struct field_target target;
	struct field_table table;
	struct field fields[FIELDS_MAX];
	uint32_t kinds[FIELDS_MAX]; /**< enum hd_kind */
	/** They know all rows so far; where kinds is HD_KIND_ANY, they tell the type. */
	struct column_facts facts[FIELDS_MAX];
	enum column_type types[FIELDS_MAX];
	bool is_text[FIELDS_MAX]; /**< so is a column without values: it was declared as text */
	struct chunk *chunk;
	struct field_writer writer;
	bool is_begun;
	/**
	 * A later row had a value that the type of its column does not hold: what is written is of no use,
	 * and the rest of the rows is only looked at.  Another file that begins with these facts is right.
	 */
	bool has_changed;
	uint64_t rows;
};

/**
 * Begin; kinds, facts, fields' names and table are set, all else is 0.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status rows_file_begin(struct rows_file *file);

/** Take a row: a value for each column; as chunk_append(), and the statuses of writing. */
HD_NODISCARD enum hd_status rows_file_add(struct rows_file *file, const struct hd_value *values);

/** Write what is left unless @p status is a failure, free all, and return the first failure. */
HD_NODISCARD enum hd_status rows_file_end(struct rows_file *file, enum hd_status status);
