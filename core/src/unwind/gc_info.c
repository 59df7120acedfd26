/* SPDX-License-Identifier: MIT */
/*
 * GCInfo of AMD64 (doc/coreclr.md 12.5; inc/gcinfotypes.h, gcinfoencoder.cpp, vm/gcinfodecoder.cpp): a header, offsets
 * of safe points (return addresses of calls), interruptible ranges of the code, a table of slots,
 * and for each safe point, or each 64 bytes of the ranges, which of these slots are live.
 *
 * Versions: before 4, the header has the kind of the return value, and the offset in a caller's
 * frame, also that of a safe point, is the return address minus one.  Other processors differ by their gc_info_encoding.
 */
#include "unwind/gc_info.h"

#include "arch/gc_info_encoding.h"
#include "unwind/gc_bits.h"
#include "util/alloc.h"

/* Header: a bit says whether it is slim (one flag follows) or fat (all flags follow). */
#define VERSION_LAST          5u
#define FLAGS_BITS            10u
#define FLAG_GS_COOKIE        0x004u
#define FLAG_PSP_SYM          0x008u
#define FLAG_GENERICS_CONTEXT 0x030u /* enum gc_context_kind, times this: */
#define FLAG_CONTEXT_ONE      0x010u
#define FLAG_FRAME_REGISTER   0x040u
#define FLAG_ONLY_LEAF        0x080u
#define FLAG_EDIT_CONTINUE    0x100u
#define FLAG_REVERSE_PINVOKE  0x200u

/* Live states are written for chunks of ranges. */
#define RANGE_CHUNK_LOG2 6u
#define RANGE_CHUNK_SIZE 64u

#define CODE_LENGTH_MAX  (1u << 28)
#define STACK_OFFSET_MAX (1 << 28) /* slots of 8 bytes */

/* While slots are decoded: flags above GC_SLOT_*. */
#define SLOT_MAYBE 0x40u
#define SLOT_LIVE  0x80u

struct decoder {
	struct gc_bits bits;
	const struct gc_info_query *query;
	struct gc_info *info;
	uint32_t offset;    /* that is looked up */
	unsigned int shift; /* offsets and lengths are written without so many bits */
	bool has_scratch;   /* scratch registers and stack are live */
	bool is_slim;
	uint32_t safe_points, ranges;
	uint32_t safe_point;                 /* index of the safe point at offset; safe_points =
					      * none */
	uint64_t range_offset, range_length; /* position of offset in the ranges put together; their
					      * total length */
	uint32_t tracked, untracked;
};

/* A number that is written in chunks; one with a sign; one of a fixed size. */
static uint32_t read_number(struct decoder *decoder, enum gc_info_number number)
{
	return gc_bits_unsigned(&decoder->bits, decoder->query->arch->gc_info->bits[number]);
}

static int32_t read_signed(struct decoder *decoder, enum gc_info_number number)
{
	return gc_bits_signed(&decoder->bits, decoder->query->arch->gc_info->bits[number]);
}

static uint32_t read_field(struct decoder *decoder, enum gc_info_number number)
{
	return gc_bits_read(&decoder->bits, decoder->query->arch->gc_info->bits[number]);
}

/* The place of a stack slot, in bytes. */
static int32_t read_place(struct decoder *decoder)
{
	int32_t slot = read_signed(decoder, GC_INFO_STACK_SLOT);
	return slot > -STACK_OFFSET_MAX && slot < STACK_OFFSET_MAX ? slot * 8 : GC_INFO_NO_PLACE;
}

/* The parts that exist according to @p flags: where the cookie, contexts and frames lie. */
static void read_places(struct decoder *decoder, uint32_t flags)
{
	struct gc_info_places *places = &decoder->info->places;
	unsigned int shift = decoder->query->arch->gc_info->code_shift;
	if (flags & (FLAG_GS_COOKIE | FLAG_GENERICS_CONTEXT))
		places->prologue = (read_number(decoder, GC_INFO_PROLOGUE) + 1) << shift;
	if (flags & FLAG_GS_COOKIE) {
		places->epilogue = read_number(decoder, GC_INFO_EPILOGUE) << shift;
		places->cookie = read_place(decoder);
	}
	if (flags & FLAG_PSP_SYM)
		places->psp_symbol = read_place(decoder);
	if (flags & FLAG_GENERICS_CONTEXT) {
		places->context_kind =
			(uint8_t)((flags & FLAG_GENERICS_CONTEXT) / FLAG_CONTEXT_ONE);
		places->context = read_place(decoder);
	}
}

