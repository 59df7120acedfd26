/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_ANSWER_H
#define HEAPDUMP_ANSWER_H

#include <heapdump/command.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The answers of commands as data: tables with named, typed columns, instead of text or JSON.
 *
 * hd_query() hands each row to a visitor while the command finds it; hd_rows_run() keeps them all.
 *
 *	const char *const argv[] = { "dumpheap", "-stat" };
 *	struct hd_sink sink = { .struct_size = sizeof(sink) };
 *	struct hd_rows *rows = NULL;
 *	int status = hd_rows_run(session, 2, argv, &sink, &rows, &err);
 *	const struct hd_table *types = hd_rows_find(rows, "types");
 *	int name = hd_table_column(types, "name");
 *	for (uint64_t i = 0; name >= 0 && i < hd_rows_count(rows, types); i++) {
 *		const struct hd_value *values = hd_rows_at(rows, types, i);
 *		printf("%.*s\n", (int)values[name].size, values[name].text);
 *	}
 *	hd_rows_free(rows);
 *
 * doc/examples/largest_types.c is a whole program.
 *
 * The tables, columns and values are those of the document that the same command writes with --json,
 * under the same names, with these differences:
 * - "schema", "command", "target" and "error" are left out: the caller knows them.
 * - Where the document has null, the value is HD_KIND_NULL.  Where a whole object or array is null,
 *   there is no table for it, or no row.
 * - A member that the document leaves out of an object is also a value of HD_KIND_NULL.
 * - Addresses are numbers, and names of a set are one text.
 * - A real that the target has in 32 bits is the nearest double: 0.1f is 0.10000000149011612.
 * - Text has its own bytes, also where it is not UTF-8.
 *
 * Pointers: see session.h.
 */

/** The kind of a column, or of a value. */
enum hd_kind {
	HD_KIND_NULL = 0,    /**< the value is absent or not known; only values have this kind */
	HD_KIND_FLAG = 1,    /**< hd_value.number: 0 or 1 */
	HD_KIND_NUMBER = 2,  /**< hd_value.number: a count, an index, an id */
	HD_KIND_SIGNED = 3,  /**< hd_value.signed_number */
	HD_KIND_BYTES = 4,   /**< hd_value.number: a number of bytes */
	HD_KIND_ADDRESS = 5, /**< hd_value.number: an address, or an id of a dump file */
	HD_KIND_REAL = 6,    /**< hd_value.real; NaN and infinities are possible */
	HD_KIND_PERCENT = 7, /**< hd_value.real: a percentage, rounded to one digit after the
			      * point */
	HD_KIND_TEXT = 8,    /**< hd_value.text */
	HD_KIND_TYPE = 9,    /**< hd_value.text: the name of a type */
	HD_KIND_SET = 10,    /**< hd_value.text: names with one space between them; may be empty */
	HD_KIND_ANY = 11,    /**< the kind of each value may differ; only columns have this kind */
};

/** A value of a row.  Members that its kind does not use are 0. */
struct hd_value {
	uint32_t kind; /**< an enum hd_kind, never HD_KIND_ANY */
	uint32_t reserved;
	union {
		uint64_t number;
		int64_t signed_number;
		double real;
	};
	/**
	 * Bytes as the target has them: nearly always UTF-8, but any byte is possible; not
	 * NUL-terminated.
	 */
	const char *text;
	size_t size; /**< length of @c text in bytes */
};

/** A column of a table. */
struct hd_column {
	const char *name; /**< as in JSON; "context.limit" is the member "limit" of "context" */
	const char *help; /**< one line, no full stop; may be NULL */
	uint32_t kind;    /**< an enum hd_kind; each value is of that kind or HD_KIND_NULL */
	uint32_t reserved;
};

/** The form of a table in JSON. */
enum hd_shape {
	/** An array of objects: any number of rows. */
	HD_SHAPE_TABLE = 0,
	/** An object with the table's name: one row in each row of its parent. */
	HD_SHAPE_RECORD = 1,
	/** Members of the object that contains it, next to its other members: one row, too. */
	HD_SHAPE_MEMBERS = 2,
	/**
	 * An array of the values of the first column.  Where the first column is HD_KIND_NULL, the
	 * row is an object made of its other columns and the tables in it, or null if all of these
	 * are absent.
	 */
	HD_SHAPE_LIST = 3,
};

/** A table of an answer, or a table inside the rows of another table. */
struct hd_table {
	/**
	 * sizeof(struct hd_table) when the library was built: look at it before you read a member
	 * that came after 0.2.0
	 */
	size_t struct_size;
	/**
	 * The names from the outside to the inside: "roots", "roots.path".  A table of
	 * HD_SHAPE_MEMBERS has the name of the object that contains it ("" at the top), so several
	 * tables may have the same name.
	 */
	const char *name;
	const struct hd_table *parent;   /**< the table whose rows contain this one; NULL at the
					  * top */
	const struct hd_column *columns; /**< in the order of the document */
	uint32_t column_count;           /**< may be 0: the rows only hold other tables */
	uint32_t shape;                  /**< an enum hd_shape */
	uint32_t is_main; /**< non-zero: the table that CSV and NDJSON show; at most one */
	uint32_t index;   /**< in the order in which the tables of this answer began */
};

/**
 * Takes an answer row by row.
 *
 * All callbacks are called on the thread that called hd_query(), and must not use its session.
 * After row() has returned non-zero, or after an error, no callback is called again, so some tables
 * may get no end.
 */
