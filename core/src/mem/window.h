/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"
#include "util/fuzzed.h"

/** How many bytes a window copies at a time where nothing is mapped. */
#define WINDOW_SIZE ((size_t)1 << FUZZED(20, 13))

/**
 * One reader's view of memory as it moves along: a pointer to the bytes where they are mapped, a
 * copy otherwise.  One thread uses a window; a zeroed one with a memory is ready.
 */
struct window {
	struct memory *memory;
	uint64_t begin;       /**< address of bytes[0] */
	uint64_t size;        /**< available bytes */
	const uint8_t *bytes; /**< mapped, or the buffer */
	uint8_t *buffer;      /**< WINDOW_SIZE, or NULL until it is needed */
};

/** Slow path of window_at(). */
const uint8_t *window_move(struct window *window, uint64_t address, uint64_t need,
			   uint64_t *ret_size);

/**
 * At least @p need (at most WINDOW_SIZE) bytes at @p address, valid until the next call; *@p
 * ret_size (may be NULL) gets how many there are.  NULL: the target does not have all of them, or
 * memory is exhausted.
 */
static inline const uint8_t *window_at(struct window *window, uint64_t address, uint64_t need,
				       uint64_t *ret_size)
{
	uint64_t offset = address - window->begin;
	if (offset < window->size && window->size - offset >= need) {
		if (ret_size)
			*ret_size = window->size - offset;
		return window->bytes + offset;
	}
	return window_move(window, address, need, ret_size);
}

void window_deinit(struct window *window);
