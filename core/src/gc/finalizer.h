/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "gc/layouts/finalizer_queue.h"

/** The finalizer queue of one heap. */
struct finalizer_queue {
	uint64_t address;                     /**< address of the CFinalize */
	uint64_t bounds[FINALIZER_PARTS + 1]; /**< part i lies at [bounds[i], bounds[i + 1]) */
	uint32_t heap;
};

/** The results of finalizer_queue_read(). */
enum queue_result {
	QUEUE_SOUND,
	QUEUE_NONE,    /**< the heap has none yet */
	QUEUE_MISSING, /**< its bytes are not in the target */
	QUEUE_DAMAGED, /**< its bounds are out of order */
};

/**
 * Read the bounds of the queue of heap @p index (below heap->heap_count).
 *
 * @param[out] ret Its address and heap, as far as they are known; all members when it is sound.
 * @param[out] ret_slot,ret_word When it is damaged: the bad word and its address.
 */
enum queue_result finalizer_queue_read(const struct heap *heap, uint32_t index,
				       struct finalizer_queue *ret, uint64_t *ret_slot,
				       uint64_t *ret_word);

/** An entry: an object with a finalizer. */
struct finalizer_entry {
	uint64_t address; /**< of the entry */
	uint64_t object;
	uint32_t heap;
	uint8_t part; /**< enum finalizer_part; FINALIZER_CRITICAL and later ones are roots */
};

struct finalizer_list {
	struct finalizer_queue *queues;
	size_t queue_count;
	struct finalizer_entry *rows; /**< in the order of heaps and parts, without null entries */
	size_t rows_count, rows_capacity;
};

/**
 * Read the finalizer queues of all heaps.  A queue whose bounds are out of order or cannot be read
 * is left out, with a finding "finalizer-queue" of the target.
 *
 * @param[out] ret To be given to finalizer_list_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status finalizer_list_read(struct heap *heap, struct finalizer_list *ret,
						struct hd_error *err);
void finalizer_list_deinit(struct finalizer_list *list);
