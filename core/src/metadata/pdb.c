/* SPDX-License-Identifier: MIT */
#include "metadata/pdb.h"

#include <string.h>

#include "mem/memory.h"
#include "util/alloc.h"
#include "util/text.h"

/* Columns. */
#define DOCUMENT_NAME  0u
#define DEBUG_DOCUMENT 0u
#define DEBUG_POINTS   1u
#define SCOPE_METHOD   0u
#define SCOPE_LOCALS   2u
#define SCOPE_START    4u
#define SCOPE_SIZE     5u
#define LOCAL_FLAGS    0u
#define LOCAL_NUMBER   1u
#define LOCAL_NAME     2u
#define CUSTOM_PARENT  0u
#define CUSTOM_KIND    1u
#define CUSTOM_VALUE   2u

/* A local that is not for people (LocalVariableAttributes). */
#define LOCAL_HIDDEN 1u

/* HasCustomDebugInformation: MethodDef has tag 0 of 5 bits. */
#define PARENT_BITS 5u

/* The limits of the format for a line and a column; a line 0xfeefee is hidden. */
#define LINE_END    0x20000000u
#define COLUMN_END  0x10000u
#define LINE_HIDDEN 0xfeefeeu
#define IL_END      0x20000000u

/* Longest path of a document; for all of them, so many bytes for each byte of the PDB. */
#define DOCUMENT_NAME_MAX 4096u
#define NAME_BLOB_MAX     4096u
#define NAMES_FLOOR       65536u
#define NAMES_FACTOR      16u

struct pdb {
	struct metadata *metadata;
	char **names;        /**< by RID of the Document; NULL: not made yet */
	uint64_t names_left; /**< bytes that names may still take */
};

enum hd_status pdb_create(uint8_t *bytes, uint32_t size, struct pdb **ret, struct hd_error *err)
{
	struct metadata *metadata;
	TRY(metadata_create(bytes, size, &metadata, err));
	struct pdb *pdb = NULL;
	if (!metadata->pdb.size) {
		metadata_destroy(metadata);
		return fail(err, HD_ERR_FORMAT, 0, "not a portable PDB: it has no stream #Pdb");
	}
	pdb = mem_calloc(1, sizeof(*pdb));
	char **names = mem_calloc((size_t)metadata->tables[MD_DOCUMENT].rows + 1, sizeof(*names));
	if (!pdb || !names) {
		mem_free(pdb);
		mem_free(names);
		metadata_destroy(metadata);
		return fail_nomem(err);
	}
	*pdb = (struct pdb){ .metadata = metadata,
			     .names = names,
			     .names_left = NAMES_FLOOR + NAMES_FACTOR * (uint64_t)size };
	*ret = pdb;
	return HD_OK;
}

void pdb_destroy(struct pdb *pdb)
{
	if (!pdb)
		return;
	for (uint32_t i = 0; i <= pdb->metadata->tables[MD_DOCUMENT].rows; i++)
		mem_free(pdb->names[i]);
	mem_free(pdb->names);
	metadata_destroy(pdb->metadata);
	mem_free(pdb);
}

const uint8_t *pdb_id(const struct pdb *pdb)
{
	return pdb->metadata->bytes + pdb->metadata->pdb.offset;
}

/* The sequence points of a method while they are read. */
struct points {
	const uint8_t *at, *end;
	struct pdb_point point; /**< the current one, with the line and column of the last that had
				 * some */
	bool is_begun;          /**< a point was read */
	bool has_line;          /**< one of those read had a line */
	bool is_hidden;         /**< the current one has no line */
	bool is_damaged;        /**< the bytes from here on make no sense */
};

/*
 * A compressed signed number (II.23.2): the sign is the lowest bit of the unsigned one, which has
 * 7, 14 or 29 bits.
 */
static bool read_signed(struct points *points, int64_t *ret)
{
	const uint8_t *begin = points->at;
	uint32_t value;
	if (!metadata_compressed(&points->at, points->end, &value))
		return false;
	int bits = points->at - begin == 1 ? 6 : points->at - begin == 2 ? 13 : 28;
	*ret = (int64_t)(value >> 1) - (value & 1 ? (int64_t)1 << bits : 0);
	return true;
}

static bool read_unsigned(struct points *points, int64_t *ret)
{
	uint32_t value;
	bool is_read = metadata_compressed(&points->at, points->end, &value);
	*ret = is_read ? (int64_t)value : 0;
	return is_read;
}

