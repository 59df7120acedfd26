/* SPDX-License-Identifier: MIT */
/* All functions of managed code, out of the tables of code (doc/coreclr.md 12.3, 12.12; codeman.h, readytorun.h). */
#include "runtime/coreclr/code/function_list.h"

#include "mem/memory.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/code/r2r_methods.h"
#include "runtime/coreclr/code/stub_list.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/ready_to_run.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/job.h"

/* Most functions of one method, and most bytes of the table of clauses of an image. */
#define METHOD_FUNCTIONS_MAX 65536u
#define CLAUSE_TABLE_MAX     ((uint64_t)64 << 20)
#define FUNCTIONS_READ       512u /* at a time */

/* Bytes of the RealCodeHeader and of the code that the mark of a dynamic method is made of. */
#define HEADER_MARKED 40u
#define CODE_MARKED   2048u

/* The reading of one section. */
struct reading {
	struct runtime *runtime;
	const struct code_section *section;
	struct code_functions *functions;
	struct code_section *known; /* all sections */
	size_t known_count, known_capacity;
	struct clause_handlers handlers; /* of the method that is read */
	uint8_t block[FUNCTIONS_READ * sizeof(struct runtime_function)];
};

/*
 * The memory of a dynamic method is used again once nobody needs it: its code is another one if its header or its
 * bytes are others.  0: it is not dynamic.
 */
static uint32_t mark_of(struct reading *reading, const struct method_body *body, uint64_t header)
{
	struct memory *memory = reading->runtime->memory;
	uint8_t bytes[HEADER_MARKED + CODE_MARKED];
	uint32_t mark = 1;
	uint16_t flags;
	if (!memory_u16(memory, body->method_desc + METHOD_DESC_FLAGS, &flags) ||
	    (flags & METHOD_CLASSIFICATION_MASK) != METHOD_DYNAMIC)
		return 0;
	code_places_add(&reading->functions->places, body->start - 8, 8);
	code_places_add(&reading->functions->places, header, HEADER_MARKED);
	size_t size = memory_prefix(memory, header, bytes, HEADER_MARKED);
	size += memory_prefix(memory, body->start, bytes + size, CODE_MARKED);
	for (size_t i = 0; i < size; i++)
		mark = (mark ^ bytes[i]) * 16777619u; /* FNV-1a */
	return mark ? mark : 1;
}

static bool add(struct reading *reading, const struct runtime_function *function,
		const struct code_function *about)
{
	uint64_t end = runtime_function_end(reading->runtime, reading->section->begin, function);
	struct code_functions *functions = reading->functions;
	const struct code_section *section = reading->section;
	struct code_function row = *about;
	row.image_base = section->begin;
	row.begin = section->begin + function->begin;
	row.end = section->begin + end;
	row.unwind_info = section->begin + function->unwind_info;
	if (end <= function->begin || row.end > section->end || row.end < row.begin) {
		functions->left_out++;
		return true;
	}
	if (functions->rows_count == CODE_FUNCTIONS_MAX) {
		functions->is_partial = true;
		return true;
	}
	if (!PAGES_RESERVE(functions, rows))
		return false;
	functions->rows[functions->rows_count++] = row;
	return true;
}

/* The functions of the table from @p first on; @return how many of @p count could be read. */
static size_t read_block(struct reading *reading, uint64_t table, uint64_t first, uint64_t count)
{
	size_t wanted = count < FUNCTIONS_READ ? (size_t)count : FUNCTIONS_READ;
	size_t size = (size_t)runtime_function_size(reading->runtime);
	size_t got = memory_prefix(reading->runtime->memory, table + size * first, reading->block,
				   wanted * size) /
		     size;
	if (got < wanted)
		reading->functions->is_partial = true;
	return got;
}

static struct runtime_function function_at(const struct reading *reading, size_t index)
{
	return runtime_function_of(reading->runtime,
				   reading->block +
					   index * (size_t)runtime_function_size(reading->runtime));
}