static void read_gc_info_header(struct decoder *decoder)
{
	struct gc_bits *bits = &decoder->bits;
	struct gc_info *info = decoder->info;
	const struct gc_info_encoding *encoding = decoder->query->arch->gc_info;
	uint32_t flags;
	decoder->is_slim = !gc_bits_bit(bits);
	if (decoder->is_slim) {
		flags = gc_bits_bit(bits) ? FLAG_FRAME_REGISTER : 0;
	} else {
		flags = gc_bits_read(bits, FLAGS_BITS);
	}
	if (decoder->query->version < 4) {
		(void)read_field(decoder, decoder->is_slim ? GC_INFO_RETURN_KIND_SLIM
							   : GC_INFO_RETURN_KIND_FAT);
	}
	info->code_length = read_number(decoder, GC_INFO_CODE_LENGTH);
	decoder->shift = encoding->code_shift;
	/* Before version 4, only the length is written without the bits that are always 0. */
	if (decoder->query->version < 4 && info->code_length <= CODE_LENGTH_MAX) {
		info->code_length <<= decoder->shift;
		decoder->shift = 0;
	}
	info->wants_only_leaf = encoding->wants_only_leaf || (flags & FLAG_ONLY_LEAF);
	read_places(decoder, flags);
	info->frame_register = ARCH_NONE;
	if (flags & FLAG_FRAME_REGISTER) {
		uint32_t number =
			decoder->is_slim ? 0 : read_number(decoder, GC_INFO_FRAME_REGISTER);
		if (number > encoding->register_last)
			bits->failed = true;
		info->frame_register = (uint8_t)(number ^ encoding->frame_register_xor);
	}
	for (uint8_t i = 0; (flags & FLAG_EDIT_CONTINUE) && i < encoding->edit_continue_numbers;
	     i++)
		(void)read_number(decoder, GC_INFO_EDIT_CONTINUE);
	if (flags & FLAG_REVERSE_PINVOKE)
		info->places.native_caller = read_place(decoder);
	if (!decoder->is_slim) {
		uint32_t area = read_number(decoder, GC_INFO_STACK_AREA);
		info->places.argument_bytes = area < STACK_OFFSET_MAX ? 8 * area : 0;
	}
	decoder->safe_points = read_number(decoder, GC_INFO_SAFE_POINTS);
	decoder->ranges = decoder->is_slim ? 0 : read_number(decoder, GC_INFO_RANGES);
	/* Each means a different byte of the code. */
	if (!info->code_length || info->code_length > CODE_LENGTH_MAX ||
	    decoder->safe_points > info->code_length || decoder->ranges > info->code_length)
		bits->failed = true;
}

/* How many bits an offset into @p length bytes has. */
static unsigned int offset_bits(uint32_t length)
{
	return length > 1 ? 32 - (unsigned int)__builtin_clz(length - 1) : 0;
}

/* Find @p offset among the safe points, which ascend, and go past them. */
static uint32_t find_safe_point(struct decoder *decoder, uint64_t table, uint32_t offset)
{
	struct gc_bits *bits = &decoder->bits;
	unsigned int width = offset_bits(decoder->info->code_length);
	uint32_t low = 0, high = decoder->safe_points;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		gc_bits_seek(bits, table + (uint64_t)middle * width);
		if (gc_bits_read(bits, width) < offset) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	gc_bits_seek(bits, table + (uint64_t)low * width);
	bool found = low < decoder->safe_points && gc_bits_read(bits, width) == offset;
	gc_bits_seek(bits, table + (uint64_t)decoder->safe_points * width);
	return found ? low : decoder->safe_points;
}

