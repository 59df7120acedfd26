/* SPDX-License-Identifier: MIT */
#include "command/sql/sql_database.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "answer/rows.h"
#include "gc/heap.h"
#include "util/alloc.h"
#include "util/fuzzed.h"
#include "util/job.h"

/*
 * Instructions of SQLite's machine between two looks at the time, and the milliseconds between two looks for Ctrl-C.  An
 * instruction may call a function on a text of TEXT_MAX bytes.
 */
#define PROGRESS_STEPS 100
#define LOOK_MS        20
#define TEXT_MAX       (64 << 20)
#define QUERY_MAX      (1 << 20)

/* In the order of strcasecmp(), as all such lists here. */
static const char *const harmless_pragmas[] = {
	"collation_list", "compile_options", "function_list", "module_list",
	"pragma_list",    "table_info",      "table_list",    "table_xinfo",
};

/* No file is opened by any name: not for journals, not for sorting. */
static int refuse_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		       int *ret_flags)
{
	(void)vfs;
	(void)name;
	(void)flags;
	if (ret_flags)
		*ret_flags = 0;
	file->pMethods = NULL;
	return SQLITE_CANTOPEN;
}

static int refuse_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*ret = 0;
	return SQLITE_OK;
}

static int refuse_name(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
	(void)vfs;
	(void)name;
	if (size > 0)
		ret[0] = '\0';
	return SQLITE_CANTOPEN;
}

static int refuse_delete(sqlite3_vfs *vfs, const char *name, int is_synced)
{
	(void)vfs;
	(void)name;
	(void)is_synced;
	return SQLITE_IOERR_DELETE;
}

/* SQLite's own reads /dev/urandom. */
static int make_random(sqlite3_vfs *vfs, int size, char *ret)
{
	(void)vfs;
	ssize_t got = getrandom(ret, (size_t)size, GRND_NONBLOCK);
	return got > 0 ? (int)got : 0;
}

/* The system's, without its files. */
static int add_vfs(void)
{
	static sqlite3_vfs own;
	if (sqlite3_vfs_find(SQL_VFS_NAME))
		return SQLITE_OK;
	const sqlite3_vfs *system = sqlite3_vfs_find(NULL);
	if (!system)
		return SQLITE_ERROR;
	own = *system;
	own.pNext = NULL;
	own.zName = SQL_VFS_NAME;
	own.xOpen = refuse_file;
	own.xAccess = refuse_access;
	own.xFullPathname = refuse_name;
	own.xDelete = refuse_delete;
	own.xRandomness = make_random;
	own.xDlOpen = NULL;
	own.xDlSym = NULL;
	own.xDlClose = NULL;
	own.xDlError = NULL;
	return sqlite3_vfs_register(&own, 0);
}

static int compare_name(const void *name, const void *known)
{
	return strcasecmp(name, *(const char *const *)known);
}

/*
 * The functions of SQLite's own that a query may call: those that compute from their arguments alone.  Others print or take
 * addresses (fts3_tokenizer), load code, or do not belong here.
 */
