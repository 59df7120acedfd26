/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_GCDUMP_CINT_H
#define HEAPDUMP_SRC_FORMAT_GCDUMP_CINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The most bytes of a compressed number (MemoryGraph.cs, ReadCompressedInt). */
#define GCDUMP_CINT_MAX 5

/** A number whose GCDUMP_CINT_MAX bytes are there; @return where it ends, or NULL. */
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

/** Near the end of the bytes: looks before each one. */
const uint8_t *gcdump_cint_careful(const uint8_t *at, const uint8_t *end, int32_t *ret);

/** Read a number at @p at; @return where it ends, or NULL when it does not. */
static inline const uint8_t *gcdump_cint(const uint8_t *at, const uint8_t *end, int32_t *ret)
{
	return end - at < GCDUMP_CINT_MAX ? gcdump_cint_careful(at, end, ret)
					  : gcdump_cint_there(at, ret);
}

#endif
