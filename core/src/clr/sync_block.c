/* SPDX-License-Identifier: MIT */
#include "clr/sync_block.h"

#define ENTRY_SIZE 16u /* SyncTableEntry {SyncBlock *, Object * | 1 when free} (syncblk.h) */

/* SyncBlock and the AwareLock at its begin (syncblk.h of .NET 8 to 10); its index tells whether
 * the layout is this one. */
#define LOCK_STATE     0u
#define LOCK_RECURSION 4u
#define LOCK_OS_ID     16u
#define BLOCK_INDEX    28u
#define INDEX_MASK     0x03ffffffu
#define STATE_IS_HELD  1u
#define STATE_WAITERS  6u /* shift */

static void read_monitor(const struct clr *clr, uint32_t index, struct sync_block *block)
{
	uint8_t bytes[BLOCK_INDEX + 4];
	if (!memory_read(clr->memory, block->address, bytes, sizeof(bytes)) ||
	    (load_u32(bytes + BLOCK_INDEX) & INDEX_MASK) != index)
		return;
	uint32_t state = load_u32(bytes + LOCK_STATE);
	block->has_monitor = true;
	block->is_held = state & STATE_IS_HELD;
	block->waiters = state >> STATE_WAITERS;
	block->recursion = load_u32(bytes + LOCK_RECURSION);
	block->os_id = load_u64(bytes + LOCK_OS_ID);
	for (size_t i = 0; i < clr->thread_count && block->os_id; i++) {
		if (clr->threads[i].os_id == block->os_id)
			block->owner = &clr->threads[i];
	}
}

bool clr_sync_block(const struct clr *clr, uint32_t index, struct sync_block *ret)
{
	struct sync_block block = { 0 };
	uint64_t entry = clr->sync_table + (uint64_t)ENTRY_SIZE * index;
	if (!clr->sync_table || !index || index > INDEX_MASK ||
	    (clr->sync_count && index >= clr->sync_count) ||
	    !memory_u64(clr->memory, entry, &block.address) ||
	    !memory_u64(clr->memory, entry + 8, &block.object))
		return false;
	if (!clr->sync_count && !block.address && !block.object)
		return false;
	if (block.object & 1)
		block.object = 0;
	if (block.object && block.address)
		read_monitor(clr, index, &block);
	*ret = block;
	return true;
}
