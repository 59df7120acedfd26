/* SPDX-License-Identifier: MIT */
/* Where the variables of a method are (doc/coreclr.md 12.13; debuginfostore.cpp, cordebuginfo.h). */
#include "runtime/coreclr/code/variable_homes.h"

#include <string.h>

#include "arch/arch.h"
#include "runtime/coreclr/code/debug_reader.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/processor.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Most ranges of a method that are read. */
#define RANGES_MAX 1048576u

/* Added to the numbers of variables; the lowest ones are not variables of the IL. */
#define NUMBER_BIAS    4u
#define NUMBER_BIAS_11 6u

static uint8_t take_register(const struct runtime *runtime, struct debug_reader *reader)
{
	return debug_register(runtime, debug_number(reader));
}

/* A signed number: the sign is the lowest bit. */
static int32_t take_signed(struct debug_reader *reader)
{
	uint32_t value = debug_number(reader);
	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

static void take_home(const struct runtime *runtime, struct debug_reader *reader,
		      struct variable_home *ret)
{
	uint32_t kind = debug_number(reader);
	*ret = (struct variable_home){ .kind = kind < HOME_OTHER ? (uint8_t)kind : HOME_OTHER };
	switch (ret->kind) {
	case HOME_REGISTER:
	case HOME_REGISTER_ADDRESS:
		ret->number = take_register(runtime, reader);
		break;
	case HOME_STACK:
	case HOME_STACK_ADDRESS:
	case HOME_STACK_TWICE:
		ret->number = take_register(runtime, reader);
		ret->offset = take_signed(reader);
		break;
	case HOME_REGISTERS:
		ret->number = take_register(runtime, reader);
		ret->second = take_register(runtime, reader);
		break;
	case HOME_REGISTER_STACK:
		ret->number = take_register(runtime, reader);
		ret->second = take_register(runtime, reader);
		ret->offset = take_signed(reader);
		break;
	case HOME_STACK_REGISTER:
		ret->offset = take_signed(reader);
		ret->second = take_register(runtime, reader);
		ret->number = take_register(runtime, reader);
		break;
	case HOME_FLOAT_REGISTER:
		ret->number = debug_float_register(runtime, debug_number(reader));
		break;
	default:
		(void)debug_number(reader);
		break;
	}
	if ((ret->number == ARCH_NONE && ret->kind != HOME_FLOAT_REGISTER) ||
	    ret->second == ARCH_NONE)
		ret->kind = HOME_OTHER;
}

static void forget_homes(struct variable_home *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct variable_home){ .kind = HOME_NONE };
}

/* Which variable, and where in the code it is valid. */
struct validity {
	uint32_t number, begin, size;
};

static struct validity take_validity(struct debug_reader *reader, enum debug_format format)
{
	struct validity ret;
	if (format == DEBUG_SIZED)
		ret.number = debug_number(reader) - NUMBER_BIAS_11;
	ret.begin = debug_number(reader);
	ret.size = debug_number(reader);
	if (format != DEBUG_SIZED)
		ret.number = debug_number(reader) - NUMBER_BIAS;
	return ret;
}

static bool read_homes(const struct runtime *runtime, struct debug_reader *reader,
		       enum debug_format format, uint32_t offset, struct variable_home *rows,
		       size_t count)
{
	uint32_t left = debug_number(reader);
	while (left-- && !reader->failed) {
		struct variable_home home;
		struct validity valid = take_validity(reader, format);
		take_home(runtime, reader, &home);
		bool is_there = offset >= valid.begin && offset - valid.begin < valid.size;
		if (!reader->failed && is_there && valid.number < count &&
		    rows[valid.number].kind == HOME_NONE)
			rows[valid.number] = home;
	}
	return !reader->failed;
}

bool runtime_variable_homes(struct runtime *runtime, const struct code_info *code, uint64_t place,
			    uint64_t *budget, /* NOLINT(readability-non-const-parameter) */
			    struct variable_home *rows, size_t count)
{
	struct debug_reader reader = { .memory = runtime->memory, .budget = budget };
	struct debug_parts parts;
	forget_homes(rows, count);
	if (place < code->start || place - code->start > UINT32_MAX ||
	    !debug_parts_find(runtime, code, &reader, &parts) ||
	    parts.variables == parts.variables_end)
		return false;
	debug_set(&reader, parts.variables, parts.variables_end);
	if (read_homes(runtime, &reader, parts.format, (uint32_t)(place - code->start), rows,
		       count))
		return true;
	forget_homes(rows, count);
	return false;
}

void variable_ranges_deinit(struct variable_ranges *ranges)
{
	pages_free(ranges->rows, ranges->rows_capacity, sizeof(*ranges->rows));
	*ranges = (struct variable_ranges){ 0 };
}

/* By their numbers; those of one variable stay as they were. */
static bool sort_ranges(struct variable_ranges *ranges)
{
	size_t count = ranges->rows_count;
	bool is_sorted = true;
	for (size_t i = 1; i < count && is_sorted; i++)
		is_sorted = ranges->rows[i - 1].number <= ranges->rows[i].number;
	if (is_sorted)
		return true;
	HD_FREE uint64_t *keys = mem_alloc(count, sizeof(*keys));
	HD_FREE uint32_t *order = mem_alloc(count, sizeof(*order));
	HD_FREE struct variable_range *rows = mem_alloc(count, sizeof(*rows));
	if (!keys || !order || !rows)
		return false;
	for (size_t i = 0; i < count; i++)
		keys[i] = ranges->rows[i].number;
	if (!sort_keys(keys, order, (uint32_t)count))
		return false;
	for (size_t i = 0; i < count; i++)
		rows[i] = ranges->rows[order[i]];
	memcpy(ranges->rows, rows, count * sizeof(*rows));
	return true;
}

static bool take_range(const struct runtime *runtime, struct debug_reader *reader,
		       enum debug_format format, struct variable_ranges *ret)
{
	struct validity valid = take_validity(reader, format);
	struct variable_range row = { .number = valid.number, .begin = valid.begin };
	take_home(runtime, reader, &row.home);
	if (reader->failed || !valid.size)
		return true;
	row.end = valid.size < UINT32_MAX - valid.begin ? valid.begin + valid.size : UINT32_MAX;
	if (row.end == row.begin)
		return true;
	if (!PAGES_RESERVE(ret, rows)) {
		ret->failed = true;
		return false;
	}
	ret->rows[ret->rows_count++] = row;
	return true;
}

bool runtime_variable_ranges_read(
	struct runtime *runtime, const struct code_info *code,
	uint64_t *budget, /* NOLINT(readability-non-const-parameter): it is counted down */
	struct variable_ranges *ret)
{
	struct debug_reader reader = { .memory = runtime->memory, .budget = budget };
	struct debug_parts parts;
	ret->rows_count = 0;
	if (!debug_parts_find(runtime, code, &reader, &parts) ||
	    parts.variables == parts.variables_end)
		return false;
	debug_set(&reader, parts.variables, parts.variables_end);
	uint32_t left = debug_number(&reader);
	if (left > RANGES_MAX)
		return false;
	while (left-- && !reader.failed) {
		if (!take_range(runtime, &reader, parts.format, ret))
			return false;
	}
	if (reader.failed)
		return false;
	ret->failed = !sort_ranges(ret);
	return !ret->failed;
}
