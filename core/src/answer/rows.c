/* SPDX-License-Identifier: MIT */
#include "answer/rows.h"

#include <inttypes.h>

#include "util/alloc.h"
#include "util/arena.h"
#include "util/fail.h"
#include "util/sort.h"

/* Texts that were kept recently: most answers repeat a few names of types. */
#define TEXTS_KNOWN 4096u
/* Longer ones are kept each time: they are values of strings. */
#define KNOWN_SIZE_MAX 256u

/* The rows of a table. */
struct kept_table {
	const struct hd_table *table;
	struct hd_value *values; /* row after row */
	size_t values_count, values_capacity;
	uint64_t *parents; /* for tables in rows: the row to which each row belongs, ascending */
	size_t parents_count, parents_capacity;
	uint64_t *empty; /* also for them: rows in which the table began but has no rows,
			  * ascending */
	size_t empty_count, empty_capacity;
	uint64_t rows;
	uint64_t rows_before; /* when it began the last time */
};

struct known_text {
	const char *bytes;
	size_t size;
};

struct hd_rows {
	struct visit visit;
	struct hd_visitor visitor;
	struct kept_table *tables; /* by hd_table.index */
	size_t tables_count, tables_capacity;
	struct arena *texts;
	struct known_text known[TEXTS_KNOWN];
	struct text warnings;
	uint64_t bytes;
	bool is_exhausted, is_too_large;
};

/* NULL when memory is exhausted. */
static struct kept_table *kept_table_of(struct hd_rows *rows, const struct hd_table *table)
{
	while (rows->tables_count <= table->index) {
		if (!PAGES_RESERVE(rows, tables))
			return NULL;
		rows->tables[rows->tables_count++] = (struct kept_table){ 0 };
	}
	struct kept_table *kept = &rows->tables[table->index];
	kept->table = table;
	return kept;
}

static uint64_t hash_kept_text(const char *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
	return hash;
}

/* NULL when memory is exhausted. */
static const char *copy_text(struct hd_rows *rows, const char *bytes, size_t size)
{
	char *copy = arena_alloc(rows->texts, size);
	if (!copy)
		return NULL;
	memcpy(copy, bytes, size);
	rows->bytes += size;
	return copy;
}

/* A copy of a text that lives as long as the rows; NULL when memory is exhausted. */
static const char *keep_row_text(struct hd_rows *rows, const char *bytes, size_t size)
{
	if (!size)
		return "";
	if (size > KNOWN_SIZE_MAX)
		return copy_text(rows, bytes, size);
	struct known_text *known = &rows->known[hash_kept_text(bytes, size) % TEXTS_KNOWN];
	if (known->size == size && memcmp(known->bytes, bytes, size) == 0)
		return known->bytes;
	const char *copy = copy_text(rows, bytes, size);
	if (copy)
		*known = (struct known_text){ .bytes = copy, .size = size };
	return copy;
}

/* Which row of the table around it is being written; 0 at the top. */
static uint64_t parent_row(const struct hd_rows *rows, const struct hd_table *table)
{
	const struct hd_table *parent = table->parent;
	if (!parent || parent->index >= rows->tables_count || !rows->tables[parent->index].rows)
		return 0;
	return rows->tables[parent->index].rows - 1;
}

static bool append_value(struct hd_rows *rows, struct kept_table *kept,
			 const struct hd_value *value)
{
	if (!PAGES_RESERVE(kept, values))
		return false;
	struct hd_value copy = *value;
	if (value->text) {
		copy.text = keep_row_text(rows, value->text, value->size);
		if (!copy.text)
			return false;
	}
	kept->values[kept->values_count++] = copy;
	return true;
}

static bool append_row(struct hd_rows *rows, const struct hd_table *table,
		       const struct hd_value *values)
{
	struct kept_table *kept = kept_table_of(rows, table);
	if (!kept)
		return false;
	if (table->parent && !PAGES_RESERVE(kept, parents))
		return false;
	for (uint32_t i = 0; i < table->column_count; i++) {
		if (!append_value(rows, kept, &values[i]))
			return false;
	}
	if (table->parent)
		kept->parents[kept->parents_count++] = parent_row(rows, table);
	kept->rows++;
	rows->bytes += table->column_count * sizeof(*values) + sizeof(*kept->parents);
	return true;
}

/* Is there room for this row within the limit, even if all its texts are new? */
static bool has_room(const struct hd_rows *rows, const struct hd_table *table,
		     const struct hd_value *values)
{
	uint64_t size = table->column_count * sizeof(*values) + sizeof(uint64_t);
	for (uint32_t i = 0; i < table->column_count; i++)
		size += values[i].size;
	return !rows->visit.max_mem || rows->bytes + size <= rows->visit.max_mem;
}

static int keep_row(void *arg, const struct hd_table *table, const struct hd_value *values)
{
	struct hd_rows *rows = arg;
	rows->is_too_large = !has_room(rows, table, values);
	if (!rows->is_too_large && !append_row(rows, table, values))
		rows->is_exhausted = true;
	return rows->is_exhausted || rows->is_too_large;
}

/* A table without rows also counts. */
static void keep_begin(void *arg, const struct hd_table *table)
{
	struct hd_rows *rows = arg;
	struct kept_table *kept = kept_table_of(rows, table);
	if (kept) {
		kept->rows_before = kept->rows;
	} else {
		rows->is_exhausted = true;
	}
}

static void keep_end(void *arg, const struct hd_table *table)
{
	struct hd_rows *rows = arg;
	struct kept_table *kept = kept_table_of(rows, table);
	if (!kept || !table->parent || kept->rows != kept->rows_before)
		return;
	if (!PAGES_RESERVE(kept, empty)) {
		rows->is_exhausted = true;
		return;
	}
	kept->empty[kept->empty_count++] = parent_row(rows, table);
	rows->bytes += sizeof(*kept->empty);
}

