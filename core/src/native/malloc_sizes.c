/* SPDX-License-Identifier: MIT */
#include "native/malloc_sizes.h"

#include <stddef.h>

/* Classes from @p first on have ranges of 2^shift bytes; class i begins at (i - origin) << shift. */
static const struct class_range {
	uint64_t begin; /* where the first one begins: the ones before end there */
	unsigned int first, origin, shift;
} ranges[] = {
	{ 0, 0, 0, 4 },
	{ 1024, 64, 48, 6 },
	{ 3136, 97, 91, 9 },
	{ 10752, 112, 110, 12 },
	/* The range that begins here has the number of the one before it, too. */
	{ 65536, 121, 119, 15 },
	{ 163840, 124, 124, 18 },
};

#define RANGES (sizeof(ranges) / sizeof(ranges[0]))

unsigned int malloc_class_of(uint64_t size)
{
	size_t i = RANGES - 1;
	while (ranges[i].begin > size)
		i--;
	uint64_t most = i + 1 < RANGES ? ranges[i + 1].first - 1 : MALLOC_CLASSES - 1;
	uint64_t index = (size >> ranges[i].shift) + ranges[i].origin;
	return (unsigned int)(index < most ? index : most);
}

uint64_t malloc_class_start(unsigned int index)
{
	size_t i = RANGES - 1;
	if (index >= MALLOC_CLASSES)
		return UINT64_MAX;
	while (ranges[i].first > index)
		i--;
	uint64_t start = (uint64_t)(index - ranges[i].origin) << ranges[i].shift;
	return start > ranges[i].begin ? start : ranges[i].begin;
}

void malloc_class_add(struct malloc_class *classes, uint64_t size, bool is_used)
{
	struct malloc_class *found = &classes[malloc_class_of(size)];
	*(is_used ? &found->used_pieces : &found->free_pieces) += 1;
	*(is_used ? &found->used_bytes : &found->free_bytes) += size;
}
