/* SPDX-License-Identifier: MIT */
/* The section .debug_line: the JIT's bounds say which IL an instruction comes from, the PDB which line that is. */
#include "managed_elf/line_table.h"
#include "managed_elf/making.h"
#include "metadata/pdb.h"
#include "runtime/coreclr/code/debug_info.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/code/source.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Most bytes of debug info and of PDBs that are decoded. */
#define DECODED_MAX ((uint64_t)256 << 20)

/* Most bytes of the rows: offsets have 32 bits. */
#define PROGRAM_MAX ((size_t)1 << 30)

/* The lines of all sequence points of one PDB. */
struct pdb_lines {
	const struct pdb *pdb;
	uint64_t *keys; /* ascending: the document, then the line */
	size_t keys_count, keys_capacity;
};

/* The work on all methods; the lists are those of one. */
struct line_making {
	struct making *making;
	struct line_table table;
	struct pdb *pdb;
	struct pdb_points points;
	struct code_bounds bounds;
	const struct metadata *metadata; /* of the method's module */
	struct pdb_lines *all;           /* of each PDB that has a method */
	size_t all_count, all_capacity;
	uint64_t budget;
};

static void line_making_deinit(struct line_making *lines)
{
	for (size_t i = 0; i < lines->all_count; i++) {
		pages_free(lines->all[i].keys, lines->all[i].keys_capacity,
			   sizeof(*lines->all[i].keys));
	}
	pages_free(lines->all, lines->all_capacity, sizeof(*lines->all));
	line_table_deinit(&lines->table);
	pdb_points_deinit(&lines->points);
	code_bounds_deinit(&lines->bounds);
}

/* The line of a bound, as runtime_source_line() finds it. */
static struct line_place place_of(struct line_making *lines, const struct code_bound *bound)
{
	const struct pdb_points *points = &lines->points;
	size_t above = bound->il == CODE_BOUND_NOTHING
			       ? 0
			       : ROWS_ABOVE(points->rows, points->rows_count, il, bound->il);
	if (!above)
		return (struct line_place){ 0 };
	const struct pdb_point *point = &points->rows[above - 1];
	const char *path = pdb_document(lines->pdb, point->document);
	return (struct line_place){
		.file = path ? line_table_file(&lines->table, path) : 0,
		.line = point->line,
		.is_statement = bound->is_exact && point->il == bound->il,
	};
}

/* The rows of one function of the method. */
static void write_rows(struct line_making *lines, const struct code_function *function)
{
	const struct code_bounds *bounds = &lines->bounds;
	uint32_t begin = (uint32_t)(function->begin - function->start),
		 end = (uint32_t)(function->end - function->start);
	size_t i = ROW_OF(bounds->rows, bounds->rows_count, native, begin);
	line_table_begin(&lines->table, function->begin);
	for (; i < bounds->rows_count && bounds->rows[i].native < end; i++) {
		const struct code_bound *bound = &bounds->rows[i];
		struct line_place place = place_of(lines, bound);
		/* The last one of several at one place counts. */
		if (i + 1 < bounds->rows_count && bounds->rows[i + 1].native == bound->native)
			continue;
		place.is_statement &= bound->native >= begin;
		line_table_row(&lines->table,
			       bound->native > begin ? function->start + bound->native
						     : function->begin,
			       &place);
	}
	line_table_end(&lines->table, function->end);
}

/* Read what is known of the method that begins at @p start; false: it has no lines. */
static bool read_method(struct line_making *lines, const struct code_function *function)
{
	struct runtime *runtime = lines->making->runtime;
	struct method method;
	struct code_info code;
	uint64_t *unused;
	if (!method_read(runtime, function->method_desc, &method) || !method.rid || !method.module)
		return false;
	lines->pdb = runtime_pdb(runtime, method.module, &unused);
	lines->making->counts.has_pdb |= lines->pdb != NULL;
	lines->metadata = method.module->metadata;
	uint32_t size = lines->pdb ? pdb_method_size(lines->pdb, method.rid) : 0;
	if (!size || size > lines->budget)
		return false;
	lines->budget -= size;
	return pdb_points_read(lines->pdb, method.rid, &lines->points) &&
	       lines->points.rows_count && runtime_code_at(runtime, function->start, &code) &&
	       code.start == function->start &&
	       runtime_bounds_read(runtime, &code, &lines->budget, &lines->bounds) &&
	       lines->bounds.rows_count;
}

