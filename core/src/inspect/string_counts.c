/* SPDX-License-Identifier: MIT */
#include "inspect/string_counts.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/job.h"

/* How many bytes of a string are read at a time: a multiple of 8. */
#define HASH_PIECE  ((uint64_t)WINDOW_SIZE / 16)
#define HASH_FACTOR 0x9e3779b97f4a7c15u

/* Mapped bytes around the last text compared with. */
struct text_run {
	uint64_t begin, size;
	const uint8_t *bytes;
};

/* Finds the rows of values: slots hold row + 1, 0 is empty. */
struct table {
	struct strings strings;
	uint32_t *slots;
	size_t slot_count; /* a power of 2, or 0 */
	struct text_run run;
};

/* The workers share this. */
struct string_collection {
	struct job *job;
	const struct strings_filter *filter;
	_Atomic uint64_t bytes;
};

struct string_worker {
	struct string_collection *shared;
	struct table table;
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * HASH_FACTOR;
	return hash ^ hash >> 29;
}

static uint64_t hash_piece(uint64_t hash, const uint8_t *bytes, uint64_t size)
{
	for (; size >= 8; size -= 8, bytes += 8)
		hash = mix(hash, load_u64(bytes));
	uint64_t last = 0;
	memcpy(&last, bytes, (size_t)size);
	return size ? mix(hash, last) : hash;
}

/* Hash of a text; false when some of it is not in the target. */
static bool hash_text_at(struct window *window, uint64_t address, uint64_t size, uint64_t *ret)
{
	uint64_t hash = mix(size, HASH_FACTOR);
	while (size) {
		uint64_t piece = size < HASH_PIECE ? size : HASH_PIECE;
		const uint8_t *bytes = window_at(window, address, piece, NULL);
		if (!bytes)
			return false;
		hash = hash_piece(hash, bytes, piece);
		address += piece;
		size -= piece;
	}
	*ret = mix(hash, hash >> 32);
	return true;
}

/* @p size bytes at @p address: a pointer to them if they are mapped, else a copy in @p buf. */
static const uint8_t *text_bytes(struct table *table, uint64_t address, size_t size, uint8_t *buf)
{
	struct memory *memory = table->strings.heap->memory;
	struct text_run *run = &table->run;
	if (address - run->begin >= run->size || run->size - (address - run->begin) < size) {
		run->begin = address;
		run->bytes = memory_run(memory, address, &run->size);
		if (!run->bytes)
			run->size = 0;
	}
	if (run->size && run->size - (address - run->begin) >= size)
		return run->bytes + (address - run->begin);
	return memory_read(memory, address, buf, size) ? buf : NULL;
}

static bool same_text(struct table *table, uint64_t a, uint64_t b, uint64_t size)
{
	uint8_t buf_a[1024], buf_b[1024];
	a += STRING_CHARS;
	b += STRING_CHARS;
	for (uint64_t at = 0; at < size && a != b; at += sizeof(buf_a)) {
		size_t piece = size - at < sizeof(buf_a) ? (size_t)(size - at) : sizeof(buf_a);
		const uint8_t *x = text_bytes(table, a + at, piece, buf_a);
		const uint8_t *y = text_bytes(table, b + at, piece, buf_b);
		if (!x || !y || memcmp(x, y, piece) != 0)
			return false;
	}
	return true;
}

static enum hd_status take_shared_memory(struct string_collection *shared, uint64_t bytes,
					 struct hd_error *err)
{
	uint64_t all = atomic_fetch_add(&shared->bytes, bytes) + bytes;
	return job_check_memory(shared->job, all, err);
}

