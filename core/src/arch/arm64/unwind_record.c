/* SPDX-License-Identifier: MIT */
/*
 * Full records (https://learn.microsoft.com/cpp/build/arm64-exception-handling, ".xdata records"; as CoreCLR reads them:
 * unwinder/arm64/unwinder.cpp).
 */
#include "arch/arm64/unwind_record.h"

#include "arch/arm64/register_table.h"
#include "mem/memory.h"

/* The first word: length, version, X, E, number of epilogues, words of codes; the second: the last two, longer. */
#define LENGTH_BITS      0x3ffffu
#define VERSION_SHIFT    18u
#define VERSION_BITS     3u
#define HAS_HANDLER      ((uint32_t)1 << 20)
#define IS_SINGLE        ((uint32_t)1 << 21)
#define EPILOGUES_SHIFT  22u
#define EPILOGUES_BITS   0x1fu
#define WORDS_SHIFT      27u
#define MORE_EPILOGUES   0xffffu
#define MORE_WORDS_SHIFT 16u
#define MORE_WORDS_BITS  0xffu
#define SCOPE_BEGIN_BITS 0x3ffffu
#define SCOPE_CODE_SHIFT 22u
#define WORD             4u

bool arm64_unwind_record_read(struct memory *memory, uint64_t address, struct unwind_record *ret)
{
	uint32_t first, more = 0;
	if (address % WORD != 0 || !memory_u32(memory, address, &first) ||
	    (first >> VERSION_SHIFT & VERSION_BITS) != 0)
		return false;
	uint64_t at = address + WORD;
	uint32_t words = first >> WORDS_SHIFT;
	ret->length = first & LENGTH_BITS;
	ret->is_single = first & IS_SINGLE;
	ret->epilogues = first >> EPILOGUES_SHIFT & EPILOGUES_BITS;
	if (!words && !ret->epilogues) {
		if (!memory_u32(memory, at, &more))
			return false;
		at += WORD;
		ret->epilogues = more & MORE_EPILOGUES;
		words = more >> MORE_WORDS_SHIFT & MORE_WORDS_BITS;
	}
	ret->scopes = at;
	if (!ret->is_single)
		at += (uint64_t)WORD * ret->epilogues;
	ret->codes_count = words * WORD;
	if (!memory_read(memory, at, ret->codes, ret->codes_count))
		return false;
	ret->size = at + ret->codes_count + (first & HAS_HANDLER ? WORD : 0) - address;
	return true;
}

bool arm64_unwind_extent(struct memory *memory, uint64_t address, uint64_t *ret_size,
			 uint64_t *ret_length)
{
	struct unwind_record record;
	if (!arm64_unwind_record_read(memory, address, &record))
		return false;
	*ret_size = record.size;
	*ret_length = (uint64_t)record.length * UNWIND_INSTRUCTION;
	return true;
}

/* The registers of a code of two bytes: their number, counted from x19 or in pairs, and an offset of six bits. */
static uint8_t number_of(uint32_t word, unsigned int shift, unsigned int bits, unsigned int step)
{
	return (uint8_t)(ARM64_X19 + step * (word >> shift & ((1u << bits) - 1)));
}

/* Saves of 0xc8 to 0xdf, which have two bytes. */
static void decode_save(uint8_t first, uint8_t second, struct unwind_code *ret)
{
	uint32_t word = (uint32_t)first << 8 | second;
	uint32_t offset = 8 * (word & 0x3fu), moved = offset + 8;
	ret->bytes = 2;
	if (first < 0xcc) {
		ret->operation = UNWIND_SAVE_PAIR;
		ret->number = number_of(word, 6, 4, 1);
		ret->offset = offset;
	} else if (first < 0xd0) {
		ret->operation = UNWIND_SAVE_PAIR;
		ret->number = number_of(word, 6, 4, 1);
		ret->size = moved;
	} else if (first < 0xd4) {
		ret->operation = UNWIND_SAVE_ONE;
		ret->number = number_of(word, 6, 4, 1);
		ret->offset = offset;
	} else if (first < 0xd6) {
		ret->operation = UNWIND_SAVE_ONE;
		ret->number = number_of(word, 5, 4, 1);
		ret->size = 8 * (word & 0x1fu) + 8;
	} else if (first < 0xd8) {
		ret->operation = UNWIND_SAVE_LR_PAIR;
		ret->number = number_of(word, 6, 3, 2);
		ret->offset = offset;
	} else if (first < 0xdf) {
		ret->operation = UNWIND_SAVE_FLOATS;
		if (first == 0xda || first == 0xdb)
			ret->size = moved;
		if (first == 0xde)
			ret->size = 8 * (word & 0x1fu) + 8;
	}
}

