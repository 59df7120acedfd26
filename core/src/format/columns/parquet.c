/* SPDX-License-Identifier: MIT */
#include "format/columns/parquet.h"

#include <stdio.h>
#include <zstd.h>

#include "format/columns/parquet_encode.h"
#include "format/columns/thrift.h"
#include "util/alloc.h"

#define MAGIC "PAR1"
/* A page has at most that many rows, and about that much text. */
#define PAGE_ROWS   (1u << 17)
#define PAGE_TEXT   ((size_t)1 << 20)
#define ZSTD_LEVEL  3
#define CODEC_PLAIN 0
#define CODEC_ZSTD  6

enum page_type {
	PAGE_DATA = 0,
	PAGE_DICTIONARY = 2,
};

enum encoding {
	ENCODING_PLAIN = 0,
	ENCODING_HYBRID = 3,
	ENCODING_DELTAS = 5,
	ENCODING_DICTIONARY = 8,
};

enum physical_type {
	PHYSICAL_BOOL = 0,
	PHYSICAL_I64 = 2,
	PHYSICAL_DOUBLE = 5,
	PHYSICAL_BYTES = 6,
};

/* How a type of ours is called in the schema. */
static const struct {
	int physical;
	int converted; /* -1: none */
} field_types[] = {
	[FIELD_UNSIGNED] = { PHYSICAL_I64, 14 }, [FIELD_SIGNED] = { PHYSICAL_I64, -1 },
	[FIELD_REAL] = { PHYSICAL_DOUBLE, -1 },  [FIELD_BOOL] = { PHYSICAL_BOOL, -1 },
	[FIELD_TEXT] = { PHYSICAL_BYTES, 0 },
};

/* A value of a dictionary: where it is in that of a group of rows. */
struct local_index {
	uint32_t group; /* the number of the group, from 1 */
	uint32_t index;
};

/* A column of a group, as the footer tells about it. */
struct column_facts_of_group {
	uint64_t plain_size, stored_size;
	uint64_t first_page, dictionary_page; /* 0: it has no dictionary */
	uint64_t least, most;                 /* of numbers */
	bool has_range;
};

struct parquet {
	const struct field_table *table;
	struct field_target target;
	uint64_t at; /* bytes written so far */
	uint64_t rows;
	uint32_t groups_count;
	struct text groups; /* of the footer */
	struct text page, packed, header;
	ZSTD_CCtx *zstd;
	struct local_index *locals[FIELDS_MAX];
	uint32_t *chosen; /* of the rows of a group: indices in its dictionary */
	uint32_t *used;   /* the values of that: indices in the table's */
	uint32_t room;    /* for so many rows in both */
	uint64_t *dense;  /* the values of a page that are there */
};

static enum hd_status put(struct parquet *parquet, const char *bytes, size_t size)
{
	parquet->at += size;
	if (!parquet->target.write(parquet->target.arg, bytes, size))
		return fail_cancelled(parquet->target.err);
	return job_check(parquet->target.job, 0, parquet->target.err);
}

static void free_parquet(struct parquet *parquet)
{
	const struct field_table *table = parquet->table;
	for (size_t i = 0; i < table->count; i++) {
		const struct field_dictionary *dictionary = table->fields[i].dictionary;
		if (dictionary) {
			pages_free(parquet->locals[i], dictionary->count,
				   sizeof(**parquet->locals));
		}
	}
	text_deinit(&parquet->groups);
	text_deinit(&parquet->page);
	text_deinit(&parquet->packed);
	text_deinit(&parquet->header);
	(void)ZSTD_freeCCtx(parquet->zstd);
	mem_free(parquet->chosen);
	mem_free(parquet->used);
	mem_free(parquet->dense);
	mem_free(parquet);
}

static bool make_rooms(struct parquet *parquet)
{
	for (size_t i = 0; i < parquet->table->count; i++) {
		const struct field_dictionary *dictionary = parquet->table->fields[i].dictionary;
		if (!dictionary) {
			continue;
		}
		parquet->locals[i] = pages_alloc(dictionary->count, sizeof(**parquet->locals));
		if (!parquet->locals[i]) {
			return false;
		}
	}
	parquet->dense = mem_alloc(PAGE_ROWS, sizeof(*parquet->dense));
	parquet->zstd = parquet->target.is_plain ? NULL : ZSTD_createCCtx();
	return parquet->dense && (parquet->target.is_plain || parquet->zstd);
}

