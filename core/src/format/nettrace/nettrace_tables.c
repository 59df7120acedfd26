/* SPDX-License-Identifier: MIT */
/* Keeps the meaning of a stream's ids: metadata and threads. */
#include "format/nettrace/nettrace_tables.h"

#include <string.h>

#include "util/alloc.h"

/*
 * The row of an id in a table with @p count rows and room for one more.  A new row is zero, which
 * belongs to no era. false: memory is exhausted.
 */
static bool find_id_row(struct nt_ids *ids, uint64_t id, size_t *count)
{
	uint32_t fresh = (uint32_t)*count;
	uint32_t index = type_table_add(&ids->table, 0, id, fresh);
	if (index == UINT32_MAX)
		return false;
	*count += index == fresh;
	ids->last = id;
	ids->last_row = (size_t)index + 1;
	return true;
}

/* Was the row of an id looked up last time? */
static bool is_last_id(const struct nt_ids *ids, uint64_t id)
{
	return ids->last_row && ids->last == id;
}

/* The row of a metadata id; NULL: memory is exhausted. */
static struct nt_metadata *metadata_row(struct nt_metadata_table *metadata, uint64_t id)
{
	struct nt_ids *ids = &metadata->ids;
	if (!is_last_id(ids, id) &&
	    (!PAGES_RESERVE(metadata, rows) || !find_id_row(ids, id, &metadata->rows_count)))
		return NULL;
	return &metadata->rows[ids->last_row - 1];
}

enum hd_status nt_define(struct nt_metadata_table *metadata, uint64_t id,
			 const struct nt_metadata *definition, struct hd_error *err)
{
	struct nt_metadata *row = metadata_row(metadata, id);
	TRY_MEMORY(row, err);
	*row = *definition;
	row->era = metadata->era;
	return HD_OK;
}

/* An id that is not defined gets a row that belongs to no era. */
enum hd_status nt_metadata_find(struct nt_metadata_table *metadata, uint64_t id,
				struct nt_metadata **ret, struct hd_error *err)
{
	struct nt_metadata *row = metadata_row(metadata, id);
	TRY_MEMORY(row, err);
	*ret = row->era == metadata->era ? row : NULL;
	return HD_OK;
}

void nt_metadata_table_deinit(struct nt_metadata_table *metadata)
{
	pages_free(metadata->rows, metadata->rows_capacity, sizeof(*metadata->rows));
	type_table_deinit(&metadata->ids.table);
}

struct nt_thread *nt_thread(struct nt_thread_table *threads, uint64_t id, uint32_t pid)
{
	struct nt_ids *ids = &threads->ids;
	if (!is_last_id(ids, id) &&
	    (!PAGES_RESERVE(threads, rows) || !find_id_row(ids, id, &threads->rows_count)))
		return NULL;
	struct nt_thread *thread = &threads->rows[ids->last_row - 1];
	if (thread->era != threads->era)
		*thread = (struct nt_thread){ .id = id, .pid = pid, .era = threads->era };
	return thread;
}

void nt_thread_table_deinit(struct nt_thread_table *threads)
{
	pages_free(threads->rows, threads->rows_capacity, sizeof(*threads->rows));
	type_table_deinit(&threads->ids.table);
}

/* Providers whose events are used. */
static const struct {
	const char *name;
	enum nt_provider provider;
} providers[] = { { "Microsoft-Windows-DotNETRuntime", NT_RUNTIME },
		  { "Microsoft-Windows-DotNETRuntimeRundown", NT_RUNDOWN },
		  { "Microsoft-DotNETCore-EventPipe", NT_EVENT_PIPE } };

#define PROVIDERS (sizeof(providers) / sizeof(providers[0]))

enum nt_provider nt_provider_utf8(const char *name, size_t size)
{
	for (size_t i = 0; i < PROVIDERS; i++) {
		if (strlen(providers[i].name) == size && memcmp(providers[i].name, name, size) == 0)
			return providers[i].provider;
	}
	return NT_OTHER;
}

const char *nt_provider_name(enum nt_provider provider)
{
	for (size_t i = 0; i < PROVIDERS; i++) {
		if (providers[i].provider == provider)
			return providers[i].name;
	}
	return "";
}

enum nt_provider nt_provider_utf16(const struct nt_utf16 *name)
{
	char ascii[64];
	if (name->units > sizeof(ascii))
		return NT_OTHER;
	for (uint32_t i = 0; i < name->units; i++) {
		uint16_t unit = nt_unit(name, i);
		if (unit >= 0x80)
			return NT_OTHER;
		ascii[i] = (char)unit;
	}
	return nt_provider_utf8(ascii, name->units);
}
