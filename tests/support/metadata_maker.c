/* SPDX-License-Identifier: MIT */
#include "support/metadata_maker.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/*
 * Columns: 2 and 4 bytes, S G B of the heaps, t + a letter from 'a' = table 0 an index, c + a
 * letter a coded index: d TypeDefOrRef, k HasConstant, a HasCustomAttribute, p MemberRefParent,
 * y CustomAttributeType, r ResolutionScope, g TypeOrMethodDef, z HasCustomDebugInformation; T + a
 * letter from 'A' = table 0x30 an index.
 */
static const struct {
	uint8_t number;
	const char *columns;
} schemas[] = {
	{ 0x00, "2SGGG" },     { 0x01, "crSS" },      { 0x02, "4SScdtetg" },  { 0x03, "te" },
	{ 0x04, "2SB" },       { 0x05, "tg" },        { 0x06, "422SBti" },    { 0x08, "22S" },
	{ 0x0a, "cpSB" },      { 0x0b, "2ckB" },      { 0x0c, "cacyB" },      { 0x1b, "B" },
	{ 0x20, "422224BSS" }, { 0x23, "22224BSSB" }, { 0x29, "tctc" },       { 0x2a, "22cgS" },
	{ 0x30, "BGBG" },      { 0x31, "TAB" },       { 0x32, "tgTFTDTE44" }, { 0x33, "22S" },
	{ 0x34, "SB" },        { 0x35, "TFB" },       { 0x36, "tgtg" },       { 0x37, "czGB" },
	{ 0x2b, "cmB" },       { 0x07, "ti" },
};

static const char *schema_of(unsigned int table)
{
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		if (schemas[i].number == table)
			return schemas[i].columns;
	}
	abort();
}

static unsigned int column_count(unsigned int table)
{
	unsigned int count = 0;
	for (const char *p = schema_of(table); *p; p++, count++)
		p += *p == 't' || *p == 'c' || *p == 'T';
	return count;
}

static void *grow(void *old, size_t size)
{
	void *fresh = realloc(old, size ? size : 1);
	if (!fresh)
		abort();
	return fresh;
}

void maker_init(struct metadata_maker *maker)
{
	*maker = (struct metadata_maker){ 0 };
	maker->strings.bytes = grow(NULL, 16);
	maker->strings.capacity = 16;
	maker->strings.bytes[0] = 0;
	maker->strings.size = 1;
	maker->blobs.bytes = grow(NULL, 16);
	maker->blobs.capacity = 16;
	maker->blobs.bytes[0] = 0;
	maker->blobs.size = 1;
}

void maker_deinit(struct metadata_maker *maker)
{
	for (size_t i = 0; i < 64; i++)
		free(maker->tables[i].cells);
	free(maker->strings.bytes);
	free(maker->blobs.bytes);
	free(maker->guids.bytes);
}

#define APPEND(heap, data, length)                                             \
	do {                                                                   \
		if ((heap)->size + (length) > (heap)->capacity) {              \
			(heap)->capacity = ((heap)->size + (length)) * 2;      \
			(heap)->bytes = grow((heap)->bytes, (heap)->capacity); \
		}                                                              \
		memcpy((heap)->bytes + (heap)->size, (data), (length));        \
		(heap)->size += (length);                                      \
	} while (0)

uint32_t maker_string(struct metadata_maker *maker, const char *string)
{
	if (!*string)
		return 0;
	uint32_t index = (uint32_t)maker->strings.size;
	APPEND(&maker->strings, string, strlen(string) + 1);
	return index;
}

/* II.23.2: 7, 14 or 29 bits. */
static size_t compress(uint8_t *out, uint32_t value)
{
	if (value < 0x80) {
		out[0] = (uint8_t)value;
		return 1;
	}
	if (value < 0x4000) {
		out[0] = (uint8_t)(0x80 | value >> 8);
		out[1] = (uint8_t)value;
		return 2;
	}
	out[0] = (uint8_t)(0xc0 | value >> 24);
	out[1] = (uint8_t)(value >> 16);
	out[2] = (uint8_t)(value >> 8);
	out[3] = (uint8_t)value;
	return 4;
}

