/* SPDX-License-Identifier: MIT */
#include "support/made_up_arch.h"

#include <elf.h>

#include "arch/gc_info_encoding.h"
#include "mem/memory.h"
#include "support/fake_stack.h"

#define MACHINE 0x4d55

enum {
	R3 = 3,
	FA = 9,
	RA = MADE_UP_RA,
	ST,
	PC,
	REGISTERS
};

static const char *const words[] = { "made-up", NULL };

static const char *const names[REGISTERS] = { "r0", "r1", "r2", "r3", "r4", "r5", "r6",
					      "r7", "r8", "fa", "ra", "st", "pc" };

/* The kernel's words: one that is no register comes first, and the control block is the second. */
static const uint8_t words_of_registers[REGISTERS] = { 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 2, 3 };

/* DWARF counts from the other end, and has a number that is not a register of a frame. */
static const uint8_t of_dwarf[] = { PC, ST, RA, FA, 8, 7, 6, 5, 4, R3, 2, 1, 0, ARCH_NONE };

static bool is_signal_return(struct memory *memory, uint64_t ip)
{
	uint32_t word;
	return memory_u32(memory, ip, &word) && word == MADE_UP_SIGNAL_RETURN;
}

/* Its kernel leaves nothing on the stack. */
static bool signal_context(struct memory *memory, uint64_t address, struct registers *ret)
{
	(void)memory;
	(void)address;
	(void)ret;
	return false;
}

static bool follows_call(struct memory *memory, uint64_t address)
{
	uint32_t word;
	return !memory_u32(memory, address - 4, &word) || word == 0;
}

static bool load(struct memory *memory, unsigned int number, uint64_t address,
		 struct registers *registers)
{
	registers->slots[number] = address;
	return memory_u64(memory, address, &registers->values[number]);
}

static void go_to(struct registers *registers, uint64_t ip)
{
	registers->values[PC] = ip & made_up_arch.space.code_mask;
	registers->slots[PC] = registers->slots[RA];
}

/* Unwind data is that of make_unwind_info() in fake_stack.c: three codes save r3, two do not. */
static bool managed_step(struct memory *memory, const struct unwind_function *function,
			 struct registers *registers)
{
	uint8_t bytes[3];
	struct registers caller = *registers;
	uint64_t st = caller.values[ST];
	if (!memory_read(memory, function->unwind_info, bytes, sizeof(bytes)) ||
	    (bytes[2] == 3 && !load(memory, R3, st + FAKE_LOCALS - 8, &caller)) ||
	    !load(memory, FA, st + FAKE_LOCALS, &caller) ||
	    !load(memory, RA, st + FAKE_LOCALS + 8, &caller))
		return false;
	go_to(&caller, caller.values[RA]);
	caller.values[ST] = st + FAKE_FRAME_SIZE;
	*registers = caller;
	return true;
}

/* fake_stack.c writes what x86-64 has: four bytes, two for each code, four for the handler. */
static bool unwind_extent(struct memory *memory, uint64_t address, uint64_t *ret_size,
			  uint64_t *ret_length)
{
	uint8_t count;
	if (!memory_u8(memory, address + 2, &count))
		return false;
	*ret_size = (8 + 2 * (uint64_t)count + 3) & ~(uint64_t)3;
	*ret_length = 0;
	return true;
}

static bool frame_is_whole(struct memory *memory, const struct unwind_function *function,
			   const struct registers *registers)
{
	(void)memory;
	return registers->values[PC] - function->begin >= 16;
}

/* They do not jump. */
static bool precode_method(struct memory *memory, uint64_t code, uint64_t *ret)
{
	uint64_t word;
	return memory_u64(memory, code, &word) && word == MADE_UP_PRECODE &&
	       memory_u64(memory, code + 8, ret);
}

static bool precode_target(struct memory *memory, uint64_t code, uint64_t *ret)
{
	(void)memory;
	(void)code;
	(void)ret;
	return false;
}

static bool leaf_step(struct memory *memory, struct registers *registers)
{
	(void)memory;
	go_to(registers, registers->values[RA]);
	return true;
}

static const struct arch_ops ops = {
	.is_signal_return = is_signal_return,
	.signal_context = signal_context,
	.follows_call = follows_call,
	.managed_step = managed_step,
	.unwind_extent = unwind_extent,
	.frame_is_whole = frame_is_whole,
	.precode_method = precode_method,
	.precode_target = precode_target,
	.leaf_step = leaf_step,
};

/* The widths of fake_stack.c; the frame register is written as 0. */
static const struct gc_info_encoding gc_info = {
	.bits = {
		[GC_INFO_CODE_LENGTH] = 8,
		[GC_INFO_STACK_SLOT] = 6,
		[GC_INFO_SAFE_POINTS] = 2,
		[GC_INFO_REGISTERS] = 2,
		[GC_INFO_STACK_SLOTS] = 2,
		[GC_INFO_UNTRACKED_SLOTS] = 1,
		[GC_INFO_REGISTER] = 3,
		[GC_INFO_REGISTER_DELTA] = 2,
		[GC_INFO_STACK_SLOT_DELTA] = 4,
		[GC_INFO_SLOT_FLAGS] = 2,
		[GC_INFO_POINTER_SIZE] = 3,
	},
	.frame_register_xor = FA,
	.register_last = RA,
};

const struct arch made_up_arch = {
	.name = "made-up",
	.words = words,
	.machine = MACHINE,
	.register_count = REGISTERS,
	.sp = ST,
	.ip = PC,
	.fp = FA,
	.lr = RA,
	.return_column = 2,
	.register_names = names,
	.words_of_registers = words_of_registers,
	.dwarf = { .registers = of_dwarf, .count = sizeof(of_dwarf) },
	.scratch = 0x7,
	.prstatus = { .size = 240,
		      .signal = 16,
		      .pid = 40,
		      .registers = 104,
		      .count = 15,
		      .thread = 1 },
	.space = { .user_begin = 0x10000,
		   .user_end = (uint64_t)1 << 48,
		   .page_min = 0x10000,
		   .page_max = 0x10000,
		   .signal_stack = 0x20000,
		   .red_zone = 0,
		   .code_mask = ~(UINT64_C(0xffff) << 48) },
	.relative_relocation = R_X86_64_RELATIVE, /* that of fake_export.c */
	.ops = &ops,
	.gc_info = &gc_info,
};
