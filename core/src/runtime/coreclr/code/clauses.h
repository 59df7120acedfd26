/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/code/code.h"

/** The kinds of exception clauses (corhdr.h: CorExceptionFlag), and what else their flags tell: bits. */
#define CLAUSE_IS_FILTER     1u
#define CLAUSE_IS_FINALLY    2u
#define CLAUSE_IS_FAULT      4u
#define CLAUSE_IS_DUPLICATED 8u          /**< for a part of a try block that was moved */
#define CLAUSE_HAS_TYPE      0x10000000u /**< the JIT's: the type in place of its token */

/** Most clauses of a method that are read; each is a handler, or two with its filter. */
#define CLAUSES_MAX 65536u

/** An exception clause of compiled code; offsets in the method's code. */
struct code_clause {
	uint32_t flags;
	uint32_t try_begin, try_end, handler_begin, handler_end;
	uint32_t filter; /**< CLAUSE_IS_FILTER: where it begins */
	uint32_t
		token; /**< a catch: its type in the metadata of the method's module; 0: the next tells */
	uint64_t type; /**< CLAUSE_HAS_TYPE: the type, a MethodTable */
};

/** The clauses of one method, in the order in which they are looked at. */
struct code_clauses {
	struct code_clause *rows;
	size_t rows_count, rows_capacity;
	bool is_partial; /**< some cannot be read */
};

/**
 * Read the clauses of the method that @p code is in (doc/managed-elf.md 2).
 *
 * @param[out] ret To be given to code_clauses_deinit(), also on failure.
 * @return false when memory is exhausted
 */
bool code_clauses_read(struct runtime *runtime, const struct code_info *code,
		       struct code_clauses *ret);
void code_clauses_deinit(struct code_clauses *clauses);