uint32_t maker_blob(struct metadata_maker *maker, const void *bytes, size_t size)
{
	uint32_t index = (uint32_t)maker->blobs.size;
	uint8_t length[4];
	size_t length_size = compress(length, (uint32_t)size);
	APPEND(&maker->blobs, length, length_size);
	if (size)
		APPEND(&maker->blobs, bytes, size);
	return index;
}

uint32_t maker_guid(struct metadata_maker *maker, uint8_t fill)
{
	uint8_t guid[16];
	memset(guid, fill, sizeof(guid));
	APPEND(&maker->guids, guid, sizeof(guid));
	return (uint32_t)(maker->guids.size / sizeof(guid));
}

uint32_t maker_row(struct metadata_maker *maker, unsigned int table, const uint32_t *cells)
{
	unsigned int columns = column_count(table);
	uint32_t rows = maker->tables[table].rows;
	if (rows == maker->tables[table].capacity) {
		maker->tables[table].capacity = rows * 2 + 8;
		maker->tables[table].cells =
			grow(maker->tables[table].cells,
			     (size_t)maker->tables[table].capacity * columns * sizeof(uint32_t));
	}
	memcpy(maker->tables[table].cells + (size_t)rows * columns, cells,
	       columns * sizeof(uint32_t));
	return ++maker->tables[table].rows;
}

uint32_t maker_type(struct metadata_maker *maker, const char *space, const char *name)
{
	return MAKER_ROW(maker, 0x02, 0, maker_string(maker, name), maker_string(maker, space), 0,
			 maker->tables[0x04].rows + 1, maker->tables[0x06].rows + 1);
}

uint32_t maker_type_ref(struct metadata_maker *maker, const char *space, const char *name)
{
	return MAKER_ROW(maker, 0x01, 0, maker_string(maker, name), maker_string(maker, space));
}

uint32_t maker_field(struct metadata_maker *maker, uint16_t flags, const char *name,
		     const void *signature, size_t size)
{
	uint8_t bytes[256] = { 0x06 };
	memcpy(bytes + 1, signature, size);
	return MAKER_ROW(maker, 0x04, flags, maker_string(maker, name),
			 maker_blob(maker, bytes, size + 1));
}

uint32_t maker_method(struct metadata_maker *maker, const char *name)
{
	return MAKER_ROW(maker, 0x06, 0, 0, 0, maker_string(maker, name), 0, 1);
}

void maker_nest(struct metadata_maker *maker, uint32_t inner, uint32_t outer)
{
	MAKER_ROW(maker, 0x29, inner, outer);
}

static uint32_t rows_of(const struct metadata_maker *maker, unsigned int table)
{
	uint32_t own = maker->tables[table].rows;
	return own || !maker->is_pdb ? own : maker->referenced[table];
}

/* Has one of @p tables (ends with 0xff) more rows than fit beside @p bits of tag? */
static bool is_wide(const struct metadata_maker *maker, unsigned int bits, const uint8_t *tables)
{
	for (; *tables != 0xff; tables++) {
		if (rows_of(maker, *tables) >= 1u << (16 - bits))
			return true;
	}
	return false;
}

