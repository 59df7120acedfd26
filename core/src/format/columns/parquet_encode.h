/* SPDX-License-Identifier: MIT */
/* Encodings of the values in a page of a Parquet file: doc/formats.md 11.2. */
#pragma once

#include "format/columns/fields.h"
#include "util/text.h"

/** Bits that hold numbers below @p count; at least 1. */
unsigned int encode_width(uint32_t count);

/** Append numbers of @p width bits: runs of one number, and groups of eight. */
void encode_hybrid(struct text *to, const uint32_t *values, size_t count, unsigned int width);

/** Append the differences of numbers, in blocks that have as many bits as each needs (DELTA_BINARY_PACKED). */
void encode_deltas(struct text *to, const uint64_t *values, size_t count);

/** Append which of the rows [first, first + count) have values; @p first is a multiple of 8. */
void encode_levels(struct text *to, const struct field_values *values, uint32_t first,
		   uint32_t count);
