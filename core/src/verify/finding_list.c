/* SPDX-License-Identifier: MIT */
#include "verify/finding_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/sort.h"

void verify_findings_free(struct verify_finding *rows, size_t count, size_t capacity)
{
	for (size_t i = 0; i < count; i++)
		mem_free(rows[i].detail);
	pages_free(rows, capacity, sizeof(*rows));
}

void finding_list_deinit(struct finding_list *list)
{
	verify_findings_free(list->rows, list->rows_count, list->rows_capacity);
	pages_free(list->places, list->place_count, sizeof(*list->places));
	pages_free(list->links, list->links_capacity, sizeof(*list->links));
	*list = (struct finding_list){ 0 };
}

enum hd_status finding_list_add(struct finding_list *list, const struct verify_finding *finding,
				uint32_t *ret, struct hd_error *err)
{
	*ret = NO_FINDING;
	if (list->rows_count >= FINDINGS_KEPT) {
		list->not_kept++;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(list, rows), err);
	*ret = (uint32_t)list->rows_count;
	list->rows[list->rows_count++] = *finding;
	return HD_OK;
}

void verify_finding_detail(struct verify_finding *finding, const char *format, ...)
{
	char buf[512];
	va_list args;
	va_start(args, format);
	int size = vsnprintf(buf, sizeof(buf), format, args);
	va_end(args);
	if (size < 0)
		return;
	mem_free(finding->detail);
	finding->detail =
		mem_strndup(buf, (size_t)size < sizeof(buf) ? (size_t)size : sizeof(buf) - 1);
}

enum hd_status finding_list_merge(struct finding_list *list, uint32_t from, uint32_t into,
				  struct hd_error *err)
{
	if (from == NO_FINDING || from == into)
		return HD_OK;
	struct verify_finding *finding = &list->rows[from];
	TRY(finding_list_link(list, into, finding->address, err));
	mem_free(finding->detail);
	*finding = (struct verify_finding){ .merged = into == NO_FINDING ? 0 : into + 1 };
	return HD_OK;
}

uint32_t finding_list_final(const struct finding_list *list, uint32_t index)
{
	for (unsigned int i = 0; i < 16 && index < list->rows_count; i++) {
		const struct verify_finding *finding = &list->rows[index];
		if (finding->kind)
			return index;
		index = finding->merged ? finding->merged - 1 : NO_FINDING;
	}
	return NO_FINDING;
}

ORDER_BY2(compare_finding_places, struct finding_place, address, finding)

enum hd_status finding_list_index(struct finding_list *list, struct hd_error *err)
{
	pages_free(list->places, list->place_count, sizeof(*list->places));
	list->place_count = 0;
	list->places = pages_alloc(list->rows_count + 1, sizeof(*list->places));
	TRY_MEMORY(list->places, err);
	list->place_count = list->rows_count + 1;
	size_t count = 0;
	for (size_t i = 0; i < list->rows_count; i++) {
		if (list->rows[i].kind) {
			list->places[count++] =
				(struct finding_place){ list->rows[i].address, (uint32_t)i };
		}
	}
	/* Unused entries fill the end of the index. */
	while (count < list->place_count)
		list->places[count++] = (struct finding_place){ UINT64_MAX, NO_FINDING };
	qsort(list->places, list->place_count, sizeof(*list->places), compare_finding_places);
	return HD_OK;
}

uint32_t finding_list_at(const struct finding_list *list, uint64_t address)
{
	size_t low = ROWS_FROM(list->places, list->place_count, address, address);
	bool found = low < list->place_count && list->places[low].address == address;
	return found ? list->places[low].finding : NO_FINDING;
}

enum hd_status finding_list_link(struct finding_list *list, uint32_t finding, uint64_t object,
				 struct hd_error *err)
{
	if (finding == NO_FINDING)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(list, links), err);
	list->links[list->links_count++] = (struct link){ finding, object };
	return HD_OK;
}
