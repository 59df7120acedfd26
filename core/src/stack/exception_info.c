/* SPDX-License-Identifier: MIT */
#include "stack/exception_info.h"

#include <stdlib.h>

#include "clr/threads/in_flight.h"
#include "util/alloc.h"
#include "util/sort.h"

/* ExInfo of 10.0 (exinfo.h, exstatecommon.h); the descriptor has only the first two of it. */
#define EXINFO_HANDLER   0x20u
#define EXINFO_CLAUSE    0x38u
#define EXINFO_FLAGS     0x40u
#define EXINFO_LOW       0x80u
#define EXINFO_HIGH      0x88u
#define EXINFO_EXCEPTION 0xb0u
#define EXINFO_PASS      0xb9u
#define EXINFO_SIZE      0xc0u

#define CLAUSE_LAST    3u
#define UNWIND_STARTED 4u

/* What is known by number, if its parts fit each other. */
static bool read_rest(const struct clr *clr, struct exception_record *record,
		      struct unwound_range *ret_range)
{
	uint8_t bytes[EXINFO_SIZE];
	if (clr->major < 10 || !memory_read(clr->memory, record->address, bytes, sizeof(bytes)))
		return false;
	uint32_t clause = load_u32(bytes + EXINFO_CLAUSE);
	uint64_t low = load_u64(bytes + EXINFO_LOW), high = load_u64(bytes + EXINFO_HIGH);
	uint8_t pass = bytes[EXINFO_PASS];
	if (load_u64(bytes + EXINFO_EXCEPTION) != record->object || clause > CLAUSE_LAST ||
	    pass < 1 || pass > 2 || (high && (low > high || low < record->address)))
		return false;
	record->slot = record->address + EXINFO_EXCEPTION;
	record->handler = load_u64(bytes + EXINFO_HANDLER);
	record->clause = clause;
	record->is_known = true;
	if ((load_u32(bytes + EXINFO_FLAGS) & UNWIND_STARTED) && low < high)
		*ret_range = (struct unwound_range){ low, high };
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	uint64_t left = ((const struct unwound_range *)a)->low;
	uint64_t right = ((const struct unwound_range *)b)->low;
	return left < right ? -1 : left > right;
}

static void sort_ranges(struct exception_chain *chain)
{
	if (!chain->ranges_count)
		return;
	qsort(chain->ranges, chain->ranges_count, sizeof(*chain->ranges), compare_ranges);
	for (size_t i = 1; i < chain->ranges_count; i++) {
		if (chain->ranges[i].high < chain->ranges[i - 1].high)
			chain->ranges[i].high = chain->ranges[i - 1].high;
	}
}

static bool add_record(const struct clr *clr, uint64_t address, struct exception_chain *chain)
{
	struct exception_record record = { .address = address };
	struct unwound_range range = { 0, 0 };
	uint64_t handle = 0;
	if (!clr_pointer(clr, address, L_EXCEPTION_THROWN, &handle) ||
	    (handle && !memory_u64(clr->memory, handle, &record.object))) {
		chain->is_broken = true;
		return true;
	}
	if (handle)
		record.slot = handle;
	/* Of other builds the numbers may be others. */
	if (!read_rest(clr, &record, &range) && clr->major >= 10 &&
	    layout_build_find(clr->build_id))
		chain->is_broken = true;
	if (!PAGES_RESERVE(chain, rows))
		return false;
	chain->rows[chain->rows_count++] = record;
	if (range.high) {
		if (!PAGES_RESERVE(chain, ranges))
			return false;
		chain->ranges[chain->ranges_count++] = range;
	}
	return true;
}

bool exception_chain_read(const struct clr *clr, uint64_t thread, struct exception_chain *ret)
{
	struct in_flight flight;
	*ret = (struct exception_chain){ 0 };
	for (in_flight_begin(&flight, clr, thread); flight.at && !ret->is_broken;
	     in_flight_next(&flight)) {
		if (ret->rows_count == EXCEPTIONS_MAX) {
			ret->is_broken = true;
		} else if (!add_record(clr, flight.at, ret)) {
			return false;
		}
	}
	ret->is_broken |= flight.is_broken;
	sort_ranges(ret);
	return true;
}

void exception_chain_deinit(struct exception_chain *chain)
{
	pages_free(chain->rows, chain->rows_capacity, sizeof(*chain->rows));
	pages_free(chain->ranges, chain->ranges_capacity, sizeof(*chain->ranges));
	*chain = (struct exception_chain){ 0 };
}

bool is_unwound(const struct exception_chain *chain, uint64_t caller_sp)
{
	size_t low = ROWS_FROM(chain->ranges, chain->ranges_count, low, caller_sp);
	return low && caller_sp <= chain->ranges[low - 1].high;
}

const struct exception_record *exception_above(const struct exception_chain *chain, uint64_t sp)
{
	size_t low = ROWS_ABOVE(chain->rows, chain->rows_count, address, sp);
	return low < chain->rows_count ? &chain->rows[low] : NULL;
}
