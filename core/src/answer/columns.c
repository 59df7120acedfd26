/* SPDX-License-Identifier: MIT */
#include "answer/columns.h"

#include <inttypes.h>
#include <math.h>

#include "util/alloc.h"

/* A chunk begins with room for that many rows: most answers are short. */
#define CAPACITY_MIN 64u

#define KIND_BIT(kind) ((uint32_t)1 << (kind))
#define TEXTS          (KIND_BIT(HD_KIND_TEXT) | KIND_BIT(HD_KIND_TYPE) | KIND_BIT(HD_KIND_SET))
#define REALS          (KIND_BIT(HD_KIND_REAL) | KIND_BIT(HD_KIND_PERCENT))
#define COUNTS         (KIND_BIT(HD_KIND_NUMBER) | KIND_BIT(HD_KIND_BYTES) | KIND_BIT(HD_KIND_ADDRESS))

static bool is_text_kind(uint32_t kind)
{
	return TEXTS >> kind & 1;
}

enum column_type column_type_of(uint32_t kind, const struct column_facts *facts)
{
	uint32_t kinds = kind == HD_KIND_ANY ? facts->kinds : KIND_BIT(kind);
	bool has_signed = kinds & KIND_BIT(HD_KIND_SIGNED), has_counts = kinds & COUNTS;
	if (!kinds)
		return COLUMN_NULL;
	if (kinds == KIND_BIT(HD_KIND_FLAG))
		return COLUMN_BOOL;
	if (kinds & (TEXTS | KIND_BIT(HD_KIND_FLAG)))
		return COLUMN_TEXT;
	if (kinds & REALS)
		return (has_signed || has_counts) && facts->is_inexact ? COLUMN_TEXT : COLUMN_REAL;
	if (!has_signed)
		return COLUMN_UNSIGNED;
	if (has_counts && facts->is_large)
		return facts->is_negative ? COLUMN_TEXT : COLUMN_UNSIGNED;
	return COLUMN_SIGNED;
}

struct chunk *chunk_create(const uint32_t *kinds, uint32_t count)
{
	size_t size = sizeof(struct chunk) + count * sizeof(struct chunk_column);
	struct chunk *chunk = mem_calloc(1, size);
	if (!chunk)
		return NULL;
	chunk->count = count;
	for (uint32_t i = 0; i < count; i++)
		chunk->columns[i].kind = kinds[i];
	return chunk;
}

void chunk_destroy(struct chunk *chunk)
{
	for (uint32_t i = 0; chunk && i < chunk->count; i++) {
		struct chunk_column *column = &chunk->columns[i];
		mem_free(column->words);
		mem_free(column->ends);
		mem_free(column->kinds);
		mem_free(column->validity);
		text_deinit(&column->text);
	}
	mem_free(chunk);
}

bool chunk_has_room(const struct chunk *chunk, const struct hd_value *values)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		size_t size = chunk->columns[i].text.size;
		if (size && size + values[i].size > CHUNK_TEXT_MAX)
			return false;
	}
	return true;
}

static bool resize_array(void **array, size_t count, size_t size)
{
	void *more = mem_realloc(*array, count, size);
	if (more)
		*array = more;
	return more;
}

/* Bytes of the bits of so many rows: whole words, as Arrow recommends. */
static size_t validity_size(size_t rows)
{
	return (rows + 63) / 64 * 8;
}

static bool resize_column(struct chunk_column *column, uint32_t old, uint32_t capacity)
{
	bool is_text = is_text_kind(column->kind), is_any = column->kind == HD_KIND_ANY;
	if (is_text && !resize_array((void **)&column->ends, (size_t)capacity + 1, 4))
		return false;
	if (is_text && !old)
		column->ends[0] = 0;
	if (!is_text && !resize_array((void **)&column->words, capacity, 8))
		return false;
	if (is_any && !resize_array((void **)&column->kinds, capacity, 1))
		return false;
	if (!column->validity)
		return true;
	size_t before = validity_size(old), size = validity_size(capacity);
	if (!resize_array((void **)&column->validity, size, 1))
		return false;
	memset(column->validity + before, 0xff, size - before);
	return true;
}

static bool reserve_rows(struct chunk *chunk)
{
	if (chunk->rows < chunk->capacity)
		return true;
	uint32_t capacity = chunk->capacity ? chunk->capacity * 2 : CAPACITY_MIN;
	for (uint32_t i = 0; i < chunk->count; i++) {
		if (!resize_column(&chunk->columns[i], chunk->capacity, capacity))
			return false;
	}
	chunk->capacity = capacity;
	return true;
}

static bool note_null(struct chunk_column *column, uint32_t row, uint32_t capacity)
{
	if (!column->validity) {
		size_t size = validity_size(capacity);
		column->validity = mem_alloc(size, 1);
		if (!column->validity)
			return false;
		memset(column->validity, 0xff, size);
	}
	column->validity[row / 8] &= (uint8_t) ~(1u << row % 8);
	column->null_count++;
	return true;
}