static bool is_coded_wide(const struct metadata_maker *maker, char kind)
{
	static const uint8_t def_or_ref[] = { 2, 1, 0x1b, 0xff }, constant[] = { 4, 8, 0xff },
			     attribute[] = { 6, 4, 1, 2, 8, 0xa, 0, 0x1b, 0x20, 0x23, 0x2a, 0xff },
			     parent[] = { 2, 1, 6, 0x1b, 0xff }, constructor[] = { 6, 0xa, 0xff },
			     scope[] = { 0, 0x23, 1, 0xff }, owner[] = { 2, 6, 0xff },
			     method[] = { 6, 0xa, 0xff },
			     debug[] = { 6, 4, 1, 2, 8, 0xa, 0x30, 0x32, 0x33, 0x35, 0xff };
	switch (kind) {
	case 'd':
		return is_wide(maker, 2, def_or_ref);
	case 'k':
		return is_wide(maker, 2, constant);
	case 'a':
		return is_wide(maker, 5, attribute);
	case 'p':
		return is_wide(maker, 3, parent);
	case 'y':
		return is_wide(maker, 3, constructor);
	case 'r':
		return is_wide(maker, 2, scope);
	case 'g':
		return is_wide(maker, 1, owner);
	case 'm':
		return is_wide(maker, 1, method);
	case 'z':
		return is_wide(maker, 5, debug);
	default:
		abort();
	}
}

/* Bytes of the column that *@p p describes, which is moved after it. */
static unsigned int width_of(const struct metadata_maker *maker, const char **p)
{
	char kind = *(*p)++;
	char which = '\0';
	if (kind == 't' || kind == 'c' || kind == 'T')
		which = *(*p)++;
	bool wide = maker->is_delta;
	switch (kind) {
	case '2':
		return 2;
	case '4':
		return 4;
	case 'S':
		wide |= maker->wide_strings;
		break;
	case 'G':
		wide |= maker->wide_guids;
		break;
	case 'B':
		wide |= maker->wide_blobs;
		break;
	case 't':
		wide |= rows_of(maker, (unsigned int)(which - 'a')) > 0xffff;
		break;
	case 'T':
		wide |= rows_of(maker, (unsigned int)(which - 'A') + 0x30) > 0xffff;
		break;
	default:
		wide |= is_coded_wide(maker, which);
		break;
	}
	return wide ? 4 : 2;
}

struct out {
	uint8_t *bytes;
	size_t size, capacity;
};

static void put(struct out *out, uint64_t value, size_t width)
{
	APPEND(out, &value, width);
}

static void put_table(struct out *out, const struct metadata_maker *maker, unsigned int table)
{
	const uint32_t *cell = maker->tables[table].cells;
	for (uint32_t row = 0; row < maker->tables[table].rows; row++) {
		for (const char *p = schema_of(table); *p;)
			put(out, *cell++, width_of(maker, &p));
	}
}

static void put_tables(struct out *out, const struct metadata_maker *maker)
{
	uint64_t valid = 0;
	for (unsigned int t = 0; t < 64; t++)
		valid |= (uint64_t)(maker->tables[t].rows > 0) << t;
	put(out, 0, 4);
	put(out, 2, 2); /* version 2.0 */
	put(out,
	    (uint64_t)maker->wide_strings | (uint64_t)maker->wide_guids << 1 |
		    (uint64_t)maker->wide_blobs << 2 | (uint64_t)maker->extra << 6,
	    1);
	put(out, 1, 1);
	put(out, valid, 8);
	put(out, 0, 8);
	for (unsigned int t = 0; t < 64; t++) {
		if (maker->tables[t].rows)
			put(out, maker->tables[t].rows, 4);
	}
	if (maker->extra)
		put(out, 0x12345678, 4);
	for (unsigned int t = 0; t < 64; t++) {
		if (maker->tables[t].rows)
			put_table(out, maker, t);
	}
	while (out->size % 4)
		put(out, 0, 1);
}

/* The stream #Pdb: id, entry point, which tables are referred to, and their rows. */
static void put_pdb(struct out *out, const struct metadata_maker *maker)
{
	uint64_t referenced = 0;
	for (unsigned int i = 0; i < 20; i++)
		put(out, maker->pdb_id, 1);
	put(out, 0, 4);
	for (unsigned int t = 0; t < 64; t++)
		referenced |= (uint64_t)(maker->referenced[t] > 0) << t;
	put(out, referenced, 8);
	for (unsigned int t = 0; t < 64; t++) {
		if (maker->referenced[t])
			put(out, maker->referenced[t], 4);
	}
}

