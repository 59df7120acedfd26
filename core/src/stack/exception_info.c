/* SPDX-License-Identifier: MIT */
#include "stack/exception_info.h"

#include "util/alloc.h"
#include "util/sort.h"

void exception_chain_deinit(struct exception_chain *chain)
{
	pages_free(chain->rows, chain->rows_capacity, sizeof(*chain->rows));
	pages_free(chain->ranges, chain->ranges_capacity, sizeof(*chain->ranges));
	*chain = (struct exception_chain){ 0 };
}

bool exception_is_unwound(const struct exception_chain *chain, uint64_t caller_sp)
{
	size_t low = ROWS_FROM(chain->ranges, chain->ranges_count, low, caller_sp);
	return low && caller_sp <= chain->ranges[low - 1].high;
}

const struct exception_record *exception_above(const struct exception_chain *chain, uint64_t sp)
{
	size_t low = ROWS_ABOVE(chain->rows, chain->rows_count, address, sp);
	return low < chain->rows_count ? &chain->rows[low] : NULL;
}
