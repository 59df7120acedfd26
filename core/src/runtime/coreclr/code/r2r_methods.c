/* SPDX-License-Identifier: MIT */
/* READYTORUN_SECTION_METHODDEF_ENTRYPOINTS (inc/readytorun.h; vm/readytoruninfo.cpp: GetEntryPoint). */
#include "runtime/coreclr/code/r2r_methods.h"

#include "mem/memory.h"
#include "runtime/coreclr/code/debug_reader.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/ready_to_run.h"
#include "runtime/coreclr/modules/module.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Most bytes of the tables of all images that are decoded: an element takes some 20 of them; and most functions. */
#define DECODED_MAX ((uint64_t)256 << 20)
#define RIDS_MAX    ((uint64_t)16 << 20)

/* The number of an element: two bits say whether fixups follow, or are elsewhere; then the function. */
#define HAS_FIXUPS 1u

static bool find_table(struct runtime *runtime, const struct code_section *section,
		       uint64_t *ret_begin, uint32_t *ret_size)
{
	uint64_t info, header;
	uint32_t rva;
	if (!coreclr_pointer(runtime, section->module, L_MODULE_R2R, &info) || !info ||
	    !coreclr_pointer(runtime, info, L_R2R_HEADER, &header) ||
	    !coreclr_r2r_section(runtime, header, R2R_METHODS, &rva, ret_size))
		return false;
	*ret_begin = section->begin + rva;
	return true;
}

/* The function of the method at row @p rid of MethodDef; false: the image has no code for it. */
static bool read_element(struct debug_reader *reader, uint64_t begin, uint32_t rid, uint32_t *ret)
{
	reader->failed = false;
	reader->at = begin;
	reader->part_bits = 0;
	if (!native_array_find(reader, rid - 1))
		return false;
	uint32_t number = native_number(reader);
	*ret = number & HAS_FIXUPS ? number >> 2 : number >> 1;
	return !reader->failed;
}

/* false: memory is exhausted */
static bool read_rows(struct runtime *runtime, const struct code_section *section,
		      struct r2r_image *image)
{
	const struct module *module = module_find(runtime, section->module);
	const struct metadata *metadata = module ? module->metadata : NULL;
	struct code_tables *tables = coreclr_of(runtime)->code;
	uint64_t begin, budget = DECODED_MAX - tables->decoded;
	uint32_t size;
	if (!metadata || !image->function_count ||
	    image->function_count > RIDS_MAX - tables->rids ||
	    !find_table(runtime, section, &begin, &size))
		return true;
	tables->rids += image->function_count;
	struct debug_reader reader = { .memory = runtime->memory,
				       .budget = &budget,
				       .end = begin + size };
	image->rids = mem_calloc(image->function_count, sizeof(*image->rids));
	for (uint32_t rid = 1; image->rids && rid <= metadata->tables[MD_METHOD].rows && budget;
	     rid++) {
		uint32_t function;
		if (read_element(&reader, begin, rid, &function) &&
		    function < image->function_count && !image->rids[function])
			image->rids[function] = rid;
	}
	tables->decoded = DECODED_MAX - budget;
	return image->rids != NULL;
}

const uint32_t *r2r_method_rows(struct runtime *runtime, const struct code_section *section)
{
	if (!find_r2r_image(runtime, section))
		return NULL;
	struct code_tables *tables = coreclr_of(runtime)->code;
	struct r2r_image *image = &tables->images[tables->last_image];
	if (!image->was_asked && !read_rows(runtime, section, image))
		runtime_code_fail(runtime);
	image->was_asked = true;
	return image->rids;
}

/* The function that has @p code, and the rows of its image. */
static const uint32_t *find_function(struct runtime *runtime, uint64_t code,
				     struct code_section *section, uint32_t *ret_index)
{
	if (!coreclr_is(runtime) || !code_tables(runtime) ||
	    !code_section_find(runtime, code, section) || !section->module)
		return NULL;
	const struct r2r_image *image = find_r2r_image(runtime, section);
	return image && image->functions &&
			       runtime_function_find(runtime, image->functions,
						     image->function_count, code - section->begin,
						     ret_index)
		       ? r2r_method_rows(runtime, section)
		       : NULL;
}

bool coreclr_uncalled_method(struct runtime *runtime, uint64_t code, uint64_t *ret_module,
			     uint32_t *ret_rid)
{
	struct code_section section;
	struct runtime_function function;
	uint32_t index;
	const uint32_t *rows = find_function(runtime, code, &section, &index);
	if (!rows || !rows[index])
		return false;
	const struct r2r_image *image = find_r2r_image(runtime, &section);
	if (!image || !runtime_function_read(runtime, image->functions, index, &function) ||
	    code - section.begin >= runtime_function_end(runtime, section.begin, &function))
		return false;
	uint64_t begin = section.begin + function.begin;
	size_t above = NUMBERS_ABOVE(image->entries, image->entries_count, begin);
	if (above && image->entries[above - 1] == begin)
		return false;
	*ret_module = section.module;
	*ret_rid = rows[index];
	return true;
}

bool r2r_method_is_left(struct runtime *runtime, const struct code_info *method, uint64_t code)
{
	struct code_section section;
	uint32_t index;
	const uint32_t *rows = find_function(runtime, code, &section, &index);
	while (rows && index > method->function_index) {
		if (rows[index--])
			return true;
	}
	return false;
}
