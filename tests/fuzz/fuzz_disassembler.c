/* SPDX-License-Identifier: MIT */
/* covers: core/src/arch/disassembler.c core/src/arch/x86_64/call_target.c core/src/arch/arm64/call_target.c */
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/disassembler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes as code: each instruction ends among them, and its text in its room. */
static void read_all(const struct arch *arch, const uint8_t *data, size_t size)
{
	struct disassembler *disassembler = disassembler_create(arch);
	struct code_constants constants = { 0 };
	struct code_reference to;
	struct instruction instruction;
	if (!disassembler)
		return;
	for (size_t at = 0; at < size;) {
		uint64_t address = UINT64_C(0x7f0000000000) + at;
		if (!disassembler_read(disassembler, data + at, size - at, address, &instruction)) {
			at++;
			continue;
		}
		if (!instruction.size || instruction.size > size - at ||
		    !memchr(instruction.text, '\0', sizeof(instruction.text)))
			abort();
		(void)arch->ops->call_target(data + at, instruction.size, address, &constants, &to);
		at += instruction.size;
	}
	disassembler_destroy(disassembler);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_all(&arch_x86_64, data, size);
	read_all(&arch_arm64, data, size);
	return 0;
}
