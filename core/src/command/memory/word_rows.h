/* SPDX-License-Identifier: MIT */
/* A word of memory or a register, and what it is the address of. */
#pragma once

#include "analysis/names/word_meaning.h"
#include "command/call.h"

/* clang-format off */
#define WORD_LIST(X)                                                                                \
	X(WORD_ADDRESS, "address", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "where the word is")      \
	X(WORD_THREAD, "os_id", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                               \
	  "the thread that has the register: its id in the system")                                 \
	X(WORD_REGISTER, "register", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "name of the register")    \
	X(WORD_VALUE, "value", NULL, KIND_ADDRESS, 0, 0, "the word; null: it is not in the target") \
	X(WORD_MEANS, "means", NULL, KIND_TEXT, 0, 0,                                               \
	  "object, inside, heap, type, method, code, stack or file; null: none of these")           \
	X(WORD_OBJECT_AT, "object", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                          \
	  "the object that starts there, or around it")                                             \
	X(WORD_OFFSET, "offset", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,                               \
	  "bytes into that object, or into the method's code")                                      \
	X(WORD_STUB, "is_stub", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,                                 \
	  "code: is it a stub, which leads to the method's code?")                                  \
	X(WORD_NAME, "name", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                    \
	  "the type, the method, or the place in a mapped file")                                    \
	X(WORD_STACK_OF, "stack_of", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                          \
	  "the system's id of the thread that has the stack")                                       \
	X(WORD_TEXT, "text", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "the string that the object is")   \
	X(WORD_SAID, NULL, "said", KIND_TEXT, 0, 0, NULL) /**< all of it, for text */
/* clang-format on */

/** Cells of word_schema. */
enum word_column {
	WORD_LIST(LIST_CONSTANT) WORD_COLUMNS
};

/** Rows of words or registers: "words". */
extern const struct schema word_schema;

/** Bytes of symbol tables that are read for one list of words. */
#define WORD_SYMBOL_BYTES ((uint64_t)256 << 20)

/** The texts that the cells of one word borrow. */
struct word_cells {
	struct text name, text, said;
};

void word_cells_deinit(struct word_cells *cells);

/**
 * Fill @p cells, those after WORD_REGISTER, with what @p word means.
 *
 * @param[in,out] symbols Bytes of symbol tables that may be read.
 * @param[in,out] kept Zeros, or those of the word before; to be given to word_cells_deinit().
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status word_cells(struct call *call, struct word_reader *reader, uint64_t word,
				       uint64_t *symbols, struct word_cells *kept,
				       struct cell *cells);
