/* SPDX-License-Identifier: MIT */
/* Which variables an async method has saved at an await (doc/coreclr.md 21.4; debuginfostore.cpp). */
#include "runtime/coreclr/code/saved_variables.h"

#include "runtime/coreclr/code/debug_reader.h"
#include "runtime/coreclr/internal.h"

/* Added to the numbers of variables, as in the list of those that are in registers. */
#define NUMBER_BIAS 6u
/* The generic context: -3. */
#define NUMBER_CONTEXT (0u - 3u)

/* A part of the list of variables. */
struct saved_part {
	uint32_t first, count;
};

/* A signed number: the sign is the lowest bit. */
static uint32_t take_step(struct debug_reader *reader)
{
	uint32_t value = debug_number(reader);
	return value & 1 ? 0u - (value >> 1) : value >> 1;
}

/* The awaits: the part of the one at @p offset in the code.  The variables of all come after them. */
static bool find_await(struct debug_reader *reader, uint32_t offset, struct saved_part *ret)
{
	uint32_t awaits = debug_number(reader), total = debug_number(reader), native = 0, first = 0;
	bool is_found = false;
	for (uint32_t i = 0; i < awaits && !reader->failed; i++) {
		native += take_step(reader);
		uint32_t count = debug_number(reader);
		if (count > total - first)
			return false;
		if (native == offset && !is_found) {
			*ret = (struct saved_part){ first, count };
			is_found = true;
		}
		first += count;
	}
	return is_found && !reader->failed;
}

/* Rows of variables that are arguments or locals, and the generic context. */
struct saved_rows {
	uint32_t *rows;
	size_t count;
	uint32_t context;
};

static bool read_saved(struct debug_reader *reader, uint32_t offset, struct saved_rows *saved)
{
	struct saved_part part;
	if (!find_await(reader, offset, &part))
		return false;
	for (uint32_t i = 0; i < part.first + part.count && !reader->failed; i++) {
		uint32_t number = debug_number(reader) - NUMBER_BIAS, at = debug_number(reader);
		if (reader->failed || i < part.first)
			continue;
		if (number < saved->count)
			saved->rows[number] = at;
		if (number == NUMBER_CONTEXT)
			saved->context = at;
	}
	return !reader->failed;
}

static bool find_saved(struct runtime *runtime, const struct code_info *code, uint64_t place,
		       uint64_t *budget, /* NOLINT(readability-non-const-parameter) */
		       struct saved_rows *saved)
{
	struct debug_reader reader = { .memory = runtime->memory, .budget = budget };
	struct debug_parts parts;
	if (place < code->start || place - code->start > UINT32_MAX ||
	    !debug_parts_find(runtime, code, &reader, &parts) || parts.async == parts.async_end)
		return false;
	debug_set(&reader, parts.async, parts.async_end);
	return read_saved(&reader, (uint32_t)(place - code->start), saved);
}

bool runtime_saved_variables(struct runtime *runtime, const struct code_info *code, uint64_t place,
			     uint64_t *budget, uint32_t *rows, size_t count)
{
	struct saved_rows saved = { .rows = rows, .count = count, .context = SAVED_NOWHERE };
	for (size_t i = 0; i < count; i++)
		rows[i] = SAVED_NOWHERE;
	if (find_saved(runtime, code, place, budget, &saved))
		return true;
	for (size_t i = 0; i < count; i++)
		rows[i] = SAVED_NOWHERE;
	return false;
}

uint32_t runtime_saved_generic_context(struct runtime *runtime, const struct code_info *code,
				       uint64_t place, uint64_t *budget)
{
	struct saved_rows saved = { .context = SAVED_NOWHERE };
	return find_saved(runtime, code, place, budget, &saved) ? saved.context : SAVED_NOWHERE;
}