static const char *const harmless_functions[] = {
	"->",
	"->>",
	"abs",
	"acos",
	"acosh",
	"asin",
	"asinh",
	"atan",
	"atan2",
	"atanh",
	"avg",
	"ceil",
	"ceiling",
	"changes",
	"char",
	"coalesce",
	"concat",
	"concat_ws",
	"cos",
	"cosh",
	"count",
	"cume_dist",
	"current_date",
	"current_time",
	"current_timestamp",
	"date",
	"datetime",
	"degrees",
	"dense_rank",
	"exp",
	"first_value",
	"floor",
	"format",
	"glob",
	"group_concat",
	"hex",
	"if",
	"ifnull",
	"iif",
	"instr",
	"json",
	"json_array",
	"json_array_length",
	"json_each",
	"json_error_position",
	"json_extract",
	"json_group_array",
	"json_group_object",
	"json_insert",
	"json_object",
	"json_patch",
	"json_quote",
	"json_remove",
	"json_replace",
	"json_set",
	"json_tree",
	"json_type",
	"json_valid",
	"julianday",
	"lag",
	"last_value",
	"lead",
	"length",
	"like",
	"likelihood",
	"likely",
	"ln",
	"log",
	"log10",
	"log2",
	"lower",
	"ltrim",
	"max",
	"min",
	"mod",
	"nth_value",
	"ntile",
	"nullif",
	"octet_length",
	"percent_rank",
	"pi",
	"pow",
	"power",
	"printf",
	"quote",
	"radians",
	"random",
	"randomblob",
	"rank",
	"replace",
	"round",
	"row_number",
	"rtrim",
	"sign",
	"sin",
	"sinh",
	"soundex",
	"sqlite_version",
	"sqrt",
	"strftime",
	"string_agg",
	"substr",
	"substring",
	"sum",
	"tan",
	"tanh",
	"time",
	"timediff",
	"total",
	"trim",
	"trunc",
	"typeof",
	"unhex",
	"unicode",
	"unixepoch",
	"unlikely",
	"upper",
	"zeroblob",
};

#define IS_IN(name, list) \
	((name) &&        \
	 bsearch(name, list, sizeof(list) / sizeof((list)[0]), sizeof((list)[0]), compare_name))

/* Asked while a statement is compiled: it can read the tables, and nothing else. */
static int authorize(void *arg, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	struct sql_database *connection = arg;
	(void)database;
	(void)trigger;
	if (connection->is_declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
		connection->asked.selects++;
		return SQLITE_OK;
	case SQLITE_READ:
		connection->asked.reads_objects |= strcmp(first, "objects") == 0;
		connection->asked.has_others |= strcmp(first, "objects") != 0;
		return SQLITE_OK;
	case SQLITE_RECURSIVE:
		connection->asked.has_others = true;
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		sql_weight_function(&connection->asked, second ? second : "");
		return IS_IN(second, harmless_functions) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_PRAGMA:
		return IS_IN(first, harmless_pragmas) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* A fuzzed query that never ends is ended. */
static int report_progress(void *arg)
{
	struct sql_database *database = arg;
	if (++database->steps > FUZZED(UINT64_MAX, 20000))
		return 1;
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	uint64_t now = (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
	if (now - database->looked < LOOK_MS)
		return 0;
	database->looked = now;
	return !job_step(&database->source.call->job, 0, 0);
}

static int set_sql_limits(sqlite3 *handle)
{
	(void)sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
	(void)sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	(void)sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, QUERY_MAX);
	(void)sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 2000);
	(void)sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 200);
	(void)sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	return sqlite3_exec(handle, "PRAGMA temp_store = 2", NULL, NULL, NULL);
}

/*
 * Keep only SQLite's tables that take apart a text: they are connected before the authorizer
 * refuses that.
 */
static int keep_harmless_tables(sqlite3 *handle)
{
	static const char *kept[] = { "json_each", "json_tree", NULL };
	int result = sqlite3_drop_modules(handle, kept);
	return result != SQLITE_OK
		       ? result
		       : sqlite3_exec(handle, "SELECT 1 FROM json_each('[]'), json_tree('[]')",
				      NULL, NULL, NULL);
}

static int add_tables(struct sql_database *database)
{
	const struct sql_table *table;
	for (size_t i = 0; (table = sql_table_at(i)); i++) {
		int result = sql_module_add(database, table, table->name);
		if (result != SQLITE_OK)
			return result;
	}
	return SQLITE_OK;
}

