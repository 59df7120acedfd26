/* SPDX-License-Identifier: MIT */
#include "mem/file_memory.h"

static size_t file_memory_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct mapped_file *file = ((const struct file_memory *)memory)->file;
	if (address >= file->size)
		return 0;
	uint64_t room = file->size - address;
	size_t piece = room < size ? (size_t)room : size;
	memcpy(buf, file->bytes + address, piece);
	return piece;
}

struct file_memory file_memory_of(const struct mapped_file *file)
{
	static const struct memory_ops ops = { .read = file_memory_read };
	return (struct file_memory){ .memory = { .ops = &ops }, .file = file };
}
