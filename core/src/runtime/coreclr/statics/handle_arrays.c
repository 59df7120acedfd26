/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/statics/handle_arrays.h"

#include "gc/layouts/gc_vars.h"
#include "gc/layouts/object_layout.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/find.h"
#include "runtime/coreclr/internal.h"
#include "util/alloc.h"

/*
 * PinnedHeapHandleBucket (appdomain.hpp; 8, 9, 10): the next one, i32 size, i32 used, i32, the
 * handle of the array, the array's elements.
 */
#define BUCKET_LENGTH 8u
#define BUCKET_USED   12u
#define BUCKET_HANDLE 24u
#define BUCKET_DATA   32u
#define BUCKET_SIZE   40u

/* PinnedHeapHandleTable in GlobalStringLiteralMap (stringliteralmap.h): a mutex is before it. */
#define LITERALS_10 88u
#define LITERALS_8  160u

#define ARRAY_DATA 16u

/*
 * Most buckets of all tables; most bytes of variables that are searched, around those of
 * g_dacTable.
 */
#define ARRAYS_MAX   4096u
#define MARGIN       65536u
#define RANGE_MAX    ((uint64_t)16 << 20)
#define SEARCH_CHUNK 4096u

/* Read the bucket at @p address; false when there is none. */
static bool read_array_bucket(const struct runtime *runtime, uint64_t address,
			      struct handle_array *ret, uint64_t *ret_next)
{
	uint8_t bytes[BUCKET_SIZE];
	uint64_t array = 0, type = 0;
	uint32_t length = 0;
	if (!address || address % 8 != 0 ||
	    !memory_read(runtime->memory, address, bytes, sizeof(bytes)))
		return false;
	uint64_t handle = load_u64(bytes + BUCKET_HANDLE) & ~(uint64_t)7;
	uint32_t size = load_u32(bytes + BUCKET_LENGTH), used = load_u32(bytes + BUCKET_USED);
	if (!size || used > size || !handle || !memory_u64(runtime->memory, handle, &array) ||
	    array + ARRAY_DATA != load_u64(bytes + BUCKET_DATA) ||
	    !memory_u64(runtime->memory, array, &type) ||
	    (type & ~(uint64_t)7) != runtime->tables.object_array ||
	    !memory_u32(runtime->memory, array + OBJECT_LENGTH, &length) || length != size)
		return false;
	*ret = (struct handle_array){ .address = array, .length = length };
	*ret_next = load_u64(bytes);
	return true;
}

/* Add the buckets of the table at @p address, if there is one. */
static bool add_bucket_table(const struct runtime *runtime, uint64_t address, bool is_literals,
			     struct handle_arrays *arrays)
{
	struct handle_array row;
	uint64_t bucket = 0;
	if (!memory_u64(runtime->memory, address, &bucket))
		return true;
	while (arrays->rows_count < ARRAYS_MAX &&
	       read_array_bucket(runtime, bucket, &row, &bucket) &&
	       !handle_array_at(arrays, row.address)) {
		row.is_literals = is_literals;
		if (!PAGES_RESERVE(arrays, rows))
			return false;
		arrays->rows[arrays->rows_count++] = row;
	}
	return true;
}

/* The range of the variables whose addresses are in g_dacTable. */
static bool find_variables(const struct runtime *runtime, uint64_t *ret_begin, uint64_t *ret_end)
{
	uint64_t begin = UINT64_MAX, end = 0;
	for (size_t i = 0; i < coreclr_of(runtime)->globals.dac_count; i++) {
		uint64_t at;
		if (!dac_entry(runtime, i, &at) || !at)
			continue;
		begin = at < begin ? at : begin;
		end = at > end ? at : end;
	}
	if (begin > end || end - begin > RANGE_MAX || begin < MARGIN || end > UINT64_MAX - MARGIN)
		return false;
	*ret_begin = (begin - MARGIN) & ~(uint64_t)(SEARCH_CHUNK - 1);
	*ret_end = end + MARGIN;
	return true;
}

bool handle_arrays_read(const struct runtime *runtime, struct handle_arrays *ret)
{
	struct handle_arrays arrays = { 0 };
	uint64_t begin, end,
		literals = coreclr_has(runtime, CORECLR_SMALL_LOCKS) ? LITERALS_10 : LITERALS_8;
	uint8_t bytes[SEARCH_CHUNK];
	bool good = true;
	*ret = arrays;
	if (!runtime->tables.object_array || !find_variables(runtime, &begin, &end))
		return true;
	for (uint64_t at = begin; good && at < end; at += SEARCH_CHUNK) {
		size_t size = memory_prefix(runtime->memory, at, bytes, sizeof(bytes));
		for (size_t i = 0; good && i + 8 <= size; i += 8) {
			uint64_t word = load_u64(bytes + i);
			/* A table is not itself a variable. */
			if (word < SEARCH_CHUNK || word % 8 != 0 || word > UINT64_MAX / 2 ||
			    (word >= begin && word < end))
				continue;
			good = add_bucket_table(runtime, word + literals, true, &arrays) &&
			       add_bucket_table(runtime, word, false, &arrays);
		}
	}
	if (!good) {
		handle_arrays_deinit(&arrays);
		return false;
	}
	*ret = arrays;
	return true;
}

void handle_arrays_deinit(struct handle_arrays *arrays)
{
	pages_free(arrays->rows, arrays->rows_capacity, sizeof(*arrays->rows));
	*arrays = (struct handle_arrays){ 0 };
}

const struct handle_array *handle_array_at(const struct handle_arrays *arrays, uint64_t address)
{
	for (size_t i = 0; i < arrays->rows_count; i++) {
		if (arrays->rows[i].address == address)
			return &arrays->rows[i];
	}
	return NULL;
}
