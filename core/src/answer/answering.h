/* SPDX-License-Identifier: MIT */
/* The answer of a command: records and tables, which are written while they are found. */
#pragma once

#include "answer/answer_format.h"
#include "answer/schema.h"
#include "output/out.h"

/** Most tables that are open at once, each in a row of the one before. */
#define ANSWER_DEPTH_MAX 8u

/** Options of a table for one run of a command; all zeros: none. */
struct table_options {
	uint64_t limit;  /**< further rows are only counted; UINT64_MAX: no limit */
	uint64_t hidden; /**< columns that text does not show, a bit each */
	/**
	 * Widths in text, instead of those of the columns; borrowed until the table ends; or NULL.
	 */
	const uint8_t *widths;
	bool no_heading;   /**< text has no heading */
	bool late_heading; /**< text has the heading only if there is a row */
	/** Writes the rows of brief text; NULL: they are the value of the first column. */
	void (*brief)(struct out *out, const struct cell *cells);
};

/** For JSON: which columns of a schema are members of an inner object, as "context.limit" is. */
struct json_groups {
	bool are_there;
	uint8_t ids[SCHEMA_COLUMNS_MAX];   /**< 1 + the first column of the column's inner object;
					    * 0: none */
	uint8_t sizes[SCHEMA_COLUMNS_MAX]; /**< length of the name of that object, in bytes */
};

/** A table that was begun and has not ended. */
struct answer_level {
	const struct schema *schema;
	struct table_options options;
	uint64_t rows; /**< asked for so far */
	bool is_in_row;
	bool is_left_out; /**< the answer is data, and the table, or one around it, is only for
			   * text */
	bool is_begun;    /**< text: its heading, if it has one, is written */
	struct json_groups groups;
};

struct renderer;
struct short_names;

/** Where an answer goes, and which parts of it are open. */
struct answer {
	const struct renderer *renderer;
	struct out *out;
	struct json *json;   /**< FORMAT_JSON: the document around the answer */
	struct visit *visit; /**< FORMAT_ROWS: where the answer goes (answer/visit.h) */
	struct answer_level levels[ANSWER_DEPTH_MAX];
	size_t depth;
	size_t main_depth; /**< FORMAT_NDJSON, FORMAT_CSV and brief text: depth inside the main
			    * table; 0: outside */
	uint64_t rows;     /**< the rows of all tables, so far */
	bool had_main;     /**< in the same formats: the main table was begun */
	const struct short_names *short_names; /**< borrowed; NULL: none */
	bool has_short_name;                   /**< one of them is in the answer so far */
	bool is_raw_csv; /**< FORMAT_CSV: nothing is done about formulas (setting "raw-csv") */
};

/**
 * The functions that write an answer in one format; where one is NULL, the format leaves that part
 * out.
 */
struct renderer {
	/** A table was begun: answer->levels[answer->depth - 1]. */
	void (*table)(struct answer *answer);
	void (*table_end)(struct answer *answer);
	/** A row; if level->is_in_row, tables inside it follow. */
	void (*row)(struct answer *answer, const struct cell *cells);
	void (*row_end)(struct answer *answer);
	void (*record)(struct answer *answer, const struct schema *schema,
		       const struct cell *cells);
	/** A record that holds tables: row_end() ends it. */
	void (*record_begin)(struct answer *answer, const struct schema *schema,
			     const struct cell *cells);
	void (*list)(struct answer *answer, const char *name, const char *const *items,
		     size_t count);
	/** There is no record with that name. */
	void (*none)(struct answer *answer, const char *name);
	/** An object around what follows, until it is ended. */
	void (*object)(struct answer *answer, const char *name);
	void (*object_end)(struct answer *answer);
	bool shows_remarks;
};

extern const struct renderer text_renderer, brief_renderer, json_renderer, ndjson_renderer,
	csv_renderer, visit_renderer;

/**
 * For renderers: is the table that was just begun the main one?  If so, answer->main_depth is its
 * depth from now on.
 */
