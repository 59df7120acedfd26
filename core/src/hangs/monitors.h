/* SPDX-License-Identifier: MIT */
/* The monitors that are held or waited for. */
#pragma once

#include "gc/heap.h"
#include "runtime/sync_block.h"

struct job;
struct members;

/** A monitor in a sync block. */
struct monitor {
	struct sync_block block;
	/** Since 11, of its Lock: what those wait for who enter, and who has the queue of Monitor.Wait. */
	uint64_t event, condition;
	uint32_t index; /**< of the block in the table */
	uint32_t found; /**< threads of which it was found out that they wait to enter it */
};

/** All that are held, or that somebody waits for, ascending by the address of the object. */
struct monitors {
	struct monitor *rows;
	size_t rows_count, rows_capacity;
	bool is_missing; /**< the table of sync blocks was not found */
	uint64_t unread; /**< sync blocks whose monitor cannot be read */
};

/** Entry number @p index (from 1) of the table; false after the last one that was ever used. */
bool monitor_read(struct runtime *runtime, struct members *members, uint32_t index,
		  struct monitor *ret);

/**
 * Read the table of sync blocks.
 *
 * @param[out] ret To be given to monitors_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status monitors_read(struct runtime *runtime, struct members *members,
					  struct job *job, struct monitors *ret,
					  struct hd_error *err);
void monitors_deinit(struct monitors *monitors);

/** The monitor of the object at @p object, or NULL.  Cost: logarithmic. */
struct monitor *monitor_of(const struct monitors *monitors, uint64_t object);