/* Room for the indices of so many rows, whose old content is not needed. */
static bool reserve_indices(struct parquet *parquet, uint32_t rows)
{
	if (rows <= parquet->room) {
		return true;
	}
	mem_free(parquet->chosen);
	mem_free(parquet->used);
	parquet->chosen = mem_alloc(rows, sizeof(*parquet->chosen));
	parquet->used = mem_alloc(rows, sizeof(*parquet->used));
	parquet->room = parquet->chosen && parquet->used ? rows : 0;
	return parquet->room;
}

enum hd_status parquet_begin(const struct field_table *table, const struct field_target *target,
			     struct parquet **ret)
{
	struct parquet *parquet = mem_calloc(1, sizeof(*parquet));
	TRY_MEMORY(parquet, target->err);
	parquet->table = table;
	parquet->target = *target;
	enum hd_status status = make_rooms(parquet) ? HD_OK : fail_nomem(target->err);
	if (status == HD_OK)
		status = put(parquet, MAGIC, strlen(MAGIC));
	if (status != HD_OK) {
		free_parquet(parquet);
		return status;
	}
	*ret = parquet;
	return HD_OK;
}

/* The page in the form in which it is stored; NULL: memory is exhausted. */
static const struct text *pack(struct parquet *parquet)
{
	if (parquet->target.is_plain)
		return &parquet->page;
	struct text *packed = &parquet->packed;
	size_t bound = ZSTD_compressBound(parquet->page.size);
	packed->size = 0;
	char *room = text_extend(packed, bound);
	if (!room)
		return NULL;
	size_t size = ZSTD_compressCCtx(parquet->zstd, room, bound, parquet->page.bytes,
					parquet->page.size, ZSTD_LEVEL);
	if (ZSTD_isError(size))
		return NULL;
	packed->size = size;
	return packed;
}

static void put_page_header(struct text *to, enum page_type type, uint32_t values, size_t size,
			    size_t stored, enum encoding encoding)
{
	struct thrift thrift = { .to = to };
	to->size = 0;
	thrift_i32(&thrift, 1, (int32_t)type);
	thrift_i32(&thrift, 2, (int32_t)size);
	thrift_i32(&thrift, 3, (int32_t)stored);
	thrift_struct(&thrift, type == PAGE_DATA ? 5 : 7);
	thrift_i32(&thrift, 1, (int32_t)values);
	thrift_i32(&thrift, 2, (int32_t)encoding);
	if (type == PAGE_DATA) {
		thrift_i32(&thrift, 3, ENCODING_HYBRID);
		thrift_i32(&thrift, 4, ENCODING_HYBRID);
	}
	thrift_end(&thrift);
	thrift_end(&thrift);
}

/* Write the page that was made, and count it. */
static enum hd_status put_page(struct parquet *parquet, enum page_type type, uint32_t values,
			       enum encoding encoding, struct column_facts_of_group *facts)
{
	struct hd_error *err = parquet->target.err;
	TRY_MEMORY(!parquet->page.failed, err);
	const struct text *stored = pack(parquet);
	TRY_MEMORY(stored, err);
	put_page_header(&parquet->header, type, values, parquet->page.size, stored->size, encoding);
	TRY_MEMORY(!parquet->header.failed, err);
	if (type == PAGE_DICTIONARY) {
		facts->dictionary_page = parquet->at;
	} else if (!facts->first_page) {
		facts->first_page = parquet->at;
	}
	facts->plain_size += parquet->header.size + parquet->page.size;
	facts->stored_size += parquet->header.size + stored->size;
	TRY(put(parquet, parquet->header.bytes, parquet->header.size));
	return stored->size ? put(parquet, stored->bytes, stored->size) : HD_OK;
}

/* The sizes of a page have 31 bits, also after compression. */
static enum hd_status check_page(const struct parquet *parquet, const struct field *field,
				 uint64_t size)
{
	if (size <= INT32_MAX / 2) {
		return HD_OK;
	}
	return fail(parquet->target.err, HD_ERR_UNSUPPORTED, 0,
		    "a text of the column %.48s is too long for a page of a Parquet file, which "
		    "holds 1 GB: cut it, with sql \"SELECT substr(...)\"",
		    field->name);
}

static void put_text(struct text *to, const char *bytes, size_t size)
{
	uint32_t length = (uint32_t)size;
	text_append(to, (const char *)&length, sizeof(length));
	text_append(to, bytes, size);
}

