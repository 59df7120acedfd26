/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/alloc.h"

/** One bit per node: an array of 64-bit words. */
static inline size_t bitmap_words(uint64_t bits)
{
	return (size_t)(bits / 64 + 1);
}

/**
 * Make a bitmap with all bits clear; NULL when memory is exhausted.  To be given to bitmap_free().
 */
static inline uint64_t *bitmap_alloc(uint64_t bits)
{
	return pages_alloc(bitmap_words(bits), sizeof(uint64_t));
}

static inline void bitmap_free(uint64_t *bitmap, uint64_t bits)
{
	pages_free(bitmap, bitmap_words(bits), sizeof(uint64_t));
}

static inline bool bitmap_has(const uint64_t *bitmap, uint64_t bit)
{
	return bitmap[bit / 64] >> (bit % 64) & 1;
}

/** Set a bit; @return whether it was clear. */
static inline bool bitmap_add(uint64_t *bitmap, uint64_t bit)
{
	uint64_t mask = (uint64_t)1 << (bit % 64), word = bitmap[bit / 64];
	bitmap[bit / 64] = word | mask;
	return !(word & mask);
}

/** The first bit of [@p bit, @p end) that is set, or @p end. */
static inline uint64_t bitmap_next(const uint64_t *bitmap, uint64_t bit, uint64_t end)
{
	for (; bit < end; bit = (bit / 64 + 1) * 64) {
		uint64_t word = bitmap[bit / 64] >> (bit % 64);
		if (!word)
			continue;
		bit += (uint64_t)__builtin_ctzll(word);
		return bit < end ? bit : end;
	}
	return end;
}

/** How many of the first @p bits are set. */
static inline uint64_t bitmap_count(const uint64_t *bitmap, uint64_t bits)
{
	uint64_t count = 0;
	for (uint64_t i = 0; i < bits / 64; i++)
		count += (uint64_t)__builtin_popcountll(bitmap[i]);
	uint64_t rest = bitmap[bits / 64] & (((uint64_t)1 << (bits % 64)) - 1);
	return count + (uint64_t)__builtin_popcountll(rest);
}

/** For bitmap_rank(): how many bits are set before each word; NULL when memory is exhausted. */
static inline uint32_t *bitmap_ranks(const uint64_t *bitmap, uint32_t bits)
{
	size_t words = bitmap_words(bits);
	uint32_t *ranks = pages_alloc(words, sizeof(*ranks));
	for (size_t i = 1; ranks && i < words; i++)
		ranks[i] = ranks[i - 1] + (uint32_t)__builtin_popcountll(bitmap[i - 1]);
	return ranks;
}

static inline void bitmap_ranks_free(uint32_t *ranks, uint32_t bits)
{
	pages_free(ranks, bitmap_words(bits), sizeof(*ranks));
}

/** How many bits are set before @p bit: the number of a bit that is set.  Constant time. */
static inline uint32_t bitmap_rank(const uint64_t *bitmap, const uint32_t *ranks, uint32_t bit)
{
	uint64_t before = bitmap[bit / 64] & (((uint64_t)1 << (bit % 64)) - 1);
	return ranks[bit / 64] + (uint32_t)__builtin_popcountll(before);
}
