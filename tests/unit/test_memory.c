/* SPDX-License-Identifier: MIT */
#include "mem/chain.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"

/* A few bytes at an address. */
struct piece {
	struct memory memory;
	uint64_t start;
	const char *bytes;
	size_t size;
	bool is_mapped;
	unsigned int reads;
	unsigned int *destroyed;
};

static size_t piece_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	struct piece *piece = (struct piece *)memory;
	size_t length = piece->size;
	piece->reads++;
	if (address < piece->start || address - piece->start >= length)
		return 0;
	size_t room = length - (size_t)(address - piece->start);
	size = size < room ? size : room;
	memcpy(buf, piece->bytes + (address - piece->start), size);
	return size;
}

static const uint8_t *piece_run(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	struct piece *piece = (struct piece *)memory;
	size_t length = piece->size;
	if (!piece->is_mapped || address < piece->start || address - piece->start >= length)
		return NULL;
	*ret_size = length - (address - piece->start);
	return (const uint8_t *)piece->bytes + (address - piece->start);
}

static uint64_t piece_next(struct memory *memory, uint64_t address)
{
	const struct piece *piece = (const struct piece *)memory;
	uint64_t end = piece->start + piece->size;
	if (address >= end)
		return UINT64_MAX;
	return address > piece->start ? address : piece->start;
}

static void piece_destroy(struct memory *memory)
{
	struct piece *piece = (struct piece *)memory;
	if (piece->destroyed)
		++*piece->destroyed;
	mem_free(piece);
}

static const struct memory_ops piece_ops = {
	.read = piece_read, .run = piece_run, .next = piece_next, .destroy = piece_destroy
};
static const struct memory_ops blind_ops = { .read = piece_read, .destroy = piece_destroy };

static struct memory *piece_create(uint64_t start, const char *bytes, bool is_mapped,
				   unsigned int *destroyed)
{
	struct piece *piece = mem_calloc(1, sizeof(*piece));
	REQUIRE(piece);
	piece->memory = (struct memory){ .ops = is_mapped ? &piece_ops : &blind_ops,
					 .is_parallel = is_mapped };
	piece->start = start;
	piece->bytes = bytes;
	piece->size = strlen(bytes);
	piece->is_mapped = is_mapped;
	piece->destroyed = destroyed;
	return &piece->memory;
}

TEST(prefix_reads_up_to_the_gap)
{
	char buf[8] = "";
	struct memory *memory = piece_create(0x1000, "abcd", true, NULL);
	ASSERT_UINT(memory_prefix(memory, 0x1001, buf, 8), 3);
	CU_ASSERT(memcmp(buf, "bcd", 3) == 0);
	ASSERT_UINT(memory_prefix(memory, 0xfff, buf, 8), 0);
	ASSERT_UINT(memory_prefix(memory, 0x1004, buf, 8), 0);
	CU_ASSERT(!memory_read(memory, 0x1001, buf, 4));
	CU_ASSERT(memory_read(memory, 0x1001, buf, 3));
	CU_ASSERT(memory_read(memory, 0x9999, buf, 0));
	memory_destroy(memory);
	memory_destroy(NULL);
}

TEST(prefix_does_not_wrap)
{
	char buf[64];
	struct memory *memory = piece_create(0, "at zero", true, NULL);
	ASSERT_UINT(memory_prefix(memory, UINT64_MAX - 3, buf, sizeof(buf)), 0);
	ASSERT_UINT(memory_prefix(memory, UINT64_MAX, buf, 1), 0);
	memory_destroy(memory);
	memory = piece_create(UINT64_MAX - 5, "abc", true, NULL);
	ASSERT_UINT(memory_prefix(memory, UINT64_MAX - 5, buf, sizeof(buf)), 3);
	memory_destroy(memory);
}

TEST(numbers_are_all_or_nothing)
{
	struct memory *memory = piece_create(0x10, "12345678", true, NULL);
	uint64_t big = 7;
	uint32_t word = 7;
	uint16_t half = 7;
	uint8_t byte = 7;
	int32_t sign = 7;
	CU_ASSERT(memory_u64(memory, 0x10, &big));
	ASSERT_UINT(big, UINT64_C(0x3837363534333231));
	CU_ASSERT(!memory_u64(memory, 0x11, &big));
	ASSERT_UINT(big, UINT64_C(0x3837363534333231));
	CU_ASSERT(memory_u32(memory, 0x14, &word));
	ASSERT_UINT(word, 0x38373635);
	CU_ASSERT(memory_i32(memory, 0x14, &sign));
	CU_ASSERT(memory_u16(memory, 0x16, &half));
	ASSERT_UINT(half, 0x3837);
	CU_ASSERT(memory_u8(memory, 0x17, &byte));
	ASSERT_UINT(byte, 0x38);
	CU_ASSERT(!memory_u8(memory, 0x18, &byte));
	memory_destroy(memory);
}

