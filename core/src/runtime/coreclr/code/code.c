/* SPDX-License-Identifier: MIT */
/*
 * From an address of code to its method (doc/coreclr.md 12.3).  Layouts: codeman.h, precode.h; the
 * same in 8, 9 and 10 unless a comment says otherwise.
 */
#include <elf.h>

#include "arch/arch.h"
#include "mem/memory.h"
#include "mem/pe_headers.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/code/r2r_methods.h"
#include "runtime/coreclr/code/source.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/processor.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "targets/target.h"
#include "util/alloc.h"

/* From a precode to its data, and where in the data the last kind has its target (doc/coreclr.md 12.10). */
#define PRECODE_DATA_DISTANCE UINT64_C(0x4000)
#define PRECODE_TARGET_LAST   8u

/* RangeSectionMap: levels of 256 pointers, indexed by these bits of the address. */
#define MAP_LEVELS        5u
#define MAP_FIRST_SHIFT   49u
#define MAP_LEVEL_BITS    8u
#define MAP_LAST_SHIFT    (MAP_FIRST_SHIFT - (MAP_LEVELS - 1) * MAP_LEVEL_BITS)
#define MAP_FRAGMENTS_MAX 1024u

/* Most pages of code that runtime_code_touch() reads. */
#define TOUCHED_MAX 65536u

/* OptionalHeader.ImageBase of an image of 64 bits (PE/COFF specification). */
#define IMAGE_BASE_AT 24u

/* RangeSection, in words. */
#define SECTION_BEGIN  0u
#define SECTION_END    1u
#define SECTION_MODULE 4u
#define SECTION_HEAP   5u
#define SECTION_WORDS  6u

bool code_section_read(struct runtime *runtime, uint64_t address, struct code_section *ret)
{
	uint64_t words[SECTION_WORDS];
	if (!memory_read(runtime->memory, address, words, sizeof(words)))
		return false;
	*ret = (struct code_section){ .begin = words[SECTION_BEGIN],
				      .end = words[SECTION_END],
				      .module = words[SECTION_MODULE],
				      .heap = words[SECTION_HEAP] };
	return true;
}

/*
 * The first fragment of the section that contains @p code; the low bit of every pointer on the way
 * is a flag.
 */
static bool find_fragments(struct runtime *runtime, uint64_t code, uint64_t *ret)
{
	uint64_t at;
	if (!coreclr_of(runtime)->globals.dac_count ||
	    !memory_u64(runtime->memory, coreclr_of(runtime)->globals.dac_table, &at))
		return false;
	for (unsigned int i = 0; i < MAP_LEVELS; i++) {
		unsigned int shift = MAP_FIRST_SHIFT - i * MAP_LEVEL_BITS;
		if (!memory_u64(runtime->memory, at + 8 * (code >> shift & 0xff), &at) ||
		    !(at & ~1ull))
			return false;
		at &= ~1ull;
	}
	*ret = at;
	return true;
}

bool code_section_find(struct runtime *runtime, uint64_t code, struct code_section *ret)
{
	uint64_t at;
	if (!find_fragments(runtime, code, &at))
		return false;
	for (unsigned int i = 0; at && i < MAP_FRAGMENTS_MAX; i++) {
		uint64_t row[4]; /* next, begin, end, section */
		if (!memory_read(runtime->memory, at, row, sizeof(row)))
			return false;
		if (code >= row[1] && code < row[2]) {
			return code_section_read(runtime, row[3], ret) && code >= ret->begin &&
			       code < ret->end;
		}
		at = row[0] & ~1ull;
	}
	return false;
}

/* All sections that may contain code of the range around @p code. */
static void touch_sections(struct runtime *runtime, uint64_t code)
{
	uint64_t at;
	struct code_section section;
	if (!find_fragments(runtime, code, &at))
		return;
	for (unsigned int i = 0; at && i < MAP_FRAGMENTS_MAX; i++) {
		uint64_t row[4];
		if (!memory_read(runtime->memory, at, row, sizeof(row)))
			return;
		(void)code_section_read(runtime, row[3], &section);
		at = row[0] & ~1ull;
	}
}

void runtime_code_touch(struct runtime *runtime)
{
	const struct target *target = runtime->target;
	uint64_t left = TOUCHED_MAX;
	for (size_t i = 0; i < target->map.range_count; i++) {
		const struct target_range *range = &target->map.ranges[i];
		if (!(range->flags & PF_X))
			continue;
		for (uint64_t at = range->start; at < range->end && left;
		     at += runtime->target->arch->space.page_min, left--) {
			struct code_info unused;
			if (at == range->start ||
			    at >> MAP_LAST_SHIFT !=
				    (at - runtime->target->arch->space.page_min) >> MAP_LAST_SHIFT)
				touch_sections(runtime, at);
			(void)runtime_code_at(runtime, at, &unused);
		}
	}
}

uint64_t runtime_function_size(const struct runtime *runtime)
{
	return processor_layout(runtime)->has_function_ends ? sizeof(struct runtime_function)
							    : 2 * sizeof(uint32_t);
}

struct runtime_function runtime_function_of(const struct runtime *runtime, const uint8_t *at)
{
	struct runtime_function ret = { .begin = load_u32(at) };
	if (processor_layout(runtime)->has_function_ends) {
		ret.end = load_u32(at + 4);
		ret.unwind_info = load_u32(at + 8);
	} else {
		ret.unwind_info = load_u32(at + 4);
	}
	return ret;
}

