/* SPDX-License-Identifier: MIT */
/* Code of the JIT: nibble maps and headers (nibblemapmacros.h, codeman.h). */
#include "mem/memory.h"
#include "runtime/coreclr/code/code_parts.h"
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"

/* The nibble map: 4 bits for 32 bytes of code, 8 of them in a u32. */
#define NIBBLE_BYTES     32u
#define NIBBLES_PER_UNIT 8u
#define NIBBLE_STEP      4u
#define UNITS_MAX        1048576u /* of one method: 256 MiB of code */

/* Before a method's code: the address of its RealCodeHeader, or the kind of a stub. */
#define STUB_KIND_LAST 15u

/* 4 bits of a unit: where in its 32 bytes a method begins, 0 = none. */
static uint64_t nibble_at(uint32_t unit, unsigned int index)
{
	return unit >> (28 - 4 * index) & 0xf;
}

/* The last method that begins in @p unit at or before nibble @p last. */
static bool last_start(uint32_t unit, uint64_t unit_index, unsigned int last, uint64_t *ret)
{
	for (unsigned int i = last + 1; i-- > 0;) {
		uint64_t nibble = nibble_at(unit, i);
		if (nibble) {
			*ret = (unit_index * NIBBLES_PER_UNIT + i) * NIBBLE_BYTES +
			       (nibble - 1) * NIBBLE_STEP;
			return true;
		}
	}
	return false;
}

/* Since 10, a unit whose lowest nibble is above 8 holds a method's start itself. */
static bool is_pointer(const struct runtime *runtime, uint32_t unit, uint64_t *ret)
{
	if (!coreclr_has(runtime, CORECLR_NIBBLE_STARTS) || (unit & 0xf) <= 8)
		return false;
	*ret = (unit & ~0xfu) + ((unit & 0xf) - 9) * (uint64_t)NIBBLE_STEP;
	return true;
}

/* Offset of the method that begins at or before @p offset, both from the map's base. */
static bool find_jitted_start(struct runtime *runtime, uint64_t map, uint64_t offset, uint64_t *ret)
{
	uint64_t nibble = offset / NIBBLE_BYTES, index = nibble / NIBBLES_PER_UNIT;
	unsigned int last = (unsigned int)(nibble % NIBBLES_PER_UNIT);
	uint32_t unit;
	if (!memory_u32(runtime->memory, map + 4 * index, &unit))
		return false;
	if (is_pointer(runtime, unit, ret))
		return *ret <= offset;
	uint64_t exact;
	if (last_start(unit, index, last, &exact)) {
		/* The method in the same 32 bytes may begin after the address. */
		if (exact > offset && !(last && last_start(unit, index, last - 1, &exact)))
			exact = UINT64_MAX;
		if (exact <= offset) {
			*ret = exact;
			return true;
		}
	}
	for (unsigned int i = 0; index-- > 0 && i < UNITS_MAX; i++) {
		if (!memory_u32(runtime->memory, map + 4 * index, &unit))
			return false;
		if (is_pointer(runtime, unit, ret))
			return *ret <= offset;
		if (last_start(unit, index, NIBBLES_PER_UNIT - 1, ret))
			return true;
		if (coreclr_has(runtime, CORECLR_NIBBLE_STARTS))
			return false;
	}
	return false;
}

/* The function or funclet of the method that holds @p code: those of its header ascend. */
static bool find_function(struct runtime *runtime, uint64_t header, uint64_t code,
			  struct code_info *ret)
{
	uint32_t count, index;
	struct runtime_function function;
	uint64_t rva = code - ret->image_base,
		 table = header + coreclr_offset(runtime, L_CODE_HEADER_UNWIND);
	if (!layout_has(&coreclr_of(runtime)->layout, L_CODE_HEADER_UNWIND) ||
	    !layout_has(&coreclr_of(runtime)->layout, L_CODE_HEADER_UNWIND_COUNT) ||
	    !memory_u32(runtime->memory,
			header + coreclr_offset(runtime, L_CODE_HEADER_UNWIND_COUNT), &count))
		return false;
	if (!count)
		return true; /* not known: the method is */
	if (!runtime_function_find(runtime, table, count, rva, &index) ||
	    !runtime_function_read(runtime, table, index, &function))
		return false;
	uint64_t end = runtime_function_end(runtime, ret->image_base, &function);
	if (end > function.begin && rva >= end)
		return false;
	ret->function = ret->image_base + function.begin;
	ret->unwind_info = ret->image_base + function.unwind_info;
	ret->is_funclet = index != 0;
	return true;
}