/* Find which values of the table's dictionary the rows have: that is the dictionary of the group. */
static uint32_t choose(struct parquet *parquet, size_t column, const struct field_values *values,
		       uint32_t rows)
{
	struct local_index *locals = parquet->locals[column];
	uint32_t group = parquet->groups_count + 1, count = 0;
	for (uint32_t i = 0; i < rows; i++) {
		if (!field_has(values, i))
			continue;
		struct local_index *local = &locals[values->indices[i]];
		if (local->group != group) {
			*local = (struct local_index){ .group = group, .index = count };
			parquet->used[count++] = values->indices[i];
		}
		parquet->chosen[i] = local->index;
	}
	return count;
}

static enum hd_status put_dictionary(struct parquet *parquet, const struct field *field,
				     uint32_t count, struct column_facts_of_group *facts)
{
	struct text *page = &parquet->page;
	page->size = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = parquet->used[i];
		if (field->type == FIELD_TEXT) {
			const struct field_text *text = &field->dictionary->texts[at];
			TRY(check_page(parquet, field, (uint64_t)page->size + text->size));
			put_text(page, text->bytes, text->size);
		} else {
			text_append(page, (const char *)&field->dictionary->numbers[at],
				    sizeof(*field->dictionary->numbers));
		}
	}
	return put_page(parquet, PAGE_DICTIONARY, count, ENCODING_PLAIN, facts);
}

/* Rows of the page that begins with a row: fewer where they have much text. */
static uint32_t page_rows(const struct field *field, const struct field_values *values,
			  uint32_t first, uint32_t rows)
{
	uint32_t left = rows - first, count = left < PAGE_ROWS ? left : PAGE_ROWS;
	if (field->type != FIELD_TEXT || field->dictionary)
		return count;
	size_t begin = (size_t)values->ends[first];
	if ((size_t)values->ends[first + count] - begin <= PAGE_TEXT)
		return count;
	uint32_t some = 8;
	while (some + 8 <= count && (size_t)values->ends[first + some + 8] - begin <= PAGE_TEXT)
		some += 8;
	return some < count ? some : count;
}

/* The words of the rows that have a value, next to each other. */
static const uint64_t *dense_words(struct parquet *parquet, const struct field_values *values,
				   uint32_t first, uint32_t count, uint32_t *ret_count)
{
	if (!values->null_count) {
		*ret_count = count;
		return values->words + first;
	}
	uint32_t found = 0;
	for (uint32_t i = first; i < first + count; i++) {
		if (field_has(values, i))
			parquet->dense[found++] = values->words[i];
	}
	*ret_count = found;
	return parquet->dense;
}

static void note_range(const struct field *field, const uint64_t *words, uint32_t count,
		       struct column_facts_of_group *facts)
{
	uint64_t bias = field->type == FIELD_SIGNED ? (uint64_t)1 << 63 : 0;
	if (!count || (field->type != FIELD_UNSIGNED && field->type != FIELD_SIGNED))
		return;
	uint64_t least = (facts->has_range ? facts->least : words[0]) ^ bias;
	uint64_t most = (facts->has_range ? facts->most : words[0]) ^ bias;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t word = words[i] ^ bias;
		least = word < least ? word : least;
		most = word > most ? word : most;
	}
	facts->least = least ^ bias;
	facts->most = most ^ bias;
	facts->has_range = true;
}

static void put_bits(struct text *page, const uint64_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i += 8) {
		unsigned int bits = 0;
		for (uint32_t k = 0; k < 8 && i + k < count; k++)
			bits |= (words[i + k] ? 1u : 0u) << k;
		char byte = (char)bits;
		text_append(page, &byte, 1);
	}
}

static enum encoding put_words(struct parquet *parquet, const struct field *field,
			       const struct field_values *values, uint32_t first, uint32_t rows,
			       struct column_facts_of_group *facts)
{
	uint32_t count;
	const uint64_t *words = dense_words(parquet, values, first, rows, &count);
	note_range(field, words, count, facts);
	if (field->type == FIELD_BOOL) {
		put_bits(&parquet->page, words, count);
		return ENCODING_PLAIN;
	}
	if (field->is_near) {
		encode_deltas(&parquet->page, words, count);
		return ENCODING_DELTAS;
	}
	text_append(&parquet->page, (const char *)words, count * sizeof(*words));
	return ENCODING_PLAIN;
}

static enum encoding put_texts(struct parquet *parquet, const struct field_values *values,
			       uint32_t first, uint32_t rows)
{
	for (uint32_t i = first; i < first + rows; i++) {
		size_t at = (size_t)values->ends[i];
		if (field_has(values, i)) {
			put_text(&parquet->page, values->text + at,
				 (size_t)values->ends[i + 1] - at);
		}
	}
	return ENCODING_PLAIN;
}