/* The functions of one method of the JIT, which ascend; false when memory is exhausted. */
static bool read_method(struct reading *reading, const struct method_body *body)
{
	struct runtime *runtime = reading->runtime;
	struct code_function row = { .method_desc = body->method_desc, .start = body->start };
	uint64_t header = 0, last = 0;
	uint32_t count = 0;
	if (!memory_u64(runtime->memory, body->start - 8, &header) ||
	    !memory_u32(runtime->memory,
			header + coreclr_offset(runtime, L_CODE_HEADER_UNWIND_COUNT), &count) ||
	    count > METHOD_FUNCTIONS_MAX) {
		reading->functions->is_partial = true;
		return true;
	}
	if (count > 1 && !clauses_of_jitted(runtime, header, &reading->handlers))
		return false;
	row.mark = mark_of(reading, body, header);
	uint64_t table = header + coreclr_offset(runtime, L_CODE_HEADER_UNWIND);
	for (uint32_t i = 0; i < count;) {
		size_t got = read_block(reading, table, i, count - i);
		for (size_t k = 0; k < got; k++, i++) {
			struct runtime_function function = function_at(reading, k);
			uint64_t begin = reading->section->begin + function.begin;
			if (i ? begin < last : begin != body->start) {
				reading->functions->left_out += count - i;
				return true;
			}
			row.part = i ? clauses_part_of(&reading->handlers,
						       (uint32_t)(begin - body->start))
				     : (uint8_t)CODE_METHOD;
			if (!add(reading, &function, &row))
				return false;
			last = reading->section->begin +
			       runtime_function_end(runtime, reading->section->begin, &function);
		}
		if (!got)
			break;
	}
	return true;
}

static bool read_jitted(struct reading *reading)
{
	HD_CLEANUP(method_bodies) struct method_bodies bodies = { 0 };
	const struct layout *layout = &coreclr_of(reading->runtime)->layout;
	if (!layout_has(layout, L_CODE_HEADER_UNWIND) ||
	    !layout_has(layout, L_CODE_HEADER_UNWIND_COUNT)) {
		reading->functions->is_partial = true;
		return true;
	}
	jitted_places(reading->runtime, reading->section, &reading->functions->places);
	if (!jitted_bodies(reading->runtime, reading->section, &bodies))
		return false;
	reading->functions->is_partial |= bodies.is_partial;
	for (size_t i = 0; i < bodies.rows_count; i++) {
		if (!read_method(reading, &bodies.rows[i]))
			return false;
	}
	return true;
}

/* The table of the clauses of an image, as far as it can be read: pairs of RVAs. */
struct clause_table {
	uint32_t *rows;
	size_t count; /* of rows that have a next one */
	size_t next;  /* the first whose code is not before the method that was asked for */
};

static bool read_clause_table(struct reading *reading, struct clause_table *ret)
{
	struct runtime *runtime = reading->runtime;
	uint64_t info, header;
	uint32_t rva, size;
	if (!coreclr_pointer(runtime, reading->section->module, L_MODULE_R2R, &info) || !info ||
	    !coreclr_pointer(runtime, info, L_R2R_HEADER, &header) ||
	    !coreclr_r2r_section(runtime, header, R2R_CLAUSES, &rva, &size) ||
	    size > CLAUSE_TABLE_MAX || size < R2R_CLAUSES_ROW)
		return true;
	ret->rows = mem_alloc(size, 1);
	if (!ret->rows)
		return false;
	size_t got = memory_prefix(runtime->memory, reading->section->begin + rva, ret->rows, size);
	ret->count = got / R2R_CLAUSES_ROW ? got / R2R_CLAUSES_ROW - 1 : 0;
	return true;
}

/* The handlers of the method whose code begins at @p rva; methods are asked for in the order of their code. */
static bool read_handlers(struct reading *reading, struct clause_table *table, uint32_t rva)
{
	reading->handlers.rows_count = 0;
	while (table->next < table->count && table->rows[2 * table->next] < rva)
		table->next++;
	if (table->next == table->count || table->rows[2 * table->next] != rva)
		return true;
	const uint32_t *row = table->rows + 2 * table->next;
	return row[3] < row[1] ||
	       clauses_of_precompiled(reading->runtime, reading->section->begin + row[1],
				      row[3] - row[1], &reading->handlers);
}

/* The method that functions of an image belong to. */
struct owner {
	uint64_t method_desc, start;
	uint32_t rid; /* of a method that nobody called */
	size_t next;  /* the next entry point of the image */
};

/*
 * One function: a method that was called has an entry point, and its funclets come after it; all others are of
 * methods that nobody called, of which @p rid is that at the image's table.
 */