uint64_t runtime_function_end(const struct runtime *runtime, uint64_t base,
			      const struct runtime_function *function)
{
	uint64_t size, length;
	if (processor_layout(runtime)->has_function_ends)
		return function->end;
	return runtime_arch(runtime)->ops->unwind_extent(
		       runtime->memory, base + function->unwind_info, &size, &length) &&
			       length
		       ? function->begin + length
		       : 0;
}

bool runtime_function_read(struct runtime *runtime, uint64_t table, uint32_t index,
			   struct runtime_function *ret)
{
	uint8_t bytes[sizeof(*ret)];
	uint64_t size = runtime_function_size(runtime);
	if (!memory_read(runtime->memory, table + size * index, bytes, (size_t)size))
		return false;
	*ret = runtime_function_of(runtime, bytes);
	return true;
}

bool runtime_function_find(struct runtime *runtime, uint64_t table, uint32_t count, uint64_t rva,
			   uint32_t *ret_index)
{
	uint32_t low = 0, high = count, begin;
	uint64_t size = runtime_function_size(runtime);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (!memory_u32(runtime->memory, table + size * middle, &begin))
			return false;
		if (begin <= rva) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	*ret_index = low - 1;
	return low != 0;
}

struct code_tables *code_tables(struct runtime *runtime)
{
	struct coreclr *coreclr = coreclr_of(runtime);
	if (coreclr_is(runtime) && !coreclr->code)
		coreclr->code = mem_calloc(1, sizeof(*coreclr->code));
	return coreclr->code;
}

void code_tables_destroy(struct code_tables *tables)
{
	if (!tables)
		return;
	for (size_t i = 0; i < tables->images_count; i++)
		r2r_image_deinit(&tables->images[i]);
	pages_free(tables->images, tables->images_capacity, sizeof(*tables->images));
	source_cache_destroy(tables->sources);
	mem_free(tables);
}

bool runtime_has_code_at(struct runtime *runtime, uint64_t code)
{
	struct code_section section;
	return code_section_find(runtime, code, &section);
}

/* The base that the compiler wrote addresses for. */
static bool preferred_base(const struct runtime *runtime, uint64_t base, uint64_t *ret,
			   uint32_t *ret_size)
{
	struct pe_headers pe;
	if (!pe_headers_read(runtime->memory, base, &pe) || pe.magic != PE_MAGIC_64)
		return false;
	*ret_size = pe.image_size;
	return memory_u64(runtime->memory, pe.optional + IMAGE_BASE_AT, ret);
}

bool runtime_code_pointer(struct runtime *runtime, uint64_t address, uint64_t *ret)
{
	struct code_section section;
	uint64_t value, preferred;
	uint32_t size;
	bool is_image = code_section_find(runtime, address, &section) && section.module;
	/* The data is in the file, which small cores need. */
	if (is_image)
		module_prove(runtime, section.module);
	if (!memory_u64(runtime->memory, address, &value))
		return false;
	bool is_moved = !is_image || !value || (value >= section.begin && value < section.end);
	if (!is_moved && preferred_base(runtime, section.begin, &preferred, &size) &&
	    value >= preferred && value - preferred < size)
		value = value - preferred + section.begin;
	*ret = value;
	return true;
}

bool coreclr_code_at(struct runtime *runtime, uint64_t code, struct code_info *ret)
{
	struct code_section section;
	if (!code_tables(runtime)) {
		runtime_code_fail(runtime);
		return false;
	}
	if (!code_section_find(runtime, code, &section))
		return false;
	return section.module ? precompiled_code(runtime, &section, code, ret)
			      : jitted_code(runtime, &section, code, ret);
}

uint64_t method_entry_target(struct runtime *runtime, uint64_t entry)
{
	uint64_t target;
	return runtime_arch(runtime)->ops->precode_target(runtime->memory, entry, &target) ? target
											   : entry;
}

bool runtime_method_at(struct runtime *runtime, uint64_t code, uint64_t *ret_method_desc)
{
	struct code_info info;
	char name[8];
	bool is_in_code = runtime_function_at(runtime, code, &info) &&
			  !(info.is_precompiled && r2r_method_is_left(runtime, &info, code));
	if (!is_in_code && !coreclr_fcall_method(runtime, code, &info.method_desc) &&
	    !runtime_arch(runtime)->ops->precode_method(runtime->memory, code, &info.method_desc))
		return false;
	if (!runtime_method_name(runtime, info.method_desc, name, sizeof(name), NULL))
		return false;
	*ret_method_desc = info.method_desc;
	return true;
}

bool runtime_method_of_cell(struct runtime *runtime, uint64_t cell, uint64_t *ret_method_desc)
{
	const struct arch_ops *ops = runtime_arch(runtime)->ops;
	uint64_t code, target;
	if (!memory_u64(runtime->memory, cell, &target))
		return false;
	for (uint64_t before = 0; before <= PRECODE_TARGET_LAST; before += 8) {
		uint64_t precode = cell - PRECODE_DATA_DISTANCE - before;
		if (ops->precode_target(runtime->memory, precode, &code) && code == target &&
		    runtime_method_at(runtime, precode, ret_method_desc))
			return true;
	}
	return false;
}

bool runtime_method_in_slot(struct runtime *runtime, uint64_t table, uint32_t slot,
			    uint64_t *ret_method_desc)
{
	const struct type *type = type_find(runtime, table);
	uint64_t code = type ? vtable_entry(runtime, type, slot) : 0;
	return code && runtime_method_at(runtime, code, ret_method_desc);
}
