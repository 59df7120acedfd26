/* SPDX-License-Identifier: MIT */
#pragma once

/* Instructions as text: capstone writes them, for the processors that it knows. */

#include "arch/arch.h"

/** Most characters of an instruction, and its NUL. */
#define INSTRUCTION_TEXT_SIZE 200u

/** One instruction. */
struct instruction {
	uint32_t size; /**< bytes */
	char text[INSTRUCTION_TEXT_SIZE];
};

struct disassembler;

/** NULL: there is none for that processor, or memory is exhausted. */
struct disassembler *disassembler_create(const struct arch *arch);
/** NULL is allowed. */
void disassembler_destroy(struct disassembler *disassembler);

/**
 * The instruction at the beginning of @p bytes, which lie at @p address.
 *
 * @param[out] ret Untouched on failure.
 * @return false: these bytes are not one, or its end is not among them
 */
bool disassembler_read(struct disassembler *disassembler, const uint8_t *bytes, size_t size,
		       uint64_t address, struct instruction *ret);
