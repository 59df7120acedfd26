/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "native/memory_settings.h"

struct heap;
struct job;

/** How much of all memory is native, and how much the GC has, in bytes. */
struct memory_share {
	bool is_live;    /**< a process; of a core all pages that are not zeros count as used */
	bool is_malloc;  /**< native is what malloc has; else what nobody else has */
	uint64_t all;    /**< in memory (Rss) */
	uint64_t native; /**< of these */
	uint64_t gc;     /**< of these, the GC's: objects, what is free, tables */
	uint64_t stacks; /**< of these, those of threads */
	uint64_t gc_committed; /**< what the GC has got from the kernel for segments, used or not */
	uint32_t heaps;        /**< of the GC: one, or several of a server GC */
	uint64_t arenas; /**< of malloc; of a process its areas, of which an arena may have several;
				* 0: it is not known how many */
	struct memory_settings settings;
};

/**
 * Find out: of a process from what the kernel told when it was opened, of a core by walking malloc.
 *
 * @param[out] ret Untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED it is not known what is in memory
 * @retval others as memory_account_create()
 */
HD_NODISCARD enum hd_status memory_share_read(struct target *target, struct heap *heap,
					      struct job *job, struct memory_share *ret,
					      struct hd_error *err);
