/* SPDX-License-Identifier: MIT */
/* Tables in columns, as Parquet and Arrow have them: what a column is, and its values in some rows. */
#pragma once

#include "format/format.h"

/** Types of values. */
enum field_type {
	FIELD_UNSIGNED, /**< 64 bits */
	FIELD_SIGNED,   /**< 64 bits */
	FIELD_REAL,     /**< double */
	FIELD_BOOL,
	FIELD_TEXT, /**< UTF-8 */
};

/** A text of a dictionary. */
struct field_text {
	const char *bytes;
	size_t size;
};

/** The values that a column can have: rows have indices of them. */
struct field_dictionary {
	const struct field_text *texts; /**< of FIELD_TEXT */
	const uint64_t *numbers;        /**< of other types */
	uint32_t count;
};

/** One column. */
struct field {
	const char *name;
	enum field_type type;
	bool is_optional; /**< values may be missing */
	/** They mostly ascend, or lie near each other: their differences are small. */
	bool is_near;
	const struct field_dictionary *dictionary; /**< NULL: rows have the values themselves */
};

/** Most columns of a table. */
#define FIELDS_MAX 64u

/** The columns of a table, and what is said about it in the file. */
struct field_table {
	const char *name;
	const struct field *fields;
	size_t count;        /**< 1 to FIELDS_MAX */
	const char *command; /**< what made it: "export" */
	const char
		*lacks; /**< one line: what it lacks; "" or NULL: nothing is known to be missing */
};

/** The version of the columns and their meaning, in metadata: readers refuse a newer one. */
#define FIELDS_VERSION "1"

/** A pair of a file's metadata. */
struct field_pair {
	const char *key, *value;
};

#define FIELD_PAIRS 6u

/** The metadata of a table's file. */
static inline void field_metadata(const struct field_table *table,
				  struct field_pair ret[FIELD_PAIRS])
{
	bool is_complete = !table->lacks || !*table->lacks;
	ret[0] = (struct field_pair){ "heapdump.schema", FIELDS_VERSION };
	ret[1] = (struct field_pair){ "heapdump.version", hd_version() };
	ret[2] = (struct field_pair){ "heapdump.command", table->command };
	ret[3] = (struct field_pair){ "heapdump.table", table->name };
	ret[4] = (struct field_pair){ "heapdump.complete", is_complete ? "true" : "false" };
	ret[5] = (struct field_pair){ "heapdump.lacks", is_complete ? "" : table->lacks };
}

/** Values of a column in some rows; what does not belong to its type is NULL. */
struct field_values {
	const uint64_t *words;   /**< numbers, bits of reals, 0 or 1 */
	const uint32_t *indices; /**< with a dictionary */
	const int32_t *ends;     /**< of texts: where each begins, and the last ends, in text */
	const char *text;
	const uint8_t *validity; /**< bit i: row i has a value; NULL: all have */
	uint32_t null_count;
};

/** Most rows that are written at once. */
#define FIELD_ROWS_MAX (1u << 20)

/** Where a table goes. */
struct field_target {
	format_write_fn write;
	void *arg;
	struct job *job;
	struct hd_error *err;
	bool is_plain;  /**< not compressed */
	uint64_t *rows; /**< counts those that are written; or NULL */
};

/** Has the row a value? */
static inline bool field_has(const struct field_values *values, uint32_t row)
{
	return !values->validity || values->validity[row / 8] >> row % 8 & 1;
}