static uint64_t key_of(const struct pdb_point *point)
{
	return (uint64_t)point->document << 32 | point->line;
}

/* Read the lines of all methods of the PDB. */
static enum hd_status read_pdb_lines(struct line_making *lines, struct pdb_lines *all)
{
	HD_CLEANUP(pdb_points) struct pdb_points points = { 0 };
	uint32_t methods = lines->metadata ? lines->metadata->tables[MD_METHOD].rows : 0;
	for (uint32_t rid = 1; rid <= methods; rid++) {
		uint32_t size = pdb_method_size(lines->pdb, rid);
		TRY(job_check(lines->making->job, 1, lines->making->err));
		if (!size || size > lines->budget)
			continue;
		lines->budget -= size;
		bool is_read = pdb_points_read(lines->pdb, rid, &points);
		for (size_t i = 0; is_read && i < points.rows_count; i++) {
			TRY_MEMORY(PAGES_RESERVE(all, keys), lines->making->err);
			all->keys[all->keys_count++] = key_of(&points.rows[i]);
		}
	}
	sort_u64(all->keys, all->keys_count);
	return HD_OK;
}

/* The lines of the PDB that the method is in, read once. */
static enum hd_status find_pdb_lines(struct line_making *lines, const struct pdb_lines **ret)
{
	for (size_t i = lines->all_count; i-- > 0;) {
		if (lines->all[i].pdb == lines->pdb) {
			*ret = &lines->all[i];
			return HD_OK;
		}
	}
	TRY_MEMORY(PAGES_RESERVE(lines, all), lines->making->err);
	struct pdb_lines *all = &lines->all[lines->all_count++];
	*all = (struct pdb_lines){ .pdb = lines->pdb };
	*ret = all;
	return read_pdb_lines(lines, all);
}

/* The first line that belongs to no other method before the method's first one: of its head, or a brace. */
static enum hd_status find_source(struct line_making *lines, struct method_source *ret)
{
	const struct pdb_point *first = &lines->points.rows[0];
	const char *path = pdb_document(lines->pdb, first->document);
	const struct pdb_lines *all = NULL;
	uint64_t key = key_of(first);
	uint32_t before = 0;
	TRY(find_pdb_lines(lines, &all));
	size_t above = all->keys_count ? NUMBERS_ABOVE(all->keys, all->keys_count, key - 1) : 0;
	if (above && all->keys[above - 1] >> 32 == first->document)
		before = (uint32_t)all->keys[above - 1];
	ret->file = path ? line_table_file(&lines->table, path) : 0;
	ret->line = ret->file ? before + 1 : 0;
	return HD_OK;
}

static enum hd_status write_methods(struct line_making *lines)
{
	struct making *making = lines->making;
	const struct code_functions *functions = making->functions;
	uint64_t start = 0;
	bool has_lines = false;
	for (size_t i = 0; i < functions->rows_count; i++) {
		const struct code_function *function = &functions->rows[i];
		TRY(job_check(making->job, 1, making->err));
		if (!function->method_desc || lines->table.program.size > PROGRAM_MAX)
			continue;
		if (function->start != start)
			has_lines = read_method(lines, function);
		start = function->start;
		if (has_lines)
			TRY(find_source(lines, &making->sources[i]));
		if (has_lines && function->begin >= start && function->end - start <= UINT32_MAX)
			write_rows(lines, function);
		TRY_MEMORY(!line_table_failed(&lines->table) && !lines->points.failed &&
				   !lines->bounds.failed,
			   making->err);
	}
	return HD_OK;
}

enum hd_status making_lines(struct making *making)
{
	HD_CLEANUP(line_making)
	struct line_making lines = { .making = making, .budget = DECODED_MAX };
	struct job *job = making->job;
	making->sources = mem_calloc(making->functions->rows_count + 1, sizeof(*making->sources));
	TRY_MEMORY(making->sources, making->err);
	job_begin(job, "lines", making->functions->rows_count);
	enum hd_status status = write_methods(&lines);
	job_end(job);
	TRY(status);
	struct elf_section *section =
		elf_section_add(&making->sections, ".debug_line", SHT_PROGBITS, 0);
	TRY_MEMORY(section, making->err);
	line_table_write(&lines.table, &section->data);
	making->counts.lines = lines.table.rows;
	return HD_OK;
}
