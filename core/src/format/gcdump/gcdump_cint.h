/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "mem/memory.h"

/** Most bytes of a compressed number (doc/formats.md 1.2; MemoryGraph.cs, ReadCompressedInt). */
#define GCDUMP_CINT_MAX 5

/** Read a number where at least GCDUMP_CINT_MAX bytes are left; @return where it ends, or NULL. */
static inline const uint8_t *gcdump_cint_there(const uint8_t *at, int32_t *ret)
{
	/* Bit 6 of the first byte is the sign. */
	uint32_t value = (uint32_t)((int32_t)(int8_t)(uint8_t)(*at << 1) >> 1);
	const uint8_t *last = at + GCDUMP_CINT_MAX - 1;
	while (*at & 0x80) {
		if (at == last)
			return NULL;
		value = value << 7 | (*++at & 0x7f);
	}
	*ret = (int32_t)value;
	return at + 1;
}

/** Bytes that gcdump_cint_wide() looks at. */
#define GCDUMP_CINT_WIDE 8

/**
 * The same, for numbers that are mostly longer than a byte: takes the same time for each length.
 * At least GCDUMP_CINT_WIDE bytes are left.
 */
static inline const uint8_t *gcdump_cint_wide(const uint8_t *at, int32_t *ret)
{
	if (!(*at & 0x80)) {
		*ret = (int32_t)(int8_t)(uint8_t)(*at << 1) >> 1;
		return at + 1;
	}
	uint64_t bytes = load_u64(at), ends = ~bytes & 0x8080808080u;
	if (!ends)
		return NULL;
	/*
	 * The groups of 7 bits are moved together: first in each pair of bytes, then in each four,
	 * then in all.
	 */
	unsigned int size = ((unsigned int)__builtin_ctzll(ends) + 1) / 8;
	uint64_t value = __builtin_bswap64(bytes) >> (64 - 8 * size) & 0x7f7f7f7f7fu;
	value = (value & 0x7f007f007fu) | (value & 0x7f007f00u) >> 1;
	value = (value & 0x7f00003fffu) | (value & 0x3fff0000u) >> 2;
	value = (value & 0xfffffffu) | (value & 0x7f00000000u) >> 4;
	unsigned int above = 64 - 7 * size;
	*ret = (int32_t)((int64_t)(value << above) >> above);
	return at + size;
}

/** For the end of the bytes: checks before each byte that it is there. */
const uint8_t *gcdump_cint_careful(const uint8_t *at, const uint8_t *end, int32_t *ret);

/** Read a number at @p at; @return where it ends, or NULL when it has no end. */
static inline const uint8_t *gcdump_cint(const uint8_t *at, const uint8_t *end, int32_t *ret)
{
	return end - at < GCDUMP_CINT_MAX ? gcdump_cint_careful(at, end, ret)
					  : gcdump_cint_there(at, ret);
}
