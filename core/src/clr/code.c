/* SPDX-License-Identifier: MIT */
/*
 * From an address of code to its method (coreclr.md 12.3).  Layouts: codeman.h, nibblemapmacros.h,
 * readytoruninfo.h, hash.h, precode.h; the same in 8, 9 and 10 where nothing else is said.
 */
#include "clr/method.h"
#include "clr/type.h"

/* RangeSectionMap: levels of 256 pointers, indexed by these bits of the address. */
#define MAP_LEVELS      5u
#define MAP_FIRST_SHIFT 49u
#define MAP_LEVEL_BITS  8u
#define FRAGMENTS_MAX   1024u

/* RangeSection. */
#define SECTION_BEGIN  0u
#define SECTION_END    8u
#define SECTION_MODULE 32u
#define SECTION_HEAP   40u

/* CodeHeapListNode, and the nibble map: 4 bits for 32 bytes of code, 8 of them in a u32. */
#define HEAP_MAP_BASE    32u
#define HEAP_HEADER_MAP  40u
#define NIBBLE_BYTES     32u
#define NIBBLES_PER_UNIT 8u
#define NIBBLE_STEP      4u
#define UNITS_MAX        1048576u /* of one method: 256 MiB of code */

/* Before a method's code: the address of its RealCodeHeader, or the kind of a stub (<= 15). */
#define STUB_KIND_LAST     15u
#define HEADER_METHOD_DESC 24u

/* ReadyToRunInfo: RUNTIME_FUNCTION table; HashMap of entry points. */
#define R2R_FUNCTIONS      80u
#define R2R_FUNCTION_COUNT 88u
#define FUNCTION_SIZE      12u
#define FUNCLETS_MAX       64u
#define HASH_BUCKETS       16u
#define BUCKET_SIZE        64u
#define BUCKET_SLOTS       4u
#define BUCKETS_MAX        4194304u

struct section {
	uint64_t begin, end, module, heap;
};

static bool read_section(struct clr *clr, uint64_t address, struct section *ret)
{
	return memory_u64(clr->memory, address + SECTION_BEGIN, &ret->begin) &&
	       memory_u64(clr->memory, address + SECTION_END, &ret->end) &&
	       memory_u64(clr->memory, address + SECTION_MODULE, &ret->module) &&
	       memory_u64(clr->memory, address + SECTION_HEAP, &ret->heap);
}

/* The section of @p code; the low bit of every pointer on the way is a flag. */
static bool find_section(struct clr *clr, uint64_t code, struct section *ret)
{
	uint64_t at;
	if (!clr->dac_count || !memory_u64(clr->memory, clr->dac_table, &at))
		return false;
	for (unsigned int i = 0; i < MAP_LEVELS; i++) {
		unsigned int shift = MAP_FIRST_SHIFT - i * MAP_LEVEL_BITS;
		if (!memory_u64(clr->memory, at + 8 * (code >> shift & 0xff), &at) || !(at & ~1ull))
			return false;
		at &= ~1ull;
	}
	for (unsigned int i = 0; at && i < FRAGMENTS_MAX; i++) {
		uint64_t row[4]; /* next, begin, end, section */
		if (!memory_read(clr->memory, at, row, sizeof(row)))
			return false;
		if (code >= row[1] && code < row[2]) {
			return read_section(clr, row[3], ret) && code >= ret->begin &&
			       code < ret->end;
		}
		at = row[0] & ~1ull;
	}
	return false;
}

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

/* From 10 on a unit whose lowest nibble is above 8 holds a method's start itself. */
static bool is_pointer(const struct clr *clr, uint32_t unit, uint64_t *ret)
{
	if (clr->major < 10 || (unit & 0xf) <= 8)
		return false;
	*ret = (unit & ~0xfu) + ((unit & 0xf) - 9) * (uint64_t)NIBBLE_STEP;
	return true;
}

/* Offset of the method that begins at or before @p offset, both from the map's base. */
static bool find_start(struct clr *clr, uint64_t map, uint64_t offset, uint64_t *ret)
{
	uint64_t nibble = offset / NIBBLE_BYTES, index = nibble / NIBBLES_PER_UNIT;
	unsigned int last = (unsigned int)(nibble % NIBBLES_PER_UNIT);
	uint32_t unit;
	if (!memory_u32(clr->memory, map + 4 * index, &unit))
		return false;
	if (is_pointer(clr, unit, ret))
		return *ret <= offset;
	uint64_t exact;
	if (last_start(unit, index, last, &exact)) {
		/* The one in the same 32 bytes may begin behind the address. */
		if (exact > offset && !(last && last_start(unit, index, last - 1, &exact)))
			exact = UINT64_MAX;
		if (exact <= offset) {
			*ret = exact;
			return true;
		}
	}
	for (unsigned int i = 0; index-- > 0 && i < UNITS_MAX; i++) {
		if (!memory_u32(clr->memory, map + 4 * index, &unit))
			return false;
		if (is_pointer(clr, unit, ret))
			return true;
		if (last_start(unit, index, NIBBLES_PER_UNIT - 1, ret))
			return true;
		if (clr->major >= 10)
			return false;
	}
	return false;
}