struct hd_rows *rows_create(void)
{
	struct hd_rows *rows = mem_calloc(1, sizeof(*rows));
	if (!rows)
		return NULL;
	rows->visitor = (struct hd_visitor){
		.struct_size = sizeof(rows->visitor),
		.arg = rows,
		.row = keep_row,
		.begin = keep_begin,
		.end = keep_end,
	};
	rows->visit.visitor = &rows->visitor;
	rows->texts = arena_create();
	if (rows->texts)
		return rows;
	mem_free(rows);
	return NULL;
}

struct visit *rows_visit(struct hd_rows *rows)
{
	return &rows->visit;
}

void rows_warn(struct hd_rows *rows, const char *line)
{
	text_puts(&rows->warnings, line);
	text_puts(&rows->warnings, "\n");
}

enum hd_status rows_check(const struct hd_rows *rows, struct hd_error *err)
{
	if (rows->is_exhausted || rows->warnings.failed)
		return fail_nomem(err);
	if (!rows->is_too_large)
		return HD_OK;
	return fail(err, HD_ERR_NOMEM, 0,
		    "the answer takes more than the memory limit of %" PRIu64
		    " bytes (max-mem): ask for fewer rows, with -limit or -type",
		    rows->visit.max_mem);
}

const struct hd_table *hd_rows_table(const struct hd_rows *rows, size_t index)
{
	return rows && index < rows->tables_count ? rows->tables[index].table : NULL;
}

const struct hd_table *hd_rows_find(const struct hd_rows *rows, const char *name)
{
	for (size_t i = 0; rows && i < rows->tables_count; i++) {
		const struct hd_table *table = rows->tables[i].table;
		if (table && (name ? strcmp(table->name, name) == 0 : table->is_main != 0))
			return table;
	}
	return NULL;
}

/* NULL: it is not one of these rows. */
static const struct kept_table *find_kept(const struct hd_rows *rows, const struct hd_table *table)
{
	if (!rows || !table || table->index >= rows->tables_count)
		return NULL;
	const struct kept_table *kept = &rows->tables[table->index];
	return kept->table == table ? kept : NULL;
}

uint64_t hd_rows_count(const struct hd_rows *rows, const struct hd_table *table)
{
	const struct kept_table *kept = find_kept(rows, table);
	return kept ? kept->rows : 0;
}

const struct hd_value *hd_rows_at(const struct hd_rows *rows, const struct hd_table *table,
				  uint64_t row)
{
	static const struct hd_value none = { .kind = HD_KIND_NULL };
	const struct kept_table *kept = find_kept(rows, table);
	if (!kept || row >= kept->rows)
		return NULL;
	return table->column_count ? &kept->values[row * table->column_count] : &none;
}

uint64_t hd_rows_parent(const struct hd_rows *rows, const struct hd_table *table, uint64_t row)
{
	const struct kept_table *kept = find_kept(rows, table);
	return kept && row < kept->parents_count ? kept->parents[row] : 0;
}

int hd_rows_in(const struct hd_rows *rows, const struct hd_table *table, uint64_t parent,
	       uint64_t *first, uint64_t *count)
{
	const struct kept_table *kept = find_kept(rows, table);
	uint64_t begin = 0, size = 0;
	bool is_there = kept && !table->parent && parent == 0;
	if (is_there) {
		size = kept->rows;
	} else if (kept && table->parent && parent < UINT64_MAX) {
		begin = lower_bound_u64(kept->parents, kept->parents_count, parent);
		size = lower_bound_u64(kept->parents, kept->parents_count, parent + 1) - begin;
		size_t at = lower_bound_u64(kept->empty, kept->empty_count, parent);
		is_there = size || (at < kept->empty_count && kept->empty[at] == parent);
	}
	if (first)
		*first = size ? begin : 0;
	if (count)
		*count = size;
	return is_there;
}

/*
 * Is the table a record outside the rows of other tables, so that it has one row in the whole
 * answer?
 */
static bool is_single(const struct hd_table *table)
{
	for (; table; table = table->parent) {
		if (table->shape != HD_SHAPE_RECORD && table->shape != HD_SHAPE_MEMBERS)
			return false;
	}
	return true;
}

const struct hd_value *hd_rows_member(const struct hd_rows *rows, const char *name)
{
	for (size_t i = 0; rows && name && i < rows->tables_count; i++) {
		const struct hd_table *table = rows->tables[i].table;
		size_t size = table ? strlen(table->name) : 0;
		if (!table || !is_single(table) || strncmp(name, table->name, size) != 0 ||
		    (size && name[size] != '.'))
			continue;
		int column = hd_table_column(table, name + size + (size > 0));
		if (column >= 0 && rows->tables[i].rows)
			return &rows->tables[i].values[column];
	}
	return NULL;
}

const char *hd_rows_warnings(const struct hd_rows *rows)
{
	return rows && rows->warnings.bytes ? rows->warnings.bytes : "";
}

void hd_rows_free(struct hd_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->tables_count; i++) {
		struct kept_table *kept = &rows->tables[i];
		pages_free(kept->values, kept->values_capacity, sizeof(*kept->values));
		pages_free(kept->parents, kept->parents_capacity, sizeof(*kept->parents));
		pages_free(kept->empty, kept->empty_capacity, sizeof(*kept->empty));
	}
	pages_free(rows->tables, rows->tables_capacity, sizeof(*rows->tables));
	arena_destroy(rows->texts);
	text_deinit(&rows->warnings);
	visit_deinit(&rows->visit);
	mem_free(rows);
}