bool jitted_code(struct runtime *runtime, const struct code_section *section, uint64_t code,
		 struct code_info *ret)
{
	uint64_t base, map, start, header;
	struct code_info info = { .image_base = section->begin,
				  .gc_info_version = coreclr_of(runtime)->gc_info_version };
	if (!section->heap ||
	    !coreclr_pointer(runtime, section->heap, L_CODE_HEAP_MAP_BASE, &base) ||
	    !coreclr_pointer(runtime, section->heap, L_CODE_HEAP_HEADER_MAP, &map) || code < base ||
	    !find_jitted_start(runtime, map, code - base, &start) ||
	    !memory_u64(runtime->memory, base + start - 8, &header) || header <= STUB_KIND_LAST ||
	    !coreclr_pointer(runtime, header, L_CODE_HEADER_METHOD, &info.method_desc) ||
	    !coreclr_pointer(runtime, header, L_CODE_HEADER_GC_INFO, &info.gc_info))
		return false;
	info.start = info.function = base + start;
	if (!find_function(runtime, header, code, &info))
		return false;
	*ret = info;
	return true;
}

/* Most units of nibble maps that are read for one section: 2 GB of code. */
#define SECTION_UNITS_MAX ((uint64_t)8 << 20)
#define UNITS_READ        1024u

/* The method that begins at @p start, unless it is a stub. */
static bool add_jitted(struct runtime *runtime, uint64_t start, struct method_bodies *bodies)
{
	uint64_t header, method_desc;
	if (!memory_u64(runtime->memory, start - 8, &header)) {
		bodies->is_partial = true;
		return true;
	}
	if (header <= STUB_KIND_LAST)
		return true;
	if (!coreclr_pointer(runtime, header, L_CODE_HEADER_METHOD, &method_desc)) {
		bodies->is_partial = true;
		return true;
	}
	return !method_desc || method_bodies_add(bodies, method_desc, start, false);
}

/* The methods that begin in unit @p index of the map. */
static bool add_unit(struct runtime *runtime, uint64_t base, uint64_t index, uint32_t unit,
		     struct method_bodies *bodies)
{
	uint64_t unused;
	if (!unit || is_pointer(runtime, unit, &unused))
		return true;
	for (unsigned int i = 0; i < NIBBLES_PER_UNIT; i++) {
		uint64_t nibble = nibble_at(unit, i);
		if (nibble && !add_jitted(runtime,
					  base + (index * NIBBLES_PER_UNIT + i) * NIBBLE_BYTES +
						  (nibble - 1) * NIBBLE_STEP,
					  bodies))
			return false;
	}
	return true;
}

/* Where the nibble map of a section is; false: it is not known, or larger than what is read (*ret_count is set then). */
static bool find_map(struct runtime *runtime, const struct code_section *section,
		     uint64_t *ret_base, uint64_t *ret_map, uint64_t *ret_count)
{
	uint64_t end;
	*ret_count = 0;
	/* After the end of what is used, what lies after the map may be no part of it. */
	if (!coreclr_pointer(runtime, section->heap, L_CODE_HEAP_MAP_BASE, ret_base) ||
	    !coreclr_pointer(runtime, section->heap, L_CODE_HEAP_HEADER_MAP, ret_map) ||
	    !coreclr_pointer(runtime, section->heap, L_CODE_HEAP_END, &end) || end > section->end ||
	    *ret_base > end)
		return false;
	uint64_t bytes = (uint64_t)NIBBLE_BYTES * NIBBLES_PER_UNIT,
		 count = (end - *ret_base + bytes - 1) / bytes;
	*ret_count = count < SECTION_UNITS_MAX ? count : SECTION_UNITS_MAX;
	return count <= SECTION_UNITS_MAX;
}

void jitted_places(struct runtime *runtime, const struct code_section *section,
		   struct code_places *places)
{
	static const enum layout_field words[] = { L_CODE_HEAP_MAP_BASE, L_CODE_HEAP_HEADER_MAP,
						   L_CODE_HEAP_END };
	uint64_t base, map, count;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		code_places_add(places, section->heap + coreclr_offset(runtime, words[i]), 8);
	(void)find_map(runtime, section, &base, &map, &count);
	if (count)
		code_places_add(places, map, 4 * count);
}

bool jitted_bodies(struct runtime *runtime, const struct code_section *section,
		   struct method_bodies *bodies)
{
	uint64_t base, map, count;
	if (!section->heap)
		return true; /* stubs */
	if (!find_map(runtime, section, &base, &map, &count))
		bodies->is_partial = true;
	for (uint64_t i = 0; i < count; i += UNITS_READ) {
		uint32_t units[UNITS_READ];
		size_t wanted = count - i < UNITS_READ ? (size_t)(count - i) : UNITS_READ;
		size_t got = memory_prefix(runtime->memory, map + 4 * i, units, 4 * wanted) / 4;
		for (size_t k = 0; k < got; k++) {
			if (!add_unit(runtime, base, i + k, units[k], bodies))
				return false;
		}
		if (got < wanted) {
			bodies->is_partial = true;
			break;
		}
	}
	return true;
}
