/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/fail.h"
#include "util/guard.h"

struct memory;

/** The functions that a source of a target's bytes implements. */
struct memory_ops {
	/** Copy the longest available prefix of [address, address + size); @return its size. */
	size_t (*read)(struct memory *memory, uint64_t address, void *buf, size_t size);
	/**
	 * A pointer to the mapped bytes at @p address; *@p ret_size gets how many follow.  They
	 * stay until the memory is destroyed.  Returns NULL if they are not mapped: read() may
	 * still have them.  The function pointer may be NULL: nothing is mapped.
	 */
	const uint8_t *(*run)(struct memory *memory, uint64_t address, uint64_t *ret_size);
	/**
	 * The lowest address, not less than @p address, that read() may have; UINT64_MAX when there
	 * is none.  The function pointer may be NULL: read() may have any address.
	 */
	uint64_t (*next)(struct memory *memory, uint64_t address);
	/** Free the memory and what it owns. */
	void (*destroy)(struct memory *memory);
};

/** The address space of a target; it is the first member of each kind of source. */
struct memory {
	const struct memory_ops *ops;
	bool is_parallel; /**< several threads may read at once */
};

/** NULL is allowed. */
static inline void memory_destroy(struct memory *memory)
{
	if (memory)
		memory->ops->destroy(memory);
}

/** Copy the longest available prefix; @return its size.  Addresses never wrap. */
size_t memory_prefix(struct memory *memory, uint64_t address, void *buf, size_t size);

/** A memory_ops.read for a memory whose bytes are all mapped: copies run after run. */
size_t memory_read_runs(struct memory *memory, uint64_t address, void *buf, size_t size);

/** Read all of [address, address + size), or return false. */
static inline bool memory_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	return memory_prefix(memory, address, buf, size) == size;
}

/** See memory_ops.run; NULL when nothing is mapped there. */
static inline const uint8_t *memory_run(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	return memory->ops->run ? memory->ops->run(memory, address, ret_size) : NULL;
}

/** See memory_ops.next. */
static inline uint64_t memory_next(struct memory *memory, uint64_t address)
{
	return memory->ops->next ? memory->ops->next(memory, address) : address;
}

/* Read one little-endian number; false, and *ret untouched, when it is not available. */
static inline bool memory_u64(struct memory *memory, uint64_t address, uint64_t *ret)
{
	uint64_t value;
	if (!memory_read(memory, address, &value, sizeof(value)))
		return false;
	*ret = value;
	return true;
}
static inline bool memory_u32(struct memory *memory, uint64_t address, uint32_t *ret)
{
	uint32_t value;
	if (!memory_read(memory, address, &value, sizeof(value)))
		return false;
	*ret = value;
	return true;
}
static inline bool memory_i32(struct memory *memory, uint64_t address, int32_t *ret)
{
	int32_t value;
	if (!memory_read(memory, address, &value, sizeof(value)))
		return false;
	*ret = value;
	return true;
}
static inline bool memory_u16(struct memory *memory, uint64_t address, uint16_t *ret)
{
	uint16_t value;
	if (!memory_read(memory, address, &value, sizeof(value)))
		return false;
	*ret = value;
	return true;
}
static inline bool memory_u8(struct memory *memory, uint64_t address, uint8_t *ret)
{
	uint8_t value;
	if (!memory_read(memory, address, &value, sizeof(value)))
		return false;
	*ret = value;
	return true;
}

/**
 * A NUL-terminated string of at most @p size - 1 bytes; @return its length, or -1 when it is not
 * available or does not end within that size.
 */
int memory_string(struct memory *memory, uint64_t address, char *buf, size_t size);

/* Unaligned little-endian loads from bytes that are already in memory. */
static inline uint64_t load_u64(const uint8_t *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}
static inline uint32_t load_u32(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}
static inline uint16_t load_u16(const uint8_t *bytes)
{
	uint16_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}
