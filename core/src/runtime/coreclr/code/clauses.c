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

/* Where a clause has its parts; the last one is the filter, or the type. */
struct clause_layout {
	uint32_t size, handler, filter;
};

static const struct clause_layout jitted_layout = { CLAUSE_SIZE, 12, 24 },
				  precompiled_layout = { R2R_CLAUSE_SIZE, 12, 20 };

/* Where the clauses of a method lie; count 0: it has none. */
struct clause_place {
	const struct clause_layout *layout;
	uint64_t at, count;
};

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

static bool add_clause(const uint8_t *clause, const struct clause_layout *layout, void *arg)
{
	struct clause_handlers *handlers = arg;
	uint32_t flags = load_u32(clause), handler = load_u32(clause + layout->handler);
	if (flags & CLAUSE_IS_FILTER &&
	    !add_handler(handlers, load_u32(clause + layout->filter), CODE_FILTER))
		return false;
	return add_handler(handlers, handler,
			   flags & CLAUSE_IS_FINALLY ? CODE_FINALLY
			   : flags & CLAUSE_IS_FAULT ? CODE_FAULT
						     : CODE_CATCH);
}

/* Takes one clause; false when memory is exhausted. */
typedef bool (*take_clause_fn)(const uint8_t *clause, const struct clause_layout *layout,
			       void *arg);

/* The clauses as far as they can be read; false when memory is exhausted. */
static bool read_clauses(struct runtime *runtime, struct clause_place place, take_clause_fn take,
			 void *arg, bool *ret_is_partial)
{
	uint8_t bytes[CLAUSES_READ * CLAUSE_SIZE];
	while (place.count) {
		size_t wanted = place.count < CLAUSES_READ ? (size_t)place.count : CLAUSES_READ;
		size_t got = memory_prefix(runtime->memory, place.at, bytes,
					   wanted * place.layout->size) /
			     place.layout->size;
		for (size_t i = 0; i < got; i++) {
			if (!take(bytes + i * place.layout->size, place.layout, arg))
				return false;
		}
		if (got < wanted) {
			*ret_is_partial = true;
			break;
		}
		place.at += wanted * place.layout->size;
		place.count -= wanted;
	}
	return true;
}

static bool read_handlers(struct runtime *runtime, struct clause_place place,
			  struct clause_handlers *ret)
{
	bool unused;
	ret->rows_count = 0;
	if (!read_clauses(runtime, place, add_clause, ret, &unused))
		return false;
	if (ret->rows_count)
		qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), compare_handlers);
	return true;
}

/* false: they cannot be read */
static bool find_jitted(struct runtime *runtime, uint64_t header, struct clause_place *ret)
{
	uint64_t clauses = 0, count = 0;
	*ret = (struct clause_place){ .layout = &jitted_layout };
	if (!coreclr_pointer(runtime, header, L_CODE_HEADER_CLAUSES, &clauses))
		return false;
	if (!clauses)
		return true;
	if (!memory_u64(runtime->memory, clauses - 8, &count) || count > CLAUSES_MAX)
		return false;
	ret->at = clauses + CLAUSES_FIRST;
	ret->count = count;
	return true;
}

static struct clause_place place_precompiled(uint64_t clauses, uint64_t size)
{
	uint64_t count = size / R2R_CLAUSE_SIZE;
	return (struct clause_place){ &precompiled_layout, clauses,
				      count > CLAUSES_MAX ? 0 : count };
}

bool clauses_of_jitted(struct runtime *runtime, uint64_t header, struct clause_handlers *ret)
{
	struct clause_place place;
	(void)find_jitted(runtime, header, &place);
	return read_handlers(runtime, place, ret);
}

bool clauses_of_precompiled(struct runtime *runtime, uint64_t clauses, uint64_t size,
			    struct clause_handlers *ret)
{
	return read_handlers(runtime, place_precompiled(clauses, size), ret);
}

/* The row of the image's table whose method begins at @p rva: where its clauses begin and end. */
static bool find_row(struct runtime *runtime, uint64_t table, uint32_t count, uint32_t rva,
		     uint32_t *ret_begin, uint32_t *ret_end)
{
	uint32_t low = 0, high = count, rows[4];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2, begin;
		if (!memory_u32(runtime->memory, table + (uint64_t)R2R_CLAUSES_ROW * middle,
				&begin))
			return false;
		if (begin < rva) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	*ret_begin = *ret_end = 0;
	if (low + 1 >= count)
		return true;
	if (!memory_read(runtime->memory, table + (uint64_t)R2R_CLAUSES_ROW * low, rows,
			 sizeof(rows)))
		return false;
	if (rows[0] == rva && rows[3] >= rows[1]) {
		*ret_begin = rows[1];
		*ret_end = rows[3];
	}
	return true;
}

/* false: they cannot be read */
static bool find_precompiled(struct runtime *runtime, const struct code_info *code,
			     struct clause_place *ret)
{
	uint64_t info, header;
	uint32_t rva, size, begin, end;
	*ret = (struct clause_place){ .layout = &precompiled_layout };
	if (!coreclr_pointer(runtime, code->module, L_MODULE_R2R, &info) || !info ||
	    !coreclr_pointer(runtime, info, L_R2R_HEADER, &header))
		return false;
	if (!coreclr_r2r_section(runtime, header, R2R_CLAUSES, &rva, &size))
		return true;
	if (!find_row(runtime, code->image_base + rva, size / R2R_CLAUSES_ROW,
		      (uint32_t)(code->start - code->image_base), &begin, &end))
		return false;
	*ret = place_precompiled(code->image_base + begin, end - begin);
	return true;
}

static bool take_code_clause(const uint8_t *clause, const struct clause_layout *layout, void *arg)
{
	struct code_clauses *clauses = arg;
	struct code_clause row = {
		.flags = load_u32(clause),
		.try_begin = load_u32(clause + 4),
		.try_end = load_u32(clause + 8),
		.handler_begin = load_u32(clause + layout->handler),
		.handler_end = load_u32(clause + layout->handler + 4),
	};
	if (row.flags & CLAUSE_IS_FILTER) {
		row.filter = load_u32(clause + layout->filter);
	} else if (row.flags & CLAUSE_HAS_TYPE && layout == &jitted_layout) {
		row.type = load_u64(clause + layout->filter);
	} else if (!(row.flags & (CLAUSE_IS_FINALLY | CLAUSE_IS_FAULT))) {
		row.token = load_u32(clause + layout->filter);
	}
	if (!PAGES_RESERVE(clauses, rows))
		return false;
	clauses->rows[clauses->rows_count++] = row;
	return true;
}

bool code_clauses_read(struct runtime *runtime, const struct code_info *code,
		       struct code_clauses *ret)
{
	struct clause_place place = { 0 };
	uint64_t header;
	*ret = (struct code_clauses){ 0 };
	if (!coreclr_is(runtime))
		return true;
	ret->is_partial = code->is_precompiled
				  ? !find_precompiled(runtime, code, &place)
				  : !memory_u64(runtime->memory, code->start - 8, &header) ||
					    !find_jitted(runtime, header, &place);
	return read_clauses(runtime, place, take_code_clause, ret, &ret->is_partial);
}

void code_clauses_deinit(struct code_clauses *clauses)
{
	pages_free(clauses->rows, clauses->rows_capacity, sizeof(*clauses->rows));
	*clauses = (struct code_clauses){ 0 };
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
