/* SPDX-License-Identifier: MIT */
#include "mem/window.h"

#include "util/alloc.h"

const uint8_t *window_move(struct window *window, uint64_t address, uint64_t need,
			   uint64_t *ret_size)
{
	uint64_t size = 0;
	const uint8_t *bytes = memory_run(window->memory, address, &size);
	if (!bytes || size < need) {
		if (need > WINDOW_SIZE)
			return NULL;
		if (!window->buffer) {
			window->buffer = mem_alloc(WINDOW_SIZE, 1);
			if (!window->buffer)
				return NULL;
		}
		window->size = 0;
		bytes = window->buffer;
		size = memory_prefix(window->memory, address, window->buffer, WINDOW_SIZE);
		if (size < need)
			return NULL;
	}
	window->begin = address;
	window->size = size;
	window->bytes = bytes;
	if (ret_size)
		*ret_size = size;
	return bytes;
}

void window_deinit(struct window *window)
{
	mem_free(window->buffer);
	window->buffer = NULL;
	window->size = 0;
}