static enum encoding put_indices(struct parquet *parquet, const struct field_values *values,
				 uint32_t first, uint32_t rows, unsigned int width)
{
	uint32_t *indices = parquet->chosen + first;
	uint32_t count = 0;
	char byte = (char)width;
	for (uint32_t i = 0; i < rows; i++) {
		if (field_has(values, first + i))
			indices[count++] = indices[i];
	}
	text_append(&parquet->page, &byte, 1);
	encode_hybrid(&parquet->page, indices, count, width);
	return ENCODING_DICTIONARY;
}

static enum hd_status put_pages(struct parquet *parquet, size_t column,
				const struct field_values *values, uint32_t rows,
				struct column_facts_of_group *facts)
{
	const struct field *field = &parquet->table->fields[column];
	unsigned int width = 0;
	if (field->dictionary) {
		TRY_MEMORY(reserve_indices(parquet, rows), parquet->target.err);
		uint32_t count = choose(parquet, column, values, rows);
		width = encode_width(count);
		TRY(put_dictionary(parquet, field, count, facts));
		for (uint32_t i = 0; i < count && field->dictionary->numbers; i++) {
			uint64_t number = field->dictionary->numbers[parquet->used[i]];
			note_range(field, &number, 1, facts);
		}
	}
	for (uint32_t first = 0, count; first < rows; first += count) {
		enum encoding encoding;
		count = page_rows(field, values, first, rows);
		if (values->ends) {
			TRY(check_page(parquet, field,
				       (uint64_t)values->ends[first + count] -
					       (uint64_t)values->ends[first]));
		}
		parquet->page.size = 0;
		if (field->is_optional)
			encode_levels(&parquet->page, values, first, count);
		if (field->dictionary) {
			encoding = put_indices(parquet, values, first, count, width);
		} else if (field->type == FIELD_TEXT) {
			encoding = put_texts(parquet, values, first, count);
		} else {
			encoding = put_words(parquet, field, values, first, count, facts);
		}
		TRY(put_page(parquet, PAGE_DATA, count, encoding, facts));
	}
	return HD_OK;
}

static void put_statistics(struct thrift *thrift, const struct column_facts_of_group *facts,
			   uint32_t null_count)
{
	thrift_struct(thrift, 12);
	thrift_i64(thrift, 3, null_count);
	if (facts->has_range) {
		thrift_binary(thrift, 5, (const char *)&facts->most, sizeof(facts->most));
		thrift_binary(thrift, 6, (const char *)&facts->least, sizeof(facts->least));
	}
	thrift_end(thrift);
}

/* The column in the footer. */
static void put_column(struct thrift *thrift, const struct parquet *parquet,
		       const struct field *field, const struct column_facts_of_group *facts,
		       const struct field_values *values, uint32_t rows)
{
	uint64_t first = facts->dictionary_page ? facts->dictionary_page : facts->first_page;
	thrift_struct(thrift, 0);
	thrift_i64(thrift, 2, (int64_t)first);
	thrift_struct(thrift, 3);
	thrift_i32(thrift, 1, field_types[field->type].physical);
	thrift_list(thrift, 2, THRIFT_I32, field->dictionary ? 3 : 2);
	thrift_list_i32(thrift, ENCODING_HYBRID);
	thrift_list_i32(thrift,
			field->is_near && !field->dictionary ? ENCODING_DELTAS : ENCODING_PLAIN);
	if (field->dictionary)
		thrift_list_i32(thrift, ENCODING_DICTIONARY);
	thrift_list(thrift, 3, THRIFT_BINARY, 1);
	thrift_list_binary(thrift, field->name, strlen(field->name));
	thrift_i32(thrift, 4, parquet->target.is_plain ? CODEC_PLAIN : CODEC_ZSTD);
	thrift_i64(thrift, 5, rows);
	thrift_i64(thrift, 6, (int64_t)facts->plain_size);
	thrift_i64(thrift, 7, (int64_t)facts->stored_size);
	thrift_i64(thrift, 9, (int64_t)facts->first_page);
	if (facts->dictionary_page)
		thrift_i64(thrift, 11, (int64_t)facts->dictionary_page);
	put_statistics(thrift, facts, values->null_count);
	thrift_end(thrift);
	thrift_end(thrift);
}

