/* SPDX-License-Identifier: MIT */
#include "metadata/metadata.h"

#include <string.h>

#include "mem/memory.h"
#include "metadata/table_schema.h"
#include "util/alloc.h"

#define ROOT_SIGNATURE       0x424a5342u /* "BSJB" */
#define STREAM_NAME_MAX      32u
#define METADATA_STREAMS_MAX 64u
#define TABLE_HEADER_SIZE    24u
/* #Pdb: 20 bytes id, u32 entry point, u64 referenced tables. */
#define PDB_REFERENCED  24u
#define PDB_HEADER_SIZE 32u

struct metadata_stream {
	uint32_t offset, size;
	bool found;
};

/* The streams of a metadata root that are read (II.24.2.2). */
struct streams {
	struct metadata_stream tables, strings, blobs, guids, user_strings, pdb;
	bool is_uncompressed; /* #-, with pointer tables */
	bool is_delta;        /* #JTD */
};

static void take_stream(struct streams *streams, const char *name,
			const struct metadata_stream *stream)
{
	struct metadata_stream *slot = NULL;
	if (!strcmp(name, "#JTD")) {
		streams->is_delta = true;
	} else if (!strcmp(name, "#Strings")) {
		slot = &streams->strings;
	} else if (!strcmp(name, "#Blob")) {
		slot = &streams->blobs;
	} else if (!strcmp(name, "#GUID")) {
		slot = &streams->guids;
	} else if (!strcmp(name, "#US")) {
		slot = &streams->user_strings;
	} else if (!strcmp(name, "#Pdb")) {
		slot = &streams->pdb;
	} else if (!strcmp(name, "#~") || !strcmp(name, "#-")) {
		slot = &streams->tables;
	}
	if (!slot || slot->found)
		return;
	*slot = *stream;
	if (slot == &streams->tables)
		streams->is_uncompressed = name[1] == '-';
}

/* One stream header at @p *at; false when it does not fit. */
static bool read_stream_header(const struct metadata *metadata, uint32_t *at,
			       struct streams *streams)
{
	uint32_t left = metadata->size - *at;
	if (left < 9)
		return false;
	const uint8_t *header = metadata->bytes + *at;
	struct metadata_stream stream = { load_u32(header), load_u32(header + 4), true };
	const char *name = (const char *)header + 8;
	size_t limit = left - 8 < STREAM_NAME_MAX ? left - 8 : STREAM_NAME_MAX;
	size_t length = strnlen(name, limit);
	if (length == limit || stream.offset > metadata->size)
		return false;
	if (stream.size > metadata->size - stream.offset)
		stream.size = metadata->size - stream.offset;
	take_stream(streams, name, &stream);
	uint32_t step = 8 + ((uint32_t)length / 4 + 1) * 4;
	*at += step < left ? step : left;
	return true;
}

static enum hd_status read_streams(const struct metadata *metadata, struct streams *ret,
				   struct hd_error *err)
{
	if (metadata->size < 20 || load_u32(metadata->bytes) != ROOT_SIGNATURE)
		return fail(err, HD_ERR_FORMAT, 0, "no metadata root (BSJB) here");
	uint32_t version = load_u32(metadata->bytes + 12);
	if (version > metadata->size - 20)
		return fail(err, HD_ERR_FORMAT, 12, "metadata root: version string too long");
	uint32_t at = 16 + version;
	unsigned int count = load_u16(metadata->bytes + at + 2);
	if (count > METADATA_STREAMS_MAX)
		return fail(err, HD_ERR_FORMAT, at, "metadata root: %u streams", count);
	at += 4;
	for (unsigned int i = 0; i < count; i++) {
		if (!read_stream_header(metadata, &at, ret)) {
			return fail(err, HD_ERR_FORMAT, at, "metadata root: bad stream header %u",
				    i);
		}
	}
	if (!ret->tables.found)
		return fail(err, HD_ERR_FORMAT, at, "metadata has no tables");
	return HD_OK;
}

