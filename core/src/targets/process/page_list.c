/* SPDX-License-Identifier: MIT */
#include "targets/process/page_list.h"

#include <stdlib.h>

#include "targets/process/host_page.h"
#include "util/alloc.h"
#include "util/sort.h"

ORDER_BY(compare_page_ranges, struct page_range, start)

void page_list_sort(struct page_list *list)
{
	size_t kept = 0;
	if (!list->rows_count)
		return;
	qsort(list->rows, list->rows_count, sizeof(*list->rows), compare_page_ranges);
	for (size_t i = 1; i < list->rows_count; i++) {
		const struct page_range *row = &list->rows[i];
		if (row->start > list->rows[kept].end) {
			list->rows[++kept] = *row;
		} else if (row->end > list->rows[kept].end) {
			list->rows[kept].end = row->end;
		}
	}
	list->rows_count = kept + 1;
}

/* Make room for one more; first remove what was added twice. */
static bool reserve_page_range(struct page_list *list)
{
	if (list->rows_count < list->rows_capacity)
		return true;
	page_list_sort(list);
	if (list->rows_count < list->rows_capacity / 2)
		return true;
	list->failed |=
		!pages_grow((void **)&list->rows, &list->rows_capacity, sizeof(*list->rows));
	return list->rows_count < list->rows_capacity;
}

void page_list_add(struct page_list *list, uint64_t address, uint64_t size)
{
	uint64_t start = page_of(host_page(), address);
	uint64_t last = size > UINT64_MAX - address ? UINT64_MAX : address + size;
	uint64_t end = last > UINT64_MAX - host_page() ? page_of(host_page(), UINT64_MAX)
						       : page_align(host_page(), last);
	if (!size || start >= end)
		return;
	/* Mostly it is where the last one was, or after it. */
	struct page_range *row = list->rows_count ? &list->rows[list->rows_count - 1] : NULL;
	if (row && start >= row->start && start <= row->end) {
		row->end = end > row->end ? end : row->end;
	} else if (reserve_page_range(list)) {
		list->rows[list->rows_count++] = (struct page_range){ start, end };
	}
}

void page_list_join(struct page_list *list, const struct page_list *from)
{
	for (size_t i = 0; i < from->rows_count; i++) {
		const struct page_range *row = &from->rows[i];
		page_list_add(list, row->start, row->end - row->start);
	}
	list->failed |= from->failed;
}

void page_list_deinit(struct page_list *list)
{
	pages_free(list->rows, list->rows_capacity, sizeof(*list->rows));
	*list = (struct page_list){ 0 };
}
