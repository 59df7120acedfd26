/* SPDX-License-Identifier: MIT */
/*
 * Reads what the JIT and ReadyToRun images keep about where the code of each piece of IL begins
 * (doc/coreclr.md 12.13; debuginfostore.cpp).
 */
#include "runtime/coreclr/code/debug_info.h"

#include "runtime/coreclr/code/debug_reader.h"
#include "runtime/coreclr/internal.h"
#include "util/alloc.h"

/* IL offsets are stored with this number added; the last three have no IL of their own. */
#define IL_BIAS   3u
#define IL_PROLOG 0xfffffffeu
#define IL_EPILOG 0xfffffffdu

/* Most bounds of a method that are read; the JIT makes some for each piece of IL, which has at most 2 GB. */
#define BOUNDS_MAX 1048576u

/* The bounds of a method while they are read. */
struct bound_reader {
	struct debug_reader *reader;
	enum debug_format format;
	unsigned int native_bits, il_bits;
	uint32_t left;           /* how many are still to come */
	struct code_bound bound; /* the last one */
};

static bool begin_bounds(struct debug_reader *reader, enum debug_format format,
			 struct bound_reader *ret)
{
	*ret = (struct bound_reader){ .reader = reader,
				      .format = format,
				      .left = debug_number(reader),
				      .bound = { .il = CODE_BOUND_NOTHING } };
	if (format == DEBUG_LOOSE)
		return true;
	ret->native_bits = debug_number(reader) + 1;
	ret->il_bits = debug_number(reader) + 1;
	debug_align(reader);
	return ret->native_bits <= 32 && ret->il_bits <= 32;
}

/* The next bound; false at the end, or where the data is damaged (reader->failed). */
static bool next_bound(struct bound_reader *bounds)
{
	struct debug_reader *reader = bounds->reader;
	bool is_packed = bounds->format != DEBUG_LOOSE;
	if (!bounds->left || reader->failed)
		return false;
	bounds->left--;
	if (is_packed)
		(void)debug_bits(reader, bounds->format == DEBUG_SIZED ? 3 : 2);
	uint32_t step = is_packed ? debug_bits(reader, bounds->native_bits) : debug_number(reader);
	uint32_t il =
		(is_packed ? debug_bits(reader, bounds->il_bits) : debug_number(reader)) - IL_BIAS;
	if (!is_packed)
		(void)debug_number(reader);
	reader->failed |= step > UINT32_MAX - bounds->bound.native;
	if (reader->failed)
		return false;
	bounds->bound.native += step;
	bounds->bound.is_exact = il < IL_EPILOG;
	/* The epilog belongs to the IL before it. */
	if (il != IL_EPILOG)
		bounds->bound.il = il == IL_PROLOG ? 0 : il;
	return true;
}

/* Move to the bounds of a method. */
static bool find_bounds(struct runtime *runtime, const struct code_info *code,
			struct debug_reader *reader, struct bound_reader *ret)
{
	struct debug_parts parts;
	if (!debug_parts_find(runtime, code, reader, &parts) || parts.bounds == parts.bounds_end)
		return false;
	debug_set(reader, parts.bounds, parts.bounds_end);
	return begin_bounds(reader, parts.format, ret);
}

bool runtime_il_at(
	struct runtime *runtime, const struct code_info *code, uint64_t place,
	uint64_t *budget, /* NOLINT(readability-non-const-parameter): it is counted down */
	uint32_t *ret)
{
	struct debug_reader reader = { .memory = runtime->memory, .budget = budget };
	struct bound_reader bounds;
	uint32_t il = CODE_BOUND_NOTHING;
	if (place < code->start || place - code->start > UINT32_MAX ||
	    !find_bounds(runtime, code, &reader, &bounds))
		return false;
	while (next_bound(&bounds) && bounds.bound.native <= place - code->start)
		il = bounds.bound.il;
	if (reader.failed || il == CODE_BOUND_NOTHING)
		return false;
	*ret = il;
	return true;
}

void code_bounds_deinit(struct code_bounds *bounds)
{
	pages_free(bounds->rows, bounds->rows_capacity, sizeof(*bounds->rows));
	*bounds = (struct code_bounds){ 0 };
}

bool runtime_bounds_read(
	struct runtime *runtime, const struct code_info *code,
	uint64_t *budget, /* NOLINT(readability-non-const-parameter): it is counted down */
	struct code_bounds *ret)
{
	struct debug_reader reader = { .memory = runtime->memory, .budget = budget };
	struct bound_reader bounds;
	ret->rows_count = 0;
	if (!find_bounds(runtime, code, &reader, &bounds) || bounds.left > BOUNDS_MAX)
		return false;
	while (next_bound(&bounds)) {
		if (!PAGES_RESERVE(ret, rows)) {
			ret->failed = true;
			return false;
		}
		ret->rows[ret->rows_count++] = bounds.bound;
	}
	return !reader.failed;
}