static bool begin_points(const struct pdb *pdb, uint32_t method, struct points *ret)
{
	const struct metadata *metadata = pdb->metadata;
	uint32_t size, signature;
	uint32_t blob = metadata_column(metadata, MD_METHOD_DEBUG, method, DEBUG_POINTS);
	const uint8_t *bytes = blob ? metadata_blob(metadata, blob, &size) : NULL;
	if (!bytes)
		return false;
	*ret = (struct points){ .at = bytes, .end = bytes + size };
	ret->point.document = metadata_column(metadata, MD_METHOD_DEBUG, method, DEBUG_DOCUMENT);
	return metadata_compressed(&ret->at, ret->end, &signature) &&
	       (ret->point.document ||
		metadata_compressed(&ret->at, ret->end, &ret->point.document));
}

/* Lines and columns, after the offset in IL. */
static bool read_span(struct points *points)
{
	int64_t lines, columns, line = 0, column = 0;
	if (!read_unsigned(points, &lines) ||
	    !(lines ? read_signed(points, &columns) : read_unsigned(points, &columns)))
		return false;
	points->is_hidden = !lines && !columns;
	if (points->is_hidden)
		return true;
	bool is_read = points->has_line
			       ? read_signed(points, &line) && read_signed(points, &column)
			       : read_unsigned(points, &line) && read_unsigned(points, &column);
	line += points->point.line;
	column += points->point.column;
	if (!is_read || line < 0 || line >= LINE_END || column < 0 || column >= COLUMN_END)
		return false;
	points->has_line = true;
	points->point.line = (uint32_t)line;
	points->point.column = (uint32_t)column;
	points->is_hidden = line == LINE_HIDDEN;
	return true;
}

/* The offset of the next point, after those of its document if that is another one. */
static bool read_step(struct points *points)
{
	uint32_t step = 0;
	while (points->at != points->end) {
		if (!metadata_compressed(&points->at, points->end, &step))
			break;
		if (step || !points->is_begun) {
			points->is_damaged = step >= IL_END - points->point.il;
			points->point.il += step;
			points->is_begun = true;
			return !points->is_damaged;
		}
		if (!metadata_compressed(&points->at, points->end, &points->point.document))
			break;
	}
	points->is_damaged = points->at != points->end;
	return false;
}

/* The next point; false at the end, or where the bytes are damaged. */
static bool next_point(struct points *points)
{
	if (!read_step(points))
		return false;
	points->is_damaged = !read_span(points);
	return !points->is_damaged;
}

bool pdb_point_at(const struct pdb *pdb, uint32_t method, uint32_t il, struct pdb_point *ret)
{
	struct points points;
	struct pdb_point best = { 0 };
	bool is_found = false;
	if (!begin_points(pdb, method, &points))
		return false;
	while (next_point(&points) && points.point.il <= il) {
		if (points.is_hidden)
			continue;
		best = points.point;
		is_found = true;
	}
	if (!is_found || points.is_damaged)
		return false;
	*ret = best;
	return true;
}

bool pdb_points_read(const struct pdb *pdb, uint32_t method, struct pdb_points *ret)
{
	struct points points;
	ret->rows_count = 0;
	if (!begin_points(pdb, method, &points))
		return false;
	while (next_point(&points)) {
		if (points.is_hidden)
			continue;
		if (!PAGES_RESERVE(ret, rows)) {
			ret->failed = true;
			return false;
		}
		ret->rows[ret->rows_count++] = points.point;
	}
	return ret->rows_count != 0;
}

void pdb_points_deinit(struct pdb_points *points)
{
	pages_free(points->rows, points->rows_capacity, sizeof(*points->rows));
	*points = (struct pdb_points){ 0 };
}

uint32_t pdb_method_size(const struct pdb *pdb, uint32_t method)
{
	uint32_t size = 0;
	uint32_t blob = metadata_column(pdb->metadata, MD_METHOD_DEBUG, method, DEBUG_POINTS);
	if (blob)
		(void)metadata_blob(pdb->metadata, blob, &size);
	return size;
}