/* The next range; both ends are written as distances. */
static bool next_range(struct decoder *decoder, struct gc_info_range *range)
{
	uint64_t begin = (uint64_t)range->end + read_number(decoder, GC_INFO_RANGE_DELTA),
		 end = begin + read_number(decoder, GC_INFO_RANGE_DELTA) + 1;
	if (decoder->bits.failed || end > decoder->info->code_length) {
		decoder->bits.failed = true;
		return false;
	}
	*range = (struct gc_info_range){ (uint32_t)begin, (uint32_t)end };
	return true;
}

/* Interruptible ranges: find the position of the offset in the ranges put together. */
static void read_ranges(struct decoder *decoder)
{
	struct gc_info_range range = { 0 };
	for (uint32_t i = 0; i < decoder->ranges && next_range(decoder, &range); i++) {
		if (decoder->offset >= range.begin && decoder->offset < range.end) {
			decoder->info->is_interruptible = true;
			decoder->range_offset =
				decoder->range_length + decoder->offset - range.begin;
		}
		decoder->range_length += range.end - range.begin;
	}
}

/* Find out what the offset is: in a range, a safe point, or neither. */
static void find_offset(struct decoder *decoder)
{
	const struct gc_info_query *query = decoder->query;
	bool has_old_offsets = query->version < 4;
	uint64_t table = decoder->bits.position;
	unsigned int shift = decoder->shift;
	decoder->offset = query->offset >> shift;
	decoder->has_scratch = query->is_active;
	/* A call that throws does not count as active: its arguments are dead (checked with 9). */
	if (has_old_offsets && !query->is_active && !query->is_aborted)
		decoder->offset = (query->offset - 1) >> shift;
	decoder->safe_point = find_safe_point(decoder, table, decoder->offset);
	read_ranges(decoder);
	if (has_old_offsets && query->is_active && !decoder->info->is_interruptible) {
		/* It is stopped after a call (eetwain.cpp, EnumGcRefs). */
		uint64_t behind = decoder->bits.position;
		decoder->safe_point = find_safe_point(decoder, table, (query->offset - 1) >> shift);
		decoder->bits.position = behind;
		/* Since version 3 the information also tells what the call returned. */
		decoder->has_scratch = query->version >= 3;
	}
	decoder->info->is_unknown =
		!decoder->info->is_interruptible && decoder->safe_point == decoder->safe_points;
	if (query->is_aborted)
		decoder->safe_point = decoder->safe_points;
}

static enum gc_info_result add_gc_slot(struct decoder *decoder, const struct gc_slot *slot)
{
	struct gc_info *info = decoder->info;
	if (!PAGES_RESERVE(info, slots))
		return GC_INFO_NOMEM;
	struct gc_slot *added = &info->slots[info->slots_count];
	*added = *slot;
	added->index = (uint32_t)info->slots_count++;
	return GC_INFO_OK;
}

static enum gc_info_result read_register_slots(struct decoder *decoder, uint32_t count)
{
	struct gc_bits *bits = &decoder->bits;
	const struct arch *arch = decoder->query->arch;
	struct gc_slot slot = { .base = GC_SLOT_REGISTER };
	uint64_t number = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!i || slot.flags) {
			number = read_number(decoder, GC_INFO_REGISTER);
			slot.flags = (uint8_t)read_field(decoder, GC_INFO_SLOT_FLAGS);
		} else {
			number += (uint64_t)read_number(decoder, GC_INFO_REGISTER_DELTA) + 1;
		}
		if (bits->failed || number > arch->gc_info->register_last || number == arch->sp)
			return GC_INFO_BAD;
		slot.number = (uint8_t)number;
		enum gc_info_result result = add_gc_slot(decoder, &slot);
		if (result != GC_INFO_OK)
			return result;
	}
	return GC_INFO_OK;
}

