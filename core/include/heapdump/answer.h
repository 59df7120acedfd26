/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_ANSWER_H
#define HEAPDUMP_ANSWER_H

#include <heapdump/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The answers of commands as data: tables with named, typed columns in place of text or JSON.
 *
 * hd_query() hands each row to a visitor while the command finds it; hd_rows_run() keeps them all.  The
 * tables, columns and values are those of the JSON that the same command writes with --json, under the
 * same names.
 *
 *	struct hd_rows *rows = NULL;
 *	const char *const argv[] = { "dumpheap", "-stat" };
 *	struct hd_sink sink = { .struct_size = sizeof(sink) };
 *	int status = hd_rows_run(session, 2, argv, &sink, &rows, &err);
 *	const struct hd_table *types = hd_rows_find(rows, "types");
 *	int name = hd_table_column(types, "name");
 *	for (uint64_t i = 0; name >= 0 && i < hd_rows_count(rows, types); i++) {
 *		const struct hd_value *values = hd_rows_at(rows, types, i);
 *		printf("%.*s\n", (int)values[name].size, values[name].text);
 *	}
 *	hd_rows_free(rows);
 *
 * Pointers: see session.h.
 */

/** What a column, or a value, holds. */
enum hd_kind {
	HD_KIND_NULL = 0,   /**< of a value: there is none, or it is not known */
	HD_KIND_FLAG = 1,   /**< hd_value.number: 0 or 1 */
	HD_KIND_NUMBER = 2, /**< hd_value.number: a count, an index, an id */
	HD_KIND_SIGNED = 3, /**< hd_value.signed_number */
	HD_KIND_BYTES = 4,  /**< hd_value.number: a number of bytes */
	HD_KIND_ADDRESS =
		5,        /**< hd_value.number: an address, or an id of an object in a dump file */
	HD_KIND_REAL = 6, /**< hd_value.real */
	HD_KIND_PERCENT = 7, /**< hd_value.real: a part of a hundred, rounded to tenths */
	HD_KIND_TEXT = 8,    /**< hd_value.text */
	HD_KIND_TYPE = 9,    /**< hd_value.text: the name of a type */
	HD_KIND_SET = 10,    /**< hd_value.text: names with one blank between them; may be empty */
	HD_KIND_ANY = 11,    /**< of a column: each value says what it is */
};

/** A value of a row.  What its kind does not name is 0. */
struct hd_value {
	uint32_t kind; /**< an enum hd_kind, never HD_KIND_ANY */
	uint32_t reserved;
	union {
		uint64_t number;
		int64_t signed_number;
		double real;
	};
	/** Bytes as the target has them: nearly always UTF-8, any byte is possible; no NUL ends them. */
	const char *text;
	size_t size; /**< bytes of @c text */
};

/** A column of a table. */
struct hd_column {
	const char *name; /**< as in JSON; "context.limit" is the member "limit" of "context" */
	const char *help; /**< one line, no full stop; may be NULL */
	uint32_t kind;    /**< an enum hd_kind; each value is of that kind or HD_KIND_NULL */
	uint32_t reserved;
};

/** What a table is in JSON. */
enum hd_shape {
	HD_SHAPE_TABLE = 0,   /**< an array of objects: any number of rows */
	HD_SHAPE_RECORD = 1,  /**< an object of that name: one row */
	HD_SHAPE_MEMBERS = 2, /**< members of what is around it, next to others: one row */
	HD_SHAPE_LIST = 3,    /**< an array of values: one column */
};

/** A table of an answer, or a table in the rows of another one. */
struct hd_table {
	size_t struct_size; /**< sizeof(struct hd_table) when the library was built */
	/** From the outside to the inside: "roots", "roots.path"; HD_SHAPE_MEMBERS has the name of what is
	 * around it, "" at the top. */
	const char *name;
	const struct hd_table *parent; /**< whose rows it belongs to; NULL at the top */
	const struct hd_column *columns;
	uint32_t column_count;
	uint32_t shape;   /**< an enum hd_shape */
	uint32_t is_main; /**< non-zero: the table that CSV and NDJSON show; at most one */
	uint32_t index;   /**< in the order in which the tables of this answer began */
};

