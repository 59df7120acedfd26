/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_GCDUMP_CINT_H
#define HEAPDUMP_SRC_FORMAT_GCDUMP_CINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The most bytes of a compressed number (MemoryGraph.cs, ReadCompressedInt). */
#define GCDUMP_CINT_MAX 5

/** The rest of a number whose first byte, which says that there is more, was read. */
const uint8_t *gcdump_cint_rest(const uint8_t *at, const uint8_t *end, int32_t *ret);

/** Read a number at @p at; @return where it ends, or NULL when it does not. */
static inline const uint8_t *gcdump_cint(const uint8_t *at, const uint8_t *end, int32_t *ret)
{
	if (at >= end)
		return NULL;
	/* Bit 6 of the first byte is the sign. */
	int32_t value = (int32_t)(int8_t)(uint8_t)(*at << 1) >> 1;
	*ret = value;
	if (!(*at & 0x80))
		return at + 1;
	return gcdump_cint_rest(at + 1, end, ret);
}

#endif
