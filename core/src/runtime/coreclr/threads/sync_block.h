/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime_ops.h"
#include "runtime/sync_block.h"

/** sync_ops.table of CoreCLR. */
struct sync_table coreclr_sync_table(const struct runtime *runtime);

/** Find out how many entries of the table were ever used: runtime->sync_count, unless it is known. */
void runtime_sync_count(struct runtime *runtime);

/** sync_ops.block of CoreCLR. */
bool coreclr_sync_block(const struct runtime *runtime, uint32_t index, struct sync_block *ret);

/**
 * The threads that called Monitor.Wait on the object of a block and wait there, first one first
 * (doc/coreclr.md 7.4).
 *
 * @param block The address of the SyncBlock.
 * @param[in,out] cursor 0 to begin; then where the next call goes on.
 * @param[out] ret_thread Address of the runtime's Thread; nothing was checked but that its link
 * belongs to the block.
 * @return false after the last one, or when the list is broken: the caller counts, for a broken
 * list may have a cycle
 */
bool runtime_pulse_waiter(const struct runtime *runtime, uint64_t block, uint64_t *cursor,
			  uint64_t *ret_thread);
