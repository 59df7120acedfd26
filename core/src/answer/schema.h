/* SPDX-License-Identifier: MIT */
/* What an answer is made of: cells of columns, described once by a schema for all renderers. */
#ifndef HEAPDUMP_SRC_ANSWER_SCHEMA_H
#define HEAPDUMP_SRC_ANSWER_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** What the cells of a column hold. */
enum cell_kind {
	KIND_FLAG,    /**< yes or no */
	KIND_NUMBER,  /**< a count, an index, an id */
	KIND_SIGNED,  /**< a number that may be negative */
	KIND_BYTES,   /**< a number of bytes */
	KIND_PERCENT, /**< a part of a hundred, with one digit after the point */
	KIND_ADDRESS, /**< hexadecimal; "0x..." in JSON and CSV */
	KIND_TEXT,
	KIND_TYPE,   /**< the name of a type; text shows an unknown one by its id */
	KIND_REAL,   /**< a floating-point number, with the digits that it needs */
	KIND_SINGLE, /**< the same of 32 bits */
	KIND_SET, /**< names out of a set: an array in JSON, with commas between in text, blanks in CSV */
	KIND_ANY, /**< each cell says what it holds: cell.kind */
};

/** How text shows the cells of a column; data renderers do not look at these. */
enum cell_look {
	LOOK_PLAIN = 0,
	LOOK_ZEROS = 1,      /**< an address with all of its 16 digits */
	LOOK_UPPER = 2,      /**< an address in capital digits */
	LOOK_THOUSANDS = 4,  /**< a comma between thousands */
	LOOK_ADDRESS = 8,    /**< in the colour of addresses */
	LOOK_LEFT = 16,      /**< to the left of its width */
	LOOK_PREFIXED = 32,  /**< an address with 0x before it */
	LOOK_LEAVE_OUT = 64, /**< JSON has no member where the cell is absent, in place of null */
	/** Of the first column of an object, as "last.address": where all of them are absent, JSON has null. */
	LOOK_WHOLE = 128,
};

/** One column of a table, or one member of a record. */
struct column {
	/** Key in JSON, heading in CSV; NULL: only text shows it.  "context.limit" is the member "limit" of an
	 * object "context", whose columns are next to each other. */
	const char *name;
	const char *heading; /**< in text; NULL: only data renderers show it */
	enum cell_kind kind;
	uint8_t width;    /**< least columns in text */
	uint8_t look;     /**< enum cell_look */
	const char *help; /**< one line, no full stop */
};

/** A value.  All zeros: there is none. */
struct cell {
	bool is_there;
	bool is_null; /**< it is absent, and JSON says so even if LOOK_LEAVE_OUT */
	uint8_t kind; /**< enum cell_kind, in a column of KIND_ANY */
	/** Text shows this in place of the value; NULL: the value. */
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
#define SCHEMA_COLUMNS_MAX 32u

/** The columns of a table, or the members of a record. */
struct schema {
	/** Key in JSON; NULL: members of a record that are among those around it, or a table of text alone. */
	const char *name;
	const struct column *columns;
	size_t count;
	bool is_main; /**< the table that CSV and NDJSON show */
	/** In JSON an array of the values of the first column; only rows that hold tables are objects. */
	bool is_list;
	/** The line above the rows in text; NULL: the columns' headings. */
	const char *heading;
	/** The same where there are fewer columns than @c narrow_below (0: OUT_NARROW); NULL: as @c heading. */
	const char *narrow_heading;
	uint16_t narrow_below;
	/** Write a row, or the whole record, as text; NULL: as the columns say. */
	void (*layout)(struct out *out, const struct cell *cells);
};

/** The number of elements and the array itself, for initialisers of a schema. */
#define SCHEMA_COLUMNS(array) .columns = (array), .count = sizeof(array) / sizeof((array)[0])

static inline struct cell cell_flag(bool flag)
{
	return (struct cell){ .is_there = true, .flag = flag };
}

/** Of KIND_NUMBER, KIND_BYTES and KIND_ADDRESS. */
static inline struct cell cell_number(uint64_t number)
{
	return (struct cell){ .is_there = true, .number = number };
}

static inline struct cell cell_signed(int64_t number)
{
	return (struct cell){ .is_there = true, .signed_number = number };
}

/** Of KIND_REAL and KIND_SINGLE. */
static inline struct cell cell_real(double real)
{
	return (struct cell){ .is_there = true, .real = real };
}

/** The same cell, for a column of KIND_ANY: it holds a value of @p kind. */
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

/** Likewise; @p name NULL: its name is not known. */
static inline struct cell cell_type(const char *name, size_t size, uint64_t id)
{
	return (struct cell){ .is_there = name, .text = { .bytes = name, .size = size, .id = id } };
}

/** It is not known: null in JSON, also where other rows have no such member. */
static inline struct cell cell_null(void)
{
	return (struct cell){ .is_null = true };
}

/** Those of @p names, which NULL ends, whose bit is set; borrowed likewise. */
static inline struct cell cell_set(const char *const *names, uint64_t bits)
{
	return (struct cell){ .is_there = true, .set = { .names = names, .bits = bits } };
}

/** The same cell, which JSON has as null where it is absent, whatever its column says. */
static inline struct cell cell_or_null(struct cell cell)
{
	cell.is_null = !cell.is_there;
	return cell;
}

/** The same cell, in whose place text shows @p shown, which is borrowed. */
static inline struct cell cell_shown(struct cell cell, const char *shown)
{
	cell.shown = shown;
	return cell;
}

#endif
