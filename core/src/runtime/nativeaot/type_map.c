/* SPDX-License-Identifier: MIT */
/* Which type a MethodTable is (doc/nativeaot.md 4.2; ILCompiler's TypeMetadataMapNode.cs, ExternalReferencesTableNode.cs). */
#include "runtime/nativeaot/type_map.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/sort.h"

/* The tables since .NET 10 keep the kind of a record in fewer bits. */
#define MAJOR_OF_10  16u
#define KIND_BITS_8  8u
#define KIND_BITS_10 7u

enum hd_status native_table_read(struct memory *memory, const struct ready_to_run *image,
				 enum ready_to_run_id id, struct native_blob *ret,
				 struct hd_error *err)
{
	uint64_t begin = 0, size = 0;
	(void)ready_to_run_section(image, id, &begin, &size);
	return native_blob_read(memory, begin, size, ret, err);
}

void type_map_deinit(struct type_map *map)
{
	native_blob_deinit(&map->metadata.blob);
	native_blob_deinit(&map->fixups);
	pages_free(map->rows, map->rows_capacity, sizeof(*map->rows));
	*map = (struct type_map){ 0 };
}

ORDER_BY2(by_method_table, struct type_map_row, method_table, type.offset)

uint64_t type_map_address(const struct type_map *map, uint32_t index)
{
	struct native_cursor cursor =
		native_cursor_at(&map->fixups, (uint64_t)index * sizeof(uint32_t));
	uint64_t address = native_relative(&cursor);
	return cursor.is_bad ? 0 : address;
}

/* Entries of 301: {index in 308, token}. */
static enum hd_status read_rows(const struct native_blob *table, struct type_map *map,
				struct hd_error *err)
{
	struct native_hash hash;
	struct native_cursor entry;
	if (!native_hash_begin(table, &hash)) {
		map->is_cut = true;
		return HD_OK;
	}
	while (native_hash_next(&hash, &entry)) {
		uint64_t method_table = type_map_address(map, native_unsigned(&entry));
		struct native_handle type =
			native_token_of(&map->metadata, native_unsigned(&entry));
		if (entry.is_bad || !method_table ||
		    (type.kind != NATIVE_TYPE && type.kind != NATIVE_TYPE_REFERENCE)) {
			map->is_cut = true;
			continue;
		}
		if (!PAGES_RESERVE(map, rows))
			return fail_nomem(err);
		map->rows[map->rows_count++] = (struct type_map_row){ method_table, type };
	}
	if (map->rows_count)
		qsort(map->rows, map->rows_count, sizeof(*map->rows), by_method_table);
	return HD_OK;
}

enum hd_status type_map_read(struct memory *memory, const struct ready_to_run *image,
			     struct type_map *ret, struct hd_error *err)
{
	HD_CLEANUP(type_map) struct type_map map = { .is_cut = false };
	HD_CLEANUP(native_blob) struct native_blob table = { .size = 0 };
	map.metadata.kind_bits = image->major < MAJOR_OF_10 ? KIND_BITS_8 : KIND_BITS_10;
	TRY(native_table_read(memory, image, READY_TO_RUN_METADATA, &map.metadata.blob, err));
	TRY(native_table_read(memory, image, READY_TO_RUN_FIXUPS, &map.fixups, err));
	TRY(native_table_read(memory, image, READY_TO_RUN_TYPE_MAP, &table, err));
	map.is_cut = map.metadata.blob.is_cut || map.fixups.is_cut || table.is_cut;
	if (map.metadata.blob.size && !native_metadata_is_sound(&map.metadata)) {
		native_blob_deinit(&map.metadata.blob);
		map.is_cut = true;
	}
	if (table.size && map.metadata.blob.size)
		TRY(read_rows(&table, &map, err));
	*ret = map;
	map = (struct type_map){ 0 };
	return HD_OK;
}

struct native_handle type_map_type(const struct type_map *map, uint64_t method_table)
{
	struct native_handle none = { 0, 0 };
	size_t at = ROWS_FROM(map->rows, map->rows_count, method_table, method_table);
	return at < map->rows_count && map->rows[at].method_table == method_table
		       ? map->rows[at].type
		       : none;
}

/* Does @p name go on with that string?  Then move it. */
static bool take(const char **name, struct native_string string)
{
	if (strnlen(*name, string.size) < string.size ||
	    memcmp(*name, string.bytes, string.size) != 0)
		return false;
	*name += string.size;
	return true;
}

static bool has_name(const struct native_metadata *metadata, struct native_handle type,
		     const char *name)
{
	struct native_chain chain;
	if (!native_chain_read(metadata, type, &chain) || chain.types_count != 1)
		return false;
	for (size_t i = 0; i < chain.namespaces_count; i++) {
		if (!take(&name, chain.namespaces[i]) || *name++ != '.')
			return false;
	}
	return take(&name, chain.types[0]) && !*name;
}

uint64_t type_map_find(const struct type_map *map, const char *name)
{
	for (size_t i = 0; i < map->rows_count; i++) {
		if (has_name(&map->metadata, map->rows[i].type, name))
			return map->rows[i].method_table;
	}
	return 0;
}
