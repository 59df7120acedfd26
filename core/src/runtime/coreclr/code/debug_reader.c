/* SPDX-License-Identifier: MIT */
/* Where the debug info of a method lies, and its numbers (doc/coreclr.md 12.13; debuginfostore.cpp,
 * patchpointinfo.h, nativeformatreader.h).
 */
#include "runtime/coreclr/code/debug_reader.h"

#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/ready_to_run.h"

/* Flags at the beginning of a blob of the JIT. */
#define FLAG_PATCHPOINT 1u
#define FLAG_RICH       2u

/* PatchpointInfo: registers, since 10 an entry point, u32 number of locals, five u32, locals. */
#define PATCHPOINT_FIRST  8u
#define PATCHPOINT_ENTRY  8u
#define PATCHPOINT_REST   24u
#define PATCHPOINT_LOCALS 0x100000u

#define SIZES_FOLLOW 0xffffffffu

/* The parts of a blob of 11, in their order. */
enum {
	PART_BOUNDS,
	PART_VARIABLES,
	PART_SLIM_COUNT,
	PART_UNINSTRUMENTED = PART_SLIM_COUNT,
	PART_PATCHPOINT,
	PART_RICH,
	PART_ASYNC,
	PART_COUNT,
};

/* NativeArray: elements in each tree. */
#define TREE_SIZE 16u

uint8_t debug_byte(struct debug_reader *reader)
{
	if (reader->failed || reader->at >= reader->end || !*reader->budget) {
		reader->failed = true;
		return 0;
	}
	if (reader->at - reader->begin >= reader->size) {
		reader->begin = reader->at;
		reader->size = memory_prefix(reader->memory, reader->at, reader->bytes,
					     sizeof(reader->bytes));
		if (!reader->size) {
			reader->failed = true;
			return 0;
		}
	}
	--*reader->budget;
	return reader->bytes[reader->at++ - reader->begin];
}

static uint32_t take_u32(struct debug_reader *reader)
{
	uint32_t value = 0;
	for (unsigned int i = 0; i < 4; i++)
		value |= (uint32_t)debug_byte(reader) << (8 * i);
	return value;
}

uint32_t debug_bits(struct debug_reader *reader, unsigned int count)
{
	uint64_t value = 0;
	unsigned int got = 0;
	while (got < count && !reader->failed) {
		if (!reader->part_bits) {
			reader->part = debug_byte(reader);
			reader->part_bits = 8;
		}
		unsigned int part =
			count - got < reader->part_bits ? count - got : reader->part_bits;
		value |= (uint64_t)(reader->part & ((1u << part) - 1)) << got;
		reader->part >>= part;
		reader->part_bits = (uint8_t)(reader->part_bits - part);
		got += part;
	}
	return (uint32_t)value;
}

uint32_t debug_number(struct debug_reader *reader)
{
	uint32_t value = 0, nibble;
	do {
		nibble = debug_bits(reader, 4);
		reader->failed |= value >> 29 != 0;
		value = value << 3 | (nibble & 7);
	} while (nibble & 8 && !reader->failed);
	return value;
}

uint32_t native_number(struct debug_reader *reader)
{
	uint32_t value = debug_byte(reader);
	unsigned int more = 0;
	while (more < 4 && value >> more & 1)
		more++;
	if (more == 4)
		return take_u32(reader);
	value >>= more + 1;
	for (unsigned int i = 0; i < more; i++)
		value |= (uint32_t)debug_byte(reader) << (8 * i + 7 - more);
	return value;
}

static void debug_move(struct debug_reader *reader, uint64_t address)
{
	reader->at = address;
	reader->part_bits = 0;
}

bool native_array_find(struct debug_reader *reader, uint32_t index)
{
	uint32_t head = native_number(reader);
	uint32_t width = 1u << (head & 3);
	if (reader->failed || index >= head >> 2 || (head & 3) == 3)
		return false;
	uint64_t table = reader->at;
	uint32_t offset = 0;
	debug_move(reader, table + (uint64_t)width * (index / TREE_SIZE));
	for (uint32_t i = 0; i < width; i++)
		offset |= (uint32_t)debug_byte(reader) << (8 * i);
	uint64_t at = table + offset;
	for (uint32_t bit = TREE_SIZE / 2; bit; bit >>= 1) {
		debug_move(reader, at);
		uint32_t value = native_number(reader);
		if (reader->failed)
			return false;
		if (index & bit && value & 2) {
			at += value >> 2;
		} else if (!(index & bit) && value & 1) {
			at = reader->at;
		} else {
			return !(value & 3) && value >> 2 == index % TREE_SIZE;
		}
	}
	debug_move(reader, at);
	return true;
}

