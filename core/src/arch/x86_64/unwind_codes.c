/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/unwind_codes.h"

#include "arch/x86_64/frame_registers.h"
#include "arch/x86_64/opcodes.h"
#include "arch/x86_64/unwind_info.h"
#include "mem/memory.h"

#define FRAME_OFFSET_SCALED 15u

/* The work on one frame. */
struct unwinding {
	struct memory *memory;
	struct registers registers;
	uint64_t frame_base;   /* the address that saved registers' offsets are relative to */
	bool is_machine_frame; /* rip and rsp came from the processor's own frame */
};

/* Load a register from the stack. */
static bool load_saved_register(struct unwinding *unwinding, unsigned int reg, uint64_t address)
{
	unwinding->registers.slots[reg] = address;
	return memory_u64(unwinding->memory, address, &unwinding->registers.values[reg]);
}

static bool pop_saved_register(struct unwinding *unwinding, unsigned int reg)
{
	uint64_t *sp = &unwinding->registers.values[REG_RSP], at = *sp;
	*sp = at + 8;
	return load_saved_register(unwinding, reg, at);
}

/* The processor's frame: [error code,] rip, cs, flags, rsp, ss. */
static bool pop_machine_frame(struct unwinding *unwinding, bool has_code)
{
	uint64_t at = unwinding->registers.values[REG_RSP] + (has_code ? 8 : 0);
	unwinding->is_machine_frame = true;
	bool done = load_saved_register(unwinding, REG_RIP, at);
	return load_saved_register(unwinding, REG_RSP, at + 24) && done;
}

static bool undo(struct unwinding *unwinding, const struct unwind_info *info,
		 const struct unwind_code *code)
{
	uint64_t *values = unwinding->registers.values;
	uint8_t frame = info->bytes[3];
	switch (code->operation) {
	case PUSH_NONVOL:
		return pop_saved_register(unwinding, code->info);
	case ALLOC_LARGE:
		values[REG_RSP] += code->operand;
		return true;
	case ALLOC_SMALL:
		values[REG_RSP] += 8 * (uint64_t)code->info + 8;
		return true;
	case SET_FPREG:
		values[REG_RSP] = values[frame & 0xf] - 16 * (uint64_t)(frame >> 4);
		return true;
	case SET_FPREG_LARGE:
		values[REG_RSP] = values[frame & 0xf] - code->operand;
		return true;
	case SAVE_NONVOL:
	case SAVE_NONVOL_FAR:
		return load_saved_register(unwinding, code->info,
					   unwinding->frame_base + code->operand);
	case PUSH_MACHFRAME:
		return pop_machine_frame(unwinding, code->info);
	case SPARE_CODE:
		return false;
	default: /* epilogues, vector registers */
		return true;
	}
}

/*
 * The frame's base, as VirtualUnwind() finds it: from the frame register when that is set, else
 * rsp.
 */
static bool find_frame_base(struct unwinding *unwinding, const struct unwind_info *info,
			    uint64_t offset)
{
	uint8_t frame = info->bytes[3];
	uint64_t scaled = 16 * (uint64_t)(frame >> 4);
	bool is_set = offset >= info->bytes[1] || info->is_chained;
	struct unwind_code code;
	unwinding->frame_base = unwinding->registers.values[REG_RSP];
	if (!(frame & 0xf))
		return true;
	for (unsigned int i = 0; i < info->count; i += code.slots) {
		if (!unwind_code_at(info, i, &code))
			return false;
		if (code.operation != SET_FPREG && code.operation != SET_FPREG_LARGE)
			continue;
		if (offset >= code.offset)
			is_set = true;
		if (code.operation == SET_FPREG_LARGE && frame >> 4 == FRAME_OFFSET_SCALED)
			scaled = code.operand;
		break;
	}
	if (is_set)
		unwinding->frame_base = unwinding->registers.values[frame & 0xf] - scaled;
	return true;
}

/* Undo the codes of @p info and of those that it is chained to. */
static bool undo_codes(struct unwinding *unwinding, struct unwind_info *info,
		       const struct unwind_function *function)
{
	uint64_t begin = function->begin;
	for (unsigned int chain = 0; chain <= UNWIND_CHAIN_MAX; chain++) {
		/*
		 * If the prologue is at a higher address, this wraps, and is then after the
		 * prologue.
		 */
		uint32_t offset = (uint32_t)(unwinding->registers.values[REG_RIP] - begin);
		struct unwind_code code;
		if (!chain && !find_frame_base(unwinding, info, offset))
			return false;
		for (unsigned int i = 0; i < info->count; i += code.slots) {
			if (!unwind_code_at(info, i, &code) ||
			    (offset >= code.offset && !undo(unwinding, info, &code)))
				return false;
			if (unwinding->is_machine_frame)
				return true;
		}
		if (!info->is_chained)
			return pop_saved_register(unwinding, REG_RIP);
		if (!unwind_info_next(unwinding->memory, function->image_base, info, &begin))
			return false;
	}
	return false;
}

/*
 * Is rip in an epilogue, after the instruction that frees the frame's space: are there pops, then a
 * return or a jump out?  Then carry out the rest of it.  Before that place, undoing the prologue
 * gives the same result.
 */
static bool finish_epilogue(struct unwinding *unwinding, bool *ret_failed)
{
	uint8_t bytes[32], popped[16];
	size_t count = 0, at = 0,
	       size = memory_prefix(unwinding->memory, unwinding->registers.values[REG_RIP], bytes,
				    sizeof(bytes));
	while (at < size && count < sizeof(popped)) {
		size_t rex = bytes[at] >> 4 == 4; /* only the bit B of REX has a meaning here */
		if (at + rex >= size || (bytes[at + rex] & 0xf8) != 0x58)
			break;
		popped[count++] =
			(uint8_t)((bytes[at + rex] & 7) | (rex ? (bytes[at] & 1) << 3 : 0));
		at += rex + 1;
	}
	if (!x86_64_is_leaving(bytes + at, size - at, count != 0))
		return false;
	*ret_failed = false;
	for (size_t i = 0; i < count; i++) {
		if (!pop_saved_register(unwinding, popped[i]))
			*ret_failed = true;
	}
	if (!pop_saved_register(unwinding, REG_RIP))
		*ret_failed = true;
	return true;
}

bool unwind_frame_is_whole(struct memory *memory, const struct unwind_function *function,
			   const struct registers *registers)
{
	struct unwind_info info;
	struct unwinding unwinding = { .memory = memory, .registers = *registers };
	bool failed;
	if (!unwind_info_read(memory, function->unwind_info, &info) ||
	    registers->values[REG_RIP] - function->begin < info.bytes[1])
		return false;
	return !finish_epilogue(&unwinding, &failed);
}

bool unwind_codes_step(struct memory *memory, const struct unwind_function *function,
		       struct registers *registers)
{
	struct unwind_info info;
	struct unwinding unwinding = { .memory = memory, .registers = *registers };
	bool failed = true;
	if (!function->is_active || !finish_epilogue(&unwinding, &failed)) {
		failed = !unwind_info_read(memory, function->unwind_info, &info) ||
			 !undo_codes(&unwinding, &info, function);
	}
	if (!failed)
		*registers = unwinding.registers;
	return !failed;
}