/* A stream's header; its offset is filled in later. */
static size_t put_header(struct out *out, const char *name, size_t size)
{
	size_t at = out->size;
	put(out, 0, 4);
	put(out, size, 4);
	size_t length = strlen(name) + 1;
	APPEND(out, name, length);
	while (out->size % 4)
		put(out, 0, 1);
	return at;
}

static void put_stream(struct out *out, size_t header, const uint8_t *bytes, size_t size)
{
	uint32_t offset = (uint32_t)out->size;
	memcpy(out->bytes + header, &offset, sizeof(offset));
	if (size)
		APPEND(out, bytes, size);
	while (out->size % 4)
		put(out, 0, 1);
}

uint8_t *maker_finish(const struct metadata_maker *maker, uint32_t *ret_size)
{
	struct out tables = { 0 }, out = { 0 }, pdb = { 0 };
	put_tables(&tables, maker);
	if (maker->is_pdb)
		put_pdb(&pdb, maker);
	put(&out, 0x424a5342, 4);
	put(&out, 1, 2);
	put(&out, 1, 2);
	put(&out, 0, 4);
	put(&out, 12, 4);
	APPEND(&out, "v4.0.30319\0\0", 12);
	put(&out, 0, 2);
	put(&out, 4u + maker->is_delta + maker->is_pdb, 2);
	size_t headers[6] = { 0 };
	headers[0] = put_header(&out, maker->is_uncompressed ? "#-" : "#~", tables.size);
	headers[1] = put_header(&out, "#Strings", maker->strings.size);
	headers[2] = put_header(&out, "#GUID", maker->guids.size);
	headers[3] = put_header(&out, "#Blob", maker->blobs.size);
	if (maker->is_delta)
		headers[4] = put_header(&out, "#JTD", 0);
	if (maker->is_pdb)
		headers[5] = put_header(&out, "#Pdb", pdb.size);
	put_stream(&out, headers[0], tables.bytes, tables.size);
	put_stream(&out, headers[1], maker->strings.bytes, maker->strings.size);
	put_stream(&out, headers[2], maker->guids.bytes, maker->guids.size);
	put_stream(&out, headers[3], maker->blobs.bytes, maker->blobs.size);
	if (maker->is_delta)
		put_stream(&out, headers[4], NULL, 0);
	if (maker->is_pdb)
		put_stream(&out, headers[5], pdb.bytes, pdb.size);
	free(pdb.bytes);
	free(tables.bytes);
	*ret_size = (uint32_t)out.size;
	return out.bytes;
}

uint8_t *maker_finish_mem(const struct metadata_maker *maker, uint32_t *ret_size)
{
	uint8_t *bytes = maker_finish(maker, ret_size);
	uint8_t *copy = mem_alloc(*ret_size, 1);
	if (!copy)
		abort();
	memcpy(copy, bytes, *ret_size);
	free(bytes);
	return copy;
}

#define SECTION_RVA  0x2000u
#define SECTION_FILE 0x400u
#define PE_OFFSET    0x80u
#define CLI_SIZE     72u
#define ENTRY_SIZE   28u /* of the debug directory */
#define RSDS_SIZE    24u

static void poke(uint8_t *bytes, size_t offset, uint32_t value, size_t width)
{
	memcpy(bytes + offset, &value, width);
}

