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

static void ranges_become_pages(void)
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

static void the_end_of_the_address_space_is_no_wrap(void)
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

/* What is added again and again takes no more memory. */
static void repeated_pages_are_merged(void)
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

static void a_failed_allocation_is_remembered(void)
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

static CU_TestInfo tests[] = {
	{ "ranges_become_pages", ranges_become_pages },
	{ "the_end_of_the_address_space_is_no_wrap", the_end_of_the_address_space_is_no_wrap },
	{ "repeated_pages_are_merged", repeated_pages_are_merged },
	{ "a_failed_allocation_is_remembered", a_failed_allocation_is_remembered },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	CU_SuiteInfo suites[] = { { "page_list", NULL, NULL, NULL, NULL, tests },
				  CU_SUITE_INFO_NULL };
	return suite_main(suites);
}
