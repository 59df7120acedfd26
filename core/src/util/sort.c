/* SPDX-License-Identifier: MIT */
#include "util/sort.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

#define RADIX_BITS 11u
#define RADIX      ((size_t)1 << RADIX_BITS)

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

void sort_u64(uint64_t *values, size_t count)
{
	if (count > 1)
		qsort(values, count, sizeof(*values), compare_u64);
}

struct keyed {
	uint64_t *keys;
	uint32_t *order;
};

/* One stable pass by the digit at @p shift; false when all have the same one (nothing is moved). */
static bool radix_pass(struct keyed from, struct keyed to, uint32_t count, unsigned int shift)
{
	uint32_t starts[RADIX] = { 0 };
	for (uint32_t i = 0; i < count; i++)
		starts[from.keys[i] >> shift & (RADIX - 1)]++;
	if (starts[from.keys[0] >> shift & (RADIX - 1)] == count)
		return false;
	uint32_t sum = 0;
	for (size_t digit = 0; digit < RADIX; digit++) {
		uint32_t here = starts[digit];
		starts[digit] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = starts[from.keys[i] >> shift & (RADIX - 1)]++;
		to.keys[at] = from.keys[i];
		to.order[at] = from.order[i];
	}
	return true;
}

bool sort_keys(uint64_t *keys, uint32_t *order, uint32_t count)
{
	struct keyed a = { keys, order };
	struct keyed b = { pages_alloc(count, sizeof(*keys)), pages_alloc(count, sizeof(*order)) };
	struct keyed scratch = b;
	if (b.keys && b.order) {
		for (uint32_t i = 0; i < count; i++)
			order[i] = i;
		for (unsigned int shift = 0; count && shift < 64; shift += RADIX_BITS) {
			if (!radix_pass(a, b, count, shift))
				continue;
			struct keyed swap = a;
			a = b;
			b = swap;
		}
		if (a.keys != keys && count) {
			memcpy(keys, a.keys, count * sizeof(*keys));
			memcpy(order, a.order, count * sizeof(*order));
		}
	}
	bool made = scratch.keys && scratch.order;
	pages_free(scratch.keys, count, sizeof(*keys));
	pages_free(scratch.order, count, sizeof(*order));
	return made;
}
