/* SPDX-License-Identifier: MIT */
/* The locks of objects (doc/nativeaot.md 5.4; SyncTable.cs, Monitor.NativeAot.cs). */
#include "runtime/nativeaot/sync.h"

#include <string.h>

#include "gc/layouts/object_layout.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/statics.h"

/* An entry: its Lock, a number, and a dependent handle whose object has the lock. */
#define ENTRY_SIZE   32u
#define ENTRY_HANDLE 24u
#define ARRAY_LENGTH 8u
#define ARRAY_DATA   16u
#define ENTRIES_MAX  (1u << 26)

#define ENTRIES "System.Threading.SyncTable+Entry[]"

/* The length of the array if that is what is at @p address. */
static bool is_entries(struct runtime *runtime, uint64_t address, uint32_t *ret_length)
{
	uint64_t word = 0;
	size_t size;
	if (!address || address % 8 || !memory_u64(runtime->memory, address, &word))
		return false;
	const struct type *type = type_find(runtime, word & ~(uint64_t)7);
	if (!type || type->category != CATEGORY_SZ_ARRAY || type->component_size != ENTRY_SIZE)
		return false;
	const char *name = type_name(runtime, type, &size);
	return size == strlen(ENTRIES) && memcmp(name, ENTRIES, size) == 0 &&
	       memory_u32(runtime->memory, address + ARRAY_LENGTH, ret_length) &&
	       *ret_length < ENTRIES_MAX;
}

static bool is_used(const struct runtime *runtime, uint64_t entry)
{
	uint64_t lock = 0, handle = 0;
	return memory_u64(runtime->memory, entry, &lock) &&
	       memory_u64(runtime->memory, entry + ENTRY_HANDLE, &handle) && (lock || handle);
}

/* Entries that were never used are zeros, and come last; entry 0 is never used. */
static void take_entries(struct nativeaot *aot, uint64_t array, uint32_t length)
{
	uint64_t data = array + ARRAY_DATA;
	while (length > 1 && !is_used(&aot->base, data + (uint64_t)ENTRY_SIZE * (length - 1)))
		length--;
	aot->sync_entries = data;
	aot->sync_count = length;
}

enum hd_status aot_sync_find(struct runtime *runtime, struct hd_error *err)
{
	struct static_slots slots;
	TRY(aot_statics_quietly(runtime, &slots, err));
	for (size_t i = 0; i < slots.rows_count; i++) {
		uint64_t value = 0;
		uint32_t length = 0;
		if (slots.rows[i].thread == UINT32_MAX &&
		    memory_u64(runtime->memory, slots.rows[i].address, &value) &&
		    is_entries(runtime, value, &length))
			take_entries(aot_of(runtime), value, length);
	}
	static_slots_deinit(&slots);
	return HD_OK;
}

struct sync_table aot_sync_table(const struct runtime *runtime)
{
	const struct nativeaot *aot = aot_of(runtime);
	return (struct sync_table){ .address = aot->sync_entries,
				    .count = aot->sync_count,
				    .is_managed = true };
}

bool aot_sync_block(const struct runtime *runtime, uint32_t index, struct sync_block *ret)
{
	const struct nativeaot *aot = aot_of(runtime);
	struct sync_block block = { 0 };
	uint64_t entry = aot->sync_entries + (uint64_t)ENTRY_SIZE * index, handle = 0;
	uint32_t header = 0;
	if (!aot->sync_entries || !index || index >= aot->sync_count)
		return false;
	(void)memory_u64(runtime->memory, entry, &block.lock);
	bool has_object = memory_u64(runtime->memory, entry + ENTRY_HANDLE, &handle) && handle &&
			  memory_u64(runtime->memory, handle, &block.object) && block.object > 8 &&
			  memory_u32(runtime->memory, block.object - 4, &header);
	/* An entry is its object's if the object has its number. */
	if (!block.lock || !has_object || header & HEADER_IS_HASH ||
	    !(header & HEADER_IS_HASH_OR_INDEX) || (header & HEADER_HASH_MASK) != index) {
		block = (struct sync_block){ 0 };
	}
	block.address = block.lock;
	*ret = block;
	return true;
}