/* A debug directory of two entries, the second one of CodeView. */
static void put_debug(uint8_t *bytes, size_t directory, uint32_t begin, uint32_t at,
		      const struct image_kind *kind)
{
	poke(bytes, directory, SECTION_RVA + at, 4);
	poke(bytes, directory + 4, 2 * ENTRY_SIZE, 4);
	size_t entry = (size_t)begin + at;
	poke(bytes, entry + 12, kind->is_embedded ? 17 : 16, 4); /* 16: the build can be repeated */
	entry += ENTRY_SIZE;
	poke(bytes, entry + 12, 2, 4);
	size_t path = kind->portable ? strlen(kind->portable) + 1 : 0;
	if (kind->packed) {
		uint32_t packed = at + 2 * ENTRY_SIZE + RSDS_SIZE + (uint32_t)path;
		poke(bytes, entry - ENTRY_SIZE + 16, kind->packed_size, 4);
		poke(bytes, entry - ENTRY_SIZE + 20, SECTION_RVA + packed, 4);
		memcpy(bytes + begin + packed, kind->packed, kind->packed_size);
	}
	poke(bytes, entry + 16, (uint32_t)(RSDS_SIZE + path), 4);
	if (kind->portable) {
		poke(bytes, entry + 4, 0x12345678, 4);
		poke(bytes, entry + 10, 0x504d, 2);
	}
	poke(bytes, entry + 20, SECTION_RVA + at + 2 * ENTRY_SIZE, 4);
	entry += ENTRY_SIZE;
	memcpy(bytes + entry, "RSDS", 4);
	memset(bytes + entry + 4, kind->pdb, 16);
	poke(bytes, entry + 20, 1, 4);
	if (kind->portable)
		memcpy(bytes + entry + RSDS_SIZE, kind->portable, path);
}

uint8_t *maker_image(const struct image_kind *kind, const uint8_t *metadata, uint32_t size,
		     uint32_t *ret_size)
{
	uint32_t begin = kind->is_mapped ? SECTION_RVA : SECTION_FILE;
	uint32_t optional = kind->is_pe32 ? 224 : 240;
	uint32_t debug = kind->pdb ? 2 * ENTRY_SIZE + RSDS_SIZE : 0;
	if (kind->pdb && kind->portable)
		debug += (uint32_t)strlen(kind->portable) + 1;
	if (kind->packed)
		debug += kind->packed_size;
	uint32_t raw_size = CLI_SIZE + size + debug;
	uint8_t *bytes = calloc(begin + raw_size, 1);
	if (!bytes)
		abort();
	poke(bytes, 0, 0x5a4d, 2);
	poke(bytes, 60, PE_OFFSET, 4);
	poke(bytes, PE_OFFSET, 0x4550, 4);
	poke(bytes, PE_OFFSET + 6, 1, 2);
	poke(bytes, PE_OFFSET + 8, 0x5eed5eed, 4);
	poke(bytes, PE_OFFSET + 20, optional, 2);
	size_t header = PE_OFFSET + 24;
	poke(bytes, header, kind->is_pe32 ? 0x10b : 0x20b, 2);
	poke(bytes, header + 56, SECTION_RVA + raw_size, 4);
	size_t directories = header + (kind->is_pe32 ? 96 : 112);
	poke(bytes, directories - 4, 16, 4);
	poke(bytes, directories + (size_t)14 * 8, SECTION_RVA, 4);
	poke(bytes, directories + (size_t)14 * 8 + 4, CLI_SIZE, 4);
	size_t section = header + optional;
	memcpy(bytes + section, ".text\0\0", 8);
	poke(bytes, section + 8, raw_size, 4);
	poke(bytes, section + 12, SECTION_RVA, 4);
	poke(bytes, section + 16, raw_size, 4);
	poke(bytes, section + 20, SECTION_FILE, 4);
	poke(bytes, begin, CLI_SIZE, 4);
	poke(bytes, begin + 8, SECTION_RVA + CLI_SIZE, 4);
	poke(bytes, begin + 12, size, 4);
	memcpy(bytes + begin + CLI_SIZE, metadata, size);
	if (kind->pdb)
		put_debug(bytes, directories + (size_t)6 * 8, begin, CLI_SIZE + size, kind);
	*ret_size = begin + raw_size;
	return bytes;
}
