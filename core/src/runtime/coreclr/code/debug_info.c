/* SPDX-License-Identifier: MIT */
/*
 * Reads what the JIT and ReadyToRun images keep about where the code of each piece of IL begins
 * (doc/coreclr.md 12.13; debuginfostore.cpp).
 */
#include "runtime/coreclr/code/debug_info.h"

#include "runtime/coreclr/code/debug_reader.h"
#include "runtime/coreclr/internal.h"

/* IL offsets are stored with this number added; the last three have no IL of their own. */
#define IL_BIAS       3u
#define IL_NO_MAPPING 0xffffffffu
#define IL_PROLOG     0xfffffffeu
#define IL_EPILOG     0xfffffffdu

/* The bounds while they are read, up to a place in the code. */
struct bounds {
	uint32_t offset; /**< the place */
	uint32_t native; /**< where the last one begins */
	uint32_t il;     /**< of the last one at or before the place; IL_NO_MAPPING: none */
	bool is_past;
};

static void take_bound(struct debug_reader *reader, struct bounds *bounds, uint32_t step,
		       uint32_t il)
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

static bool read_bounds(struct debug_reader *reader, enum debug_format format,
			struct bounds *bounds)
{
	bool is_packed = format != DEBUG_LOOSE;
	uint32_t count = debug_number(reader);
	unsigned int native_bits = 0, il_bits = 0;
	if (is_packed) {
		native_bits = debug_number(reader) + 1;
		il_bits = debug_number(reader) + 1;
		debug_align(reader);
		if (native_bits > 32 || il_bits > 32)
			return false;
	}
	for (uint32_t i = 0; i < count && !bounds->is_past; i++) {
		if (is_packed)
			(void)debug_bits(reader, format == DEBUG_SIZED ? 3 : 2);
		uint32_t step = is_packed ? debug_bits(reader, native_bits) : debug_number(reader);
		uint32_t il = is_packed ? debug_bits(reader, il_bits) : debug_number(reader);
		if (!is_packed)
			(void)debug_number(reader);
		take_bound(reader, bounds, step, il);
	}
	return !reader->failed;
}

bool runtime_il_at(
	struct runtime *runtime, const struct code_info *code, uint64_t place,
	uint64_t *budget, /* NOLINT(readability-non-const-parameter): it is counted down */
	uint32_t *ret)
{
	struct debug_reader reader = { .memory = runtime->memory, .budget = budget };
	struct bounds bounds = { .il = IL_NO_MAPPING };
	struct debug_parts parts;
	if (place < code->start || place - code->start > UINT32_MAX)
		return false;
	bounds.offset = (uint32_t)(place - code->start);
	if (!debug_parts_find(runtime, code, &reader, &parts) || parts.bounds == parts.bounds_end)
		return false;
	debug_set(&reader, parts.bounds, parts.bounds_end);
	if (!read_bounds(&reader, parts.format, &bounds) || bounds.il == IL_NO_MAPPING)
		return false;
	*ret = bounds.il;
	return true;
}