static void learn(struct column_facts *facts, const struct hd_value *value)
{
	uint32_t bit = KIND_BIT(value->kind);
	facts->kinds |= bit;
	if (bit == KIND_BIT(HD_KIND_SIGNED)) {
		facts->is_negative |= value->signed_number < 0;
		uint64_t size = value->signed_number < 0 ? -value->number : value->number;
		facts->is_inexact |= size > (uint64_t)1 << 53;
	} else if (bit & COUNTS) {
		facts->is_large |= value->number > INT64_MAX;
		facts->is_inexact |= value->number > (uint64_t)1 << 53;
	}
}

static enum hd_status too_long(struct hd_error *err)
{
	return fail(err, HD_ERR_UNSUPPORTED, 0,
		    "a text takes 2 GB or more, which has no place in a column; cut it, with "
		    "sql \"SELECT substr(...)\"");
}

static enum hd_status append_cell(struct chunk *chunk, struct chunk_column *column,
				  const struct hd_value *value, struct hd_error *err)
{
	uint32_t row = chunk->rows;
	bool is_null = value->kind == HD_KIND_NULL;
	if (is_null)
		TRY_MEMORY(note_null(column, row, chunk->capacity), err);
	if (!is_null && is_text_kind(value->kind)) {
		if (value->size > INT32_MAX)
			return too_long(err);
		text_valid(&column->text, value->text, value->size);
		TRY_MEMORY(!column->text.failed, err);
		if (column->text.size > INT32_MAX)
			return too_long(err);
	}
	if (column->ends) {
		column->ends[row + 1] = (int32_t)column->text.size;
		return HD_OK;
	}
	column->words[row] = is_text_kind(value->kind) ? column->text.size : value->number;
	if (column->kinds)
		column->kinds[row] = (uint8_t)value->kind;
	return HD_OK;
}

enum hd_status chunk_append(struct chunk *chunk, const struct hd_value *values,
			    struct column_facts *facts, struct hd_error *err)
{
	TRY_MEMORY(reserve_rows(chunk), err);
	for (uint32_t i = 0; i < chunk->count; i++) {
		if (values[i].kind != HD_KIND_NULL)
			learn(&facts[i], &values[i]);
		TRY(append_cell(chunk, &chunk->columns[i], &values[i], err));
	}
	chunk->rows++;
	return HD_OK;
}

uint64_t chunk_size(const struct chunk *chunk)
{
	uint64_t size = sizeof(*chunk);
	for (uint32_t i = 0; i < chunk->count; i++) {
		const struct chunk_column *column = &chunk->columns[i];
		uint64_t row = (column->words ? 8u : 4u) + (column->kinds ? 1u : 0u);
		size += sizeof(*column) + chunk->rows * row + column->text.size;
	}
	return size;
}

static double real_of(uint32_t kind, uint64_t word)
{
	double real;
	if (kind == HD_KIND_SIGNED)
		return (double)(int64_t)word;
	if (KIND_BIT(kind) & COUNTS)
		return (double)word;
	memcpy(&real, &word, sizeof(real));
	return real;
}

/* A value of any kind as text. */
static void put_value(struct text *text, uint32_t kind, uint64_t word)
{
	char buf[32];
	if (kind == HD_KIND_FLAG) {
		text_puts(text, word ? "true" : "false");
	} else if (kind == HD_KIND_ADDRESS) {
		text_printf(text, "0x%" PRIx64, word);
	} else if (kind == HD_KIND_SIGNED) {
		text_printf(text, "%" PRId64, (int64_t)word);
	} else if (REALS & KIND_BIT(kind)) {
		text_puts(text, format_real(real_of(kind, word), false, buf, sizeof(buf)));
	} else {
		text_number(text, word);
	}
}

static enum hd_status settle_as_text(const struct chunk *chunk, struct chunk_column *column,
				     struct hd_error *err)
{
	HD_CLEANUP(text) struct text all = { 0 };
	column->ends = mem_alloc((size_t)chunk->rows + 1, sizeof(*column->ends));
	TRY_MEMORY(column->ends, err);
	column->ends[0] = 0;
	size_t from = 0;
	for (uint32_t i = 0; i < chunk->rows; i++) {
		uint32_t kind = column->kinds[i];
		if (is_text_kind(kind)) {
			text_append(&all, column->text.bytes + from, column->words[i] - from);
			from = column->words[i];
		} else if (kind != HD_KIND_NULL) {
			put_value(&all, kind, column->words[i]);
		}
		if (all.size > INT32_MAX)
			return too_long(err);
		column->ends[i + 1] = (int32_t)all.size;
	}
	TRY_MEMORY(!all.failed, err);
	const struct text before = column->text;
	column->text = all;
	all = before;
	return HD_OK;
}

enum hd_status chunk_settle(struct chunk *chunk, uint32_t index, enum column_type type,
			    struct hd_error *err)
{
	struct chunk_column *column = &chunk->columns[index];
	if (column->kind != HD_KIND_ANY || column->ends)
		return HD_OK;
	if (type == COLUMN_TEXT)
		return settle_as_text(chunk, column, err);
	for (uint32_t i = 0; type == COLUMN_REAL && i < chunk->rows; i++) {
		if (column->kinds[i] == HD_KIND_NULL)
			continue;
		double real = real_of(column->kinds[i], column->words[i]);
		memcpy(&column->words[i], &real, sizeof(real));
		column->kinds[i] = HD_KIND_REAL;
	}
	return HD_OK;
}
