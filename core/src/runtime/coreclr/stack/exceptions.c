/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "mem/memory.h"
#include "runtime/coreclr/layouts/exinfo.h"
#include "runtime/coreclr/stack/coreclr_stack.h"
#include "runtime/coreclr/threads/in_flight.h"
#include "util/alloc.h"

/* Read the parts at known offsets, if they are consistent. */
static bool read_rest(const struct runtime *runtime, struct exception_record *record,
		      struct unwound_range *ret_range)
{
	struct exinfo info;
	if (!exinfo_read(runtime, record->address, &info))
		return false;
	if (info.object != record->object || info.clause > EXINFO_CLAUSE_LAST || info.pass < 1 ||
	    info.pass > EXINFO_PASS_LAST ||
	    (info.high && (info.low > info.high || info.low < record->address)))
		return false;
	record->slot = info.slot;
	record->handler = info.handler;
	record->clause = info.clause;
	record->is_known = true;
	if (info.is_unwinding && info.low < info.high)
		*ret_range = (struct unwound_range){ info.low, info.high };
	return true;
}

static int compare_unwound_ranges(const void *a, const void *b)
{
	uint64_t left = ((const struct unwound_range *)a)->low;
	uint64_t right = ((const struct unwound_range *)b)->low;
	return left < right ? -1 : left > right;
}

static void sort_unwound_ranges(struct exception_chain *chain)
{
	if (!chain->ranges_count)
		return;
	qsort(chain->ranges, chain->ranges_count, sizeof(*chain->ranges), compare_unwound_ranges);
	for (size_t i = 1; i < chain->ranges_count; i++) {
		if (chain->ranges[i].high < chain->ranges[i - 1].high)
			chain->ranges[i].high = chain->ranges[i - 1].high;
	}
}

static bool add_exception_record(const struct runtime *runtime, uint64_t address,
				 struct exception_chain *chain)
{
	struct exception_record record = { .address = address };
	struct unwound_range range = { 0, 0 };
	if (!exinfo_thrown(runtime, address, &record.slot) ||
	    (record.slot && !memory_u64(runtime_memory(runtime), record.slot, &record.object))) {
		chain->is_broken = true;
		return true;
	}
	/* Other builds may have other offsets. */
	if (!read_rest(runtime, &record, &range) && exinfo_is_certain(runtime))
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

bool coreclr_stack_exceptions(const struct runtime *runtime, uint64_t thread,
			      struct exception_chain *ret)
{
	struct in_flight flight;
	*ret = (struct exception_chain){ 0 };
	for (in_flight_begin(&flight, runtime, thread); flight.at && !ret->is_broken;
	     in_flight_next(&flight)) {
		if (ret->rows_count == EXCEPTIONS_MAX) {
			ret->is_broken = true;
		} else if (!add_exception_record(runtime, flight.at, ret)) {
			return false;
		}
	}
	ret->is_broken |= flight.is_broken;
	sort_unwound_ranges(ret);
	return true;
}