/** Takes an answer row by row.  All callbacks come on the thread that called hd_query(). */
struct hd_visitor {
	size_t struct_size; /**< sizeof(struct hd_visitor) at the caller's build */
	void *arg;
	/**
	 * Take a row.  The rows of tables in it come before the next row of the same table.
	 *
	 * @param[in] values table->column_count of them; they and their texts are borrowed for the call
	 * @return 0, or non-zero to end the command: hd_query() then returns HD_EXIT_INTERRUPTED
	 */
	int (*row)(void *arg, const struct hd_table *table, const struct hd_value *values);
	/** A table begins, maybe without any row.  NULL: nobody is told. */
	void (*begin)(void *arg, const struct hd_table *table);
	/** The table that began last and has not ended ends; only those of HD_SHAPE_TABLE.  May be NULL. */
	void (*end)(void *arg, const struct hd_table *table);
};

/** Index of the column of that name; -1: there is none, or @p table is NULL. */
HD_API int hd_table_column(const struct hd_table *table, const char *name);

/**
 * Run a command and hand its answer to a visitor.
 *
 * @param argc,argv,err As hd_command_run(); --json and --format change nothing here.
 * @param[in] sink For warnings, progress and cancellation; it may lack write.
 * @return An enum hd_exit, as hd_command_run(); HD_EXIT_USAGE also for a visitor that is NULL, lacks row
 * or is of another struct_size.  What was visited before an error is a part of the answer.
 * The tables live until hd_query() returns.  Cost: that of the command, and below 100 ns a row.
 */
HD_API int hd_query(struct hd_session *session, int argc, const char *const *argv,
		    const struct hd_visitor *visitor, const struct hd_sink *sink,
		    struct hd_error *err);

/** An answer that is kept. */
struct hd_rows;

/**
 * Run a command and keep its answer.
 *
 * @param argc,argv,err As hd_command_run(); --json and --format change nothing here.
 * @param[in] sink May lack write and warn: warnings are kept for hd_rows_warnings().
 * @param[out] ret To be given to hd_rows_free(), also after an error, where it holds what was found
 * before; NULL when memory is exhausted or an argument is refused.
 * @return An enum hd_exit, as hd_command_run(); HD_EXIT_INPUT with HD_ERR_NOMEM when the rows need more
 * memory than the setting "max-mem": ask for fewer (-limit, -type), or use hd_query().
 * Cost: 32 bytes a value; equal texts are often kept once.
 */
HD_API int hd_rows_run(struct hd_session *session, int argc, const char *const *argv,
		       const struct hd_sink *sink, struct hd_rows **ret, struct hd_error *err);

/** Table @p index, in the order in which they began; NULL past the last. */
HD_API const struct hd_table *hd_rows_table(const struct hd_rows *rows, size_t index);

/** The first table of that name; @p name NULL: the main one.  NULL: the answer has none. */
HD_API const struct hd_table *hd_rows_find(const struct hd_rows *rows, const char *name);

/** Number of rows of a table of @p rows. */
HD_API uint64_t hd_rows_count(const struct hd_rows *rows, const struct hd_table *table);

/** The values of a row, borrowed from @p rows; NULL past the last. */
HD_API const struct hd_value *hd_rows_at(const struct hd_rows *rows, const struct hd_table *table,
					 uint64_t row);

/** Which row of table->parent a row belongs to; 0 at the top and past the last row. */
HD_API uint64_t hd_rows_parent(const struct hd_rows *rows, const struct hd_table *table,
			       uint64_t row);

/** Warnings, one per line, or "", also of NULL.  Borrowed from @p rows. */
HD_API const char *hd_rows_warnings(const struct hd_rows *rows);

/** NULL is allowed. */
HD_API void hd_rows_free(struct hd_rows *rows);

#ifdef __cplusplus
}
#endif
#endif
