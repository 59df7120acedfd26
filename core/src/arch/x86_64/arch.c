/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"

#include <elf.h>
#if defined(__x86_64__)
#include <sys/user.h>
#endif

#include "arch/call_frame.h"
#include "arch/gc_info_encoding.h"
#include "arch/x86_64/frame_registers.h"
#include "arch/x86_64/opcodes.h"
#include "arch/x86_64/ucontext.h"
#include "arch/x86_64/unwind_codes.h"
#include "arch/x86_64/unwind_info.h"
#include "arch/x86_64/unwind_rows.h"

_Static_assert(REG_ROWS == X86_64_REGISTER_COUNT, "each register of the table");
_Static_assert(REG_ROWS <= ARCH_REGISTERS_MAX && REGISTER_COUNT <= ARCH_WORDS_MAX,
	       "they have room");

#if defined(__x86_64__)
_Static_assert(sizeof(struct user_regs_struct) == REGISTER_COUNT * sizeof(uint64_t),
	       "registers are those of x86-64");
#define X(id, name, dwarf, kernel, signal)                        \
	_Static_assert(offsetof(struct user_regs_struct, name) == \
			       REGISTER_##id * sizeof(uint64_t),  \
		       #name);
X86_64_REGISTERS(X)
#undef X
_Static_assert(offsetof(struct user_regs_struct, fs_base) == REGISTER_FS_BASE * sizeof(uint64_t),
	       "fs_base");
#endif

static const char *const words[] = { "i386:x86-64", "i386:x86-64:intel", "x86_64", "amd64", NULL };

static const char *const names[REG_ROWS] = {
#define X(id, name, dwarf, kernel, signal) [REG_##id] = #name,
	X86_64_REGISTERS(X)
#undef X
};

static const uint8_t words_of_registers[REG_ROWS] = {
#define X(id, name, dwarf, kernel, signal) [REG_##id] = (kernel),
	X86_64_REGISTERS(X)
#undef X
};

static const uint8_t of_dwarf[REG_ROWS] = {
#define X(id, name, dwarf, kernel, signal) [(dwarf)] = REG_##id,
	X86_64_REGISTERS(X)
#undef X
};

static const struct arch_ops ops = {
	.is_signal_return = x86_64_is_signal_return,
	.signal_context = x86_64_signal_context,
	.fault_address = x86_64_fault_address,
	.waits_without_end = x86_64_waits_without_end,
	.follows_call = x86_64_follows_call,
	.managed_step = unwind_codes_step,
	.unwind_extent = x86_64_unwind_extent,
	.frame_is_whole = unwind_frame_is_whole,
	.managed_rows = unwind_rows_write,
	.precode_method = x86_64_precode_method,
	.precode_target = x86_64_precode_target,
	.call_target = x86_64_call_target,
	.leaf_step = x86_64_leaf_step,
};

/* AMD64GcInfoEncoding (inc/gcinfotypes.h). */
static const struct gc_info_encoding gc_info = {
	.bits = {
		[GC_INFO_RETURN_KIND_SLIM] = 2,
		[GC_INFO_RETURN_KIND_FAT] = 4,
		[GC_INFO_CODE_LENGTH] = 8,
		[GC_INFO_PROLOGUE] = 5,
		[GC_INFO_EPILOGUE] = 3,
		[GC_INFO_STACK_SLOT] = 6,
		[GC_INFO_FRAME_REGISTER] = 3,
		[GC_INFO_EDIT_CONTINUE] = 4,
		[GC_INFO_STACK_AREA] = 3,
		[GC_INFO_SAFE_POINTS] = 2,
		[GC_INFO_RANGES] = 1,
		[GC_INFO_RANGE_DELTA] = 6,
		[GC_INFO_REGISTERS] = 2,
		[GC_INFO_STACK_SLOTS] = 2,
		[GC_INFO_UNTRACKED_SLOTS] = 1,
		[GC_INFO_REGISTER] = 3,
		[GC_INFO_REGISTER_DELTA] = 2,
		[GC_INFO_STACK_SLOT_DELTA] = 4,
		[GC_INFO_SLOT_FLAGS] = 2,
		[GC_INFO_POINTER_SIZE] = 3,
		[GC_INFO_RUN_DEAD] = 4,
		[GC_INFO_RUN_LIVE] = 2,
	},
	.frame_register_xor = REG_RBP,
	.register_last = REG_R15,
	.edit_continue_numbers = 1,
};

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.words = words,
	.machine = EM_X86_64,
	.register_count = REG_ROWS,
	.sp = REG_RSP,
	.ip = REG_RIP,
	.fp = REG_RBP,
	.lr = ARCH_NONE,
	.return_column = 16,
	/* CFA = rsp + 8; rip at CFA - 8. */
	.entry_rows = { .bytes = { CFA_DEF_CFA, 7, 8, CFA_OFFSET | 16, 1 }, .size = 5 },
	.register_names = names,
	.words_of_registers = words_of_registers,
	/* System V ABI for AMD64, 3.6.2. */
	.dwarf = { .registers = of_dwarf, .count = REG_ROWS, .first_float = 17, .floats = 16 },
	/* System V ABI for AMD64, 3.2.1. */
	.scratch = 1u << REG_RAX | 1u << REG_RCX | 1u << REG_RDX | 1u << REG_RSI | 1u << REG_RDI |
		   1u << REG_R8 | 1u << REG_R9 | 1u << REG_R10 | 1u << REG_R11,
	.prstatus = { .size = 336,
		      .signal = 12,
		      .pid = 32,
		      .registers = 112,
		      .count = REGISTER_COUNT,
		      .thread = REGISTER_FS_BASE },
	/* 47 bits; the red zone: System V ABI for AMD64, 3.2.2. */
	.space = { .user_begin = 0x10000,
		   .user_end = (uint64_t)1 << 47,
		   .page_min = 4096,
		   .page_max = 4096,
		   .signal_stack = UINT64_C(3) * 4096,
		   .red_zone = 128,
		   .code_mask = UINT64_MAX },
	.relative_relocation = R_X86_64_RELATIVE,
	.ops = &ops,
	.gc_info = &gc_info,
};
