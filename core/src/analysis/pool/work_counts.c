/* SPDX-License-Identifier: MIT */
#include "analysis/pool/work_counts.h"

#include <stdlib.h>

#include "analysis/pool/callback_name.h"
#include "util/alloc.h"

#define NOT_AN_OBJECT "<not an object>"

void work_counts_deinit(struct work_counts *counts)
{
	for (size_t i = 0; i < counts->rows_count; i++)
		mem_free(counts->rows[i].callback);
	pages_free(counts->rows, counts->rows_capacity, sizeof(*counts->rows));
	hash_index_deinit(&counts->index);
	text_deinit(&counts->callback);
	*counts = (struct work_counts){ 0 };
}

/* The row that is looked for. */
struct work_key {
	const struct work_counts *counts;
	uint64_t group;
};

static bool is_same_work(const void *arg, uint32_t index)
{
	const struct work_key *key = arg;
	const struct work_count *row = &key->counts->rows[index];
	const struct text *callback = &key->counts->callback;
	return row->group == key->group && row->callback_size == callback->size &&
	       memcmp(row->callback, callback->bytes, callback->size) == 0;
}

static uint64_t hash_of_work(uint64_t group, const struct text *callback)
{
	uint64_t hash = hash_mix(0, group);
	for (size_t i = 0; i < callback->size; i++)
		hash = hash * 31 + (unsigned char)callback->bytes[i];
	return hash_mix(hash, callback->size);
}

static enum hd_status append_work(struct work_counts *counts, uint64_t group, uint64_t address,
				  struct hd_error *err)
{
	char *callback = mem_strndup(counts->callback.bytes, counts->callback.size);
	if (!callback || !PAGES_RESERVE(counts, rows)) {
		mem_free(callback);
		return fail_nomem(err);
	}
	counts->rows[counts->rows_count++] =
		(struct work_count){ .group = group,
				     .first = address,
				     .callback = callback,
				     .callback_size = counts->callback.size };
	return HD_OK;
}

enum hd_status work_counts_add(struct work_counts *counts, uint64_t group, uint64_t address,
			       struct hd_error *err)
{
	struct object object;
	uint64_t target;
	counts->callback.size = 0;
	if (!member_object(counts->members, address, &object) ||
	    !callback_append(&counts->callback, counts->heap, counts->members, &object, &target))
		text_puts(&counts->callback, NOT_AN_OBJECT);
	if (counts->callback.failed)
		return fail_nomem(err);
	const struct work_key key = { counts, group };
	uint32_t row = hash_index_add(&counts->index, hash_of_work(group, &counts->callback),
				      (uint32_t)counts->rows_count, is_same_work, &key);
	if (row == UINT32_MAX)
		return fail_nomem(err);
	if (row == counts->rows_count)
		TRY(append_work(counts, group, address, err));
	counts->rows[row].count++;
	return HD_OK;
}

static int compare_work(const void *left, const void *right)
{
	const struct work_count *a = left, *b = right;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return strcmp(a->callback, b->callback);
}

void work_counts_sort(struct work_counts *counts)
{
	if (counts->rows_count)
		qsort(counts->rows, counts->rows_count, sizeof(*counts->rows), compare_work);
}
