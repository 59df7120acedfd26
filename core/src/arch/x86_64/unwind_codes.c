/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/unwind_codes.h"

#include "arch/x86_64/frame_registers.h"
#include "mem/memory.h"

/* UNWIND_INFO: u8 version:3 flags:5, prologue, codes, frame register:4 offset:4; then u16 codes. */
#define UNWIND_HEADER_SIZE  4u
#define VERSION_MASK        7u
#define VERSION_LAST        2u
#define FLAG_CHAINED        (4u << 3)
#define UNWIND_CODES_MAX    255u
#define FUNCTION_SIZE       12u /* RUNTIME_FUNCTION: u32 begin, end, unwind info */
#define CODES_SIZE          (2 * (size_t)(UNWIND_CODES_MAX + 1))
#define FRAME_OFFSET_SCALED 15u

/* UWOP_*; the last one is only used on Unix. */
enum unwind_operation {
	PUSH_NONVOL,
	ALLOC_LARGE,
	ALLOC_SMALL,
	SET_FPREG,
	SAVE_NONVOL,
	SAVE_NONVOL_FAR,
	EPILOG,
	SPARE_CODE,
	SAVE_XMM128,
	SAVE_XMM128_FAR,
	PUSH_MACHFRAME,
	SET_FPREG_LARGE,
};

/* The parts of one UNWIND_INFO that are used. */
struct unwind_info {
	uint8_t bytes[UNWIND_HEADER_SIZE + CODES_SIZE + FUNCTION_SIZE];
	unsigned int count; /* of codes */
	bool is_chained;
};

/* The work on one frame. */
struct unwinding {
	struct memory *memory;
	struct registers registers;
	uint64_t frame_base;   /* the address that saved registers' offsets are relative to */
	bool is_machine_frame; /* rip and rsp came from the processor's own frame */
};

/* One code, its operand, and how many u16 it takes. */
struct unwind_code {
	uint8_t offset, operation, info, slots;
	uint64_t operand; /* scaled */
};

static bool read_info(struct memory *memory, uint64_t address, struct unwind_info *ret)
{
	size_t size = memory_prefix(memory, address, ret->bytes, sizeof(ret->bytes));
	if (size < UNWIND_HEADER_SIZE)
		return false;
	unsigned int version = ret->bytes[0] & VERSION_MASK;
	ret->count = ret->bytes[2];
	ret->is_chained = ret->bytes[0] & FLAG_CHAINED;
	size_t needed = UNWIND_HEADER_SIZE + 2 * (size_t)ret->count;
	if (ret->is_chained)
		needed += 2 * (size_t)(ret->count & 1) + FUNCTION_SIZE;
	return version && version <= VERSION_LAST && size >= needed;
}

static uint32_t unwind_slot_at(const struct unwind_info *info, unsigned int index)
{
	return load_u16(info->bytes + UNWIND_HEADER_SIZE + 2 * (size_t)index);
}

/* The code at @p index; false when its kind does not exist, or it ends after the last one. */
static bool unwind_code_at(const struct unwind_info *info, unsigned int index,
			   struct unwind_code *ret)
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
		const uint8_t *next = info->bytes + UNWIND_HEADER_SIZE +
				      2 * (size_t)(info->count + (info->count & 1));
		begin = function->image_base + load_u32(next);
		if (!read_info(unwinding->memory, function->image_base + load_u32(next + 8), info))
			return false;
	}
	return false;
}

/* Instructions that end a function (Intel SDM, volume 2): a return, or a jump out of it. */
static bool is_leaving(const uint8_t *at, size_t size, bool has_popped)
{
	if (size && at[0] == 0xf2) { /* bnd, repne */
		at++;
		size--;
	}
	if (size < 3)
		return size && (at[0] == 0xc3 || (size == 2 && at[0] == 0xf3 && at[1] == 0xc3));
	if (at[0] == 0xc3 || at[0] == 0xc2 || (at[0] == 0xf3 && at[1] == 0xc3))
		return true;
	/* jmp [rip + x]; and REX.W before an indirect jump, which marks a tail call. */
	if ((at[0] == 0xff && at[1] == 0x25) ||
	    ((at[0] & 0xf8) == 0x48 && at[1] == 0xff && (at[2] & 0x38) == 0x20))
		return true;
	return has_popped && (at[0] == 0xe9 || at[0] == 0xeb);
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
	if (!is_leaving(bytes + at, size - at, count != 0))
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
	if (!read_info(memory, function->unwind_info, &info) ||
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
		failed = !read_info(memory, function->unwind_info, &info) ||
			 !undo_codes(&unwinding, &info, function);
	}
	if (!failed)
		*registers = unwinding.registers;
	return !failed;
}