/* Row counts of the tables in @p valid, from *@p at, which moves after them. */
static enum hd_status read_row_counts(struct metadata *metadata, uint64_t valid, uint32_t *at,
				      uint32_t end, struct hd_error *err)
{
	for (unsigned int t = 0; t < MD_TABLE_COUNT; t++) {
		if (!(valid >> t & 1))
			continue;
		if (end - *at < 4)
			return fail(err, HD_ERR_FORMAT, *at, "metadata tables: row counts cut off");
		metadata->tables[t].rows = load_u32(metadata->bytes + *at);
		if (metadata->tables[t].rows > 0xffffff) {
			return fail(err, HD_ERR_FORMAT, *at, "metadata table 0x%x: %u rows", t,
				    metadata->tables[t].rows);
		}
		*at += 4;
	}
	return HD_OK;
}

/*
 * The tables of a portable PDB refer to rows of the module's tables, whose numbers are in #Pdb: id,
 * entry point, u64 mask of tables, u32 rows of each.
 */
static enum hd_status read_referenced_rows(struct metadata *metadata, uint64_t own,
					   struct hd_error *err)
{
	uint32_t at = metadata->pdb.offset, end = at + metadata->pdb.size;
	if (metadata->pdb.size < PDB_HEADER_SIZE)
		return fail(err, HD_ERR_FORMAT, at, "portable PDB: header cut off");
	uint64_t referenced = load_u64(metadata->bytes + at + PDB_REFERENCED);
	if (referenced >> MD_TYPE_SYSTEM_COUNT || referenced & own) {
		return fail(err, HD_ERR_FORMAT, at + PDB_REFERENCED,
			    "portable PDB: it refers to tables that modules do not have");
	}
	at += PDB_HEADER_SIZE;
	return read_row_counts(metadata, referenced, &at, end, err);
}

/* The widths of all columns, from the rows of all tables; then only tables in @p own have rows. */
static enum hd_status lay_out_tables(struct metadata *metadata, uint64_t own,
				     const struct metadata_index_sizes *sizes, struct hd_error *err)
{
	if (metadata->pdb.size) {
		if (own >> MD_TYPE_SYSTEM_COUNT & 7 || own >> MD_SCHEMA_COUNT)
			return fail(err, HD_ERR_FORMAT, 0, "portable PDB: unknown tables");
		TRY(read_referenced_rows(metadata, own, err));
	} else {
		own &= (1ull << MD_TYPE_SYSTEM_COUNT) - 1;
	}
	schema_layout(metadata, sizes);
	for (unsigned int t = 0; t < MD_TABLE_COUNT; t++) {
		if (!(own >> t & 1))
			metadata->tables[t].rows = 0;
	}
	return HD_OK;
}

/* Row counts, then the place of each table (II.24.2.6). */
static enum hd_status read_table_places(struct metadata *metadata, const struct streams *streams,
					struct hd_error *err)
{
	uint32_t at = streams->tables.offset, end = at + streams->tables.size;
	if (streams->tables.size < TABLE_HEADER_SIZE)
		return fail(err, HD_ERR_FORMAT, at, "metadata tables: header cut off");
	uint8_t heaps = metadata->bytes[at + 6];
	uint64_t valid = load_u64(metadata->bytes + at + 8);
	at += TABLE_HEADER_SIZE;
	TRY(read_row_counts(metadata, valid, &at, end, err));
	if (heaps & 0x40) {
		if (end - at < 4)
			return fail(err, HD_ERR_FORMAT, at, "metadata tables: header cut off");
		at += 4;
	}
	const struct metadata_index_sizes sizes = { .wide_strings = heaps & 1,
						    .wide_guids = heaps & 2,
						    .wide_blobs = heaps & 4,
						    .wide_all = streams->is_delta };
	TRY(lay_out_tables(metadata, valid, &sizes, err));
	for (unsigned int t = 0; t < MD_SCHEMA_COUNT; t++) {
		uint64_t size = (uint64_t)metadata->tables[t].rows * metadata->tables[t].row_size;
		if (size > end - at)
			return fail(err, HD_ERR_FORMAT, at, "metadata table 0x%x: rows cut off", t);
		metadata->tables[t].offset = at;
		at += (uint32_t)size;
	}
	return HD_OK;
}

/* TypeDef RID -> RID of the type around it, from NestedClass (II.22.32). */
static bool read_enclosing(struct metadata *metadata)
{
	uint32_t types = metadata->tables[MD_TYPE_DEF].rows;
	uint32_t rows = metadata->tables[MD_NESTED_CLASS].rows;
	if (!rows)
		return true;
	metadata->enclosing = mem_calloc((size_t)types + 1, sizeof(*metadata->enclosing));
	if (!metadata->enclosing)
		return false;
	for (uint32_t i = 1; i <= rows; i++) {
		uint32_t nested = metadata_column(metadata, MD_NESTED_CLASS, i, 0);
		uint32_t outer = metadata_column(metadata, MD_NESTED_CLASS, i, 1);
		if (nested && nested <= types && outer <= types)
			metadata->enclosing[nested] = outer;
	}
	return true;
}

