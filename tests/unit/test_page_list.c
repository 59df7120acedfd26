/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/suite.h"
#include "targets/process/page_list.h"
#include "util/alloc.h"

static void check(const struct page_list *list, size_t index, uint64_t start, uint64_t end)
{
	REQUIRE(index < list->rows_count ? list->rows : NULL);
	ASSERT_UINT(list->rows[index].start, start);
	ASSERT_UINT(list->rows[index].end, end);
}

TEST(ranges_become_pages)
{
	struct page_list list = { 0 };
	page_list_sort(&list);
	ASSERT_UINT(list.rows_count, 0);
	page_list_add(&list, 0x5fff, 2);
	page_list_add(&list, 0x2000, 0);
	page_list_add(&list, 0x1001, 1);
	page_list_add(&list, 0x3000, 0x1000);
	page_list_add(&list, 0x2fff, 1);
	page_list_add(&list, 0x6fff, 1);
	page_list_sort(&list);
	ASSERT_UINT(list.rows_count, 2);
	check(&list, 0, 0x1000, 0x4000);
	check(&list, 1, 0x5000, 0x7000);
	page_list_deinit(&list);
}

TEST(the_end_of_the_address_space_is_no_wrap)
{
	struct page_list list = { 0 };
	page_list_add(&list, UINT64_MAX - 1, 100);
	page_list_add(&list, UINT64_MAX - 0x2fff, UINT64_MAX);
	page_list_add(&list, 0, 1);
	page_list_sort(&list);
	ASSERT_UINT(list.rows_count, 2);
	check(&list, 0, 0, 0x1000);
	check(&list, 1, UINT64_MAX - 0x2fff, UINT64_MAX - 0xfff);
	page_list_deinit(&list);
}

/* Pages that are added again and again take no more memory. */
TEST(repeated_pages_are_merged)
{
	struct page_list list = { 0 }, other = { 0 };
	for (uint64_t i = 0; i < 1000000; i++)
		page_list_add(&list, i * 7919 % 512 * 0x2000, 1);
	CU_ASSERT(list.rows_capacity < 4096);
	page_list_sort(&list);
	ASSERT_UINT(list.rows_count, 512);
	page_list_add(&other, 0x1000, 0x1000);
	page_list_join(&list, &other);
	page_list_sort(&list);
	ASSERT_UINT(list.rows_count, 511);
	check(&list, 0, 0, 0x3000);
	page_list_deinit(&list);
	page_list_deinit(&other);
}

TEST(a_failed_allocation_is_remembered)
{
	struct page_list list = { 0 }, other = { 0 };
	alloc_fail_at(1);
	page_list_add(&list, 0, 1);
	alloc_fail_at(0);
	CU_ASSERT(list.failed);
	page_list_join(&other, &list);
	CU_ASSERT(other.failed);
	page_list_deinit(&list);
	page_list_deinit(&other);
}

SUITE(.name = "page_list")
