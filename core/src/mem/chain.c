/* SPDX-License-Identifier: MIT */
#include "mem/chain.h"

#include <assert.h>

#include "util/alloc.h"

#define CHAIN_PARTS_MAX 4u
/**
 * How many bytes of a later part are read at a time if an earlier part does not say which bytes it
 * has.
 */
#define BLIND_STEP ((uint64_t)4096)

struct chain {
	struct memory memory;
	struct memory *parts[CHAIN_PARTS_MAX];
	size_t count;
};

/*
 * The next address above @p address where the first @p count parts may have a byte; none of them
 * has @p address.
 */
static uint64_t first_of_earlier(const struct chain *chain, size_t count, uint64_t address)
{
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		uint64_t next = memory_next(chain->parts[i], address);
		if (next <= address &&
		    __builtin_add_overflow(address & ~(BLIND_STEP - 1), BLIND_STEP, &next))
			next = UINT64_MAX;
		if (next < first)
			first = next;
	}
	return first;
}

/* Read a piece at @p address from the first part that has it. */
static size_t read_piece(const struct chain *chain, uint64_t address, uint8_t *buf, size_t size)
{
	for (size_t i = 0; i < chain->count; i++) {
		size_t piece = size;
		if (i) {
			uint64_t room = first_of_earlier(chain, i, address) - address;
			piece = room < size ? (size_t)room : size;
		}
		size_t got = memory_prefix(chain->parts[i], address, buf, piece);
		if (got)
			return got;
	}
	return 0;
}

static size_t chain_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct chain *chain = (const struct chain *)memory;
	size_t done = 0;
	while (done < size) {
		size_t got = read_piece(chain, address + done, (uint8_t *)buf + done, size - done);
		if (!got)
			break;
		done += got;
	}
	return done;
}

static const uint8_t *chain_run(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	const struct chain *chain = (const struct chain *)memory;
	for (size_t i = 0; i < chain->count; i++) {
		uint64_t size;
		const uint8_t *bytes = memory_run(chain->parts[i], address, &size);
		if (bytes) {
			uint64_t room = i ? first_of_earlier(chain, i, address) - address : size;
			*ret_size = room < size ? room : size;
			return bytes;
		}
		uint8_t byte;
		if (memory_prefix(chain->parts[i], address, &byte, 1))
			return NULL; /* it has the byte, but not mapped */
	}
	return NULL;
}

static uint64_t chain_next(struct memory *memory, uint64_t address)
{
	const struct chain *chain = (const struct chain *)memory;
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < chain->count; i++) {
		uint64_t next = memory_next(chain->parts[i], address);
		if (next < first)
			first = next;
	}
	return first;
}

static void chain_destroy(struct memory *memory)
{
	HD_FREE struct chain *chain = (struct chain *)memory;
	for (size_t i = 0; i < chain->count; i++)
		memory_destroy(chain->parts[i]);
}

struct memory *memory_chain(struct memory *const *parts, size_t count)
{
	static const struct memory_ops ops = {
		.read = chain_read, .run = chain_run, .next = chain_next, .destroy = chain_destroy
	};
	assert(count >= 1 && count <= CHAIN_PARTS_MAX);
	struct chain *chain = mem_calloc(1, sizeof(*chain));
	if (!chain) {
		for (size_t i = 0; i < count; i++)
			memory_destroy(parts[i]);
		return NULL;
	}
	chain->memory = (struct memory){ .ops = &ops, .is_parallel = true };
	chain->count = count;
	for (size_t i = 0; i < count; i++) {
		chain->parts[i] = parts[i];
		chain->memory.is_parallel &= parts[i]->is_parallel;
	}
	return &chain->memory;
}
