/* SPDX-License-Identifier: MIT */
#include "metadata/sizes.h"

#include <string.h>

/* The metadata root (ECMA-335 II.24.2.1) and its stream headers (II.24.2.2). */
#define ROOT_MAGIC        0x424a5342u
#define ROOT_VERSION      12u
#define VERSION_MAX       256u
#define SIZES_STREAMS_MAX 32u
#define STREAM_NAME_MAX   32u

/* Where the tables are; 0: not found yet. */
struct tables {
	uint64_t at;
	uint32_t size;
};

static bool read_row_counts(struct memory *memory, const struct tables *tables,
			    struct metadata_sizes *sizes)
{
	if (!tables->at || tables->size < SIZES_HEADER ||
	    !memory_read(memory, tables->at, sizes->header, SIZES_HEADER))
		return false;
	uint64_t valid = load_u64(sizes->header + 8), at = tables->at + SIZES_HEADER;
	if (valid >> SIZES_TABLES)
		return false;
	for (unsigned int i = 0; i < SIZES_TABLES; i++) {
		if (!(valid >> i & 1))
			continue;
		if (at + 4 > tables->at + tables->size || !memory_u32(memory, at, &sizes->rows[i]))
			return false;
		at += 4;
	}
	return true;
}

/* Note one stream, and skip its header. */
static bool note_stream(struct memory *memory, uint64_t root, uint64_t *at, struct tables *tables,
			struct metadata_sizes *sizes)
{
	uint32_t offset, size;
	char name[STREAM_NAME_MAX + 1] = "";
	if (!memory_u32(memory, *at, &offset) || !memory_u32(memory, *at + 4, &size) ||
	    !memory_prefix(memory, *at + 8, name, STREAM_NAME_MAX))
		return false;
	size_t length = strlen(name);
	if (length == STREAM_NAME_MAX)
		return false;
	*at += 8 + ((length + 4) & ~(size_t)3);
	if (strcmp(name, "#~") == 0) {
		*tables = (struct tables){ .at = root + offset, .size = size };
	} else if (strcmp(name, "#Strings") == 0) {
		sizes->strings = size;
	} else if (strcmp(name, "#Blob") == 0) {
		sizes->blobs = size;
	} else if (strcmp(name, "#US") == 0) {
		sizes->user_strings = size;
	}
	return true;
}

bool metadata_sizes_read(struct memory *memory, uint64_t root, uint32_t size,
			 struct metadata_sizes *ret)
{
	struct metadata_sizes sizes = { 0 };
	struct tables tables = { 0 };
	uint32_t magic, version;
	uint16_t count;
	if (!memory_u32(memory, root, &magic) || magic != ROOT_MAGIC ||
	    !memory_u32(memory, root + ROOT_VERSION, &version) || version > VERSION_MAX)
		return false;
	uint64_t at = root + ROOT_VERSION + 4 + version;
	if (!memory_u16(memory, at + 2, &count) || count > SIZES_STREAMS_MAX)
		return false;
	at += 4;
	for (unsigned int i = 0; i < count; i++) {
		if (!note_stream(memory, root, &at, &tables, &sizes))
			return false;
	}
	if (!tables.at || tables.at - root > size || tables.size > size - (tables.at - root) ||
	    !read_row_counts(memory, &tables, &sizes))
		return false;
	*ret = sizes;
	return true;
}
