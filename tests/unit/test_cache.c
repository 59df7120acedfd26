/* SPDX-License-Identifier: MIT */
#include "mem/cache.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"

#define BASE UINT64_C(0x7f0000000000)

/* A slow memory: what is there, and how often it was asked. */
struct slow {
	struct memory memory;
	uint64_t begin, end;           /* the bytes that are there */
	uint64_t hole_begin, hole_end; /* but for these */
	unsigned int calls;
	uint64_t asked; /* bytes */
	unsigned int destroyed;
};

static uint8_t byte_at(uint64_t address)
{
	return (uint8_t)(address * 31 + (address >> 12) * 7);
}

static size_t slow_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	struct slow *slow = (struct slow *)memory;
	slow->calls++;
	slow->asked += size;
	size_t done = 0;
	while (done < size) {
		uint64_t at = address + done;
		if (at < slow->begin || at >= slow->end ||
		    (at >= slow->hole_begin && at < slow->hole_end))
			break;
		((uint8_t *)buf)[done++] = byte_at(at);
	}
	return done;
}

static void slow_destroy(struct memory *memory)
{
	((struct slow *)memory)->destroyed++;
}

static const struct memory_ops slow_ops = { .read = slow_read, .destroy = slow_destroy };

static struct slow make_slow(uint64_t size)
{
	return (struct slow){
		.memory = { .ops = &slow_ops },
		.begin = BASE,
		.end = BASE + size,
	};
}

/* How much of [address, address + size) comes, and comes right. */
static size_t check_prefix(struct memory *memory, uint64_t address, size_t size)
{
	uint8_t *buf = mem_alloc(size, 1);
	REQUIRE(buf);
	size_t got = memory_prefix(memory, address, buf, size);
	for (size_t i = 0; i < got; i++) {
		if (buf[i] != byte_at(address + i)) {
			ASSERT_UINT(buf[i], byte_at(address + i));
			break;
		}
	}
	mem_free(buf);
	return got;
}

TEST(second_read_costs_nothing)
{
	struct slow slow = make_slow(1 << 20);
	struct memory *cache = memory_cache(&slow.memory);
	REQUIRE(cache);
	ASSERT_UINT(check_prefix(cache, BASE + 5, 8), 8);
	ASSERT_UINT(slow.calls, 1);
	ASSERT_UINT(slow.asked, CACHE_CHUNK);
	ASSERT_UINT(check_prefix(cache, BASE + 100, 5000), 5000);
	ASSERT_UINT(slow.calls, 1);
	ASSERT_UINT(check_prefix(cache, BASE + CACHE_CHUNK - 4, 8), 8);
	ASSERT_UINT(slow.calls, 2);
	ASSERT_UINT(cache->is_parallel, false);
	uint64_t size;
	CU_ASSERT_PTR_NULL(memory_run(cache, BASE, &size));
	memory_destroy(cache);
	ASSERT_UINT(slow.destroyed, 1);
}

TEST(read_over_many_chunks)
{
	struct slow slow = make_slow(1 << 20);
	struct memory *cache = memory_cache(&slow.memory);
	REQUIRE(cache);
	ASSERT_UINT(check_prefix(cache, BASE + 1, (1 << 20) - 1), (1 << 20) - 1);
	ASSERT_UINT(check_prefix(cache, BASE + 1, 1 << 20), (1 << 20) - 1);
	memory_destroy(cache);
}

TEST(chunks_far_apart_share_a_slot)
{
	struct slow slow = make_slow(3 * CACHE_SIZE);
	struct memory *cache = memory_cache(&slow.memory);
	REQUIRE(cache);
	for (unsigned int turn = 0; turn < 3; turn++) {
		ASSERT_UINT(check_prefix(cache, BASE + 16, 8), 8);
		ASSERT_UINT(check_prefix(cache, BASE + CACHE_SIZE + 16, 8), 8);
	}
	ASSERT_UINT(slow.calls, 6);
	/* Neighbours do not drive each other out. */
	unsigned int before = slow.calls;
	for (uint64_t i = 0; i < CACHE_SIZE / CACHE_CHUNK; i++)
		ASSERT_UINT(check_prefix(cache, BASE + i * CACHE_CHUNK, 8), 8);
	ASSERT_UINT(slow.calls - before, CACHE_SIZE / CACHE_CHUNK);
	for (uint64_t i = 0; i < CACHE_SIZE / CACHE_CHUNK; i++)
		ASSERT_UINT(check_prefix(cache, BASE + i * CACHE_CHUNK, 8), 8);
	ASSERT_UINT(slow.calls - before, CACHE_SIZE / CACHE_CHUNK);
	memory_destroy(cache);
}

