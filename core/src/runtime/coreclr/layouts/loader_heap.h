/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The runtime's heaps for what it loads (doc/memory.md 3.1; inc/loaderheap.h, vm/loaderallocator.hpp).
 * UnlockedLoaderHeap in words: vtable, first block, ...; the place in the current block, the end of
 * what is committed, and the end of the block are three words from one of these on.
 */
#define LOADER_HEAP_WORDS       8u
#define LOADER_HEAP_FIRST_BLOCK 1u
#define LOADER_HEAP_PLACE_8     2u /* .NET 8 and 9 */
#define LOADER_HEAP_PLACE_10    4u /* .NET 10 */
#define LOADER_HEAP_PLACE_11    5u /* .NET 11 */

/** LoaderHeapBlock in words: next, address, size, and whether the heap owns it. */
#define LOADER_BLOCK_WORDS    4u
#define LOADER_BLOCK_SIZE_MAX ((uint64_t)1 << 31)

/** How much of a LoaderAllocator holds pointers to its heaps. */
#define LOADER_ALLOCATOR_BYTES 2900u

/** Names of the heaps to which a LoaderAllocator points, and by which field. */
#define LOADER_HEAP_NAMES(X)                                \
	X("LowFrequencyHeap", LOADER_LOW_FREQUENCY)         \
	X("HighFrequencyHeap", LOADER_HIGH_FREQUENCY)       \
	X("StaticsHeap", LOADER_STATICS)                    \
	X("StubHeap", LOADER_STUBS)                         \
	X("ExecutableHeap", LOADER_EXECUTABLE)              \
	X("DynamicHelpersStubHeap", LOADER_DYNAMIC_HELPERS) \
	X("FixupPrecodeHeap", LOADER_FIXUP_PRECODE)         \
	X("NewStubPrecodeHeap", LOADER_STUB_PRECODE)

/** In the same way those of a VirtualCallStubManager (vm/virtualcallstub.h). */
#define STUB_HEAP_NAMES(X)                          \
	X("IndirectionCellHeap", STUBS_INDIRECTION) \
	X("CacheEntryHeap", STUBS_CACHE)

/** RangeSection in words: flags (a heap for code; a list of ranges), the JIT manager, the HeapList. */
#define SECTION_FLAGS     2u
#define SECTION_CODE_HEAP 2u
#define SECTION_RANGES    4u
#define SECTION_MANAGER   3u
#define SECTION_HEAP_LIST 5u
#define SECTION_WORDS     6u

/** HeapList in words: the CodeHeap, the end of the code, the LoaderAllocator. */
#define HEAP_LIST_HEAP      1u
#define HEAP_LIST_USED      3u
#define HEAP_LIST_ALLOCATOR 8u
#define HEAP_LIST_WORDS     9u
