/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/threads/sync_block.h"

#include "gc/layouts/gc_vars.h"
#include "gc/layouts/object_layout.h"
#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/find.h"
#include "runtime/coreclr/internal.h"
#include "targets/target.h"
#include "util/findings.h"

#define ENTRY_SIZE 16u /* SyncTableEntry {SyncBlock *, Object * | 1 when free} (syncblk.h) */

/* The AwareLock at the start of a SyncBlock (syncblk.h of .NET 8 to 10). */
#define LOCK_STATE     0u
#define LOCK_RECURSION 4u
#define LOCK_OS_ID     16u
#define LOCK_SIZE      24u
/*
 * The low bits of SyncBlock::m_Lock, an OBJECTHANDLE, that are not its address (syncblk.h of .NET
 * 11).
 */
#define LOCK_HANDLE_BITS ((uint64_t)7)
#define SYNC_INDEX_MASK  0x03ffffffu
#define STATE_IS_HELD    1u
#define STATE_WAITERS    6u /* shift */

/* The header word of an object with a sync block (syncblk.h). */
#define HEADER_BITS     0x0c000000u
#define HEADER_HAS_SYNC 0x08000000u

/*
 * SyncBlockCache (syncblk.h): the first entry of the table that was never used, the list of free
 * ones, and how many entries there are.
 */
#define CACHE_COUNT 12u /* after the index */
/* Objects of the table that are looked at to check it. */
#define NAMED_MAX 8u
/* Most entries of a table without a cache that are read. */
#define SCAN_MAX (1u << 20)

/*
 * SyncBlock.m_Link, the head of the list of those who called Monitor.Wait, leads to the links of
 * WaitEventLink {SyncBlock * | 1 when it was pulsed, event, Thread *, next, link} (syncblk.h,
 * threads.h of .NET 8 to 10).
 */
#define BLOCK_LINK  72u
#define WAIT_LINK   32u /* of the link in a WaitEventLink */
#define WAIT_THREAD 16u

static bool block_names(const struct runtime *runtime, uint64_t block, uint32_t index)
{
	uint32_t word = 0;
	return block && block % 8 == 0 &&
	       coreclr_field_u32(runtime, block, L_SYNC_BLOCK_INDEX, &word) &&
	       (word & SYNC_INDEX_MASK) == index;
}

static bool object_names(const struct runtime *runtime, uint64_t object, uint32_t index)
{
	uint32_t word = 0;
	return object >= 8 && object % 8 == 0 && memory_u32(runtime->memory, object - 4, &word) &&
	       (word & HEADER_BITS) == HEADER_HAS_SYNC && (word & SYNC_INDEX_MASK) == index;
}

static bool read_sync_words(const struct runtime *runtime, uint32_t index, uint64_t words[2])
{
	return memory_read(runtime->memory,
			   coreclr_of(runtime)->globals.sync_table + (uint64_t)ENTRY_SIZE * index,
			   words, ENTRY_SIZE);
}

/* The runtime's own count, which comes after the table among its globals (inc/dacvars.h). */
static uint64_t count_of_cache(const struct runtime *runtime)
{
	for (uint64_t i = 0; i + 1 < coreclr_of(runtime)->globals.dac_count; i++) {
		uint64_t table = 0, cache = 0, words[2];
		uint32_t index = 0, size = 0;
		if (!dac_pointer(runtime, i, &table) ||
		    table != coreclr_of(runtime)->globals.sync_table ||
		    !dac_pointer(runtime, i + 1, &cache) || cache % 8 != 0 ||
		    !coreclr_field_u32(runtime, cache, L_SYNC_CACHE_INDEX, &index) ||
		    !coreclr_field_u32(runtime, cache + CACHE_COUNT, L_SYNC_CACHE_INDEX, &size) ||
		    !index || index > size || size > SYNC_INDEX_MASK + 1)
			continue;
		/* The last used entry refers to its own index, or is free. */
		if (index == 1 || (read_sync_words(runtime, index - 1, words) &&
				   (words[1] & 1 || block_names(runtime, words[0], index - 1) ||
				    object_names(runtime, words[1], index - 1))))
			return index;
	}
	return 0;
}

/*
 * After the used entries comes memory that was not cleared: the last used entry is the last one in
 * which object and block have that index.
 */
static uint64_t count_by_names(const struct runtime *runtime)
{
	uint64_t words[2], count = 1;
	for (uint32_t i = 1; i < SCAN_MAX && read_sync_words(runtime, i, words); i++) {
		if (!words[0] && !words[1])
			break;
		if ((block_names(runtime, words[0], i) ||
		     !layout_has(&coreclr_of(runtime)->layout, L_SYNC_BLOCK_INDEX)) &&
		    object_names(runtime, words[1], i))
			count = (uint64_t)i + 1;
	}
	return count;
}

/*
 * Does any of the first objects that the table names have the index of its entry?  None of several: the
 * table of this release is something else.
 */
static bool table_checks_out(const struct runtime *runtime)
{
	uint64_t words[2];
	uint32_t named = 0, header;
	for (uint32_t i = 1; i < coreclr_of(runtime)->globals.sync_count && named < NAMED_MAX;
	     i++) {
		if (!read_sync_words(runtime, i, words))
			break;
		if (words[1] < 8 || words[1] & 1 ||
		    !memory_u32(runtime->memory, words[1] - 4, &header))
			continue;
		if (object_names(runtime, words[1], i))
			return true;
		named++;
	}
	return named < NAMED_MAX;
}

