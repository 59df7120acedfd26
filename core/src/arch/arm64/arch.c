/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"

#include <elf.h>
#if defined(__aarch64__)
#include <sys/user.h>
#endif

#include "arch/arm64/opcodes.h"
#include "arch/arm64/register_table.h"
#include "arch/arm64/ucontext.h"
#include "arch/arm64/unwind_codes.h"
#include "arch/arm64/unwind_record.h"
#include "arch/arm64/unwind_rows.h"
#include "arch/call_frame.h"
#include "arch/gc_info_encoding.h"

_Static_assert(ARM64_REGISTER_COUNT <= ARCH_REGISTERS_MAX && ARM64_WORD_COUNT <= ARCH_WORDS_MAX,
	       "they have room");
#if defined(__aarch64__)
_Static_assert(sizeof(struct user_regs_struct) == ARM64_WORD_COUNT * sizeof(uint64_t),
	       "registers are those of arm64");
#endif

static const char *const words[] = { "aarch64", "arm64", NULL };

/* GDB and LLDB both know x29 as fp, and x30 as lr. */
static const char *const names[ARM64_REGISTER_COUNT] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "fp",  "lr",  "sp",  "pc",
};

/* Numbers, words and those of DWARF are the same. */
static const uint8_t same_numbers[ARM64_REGISTER_COUNT] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

static const struct arch_ops ops = {
	.is_signal_return = arm64_is_signal_return,
	.signal_context = arm64_signal_context,
	.fault_address = arm64_fault_address,
	.waits_without_end = arm64_waits_without_end,
	.follows_call = arm64_follows_call,
	.managed_step = arm64_managed_step,
	.managed_rows = arm64_managed_rows,
	.unwind_extent = arm64_unwind_extent,
	.frame_is_whole = arm64_frame_is_whole,
	.precode_method = arm64_precode_method,
	.precode_target = arm64_precode_target,
	.call_target = arm64_call_target,
	.leaf_step = arm64_leaf_step,
};

/* ARM64GcInfoEncoding (inc/gcinfotypes.h). */
static const struct gc_info_encoding gc_info = {
	.bits = {
		[GC_INFO_RETURN_KIND_SLIM] = 2,
		[GC_INFO_RETURN_KIND_FAT] = 4,
		[GC_INFO_CODE_LENGTH] = 8,
		[GC_INFO_PROLOGUE] = 5,
		[GC_INFO_EPILOGUE] = 3,
		[GC_INFO_STACK_SLOT] = 6,
		[GC_INFO_FRAME_REGISTER] = 2,
		[GC_INFO_EDIT_CONTINUE] = 4,
		[GC_INFO_STACK_AREA] = 3,
		[GC_INFO_SAFE_POINTS] = 3,
		[GC_INFO_RANGES] = 1,
		[GC_INFO_RANGE_DELTA] = 6,
		[GC_INFO_REGISTERS] = 3,
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
	.code_shift = 2,
	.frame_register_xor = ARM64_FP,
	.register_last = ARM64_LR,
	.wants_only_leaf = true,
	.edit_continue_numbers = 2,
};

const struct arch arch_arm64 = {
	.name = "arm64",
	.words = words,
	.machine = EM_AARCH64,
	.register_count = ARM64_REGISTER_COUNT,
	.sp = ARM64_SP,
	.ip = ARM64_PC,
	.fp = ARM64_FP,
	.lr = ARM64_LR,
	.return_column = ARM64_LR,
	/* CFA = sp; the return address is in its register. */
	.entry_rows = { .bytes = { CFA_DEF_CFA, ARM64_SP, 0 }, .size = 3 },
	.register_names = names,
	.words_of_registers = same_numbers,
	/* The JIT's numbers of vector registers are not known. */
	.dwarf = { .registers = same_numbers, .count = ARM64_REGISTER_COUNT },
	/* x0 to x18 and the link register (Procedure Call Standard for the Arm 64-bit Architecture, 6.1.1). */
	.scratch = ((UINT64_C(1) << ARM64_X19) - 1) | UINT64_C(1) << ARM64_LR,
	.prstatus = { .size = 392,
		      .signal = 12,
		      .pid = 32,
		      .registers = 112,
		      .count = ARM64_WORD_COUNT,
		      .thread = ARCH_NONE },
	/* 48 bits; the bits above them are a signature where functions sign their return addresses. */
	.space = { .user_begin = 0x10000,
		   .user_end = (uint64_t)1 << 48,
		   .page_min = 4096,
		   .page_max = 65536,
		   .signal_stack = UINT64_C(5) * 4096,
		   .red_zone = 0,
		   .signal_record = 128, /* after a siginfo_t */
		   .code_mask = ((uint64_t)1 << 48) - 1 },
	.relative_relocation = R_AARCH64_RELATIVE,
	.ops = &ops,
	.gc_info = &gc_info,
};