/* The pointer table between a list and @p table, if it is in use. */
static bool through_pointers(const struct metadata *metadata, enum md_table table,
			     enum md_table *ret)
{
	*ret = table == MD_FIELD ? MD_FIELD_PTR : MD_METHOD_PTR;
	return metadata->has_pointer_tables && metadata->tables[*ret].rows;
}

/* The way back through the pointer table of @p table, if it is in use; of several rows, the first. */
static bool read_pointers(const struct metadata *metadata, enum md_table table, uint32_t **ret)
{
	enum md_table pointers;
	if (!through_pointers(metadata, table, &pointers))
		return true;
	*ret = mem_calloc((size_t)metadata->tables[table].rows + 1, sizeof(**ret));
	if (!*ret)
		return false;
	for (uint32_t row = metadata->tables[pointers].rows; row; row--) {
		uint32_t rid = metadata_column(metadata, pointers, row, 0);
		if (rid && rid <= metadata->tables[table].rows)
			(*ret)[rid] = row;
	}
	return true;
}

static enum hd_status parse_metadata(struct metadata *metadata, struct hd_error *err)
{
	struct streams streams = { 0 };
	TRY(read_streams(metadata, &streams, err));
	metadata->has_pointer_tables = streams.is_uncompressed;
	metadata->strings.offset = streams.strings.offset;
	metadata->strings.size = streams.strings.size;
	metadata->blobs.offset = streams.blobs.offset;
	metadata->blobs.size = streams.blobs.size;
	metadata->user_strings.offset = streams.user_strings.offset;
	metadata->user_strings.size = streams.user_strings.size;
	metadata->guids.offset = streams.guids.offset;
	metadata->guids.size = streams.guids.size;
	metadata->pdb.offset = streams.pdb.offset;
	metadata->pdb.size = streams.pdb.size;
	TRY(read_table_places(metadata, &streams, err));
	TRY_MEMORY(read_enclosing(metadata) &&
			   read_pointers(metadata, MD_FIELD, &metadata->field_rows) &&
			   read_pointers(metadata, MD_METHOD, &metadata->method_rows),
		   err);
	return HD_OK;
}

enum hd_status metadata_create(uint8_t *bytes, uint32_t size, struct metadata **ret,
			       struct hd_error *err)
{
	struct metadata *metadata = mem_calloc(1, sizeof(*metadata));
	if (!metadata) {
		mem_free(bytes);
		return fail_nomem(err);
	}
	metadata->bytes = bytes;
	metadata->size = size;
	enum hd_status status = parse_metadata(metadata, err);
	if (status != HD_OK) {
		metadata_destroy(metadata);
		return status;
	}
	*ret = metadata;
	return HD_OK;
}

void metadata_destroy(struct metadata *metadata)
{
	if (!metadata)
		return;
	mem_free(metadata->enclosing);
	mem_free(metadata->field_rows);
	mem_free(metadata->method_rows);
	mem_free(metadata->bytes);
	mem_free(metadata);
}

uint32_t metadata_column(const struct metadata *metadata, enum md_table table, uint32_t rid,
			 unsigned int column)
{
	if ((unsigned int)table >= MD_SCHEMA_COUNT || !rid || rid > metadata->tables[table].rows ||
	    column >= metadata->tables[table].columns)
		return 0;
	const uint8_t *at = metadata->bytes + metadata->tables[table].offset +
			    (size_t)(rid - 1) * metadata->tables[table].row_size;
	const uint8_t *widths = metadata->tables[table].widths;
	for (unsigned int i = 0; i < column; i++)
		at += widths[i];
	return widths[column] == 2 ? load_u16(at) : load_u32(at);
}

const char *metadata_string(const struct metadata *metadata, uint32_t index)
{
	if (index >= metadata->strings.size)
		return "";
	const uint8_t *at = metadata->bytes + metadata->strings.offset + index;
	return memchr(at, 0, metadata->strings.size - index) ? (const char *)at : "";
}

