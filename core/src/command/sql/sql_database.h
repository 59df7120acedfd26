/* SPDX-License-Identifier: MIT */
/* A SQLite connection that sees the tables of what is open, and nothing else. */
#pragma once

#include <sqlite3.h>

#include "command/sql/sql_table.h"
#include "command/sql/sql_text.h"

/** The authorizer's record of a query, made while it was compiled. */
struct sql_asked {
	unsigned int selects; /**< SELECTs, those inside of others among them */
	bool reads_objects;
	bool has_others; /**< other tables, or functions that are not in sql_weight.c */
};

/** One connection. */
struct sql_database {
	sqlite3 *handle;
	struct sql_source source;
	struct sql_text_user text;
	int64_t old_heap_limit;
	uint64_t steps;  /**< times that SQLite asked whether to go on */
	uint64_t looked; /**< when the job was asked that, in milliseconds */
	struct sql_asked asked;
	bool is_declaring; /**< the statement that is compiled declares one of its tables */
};

/**
 * Open one, in memory: it reads no file, writes none, and can only SELECT.  What it may take is the
 * memory limit of the call's job, which is that of all of SQLite in this process until it is closed.
 *
 * @param[out] ret To be given to sql_database_close(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status sql_database_open(struct sql_database *ret, struct call *call);
void sql_database_close(struct sql_database *database);

/** The VFS that opens no files, once a database was opened or begun. */
#define SQL_VFS_NAME "heapdump"

/** The first part of opening one, without a connection; on failure it is to be closed, too. */
HD_NODISCARD enum hd_status sql_database_begin(struct sql_database *ret, struct call *call);
/** The second part: connect to @p name by a VFS, with limits, progress and Ctrl-C. */
int sql_database_connect(struct sql_database *database, const char *name, const char *vfs);

/**
 * Turn the @p result of a call of SQLite into a status: the failure of a cursor, or SQLite's own
 * message with what can be done.
 *
 * @retval HD_ERR_ARGUMENT the query is wrong
 * @retval HD_ERR_NOMEM, HD_ERR_CANCELLED and what cursors fail with
 */
enum hd_status sql_database_fail(struct sql_database *database, int result);

/** The query calls a function, for sql_weight_allows(): sql_weight.c. */
void sql_weight_function(struct sql_asked *asked, const char *name);
/** May a row of objects stand for many in a query that was compiled?  It may if it groups them, too. */
bool sql_weight_allows(const struct sql_asked *asked, const char *query);
/** From now on rows may, and aggregates count source.weight; the query is to be compiled again. */
int sql_weight_use(struct sql_database *database);

/** Register a table under a name: sql_module.c. */
int sql_module_add(struct sql_database *database, const struct sql_table *table, const char *name);
