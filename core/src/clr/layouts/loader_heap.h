/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_LOADER_HEAP_LAYOUT_H
#define HEAPDUMP_SRC_CLR_LOADER_HEAP_LAYOUT_H

/*
 * The runtime's heaps for what it loads (doc/memory.md 3.1; inc/loaderheap.h, vm/loaderallocator.hpp).
 * UnlockedLoaderHeap in words: vtable, first block, ...; the place in the current block, the end of
 * what is committed, and the end of the block are three words from one of these on.
 */
#define LOADER_HEAP_WORDS       8u
#define LOADER_HEAP_FIRST_BLOCK 1u
#define LOADER_HEAP_PLACE_8     2u /* .NET 8 and 9 */
#define LOADER_HEAP_PLACE_10    4u /* .NET 10 */

/** LoaderHeapBlock in words: next, address, size, and whether the heap owns it. */
#define LOADER_BLOCK_WORDS    4u
#define LOADER_BLOCK_SIZE_MAX ((uint64_t)1 << 31)

/** How much of a LoaderAllocator holds pointers to its heaps. */
#define LOADER_ALLOCATOR_BYTES 2900u

/** Offsets in it of pointers to heaps, as .NET 8, 9 and 10 have them; 0: it has none. */
#define LOADER_HEAP_NAMES(X)                        \
	X("LowFrequencyHeap", 912, 1056, 688)       \
	X("HighFrequencyHeap", 920, 1064, 696)      \
	X("StaticsHeap", 0, 1072, 704)              \
	X("StubHeap", 928, 1080, 712)               \
	X("ExecutableHeap", 944, 1096, 720)         \
	X("DynamicHelpersStubHeap", 952, 1104, 728) \
	X("FixupPrecodeHeap", 960, 1112, 736)       \
	X("NewStubPrecodeHeap", 968, 1120, 744)

/** Offsets of pointers to heaps in a VirtualCallStubManager, in the same way (vm/virtualcallstub.h). */
#define STUB_HEAP_NAMES(X)                      \
	X("IndirectionCellHeap", 488, 488, 408) \
	X("CacheEntryHeap", 496, 496, 416)

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

/** CodeHeap in words: a HostCodeHeap has its memory here. */
#define CODE_HEAP_WORDS 4u
#define HOST_CODE_BASE  3u

#endif