bool metadata_compressed(const uint8_t **at, const uint8_t *end, uint32_t *ret)
{
	const uint8_t *p = *at;
	size_t left = (size_t)(end - p);
	if (!left)
		return false;
	if (p[0] < 0x80) {
		*ret = p[0];
		*at = p + 1;
	} else if (p[0] < 0xc0 && left >= 2) {
		*ret = (uint32_t)(p[0] & 0x3f) << 8 | p[1];
		*at = p + 2;
	} else if (p[0] >= 0xc0 && p[0] < 0xe0 && left >= 4) {
		*ret = (uint32_t)(p[0] & 0x1f) << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
		       p[3];
		*at = p + 4;
	} else {
		return false;
	}
	return true;
}

const uint8_t *metadata_blob(const struct metadata *metadata, uint32_t index, uint32_t *ret_size)
{
	*ret_size = 0;
	if (index >= metadata->blobs.size)
		return NULL;
	const uint8_t *heap = metadata->bytes + metadata->blobs.offset;
	const uint8_t *at = heap + index, *end = heap + metadata->blobs.size;
	uint32_t size;
	if (!metadata_compressed(&at, end, &size) || size > (size_t)(end - at))
		return NULL;
	*ret_size = size;
	return at;
}

const uint8_t *metadata_user_string(const struct metadata *metadata, uint32_t index,
				    uint32_t *ret_units)
{
	if (!index || index >= metadata->user_strings.size)
		return NULL;
	const uint8_t *heap = metadata->bytes + metadata->user_strings.offset;
	const uint8_t *at = heap + index, *end = heap + metadata->user_strings.size;
	uint32_t size;
	if (!metadata_compressed(&at, end, &size) || size > (size_t)(end - at))
		return NULL;
	*ret_units = size / 2; /* a byte about the characters follows */
	return at;
}

const uint8_t *metadata_mvid(const struct metadata *metadata)
{
	uint32_t index = metadata_column(metadata, MD_MODULE, 1, 2);
	if (!index || index > metadata->guids.size / 16)
		return NULL;
	return metadata->bytes + metadata->guids.offset + (size_t)(index - 1) * 16;
}

uint32_t metadata_enclosing(const struct metadata *metadata, uint32_t rid)
{
	return metadata->enclosing && rid <= metadata->tables[MD_TYPE_DEF].rows
		       ? metadata->enclosing[rid]
		       : 0;
}

uint32_t metadata_member(const struct metadata *metadata, enum md_table table, uint32_t position)
{
	enum md_table pointers;
	uint32_t rid = through_pointers(metadata, table, &pointers)
			       ? metadata_column(metadata, pointers, position, 0)
			       : position;
	return rid <= metadata->tables[table].rows ? rid : 0;
}

uint32_t metadata_members(const struct metadata *metadata, enum md_table table, uint32_t type,
			  uint32_t *ret_end)
{
	unsigned int column = table == MD_FIELD ? 4 : 5;
	enum md_table list = table, pointers;
	if (through_pointers(metadata, table, &pointers))
		list = pointers;
	uint32_t rows = metadata->tables[list].rows, types = metadata->tables[MD_TYPE_DEF].rows;
	uint32_t begin = metadata_column(metadata, MD_TYPE_DEF, type, column);
	uint32_t end =
		type < types ? metadata_column(metadata, MD_TYPE_DEF, type + 1, column) : rows + 1;
	if (end > rows + 1)
		end = rows + 1;
	if (!begin || begin > end || type > types)
		begin = end;
	*ret_end = end;
	return begin;
}

uint32_t metadata_search(const struct metadata *metadata, enum md_table table, unsigned int column,
			 uint32_t key)
{
	uint32_t low = 1, high = metadata->tables[table].rows + 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (metadata_column(metadata, table, middle, column) < key) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

uint32_t metadata_owner(const struct metadata *metadata, enum md_table table, uint32_t rid)
{
	if (!rid || rid > metadata->tables[table].rows)
		return 0;
	const uint32_t *rows = table == MD_FIELD ? metadata->field_rows : metadata->method_rows;
	uint32_t position = rows ? rows[rid] : rid;
	if (!position)
		return 0;
	/* The last type whose list begins at or before it; so do earlier types with empty lists. */
	return metadata_search(metadata, MD_TYPE_DEF, table == MD_FIELD ? 4 : 5, position + 1) - 1;
}