static enum gc_info_result read_stack_slots(struct decoder *decoder, uint32_t count,
					    bool is_untracked)
{
	struct gc_bits *bits = &decoder->bits;
	struct gc_slot slot = { .is_untracked = is_untracked };
	int64_t offset = 0;
	for (uint32_t i = 0; i < count; i++) {
		slot.base = (uint8_t)gc_bits_read(bits, 2);
		if (!i || slot.flags) {
			offset = read_signed(decoder, GC_INFO_STACK_SLOT);
			slot.flags = (uint8_t)read_field(decoder, GC_INFO_SLOT_FLAGS);
		} else {
			offset += read_number(decoder, GC_INFO_STACK_SLOT_DELTA);
		}
		if (bits->failed || slot.base == GC_SLOT_REGISTER || offset >= STACK_OFFSET_MAX ||
		    offset <= -STACK_OFFSET_MAX ||
		    (slot.base == GC_SLOT_FRAME_REGISTER &&
		     decoder->info->frame_register == ARCH_NONE))
			return GC_INFO_BAD;
		slot.offset = (int32_t)offset * 8;
		enum gc_info_result result = add_gc_slot(decoder, &slot);
		if (result != GC_INFO_OK)
			return result;
	}
	return GC_INFO_OK;
}

static enum gc_info_result read_slots(struct decoder *decoder)
{
	struct gc_bits *bits = &decoder->bits;
	uint32_t registers = 0, stack = 0, untracked = 0;
	if (gc_bits_bit(bits))
		registers = read_number(decoder, GC_INFO_REGISTERS);
	if (gc_bits_bit(bits)) {
		stack = read_number(decoder, GC_INFO_STACK_SLOTS);
		untracked = read_number(decoder, GC_INFO_UNTRACKED_SLOTS);
	}
	if (bits->failed || (uint64_t)registers + stack + untracked > GC_INFO_SLOTS_MAX)
		return GC_INFO_BAD;
	decoder->tracked = registers + stack;
	decoder->untracked = untracked;
	enum gc_info_result result = read_register_slots(decoder, registers);
	if (result == GC_INFO_OK)
		result = read_stack_slots(decoder, stack, false);
	if (result == GC_INFO_OK)
		result = read_stack_slots(decoder, untracked, true);
	return result;
}

/*
 * A set of tracked slots: give each of them @p flag.  It is a bit for each slot, or runs: first of
 * slots that are not in it, then of slots that are, and so on; the widths of the numbers alternate.
 */
static void read_set(struct decoder *decoder, uint8_t flag, bool can_be_runs)
{
	struct gc_bits *bits = &decoder->bits;
	struct gc_slot *slots = decoder->info->slots;
	uint64_t position = 0;
	if (!can_be_runs || !gc_bits_bit(bits)) {
		for (; position < decoder->tracked; position++)
			slots[position].flags |= gc_bits_bit(bits) ? flag : 0;
		return;
	}
	bool is_wide = !gc_bits_bit(bits), is_in = true;
	position = read_number(decoder, is_wide ? GC_INFO_RUN_DEAD : GC_INFO_RUN_LIVE);
	while (position < decoder->tracked && !bits->failed) {
		is_wide = !is_wide;
		uint64_t count = (uint64_t)read_number(decoder, is_wide ? GC_INFO_RUN_DEAD
									: GC_INFO_RUN_LIVE) +
				 1;
		uint64_t end = position + count;
		if (end > decoder->tracked) {
			bits->failed = true;
			return;
		}
		for (; position < end; position++)
			slots[position].flags |= is_in ? flag : 0;
		is_in = !is_in;
	}
	if (position != decoder->tracked)
		bits->failed = true;
}

static uint64_t align_byte(uint64_t position)
{
	return (position + 7) & ~(uint64_t)7;
}

/*
 * The state at a safe point: states come one after the other, or at the places in a table of
 * offsets.
 */
static void read_safe_point(struct decoder *decoder, unsigned int width)
{
	struct gc_bits *bits = &decoder->bits;
	uint64_t table = bits->position;
	if (!width) {
		gc_bits_seek(bits, table + (uint64_t)decoder->safe_point * decoder->tracked);
		read_set(decoder, SLOT_LIVE, false);
		return;
	}
	gc_bits_seek(bits, table + (uint64_t)decoder->safe_point * width);
	uint64_t states = align_byte(table + (uint64_t)decoder->safe_points * width);
	gc_bits_seek(bits, states + gc_bits_read(bits, width));
	read_set(decoder, SLOT_LIVE, true);
}