enum hd_status parquet_rows(struct parquet *parquet, const struct field_values *values,
			    uint32_t rows)
{
	const struct field_table *table = parquet->table;
	struct thrift thrift = { .to = &parquet->groups };
	uint64_t plain_size = 0;
	if (!rows)
		return HD_OK;
	thrift_list(&thrift, 1, THRIFT_STRUCT, table->count);
	for (size_t i = 0; i < table->count; i++) {
		struct column_facts_of_group facts = { 0 };
		TRY(put_pages(parquet, i, &values[i], rows, &facts));
		put_column(&thrift, parquet, &table->fields[i], &facts, &values[i], rows);
		plain_size += facts.plain_size;
	}
	thrift_i64(&thrift, 2, (int64_t)plain_size);
	thrift_i64(&thrift, 3, rows);
	thrift_end(&thrift);
	TRY_MEMORY(!parquet->groups.failed, parquet->target.err);
	parquet->groups_count++;
	parquet->rows += rows;
	return HD_OK;
}

/* Both ways to say what a type is: the older one, and the one that has taken its place. */
static void put_logical_type(struct thrift *thrift, enum field_type type)
{
	int converted = field_types[type].converted;
	if (converted < 0)
		return;
	thrift_i32(thrift, 6, converted);
	thrift_struct(thrift, 10);
	if (type == FIELD_TEXT) {
		thrift_struct(thrift, 1);
	} else {
		thrift_struct(thrift, 10);
		thrift_i8(thrift, 1, 64);
		thrift_bool(thrift, 2, false);
	}
	thrift_end(thrift);
	thrift_end(thrift);
}

static void put_schema(struct thrift *thrift, const struct field_table *table)
{
	thrift_list(thrift, 2, THRIFT_STRUCT, table->count + 1);
	thrift_struct(thrift, 0);
	thrift_binary(thrift, 4, "schema", strlen("schema"));
	thrift_i32(thrift, 5, (int32_t)table->count);
	thrift_end(thrift);
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];
		thrift_struct(thrift, 0);
		thrift_i32(thrift, 1, field_types[field->type].physical);
		thrift_i32(thrift, 3, field->is_optional);
		thrift_binary(thrift, 4, field->name, strlen(field->name));
		put_logical_type(thrift, field->type);
		thrift_end(thrift);
	}
}

static void put_metadata(struct thrift *thrift, const struct field_table *table)
{
	struct field_pair pairs[FIELD_PAIRS];
	field_metadata(table, pairs);
	thrift_list(thrift, 5, THRIFT_STRUCT, FIELD_PAIRS);
	for (size_t i = 0; i < FIELD_PAIRS; i++) {
		thrift_struct(thrift, 0);
		thrift_binary(thrift, 1, pairs[i].key, strlen(pairs[i].key));
		thrift_binary(thrift, 2, pairs[i].value, strlen(pairs[i].value));
		thrift_end(thrift);
	}
}

/* Minima and maxima are in the order of each column's type. */
static void put_orders(struct thrift *thrift, size_t count)
{
	thrift_list(thrift, 7, THRIFT_STRUCT, count);
	for (size_t i = 0; i < count; i++) {
		thrift_struct(thrift, 0);
		thrift_struct(thrift, 1);
		thrift_end(thrift);
		thrift_end(thrift);
	}
}

static enum hd_status put_footer(struct parquet *parquet)
{
	const struct field_table *table = parquet->table;
	struct text *footer = &parquet->page;
	struct thrift thrift = { .to = footer };
	char by[64];
	(void)snprintf(by, sizeof(by), "heapdump version %s (build 0)", hd_version());
	footer->size = 0;
	thrift_i32(&thrift, 1, 1);
	put_schema(&thrift, table);
	thrift_i64(&thrift, 3, (int64_t)parquet->rows);
	thrift_list(&thrift, 4, THRIFT_STRUCT, parquet->groups_count);
	text_append(footer, parquet->groups.bytes, parquet->groups.size);
	put_metadata(&thrift, table);
	thrift_binary(&thrift, 6, by, strlen(by));
	put_orders(&thrift, table->count);
	thrift_end(&thrift);
	uint32_t size = (uint32_t)footer->size;
	text_append(footer, (const char *)&size, sizeof(size));
	text_puts(footer, MAGIC);
	TRY_MEMORY(!footer->failed, parquet->target.err);
	return put(parquet, footer->bytes, footer->size);
}

enum hd_status parquet_end(struct parquet *parquet, enum hd_status status)
{
	if (status == HD_OK)
		status = put_footer(parquet);
	free_parquet(parquet);
	return status;
}
