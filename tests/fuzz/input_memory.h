/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "mem/memory.h"

/** The input as a target's memory: its bytes lie from @p base on, and nothing else is there. */
struct input_memory {
	struct memory memory;
	uint64_t base;
	const uint8_t *data;
	size_t size;
};

static inline const uint8_t *input_memory_run(struct memory *memory, uint64_t address,
					      uint64_t *ret_size)
{
	const struct input_memory *input = (const struct input_memory *)memory;
	if (address < input->base || address - input->base >= input->size)
		return NULL;
	*ret_size = input->size - (address - input->base);
	return input->data + (address - input->base);
}

static inline size_t input_memory_read(struct memory *memory, uint64_t address, void *buf,
				       size_t size)
{
	uint64_t left;
	const uint8_t *bytes = input_memory_run(memory, address, &left);
	if (!bytes)
		return 0;
	size = size < left ? size : (size_t)left;
	memcpy(buf, bytes, size);
	return size;
}

/** Memory whose bytes are read, or if @p is_mapped seen where they lie as well. */
static inline struct input_memory input_memory_at(uint64_t base, const uint8_t *data, size_t size,
						  bool is_mapped)
{
	static const struct memory_ops mapped = { .read = input_memory_read,
						  .run = input_memory_run };
	static const struct memory_ops copied = { .read = input_memory_read };
	return (struct input_memory){ .memory = { .ops = is_mapped ? &mapped : &copied },
				      .base = base,
				      .data = data,
				      .size = size };
}