/* The last states in a chunk of the ranges, and where in it they changed. */
static void read_range_chunk(struct decoder *decoder, bool is_here)
{
	struct gc_bits *bits = &decoder->bits;
	struct gc_slot *slots = decoder->info->slots;
	uint32_t offset = (uint32_t)(decoder->range_offset % RANGE_CHUNK_SIZE);
	read_set(decoder, SLOT_MAYBE, true);
	for (uint32_t i = 0; i < decoder->tracked && !bits->failed; i++) {
		if (slots[i].flags & SLOT_MAYBE && gc_bits_bit(bits))
			slots[i].flags |= SLOT_LIVE;
	}
	for (uint32_t i = 0; is_here && i < decoder->tracked && !bits->failed; i++) {
		while (slots[i].flags & SLOT_MAYBE && gc_bits_bit(bits)) {
			if (gc_bits_read(bits, RANGE_CHUNK_LOG2) > offset)
				slots[i].flags ^= SLOT_LIVE;
		}
	}
}

/* The state at an offset in an interruptible range: the state of the last chunk that has one. */
static void read_interruptible(struct decoder *decoder)
{
	struct gc_bits *bits = &decoder->bits;
	uint64_t here = decoder->range_offset / RANGE_CHUNK_SIZE,
		 count = (decoder->range_length + RANGE_CHUNK_SIZE - 1) / RANGE_CHUNK_SIZE;
	uint32_t width = read_number(decoder, GC_INFO_POINTER_SIZE), pointer = 0;
	if (!width)
		return;
	uint64_t table = bits->position, chunk = here + 1;
	if (width > 32 || table + count * width > bits->limit) {
		bits->failed = true;
		return;
	}
	while (!pointer && chunk > 0 && !bits->failed) {
		chunk--;
		gc_bits_seek(bits, table + chunk * width);
		pointer = gc_bits_read(bits, width);
	}
	if (!pointer)
		return;
	gc_bits_seek(bits, align_byte(table + count * width) + pointer - 1);
	read_range_chunk(decoder, chunk == here);
}

/* Which tracked slots are live at the offset. */
static void read_states(struct decoder *decoder)
{
	struct gc_bits *bits = &decoder->bits;
	uint32_t width = 0;
	if (!decoder->tracked)
		return;
	if (decoder->safe_points && gc_bits_bit(bits))
		width = read_number(decoder, GC_INFO_POINTER_SIZE) + 1;
	if (width > 32) {
		bits->failed = true;
	} else if (decoder->safe_point < decoder->safe_points) {
		read_safe_point(decoder, width);
	} else if (decoder->info->is_interruptible) {
		gc_bits_seek(bits,
			     bits->position + (uint64_t)decoder->safe_points * decoder->tracked);
		read_interruptible(decoder);
	}
}

/* Is it a register or place for arguments that the call made use of? */
static bool is_scratch_slot(const struct decoder *decoder, const struct gc_slot *slot)
{
	if (decoder->has_scratch)
		return false;
	if (slot->base == GC_SLOT_REGISTER)
		return arch_is_scratch(decoder->query->arch, slot->number);
	return slot->base == GC_SLOT_SP && slot->offset >= 0 &&
	       (uint32_t)slot->offset < decoder->info->places.argument_bytes;
}

/* Keep only the live slots. */
static void keep_live(struct decoder *decoder)
{
	struct gc_info *info = decoder->info;
	size_t kept = 0;
	if (decoder->query->is_aborted && decoder->query->is_dead && !info->is_interruptible) {
		info->slots_count = 0;
		return;
	}
	for (size_t i = 0; i < info->slots_count; i++) {
		struct gc_slot slot = info->slots[i];
		bool is_live = slot.is_untracked
				       ? !decoder->query->no_untracked
				       : slot.flags & SLOT_LIVE && !is_scratch_slot(decoder, &slot);
		slot.flags &= GC_SLOT_INTERIOR | GC_SLOT_PINNED;
		if (is_live)
			info->slots[kept++] = slot;
	}
	info->slots_count = kept;
}