struct hd_visitor {
	size_t struct_size; /**< sizeof(struct hd_visitor) at the caller's build */
	void *arg;
	/**
	 * Take a row.  The tables inside it come before the next row of the same table.
	 *
	 * @param[in] values table->column_count values; they and their texts are borrowed for the
	 * call
	 * @return 0, or non-zero to end the command: hd_query() then returns HD_EXIT_INTERRUPTED
	 */
	int (*row)(void *arg, const struct hd_table *table, const struct hd_value *values);
	/**
	 * A table begins, in the last row of its parent; it may have no rows.  A table inside the
	 * rows of another one begins once in each of these rows, with the same @p table.  NULL: not
	 * called.
	 */
	void (*begin)(void *arg, const struct hd_table *table);
	/** The table that began last and has not ended yet ends.  NULL: not called. */
	void (*end)(void *arg, const struct hd_table *table);
};

/** Index of the column with that name; -1 if there is none, or if a pointer is NULL. */
HD_API int hd_table_column(const struct hd_table *table, const char *name);

/**
 * Run a command and hand its answer to a visitor.
 *
 * @param argc,argv,err As hd_command_run(); --json, --format and --color change nothing here.
 * @param[in] sink For warnings, progress and cancellation; its write may be NULL.
 * @return An enum hd_exit, as hd_command_run(); HD_EXIT_USAGE with HD_ERR_ARGUMENT also for a
 * visitor that is NULL, has no row or is of another version, and for a command that would write a
 * dump to its output ("export -").  What was visited before an error is only a part of the answer.
 *
 * A table, and everything that it points to, lives until hd_query() returns.  Cost: that of the
 * command, plus less than 100 ns a row; memory for one row, however many rows there are.
 */
HD_API int hd_query(struct hd_session *session, int argc, const char *const *argv,
		    const struct hd_visitor *visitor, const struct hd_sink *sink,
		    struct hd_error *err);

/**
 * An answer that is kept.  It does not need its session any longer; several threads may read it at
 * once.
 */
struct hd_rows;

/**
 * Run a command and keep its answer.
 *
 * @param argc,argv,err As hd_command_run(); --json, --format and --color change nothing here.
 * @param[in] sink Its write and warn may be NULL: warnings are kept for hd_rows_warnings().
 * @param[out] ret To be given to hd_rows_free(), also after an error: then it holds what was found
 * before the error.  NULL when memory is exhausted or an argument is refused.
 * @return An enum hd_exit, as hd_query(); HD_EXIT_USAGE with HD_ERR_ARGUMENT when @p ret is NULL;
 * HD_EXIT_INPUT with HD_ERR_NOMEM when the rows need more memory than the setting "max-mem": ask for
 * fewer (-limit, -type), or use hd_query().
 *
 * Cost: 32 bytes a value, 8 a row of a table in rows, and the texts; equal texts up to 256 bytes are often
 * kept once.
 */
HD_API int hd_rows_run(struct hd_session *session, int argc, const char *const *argv,
		       const struct hd_sink *sink, struct hd_rows **ret, struct hd_error *err);

/**
 * Table number @p index, in the order in which the tables began; NULL after the last.  Borrowed
 * from @p rows.
 */
HD_API const struct hd_table *hd_rows_table(const struct hd_rows *rows, size_t index);

/**
 * The first table with that name; @p name NULL: the main table.  Borrowed from @p rows; NULL if the
 * answer has none.  For a single member, hd_rows_member() is easier.
 */
HD_API const struct hd_table *hd_rows_find(const struct hd_rows *rows, const char *name);

/**
 * Number of rows of a table of @p rows, added up over all rows of its parent; 0 for any other
 * table.
 */
HD_API uint64_t hd_rows_count(const struct hd_rows *rows, const struct hd_table *table);

/** The values of a row, borrowed from @p rows; NULL after the last row. */
HD_API const struct hd_value *hd_rows_at(const struct hd_rows *rows, const struct hd_table *table,
					 uint64_t row);

/** Index of the row of table->parent that a row belongs to; 0 at the top and after the last row. */
HD_API uint64_t hd_rows_parent(const struct hd_rows *rows, const struct hd_table *table,
			       uint64_t row);

/**
 * The rows of @p table that belong to row @p parent of table->parent (at the top, all rows belong
 * to row 0).
 *
 * @param[out] first Index of the first such row; may be NULL.
 * @param[out] count How many there are; may be NULL.  Both are 0 when the table is not in that row.
 * @return non-zero when the table is in that row, even if it has no rows.  Cost: logarithmic.
 */
HD_API int hd_rows_in(const struct hd_rows *rows, const struct hd_table *table, uint64_t parent,
		      uint64_t *first, uint64_t *count);

/**
 * A member that the answer has once, such as "truncated", or "total.count" of the record "total".
 * Borrowed from @p rows; NULL if the answer has no such member.
 */
HD_API const struct hd_value *hd_rows_member(const struct hd_rows *rows, const char *name);

/**
 * The warnings, one per line; "" if there are none, or if @p rows is NULL.  Borrowed from @p rows.
 */
HD_API const char *hd_rows_warnings(const struct hd_rows *rows);

/** NULL is allowed. */
HD_API void hd_rows_free(struct hd_rows *rows);

#ifdef __cplusplus
}
#endif
#endif