static bool read_precompiled_function(struct reading *reading, const struct r2r_image *image,
				      const struct runtime_function *function, uint32_t rid,
				      struct owner *owner, struct clause_table *clauses)
{
	uint64_t begin = reading->section->begin + function->begin;
	struct code_function row = { .is_precompiled = true };
	while (owner->next < image->entries_count && image->entries[owner->next] < begin)
		owner->next++;
	bool was_called =
		owner->next < image->entries_count && image->entries[owner->next] == begin;
	if (was_called || rid) {
		owner->method_desc =
			was_called ? image->method_descs[image->order[owner->next]] : 0;
		owner->rid = was_called ? 0 : rid;
		owner->start = begin;
		if (!read_handlers(reading, clauses, function->begin))
			return false;
	} else if (owner->start) {
		row.part = clauses_part_of(&reading->handlers, (uint32_t)(begin - owner->start));
		if (row.part == CODE_HANDLER)
			*owner = (struct owner){ .next = owner->next };
	}
	row.method_desc = owner->method_desc;
	row.rid = owner->rid;
	row.module = owner->rid ? reading->section->module : 0;
	row.start = owner->start;
	if (!owner->start)
		row.part = CODE_METHOD;
	return add(reading, function, &row);
}

static bool read_precompiled(struct reading *reading)
{
	HD_FREE uint32_t *rows = NULL;
	struct clause_table clauses = { 0 };
	struct owner owner = { 0 };
	const struct r2r_image *image = find_r2r_image(reading->runtime, reading->section);
	if (!image || !image->functions) {
		reading->functions->is_partial = true;
		return !runtime_code_failed(reading->runtime);
	}
	reading->functions->is_partial |= image->is_partial;
	precompiled_places(image, &reading->functions->places);
	const uint32_t *rids = r2r_method_rows(reading->runtime, reading->section);
	bool done = read_clause_table(reading, &clauses) && !runtime_code_failed(reading->runtime);
	rows = clauses.rows;
	for (uint64_t i = 0; done && i < image->function_count;) {
		size_t got = read_block(reading, image->functions, i, image->function_count - i);
		for (size_t k = 0; done && k < got; k++) {
			struct runtime_function function = function_at(reading, k);
			done = read_precompiled_function(reading, image, &function,
							 rids ? rids[i + k] : 0, &owner, &clauses);
		}
		if (!got)
			break;
		i += got;
	}
	return done;
}

/* false: memory is exhausted */
static bool read_section(struct reading *reading, const struct code_section *section)
{
	bool done = true;
	reading->section = section;
	if (section->module) {
		done = read_precompiled(reading);
	} else if (section->heap) {
		done = read_jitted(reading);
	}
	reading->section = NULL;
	return done;
}

static enum hd_status read_sections(struct reading *reading, const struct code_sections *sections,
				    struct job *job, struct hd_error *err)
{
	for (size_t i = 0; i < sections->rows_count; i++) {
		struct code_section section;
		if (i && sections->rows[i] == sections->rows[i - 1])
			continue;
		TRY(job_check(job, 1, err));
		if (!code_section_read(reading->runtime, sections->rows[i], &section)) {
			reading->functions->is_partial = true;
			continue;
		}
		TRY_MEMORY(read_section(reading, &section), err);
		if (section.begin >= section.end ||
		    section.end > reading->runtime->target->arch->space.user_end)
			continue;
		TRY_MEMORY(PAGES_RESERVE(reading, known), err);
		reading->known[reading->known_count++] = section;
	}
	TRY_MEMORY(code_stubs_list(reading->runtime, reading->known, reading->known_count,
				   reading->functions),
		   err);
	return HD_OK;
}

enum hd_status coreclr_functions(struct runtime *runtime, struct job *job,
				 struct code_functions *ret, struct hd_error *err)
{
	struct code_sections sections = { .places = &ret->places };
	TRY_MEMORY(code_tables(runtime), err);
	struct reading *reading = mem_calloc(1, sizeof(*reading));
	TRY_MEMORY(reading, err);
	reading->runtime = runtime;
	reading->functions = ret;
	enum hd_status status = code_sections_read(runtime, &sections) ? HD_OK : fail_nomem(err);
	ret->is_partial = sections.is_partial;
	job_begin(job, "code", sections.rows_count);
	if (status == HD_OK)
		status = read_sections(reading, &sections, job, err);
	job_end(job);
	code_sections_deinit(&sections);
	clause_handlers_deinit(&reading->handlers);
	pages_free(reading->known, reading->known_capacity, sizeof(*reading->known));
	mem_free(reading);
	return status;
}
