/* SPDX-License-Identifier: MIT */
#include "arch/disassembler.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>

#include "util/alloc.h"

struct disassembler {
	csh handle;
	cs_insn *room; /* for one instruction */
};

static const struct {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode;
} processors[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN },
};

static bool open_handle(const struct arch *arch, csh *ret)
{
	for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++) {
		if (processors[i].machine == arch->machine)
			return cs_open(processors[i].arch, processors[i].mode, ret) == CS_ERR_OK;
	}
	return false;
}

struct disassembler *disassembler_create(const struct arch *arch)
{
	struct disassembler *disassembler = mem_calloc(1, sizeof(*disassembler));
	if (!disassembler || !open_handle(arch, &disassembler->handle)) {
		mem_free(disassembler);
		return NULL;
	}
	disassembler->room = cs_malloc(disassembler->handle);
	if (!disassembler->room) {
		disassembler_destroy(disassembler);
		return NULL;
	}
	return disassembler;
}

void disassembler_destroy(struct disassembler *disassembler)
{
	if (!disassembler)
		return;
	if (disassembler->room)
		cs_free(disassembler->room, 1);
	(void)cs_close(&disassembler->handle);
	mem_free(disassembler);
}

bool disassembler_read(struct disassembler *disassembler, const uint8_t *bytes, size_t size,
		       uint64_t address, struct instruction *ret)
{
	const uint8_t *code = bytes;
	const cs_insn *room = disassembler->room;
	size_t left = size;
	if (!cs_disasm_iter(disassembler->handle, &code, &left, &address, disassembler->room) ||
	    !room->size || room->size > size)
		return false;
	ret->size = room->size;
	(void)snprintf(ret->text, sizeof(ret->text), "%.*s%s%.*s", (int)sizeof(room->mnemonic) - 1,
		       room->mnemonic, *room->op_str ? " " : "", (int)sizeof(room->op_str) - 1,
		       room->op_str);
	return true;
}
