/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/inflate.h"

/* Raw deflate by hand (RFC 1951 3.2.4): the last block, stored; 5 bytes. */
static const uint8_t stored[] = { 0x01, 5, 0, 0xfa, 0xff, 'h', 'e', 'l', 'l', 'o' };
/* With fixed codes (3.2.6): 'a' (0x91: 8 bits), the 258 bytes before it at distance 1, the end. */
static const uint8_t repeated[] = { 0x4b, 0x1c, 0x05, 0x00 };

TEST(blocks_become_bytes)
{
	uint8_t bytes[300] = { 0 };
	CU_ASSERT(inflate_raw(stored, sizeof(stored), bytes, 5));
	CU_ASSERT(memcmp(bytes, "hello", 5) == 0);
	CU_ASSERT(inflate_raw(repeated, sizeof(repeated), bytes, 259));
	for (size_t i = 0; i < 259; i++)
		ASSERT_UINT(bytes[i], 'a');
}

TEST(other_sizes_and_damage_are_refused)
{
	uint8_t bytes[300] = { 0 };
	CU_ASSERT(!inflate_raw(stored, sizeof(stored), bytes, 4));
	CU_ASSERT(!inflate_raw(stored, sizeof(stored), bytes, 6));
	CU_ASSERT(!inflate_raw(stored, sizeof(stored) - 1, bytes, 5));
	CU_ASSERT(!inflate_raw(stored, 0, bytes, 5));
	CU_ASSERT(!inflate_raw(repeated, sizeof(repeated), bytes, 258));
	ASSERT_UINT(bytes[259], 0);
	uint8_t damaged[sizeof(stored)];
	memcpy(damaged, stored, sizeof(stored));
	damaged[3] ^= 1; /* the length again, with all bits turned */
	CU_ASSERT(!inflate_raw(damaged, sizeof(damaged), bytes, 5));
	damaged[0] = 0x07; /* a kind of block that there is not */
	CU_ASSERT(!inflate_raw(damaged, sizeof(damaged), bytes, 5));
}

SUITE(.name = "inflate")
