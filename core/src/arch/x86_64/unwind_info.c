/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/unwind_info.h"

#include "mem/memory.h"

/* UNWIND_INFO: u8 version:3 flags:5, prologue, codes, frame register:4 offset:4; then u16 codes. */
#define VERSION_MASK 7u
#define VERSION_LAST 2u
#define FLAG_CHAINED (4u << 3)

bool unwind_info_read(struct memory *memory, uint64_t address, struct unwind_info *ret)
{
	size_t size = memory_prefix(memory, address, ret->bytes, sizeof(ret->bytes));
	if (size < UNWIND_HEADER_SIZE)
		return false;
	unsigned int version = ret->bytes[0] & VERSION_MASK;
	ret->count = ret->bytes[2];
	ret->is_chained = ret->bytes[0] & FLAG_CHAINED;
	size_t needed = UNWIND_HEADER_SIZE + 2 * (size_t)ret->count;
	if (ret->is_chained)
		needed += 2 * (size_t)(ret->count & 1) + UNWIND_FUNCTION_SIZE;
	return version && version <= VERSION_LAST && size >= needed;
}

bool x86_64_unwind_extent(struct memory *memory, uint64_t address, uint64_t *ret_size,
			  uint64_t *ret_length)
{
	uint8_t count;
	if (!memory_u8(memory, address + 2, &count))
		return false;
	/* The handler's address is always there. */
	*ret_size = (UNWIND_HEADER_SIZE + 2 * (uint64_t)count + 4 + 3) & ~(uint64_t)3;
	*ret_length = 0;
	return true;
}

static uint32_t unwind_slot_at(const struct unwind_info *info, unsigned int index)
{
	return load_u16(info->bytes + UNWIND_HEADER_SIZE + 2 * (size_t)index);
}

bool unwind_code_at(const struct unwind_info *info, unsigned int index, struct unwind_code *ret)
{
	/* The number of slots of the operand, one (16 bits) or two (32 bits), and its factor. */
	static const struct {
		uint8_t slots, scale;
	} kinds[] = {
		[PUSH_NONVOL] = { 1, 0 },    [ALLOC_LARGE] = { 2, 8 },
		[ALLOC_SMALL] = { 1, 0 },    [SET_FPREG] = { 1, 0 },
		[SAVE_NONVOL] = { 2, 8 },    [SAVE_NONVOL_FAR] = { 3, 1 },
		[EPILOG] = { 2, 0 },         [SPARE_CODE] = { 3, 0 },
		[SAVE_XMM128] = { 2, 16 },   [SAVE_XMM128_FAR] = { 3, 1 },
		[PUSH_MACHFRAME] = { 1, 0 }, [SET_FPREG_LARGE] = { 3, 16 },
	};
	uint32_t slot = unwind_slot_at(info, index);
	ret->offset = slot & 0xff;
	ret->operation = slot >> 8 & 0xf;
	ret->info = (uint8_t)(slot >> 12);
	if (ret->operation >= sizeof(kinds) / sizeof(kinds[0]))
		return false;
	ret->slots = kinds[ret->operation].slots;
	uint64_t scale = kinds[ret->operation].scale;
	if (ret->operation == ALLOC_LARGE && ret->info) {
		ret->slots = 3;
		scale = 1;
	}
	if (ret->slots > info->count - index)
		return false;
	ret->operand = 0;
	if (ret->slots == 3) {
		ret->operand = scale * (unwind_slot_at(info, index + 1) |
					(uint64_t)unwind_slot_at(info, index + 2) << 16);
	} else if (ret->slots == 2) {
		ret->operand = scale * unwind_slot_at(info, index + 1);
	}
	return true;
}

bool unwind_info_next(struct memory *memory, uint64_t image_base, struct unwind_info *info,
		      uint64_t *ret_begin)
{
	const uint8_t *next =
		info->bytes + UNWIND_HEADER_SIZE + 2 * (size_t)(info->count + (info->count & 1));
	uint64_t begin = image_base + load_u32(next);
	if (!unwind_info_read(memory, image_base + load_u32(next + 8), info))
		return false;
	*ret_begin = begin;
	return true;
}