/* Make room for one more row, at most 3/4 of the slots being taken. */
static enum hd_status reserve_string_row(struct string_collection *shared, struct table *table,
					 struct hd_error *err)
{
	struct strings *strings = &table->strings;
	if (strings->rows_count >= UINT32_MAX - 1)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "over 4,294,967,293 different strings");
	if (strings->rows_count == strings->rows_capacity) {
		size_t before = strings->rows_capacity;
		size_t more = grown_capacity(before, sizeof(*strings->rows)) - before;
		TRY(take_shared_memory(shared, more * sizeof(*strings->rows), err));
		TRY_MEMORY(PAGES_RESERVE(strings, rows), err);
	}
	if (strings->rows_count < table->slot_count / 4 * 3)
		return HD_OK;
	size_t more = table->slot_count ? table->slot_count * 2 : 1024;
	TRY(take_shared_memory(shared, (more - table->slot_count) * sizeof(*table->slots), err));
	uint32_t *slots = pages_alloc(more, sizeof(*slots));
	TRY_MEMORY(slots, err);
	for (size_t i = 0; i < strings->rows_count; i++) {
		size_t at = (size_t)strings->rows[i].hash & (more - 1);
		while (slots[at])
			at = (at + 1) & (more - 1);
		slots[at] = (uint32_t)i + 1;
	}
	pages_free(table->slots, table->slot_count, sizeof(*table->slots));
	table->slots = slots;
	table->slot_count = more;
	return HD_OK;
}

/* Count @p row->count more strings of the value at row->address. */
static enum hd_status add_string_row(struct string_collection *shared, struct table *table,
				     const struct string_count *row, struct hd_error *err)
{
	TRY(reserve_string_row(shared, table, err));
	struct strings *strings = &table->strings;
	size_t mask = table->slot_count - 1, at = (size_t)row->hash & mask;
	for (; table->slots[at]; at = (at + 1) & mask) {
		struct string_count *old = &strings->rows[table->slots[at] - 1];
		if (old->hash != row->hash || old->length != row->length ||
		    !same_text(table, old->address, row->address, 2 * (uint64_t)row->length))
			continue;
		old->count =
			row->count > UINT32_MAX - old->count ? UINT32_MAX : old->count + row->count;
		if (row->address < old->address)
			old->address = row->address;
		return HD_OK;
	}
	strings->rows[strings->rows_count++] = *row;
	table->slots[at] = (uint32_t)strings->rows_count;
	return HD_OK;
}

static enum hd_status add_string_object(struct string_worker *worker, struct walker *walker,
					struct hd_error *err)
{
	const struct object *object = &walker->object;
	const struct strings_filter *filter = worker->shared->filter;
	struct strings *strings = &worker->table.strings;
	if (filter && filter->accept && !filter->accept(filter->arg, walker))
		return HD_OK;
	struct string_count row = { .address = object->address,
				    .count = 1,
				    .length = object->length };
	strings->type = object->type;
	if (!hash_text_at(&walker->window, object->address + STRING_CHARS,
			  2 * (uint64_t)object->length, &row.hash)) {
		strings->unreadable++;
		return HD_OK;
	}
	strings->count++;
	strings->size += object->size;
	return add_string_row(worker->shared, &worker->table, &row, err);
}

static enum hd_status add_gap(struct strings *strings, const struct damage *gap,
			      struct hd_error *err)
{
	if (strings->gaps_count >= GAPS_KEPT)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(strings, gaps), err);
	strings->gaps[strings->gaps_count++] = *gap;
	return HD_OK;
}

static enum hd_status visit_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct string_worker *worker = arg;
	const struct strings_filter *filter = worker->shared->filter;
	bool has_range = filter && (filter->begin || filter->end);
	for (;;) {
		enum walk_result result = walker_next(walker);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE)
			TRY(add_gap(&worker->table.strings, &walker->damage, err));
		const struct object *object = &walker->object;
		if (result != WALK_OBJECT || !object->type->is_string)
			continue;
		if (has_range &&
		    (object->address < filter->begin || object->address >= filter->end))
			continue;
		TRY(add_string_object(worker, walker, err));
	}
}

