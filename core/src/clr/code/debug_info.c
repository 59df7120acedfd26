/* SPDX-License-Identifier: MIT */
/*
 * What the JIT and ReadyToRun images keep about where the code of each piece of IL begins
 * (doc/coreclr.md 12.13; debuginfostore.cpp, patchpointinfo.h, nativeformatreader.h).
 */
#include "clr/code/debug_info.h"

#include "clr/features.h"
#include "clr/internal.h"
#include "clr/layouts/ready_to_run.h"
#include "mem/memory.h"

/* Flags at the beginning of a blob of the JIT. */
#define FLAG_PATCHPOINT 1u
#define FLAG_RICH       2u

/* PatchpointInfo: registers, since 10 an entry point, u32 number of locals, five u32, locals. */
#define PATCHPOINT_FIRST  8u
#define PATCHPOINT_ENTRY  8u
#define PATCHPOINT_REST   24u
#define PATCHPOINT_LOCALS 0x100000u

/* IL offsets are stored with this number added; the last three have no IL of their own. */
#define IL_BIAS       3u
#define IL_NO_MAPPING 0xffffffffu
#define IL_PROLOG     0xfffffffeu
#define IL_EPILOG     0xfffffffdu

#define SIZES_FOLLOW 0xffffffffu

/* NativeArray: elements in each tree. */
#define TREE_SIZE 16u

#define READER_SIZE 256u

/* Bytes one after the other. */
struct reader {
	struct memory *memory;
	uint64_t at;      /**< address of the next byte */
	uint64_t end;     /**< no byte is read from here on */
	uint64_t *budget; /**< bytes that may still be read */
	uint64_t begin;   /**< address of bytes[0] */
	size_t size;      /**< bytes that are there */
	uint32_t part;    /**< of a byte that was only partly taken: its bits that are left */
	uint8_t part_bits;
	bool failed;
	uint8_t bytes[READER_SIZE];
};

static uint8_t take_byte(struct reader *reader)
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

static uint32_t take_u32(struct reader *reader)
{
	uint32_t value = 0;
	for (unsigned int i = 0; i < 4; i++)
		value |= (uint32_t)take_byte(reader) << (8 * i);
	return value;
}