struct sync_table coreclr_sync_table(const struct runtime *runtime)
{
	const struct coreclr_globals *globals = &coreclr_of(runtime)->globals;
	return (struct sync_table){ .address = globals->sync_table, .count = globals->sync_count };
}

void runtime_sync_count(struct runtime *runtime)
{
	if (!coreclr_of(runtime)->globals.sync_table)
		return;
	if (!coreclr_of(runtime)->globals.sync_count)
		coreclr_of(runtime)->globals.sync_count = count_of_cache(runtime);
	/* After the entries that were used comes what was not cleared: without the count nothing follows. */
	if (!coreclr_of(runtime)->globals.sync_count) {
		coreclr_of(runtime)->globals.sync_count = count_by_names(runtime);
		return;
	}
	if (table_checks_out(runtime))
		return;
	coreclr_of(runtime)->globals.sync_table = coreclr_of(runtime)->globals.sync_count = 0;
	findings_add(
		&runtime->target->findings, FINDING_MISSING_SYMBOLS, NULL,
		"the table of sync blocks does not check out: none of the first %u objects in it "
		"has the number of its entry; locks and sync blocks are not known",
		NAMED_MAX);
}

/*
 * Since 11: the word of the object's header, as it was when the block was made, until a Lock takes its
 * place.  The low bits of the Lock's handle are the runtime's own.
 */
static void read_managed_monitor(const struct runtime *runtime, struct sync_block *block)
{
	uint64_t handle = 0;
	uint32_t word = 0;
	if (!coreclr_pointer(runtime, block->address, L_SYNC_BLOCK_LOCK, &handle))
		return;
	if (handle) {
		(void)memory_u64(runtime->memory, handle & ~LOCK_HANDLE_BITS, &block->lock);
		return;
	}
	if (!coreclr_field_u32(runtime, block->address, L_SYNC_BLOCK_THIN_LOCK, &word))
		return;
	uint32_t thread = word & HEADER_THREAD_MASK;
	block->has_monitor = true;
	if (!thread)
		return;
	block->is_held = true;
	block->recursion = 1 + ((word & HEADER_RECURSION_MASK) >> HEADER_RECURSION_SHIFT);
	block->owner = runtime_thread_by_id(runtime, thread);
	block->os_id = block->owner ? block->owner->os_id : 0;
}

static void read_monitor(const struct runtime *runtime, uint32_t index, struct sync_block *block)
{
	uint8_t bytes[LOCK_SIZE];
	if (!block_names(runtime, block->address, index))
		return;
	if (coreclr_has(runtime, CORECLR_MANAGED_MONITORS)) {
		read_managed_monitor(runtime, block);
		return;
	}
	if (!memory_read(runtime->memory, block->address, bytes, sizeof(bytes)))
		return;
	uint32_t state = load_u32(bytes + LOCK_STATE);
	block->has_monitor = true;
	block->is_held = state & STATE_IS_HELD;
	block->waiters = state >> STATE_WAITERS;
	block->recursion = load_u32(bytes + LOCK_RECURSION);
	block->os_id = load_u64(bytes + LOCK_OS_ID);
	block->owner = block->is_held ? runtime_thread_by_os_id(runtime, block->os_id) : NULL;
}

bool coreclr_sync_block(const struct runtime *runtime, uint32_t index, struct sync_block *ret)
{
	struct sync_block block = { 0 };
	uint64_t words[2];
	if (!coreclr_of(runtime)->globals.sync_table || !index || index > SYNC_INDEX_MASK ||
	    (coreclr_of(runtime)->globals.sync_count &&
	     index >= coreclr_of(runtime)->globals.sync_count) ||
	    !read_sync_words(runtime, index, words) ||
	    (!coreclr_of(runtime)->globals.sync_count && !words[0] && !words[1]))
		return false;
	/* If neither has that index, it is not an entry, whatever the count says. */
	if (!(words[1] & 1) &&
	    (block_names(runtime, words[0], index) || object_names(runtime, words[1], index))) {
		block.address = words[0];
		block.object = words[1];
	}
	if (block.object && block.address)
		read_monitor(runtime, index, &block);
	*ret = block;
	return true;
}

bool runtime_pulse_waiter(const struct runtime *runtime, uint64_t block, uint64_t *cursor,
			  uint64_t *ret_thread)
{
	uint8_t bytes[WAIT_LINK];
	uint64_t link = 0;
	uint64_t from = *cursor ? *cursor : block + BLOCK_LINK;
	if (coreclr_has(runtime, CORECLR_MANAGED_MONITORS) ||
	    !memory_u64(runtime->memory, from, &link) || link < WAIT_LINK || link % 8 != 0 ||
	    !memory_read(runtime->memory, link - WAIT_LINK, bytes, sizeof(bytes)) ||
	    (load_u64(bytes) & ~(uint64_t)1) != block)
		return false;
	*cursor = link;
	*ret_thread = load_u64(bytes + WAIT_THREAD);
	return true;
}
