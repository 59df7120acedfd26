/* SPDX-License-Identifier: MIT */
/*
 * An answer consists of the cells of columns.  A schema describes them once, for all renderers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The kind of the cells of a column. */
enum cell_kind {
	KIND_FLAG,    /**< yes or no */
	KIND_NUMBER,  /**< a count, an index, an id */
	KIND_SIGNED,  /**< a number that may be negative */
	KIND_BYTES,   /**< a number of bytes */
	KIND_PERCENT, /**< a percentage, with one digit after the point */
	KIND_ADDRESS, /**< hexadecimal; "0x..." in JSON and CSV */
	KIND_TEXT,
	KIND_TYPE,   /**< the name of a type; text shows an unknown one by its id */
	KIND_REAL,   /**< a floating-point number, with the digits that it needs */
	KIND_SINGLE, /**< the same with 32 bits */
	KIND_SET, /**< names out of a set: an array in JSON, separated by commas in text, by spaces
		   * in CSV */
	KIND_ANY, /**< each cell says what it holds: cell.kind */
};

/** How text shows the cells of a column; data renderers do not look at these. */
enum cell_look {
	LOOK_PLAIN = 0,
	LOOK_ZEROS = 1,      /**< an address with all of its 16 digits */
	LOOK_UPPER = 2,      /**< an address with capital letters A to F */
	LOOK_THOUSANDS = 4,  /**< a comma between thousands */
	LOOK_ADDRESS = 8,    /**< shown in the colour of addresses */
	LOOK_LEFT = 16,      /**< aligned left */
	LOOK_PREFIXED = 32,  /**< an address with 0x before it */
	LOOK_LEAVE_OUT = 64, /**< if the cell is absent, JSON has no member instead of null */
	/**
	 * For the first column of an inner object, such as "last.address": if all its columns are
	 * absent, JSON has null.
	 */
	LOOK_WHOLE = 128,
};

/** One column of a table, or one member of a record. */
struct column {
	/**
	 * Key in JSON, heading in CSV; NULL: only text shows it.  "context.limit" is the member
	 * "limit" of an object "context", whose columns are next to each other.
	 */
	const char *name;
	const char *heading; /**< the heading in text; NULL: only data renderers show the column */
	enum cell_kind kind;
	uint8_t width;    /**< smallest width in text, in characters */
	uint8_t look;     /**< enum cell_look */
	const char *help; /**< one line, no full stop */
};

/** A value.  All zeros: it is absent. */
struct cell {
	bool is_there;
	bool is_null; /**< it is absent, and JSON has null even with LOOK_LEAVE_OUT */
	uint8_t kind; /**< enum cell_kind, in a column of KIND_ANY */
	/** Text shows this instead of the value; NULL: it shows the value. */
	const char *shown;
	union {
		bool flag;
		uint64_t number; /**< also KIND_BYTES, KIND_ADDRESS */
		int64_t signed_number;
		double real;
		struct {
			const char *bytes;
			size_t size;
			uint64_t id; /**< of KIND_TYPE */
		} text;
		struct {
			const char *const *names;
			uint64_t bits; /**< bit i: names[i] is in it */
		} set;
	};
};

struct out;

/** Most columns of a schema. */
#define SCHEMA_COLUMNS_MAX 64u

/** The columns of a table, or the members of a record. */
struct schema {
	/**
	 * Key in JSON; NULL: the members of a record are written among those around it; or a table
	 * that is only for text.
	 */
	const char *name;
	const struct column *columns;
	size_t count;
	bool is_main; /**< the table that CSV and NDJSON show */
	/** In JSON an array of the values of the first column; only rows that hold tables are objects. */
	bool is_list;
	/** The line above the rows in text; NULL: it consists of the columns' headings. */
	const char *heading;
	/**
	 * The heading for a terminal of fewer columns than @c narrow_below (0: OUT_NARROW); NULL:
	 * the same as @c heading.
	 */
	const char *narrow_heading;
	uint16_t narrow_below;
	/**
	 * A row, or the whole record, in text; NULL: it is written as the columns say.  It has
	 * placeholders for cells and optional parts:
	 *
	 *   {name}            the cell of the column with that name, or heading if it has no name, as
	 *                     the column says; an absent number is 0
	 *   {name:12}         in at least 12 characters, {name:-12} aligned left; "{name:-12,}" has both
	 *   {name:08}         hexadecimal, in at least 8 digits
	 *   {name:x}          hexadecimal; X: with capital letters; a: in the colour of addresses
	 *   {name:,}          with a comma between thousands; b: "1.5 MB"
	 *   {name:*object}    "1,234 objects"; +object: "1234 objects"
	 *   {name:m}          the name of a method, which may be shortened to fit a line
	 *   {name:_}          that many spaces
	 *   {name:s}          " [/src/a.cs @ 65]" of this cell and the next one; or nothing
	 *   {name?word}       the word, if the cell is absent; "{name:-12?word}" has both
	 *   [text|other]      the text, if the cell of its first placeholder is there, else the other
	 *   [=name text]      the text, if that cell is there
	 *   [?name text]      the text, if that cell is yes, not 0, or not empty, and is not shown as ""
	 *   \\w               the rest of the line is a sentence: where it is too long for the terminal it goes
	 *                     on in further lines, which begin here
	 *   \\a \\h \\d \\.   begin the colour of addresses, headings, notes; end it.  Other signs after
	 *                     a backslash are themselves
	 */
	const char *lines;
	/** Writes the row or record where @c lines cannot say how; or NULL. */
	void (*layout)(struct out *out, const struct cell *cells);
};

