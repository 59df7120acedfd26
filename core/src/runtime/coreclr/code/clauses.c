/* SPDX-License-Identifier: MIT */
/*
 * The exception clauses of compiled code (codeman.h: CodeHeader, RealCodeHeader; corhdr.h and
 * eeconfig: EE_ILEXCEPTION): the word in front of the code points to the header, the header to the
 * clauses, which come after their number.  ReadyToRun images have theirs in a section (readytorun.h).
 */
#include <stdlib.h>

#include "mem/memory.h"
#include "runtime/coreclr/code/code_parts.h"
#include "runtime/coreclr/code/function_list.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/ready_to_run.h"
#include "util/alloc.h"
#include "util/sort.h"

#define CLAUSES_FIRST 8u
#define CLAUSE_SIZE   32u
#define CLAUSES_READ  64u /* at a time */

/* Where a clause has its parts. */
struct clause_layout {
	uint32_t size, handler, filter;
};

static const struct clause_layout jitted_layout = { CLAUSE_SIZE, 12, 24 },
				  precompiled_layout = { R2R_CLAUSE_SIZE, 12, 20 };

ORDER_BY(compare_handlers, struct clause_handler, offset)

void clause_handlers_deinit(struct clause_handlers *handlers)
{
	pages_free(handlers->rows, handlers->rows_capacity, sizeof(*handlers->rows));
	*handlers = (struct clause_handlers){ 0 };
}

static bool add_handler(struct clause_handlers *handlers, uint32_t offset, enum code_part part)
{
	if (!PAGES_RESERVE(handlers, rows))
		return false;
	handlers->rows[handlers->rows_count++] =
		(struct clause_handler){ .offset = offset, .part = (uint8_t)part };
	return true;
}

static bool add_clause(const uint8_t *clause, const struct clause_layout *layout,
		       struct clause_handlers *handlers)
{
	uint32_t flags = load_u32(clause), handler = load_u32(clause + layout->handler);
	if (flags & CLAUSE_IS_FILTER &&
	    !add_handler(handlers, load_u32(clause + layout->filter), CODE_FILTER))
		return false;
	return add_handler(handlers, handler,
			   flags & CLAUSE_IS_FINALLY ? CODE_FINALLY
			   : flags & CLAUSE_IS_FAULT ? CODE_FAULT
						     : CODE_CATCH);
}

/* The clauses as far as they can be read; false when memory is exhausted. */
static bool read_clauses(struct runtime *runtime, uint64_t at, uint64_t count,
			 const struct clause_layout *layout, struct clause_handlers *ret)
{
	uint8_t bytes[CLAUSES_READ * CLAUSE_SIZE];
	ret->rows_count = 0;
	while (count) {
		size_t wanted = count < CLAUSES_READ ? (size_t)count : CLAUSES_READ;
		size_t got = memory_prefix(runtime->memory, at, bytes, wanted * layout->size) /
			     layout->size;
		for (size_t i = 0; i < got; i++) {
			if (!add_clause(bytes + i * layout->size, layout, ret))
				return false;
		}
		if (got < wanted)
			break;
		at += wanted * layout->size;
		count -= wanted;
	}
	if (ret->rows_count)
		qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), compare_handlers);
	return true;
}

bool clauses_of_jitted(struct runtime *runtime, uint64_t header, struct clause_handlers *ret)
{
	uint64_t clauses = 0, count = 0;
	ret->rows_count = 0;
	if (!coreclr_pointer(runtime, header, L_CODE_HEADER_CLAUSES, &clauses) || !clauses ||
	    !memory_u64(runtime->memory, clauses - 8, &count) || count > CLAUSES_MAX)
		return true;
	return read_clauses(runtime, clauses + CLAUSES_FIRST, count, &jitted_layout, ret);
}

bool clauses_of_precompiled(struct runtime *runtime, uint64_t clauses, uint64_t size,
			    struct clause_handlers *ret)
{
	uint64_t count = size / R2R_CLAUSE_SIZE;
	ret->rows_count = 0;
	if (count > CLAUSES_MAX)
		return true;
	return read_clauses(runtime, clauses, count, &precompiled_layout, ret);
}

uint8_t clauses_part_of(const struct clause_handlers *handlers, uint32_t offset)
{
	size_t index = ROWS_FROM(handlers->rows, handlers->rows_count, offset, offset);
	return index < handlers->rows_count && handlers->rows[index].offset == offset
		       ? handlers->rows[index].part
		       : (uint8_t)CODE_HANDLER;
}

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
		if (!memory_u32(memory, clause, &flags) ||
		    !memory_u32(memory, clause + jitted_layout.filter, &offset))
			return false;
		if ((flags & CLAUSE_IS_FILTER) && code->start + offset == code->function) {
			is_filter = true;
			break;
		}
	}
	*ret = is_filter;
	return true;
}