/* The next @p count bits (at most 32), the lowest first. */
static uint32_t take_bits(struct reader *reader, unsigned int count)
{
	uint64_t value = 0;
	unsigned int got = 0;
	while (got < count && !reader->failed) {
		if (!reader->part_bits) {
			reader->part = take_byte(reader);
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

/* A number of nibbles with three bits each, the most significant ones first. */
static uint32_t take_number(struct reader *reader)
{
	uint32_t value = 0, nibble;
	do {
		nibble = take_bits(reader, 4);
		reader->failed |= value >> 29 != 0;
		value = value << 3 | (nibble & 7);
	} while (nibble & 8 && !reader->failed);
	return value;
}

/* An unsigned number of the native format: the low bits of the first byte say how many follow. */
static uint32_t take_native(struct reader *reader)
{
	uint32_t value = take_byte(reader);
	unsigned int more = 0;
	while (more < 4 && value >> more & 1)
		more++;
	if (more == 4)
		return take_u32(reader);
	value >>= more + 1;
	for (unsigned int i = 0; i < more; i++)
		value |= (uint32_t)take_byte(reader) << (8 * i + 7 - more);
	return value;
}

static void move_to(struct reader *reader, uint64_t address)
{
	reader->at = address;
	reader->part_bits = 0;
}

/* Find element @p index of the NativeArray at @p reader->at; the reader is then there. */
static bool find_element(struct reader *reader, uint32_t index)
{
	uint32_t head = take_native(reader);
	uint32_t width = 1u << (head & 3);
	if (reader->failed || index >= head >> 2 || (head & 3) == 3)
		return false;
	uint64_t table = reader->at;
	uint32_t offset = 0;
	move_to(reader, table + (uint64_t)width * (index / TREE_SIZE));
	for (uint32_t i = 0; i < width; i++)
		offset |= (uint32_t)take_byte(reader) << (8 * i);
	uint64_t at = table + offset;
	for (uint32_t bit = TREE_SIZE / 2; bit; bit >>= 1) {
		move_to(reader, at);
		uint32_t value = take_native(reader);
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
	move_to(reader, at);
	return true;
}

/* Move to the blob of a method of a ReadyToRun image. */
static bool find_r2r_blob(struct clr *clr, const struct code_info *code, struct reader *reader,
			  bool *ret_is_packed)
{
	uint64_t info, header;
	uint32_t rva, size;
	uint16_t major;
	if (!clr_pointer(clr, code->module, L_MODULE_R2R, &info) || !info ||
	    !clr_pointer(clr, info, L_R2R_HEADER, &header) ||
	    !clr_r2r_section(clr, header, R2R_DEBUG_INFO, &rva, &size) ||
	    !memory_u16(clr->memory, header + R2R_MAJOR, &major))
		return false;
	uint64_t begin = code->image_base + rva;
	move_to(reader, begin);
	reader->end = begin + size;
	if (!find_element(reader, code->function_index))
		return false;
	uint64_t element = reader->at;
	uint32_t back = take_native(reader);
	if (reader->failed || back > element - begin)
		return false;
	if (back)
		move_to(reader, element - back);
	*ret_is_packed = major >= R2R_PACKED_MAJOR;
	return true;
}

/* Move to the blob of a method of the JIT, after its flags and what belongs to them. */
static bool find_jit_blob(struct clr *clr, const struct code_info *code, struct reader *reader)
{
	uint64_t header, blob;
	if (!memory_u64(clr->memory, code->start - 8, &header) ||
	    !memory_u64(clr->memory, header, &blob) || !blob)
		return false;
	reader->end = UINT64_MAX;
	move_to(reader, blob);
	uint8_t flags = take_byte(reader);
	if (flags & ~(FLAG_PATCHPOINT | FLAG_RICH))
		return false;
	if (flags & FLAG_PATCHPOINT) {
		uint64_t locals =
			PATCHPOINT_FIRST + (clr_has(clr, CLR_PACKED_BOUNDS) ? PATCHPOINT_ENTRY : 0);
		uint64_t begin = reader->at;
		move_to(reader, begin + locals);
		uint32_t count = take_u32(reader);
		if (count > PATCHPOINT_LOCALS)
			return false;
		move_to(reader, begin + locals + PATCHPOINT_REST + 4 * (uint64_t)count);
	}
	if (flags & FLAG_RICH) {
		uint32_t size = take_u32(reader);
		move_to(reader, reader->at + size);
	}
	return !reader->failed;
}

/* Move to the bounds, which end where the reader does then. */
static bool find_bounds(struct reader *reader, bool is_packed)
{
	uint32_t size = take_number(reader);
	if (is_packed && size == SIZES_FOLLOW) {
		size = take_number(reader);
		(void)take_number(reader);
	}
	(void)take_number(reader); /* variables */
	reader->part_bits = 0;
	if (size < reader->end - reader->at)
		reader->end = reader->at + size;
	return !reader->failed && size;
}

/* The bounds while they are read, up to a place in the code. */
struct bounds {
	uint32_t offset; /**< the place */
	uint32_t native; /**< where the last one begins */
	uint32_t il;     /**< of the last one at or before the place; IL_NO_MAPPING: none */
	bool is_past;
};

static void take_bound(struct reader *reader, struct bounds *bounds, uint32_t step, uint32_t il)
{
	reader->failed |= step > UINT32_MAX - bounds->native;
	bounds->native += step;
	bounds->is_past = reader->failed || bounds->native > bounds->offset;
	if (bounds->is_past)
		return;
	il -= IL_BIAS;
	/* The epilog belongs to the IL before it. */
	if (il != IL_EPILOG)
		bounds->il = il == IL_PROLOG ? 0 : il;
}

static bool read_bounds(struct reader *reader, bool is_packed, struct bounds *bounds)
{
	uint32_t count = take_number(reader);
	unsigned int native_bits = 0, il_bits = 0;
	if (is_packed) {
		native_bits = take_number(reader) + 1;
		il_bits = take_number(reader) + 1;
		reader->part_bits = 0;
		if (native_bits > 32 || il_bits > 32)
			return false;
	}
	for (uint32_t i = 0; i < count && !bounds->is_past; i++) {
		if (is_packed)
			(void)take_bits(reader, 2);
		uint32_t step = is_packed ? take_bits(reader, native_bits) : take_number(reader);
		uint32_t il = is_packed ? take_bits(reader, il_bits) : take_number(reader);
		if (!is_packed)
			(void)take_number(reader);
		take_bound(reader, bounds, step, il);
	}
	return !reader->failed;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the reader counts it down */
bool clr_il_at(struct clr *clr, const struct code_info *code, uint64_t place, uint64_t *budget,
	       uint32_t *ret)
{
	struct reader reader = { .memory = clr->memory, .budget = budget };
	struct bounds bounds = { .il = IL_NO_MAPPING };
	bool is_packed = clr_has(clr, CLR_PACKED_BOUNDS);
	if (!clr_has(clr, CLR_DEBUG_FLAGS) || place < code->start ||
	    place - code->start > UINT32_MAX)
		return false;
	bounds.offset = (uint32_t)(place - code->start);
	if (!(code->is_precompiled ? find_r2r_blob(clr, code, &reader, &is_packed)
				   : find_jit_blob(clr, code, &reader)) ||
	    !find_bounds(&reader, is_packed) || !read_bounds(&reader, is_packed, &bounds) ||
	    bounds.il == IL_NO_MAPPING)
		return false;
	*ret = bounds.il;
	return true;
}
