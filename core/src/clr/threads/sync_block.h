/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_SYNC_BLOCK_H
#define HEAPDUMP_SRC_CLR_SYNC_BLOCK_H

#include "clr/clr.h"

/** An entry of the table of sync blocks, and the monitor in its block. */
struct sync_block {
	uint64_t address; /**< address of the SyncBlock, 0 = none */
	uint64_t object;  /**< the object that it belongs to, 0 = the entry is free */
	bool has_monitor; /**< false: the layout of the block is not known */
	bool is_held;
	uint32_t waiters, recursion;
	uint64_t os_id;                 /**< of the thread that holds it */
	const struct clr_thread *owner; /**< or NULL */
};

/** Find out how many entries of the table were ever used: clr->sync_count, unless it is known. */
void clr_sync_count(struct clr *clr);

/** Entry number @p index (from 1); false after the last one that was ever used. */
bool clr_sync_block(const struct clr *clr, uint32_t index, struct sync_block *ret);

#endif
