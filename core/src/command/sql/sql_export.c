/* SPDX-License-Identifier: MIT */
#include "command/sql/sql_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/heap/heap_call.h"
#include "command/sql/sql_columns.h"
#include "command/sql/sql_database.h"
#include "util/output_file.h"
#include "util/read_at.h"

#define VFS_NAME    "heapdump-export"
#define COPY_SIZE   65536u
#define SECTOR_SIZE 4096
/* KiB of pages that are held. */
#define CACHE_PRAGMA "PRAGMA cache_size = -16384"

/* The database as SQLite sees it: a descriptor whose number is the name. */
struct descriptor_file {
	sqlite3_file base;
	int fd;
	sqlite3_int64 size; /* what was written so far ends there */
};

static int close_descriptor(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int read_descriptor_file(sqlite3_file *file, void *buf, int size, sqlite3_int64 at)
{
	const struct descriptor_file *own = (const struct descriptor_file *)file;
	ssize_t got = read_at(own->fd, buf, (size_t)size, at);
	if (got < 0)
		return SQLITE_IOERR_READ;
	if (got == size)
		return SQLITE_OK;
	/* The file must have what was written, whatever its end says. */
	if (at + got < own->size)
		return SQLITE_IOERR_READ;
	memset((char *)buf + got, 0, (size_t)(size - got));
	return SQLITE_IOERR_SHORT_READ;
}

static int write_descriptor(sqlite3_file *file, const void *buf, int size, sqlite3_int64 at)
{
	struct descriptor_file *own = (struct descriptor_file *)file;
	const char *bytes = buf;
	while (size > 0) {
		ssize_t now = pwrite(own->fd, bytes, (size_t)size, at);
		if (now < 0 && errno == EINTR)
			continue;
		if (now <= 0)
			return now < 0 && errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
		bytes += now;
		at += now;
		size -= (int)now;
	}
	if (at > own->size)
		own->size = at;
	return SQLITE_OK;
}

/* It only grows. */
static int truncate_descriptor(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file;
	(void)size;
	return SQLITE_OK;
}

static int sync_descriptor(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return SQLITE_OK;
}

static int size_of_descriptor(sqlite3_file *file, sqlite3_int64 *ret)
{
	const struct descriptor_file *own = (const struct descriptor_file *)file;
	struct stat info;
	if (fstat(own->fd, &info) != 0)
		return SQLITE_IOERR_FSTAT;
	*ret = info.st_size;
	return SQLITE_OK;
}

static int lock_descriptor(sqlite3_file *file, int level)
{
	(void)file;
	(void)level;
	return SQLITE_OK;
}

static int is_reserved(sqlite3_file *file, int *ret)
{
	(void)file;
	*ret = 0;
	return SQLITE_OK;
}

static int control_descriptor(sqlite3_file *file, int operation, void *arg)
{
	(void)file;
	(void)operation;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
	(void)file;
	return SECTOR_SIZE;
}

static int characteristics(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods descriptor_methods = {
	.iVersion = 1,
	.xClose = close_descriptor,
	.xRead = read_descriptor_file,
	.xWrite = write_descriptor,
	.xTruncate = truncate_descriptor,
	.xSync = sync_descriptor,
	.xFileSize = size_of_descriptor,
	.xLock = lock_descriptor,
	.xUnlock = lock_descriptor,
	.xCheckReservedLock = is_reserved,
	.xFileControl = control_descriptor,
	.xSectorSize = sector_size,
	.xDeviceCharacteristics = characteristics,
};

/* Only the database itself: there is no journal, and sorting stays in memory. */
static int open_descriptor(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
			   int *ret_flags)
{
	(void)vfs;
	struct descriptor_file *own = (struct descriptor_file *)file;
	own->base.pMethods = NULL;
	if (!name || !(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	own->fd = (int)strtol(name, NULL, 10);
	own->size = 0;
	own->base.pMethods = &descriptor_methods;
	if (ret_flags)
		*ret_flags = flags;
	return SQLITE_OK;
}

static int keep_name(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
	(void)vfs;
	(void)snprintf(ret, (size_t)size, "%s", name);
	return SQLITE_OK;
}

static int find_file(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*ret = 0;
	return SQLITE_OK;
}

static int add_export_vfs(void)
{
	static sqlite3_vfs own;
	if (sqlite3_vfs_find(VFS_NAME))
		return SQLITE_OK;
	const sqlite3_vfs *closed = sqlite3_vfs_find(SQL_VFS_NAME);
	if (!closed)
		return SQLITE_ERROR;
	own = *closed;
	own.pNext = NULL;
	own.zName = VFS_NAME;
	own.szOsFile = sizeof(struct descriptor_file);
	own.xOpen = open_descriptor;
	own.xFullPathname = keep_name;
	own.xAccess = find_file;
	return sqlite3_vfs_register(&own, 0);
}

static int execute(struct sql_database *database, struct text *text)
{
	int result = text->failed ? SQLITE_NOMEM
				  : sqlite3_exec(database->handle, text->bytes, NULL, NULL, NULL);
	text_deinit(text);
	return result;
}

/* All objects have a type: fields is narrowed by any. */
static const char *condition_of(const struct sql_table *table)
{
	return table->needs ? " WHERE type LIKE '%'" : "";
}

static void put_column_list(struct text *text, const struct sql_table *table, bool with_types)
{
	struct sql_column columns[SQL_COLUMNS_MAX];
	size_t count = sql_columns(table, columns);
	for (size_t i = 0; i < count; i++) {
		text_printf(text, "%s\"%s\"%s%s", i ? ", " : "", columns[i].name,
			    with_types ? " " : "",
			    with_types ? sql_declared_type(columns[i].column) : "");
	}
}

/* The table of the file has the name of the one that it is filled from, whose module is called otherwise. */
static int copy_table(struct sql_database *database, const struct sql_table *table)
{
	char source[64];
	struct text text = { 0 };
	(void)snprintf(source, sizeof(source), "heap_%s", table->name);
	int result = sql_module_add(database, table, source);
	if (result != SQLITE_OK)
		return result;
	text_printf(&text, "CREATE TABLE \"%s\"(", table->name);
	put_column_list(&text, table, true);
	text_printf(&text, "); INSERT INTO \"%s\" SELECT ", table->name);
	put_column_list(&text, table, false);
	text_printf(&text, " FROM \"%s\"%s;", source, condition_of(table));
	return execute(database, &text);
}

static int copy_tables(struct sql_database *database)
{
	static const char indexes[] = "CREATE INDEX objects_address ON objects(address);"
				      "CREATE INDEX objects_mt ON objects(mt);"
				      "CREATE INDEX refs_from ON refs(\"from\");"
				      "CREATE INDEX refs_to ON refs(\"to\");";
	const struct sql_table *table;
	for (size_t i = 0; (table = sql_table_at(i)); i++) {
		bool is_wanted = !table->is_of_heaps || database->source.heap;
		if (!is_wanted || table == &sql_arrays_table)
			continue;
		int result = copy_table(database, table);
		if (result != SQLITE_OK)
			return result;
	}
	return sqlite3_exec(database->handle, indexes, NULL, NULL, NULL);
}

static int fill(struct sql_database *database, int fd)
{
	char name[16];
	(void)snprintf(name, sizeof(name), "%d", fd);
	int result = add_export_vfs();
	if (result == SQLITE_OK)
		result = sql_database_connect(database, name, VFS_NAME);
	if (result == SQLITE_OK) {
		result = sqlite3_exec(database->handle,
				      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; "
				      "PRAGMA locking_mode = EXCLUSIVE; " CACHE_PRAGMA "; BEGIN",
				      NULL, NULL, NULL);
	}
	if (result == SQLITE_OK)
		result = copy_tables(database);
	if (result == SQLITE_OK)
		result = sqlite3_exec(database->handle, "COMMIT", NULL, NULL, NULL);
	return result;
}

static enum hd_status fail_export(struct sql_database *database, int result)
{
	struct call *call = database->source.call;
	int code = result & 0xff;
	if (database->source.status == HD_OK && (code == SQLITE_IOERR || code == SQLITE_FULL)) {
		return fail(call->err, HD_ERR_OS, 0,
			    "cannot write the temporary file of the database ($TMPDIR): %s",
			    sqlite3_errstr(result));
	}
	return sql_database_fail(database, result);
}

static enum hd_status fail_read(struct call *call, const char *why)
{
	return fail(call->err, HD_ERR_OS, 0, "cannot read the temporary file of the database: %s",
		    why);
}

static enum hd_status hand_out(struct call *call, int fd, format_write_fn write, void *arg)
{
	char buf[COPY_SIZE];
	struct stat info;
	if (fstat(fd, &info) != 0)
		return fail_read(call, strerrordesc_np(errno));
	for (off_t at = 0; at < info.st_size;) {
		ssize_t got = read_at(fd, buf, sizeof(buf), at);
		if (got <= 0)
			return fail_read(call, got ? strerrordesc_np(errno) : "it ends early");
		if (!write(arg, buf, (size_t)got) || !job_step(&call->job, 0, 1))
			return fail_cancelled(call->err);
		at += got;
	}
	return HD_OK;
}

enum hd_status sql_export(struct call *call, format_write_fn write, void *arg)
{
	struct output_file file;
	struct sql_database database;
	struct gaps gaps = { 0 };
	TRY(output_file_open_unnamed(&file, call->err));
	enum hd_status status = sql_database_begin(&database, call);
	database.source.gaps = &gaps;
	if (status == HD_OK) {
		int result = fill(&database, file.fd);
		if (result != SQLITE_OK)
			status = fail_export(&database, result);
	}
	sql_database_close(&database);
	if (status == HD_OK && call->heap)
		gaps_report(call, &gaps);
	if (status == HD_OK)
		status = hand_out(call, file.fd, write, arg);
	output_file_abandon(&file);
	return status;
}
