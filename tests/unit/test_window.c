/* SPDX-License-Identifier: MIT */
#include "mem/window.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"

/** The address space of the tests: byte i of a region is i * 7. */
#define FIRST ((uint64_t)0x10000)

static uint8_t value_of(uint64_t address)
{
	return (uint8_t)(address * 7);
}

/* Two regions: 64 mapped bytes, then WINDOW_SIZE * 2 that are only copied. */
static size_t fake_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	(void)memory;
	uint64_t end = FIRST + 64 + WINDOW_SIZE * 2;
	if (address < FIRST || address >= end)
		return 0;
	size = size < end - address ? size : (size_t)(end - address);
	for (size_t i = 0; i < size; i++)
		((uint8_t *)buf)[i] = value_of(address + i);
	return size;
}

static const uint8_t *fake_run(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	static uint8_t mapped[64];
	(void)memory;
	if (address < FIRST || address >= FIRST + sizeof(mapped))
		return NULL;
	(void)fake_read(memory, FIRST, mapped, sizeof(mapped));
	*ret_size = FIRST + sizeof(mapped) - address;
	return mapped + (address - FIRST);
}

static const struct memory_ops fake_ops = { .read = fake_read, .run = fake_run };
static struct memory fake = { .ops = &fake_ops };

TEST(mapped_bytes_are_pointed_at)
{
	struct window window = { .memory = &fake };
	uint64_t size = 0;
	const uint8_t *bytes = window_at(&window, FIRST + 8, 8, &size);
	REQUIRE(bytes);
	ASSERT_UINT(size, 56);
	ASSERT_UINT(*bytes, value_of(FIRST + 8));
	CU_ASSERT_PTR_NULL(window.buffer);
	/* Further on, and back within what is at hand. */
	CU_ASSERT(window_at(&window, FIRST + 63, 1, NULL) == bytes + 55);
	CU_ASSERT(window_at(&window, FIRST + 8, 1, NULL) == bytes);
	CU_ASSERT_PTR_NOT_NULL(window_at(&window, FIRST, 1, NULL));
	window_deinit(&window);
}

TEST(a_border_is_crossed_by_a_copy)
{
	struct window window = { .memory = &fake };
	uint64_t size = 0;
	const uint8_t *bytes = window_at(&window, FIRST + 60, 8, &size);
	REQUIRE(bytes);
	ASSERT_UINT(size, WINDOW_SIZE);
	for (uint64_t i = 0; i < 8; i++)
		ASSERT_UINT(bytes[i], value_of(FIRST + 60 + i));
	CU_ASSERT(bytes == window.buffer);
	window_deinit(&window);
	ASSERT_UINT(window.size, 0);
}

TEST(what_is_missing_is_null)
{
	struct window window = { .memory = &fake };
	uint64_t end = FIRST + 64 + WINDOW_SIZE * 2;
	CU_ASSERT_PTR_NULL(window_at(&window, FIRST - 1, 1, NULL));
	CU_ASSERT_PTR_NULL(window_at(&window, end - 4, 8, NULL));
	CU_ASSERT_PTR_NOT_NULL(window_at(&window, end - 8, 8, NULL));
	CU_ASSERT_PTR_NULL(window_at(&window, FIRST + 64, WINDOW_SIZE + 1, NULL));
	CU_ASSERT_PTR_NOT_NULL(window_at(&window, FIRST + 64, WINDOW_SIZE, NULL));
	CU_ASSERT_PTR_NULL(window_at(&window, UINT64_MAX - 2, 8, NULL));
	window_deinit(&window);
}

TEST(a_failed_move_leaves_nothing_stale)
{
	struct window window = { .memory = &fake };
	CU_ASSERT_PTR_NOT_NULL(window_at(&window, FIRST + 100, 8, NULL));
	CU_ASSERT_PTR_NULL(window_at(&window, FIRST + 64 + WINDOW_SIZE * 2 - 4, 8, NULL));
	const uint8_t *bytes = window_at(&window, FIRST + 100, 8, NULL);
	REQUIRE(bytes);
	ASSERT_UINT(*bytes, value_of(FIRST + 100));
	window_deinit(&window);
}

TEST(exhausted_memory_is_null)
{
	struct window window = { .memory = &fake };
	alloc_fail_at(1);
	CU_ASSERT_PTR_NULL(window_at(&window, FIRST + 100, 8, NULL));
	CU_ASSERT_PTR_NOT_NULL(window_at(&window, FIRST, 8, NULL));
	alloc_fail_at(0);
	CU_ASSERT_PTR_NOT_NULL(window_at(&window, FIRST + 100, 8, NULL));
	window_deinit(&window);
}

SUITE(.name = "window")
