/* SPDX-License-Identifier: MIT */
/* The tables that SQL sees: what describes one, and how its rows are read. */
#pragma once

#include "command/call.h"

/** Most columns of a table. */
#define SQL_COLUMNS_MAX SCHEMA_COLUMNS_MAX

/** The bit of a column in a set of them. */
#define SQL_BIT(column) (UINT64_C(1) << (column))

/** UTF-16 units of a string that are read: SQLite holds a row as a whole. */
#define SQL_STRING_UNITS_MAX (1u << 20)

/** How a condition of the query narrows the rows of a table. */
enum sql_match {
	SQL_MATCH_ALL,
	SQL_MATCH_EQUAL,
	SQL_MATCH_LIKE,
};

/** The condition that a cursor begins with; texts are borrowed until it is closed. */
struct sql_key {
	enum sql_match match;
	unsigned int column;
	bool is_text;
	uint64_t number;
	const char *text;
};

/** The request to a cursor. */
struct sql_request {
	struct sql_key key;
	uint64_t used;    /**< columns that the query reads, a bit each */
	bool is_weighted; /**< a row may stand for many, whose number it leaves in source->weight */
	bool is_grouped; /**< equal values of the table's group column have to come one after the other, in order */
};

struct gaps;

/** The tables of one query have this in common. */
struct sql_source {
	struct call *call;
	struct heap *heap;     /**< NULL: a dump file */
	enum hd_status status; /**< of the first cursor that failed; its message is in call->err */
	uint64_t weight;       /**< objects that the row stands for: 1, but for is_weighted */
	unsigned int cursors;  /**< open ones */
	bool is_weighted;      /**< rows that are grouped may stand for many: see sql_weight.c */
	struct gaps *gaps;     /**< where walks met no objects */
	struct hd_rows **kept; /**< answers that tables were made of, by the table's index; owned */
};

/** A table.  A cursor's functions set call->err when they fail. */
struct sql_table {
	const char *name;
	const char *help; /**< one line, no full stop */
	const struct column *columns;
	size_t count;
	uint64_t equals; /**< columns on which = is answered without reading all rows */
	uint64_t likes;  /**< the same of LIKE */
	/**
	 * The conditions that a query must have for this table, such as "object =, type ="; NULL:
	 * none.
	 */
	const char *needs;
	bool is_of_heaps; /**< only cores and processes have it */
	uint64_t
		hidden; /**< columns that SELECT * leaves out: they cost a pass over all references */
	uint64_t groups;      /**< columns by which its rows can come in order, */
	uint64_t group_reads; /**< if no others but these are read; 0: it cannot */
	int order;            /**< the group column whose values then ascend */
	/** How many rows there are, roughly. */
	double (*estimate)(const struct sql_source *source);
	enum hd_status (*open)(struct sql_source *source, const struct sql_table *table,
			       const struct sql_request *request, void **ret);
	/** Go to the next row, from open() on to the first; *@p ret false: there is none. */
	enum hd_status (*next)(void *cursor, bool *ret);
	/** A value of the row; a text is borrowed until the next call. */
	void (*cell)(void *cursor, size_t column, struct cell *ret);
	void (*close)(void *cursor);
	const void *arg; /**< the table's own */
};

/** Table @p index, in the order of help; NULL past the last. */
const struct sql_table *sql_table_at(size_t index);

extern const struct sql_table sql_objects_table, sql_strings_table, sql_exceptions_table,
	sql_references_table, sql_fields_table, sql_arrays_table, sql_modules_table,
	sql_methods_table;

/** Tables that are made of the answer of a command: how many, and each. */
size_t sql_kept_count(void);
const struct sql_table *sql_kept_at(size_t index);
