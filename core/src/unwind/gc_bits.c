/* SPDX-License-Identifier: MIT */
#include "unwind/gc_bits.h"

void gc_bits_init(struct gc_bits *bits, struct memory *memory, uint64_t address, uint64_t limit)
{
	bits->memory = memory;
	bits->address = address;
	bits->position = 0;
	bits->limit = limit;
	bits->failed = false;
	bits->bytes = NULL;
	bits->begin = bits->size = 0;
}

/* Make the bytes from @p byte available. */
static void load_window(struct gc_bits *bits, uint64_t byte)
{
	uint64_t size = 0;
	bits->bytes = memory_run(bits->memory, bits->address + byte, &size);
	if (!bits->bytes || size < 8) {
		bits->bytes = bits->buffer;
		size = memory_prefix(bits->memory, bits->address + byte, bits->buffer,
				     sizeof(bits->buffer));
	}
	bits->begin = byte;
	bits->size = size;
}

uint64_t gc_bits_word(struct gc_bits *bits, uint64_t byte, unsigned int needed)
{
	if (bits->failed)
		return 0;
	if (8 * byte + needed > bits->limit || bits->address > UINT64_MAX - byte) {
		bits->failed = true;
		return 0;
	}
	if (byte < bits->begin || bits->size < 8 || byte - bits->begin > bits->size - 8)
		load_window(bits, byte);
	uint64_t word = 0, size = bits->size - (byte - bits->begin);
	memcpy(&word, bits->bytes + (byte - bits->begin), size < 8 ? (size_t)size : 8);
	if (needed > 8 * size)
		bits->failed = true;
	return word;
}

/* Skip chunks until one says that no other follows; returns how many bits they hold. */
static uint64_t read_number_chunks(struct gc_bits *bits, unsigned int base, unsigned int *ret_width)
{
	uint64_t value = 0;
	unsigned int width = 0;
	uint32_t chunk;
	do {
		chunk = gc_bits_read(bits, base + 1);
		value |= (uint64_t)(chunk & ((1u << base) - 1)) << width;
		width += base;
	} while (chunk >> base && width < 40);
	if (chunk >> base)
		bits->failed = true;
	*ret_width = width;
	return bits->failed ? 0 : value;
}

uint32_t gc_bits_unsigned(struct gc_bits *bits, unsigned int base)
{
	unsigned int width;
	uint64_t value = read_number_chunks(bits, base, &width);
	if (value > UINT32_MAX)
		bits->failed = true;
	return bits->failed ? 0 : (uint32_t)value;
}

int32_t gc_bits_signed(struct gc_bits *bits, unsigned int base)
{
	unsigned int width;
	int64_t value = (int64_t)read_number_chunks(bits, base, &width);
	if (value >> (width - 1) & 1)
		value -= (int64_t)1 << width;
	if (value < INT32_MIN || value > INT32_MAX)
		bits->failed = true;
	return bits->failed ? 0 : (int32_t)value;
}
