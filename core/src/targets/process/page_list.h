/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Addresses [start, end), both multiples of the page size. */
struct page_range {
	uint64_t start, end;
};

/** A set of pages of an address space; zero-initialised is empty. */
struct page_list {
	struct page_range *rows; /**< in any order and overlapping, until page_list_sort() */
	size_t rows_count, rows_capacity;
	bool failed; /**< memory was exhausted: it is not complete */
};

/** Add the pages that [@p address, @p address + @p size) touches. */
void page_list_add(struct page_list *list, uint64_t address, uint64_t size);

/** Add all pages of @p from. */
void page_list_join(struct page_list *list, const struct page_list *from);

/** Sort it and merge ranges that overlap or touch. */
void page_list_sort(struct page_list *list);

void page_list_deinit(struct page_list *list);