bool answer_enter_main(struct answer *answer);
/** For renderers: a table ends; with the main one, answer->main_depth is 0 again. */
void answer_leave_main(struct answer *answer);

/**
 * Begin an answer.
 *
 * @param json Writes to @p out; FORMAT_JSON: the document whose members are written.
 */
void answer_init(struct answer *answer, enum answer_format format, struct out *out,
		 struct json *json);

/**
 * Do what -short asks for: text shows only the first column of the main table, one line for each
 * row; other formats do not change.
 */
void answer_be_brief(struct answer *answer);

/**
 * Is the answer for programs?  They get an empty table where a person reads that there is nothing.
 */
bool answer_is_data(const struct answer *answer);

/** Does the reader want no more?  Then the command ends. */
bool answer_is_stopped(const struct answer *answer);

/**
 * Does a person read the answer as text, from top to bottom, with remarks, headings and tables
 * without a name?  What only these need is not computed for other formats.  Text may leave out what
 * was shown above or what is equal, and may order rows differently.  As data, the same rows are
 * complete.
 */
bool answer_is_text(const struct answer *answer);

/**
 * Begin a table; inside a row, it belongs to the row.  A table whose schema has no name is only for
 * text: it shows what data has in another form.  @p options NULL: nothing is chosen.
 */
void answer_table(struct answer *answer, const struct schema *schema,
		  const struct table_options *options);
/** Count a row; @return whether it is within the limit, so that answer_row() must follow. */
bool answer_wants_row(struct answer *answer);
/** How many rows of the table were counted until now, including those after the limit. */
uint64_t answer_rows(const struct answer *answer);
/** Write a row: a cell for each column of the schema. */
void answer_row(struct answer *answer, const struct cell *cells);
/** Write a row that holds tables or records, up to answer_row_end(). */
void answer_row_begin(struct answer *answer, const struct cell *cells);
void answer_row_end(struct answer *answer);
/** End the table; @return whether it had more rows than its limit. */
bool answer_table_end(struct answer *answer);
/** Only in data: these are not all rows. */
void answer_truncated(struct answer *answer);
/** Say that only the first @p limit rows were written. */
void answer_cut(struct answer *answer, uint64_t limit);

/** Write a record: an object of the schema's name, or single members. */
void answer_record(struct answer *answer, const struct schema *schema, const struct cell *cells);
/**
 * The same, but tables and lists inside it follow, up to answer_record_end(); the schema has a
 * name.
 */
void answer_record_begin(struct answer *answer, const struct schema *schema,
			 const struct cell *cells);
void answer_record_end(struct answer *answer);
/** A record as answer_record() writes it, but text does not show it. */
void answer_data(struct answer *answer, const struct schema *schema, const struct cell *cells);
/** The same, but only text shows it: a heading that is made of values. */
void answer_heading(struct answer *answer, const struct schema *schema, const struct cell *cells);
/** Only in data: there is no record with that name. */
void answer_none(struct answer *answer, const char *name);
/** Only in data: begin an object, which holds the records and tables until it is ended. */
void answer_object(struct answer *answer, const char *name);
void answer_object_end(struct answer *answer);
/** Write a list of words, only in data; NULL is a word that is not known. */
void answer_list(struct answer *answer, const char *name, const char *const *items, size_t count);

/** Text for a person: a line between tables, or a heading; data does not have it. */
void answer_remark(struct answer *answer, const char *format, ...) HD_PRINTF(2, 3);
/** The same in the colour of @p style. */
void answer_remark_styled(struct answer *answer, enum style style, const char *format, ...)
	HD_PRINTF(3, 4);

/**
 * Write the value of a cell as text shows it, without padding; it is not longer than the column's
 * width.
 */
void cell_format(struct text *text, const struct column *column, const struct cell *cell);
/** Write the names of a cell of KIND_SET, with @p between them. */
void text_set(struct text *text, const struct cell *cell, const char *between);
/** For layouts: write a cell of KIND_TYPE as text shows it, in its colour. */
void out_type_cell(struct out *out, const struct cell *cell);
