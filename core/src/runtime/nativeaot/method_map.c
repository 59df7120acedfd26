/* SPDX-License-Identifier: MIT */
/*
 * Names of methods, by the addresses of their code (doc/nativeaot.md 4.5; ILCompiler's
 * StackTraceMethodMappingNode.cs, ReflectionInvokeMapNode.cs, and their readers StackTraceMetadata.cs,
 * ExecutionEnvironmentImplementation.MappingTables.cs).
 */
#include "runtime/nativeaot/method_map.h"

#include <stdlib.h>

#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/type_name.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/text.h"

/* Since .NET 10 each entry of the invoke map has a Method record. */
#define MAJOR_OF_10 16u

/* The first byte of a row of 327: what is new in it (StackTraceDataCommand). */
#define NEW_OWNER             0x01u
#define NEW_NAME              0x02u
#define NEW_SIGNATURE         0x04u
#define NEW_GENERIC_SIGNATURE 0x08u

/* Flags of an entry of 306 (InvokeTableFlags). */
#define INVOKE_HAS_METADATA 0x04u
#define INVOKE_HAS_CODE     0x20u

/* Most parameters, and type arguments, that a name has. */
#define LIST_MAX 64u

void method_map_deinit(struct method_map *map)
{
	pages_free(map->rows, map->rows_capacity, sizeof(*map->rows));
	*map = (struct method_map){ 0 };
}

static bool add(struct method_map *map, const struct method_row *row)
{
	if (!PAGES_RESERVE(map, rows))
		return false;
	map->rows[map->rows_count++] = *row;
	return true;
}

/*
 * 327: u32 number of rows, then rows: each has what differs from the one before, and the address.  A method that
 * has no owner or no name is one of the compiler's own.
 */
static bool read_traced(const struct native_blob *table, const struct type_map *types,
			struct method_map *map)
{
	const struct native_metadata *metadata = &types->metadata;
	struct native_cursor cursor = native_cursor_at(table, 0);
	struct method_row row = { .code = 0 };
	uint32_t count = native_u32(&cursor);
	for (uint32_t i = 0; i < count && native_left(&cursor); i++) {
		uint8_t command = native_u8(&cursor);
		if (command & NEW_OWNER)
			row.owner = native_token_of(metadata, native_u32(&cursor));
		if (command & NEW_NAME)
			row.name = native_unsigned(&cursor);
		if (command & NEW_SIGNATURE) {
			row.signature = native_unsigned(&cursor);
			row.arguments = 0;
		}
		if (command & NEW_GENERIC_SIGNATURE) {
			row.signature = native_unsigned(&cursor);
			row.arguments = native_unsigned(&cursor);
		}
		row.code = native_relative(&cursor);
		if (!cursor.is_bad && row.owner.offset && row.name && !add(map, &row))
			return false;
	}
	map->is_cut = map->is_cut || cursor.is_bad;
	return true;
}

/* An entry of 306: {flags, Method record, MethodTable, code, ...}, the last two as indexes into 308. */
static bool read_invoked(struct native_cursor entry, bool has_record, const struct type_map *types,
			 struct method_row *ret)
{
	uint32_t flags = native_unsigned(&entry);
	if (!(flags & INVOKE_HAS_CODE) || !(has_record || flags & INVOKE_HAS_METADATA))
		return false;
	struct native_cursor method =
		native_cursor_at(&types->metadata.blob, native_unsigned(&entry));
	struct method_row row = { .table = type_map_address(types, native_unsigned(&entry)) };
	row.code = type_map_address(types, native_unsigned(&entry));
	(void)native_unsigned(&method); /* flags */
	(void)native_unsigned(&method); /* how it is implemented */
	row.name = native_unsigned(&method);
	row.signature = native_unsigned(&method);
	if (entry.is_bad || method.is_bad || !row.table || !row.code || !row.name)
		return false;
	*ret = row;
	return true;
}

