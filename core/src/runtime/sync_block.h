/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct runtime;
struct runtime_thread;

/** An entry of the table of sync blocks, and the monitor in its block. */
struct sync_block {
	uint64_t address; /**< address of the SyncBlock, 0 = none */
	uint64_t object;  /**< the object that it belongs to, 0 = the entry is free */
	/** The rest is known.  Not for a block with a Lock, whose fields tell it (inspect/managed_lock.h). */
	bool has_monitor;
	bool is_held;
	uint32_t waiters;
	uint32_t recursion; /**< how often the thread that holds it has entered it */
	uint64_t lock;      /**< its System.Threading.Lock (CoreCLR since 11, NativeAOT); 0: none */
	uint64_t os_id;     /**< of the thread that holds it */
	const struct runtime_thread *owner; /**< or NULL */
};

/** Entry number @p index (from 1); false after the last one that was ever used. */
bool runtime_sync_block(const struct runtime *runtime, uint32_t index, struct sync_block *ret);
