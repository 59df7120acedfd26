/* SPDX-License-Identifier: MIT */
/* The unwind data of a function on arm64, as it is written: for those who undo a frame, and those who describe it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

/** Every instruction has four bytes; lengths and offsets of code are counted in instructions. */
#define UNWIND_INSTRUCTION 4u

#define UNWIND_CODES_MAX (255u * 4)

/** Most pairs that UNWIND_SAVE_NEXT can mean in a row: from x21 to x28. */
#define UNWIND_NEXT_MAX 4u

/** The kinds of codes that are undone; the others are refused. */
enum unwind_operation {
	UNWIND_ALLOC,        /**< sub sp, sp, #size */
	UNWIND_SAVE_PAIR,    /**< stp xN, xN+1, [sp, #offset] or, with size, [sp, #-size]! */
	UNWIND_SAVE_ONE,     /**< str xN, likewise */
	UNWIND_SAVE_LR_PAIR, /**< stp xN, lr, [sp, #offset] */
	UNWIND_SAVE_FLOATS,  /**< one or two vector registers, likewise */
	UNWIND_SAVE_NEXT,    /**< the next pair, behind that of the code that follows */
	UNWIND_SET_FP,       /**< mov fp, sp */
	UNWIND_ADD_FP,       /**< add fp, sp, #offset */
	UNWIND_NOTHING,      /**< an instruction that changes no register of the caller */
	UNWIND_SIGN, /**< pacibsp: signs the return address; signatures are taken off every address */
	UNWIND_END,
	UNWIND_UNKNOWN,
};

/** One code. */
struct unwind_code {
	uint8_t operation;     /**< enum unwind_operation */
	uint8_t number;        /**< of the (first) register */
	uint8_t bytes;         /**< how many it takes */
	uint32_t offset, size; /**< bytes; size: the stack pointer was decreased by so many */
};

/** One record: what its header says, and its codes. */
struct unwind_record {
	uint32_t length; /**< instructions of the function */
	bool is_single; /**< its only epilogue is at its end, and `epilogues` is the index of its first code */
	uint32_t epilogues;
	uint64_t scopes; /**< address of the words that say where the epilogues are */
	uint64_t size;   /**< bytes of the record, with the address of its handler */
	uint32_t codes_count;
	uint8_t codes[UNWIND_CODES_MAX];
};

/** Read the record at @p address; false when it is not there, or of an unknown version. */
bool arm64_unwind_record_read(struct memory *memory, uint64_t address, struct unwind_record *ret);

/** See arch_ops.unwind_extent. */
bool arm64_unwind_extent(struct memory *memory, uint64_t address, uint64_t *ret_size,
			 uint64_t *ret_length);

/** The code at byte @p index; UNWIND_UNKNOWN when its kind is not known, or it ends after the last one. */
struct unwind_code arm64_unwind_code_at(const struct unwind_record *record, uint32_t index);

/** The codes from byte @p index on up to the end: how many instructions they are, without the end; false: there is none. */
bool arm64_unwind_codes_count(const struct unwind_record *record, uint32_t index, uint32_t *ret);

/** The epilogue at @p index, below `epilogues` or, if it is single, 0: its first instruction and the byte of its first code. */
bool arm64_unwind_epilogue_at(struct memory *memory, const struct unwind_record *record,
			      uint32_t index, uint32_t *ret_begin, uint32_t *ret_code);
