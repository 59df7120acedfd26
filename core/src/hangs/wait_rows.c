/* SPDX-License-Identifier: MIT */
#include "hangs/wait_rows.h"

#include <stdlib.h>

#include "hangs/waits.h"
#include "util/alloc.h"
#include "util/sort.h"

enum hd_status wait_rows_add(struct wait_rows *rows, uint64_t object, uint32_t node,
			     struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(rows, rows), err);
	rows->rows[rows->rows_count++] = (struct wait_row){ object, node };
	return HD_OK;
}

ORDER_BY2(compare_wait_rows, struct wait_row, object, node)

void wait_rows_sort(struct wait_rows *rows)
{
	if (rows->rows_count)
		qsort(rows->rows, rows->rows_count, sizeof(*rows->rows), compare_wait_rows);
}

void wait_rows_deinit(struct wait_rows *rows)
{
	pages_free(rows->rows, rows->rows_capacity, sizeof(*rows->rows));
	*rows = (struct wait_rows){ 0 };
}

size_t wait_rows_of(const struct wait_rows *rows, uint64_t object)
{
	size_t first = ROWS_FROM(rows->rows, rows->rows_count, object, object);
	return object && wait_rows_has(rows, first, object) ? first : rows->rows_count;
}

uint32_t wait_rows_first(const struct wait_rows *rows, uint64_t object)
{
	size_t first = wait_rows_of(rows, object);
	return first < rows->rows_count ? rows->rows[first].node : WAIT_NOBODY;
}

uint32_t wait_rows_only(const struct wait_rows *rows, uint64_t object)
{
	uint32_t node = wait_rows_first(rows, object);
	size_t above = ROWS_ABOVE(rows->rows, rows->rows_count, object, object);
	/* They ascend by node. */
	return node != WAIT_NOBODY && rows->rows[above - 1].node == node ? node : WAIT_NOBODY;
}
