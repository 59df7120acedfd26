/* SPDX-License-Identifier: MIT */
/* The answer of a command on its way to the user: records and tables, written while they are found. */
#ifndef HEAPDUMP_SRC_ANSWER_ANSWERING_H
#define HEAPDUMP_SRC_ANSWER_ANSWERING_H

#include "answer/answer_format.h"
#include "answer/schema.h"
#include "report/json.h"

/** Most tables that are begun at once, each in a row of the one before. */
#define ANSWER_DEPTH_MAX 8u

/** What a run of a command chooses about a table; all zeros: nothing. */
struct table_options {
	uint64_t limit;  /**< rows beyond are only counted; UINT64_MAX: none is */
	uint64_t hidden; /**< columns that text does not show, a bit each */
	/** Widths in text in place of those of the columns; borrowed until the table ends; or NULL. */
	const uint8_t *widths;
	bool no_heading;   /**< text has none */
	bool late_heading; /**< text has it with the first row */
	/** Rows of brief text; NULL: the value of the first column. */
	void (*brief)(struct out *out, const struct cell *cells);
};

/** Of JSON: which columns of a schema are members of objects in its object, as "context.limit" is. */
struct json_groups {
	bool are_there;
	uint8_t ids[SCHEMA_COLUMNS_MAX];   /**< of its object: 1 + its first column; 0: none */
	uint8_t sizes[SCHEMA_COLUMNS_MAX]; /**< bytes of the name of that object */
};

/** A table that is begun. */
struct answer_level {
	const struct schema *schema;
	struct table_options options;
	uint64_t rows; /**< asked for so far */
	bool is_in_row;
	bool is_left_out; /**< text's own, or in one, of an answer that is data */
	bool is_begun;    /**< text: its heading, if it has one, is written */
	struct json_groups groups;
};

struct renderer;

/** Where an answer goes, and what of it is begun. */
struct answer {
	const struct renderer *renderer;
	struct out *out;
	struct json *json;   /**< of FORMAT_JSON: the document around it */
	struct visit *visit; /**< of FORMAT_ROWS: where it goes (answer/visit.h) */
	struct answer_level levels[ANSWER_DEPTH_MAX];
	size_t depth;
	size_t main_depth; /**< of FORMAT_NDJSON, FORMAT_CSV, brief text: depth in the main table; 0: not in it */
	uint64_t rows; /**< of all tables, so far */
	bool had_main; /**< likewise: it was begun */
};

/** What writes an answer in one format; NULL: it leaves that out. */
struct renderer {
	/** A table was begun: answer->levels[answer->depth - 1]. */
	void (*table)(struct answer *answer);
	void (*table_end)(struct answer *answer);
	/** A row; tables in it follow when level->is_in_row. */
	void (*row)(struct answer *answer, const struct cell *cells);
	void (*row_end)(struct answer *answer);
	void (*record)(struct answer *answer, const struct schema *schema,
		       const struct cell *cells);
	/** A record that holds tables: row_end() ends it. */
	void (*record_begin)(struct answer *answer, const struct schema *schema,
			     const struct cell *cells);
	void (*list)(struct answer *answer, const char *name, const char *const *items,
		     size_t count);
	/** There is no record of that name. */
	void (*none)(struct answer *answer, const char *name);
	/** An object around what follows, up to its end. */
	void (*object)(struct answer *answer, const char *name);
	void (*object_end)(struct answer *answer);
	bool shows_remarks;
};

extern const struct renderer text_renderer, brief_renderer, json_renderer, ndjson_renderer,
	csv_renderer, visit_renderer;

/** For renderers: the table just begun, is it the main one?  From then on answer->main_depth is its depth. */
bool answer_enter_main(struct answer *answer);
/** For renderers: a table ends; with the main one, answer->main_depth is 0 again. */
void answer_leave_main(struct answer *answer);

/**
 * Begin an answer.
 *
 * @param json Writes to @p out; of FORMAT_JSON the document whose members are written.
 */
void answer_init(struct answer *answer, enum answer_format format, struct out *out,
		 struct json *json);

/**
 * What -short asks for: text shows nothing but the first column of the main table, a line each; other
 * formats stay as they are.
 */
void answer_be_brief(struct answer *answer);

/** Is it for programs?  They get an empty table where a person reads that there is nothing. */
bool answer_is_data(const struct answer *answer);

/** Does the reader take no more?  Then the command ends. */
bool answer_is_stopped(const struct answer *answer);

/**
 * Are remarks, headings and what has no name shown, to a person who reads from the top?  What only they
 * need is not computed for others; what stood above or is alike may be left out, and rows may have an
 * order of their own.  The same rows are data whole.
 */
bool answer_is_text(const struct answer *answer);

/**
 * Begin a table; in a row, one that belongs to the row.  One whose schema has no name is text's own: a
 * view of what data has in another shape.  @p options NULL: nothing is chosen.
 */
void answer_table(struct answer *answer, const struct schema *schema,
		  const struct table_options *options);
/** Count a row; @return whether it is within the limit, so that answer_row() is to follow. */
bool answer_wants_row(struct answer *answer);
/** Rows of the table that were asked for until now, those beyond the limit among them. */
uint64_t answer_rows(const struct answer *answer);
/** Write a row: a cell for each column of the schema. */
void answer_row(struct answer *answer, const struct cell *cells);
/** Write a row that holds tables or records, up to answer_row_end(). */
void answer_row_begin(struct answer *answer, const struct cell *cells);
void answer_row_end(struct answer *answer);
/** End the table; @return whether rows were beyond its limit. */
bool answer_table_end(struct answer *answer);
/** Data: the rows are not all. */
void answer_truncated(struct answer *answer);
/** Say that only the first @p limit rows were written. */
void answer_cut(struct answer *answer, uint64_t limit);

/** Write a record: an object of the schema's name, or single members. */
void answer_record(struct answer *answer, const struct schema *schema, const struct cell *cells);
/** The same, where tables and lists of it follow, up to answer_record_end(); the schema has a name. */
void answer_record_begin(struct answer *answer, const struct schema *schema,
			 const struct cell *cells);
void answer_record_end(struct answer *answer);
/** A record as answer_record() writes it, but text has no line of it. */
void answer_data(struct answer *answer, const struct schema *schema, const struct cell *cells);
/** The same, but only text has it: a heading that is made of values. */
void answer_heading(struct answer *answer, const struct schema *schema, const struct cell *cells);
/** Data: there is no record of that name. */
void answer_none(struct answer *answer, const char *name);
/** Data: begin an object, which holds the records and tables up to its end. */
void answer_object(struct answer *answer, const char *name);
void answer_object_end(struct answer *answer);
/** Write a list of words, of which NULL is one that is not known: data only. */
void answer_list(struct answer *answer, const char *name, const char *const *items, size_t count);

/** Text for a person: a line between tables, a heading; not data. */
void answer_remark(struct answer *answer, const char *format, ...) HD_PRINTF(2, 3);
/** The same in the colour of @p style. */
void answer_remark_styled(struct answer *answer, enum style style, const char *format, ...)
	HD_PRINTF(3, 4);

/** Write the value of a cell as text shows it, without its width; a column's width is at least that long. */
void cell_format(struct text *text, const struct column *column, const struct cell *cell);
/** Write the names of a cell of KIND_SET, with @p between them. */
void text_set(struct text *text, const struct cell *cell, const char *between);
/** For layouts: write a cell of KIND_TYPE as text shows it, in its colour. */
void out_type_cell(struct out *out, const struct cell *cell);

#endif
