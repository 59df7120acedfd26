/* SPDX-License-Identifier: MIT */
/* Size classes are the bins of glibc's malloc (malloc/malloc.c of 2.36, smallbin_index, largebin_index_64). */
#include "native/malloc_arenas.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* As malloc.c has it. */
static unsigned int bin_of(uint64_t size)
{
	if (size < 1024)
		return (unsigned int)(size >> 4);
	if (size >> 6 <= 48)
		return (unsigned int)(48 + (size >> 6));
	if (size >> 9 <= 20)
		return (unsigned int)(91 + (size >> 9));
	if (size >> 12 <= 10)
		return (unsigned int)(110 + (size >> 12));
	if (size >> 15 <= 4)
		return (unsigned int)(119 + (size >> 15));
	return size >> 18 <= 2 ? (unsigned int)(124 + (size >> 18)) : 126;
}

TEST(classes_are_the_bins_of_malloc)
{
	for (uint64_t size = 32; size < 1 << 20; size += 16) {
		unsigned int class = malloc_class_of(size);
		CU_ASSERT_FATAL(class == bin_of(size));
		CU_ASSERT_FATAL(malloc_class_start(class) <= size);
		CU_ASSERT_FATAL(malloc_class_start(class + 1) > size);
		CU_ASSERT_FATAL(bin_of(malloc_class_start(class)) == class);
	}
	ASSERT_UINT(malloc_class_of(UINT64_MAX), 126);
	ASSERT_UINT(malloc_class_start(127), UINT64_MAX);
}

TEST(pieces_are_counted_in_their_class)
{
	struct malloc_class classes[MALLOC_CLASSES] = { 0 };
	malloc_class_add(classes, 208, true);
	malloc_class_add(classes, 208, true);
	malloc_class_add(classes, 208, false);
	malloc_class_add(classes, UINT64_C(1) << 40, true);
	ASSERT_UINT(classes[13].used_pieces, 2);
	ASSERT_UINT(classes[13].used_bytes, 416);
	ASSERT_UINT(classes[13].free_pieces, 1);
	ASSERT_UINT(classes[13].free_bytes, 208);
	ASSERT_UINT(classes[126].used_bytes, UINT64_C(1) << 40);
}

SUITE(.name = "malloc_sizes")