static bool read_invoke_map(const struct native_blob *table, bool has_record,
			    const struct type_map *types, struct method_map *map)
{
	struct native_hash hash;
	struct native_cursor entry;
	struct method_row row;
	if (!native_hash_begin(table, &hash)) {
		map->is_cut = true;
		return true;
	}
	while (native_hash_next(&hash, &entry)) {
		if (read_invoked(entry, has_record, types, &row) && !add(map, &row))
			return false;
	}
	return true;
}

ORDER_BY3(by_code, struct method_row, code, table, owner.offset)

enum hd_status method_map_read(struct memory *memory, const struct ready_to_run *image,
			       const struct type_map *types, struct method_map *ret,
			       struct hd_error *err)
{
	HD_CLEANUP(method_map) struct method_map map = { .is_cut = false };
	HD_CLEANUP(native_blob) struct native_blob traced = { .size = 0 };
	HD_CLEANUP(native_blob) struct native_blob invoked = { .size = 0 };
	TRY(native_table_read(memory, image, READY_TO_RUN_STACK_TRACE_MAP, &traced, err));
	TRY(native_table_read(memory, image, READY_TO_RUN_INVOKE_MAP, &invoked, err));
	map.is_cut = traced.is_cut || invoked.is_cut;
	if (traced.size && !read_traced(&traced, types, &map))
		return fail_nomem(err);
	if (invoked.size && !read_invoke_map(&invoked, image->major >= MAJOR_OF_10, types, &map))
		return fail_nomem(err);
	if (map.rows_count)
		qsort(map.rows, map.rows_count, sizeof(*map.rows), by_code);
	*ret = map;
	map = (struct method_map){ 0 };
	return HD_OK;
}

const struct method_row *method_map_find(const struct method_map *map, uint64_t code)
{
	size_t at = ROWS_FROM(map->rows, map->rows_count, code, code);
	return at < map->rows_count && map->rows[at].code == code ? &map->rows[at] : NULL;
}

/* "<A, B>": the list is {count, strings}. */
static void append_arguments(const struct native_metadata *metadata, uint32_t list,
			     struct text *text)
{
	struct native_cursor cursor = native_cursor_at(&metadata->blob, list);
	uint32_t count = native_unsigned(&cursor);
	if (!list || !count || cursor.is_bad)
		return;
	text_puts(text, "<");
	for (uint32_t i = 0; i < count && i < LIST_MAX && !cursor.is_bad; i++) {
		struct native_string name = native_string_at(metadata, native_unsigned(&cursor));
		text_puts(text, i ? ", " : "");
		text_append(text, name.bytes, name.size);
	}
	text_puts(text, ">");
}

void aot_method_name(struct nativeaot *aot, const struct method_row *row, struct text *text)
{
	const struct native_metadata *metadata = &aot->types->metadata;
	struct native_string name = native_string_at(metadata, row->name);
	if (row->table) {
		aot_table_name(aot, row->table, text);
	} else {
		aot_handle_name(aot, row->owner, AOT_NAME_FULL, text);
	}
	text_puts(text, ".");
	text_append(text, name.bytes, name.size);
	append_arguments(metadata, row->arguments, text);
}

void aot_method_signature(struct nativeaot *aot, const struct method_row *row, struct text *text)
{
	const struct native_metadata *metadata = &aot->types->metadata;
	struct native_signature signature;
	aot_method_name(aot, row, text);
	if (!row->signature || !native_signature_read(metadata, row->signature, &signature))
		return;
	text_puts(text, "(");
	for (uint32_t i = 0; i < signature.parameters && i < LIST_MAX; i++) {
		struct native_handle type =
			native_handle_of(metadata, native_unsigned(&signature.cursor));
		text_puts(text, i ? ", " : "");
		aot_handle_name(aot, type, AOT_NAME_PARAMETER, text);
	}
	text_puts(text, ")");
}
