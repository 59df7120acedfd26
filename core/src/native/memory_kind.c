/* SPDX-License-Identifier: MIT */
#include "native/memory_kind.h"

static const struct {
	const char *word, *text;
	uint16_t priority;
	uint8_t group;
} kinds[MEMORY_KINDS] = {
	[MEMORY_GEN0] = { "gen0", "generation 0", 200, MEMORY_GROUP_GC },
	[MEMORY_GEN1] = { "gen1", "generation 1", 200, MEMORY_GROUP_GC },
	[MEMORY_GEN2] = { "gen2", "generation 2", 200, MEMORY_GROUP_GC },
	[MEMORY_LOH] = { "loh", "large objects", 200, MEMORY_GROUP_GC },
	[MEMORY_POH] = { "poh", "pinned objects", 200, MEMORY_GROUP_GC },
	[MEMORY_NONGC] = { "nongc", "frozen objects", 200, MEMORY_GROUP_GC },
	[MEMORY_GC_UNUSED] = { "gc-unused", "committed, without objects", 201, MEMORY_GROUP_GC },
	[MEMORY_GC_FREE_REGION] = { "gc-free-region", "free regions", 199, MEMORY_GROUP_GC },
	[MEMORY_GC_RESERVED] = { "gc-reserved", "reserved", 202, MEMORY_GROUP_GC },
	[MEMORY_GC_REST] = { "gc-rest", "other in the range of the GC", 300, MEMORY_GROUP_GC },
	[MEMORY_GC_TABLE] = { "gc-table", "tables of the GC", 290, MEMORY_GROUP_GC },
	[MEMORY_HANDLES] = { "handles", "handle tables", 210, MEMORY_GROUP_GC },
	[MEMORY_CODE_HEAP] = { "code-heap", "code heaps", 240, MEMORY_GROUP_RUNTIME },
	[MEMORY_LOADER_HEAP] = { "loader-heap", "loader heaps", 250, MEMORY_GROUP_RUNTIME },
	[MEMORY_STUBS] = { "stubs", "stubs of no known heap", 260, MEMORY_GROUP_RUNTIME },
	[MEMORY_CODE_VIEW] = { "code-view", "code, mapped a second time to write it", 890,
			       MEMORY_GROUP_RUNTIME },
	[MEMORY_CODE_REST] = { "code-rest", "other memory for code", 900, MEMORY_GROUP_RUNTIME },
	[MEMORY_MALLOC_USED] = { "malloc-used", "malloc, in use", 400, MEMORY_GROUP_NATIVE },
	[MEMORY_MALLOC_FREE] = { "malloc-free", "malloc, free", 400, MEMORY_GROUP_NATIVE },
	[MEMORY_MALLOC_TOP] = { "malloc-top", "malloc, free at the end of an arena", 400,
				MEMORY_GROUP_NATIVE },
	[MEMORY_MALLOC_MAPPED] = { "malloc-mapped", "malloc, large pieces", 450,
				   MEMORY_GROUP_NATIVE },
	[MEMORY_MALLOC_HEADER] = { "malloc-header", "malloc, its own records", 400,
				   MEMORY_GROUP_NATIVE },
	[MEMORY_MALLOC_DAMAGED] = { "malloc-damaged", "malloc, after damage", 400,
				    MEMORY_GROUP_NATIVE },
	[MEMORY_NATIVE_HEAP] = { "native-heap", "native heap, not taken apart", 950,
				 MEMORY_GROUP_NATIVE },
	[MEMORY_STACK_USED] = { "stack-used", "in use", 150, MEMORY_GROUP_STACKS },
	[MEMORY_STACK_BELOW] = { "stack-below", "below the stack pointer", 151,
				 MEMORY_GROUP_STACKS },
	[MEMORY_STACK_KEPT] = { "stack-kept", "of threads that have ended", 152,
				MEMORY_GROUP_STACKS },
	[MEMORY_STACK_SIGNAL] = { "stack-signal", "for signals", 500, MEMORY_GROUP_STACKS },
	[MEMORY_IMAGE_MANAGED] = { "image-managed", "managed images", 100, MEMORY_GROUP_IMAGES },
	[MEMORY_IMAGE_NATIVE] = { "image-native", "native images", 100, MEMORY_GROUP_IMAGES },
	[MEMORY_LINKER] = { "linker", "pages of the dynamic linker", 910, MEMORY_GROUP_IMAGES },
	[MEMORY_KERNEL] = { "kernel", "code of the kernel", 100, MEMORY_GROUP_IMAGES },
	[MEMORY_FILE] = { "file", "mapped files", 100, MEMORY_GROUP_FILES },
	[MEMORY_MEMFD] = { "memfd", "files without a name (memfd)", 900, MEMORY_GROUP_FILES },
	[MEMORY_SHARED] = { "shared", "shared memory", 900, MEMORY_GROUP_FILES },
	[MEMORY_NAMED] = { "named", "named by the program", 990, MEMORY_GROUP_OTHER },
	[MEMORY_RESERVED] = { "reserved", "only reserved", 995, MEMORY_GROUP_OTHER },
	[MEMORY_UNKNOWN] = { "unknown", "unknown", 1000, MEMORY_GROUP_OTHER },
	[MEMORY_CHANGED] = { "changed", "changed while it was read", 1001, MEMORY_GROUP_OTHER },
};

const char *memory_kind_word(enum memory_kind kind)
{
	return kinds[kind].word;
}

const char *memory_kind_text(enum memory_kind kind)
{
	return kinds[kind].text;
}

enum memory_group memory_kind_group(enum memory_kind kind)
{
	return (enum memory_group)kinds[kind].group;
}

uint32_t memory_kind_priority(enum memory_kind kind)
{
	return kinds[kind].priority;
}

const char *memory_group_text(enum memory_group group)
{
	static const char *const texts[MEMORY_GROUPS] = { "GC heap", "runtime", "native heap",
							  "stacks",  "images",  "files",
							  "other" };
	return texts[group];
}
