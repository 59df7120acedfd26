/* SPDX-License-Identifier: MIT */
/* All code of methods, out of the tables of code (doc/coreclr.md 12.3, 12.12; codeman.h). */
#include <stdlib.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/code/code_parts.h"
#include "runtime/coreclr/code/function_list.h"
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/internal.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

/* Most tables of the code range map, and most sections, that are read. */
#define MAP_TABLES_MAX 65536u
#define SECTIONS_MAX   1048576u
#define FRAGMENTS_MAX  1024u /* of one leaf */

#define MAP_LEVELS 5u
#define MAP_SLOTS  256u

/* The sections of one leaf; false when memory is exhausted. */
static bool add_sections(struct runtime *runtime, struct code_sections *sections, uint64_t at)
{
	for (unsigned int i = 0; at; i++) {
		uint64_t row[4]; /* next, begin, end, section */
		if (i == FRAGMENTS_MAX || sections->rows_count == SECTIONS_MAX ||
		    !memory_read(runtime->memory, at, row, sizeof(row))) {
			sections->is_partial = true;
			break;
		}
		code_places_add(sections->places, at, sizeof(row));
		size_t count = sections->rows_count;
		if (!count || sections->rows[count - 1] != row[3]) {
			if (!PAGES_RESERVE(sections, rows))
				return false;
			sections->rows[sections->rows_count++] = row[3];
		}
		at = row[0] & ~1ull;
	}
	return true;
}

/* A table of the map that is being read. */
struct map_level {
	uint64_t slots[MAP_SLOTS];
	unsigned int next;
};

static void begin_level(struct runtime *runtime, struct code_sections *sections,
			struct map_level *level, uint64_t table)
{
	memset(level, 0, sizeof(*level));
	code_places_add(sections->places, table, sizeof(level->slots));
	if (sections->tables++ >= MAP_TABLES_MAX ||
	    !memory_read(runtime->memory, table, level->slots, sizeof(level->slots)))
		sections->is_partial = true;
}

/* Go through the whole map; false when memory is exhausted. */
static bool read_map(struct runtime *runtime, struct code_sections *sections,
		     struct map_level *levels)
{
	uint64_t table;
	if (!coreclr_of(runtime)->globals.dac_count ||
	    !memory_u64(runtime->memory, coreclr_of(runtime)->globals.dac_table, &table)) {
		sections->is_partial = true;
		return true;
	}
	unsigned int depth = 0;
	begin_level(runtime, sections, &levels[0], table);
	for (;;) {
		struct map_level *level = &levels[depth];
		if (level->next == MAP_SLOTS) {
			if (!depth--)
				return true;
			continue;
		}
		uint64_t value = level->slots[level->next++] & ~1ull;
		if (!value)
			continue;
		if (depth == MAP_LEVELS - 1) {
			if (!add_sections(runtime, sections, value))
				return false;
		} else {
			begin_level(runtime, sections, &levels[++depth], value);
		}
	}
}

bool code_sections_read(struct runtime *runtime, struct code_sections *sections)
{
	HD_FREE struct map_level *levels = mem_alloc(MAP_LEVELS, sizeof(*levels));
	bool good = levels && read_map(runtime, sections, levels);
	if (good)
		sort_u64(sections->rows, sections->rows_count);
	return good;
}

void code_sections_deinit(struct code_sections *sections)
{
	pages_free(sections->rows, sections->rows_capacity, sizeof(*sections->rows));
	*sections = (struct code_sections){ 0 };
}

ORDER_BY2(compare_bodies, struct method_body, method_desc, start)

bool method_bodies_add(struct method_bodies *bodies, uint64_t method_desc, uint64_t start,
		       bool is_precompiled)
{
	if (!PAGES_RESERVE(bodies, rows))
		return false;
	bodies->rows[bodies->rows_count++] =
		(struct method_body){ method_desc, start, is_precompiled };
	return true;
}

static enum hd_status read_bodies(struct runtime *runtime, struct job *job,
				  const struct code_sections *sections,
				  struct method_bodies *bodies, struct hd_error *err)
{
	for (size_t i = 0; i < sections->rows_count; i++) {
		struct code_section section;
		if (i && sections->rows[i] == sections->rows[i - 1])
			continue;
		if (!code_section_read(runtime, sections->rows[i], &section)) {
			bodies->is_partial = true;
			continue;
		}
		bool good = section.module ? precompiled_bodies(runtime, &section, bodies)
					   : jitted_bodies(runtime, &section, bodies);
		TRY_MEMORY(good, err);
		TRY(job_check(job, 1, err));
	}
	return HD_OK;
}

enum hd_status method_bodies_read(struct runtime *runtime, struct job *job,
				  struct method_bodies *ret, struct hd_error *err)
{
	struct code_sections sections = { 0 };
	*ret = (struct method_bodies){ 0 };
	if (!coreclr_is(runtime)) {
		return fail(
			err, HD_ERR_UNSUPPORTED, 0,
			"a program with %s has no list of MethodDescs; export FILE.perfmap writes the "
			"names and addresses of its methods",
			runtime->ops->name);
	}
	TRY_MEMORY(code_tables(runtime), err);
	enum hd_status status = code_sections_read(runtime, &sections) ? HD_OK : fail_nomem(err);
	ret->is_partial = sections.is_partial;
	job_begin(job, "code", sections.rows_count);
	if (status == HD_OK)
		status = read_bodies(runtime, job, &sections, ret, err);
	job_end(job);
	code_sections_deinit(&sections);
	if (status == HD_OK && ret->rows_count)
		qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), compare_bodies);
	return status;
}

void method_bodies_deinit(struct method_bodies *bodies)
{
	pages_free(bodies->rows, bodies->rows_capacity, sizeof(*bodies->rows));
	*bodies = (struct method_bodies){ 0 };
}

size_t method_bodies_of(const struct method_bodies *bodies, uint64_t method_desc, size_t *ret_count)
{
	size_t first = ROWS_FROM(bodies->rows, bodies->rows_count, method_desc, method_desc);
	*ret_count = ROWS_ABOVE(bodies->rows, bodies->rows_count, method_desc, method_desc) - first;
	return first;
}
