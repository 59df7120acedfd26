/* SPDX-License-Identifier: MIT */
#include "mem/memory.h"

size_t memory_prefix(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	if (size && address > UINT64_MAX - (size - 1))
		size = (size_t)(UINT64_MAX - address);
	return size ? memory->ops->read(memory, address, buf, size) : 0;
}

int memory_string(struct memory *memory, uint64_t address, char *buf, size_t size)
{
	size_t used = 0;
	while (used < size) {
		size_t piece = size - used < 64 ? size - used : 64;
		size_t got = memory_prefix(memory, address + used, buf + used, piece);
		if (memchr(buf + used, 0, got))
			return (int)strlen(buf);
		if (got < piece)
			return -1;
		used += got;
	}
	return -1;
}

size_t memory_read_runs(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	size_t done = 0;
	while (done < size) {
		uint64_t room = 0;
		const uint8_t *bytes = memory->ops->run(memory, address + done, &room);
		if (!bytes)
			break;
		size_t piece = room < size - done ? (size_t)room : size - done;
		memcpy((uint8_t *)buf + done, bytes, piece);
		done += piece;
	}
	return done;
}