TEST(prefix_of_a_chunk_is_remembered)
{
	struct slow slow = make_slow(5000);
	struct memory *cache = memory_cache(&slow.memory);
	REQUIRE(cache);
	ASSERT_UINT(check_prefix(cache, BASE + 4990, 4), 4);
	ASSERT_UINT(slow.calls, 1);
	ASSERT_UINT(check_prefix(cache, BASE, 5000), 5000);
	ASSERT_UINT(slow.calls, 1);
	ASSERT_UINT(check_prefix(cache, BASE + 4990, 100), 10);
	ASSERT_UINT(check_prefix(cache, BASE + 9000, 1), 0);
	ASSERT_UINT(check_prefix(cache, BASE, 5000), 5000);
	memory_destroy(cache);
}

TEST(bytes_behind_a_hole_are_found)
{
	struct slow slow = make_slow(1 << 16);
	slow.hole_begin = BASE;
	slow.hole_end = BASE + 4096;
	struct memory *cache = memory_cache(&slow.memory);
	REQUIRE(cache);
	ASSERT_UINT(check_prefix(cache, BASE + 8, 8), 0);
	ASSERT_UINT(check_prefix(cache, BASE + 5000, 8), 8);
	unsigned int before = slow.calls;
	ASSERT_UINT(check_prefix(cache, BASE + 4096, 10000), 10000);
	ASSERT_UINT(slow.calls, before);
	slow.hole_begin = BASE + 0x8100;
	slow.hole_end = BASE + 0x8200; /* not a whole page: what a core may lack */
	ASSERT_UINT(check_prefix(cache, BASE + 0x8000, 0x300), 0x100);
	ASSERT_UINT(check_prefix(cache, BASE + 0x8180, 8), 0);
	ASSERT_UINT(check_prefix(cache, BASE + 0x8200, 0x300), 0x300);
	memory_destroy(cache);
}

TEST(ends_of_the_address_space)
{
	struct slow slow = { .memory = { .ops = &slow_ops },
			     .begin = UINT64_MAX - 100,
			     .end = UINT64_MAX };
	struct memory *cache = memory_cache(&slow.memory);
	REQUIRE(cache);
	ASSERT_UINT(check_prefix(cache, UINT64_MAX - 50, 200), 50);
	ASSERT_UINT(check_prefix(cache, UINT64_MAX - 5000, 8), 0);
	ASSERT_UINT(check_prefix(cache, 0, 8), 0);
	memory_destroy(cache);
}

TEST(random_reads_are_right)
{
	struct slow slow = make_slow(1 << 18);
	slow.hole_begin = BASE + 0x11000;
	slow.hole_end = BASE + 0x13000;
	struct memory *cache = memory_cache(&slow.memory);
	REQUIRE(cache);
	uint64_t state = 88172645463325252u;
	for (unsigned int i = 0; i < 20000; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		uint64_t address = BASE - 0x1000 + state % 0x42000;
		size_t size = 1 + (size_t)(state >> 40) % 20000, expected = 0;
		uint8_t byte;
		while (expected < size && slow_read(&slow.memory, address + expected, &byte, 1))
			expected++;
		ASSERT_UINT(check_prefix(cache, address, size), expected);
	}
	memory_destroy(cache);
}

TEST(memory_may_be_exhausted)
{
	struct slow slow = make_slow(1 << 20);
	alloc_fail_at(1);
	CU_ASSERT_PTR_NULL(memory_cache(&slow.memory));
	ASSERT_UINT(slow.destroyed, 1);
	alloc_fail_at(2);
	struct memory *cache = memory_cache(&slow.memory);
	REQUIRE(cache);
	uint8_t buf[16];
	ASSERT_UINT(memory_prefix(cache, BASE + 8, buf, sizeof(buf)), sizeof(buf));
	ASSERT_UINT(buf[3], byte_at(BASE + 11));
	alloc_fail_at(0);
	ASSERT_UINT(check_prefix(cache, BASE + 8, 16), 16);
	memory_destroy(cache);
}

SUITE(.name = "cache")
