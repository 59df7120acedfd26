/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mem/memory.h"

/* The bodies of methods (ECMA-335 II.25.4) and their instructions (III). */

/** The first byte of an instruction whose number is in the next one. */
#define IL_PREFIX 0xfeu

/** The operand that follows the number of an instruction. */
enum il_operand {
	IL_NONE,
	IL_I8,
	IL_U8, /**< number of an argument or a local variable, or flags */
	IL_U16,
	IL_I32,
	IL_I64,
	IL_R32,
	IL_R64,
	IL_SHORT_BRANCH,
	IL_BRANCH,
	IL_SWITCH, /**< u32 count, and that many targets */
	IL_TOKEN,
};

struct il_opcode {
	const char *name; /**< NULL: there is no such instruction */
	uint8_t operand;  /**< enum il_operand */
};

/** The instruction with that number, 0xfe00 and more for two bytes; NULL: there is none. */
const struct il_opcode *il_opcode(uint16_t number);

/** An instruction of a body. */
struct il_instruction {
	uint32_t offset, size;          /**< in the code */
	const struct il_opcode *opcode; /**< NULL: the byte is not an instruction; size is 1 */
	int64_t number;      /**< operand: value, token, or offset in the code of a target */
	uint64_t bits;       /**< of a floating-point number */
	uint32_t count;      /**< of a switch */
	const uint8_t *rows; /**< of a switch: distances from the next instruction, i32 each */
};

/**
 * Decode the instruction at @p offset of @p code.
 *
 * @return false: @p offset is the end, or the instruction is cut there
 */
bool il_next(const uint8_t *code, uint32_t size, uint32_t offset, struct il_instruction *ret);
/** Target @p index of a switch: an offset in the code. */
int64_t il_switch_target(const struct il_instruction *instruction, uint32_t index);

/** Most bytes of the code of a method that are read. */
#define IL_CODE_MAX ((uint32_t)16 << 20)
/** Most exception clauses. */
#define IL_CLAUSES_MAX 65536u

enum il_clause_kind {
	IL_CATCH = 0,
	IL_FILTER = 1,
	IL_FINALLY = 2,
	IL_FAULT = 4
};

/** An exception clause; offsets in the code. */
struct il_clause {
	uint32_t kind; /**< enum il_clause_kind */
	uint32_t try_begin, try_size, handler_begin, handler_size;
	uint32_t token; /**< IL_CATCH: the type; IL_FILTER: where the filter begins */
};

/** The body of a method. */
struct il_body {
	uint64_t code; /**< its address */
	uint32_t code_size;
	uint32_t max_stack;
	uint32_t locals; /**< token of their signature; 0: there are none */
	bool is_fat, has_init;
	bool has_sections; /**< exception clauses follow */
};

/** Read the header at @p address; false when it is not one, or cannot be read. */
bool il_body_read(struct memory *memory, uint64_t address, struct il_body *ret);
/** Goes through the exception clauses of a body. */
struct il_clauses {
	struct memory *memory;
	uint64_t at;    /**< of the next section or clause */
	uint32_t left;  /**< clauses of the section that are to come */
	uint32_t count; /**< how many there were, of all sections */
	bool is_fat, has_more;
	bool is_broken; /**< a part cannot be read, or is not what it should be */
};
void il_clauses_begin(struct il_clauses *clauses, struct memory *memory,
		      const struct il_body *body);
bool il_clauses_next(struct il_clauses *clauses, struct il_clause *ret);
