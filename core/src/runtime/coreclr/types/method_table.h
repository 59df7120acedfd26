/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/type.h"

/** Flags of a MethodTable (methodtable.h). */
#define MT_HAS_COMPONENT_SIZE   0x80000000u
#define MT_CONTAINS_GC_POINTERS 0x01000000u
#define MT_FINALIZER            0x00100000u
#define MT_CATEGORY_MASK        0x000f0000u
/**
 * Flags of a type without component size: is it generic; is it shared code, which is never the
 * exact type of an object.
 */
#define MT_GENERICS_MASK   0x00000030u
#define MT_GENERICS_SHARED 0x00000020u

/**
 * Bytes of a MethodTable's fixed part, the same in 8, 9 and 10; after it come the addresses of its
 * vtable's chunks, which have this many slots each (methodtable.h: VTABLE_SLOTS_PER_CHUNK).
 */
#define METHOD_TABLE_SIZE  64u
#define VTABLE_CHUNK_SLOTS 8u

/** Do several instantiations share the code of its methods, as those with classes for arguments? */
static inline bool type_is_shared(const struct type *type)
{
	return !(type->flags & MT_HAS_COMPONENT_SIZE) &&
	       (type->flags & MT_GENERICS_MASK) == MT_GENERICS_SHARED;
}

/** runtime_ops.type_interface of CoreCLR. */
uint64_t coreclr_interface(const struct runtime *runtime, const struct type *type, uint32_t index);

/** The type whose EEClass is at that address; NULL: there is none. */
const struct type *type_of_class(struct runtime *runtime, uint64_t ee_class);

/** Name of a TypeHandle (MethodTable or TypeDesc), appended to @p text. */
struct text;
void type_handle_name(struct runtime *runtime, uint64_t handle, struct text *text);

/**
 * The managed LoaderAllocator object of @p loader_allocator (the runtime's own LoaderAllocator), or
 * 0: it is not collectible, or it was unloaded.  If the handle to it is not at the known offset, it
 * is searched for.  May be called by several threads at once.
 */
uint64_t coreclr_loader_object(const struct runtime *runtime, uint64_t loader_allocator);

/** runtime_ops.describe_type of CoreCLR: reads MethodTable and EEClass, and checks both. */
bool coreclr_describe_type(const struct runtime *runtime, uint64_t method_table, struct type *ret);