TEST(strings_end_in_time_or_fail)
{
	char text[200], buf[256];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct memory *bytes = piece_create(0x10, text, true, NULL);
	/* The NUL is not part of what it has: the string never ends. */
	CU_ASSERT(memory_string(bytes, 0x10, buf, sizeof(buf)) == -1);
	((struct piece *)bytes)->size++;
	CU_ASSERT(memory_string(bytes, 0x10, buf, sizeof(buf)) == 199);
	ASSERT_TEXT(buf, text);
	CU_ASSERT(memory_string(bytes, 0x10, buf, 200) == 199);
	CU_ASSERT(memory_string(bytes, 0x10, buf, 199) == -1);
	CU_ASSERT(memory_string(bytes, 0x10 + 199, buf, 1) == 0);
	CU_ASSERT(memory_string(bytes, 0x10 + 199, buf, 0) == -1);
	CU_ASSERT(memory_string(bytes, 0x10 + 200, buf, sizeof(buf)) == -1);
	memory_destroy(bytes);
}

TEST(chain_takes_each_byte_from_the_first_that_has_it)
{
	char buf[32] = "";
	unsigned int destroyed = 0;
	struct memory *const parts[] = { piece_create(4, "DEF", true, &destroyed),
					 piece_create(0, "0123456789", true, &destroyed),
					 piece_create(8, "xxxxxx", true, &destroyed) };
	struct memory *chain = memory_chain(parts, 3);
	REQUIRE(chain);
	CU_ASSERT(chain->is_parallel);
	ASSERT_UINT(memory_prefix(chain, 0, buf, sizeof(buf)), 14);
	ASSERT_TEXT(buf, "0123DEF789xxxx");
	uint64_t size = 0;
	const uint8_t *run = memory_run(chain, 0, &size);
	CU_ASSERT(run && memcmp(run, "0123", 4) == 0);
	ASSERT_UINT(size, 4); /* where the first part has bytes, it ends */
	run = memory_run(chain, 5, &size);
	CU_ASSERT(run && *run == 'E');
	ASSERT_UINT(size, 2);
	run = memory_run(chain, 8, &size);
	CU_ASSERT(run && *run == '8');
	ASSERT_UINT(size, 2);
	CU_ASSERT_PTR_NULL(memory_run(chain, 14, &size));
	ASSERT_UINT(memory_next(chain, 0), 0);
	ASSERT_UINT(memory_next(chain, 14), UINT64_MAX);
	memory_destroy(chain);
	ASSERT_UINT(destroyed, 3);
}

TEST(chain_asks_what_is_not_mapped)
{
	char buf[32] = "";
	struct memory *const parts[] = { piece_create(0x1004, "DEF", false, NULL),
					 piece_create(0x1000, "0123456789", true, NULL) };
	struct memory *chain = memory_chain(parts, 2);
	REQUIRE(chain);
	CU_ASSERT(!chain->is_parallel);
	uint64_t size;
	CU_ASSERT_PTR_NULL(memory_run(chain, 0x1005, &size));
	/* The first does not say what it has: at 0x1000 it is asked, and answers that it has not. */
	ASSERT_UINT(memory_prefix(chain, 0x1005, buf, sizeof(buf)), 5);
	ASSERT_TEXT(buf, "EF789");
	memory_destroy(chain);
}

TEST(chain_destroys_its_parts_when_memory_is_exhausted)
{
	unsigned int destroyed = 0;
	struct memory *const parts[] = { piece_create(4, "DEF", true, &destroyed),
					 piece_create(0, "0123456789", true, &destroyed) };
	alloc_fail_at(1);
	CU_ASSERT_PTR_NULL(memory_chain(parts, 2));
	alloc_fail_at(0);
	ASSERT_UINT(destroyed, 2);
}

SUITE(.name = "memory")