/* The name of a document is a blob: the separator, then the blobs of the parts. */
static bool append_name(const struct metadata *metadata, uint32_t document, struct text *text)
{
	uint32_t size, part_size, index;
	const uint8_t *at = metadata_blob(
		metadata, metadata_column(metadata, MD_DOCUMENT, document, DOCUMENT_NAME), &size);
	if (!at || !size || size > NAME_BLOB_MAX)
		return false;
	const uint8_t *end = at + size;
	const char separator = (char)*at++;
	for (bool is_first = true; at != end; is_first = false) {
		if (!metadata_compressed(&at, end, &index))
			return false;
		if (!is_first && separator)
			text_append(text, &separator, 1);
		const uint8_t *part = index ? metadata_blob(metadata, index, &part_size) : NULL;
		if (index && (!part || text->size + (uint64_t)part_size > DOCUMENT_NAME_MAX))
			return false;
		if (part)
			text_append(text, (const char *)part, part_size);
		if (text->failed || text->size > DOCUMENT_NAME_MAX)
			return false;
	}
	return text->size && !memchr(text->bytes, 0, text->size);
}

const char *pdb_document(struct pdb *pdb, uint32_t document)
{
	if (!document || document > pdb->metadata->tables[MD_DOCUMENT].rows)
		return NULL;
	if (pdb->names[document] || pdb->names_left < DOCUMENT_NAME_MAX)
		return pdb->names[document];
	HD_CLEANUP(text) struct text text = { 0 };
	if (append_name(pdb->metadata, document, &text)) {
		pdb->names[document] = mem_strndup(text.bytes, text.size);
		pdb->names_left -= text.size;
	}
	return pdb->names[document];
}

/* The rows of LocalVariable of a scope: the first one, and the one after the last. */
static uint32_t scope_locals(const struct metadata *metadata, uint32_t scope, uint32_t *ret_end)
{
	*ret_end = scope < metadata->tables[MD_LOCAL_SCOPE].rows
			   ? metadata_column(metadata, MD_LOCAL_SCOPE, scope + 1, SCOPE_LOCALS)
			   : metadata->tables[MD_LOCAL_VARIABLE].rows + 1;
	return metadata_column(metadata, MD_LOCAL_SCOPE, scope, SCOPE_LOCALS);
}

/* false: it has no name, or is not for people. */
static bool read_local(const struct metadata *metadata, uint32_t row, struct pdb_local *ret)
{
	uint32_t flags = metadata_column(metadata, MD_LOCAL_VARIABLE, row, LOCAL_FLAGS);
	ret->number = metadata_column(metadata, MD_LOCAL_VARIABLE, row, LOCAL_NUMBER);
	ret->name = metadata_string(metadata,
				    metadata_column(metadata, MD_LOCAL_VARIABLE, row, LOCAL_NAME));
	return *ret->name && !(flags & LOCAL_HIDDEN);
}

static void name_locals(const struct metadata *metadata, uint32_t scope, uint64_t *budget,
			const char **names, size_t count)
{
	uint32_t row, end;
	for (row = scope_locals(metadata, scope, &end); row && row < end && *budget;
	     row++, --*budget) {
		struct pdb_local local;
		if (read_local(metadata, row, &local) && local.number < count)
			names[local.number] = local.name;
	}
}

bool pdb_local_names(const struct pdb *pdb, uint32_t method, uint32_t il, uint64_t *budget,
		     const char **names, size_t count)
{
	const struct metadata *metadata = pdb->metadata;
	uint32_t rows = metadata->tables[MD_LOCAL_SCOPE].rows;
	bool is_found = false;
	/* Sorted by method, then by start, outer ones first. */
	for (uint32_t scope = metadata_search(metadata, MD_LOCAL_SCOPE, SCOPE_METHOD, method);
	     scope && scope <= rows && *budget &&
	     metadata_column(metadata, MD_LOCAL_SCOPE, scope, SCOPE_METHOD) == method;
	     scope++) {
		--*budget;
		uint32_t start = metadata_column(metadata, MD_LOCAL_SCOPE, scope, SCOPE_START);
		uint32_t size = metadata_column(metadata, MD_LOCAL_SCOPE, scope, SCOPE_SIZE);
		if (il < start || il - start >= size)
			continue;
		is_found = true;
		name_locals(metadata, scope, budget, names, count);
	}
	return is_found && *budget;
}

void pdb_scopes_deinit(struct pdb_scopes *scopes)
{
	pages_free(scopes->rows, scopes->rows_capacity, sizeof(*scopes->rows));
	pages_free(scopes->locals, scopes->locals_capacity, sizeof(*scopes->locals));
	*scopes = (struct pdb_scopes){ 0 };
}