static void table_deinit(struct table *table)
{
	pages_free(table->slots, table->slot_count, sizeof(*table->slots));
	strings_deinit(&table->strings);
	table->slots = NULL;
}

/* Add all of @p from to @p to and free @p from. */
static enum hd_status merge_string_tables(struct string_collection *shared, struct table *to,
					  struct table *from, struct hd_error *err)
{
	struct strings *strings = &to->strings, *other = &from->strings;
	if (!strings->type)
		strings->type = other->type;
	strings->count += other->count;
	strings->size += other->size;
	strings->unreadable += other->unreadable;
	for (size_t i = 0; i < other->gaps_count; i++)
		TRY(add_gap(strings, &other->gaps[i], err));
	for (size_t i = 0; i < other->rows_count; i++) {
		if (i % JOB_STRIDE == 0 && !job_step(shared->job, 0, 0))
			return fail_cancelled(err);
		TRY(add_string_row(shared, to, &other->rows[i], err));
	}
	table_deinit(from);
	return HD_OK;
}

/* Walk, and merge the workers' tables into the first one. */
static enum hd_status collect_strings(struct heap *heap, struct string_collection *shared,
				      struct string_worker *workers, unsigned int count,
				      struct hd_error *err)
{
	const struct strings_filter *filter = shared->filter;
	void *args[JOB_WORKERS_MAX] = { NULL };
	for (unsigned int i = 0; i < count; i++)
		args[i] = &workers[i];
	TRY(heap_walk(heap,
		      &(const struct heap_tour){ .segments = filter ? filter->segments : NULL,
						 .count = filter ? filter->segment_count : 0,
						 .what = "Counting strings",
						 .visit = visit_segment,
						 .args = args },
		      shared->job, err));
	for (unsigned int i = 1; i < count; i++)
		TRY(merge_string_tables(shared, &workers[0].table, &workers[i].table, err));
	return HD_OK;
}

enum hd_status strings_collect(struct heap *heap, const struct strings_filter *filter,
			       struct job *job, struct strings *ret, struct hd_error *err)
{
	unsigned int count = job_workers(job);
	struct string_collection shared = { .job = job, .filter = filter };
	HD_FREE struct string_worker *workers = mem_calloc(count, sizeof(*workers));
	TRY_MEMORY(workers, err);
	for (unsigned int i = 0; i < count; i++) {
		workers[i].shared = &shared;
		workers[i].table.strings.heap = heap;
	}
	enum hd_status status = collect_strings(heap, &shared, workers, count, err);
	if (status == HD_OK) {
		*ret = workers[0].table.strings;
		workers[0].table.strings = (struct strings){ 0 };
	}
	for (unsigned int i = 0; i < count; i++)
		table_deinit(&workers[i].table);
	return status;
}

void strings_deinit(struct strings *strings)
{
	pages_free(strings->rows, strings->rows_capacity, sizeof(*strings->rows));
	pages_free(strings->gaps, strings->gaps_capacity, sizeof(*strings->gaps));
	*strings = (struct strings){ 0 };
}

uint64_t string_count_size(const struct strings *strings, const struct string_count *row)
{
	return row->count * type_object_size(strings->type, row->length);
}

static int strings_compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_string_rows(const void *a, const void *b, void *arg)
{
	const struct string_count *x = a, *y = b;
	int result = strings_compare_u64(string_count_size(arg, x), string_count_size(arg, y));
	if (!result)
		result = strings_compare_u64(x->count, y->count);
	return result ? result : strings_compare_u64(x->address, y->address);
}

void strings_sort(struct strings *strings, uint32_t min)
{
	size_t kept = 0;
	for (size_t i = 0; i < strings->rows_count; i++) {
		if (strings->rows[i].count >= min)
			strings->rows[kept++] = strings->rows[i];
	}
	strings->rows_count = kept;
	if (kept)
		qsort_r(strings->rows, kept, sizeof(*strings->rows), compare_string_rows, strings);
}