/* Read the header; false when it is bad. */
static bool begin(struct decoder *decoder, struct memory *memory, uint64_t address,
		  const struct gc_info_query *query, struct gc_info *ret)
{
	ret->code_length = 0;
	ret->frame_register = ARCH_NONE;
	ret->is_interruptible = ret->is_unknown = ret->wants_only_leaf = false;
	ret->slots_count = 0;
	ret->places = (struct gc_info_places){ .cookie = GC_INFO_NO_PLACE,
					       .psp_symbol = GC_INFO_NO_PLACE,
					       .context = GC_INFO_NO_PLACE,
					       .native_caller = GC_INFO_NO_PLACE };
	if (query->version < 2 || query->version > VERSION_LAST)
		return false;
	gc_bits_init(&decoder->bits, memory, address, 8 * (uint64_t)GC_INFO_BYTES_MAX);
	decoder->query = query;
	decoder->info = ret;
	decoder->range_offset = decoder->range_length = 0;
	read_gc_info_header(decoder);
	return !decoder->bits.failed;
}

enum gc_info_result gc_info_decode(struct memory *memory, uint64_t address,
				   const struct gc_info_query *query, struct gc_info *ret)
{
	struct decoder decoder;
	if (!begin(&decoder, memory, address, query, ret))
		return GC_INFO_BAD;
	find_offset(&decoder);
	enum gc_info_result result = decoder.bits.failed ? GC_INFO_BAD : read_slots(&decoder);
	if (result == GC_INFO_OK) {
		read_states(&decoder);
		if (decoder.bits.failed)
			result = GC_INFO_BAD;
	}
	if (result == GC_INFO_OK) {
		keep_live(&decoder);
		ret->code_length <<= decoder.shift;
	} else {
		ret->slots_count = 0;
	}
	return result;
}

void gc_info_deinit(struct gc_info *info)
{
	pages_free(info->slots, info->slots_capacity, sizeof(*info->slots));
	*info = (struct gc_info){ 0 };
}

/* The offset of a return address that a table has as @p offset. */
static uint32_t return_offset(const struct gc_info_query *query, uint32_t offset)
{
	return query->version < 4 ? offset + 1 : offset << query->arch->gc_info->code_shift;
}

static enum gc_info_result read_points(struct decoder *decoder, struct gc_info_points *ret)
{
	struct gc_bits *bits = &decoder->bits;
	unsigned int shift = decoder->shift, width = offset_bits(decoder->info->code_length);
	for (uint32_t i = 0; i < decoder->safe_points && !bits->failed; i++) {
		if (!PAGES_RESERVE(ret, safe_points))
			return GC_INFO_NOMEM;
		ret->safe_points[ret->safe_points_count++] =
			return_offset(decoder->query, gc_bits_read(bits, width));
	}
	struct gc_info_range range = { 0 };
	for (uint32_t i = 0; i < decoder->ranges && next_range(decoder, &range); i++) {
		if (!PAGES_RESERVE(ret, ranges))
			return GC_INFO_NOMEM;
		ret->ranges[ret->ranges_count++] =
			(struct gc_info_range){ range.begin << shift, range.end << shift };
	}
	return bits->failed ? GC_INFO_BAD : GC_INFO_OK;
}

enum gc_info_result gc_info_points_read(struct memory *memory, uint64_t address,
					const struct gc_info_query *query,
					struct gc_info_points *ret)
{
	struct decoder decoder;
	struct gc_info unused = { 0 };
	ret->safe_points_count = ret->ranges_count = 0;
	return begin(&decoder, memory, address, query, &unused) ? read_points(&decoder, ret)
								: GC_INFO_BAD;
}

void gc_info_points_deinit(struct gc_info_points *points)
{
	pages_free(points->safe_points, points->safe_points_capacity, sizeof(*points->safe_points));
	pages_free(points->ranges, points->ranges_capacity, sizeof(*points->ranges));
	*points = (struct gc_info_points){ 0 };
}