static bool add_scope_locals(const struct metadata *metadata, uint32_t scope, uint64_t *budget,
			     struct pdb_scopes *ret)
{
	uint32_t row, end;
	for (row = scope_locals(metadata, scope, &end); row && row < end && *budget;
	     row++, --*budget) {
		struct pdb_local local;
		if (!read_local(metadata, row, &local))
			continue;
		if (!PAGES_RESERVE(ret, locals))
			return false;
		ret->locals[ret->locals_count++] = local;
	}
	return true;
}

bool pdb_scopes_read(const struct pdb *pdb, uint32_t method, uint64_t *budget,
		     struct pdb_scopes *ret)
{
	const struct metadata *metadata = pdb->metadata;
	uint32_t rows = metadata->tables[MD_LOCAL_SCOPE].rows;
	ret->rows_count = ret->locals_count = 0;
	for (uint32_t scope = metadata_search(metadata, MD_LOCAL_SCOPE, SCOPE_METHOD, method);
	     scope && scope <= rows && *budget &&
	     metadata_column(metadata, MD_LOCAL_SCOPE, scope, SCOPE_METHOD) == method;
	     scope++) {
		--*budget;
		uint32_t begin = metadata_column(metadata, MD_LOCAL_SCOPE, scope, SCOPE_START);
		uint32_t size = metadata_column(metadata, MD_LOCAL_SCOPE, scope, SCOPE_SIZE);
		uint32_t first = (uint32_t)ret->locals_count;
		ret->failed = !PAGES_RESERVE(ret, rows) ||
			      !add_scope_locals(metadata, scope, budget, ret);
		if (ret->failed)
			return false;
		ret->rows[ret->rows_count++] = (struct pdb_scope){
			.begin = begin,
			.end = size < UINT32_MAX - begin ? begin + size : UINT32_MAX,
			.first_local = first,
			.locals = (uint32_t)ret->locals_count - first,
		};
	}
	return ret->rows_count && *budget;
}

bool pdb_local_signature(const struct pdb *pdb, uint32_t method, uint32_t *ret)
{
	uint32_t size, blob = metadata_column(pdb->metadata, MD_METHOD_DEBUG, method, DEBUG_POINTS);
	const uint8_t *at = blob ? metadata_blob(pdb->metadata, blob, &size) : NULL;
	return at && metadata_compressed(&at, at + size, ret);
}

/* The awaits of a method (AsyncMethodSteppingInformation): u32, then for each u32, u32, number. */
static bool find_await(const uint8_t *at, const uint8_t *end, uint32_t state, uint64_t *budget,
		       uint32_t *ret)
{
	uint32_t method;
	if (end - at < 4)
		return false;
	at += 4;
	for (uint32_t i = 0; end - at > 8 && *budget > 8; i++) {
		uint32_t yield = load_u32(at);
		at += 8;
		*budget -= 8;
		if (!metadata_compressed(&at, end, &method))
			return false;
		if (i == state) {
			*ret = yield;
			return true;
		}
	}
	return false;
}

bool pdb_await_at(const struct pdb *pdb, uint32_t method, uint32_t state, uint64_t *budget,
		  uint32_t *ret)
{
	/* {54FD2AC5-E925-401A-9C2A-F94F171072F8} */
	static const uint8_t kind[16] = { 0xc5, 0x2a, 0xfd, 0x54, 0x25, 0xe9, 0x1a, 0x40,
					  0x9c, 0x2a, 0xf9, 0x4f, 0x17, 0x10, 0x72, 0xf8 };
	const struct metadata *metadata = pdb->metadata;
	uint32_t rows = metadata->tables[MD_CUSTOM_DEBUG].rows, parent = method << PARENT_BITS;
	if (method >> (32 - PARENT_BITS))
		return false;
	for (uint32_t row = metadata_search(metadata, MD_CUSTOM_DEBUG, CUSTOM_PARENT, parent);
	     row && row <= rows && *budget &&
	     metadata_column(metadata, MD_CUSTOM_DEBUG, row, CUSTOM_PARENT) == parent;
	     row++, --*budget) {
		uint32_t guid = metadata_column(metadata, MD_CUSTOM_DEBUG, row, CUSTOM_KIND), size;
		const uint8_t *bytes = metadata_blob(
			metadata, metadata_column(metadata, MD_CUSTOM_DEBUG, row, CUSTOM_VALUE),
			&size);
		if (guid && bytes && (uint64_t)guid * 16 <= metadata->guids.size &&
		    memcmp(metadata->bytes + metadata->guids.offset + 16 * (size_t)(guid - 1), kind,
			   16) == 0)
			return find_await(bytes, bytes + size, state, budget, ret);
	}
	return false;
}
