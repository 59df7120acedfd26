/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "stack/walker.h"

/*
 * The exception clauses of compiled code (codeman.h: CodeHeader, RealCodeHeader; corhdr.h and
 * eeconfig: EE_ILEXCEPTION): the word before the code leads to the header, that to the clauses,
 * with their number before them.
 */
#define HEADER_CLAUSES 8u
#define CLAUSES_FIRST  8u
#define CLAUSE_SIZE    32u
#define CLAUSE_FLAGS   0u
#define CLAUSE_FILTER  24u
#define FLAG_FILTER    1u /* COR_ILEXCEPTION_CLAUSE_FILTER */
#define CLAUSES_MAX    65536u

enum answer {
	ANSWER_UNKNOWN,
	ANSWER_NO,
	ANSWER_YES,
};

/* Is the funclet the filter of one of its method's clauses (IJitManager::IsFilterFunclet)? */
static enum answer filter_by_clauses(struct memory *memory, const struct code_info *code)
{
	uint64_t header = 0, clauses = 0, count = 0;
	if (code->is_precompiled || !memory_u64(memory, code->start - 8, &header) ||
	    !memory_u64(memory, header + HEADER_CLAUSES, &clauses) || !clauses ||
	    !memory_u64(memory, clauses - 8, &count) || !count || count > CLAUSES_MAX)
		return ANSWER_UNKNOWN;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t clause = clauses + CLAUSES_FIRST + CLAUSE_SIZE * i;
		uint32_t flags = 0, offset = 0;
		if (!memory_u32(memory, clause + CLAUSE_FLAGS, &flags) ||
		    !memory_u32(memory, clause + CLAUSE_FILTER, &offset))
			return ANSWER_UNKNOWN;
		if ((flags & FLAG_FILTER) && code->start + offset == code->function)
			return ANSWER_YES;
	}
	return ANSWER_NO;
}

bool is_filter_funclet(struct walk *walk, const struct code_info *code)
{
	enum answer answer = filter_by_clauses(walk->memory, code);
	if (answer != ANSWER_UNKNOWN)
		return answer == ANSWER_YES;
	const struct exception_record *record =
		exception_above(&walk->exceptions, *walk_register(walk, REG_RSP));
	struct code_info handler;
	if (record && !record->is_known && walk->clr->major >= 10) {
		(void)walk_bad(walk,
			       "the exception at %" PRIx64 " does not say what its handler is for",
			       record->address);
	}
	return record && record->clause == 1 && record->handler &&
	       clr_code_at(walk->clr, record->handler, &handler) && handler.start == code->start;
}
