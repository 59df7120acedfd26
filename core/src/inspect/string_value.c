/* SPDX-License-Identifier: MIT */
#include "gc/heap.h"
#include "inspect/utf16.h"
#include "inspect/value.h"

#define VALUE_PIECE 4096u

bool string_value(struct heap *heap, uint64_t address, uint32_t limit, struct text *text,
		  uint32_t *ret_length)
{
	struct memory *memory = heap->memory;
	uint64_t word;
	uint32_t length;
	if (!address || !memory_u64(memory, address, &word) ||
	    !memory_u32(memory, address + OBJECT_LENGTH, &length))
		return false;
	const struct type *type = type_find(heap->runtime, word & ~(uint64_t)7);
	if (!type || !type->is_string)
		return false;
	if (ret_length)
		*ret_length = length;
	struct utf16 utf16 = { .text = text };
	uint64_t left = 2 * (uint64_t)(length < limit ? length : limit);
	uint64_t at = address + STRING_CHARS;
	uint8_t bytes[VALUE_PIECE];
	while (left && !text->failed) {
		size_t size = left < VALUE_PIECE ? (size_t)left : VALUE_PIECE;
		if (!memory_read(memory, at, bytes, size))
			break;
		utf16_append(&utf16, bytes, size / 2);
		at += size;
		left -= size;
	}
	utf16_end(&utf16);
	return !left;
}
