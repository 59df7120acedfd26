/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/** Who has a part of the memory of a process (doc/memory.md). */
enum memory_kind {
	MEMORY_GEN0,
	MEMORY_GEN1,
	MEMORY_GEN2,
	MEMORY_LOH,
	MEMORY_POH,
	MEMORY_NONGC,
	MEMORY_GC_UNUSED,
	MEMORY_GC_FREE_REGION,
	MEMORY_GC_RESERVED,
	MEMORY_GC_REST,
	MEMORY_GC_TABLE,
	MEMORY_HANDLES,
	MEMORY_CODE_HEAP,
	MEMORY_LOADER_HEAP,
	MEMORY_STUBS,
	MEMORY_CODE_VIEW,
	MEMORY_CODE_REST,
	MEMORY_MALLOC_USED,
	MEMORY_MALLOC_FREE,
	MEMORY_MALLOC_TOP,
	MEMORY_MALLOC_MAPPED,
	MEMORY_MALLOC_HEADER,
	MEMORY_MALLOC_DAMAGED,
	MEMORY_NATIVE_HEAP,
	MEMORY_STACK_USED,
	MEMORY_STACK_BELOW,
	MEMORY_STACK_KEPT,
	MEMORY_STACK_SIGNAL,
	MEMORY_IMAGE_MANAGED,
	MEMORY_IMAGE_NATIVE,
	MEMORY_LINKER,
	MEMORY_KERNEL,
	MEMORY_FILE,
	MEMORY_MEMFD,
	MEMORY_SHARED,
	MEMORY_NAMED,
	MEMORY_RESERVED,
	MEMORY_UNKNOWN,
	MEMORY_CHANGED,
	MEMORY_KINDS
};

enum memory_group {
	MEMORY_GROUP_GC,
	MEMORY_GROUP_RUNTIME,
	MEMORY_GROUP_NATIVE,
	MEMORY_GROUP_STACKS,
	MEMORY_GROUP_IMAGES,
	MEMORY_GROUP_FILES,
	MEMORY_GROUP_OTHER,
	MEMORY_GROUPS
};

/** The word for it in data: "gen0", "malloc-used". */
const char *memory_kind_word(enum memory_kind kind);
/** The words for a person: "generation 0", "malloc, in use". */
const char *memory_kind_text(enum memory_kind kind);
enum memory_group memory_kind_group(enum memory_kind kind);
/**
 * Where several owners claim an address, the kind with the smallest number has it
 * (doc/memory.md 7.2).
 */
uint32_t memory_kind_priority(enum memory_kind kind);

/** "GC heap", "runtime", "native heap", "stacks", "images", "files", "other". */
const char *memory_group_text(enum memory_group group);
