/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "arch/x86_64/frame_registers.h"
#include "mem/memory.h"
#include "runtime/coreclr/layouts/processor.h"

/* CONTEXT.SegCs of user space. */
#define CONTEXT_CS   0x38u
#define CODE_SEGMENT 0x33u

static bool is_of_user(const struct runtime *runtime, uint64_t address)
{
	uint16_t segment = 0;
	return memory_u16(runtime_memory(runtime), address + CONTEXT_CS, &segment) &&
	       (segment == CODE_SEGMENT || segment == 0);
}

const struct processor_layout amd64_layout = {
	.machine = EM_X86_64,
	.first_release = 8,
	.before_return = 1,
	.has_function_ends = true,
	.saved_count = 6,
	.saved = { REG_R12, REG_R13, REG_R14, REG_R15, REG_RBX, REG_RBP },
	/* Argument registers, CalleeSavedRegisters, the return address. */
	.transition = { .words = 0,
			.word_count = 6,
			.arguments = 0,
			.saved = 48,
			.return_address = 96,
			.size = 104 },
	/* Results, CalleeSavedRegisters, the return address. */
	.hijack_8 = { .result_count = 2, .results = { REG_RAX, REG_RDX }, .saved = 16, .size = 72 },
	.hijack_10 = { .result_count = 3,
		       .results = { REG_RAX, REG_RDX, REG_RCX },
		       .saved = 24,
		       .size = 80 },
	.hijack_11 = { .result_count = 3,
		       .results = { REG_RAX, REG_RDX, REG_RCX },
		       .saved = 24,
		       .size = 80 },
	.machine_state = { .ip = 0,
			   .sp = 8,
			   .captured = 16,
			   .pointers = 64,
			   .returns = 112,
			   .unwound = 120,
			   .captured_ip = 168,
			   .captured_sp = 176 },
	.context = { .flag = 0x00100000,
		     .flags = 0x30,
		     .registers = 0x78,
		     .is_of_user = is_of_user },
	/* After those of the 16 xmm registers. */
	.first_pointer = REG_RAX,
	.pointers = 16 * 8,
	.ambient_sp = 16,
	/* xmm0 to xmm31. */
	.first_float = 16,
	.first_float_late = 32,
	.float_count = 32,
};
