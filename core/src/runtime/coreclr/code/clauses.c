/* SPDX-License-Identifier: MIT */
#include "mem/memory.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/internal.h"

/*
 * The exception clauses of compiled code (codeman.h: CodeHeader, RealCodeHeader; corhdr.h and
 * eeconfig: EE_ILEXCEPTION): the word in front of the code points to the header, the header to the
 * clauses, which come after their number.
 */
#define CLAUSES_FIRST 8u
#define CLAUSE_SIZE   32u
#define CLAUSE_FLAGS  0u
#define CLAUSE_FILTER 24u
#define FLAG_FILTER   1u /* COR_ILEXCEPTION_CLAUSE_FILTER */
#define CLAUSES_MAX   65536u

bool coreclr_clauses_tell_filter(const struct runtime *runtime, const struct code_info *code,
				 bool *ret)
{
	struct memory *memory = runtime->memory;
	bool is_filter = false;
	uint64_t header = 0, clauses = 0, count = 0;
	if (code->is_precompiled || !memory_u64(memory, code->start - 8, &header) ||
	    !coreclr_pointer(runtime, header, L_CODE_HEADER_CLAUSES, &clauses) || !clauses ||
	    !memory_u64(memory, clauses - 8, &count) || !count || count > CLAUSES_MAX)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t clause = clauses + CLAUSES_FIRST + CLAUSE_SIZE * i;
		uint32_t flags = 0, offset = 0;
		if (!memory_u32(memory, clause + CLAUSE_FLAGS, &flags) ||
		    !memory_u32(memory, clause + CLAUSE_FILTER, &offset))
			return false;
		if ((flags & FLAG_FILTER) && code->start + offset == code->function) {
			is_filter = true;
			break;
		}
	}
	*ret = is_filter;
	return true;
}