/* Code of the JIT. */
static bool jitted_method(struct clr *clr, const struct section *section, uint64_t code,
			  uint64_t *ret)
{
	uint64_t base, map, start, header;
	return section->heap && memory_u64(clr->memory, section->heap + HEAP_MAP_BASE, &base) &&
	       memory_u64(clr->memory, section->heap + HEAP_HEADER_MAP, &map) && code >= base &&
	       find_start(clr, map, code - base, &start) &&
	       memory_u64(clr->memory, base + start - 8, &header) && header > STUB_KIND_LAST &&
	       memory_u64(clr->memory, header + HEADER_METHOD_DESC, ret);
}

/* Begin of the last RUNTIME_FUNCTION at or before @p rva, and of one FUNCLETS_MAX before it. */
static bool find_function(struct clr *clr, uint64_t functions, uint32_t count, uint64_t rva,
			  uint32_t *ret_begin, uint32_t *ret_lowest)
{
	uint32_t low = 0, high = count, begin;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (!memory_u32(clr->memory, functions + FUNCTION_SIZE * (uint64_t)middle, &begin))
			return false;
		if (begin <= rva) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (!low)
		return false;
	uint32_t index = low - 1, lowest = index > FUNCLETS_MAX ? index - FUNCLETS_MAX : 0, end;
	uint64_t row = functions + FUNCTION_SIZE * (uint64_t)index;
	return memory_u32(clr->memory, row, ret_begin) && memory_u32(clr->memory, row + 4, &end) &&
	       (!end || rva < end) &&
	       memory_u32(clr->memory, functions + FUNCTION_SIZE * (uint64_t)lowest, ret_lowest);
}

/*
 * The entry point nearest to @p code from below, down to @p lowest: what follows a method's own
 * function are its funclets.  Values of the HashMap are shifted right by one.
 */
static bool find_entry(struct clr *clr, uint64_t map, uint64_t lowest, uint64_t code, uint64_t *ret)
{
	uint64_t buckets, best = 0;
	uint32_t count;
	if (!memory_u64(clr->memory, map + HASH_BUCKETS, &buckets) ||
	    !memory_u32(clr->memory, buckets, &count) || count > BUCKETS_MAX)
		return false;
	for (uint32_t i = 1; i <= count; i++) {
		uint64_t row[2 * BUCKET_SLOTS]; /* keys, values */
		if (!memory_read(clr->memory, buckets + BUCKET_SIZE * (uint64_t)i, row,
				 sizeof(row)))
			return false;
		for (unsigned int k = 0; k < BUCKET_SLOTS; k++) {
			if (row[k] >= lowest && row[k] <= code && row[k] > best) {
				best = row[k];
				*ret = row[BUCKET_SLOTS + k] << 1;
			}
		}
	}
	return best != 0;
}

/* Module.ReadyToRunInfo, and its map of entry points. */
static bool ready_to_run_offsets(const struct clr *clr, uint64_t *ret_info, uint64_t *ret_map)
{
	static const struct {
		unsigned int major;
		uint64_t info, map;
	} known[] = { { 8, 1152, 432 }, { 9, 984, 432 }, { 10, 704, 360 } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].major == clr->major) {
			*ret_info = known[i].info;
			*ret_map = known[i].map;
			return true;
		}
	}
	return false;
}

/* Code that was compiled ahead of time. */
static bool precompiled_method(struct clr *clr, const struct section *section, uint64_t code,
			       uint64_t *ret)
{
	uint64_t info_offset, map_offset, info, functions;
	uint32_t count, begin, lowest;
	return ready_to_run_offsets(clr, &info_offset, &map_offset) &&
	       memory_u64(clr->memory, section->module + info_offset, &info) && info &&
	       memory_u64(clr->memory, info + R2R_FUNCTIONS, &functions) &&
	       memory_u32(clr->memory, info + R2R_FUNCTION_COUNT, &count) &&
	       find_function(clr, functions, count, code - section->begin, &begin, &lowest) &&
	       find_entry(clr, info + map_offset, section->begin + lowest, section->begin + begin,
			  ret);
}

/*
 * A precode (thunktemplates.S): FixupPrecode is jmp [rip+a]; mov r10, [rip+b]; ..., StubPrecode
 * mov r10, [rip+b]; jmp [rip+c].  What is loaded into r10 is the MethodDesc.
 */
static bool precode_method(struct clr *clr, uint64_t code, uint64_t *ret)
{
	uint8_t bytes[13];
	size_t at = 0, size = memory_prefix(clr->memory, code, bytes, sizeof(bytes));
	if (size == sizeof(bytes) && bytes[0] == 0xff && bytes[1] == 0x25)
		at = 6;
	if (size < at + 7 || bytes[at] != 0x4c || bytes[at + 1] != 0x8b || bytes[at + 2] != 0x15)
		return false;
	int64_t displacement = (int32_t)load_u32(bytes + at + 3);
	return memory_u64(clr->memory, code + at + 7 + (uint64_t)displacement, ret);
}

bool clr_method_at(struct clr *clr, uint64_t code, uint64_t *ret_method_desc)
{
	struct section section;
	uint64_t method_desc = 0;
	char name[8];
	bool found = find_section(clr, code, &section) &&
		     (section.module ? precompiled_method(clr, &section, code, &method_desc)
				     : jitted_method(clr, &section, code, &method_desc));
	if (!found && !precode_method(clr, code, &method_desc))
		return false;
	if (!clr_method_name(clr, method_desc, name, sizeof(name), NULL))
		return false;
	*ret_method_desc = method_desc;
	return true;
}