int sql_database_connect(struct sql_database *database, const char *name, const char *vfs)
{
	int result = sqlite3_open_v2(name, &database->handle,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
	if (result == SQLITE_OK)
		result = set_sql_limits(database->handle);
	if (result == SQLITE_OK) {
		sqlite3_progress_handler(database->handle, PROGRESS_STEPS, report_progress,
					 database);
	}
	return result;
}

enum hd_status sql_database_begin(struct sql_database *ret, struct call *call)
{
	*ret = (struct sql_database){
		.source = { .call = call, .heap = call->heap, .weight = 1 },
	};
	uint64_t limit = call->job.max_mem;
	ret->old_heap_limit =
		sqlite3_hard_heap_limit64(limit && limit < INT64_MAX ? (int64_t)limit : 0);
	/* An array of pointers.  NOLINTNEXTLINE(bugprone-sizeof-expression) */
	ret->source.kept = mem_calloc(sql_kept_count(), sizeof(*ret->source.kept));
	TRY_MEMORY(ret->source.kept, call->err);
	int result = add_vfs();
	return result == SQLITE_OK ? HD_OK : sql_database_fail(ret, result);
}

enum hd_status sql_database_open(struct sql_database *ret, struct call *call)
{
	TRY(sql_database_begin(ret, call));
	int result = sql_database_connect(ret, ":memory:", SQL_VFS_NAME);
	if (result == SQLITE_OK)
		result = keep_harmless_tables(ret->handle);
	if (result == SQLITE_OK) {
		ret->text = (struct sql_text_user){ report_progress, ret, TEXT_MAX };
		result = sql_text_add(ret->handle, &ret->text);
	}
	if (result == SQLITE_OK)
		result = add_tables(ret);
	if (result == SQLITE_OK)
		result = sqlite3_set_authorizer(ret->handle, authorize, ret);
	return result == SQLITE_OK ? HD_OK : sql_database_fail(ret, result);
}

void sql_database_close(struct sql_database *database)
{
	(void)sqlite3_close(database->handle);
	for (size_t i = 0; database->source.kept && i < sql_kept_count(); i++)
		hd_rows_free(database->source.kept[i]);
	mem_free(database->source.kept);
	(void)sqlite3_hard_heap_limit64(database->old_heap_limit);
}

static void put_table_names(struct text *text)
{
	const struct sql_table *table;
	for (size_t i = 0; (table = sql_table_at(i)); i++)
		text_printf(text, "%s%s", i ? ", " : "", table->name);
}

/* The table that a query without a plan has not narrowed. */
static const struct sql_table *narrow_table(const char *query)
{
	const struct sql_table *table;
	for (size_t i = 0; (table = sql_table_at(i)); i++) {
		if (table->needs && query && strcasestr(query, table->name))
			return table;
	}
	return NULL;
}

static enum hd_status explain(struct sql_database *database, const char *message)
{
	struct call *call = database->source.call;
	HD_CLEANUP(text) struct text names = { 0 };
	enum hd_status status;
	const struct sql_table *table = NULL;
	if (strcmp(message, "no query solution") == 0)
		table = narrow_table(call->words[0].text);
	if (table) {
		status =
			fail(call->err, HD_ERR_ARGUMENT, 0,
			     "the table %s is read for chosen objects only: say which, with one of "
			     "%s in WHERE",
			     table->name, table->needs);
	} else if (strncmp(message, "no such table", 13) == 0) {
		put_table_names(&names);
		status = fail(call->err, HD_ERR_ARGUMENT, 0, "%s; there are %s", message,
			      names.bytes ? names.bytes : "");
	} else if (strcmp(message, "not authorized") == 0) {
		status = fail(call->err, HD_ERR_ARGUMENT, 0,
			      "only SELECT is possible here: the tables can be read, and nothing "
			      "else");
	} else {
		status = fail(call->err, HD_ERR_ARGUMENT, 0,
			      "%s; help sql lists the tables and "
			      "their columns",
			      message);
	}
	return status;
}

enum hd_status sql_database_fail(struct sql_database *database, int result)
{
	struct call *call = database->source.call;
	if (database->source.status != HD_OK)
		return database->source.status;
	if (result == SQLITE_INTERRUPT)
		return fail_cancelled(call->err);
	if (result == SQLITE_NOMEM) {
		return fail(call->err, HD_ERR_NOMEM, 0,
			    "the query needs more memory than there is, or than max-mem allows: "
			    "narrow it with WHERE, or sort and group less");
	}
	return explain(database, database->handle ? sqlite3_errmsg(database->handle)
						  : sqlite3_errstr(result));
}
