/* SPDX-License-Identifier: MIT */
/*
 * Dynamic classes of .NET 8: types whose statics are not laid out when their module is loaded
 * (doc/coreclr.md 10.3; methodtable.h, class.h, appdomain.hpp, threadstatics.h, loaderallocator.inl).
 */
#include "gc/layouts/object_layout.h"
#include "mem/memory.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/statics/static_base.h"
#include "runtime/coreclr/types/method_table.h"

/* After a MethodTable and its vtable. */
#define OPTIONAL_MEMBERS 6u

/* EEClass: EEClassOptionalFields; there: ModuleDynamicID. */
#define CLASS_OPTIONAL      8u
#define OPTIONAL_DYNAMIC_ID 16u
#define NO_DYNAMIC_ID       UINT32_MAX

/* DynamicClassInfo: the DynamicEntry, flags. */
#define ROW_SIZE         16u
#define ROW_FLAGS        8u
#define FLAG_COLLECTIBLE 0x8u
/* DynamicEntry: GC statics, then the blob; a collectible one has two LOADERHANDLEs. */
#define ENTRY_NON_GC 8u
#define ENTRY_BLOB   8u

/* The LoaderAllocator object (LoaderAllocator.CoreCLR.cs): m_slots, an object[]. */
#define LOADER_SLOTS 16u

/*
 * After the pointers to vtable chunks and optional members comes {list of FieldDescs, id}; the
 * FieldDescs refer to their type.
 */
static bool generic_id(struct runtime *runtime, const struct type *type, uint64_t *ret)
{
	uint16_t virtuals;
	if (!memory_u16(runtime->memory,
			type->method_table + coreclr_offset(runtime, L_MT_NUM_VIRTUALS), &virtuals))
		return false;
	uint32_t chunks = (virtuals + VTABLE_CHUNK_SLOTS - 1) / VTABLE_CHUNK_SLOTS;
	uint64_t at = type->method_table + METHOD_TABLE_SIZE + 8 * (uint64_t)chunks;
	uint64_t list, owner;
	for (unsigned int i = 0; i < OPTIONAL_MEMBERS; i++, at += 8) {
		if (memory_u64(runtime->memory, at, &list) && list && list % 8 == 0 &&
		    memory_u64(runtime->memory, list, &owner) && owner == type->method_table)
			return memory_u64(runtime->memory, at + 8, ret);
	}
	return false;
}

bool dynamic_class_8(struct runtime *runtime, const struct type *type, uint64_t *ret)
{
	uint64_t optional;
	uint32_t id;
	if (!(type->flags & MT_HAS_COMPONENT_SIZE) && type->flags & MT_GENERICS_MASK) {
		/* If it is not found, there is no id. */
		if (!generic_id(runtime, type, ret))
			*ret = UINT64_MAX;
		return true;
	}
	if (!memory_u64(runtime->memory, type->links.ee_class + CLASS_OPTIONAL, &optional) ||
	    !optional || !memory_u32(runtime->memory, optional + OPTIONAL_DYNAMIC_ID, &id) ||
	    id == NO_DYNAMIC_ID)
		return false;
	*ret = id;
	return true;
}

/* The array that a LOADERHANDLE means: element (handle >> 1) - 1 of the allocator's m_slots. */
static uint64_t loader_array(struct runtime *runtime, const struct type *type, uint64_t handle)
{
	uint64_t slots, index = (handle >> 1) - 1, array;
	uint32_t count;
	if (!handle || handle & 1 || !type->loader_allocator ||
	    !memory_u64(runtime->memory, type->loader_allocator + LOADER_SLOTS, &slots) || !slots ||
	    !memory_u32(runtime->memory, slots + OBJECT_LENGTH, &count) || index >= count ||
	    !memory_u64(runtime->memory, slots + ARRAY_HEAD + 8 * index, &array) || !array)
		return 0;
	return array + ARRAY_HEAD;
}

bool dynamic_entry_8(struct runtime *runtime, const struct type *type, uint64_t table,
		     uint64_t index, struct dynamic_entry *ret)
{
	uint64_t row = table + ROW_SIZE * index, handle;
	struct dynamic_entry entry = { 0 };
	if (!memory_u64(runtime->memory, row, &entry.address) || !entry.address ||
	    !memory_u32(runtime->memory, row + ROW_FLAGS, &entry.flags))
		return false;
	entry.is_collectible = entry.flags & FLAG_COLLECTIBLE;
	entry.non_gc = entry.address;
	if (entry.is_collectible) {
		if (memory_u64(runtime->memory, entry.address, &handle))
			entry.gc = loader_array(runtime, type, handle);
		entry.non_gc = memory_u64(runtime->memory, entry.address + ENTRY_NON_GC, &handle)
				       ? loader_array(runtime, type, handle)
				       : 0;
		if (entry.non_gc)
			entry.non_gc -= ENTRY_BLOB;
	}
	*ret = entry;
	return true;
}
