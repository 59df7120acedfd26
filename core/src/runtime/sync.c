/* SPDX-License-Identifier: MIT */
/* The header word of an object, and the table of sync blocks. */
#include "gc/layouts/object_layout.h"
#include "mem/memory.h"
#include "runtime/runtime_base.h"
#include "runtime/sync_block.h"

#define SYNC_ENTRY_SIZE 16u /* SyncTableEntry {SyncBlock *, Object * | 1 when free} */

static struct sync_table runtime_sync_table(const struct runtime *runtime)
{
	struct sync_table none = { 0 };
	return runtime->ops->sync ? runtime->ops->sync->table(runtime) : none;
}

bool runtime_has_sync_table(const struct runtime *runtime)
{
	return runtime_sync_table(runtime).address != 0;
}

bool runtime_sync_block(const struct runtime *runtime, uint32_t index, struct sync_block *ret)
{
	return runtime->ops->sync && runtime->ops->sync->block(runtime, index, ret);
}

static void read_sync_entry(const struct runtime *runtime, struct sync_info *info)
{
	struct sync_table table = runtime_sync_table(runtime);
	if (!table.address || info->index == 0 || (table.count && info->index >= table.count))
		return;
	struct sync_block managed;
	if (table.is_managed) {
		if (runtime_sync_block(runtime, info->index, &managed)) {
			info->block = managed.address;
			info->owner = managed.object;
		}
		return;
	}
	uint64_t entry = table.address + (uint64_t)info->index * SYNC_ENTRY_SIZE;
	uint64_t object = 0;
	if (!memory_u64(runtime->memory, entry, &info->block) ||
	    !memory_u64(runtime->memory, entry + 8, &object)) {
		info->block = 0;
		return;
	}
	info->owner = object & 1 ? 0 : object;
}

bool runtime_sync_info(const struct runtime *runtime, uint64_t address, struct sync_info *ret)
{
	struct sync_info info = { 0 };
	if (address < 4 || !memory_u32(runtime->memory, address - 4, &info.word))
		return false;
	if (info.word & HEADER_IS_HASH_OR_INDEX) {
		info.has_hash = (info.word & HEADER_IS_HASH) != 0;
		info.has_sync_block = !info.has_hash;
		if (info.has_hash) {
			info.hash = info.word & HEADER_HASH_MASK;
		} else {
			info.index = info.word & HEADER_HASH_MASK;
		}
		read_sync_entry(runtime, &info);
	} else {
		info.lock_thread = info.word & HEADER_THREAD_MASK;
		info.lock_recursion = (info.word & HEADER_RECURSION_MASK) >> HEADER_RECURSION_SHIFT;
		info.has_thin_lock = info.lock_thread != 0;
	}
	*ret = info;
	return true;
}
