/* SPDX-License-Identifier: MIT */
/* Where stubs are: heaps for stubs that the map of code has, and other pages of code of the runtime (doc/coreclr.md 12.3). */
#include "runtime/coreclr/code/stub_list.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime_base.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"

/* The name of the memory in which the runtime has code that it may write (ExecutableAllocator). */
#define DOUBLE_MAPPED "doublemapper"

/* Heaps take memory in blocks of this size, so a heap that grows keeps the same bounds. */
#define BLOCK UINT64_C(0x10000)

ORDER_BY2(compare_sections, struct code_section, begin, end)

static bool add_stubs(struct code_functions *functions, uint64_t begin, uint64_t end)
{
	if (begin >= end || functions->rows_count == CODE_FUNCTIONS_MAX)
		return true;
	if (!PAGES_RESERVE(functions, rows))
		return false;
	functions->rows[functions->rows_count++] =
		(struct code_function){ .begin = begin, .end = end, .part = CODE_STUBS };
	return true;
}

/* Is it code of the runtime's own, in no file? */
static bool is_runtime_code(const struct target_map *map, const struct target_range *range)
{
	const struct target_mapping *mapping = target_mapping_at(map, range->start);
	return range->flags & PF_X && mapping && strstr(mapping->path, DOUBLE_MAPPED);
}

/* Where the next range begins, or the block ends. */
static uint64_t end_of_block(const struct target_map *map, size_t range)
{
	uint64_t end = map->ranges[range].end;
	uint64_t block = (end + BLOCK - 1) & ~(BLOCK - 1);
	for (size_t i = range + 1; i < map->range_count && map->ranges[i].start < block; i++) {
		if (map->ranges[i].flags & PF_X)
			return map->ranges[i].start;
	}
	return block < end ? end : block;
}

bool code_stubs_list(struct runtime *runtime, struct code_section *sections, size_t count,
		     struct code_functions *functions)
{
	const struct target_map *map = &runtime->target->map;
	uint64_t at = 0;
	size_t next = 0;
	if (count)
		qsort(sections, count, sizeof(*sections), compare_sections);
	for (size_t i = 0; i < map->range_count; i++) {
		if (!is_runtime_code(map, &map->ranges[i]))
			continue;
		uint64_t end = end_of_block(map, i);
		at = at > map->ranges[i].start ? at : map->ranges[i].start;
		for (; next < count && sections[next].begin < end; next++) {
			if (!add_stubs(functions, at, sections[next].begin))
				return false;
			at = at > sections[next].end ? at : sections[next].end;
		}
		if (!add_stubs(functions, at, end))
			return false;
		at = at > end ? at : end;
	}
	for (size_t i = 0; i < count; i++) {
		if (!sections[i].module && !sections[i].heap &&
		    !add_stubs(functions, sections[i].begin, sections[i].end))
			return false;
	}
	return true;
}
