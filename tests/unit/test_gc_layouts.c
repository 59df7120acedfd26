/* SPDX-License-Identifier: MIT */
/* Compares runtime/coreclr/layouts, as far as it is about the GC and objects, with doc/coreclr.md. */
#include "gc/handles.h"
#include "gc/layouts/finalizer_queue.h"
#include "gc/layouts/handle_table.h"
#include "gc/layouts/heap_segment.h"
#include "gc/layouts/object_layout.h"
#include "gc/layouts/plug_and_gap.h"
#include "runtime/coreclr/internal.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* Bytes whose word at 8 * i is 100 + i. */
static void fill(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size / 8; i++) {
		uint64_t word = 100 + i;
		memcpy(bytes + 8 * i, &word, sizeof(word));
	}
}

/* doc/coreclr.md 5. */
TEST(segments_of_the_heap)
{
	uint8_t bytes[HEAP_SEGMENT_SIZE];
	fill(bytes, sizeof(bytes));
	struct heap_segment segment = heap_segment_from(bytes);
	ASSERT_UINT(segment.allocated, 100 + 0 / 8);
	ASSERT_UINT(segment.committed, 100 + 8 / 8);
	ASSERT_UINT(segment.reserved, 100 + 16 / 8);
	ASSERT_UINT(segment.mem, 100 + 32 / 8);
	ASSERT_UINT(segment.flags, 100 + 40 / 8);
	ASSERT_UINT(segment.next, 100 + 48 / 8);
	ASSERT_UINT(segment.background_allocated, 100 + 56 / 8);
}

/* doc/coreclr.md 11.1 and 11.2. */
TEST(handles_and_finalizers)
{
	const struct coreclr old = { .major = 9 }, new = { .base.has_cross_references = true };
	ASSERT_UINT(handle_type_counts(&old.base).usual, 12);
	ASSERT_UINT(handle_type_counts(&old.base).other, 13);
	ASSERT_UINT(handle_type_counts(&new.base).usual, 13);
	ASSERT_UINT(handle_type_counts(&new.base).other, 12);
	/* align8(4 * N); +1920 + 2N; +1920 + 6N */
	ASSERT_UINT(handle_table_first_segment(12), 48);
	ASSERT_UINT(handle_table_first_segment(13), 56);
	ASSERT_UINT(handle_segment_free_counts(13), 1946);
	ASSERT_UINT(handle_segment_links(12), 1992);
	ASSERT_UINT(HANDLE_SEGMENT_USER_DATA, 1680);
	ASSERT_UINT(HANDLE_DEPENDENT, 6);
	ASSERT_UINT(HANDLE_CROSS_REFERENCE, 11);
	/* 7 fill pointers, then array start (+56) and end (+64) */
	ASSERT_UINT(8 * FINALIZER_QUEUE_ARRAY, 56);
	ASSERT_UINT(8 * FINALIZER_QUEUE_END_ARRAY, 64);
	ASSERT_UINT(FINALIZER_CRITICAL, 5);
}

/* doc/coreclr.md 7.4 (bits), doc/collections.md (nodes of a GC that plans). */
TEST(headers_and_nodes)
{
	uint8_t bytes[PLUG_NODE_SIZE];
	const int64_t distance = -0x1000 | 3;
	const int16_t children[] = { -8, 16 };
	ASSERT_UINT(HEADER_HASH_MASK, ((uint64_t)1 << 26) - 1);
	ASSERT_UINT(HEADER_UNUSED_BITS, (uint64_t)0xf << 22);
	ASSERT_UINT(HEADER_RECURSION_MASK, (uint64_t)0x3f << 16);
	fill(bytes, sizeof(bytes));
	memcpy(bytes + 8, &distance, sizeof(distance));
	memcpy(bytes + 16, children, sizeof(children));
	struct plug_and_gap node = plug_and_gap_from(bytes);
	ASSERT_UINT(node.gap, 100);
	CU_ASSERT_EQUAL(node.distance, -0x1000);
	CU_ASSERT_EQUAL(node.left, -8);
	CU_ASSERT_EQUAL(node.right, 16);
}

SUITE(.name = "gc_layouts")