/* Codes of 0xe0 and above. */
static void decode_special(const uint8_t *at, uint32_t left, struct unwind_code *ret)
{
	switch (at[0]) {
	case 0xe0:
		ret->operation = UNWIND_ALLOC;
		ret->bytes = 4;
		if (left >= 4)
			ret->size = ((uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]) * 16;
		break;
	case 0xe1:
		ret->operation = UNWIND_SET_FP;
		break;
	case 0xe2:
		ret->operation = UNWIND_ADD_FP;
		ret->bytes = 2;
		if (left >= 2)
			ret->offset = 8 * (uint32_t)at[1];
		break;
	case 0xe3: /* nop */
		ret->operation = UNWIND_NOTHING;
		break;
	case 0xfc:
		ret->operation = UNWIND_SIGN;
		break;
	case 0xe4:
		ret->operation = UNWIND_END;
		break;
	case 0xe6:
		ret->operation = UNWIND_SAVE_NEXT;
		break;
	default:
		break;
	}
}

struct unwind_code arm64_unwind_code_at(const struct unwind_record *record, uint32_t index)
{
	struct unwind_code ret = { .operation = UNWIND_UNKNOWN, .bytes = 1 };
	if (index >= record->codes_count)
		return ret;
	const uint8_t *at = record->codes + index;
	uint32_t left = record->codes_count - index;
	uint8_t first = at[0];
	if (first < 0x20) { /* alloc_s */
		ret.operation = UNWIND_ALLOC;
		ret.size = 16 * (uint32_t)first;
	} else if (first < 0x40) { /* save_r19r20_x */
		ret.operation = UNWIND_SAVE_PAIR;
		ret.number = ARM64_X19;
		ret.size = 8 * (first & 0x1fu);
	} else if (first < 0x80) { /* save_fplr */
		ret.operation = UNWIND_SAVE_PAIR;
		ret.number = ARM64_FP;
		ret.offset = 8 * (first & 0x3fu);
	} else if (first < 0xc0) { /* save_fplr_x */
		ret.operation = UNWIND_SAVE_PAIR;
		ret.number = ARM64_FP;
		ret.size = 8 * (first & 0x3fu) + 8;
	} else if (first < 0xc8) { /* alloc_m */
		ret.operation = UNWIND_ALLOC;
		ret.bytes = 2;
		if (left >= 2)
			ret.size = 16 * ((uint32_t)(first & 7) << 8 | at[1]);
	} else if (first < 0xe0) {
		decode_save(first, left >= 2 ? at[1] : 0, &ret);
	} else {
		decode_special(at, left, &ret);
	}
	if (ret.bytes > left)
		ret.operation = UNWIND_UNKNOWN;
	return ret;
}

bool arm64_unwind_codes_count(const struct unwind_record *record, uint32_t index, uint32_t *ret)
{
	uint32_t count = 0;
	for (;;) {
		struct unwind_code code = arm64_unwind_code_at(record, index);
		if (code.operation == UNWIND_UNKNOWN)
			return false;
		if (code.operation == UNWIND_END)
			break;
		count++;
		index += code.bytes;
	}
	*ret = count;
	return true;
}

bool arm64_unwind_epilogue_at(struct memory *memory, const struct unwind_record *record,
			      uint32_t index, uint32_t *ret_begin, uint32_t *ret_code)
{
	uint32_t scope, count;
	if (record->is_single) {
		*ret_code = record->epilogues;
		/* The end is an instruction, too: it returns. */
		if (!arm64_unwind_codes_count(record, *ret_code, &count) ||
		    count + 1 > record->length)
			return false;
		*ret_begin = record->length - count - 1;
		return true;
	}
	if (!memory_u32(memory, record->scopes + (uint64_t)WORD * index, &scope))
		return false;
	*ret_begin = scope & SCOPE_BEGIN_BITS;
	*ret_code = scope >> SCOPE_CODE_SHIFT;
	return true;
}