/**
 * A table of columns and the constants of their cells, written once: LIST(X) has a row
 * X(CONSTANT, name, heading, kind, width, look, help) for each.  Defines enum NAME_column, whose last
 * constant COUNT is their number, and the array NAME_columns.
 */
#define COLUMNS(name, COUNT, LIST)                                        \
	enum name##_column{ LIST(LIST_CONSTANT) LIST_CONSTANT(COUNT, ) }; \
	static const struct column name##_columns[COUNT] = { LIST(LIST_ROW) }

/** The two ways to take a row of such a list. */
#define LIST_CONSTANT(constant, ...) constant,
#define LIST_ROW(constant, ...)      [constant] = { __VA_ARGS__ },

/** The number of elements and the array itself, for initialisers of a schema. */
#define SCHEMA_COLUMNS(array) .columns = (array), .count = sizeof(array) / sizeof((array)[0])

/** Define NAME_schema of the columns of NAME_columns; what else there is to say are initialisers. */
#define SCHEMA(NAME, ...) \
	static const struct schema NAME##_schema = { SCHEMA_COLUMNS(NAME##_columns), __VA_ARGS__ }

static inline struct cell cell_flag(bool flag)
{
	return (struct cell){ .is_there = true, .flag = flag };
}

/** A cell of KIND_NUMBER, KIND_BYTES or KIND_ADDRESS. */
static inline struct cell cell_number(uint64_t number)
{
	return (struct cell){ .is_there = true, .number = number };
}

static inline struct cell cell_signed(int64_t number)
{
	return (struct cell){ .is_there = true, .signed_number = number };
}

/** A cell of KIND_REAL or KIND_SINGLE. */
static inline struct cell cell_real(double real)
{
	return (struct cell){ .is_there = true, .real = real };
}

/** The same cell with a value of @p kind, for a column of KIND_ANY. */
static inline struct cell cell_of(enum cell_kind kind, struct cell cell)
{
	cell.kind = (uint8_t)kind;
	return cell;
}

/** @p part of @p whole, neither negative, rounded to tenths. */
static inline struct cell cell_percent(double part, double whole)
{
	double tenths = whole > 0 ? 1000 * part / whole + 0.5 : 0;
	return (struct cell){ .is_there = true, .real = (double)(uint64_t)tenths / 10 };
}

/** Borrowed until the row is written; @p bytes NULL: absent. */
static inline struct cell cell_text(const char *bytes, size_t size)
{
	return (struct cell){ .is_there = bytes, .text = { .bytes = bytes, .size = size } };
}

static inline struct cell cell_string(const char *string)
{
	return cell_text(string, string ? strlen(string) : 0);
}

/** Borrowed in the same way; @p name NULL: the name is not known. */
static inline struct cell cell_type(const char *name, size_t size, uint64_t id)
{
	return (struct cell){ .is_there = name, .text = { .bytes = name, .size = size, .id = id } };
}

/** The value is not known: null in JSON, even in a column that JSON may leave out. */
static inline struct cell cell_null(void)
{
	return (struct cell){ .is_null = true };
}

/**
 * The names of @p names (a list that ends with NULL) whose bit is set; borrowed in the same way.
 */
static inline struct cell cell_set(const char *const *names, uint64_t bits)
{
	return (struct cell){ .is_there = true, .set = { .names = names, .bits = bits } };
}

/** The same cell, which is null in JSON if it is absent, whatever its column says. */
static inline struct cell cell_or_null(struct cell cell)
{
	cell.is_null = !cell.is_there;
	return cell;
}

/** The same cell, but text shows @p shown (borrowed) instead of it. */
static inline struct cell cell_shown(struct cell cell, const char *shown)
{
	cell.shown = shown;
	return cell;
}
