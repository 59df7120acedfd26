/* SPDX-License-Identifier: MIT */
#include "format/columns/parquet_encode.h"

#include "format/columns/thrift.h"

/* Groups of eight numbers whose count fits into one byte. */
#define GROUPS_MAX 63u
#define GROUP      8u
/* A block of differences, and its parts, which have widths of their own. */
#define BLOCK_SIZE  256u
#define PART_SIZE   64u
#define BLOCK_PARTS (BLOCK_SIZE / PART_SIZE)

unsigned int encode_width(uint32_t count)
{
	return count > 2 ? 32u - (unsigned int)__builtin_clz(count - 1) : 1;
}

/* Append eight numbers, the lowest bits first. */
static void put_group(struct text *to, const uint32_t *values, unsigned int width)
{
	uint8_t *out = (uint8_t *)text_extend(to, width);
	uint64_t bits = 0;
	unsigned int used = 0;
	if (!out)
		return;
	for (unsigned int i = 0; i < GROUP; i++) {
		bits |= (uint64_t)values[i] << used;
		for (used += width; used >= 8; used -= 8, bits >>= 8)
			*out++ = (uint8_t)bits;
	}
}

static void put_run(struct text *to, uint32_t value, size_t count, unsigned int width)
{
	char bytes[4] = { (char)value, (char)(value >> 8), (char)(value >> 16),
			  (char)(value >> 24) };
	thrift_varint(to, (uint64_t)count << 1);
	text_append(to, bytes, (width + 7) / 8);
}

static size_t run_length(const uint32_t *values, size_t count)
{
	size_t length = 1;
	while (length < count && values[length] == values[0])
		length++;
	return length;
}

/* Append whole groups, until a run begins or the values end; how many values that were. */
static size_t put_groups(struct text *to, const uint32_t *values, size_t count, unsigned int width)
{
	size_t header = to->size, done = 0;
	text_append(to, "", 1);
	for (unsigned int i = 0; i < GROUPS_MAX && done < count; i++) {
		uint32_t last[GROUP] = { 0 };
		size_t left = count - done;
		if (left >= GROUP && i && run_length(values + done, GROUP) == GROUP)
			break;
		memcpy(last, values + done, (left < GROUP ? left : GROUP) * sizeof(*last));
		put_group(to, last, width);
		done += GROUP;
	}
	if (!to->failed)
		to->bytes[header] = (char)(done / GROUP << 1 | 1);
	return done < count ? done : count;
}

void encode_hybrid(struct text *to, const uint32_t *values, size_t count, unsigned int width)
{
	for (size_t i = 0; i < count;) {
		size_t run = run_length(values + i, count - i);
		if (run >= GROUP) {
			put_run(to, values[i], run, width);
		} else {
			run = put_groups(to, values + i, count - i, width);
		}
		i += run;
	}
}

static unsigned int bits_of(uint64_t value)
{
	return value ? 64u - (unsigned int)__builtin_clzll(value) : 0;
}

/* Append PART_SIZE numbers of @p width bits. */
static void put_part(struct text *to, const uint64_t *values, unsigned int width)
{
	uint8_t *out = width ? (uint8_t *)text_extend(to, (size_t)PART_SIZE * width / 8) : NULL;
	uint64_t bits = 0;
	unsigned int used = 0;
	for (unsigned int i = 0; out && i < PART_SIZE; i++) {
		bits |= values[i] << used;
		if (used + width < 64) {
			used += width;
			continue;
		}
		memcpy(out, &bits, sizeof(bits));
		out += sizeof(bits);
		unsigned int taken = 64 - used;
		bits = taken < 64 ? values[i] >> taken : 0;
		used += width - 64;
	}
}

/* Append a block: the differences of @p count values to the one before each. */
static void put_block(struct text *to, uint64_t before, const uint64_t *values, size_t count)
{
	uint64_t deltas[BLOCK_SIZE];
	char widths[BLOCK_PARTS] = { 0 };
	int64_t least = INT64_MAX;
	for (size_t i = 0; i < count; before = values[i++]) {
		deltas[i] = values[i] - before;
		least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
	}
	for (size_t i = 0; i < count; i++) {
		deltas[i] -= (uint64_t)least;
		char *width = &widths[i / PART_SIZE];
		unsigned int bits = bits_of(deltas[i]);
		*width = (char)(bits > (unsigned int)*width ? bits : (unsigned int)*width);
	}
	memset(deltas + count, 0, (BLOCK_SIZE - count) * sizeof(*deltas));
	thrift_zigzag(to, least);
	text_append(to, widths, sizeof(widths));
	for (size_t i = 0; i * PART_SIZE < count; i++)
		put_part(to, deltas + i * PART_SIZE, (unsigned int)widths[i]);
}

void encode_deltas(struct text *to, const uint64_t *values, size_t count)
{
	int64_t first = count ? (int64_t)values[0] : 0;
	thrift_varint(to, BLOCK_SIZE);
	thrift_varint(to, BLOCK_PARTS);
	thrift_varint(to, count);
	thrift_zigzag(to, first);
	for (size_t i = 1; i < count; i += BLOCK_SIZE) {
		size_t left = count - i;
		put_block(to, values[i - 1], values + i, left < BLOCK_SIZE ? left : BLOCK_SIZE);
	}
}

void encode_levels(struct text *to, const struct field_values *values, uint32_t first,
		   uint32_t count)
{
	size_t at = to->size;
	text_append(to, "\0\0\0", 4);
	if (!values->null_count) {
		put_run(to, 1, count, 1);
	} else {
		size_t groups = (count + 7) / 8;
		thrift_varint(to, (uint64_t)groups << 1 | 1);
		text_append(to, (const char *)values->validity + first / 8, groups);
	}
	uint32_t size = (uint32_t)(to->size - at - 4);
	if (!to->failed)
		memcpy(to->bytes + at, &size, sizeof(size));
}
