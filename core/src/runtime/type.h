/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/fuzzed.h"

struct runtime;

enum type_category {
	CATEGORY_CLASS,
	CATEGORY_VALUE, /**< struct */
	CATEGORY_NULLABLE,
	CATEGORY_PRIMITIVE, /**< enum, or a struct laid out as a primitive */
	CATEGORY_TRUE_PRIMITIVE,
	CATEGORY_INTERFACE,
	CATEGORY_SZ_ARRAY,
	CATEGORY_MD_ARRAY,
};

/**
 * Series of a GCDesc: slots that begin at offset and take (size + the object's true size) bytes.
 */
struct gc_series {
	int64_t size;
	uint64_t offset;
};

/** For an array of structs: this many pointers, then that many bytes without pointers. */
struct gc_run {
	uint32_t pointers, skip;
};

/** How a type's GCDesc says where references lie: as series, or, for an array of structs, as runs. */
struct gc_desc {
	uint32_t series_count; /**< how many series; or */
	uint32_t run_count;    /**< how many runs, which repeat, beginning at runs_offset */
	uint64_t runs_offset;
	struct gc_series *series; /**< owned */
	struct gc_run *runs;      /**< owned */
};

/** Members of a MethodTable that only CoreCLR has: the second flags, and addresses. */
struct coreclr_links {
	uint32_t flags2;
	uint64_t auxiliary, canonical, ee_class, per_inst;
};

/**
 * One MethodTable that passed its checks; what a walk needs comes first.  Lives as long as the runtime,
 * at a fixed address; only name changes later.
 */
struct type {
	uint64_t method_table;
	uint32_t base_size; /**< 0: an interface, which has no objects */
	uint16_t component_size;
	bool has_pointers, is_free, is_collectible, is_string, has_finalizer;
	bool has_bad_desc; /**< its GCDesc contradicts its size: no references are known */
	uint8_t category;  /**< enum type_category */
	struct gc_desc desc;
	uint64_t loader_allocator; /**< collectible: the LoaderAllocator object, 0 = none */
	uint32_t index;            /**< in the order in which types were found, from 0 */
	uint32_t flags;
	uint32_t token;     /**< TypeDef, 0 for arrays */
	uint32_t name_size; /**< bytes of name */
	uint64_t parent, module;
	struct coreclr_links links;
	char *name; /**< NULL until type_name(); owned */
};

struct runtime_type_table;

/** Create and destroy the table of a runtime (runtime_open() does). */
HD_NODISCARD enum hd_status runtime_type_table_create(struct runtime_type_table **ret,
						      struct hd_error *err);
void runtime_type_table_destroy(struct runtime_type_table *types);

/**
 * The type of MethodTable @p method_table (low bits already masked), or NULL when that is not a
 * MethodTable: it cannot be read, EEClass and MethodTable do not name each other, or sizes are
 * impossible.  Also remembers what is not a MethodTable.  May be called by several threads at once
 * when the memory is parallel.
 */
const struct type *type_find(struct runtime *runtime, uint64_t method_table);

/**
 * Could @p method_table be the MethodTable of a type that type_find() does not find, because the
 * target lacks it, or its class?
 */
bool type_may_be_missing(const struct runtime *runtime, uint64_t method_table);

/**
 * Read the MethodTable of Free: the runtime allocates it with new, and all others in its own heaps.
 */
void type_touch_free(const struct runtime *runtime);

/**
 * Did type_find() run out of memory since the last call of this function?  If so, a type that it
 * did not find may exist.
 */
bool runtime_type_table_failed(struct runtime *runtime);

/**
 * How many types were found so far, and one of them by index.  Not to be called while other threads
 * find types.
 */
size_t type_count(const struct runtime *runtime);
struct type *type_at(const struct runtime *runtime, size_t index);

/** A thread's own small cache in front of type_find(); empty when zero-initialised. */
#define TYPE_CACHE_BITS  FUZZED(10u, 4u)
#define TYPE_CACHE_SLOTS (1u << TYPE_CACHE_BITS)
struct type_cache {
	uint64_t keys[TYPE_CACHE_SLOTS];
	const struct type *types[TYPE_CACHE_SLOTS];
};

static inline size_t type_cache_slot(uint64_t method_table)
{
	return (size_t)((method_table >> 3) * 0x9e3779b97f4a7c15u >> (64 - TYPE_CACHE_BITS));
}

static inline const struct type *type_cached(struct type_cache *cache, struct runtime *runtime,
					     uint64_t method_table)
{
	size_t slot = type_cache_slot(method_table);
	if (cache->keys[slot] == method_table && method_table)
		return cache->types[slot];
	const struct type *type = type_find(runtime, method_table);
	cache->keys[slot] = method_table;
	cache->types[slot] = type;
	return type;
}

/**
 * Name as ClrMD spells it: Ns.Outer+Inner<System.Int32>, System.Int32[,].  Never NULL: when the
 * metadata is missing, it is like <unknown type 7f..>.  Borrowed from the type.  One thread at a
 * time.
 */
const char *type_name(struct runtime *runtime, const struct type *type, size_t *ret_size);

/**
 * MethodTable of the interface that has @p index among those that the type implements, with all that its base classes
 * and interfaces bring; 0: there are no more, or it cannot be read.
 */
uint64_t type_interface(const struct runtime *runtime, const struct type *type, uint32_t index);

/** Append the name of the type at @p method_table, or of what else says its address there; not kept. */
struct text;
void type_name_append(struct runtime *runtime, uint64_t method_table, struct text *text);

/** Bytes of a struct, from the size of its box: its true size, rounded up to a multiple of 8. */
static inline uint64_t type_box_content(const struct type *type)
{
	return type->base_size > 16 ? type->base_size - 16u : 0;
}

/** True size in bytes as SOS and ClrMD print it (max(24, base + component x length)). */
static inline uint64_t type_object_size(const struct type *type, uint32_t length)
{
	uint64_t size = type->base_size + (uint64_t)type->component_size * length;
	return size < 24 ? 24 : size;
}