/* Move to the blob of a method of a ReadyToRun image. */
static bool find_r2r_blob(struct runtime *runtime, const struct code_info *code,
			  struct debug_reader *reader, enum debug_format *format)
{
	uint64_t info, header;
	uint32_t rva, size;
	uint16_t major;
	if (!coreclr_pointer(runtime, code->module, L_MODULE_R2R, &info) || !info ||
	    !coreclr_pointer(runtime, info, L_R2R_HEADER, &header) ||
	    !coreclr_r2r_section(runtime, header, R2R_DEBUG_INFO, &rva, &size) ||
	    !memory_u16(runtime->memory, header + R2R_MAJOR, &major))
		return false;
	uint64_t begin = code->image_base + rva;
	debug_move(reader, begin);
	reader->end = begin + size;
	if (!native_array_find(reader, code->function_index))
		return false;
	uint64_t element = reader->at;
	uint32_t back = native_number(reader);
	if (reader->failed || back > element - begin)
		return false;
	if (back)
		debug_move(reader, element - back);
	/* 8 to 10 take images of older releases, too; 11 takes only its own. */
	if (*format != DEBUG_SIZED)
		*format = major >= R2R_PACKED_MAJOR ? DEBUG_PACKED : DEBUG_LOOSE;
	return true;
}

/* Move to the blob of a method of the JIT, after its flags and what belongs to them. */
static bool find_jit_blob(struct runtime *runtime, const struct code_info *code,
			  struct debug_reader *reader)
{
	uint64_t header, blob;
	if (!memory_u64(runtime->memory, code->start - 8, &header) ||
	    !coreclr_pointer(runtime, header, L_CODE_HEADER_DEBUG_INFO, &blob) || !blob)
		return false;
	reader->end = UINT64_MAX;
	debug_move(reader, blob);
	if (!coreclr_has(runtime, CORECLR_DEBUG_FLAGS))
		return true;
	uint8_t flags = debug_byte(reader);
	if (flags & ~(FLAG_PATCHPOINT | FLAG_RICH))
		return false;
	if (flags & FLAG_PATCHPOINT) {
		uint64_t locals =
			PATCHPOINT_FIRST +
			(coreclr_has(runtime, CORECLR_PACKED_BOUNDS) ? PATCHPOINT_ENTRY : 0);
		uint64_t begin = reader->at;
		debug_move(reader, begin + locals);
		uint32_t count = take_u32(reader);
		if (count > PATCHPOINT_LOCALS)
			return false;
		debug_move(reader, begin + locals + PATCHPOINT_REST + 4 * (uint64_t)count);
	}
	if (flags & FLAG_RICH) {
		uint32_t size = take_u32(reader);
		debug_move(reader, reader->at + size);
	}
	return !reader->failed;
}

/* The sizes in front of the parts. */
static bool take_sizes(struct debug_reader *reader, struct debug_parts *parts)
{
	uint64_t size = debug_number(reader), skipped = 0;
	if (parts->format == DEBUG_PACKED && size == SIZES_FOLLOW) {
		size = debug_number(reader);
		skipped = debug_number(reader);
	}
	uint64_t variables = debug_number(reader);
	uint64_t left = reader->end - reader->at;
	if (reader->failed || left < size)
		return false;
	parts->bounds = reader->at;
	parts->bounds_end = parts->bounds + size;
	left -= size;
	skipped = skipped < left ? skipped : left;
	left -= skipped;
	parts->variables = parts->bounds_end + skipped;
	parts->variables_end = parts->variables + (variables < left ? variables : left);
	return true;
}

/* The sizes of 11: of the first two parts (SLIM), or a 0 and the sizes of all (FAT). */
static bool take_all_sizes(struct debug_reader *reader, struct debug_parts *parts)
{
	uint64_t sizes[PART_COUNT] = { debug_number(reader) }, places[PART_COUNT + 1];
	bool is_fat = !sizes[PART_BOUNDS];
	for (unsigned int i = is_fat ? 0 : 1; i < (is_fat ? PART_COUNT : PART_SLIM_COUNT); i++)
		sizes[i] = debug_number(reader);
	if (reader->failed)
		return false;
	places[0] = reader->at;
	for (unsigned int i = 0; i < PART_COUNT; i++) {
		if (sizes[i] > reader->end - places[i])
			return false;
		places[i + 1] = places[i] + sizes[i];
	}
	parts->bounds = places[PART_BOUNDS];
	parts->bounds_end = places[PART_BOUNDS + 1];
	parts->variables = places[PART_VARIABLES];
	parts->variables_end = places[PART_VARIABLES + 1];
	parts->async = places[PART_ASYNC];
	parts->async_end = places[PART_ASYNC + 1];
	return true;
}

bool debug_parts_find(struct runtime *runtime, const struct code_info *code,
		      struct debug_reader *reader, struct debug_parts *ret)
{
	struct debug_parts parts = { .format = coreclr_has(runtime, CORECLR_DEBUG_SIZES)
						       ? DEBUG_SIZED
					       : coreclr_has(runtime, CORECLR_PACKED_BOUNDS)
						       ? DEBUG_PACKED
						       : DEBUG_LOOSE };
	if ((!coreclr_has(runtime, CORECLR_DEBUG_FLAGS) && parts.format != DEBUG_SIZED) ||
	    !(code->is_precompiled ? find_r2r_blob(runtime, code, reader, &parts.format)
				   : find_jit_blob(runtime, code, reader)) ||
	    !(parts.format == DEBUG_SIZED ? take_all_sizes(reader, &parts)
					  : take_sizes(reader, &parts)))
		return false;
	*ret = parts;
	return true;
}

void debug_set(struct debug_reader *reader, uint64_t begin, uint64_t end)
{
	debug_move(reader, begin);
	reader->end = end;
}
