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

/* The work on all methods; the lists are those of one. */
struct line_making {
	struct making *making;
	struct line_table table;
	struct pdb *pdb;
	struct pdb_points points;
	struct code_bounds bounds;
	uint64_t budget;
};

static void line_making_deinit(struct line_making *lines)
{
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

/* The line of the method's first sequence point. */
static struct method_source source_of(struct line_making *lines)
{
	const struct pdb_point *first = &lines->points.rows[0];
	const char *path = pdb_document(lines->pdb, first->document);
	uint32_t file = path ? line_table_file(&lines->table, path) : 0;
	return (struct method_source){ file, file ? first->line : 0 };
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
			making->sources[i] = source_of(lines);
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
