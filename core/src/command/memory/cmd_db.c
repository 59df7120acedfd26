/* SPDX-License-Identifier: MIT */
/* db, dw, dd, dq, dc, du and dp: memory as it is, for the shell, which is no debugger. */
#include <inttypes.h>
#include <string.h>

#include "command/memory/word_rows.h"
#include "command/table.h"
#include "inspect/utf16.h"
#include "util/job.h"

#define BYTES_USUAL     128u
#define BYTES_MAX       ((uint64_t)64 << 20)
#define BYTES_IN_LINE   16u
#define STRING_USUAL    ((uint64_t)1 << 16) /* units of a text that has no end */
#define UNITS_IN_STRING 32u

#define MEMORY_OPTIONS(X)                                                                  \
	X(OPT_COUNT, "count", VALUE_NUMBER, "N", "show N units; without: 128 bytes", NULL) \
	X(OPT_END, "end", VALUE_ADDRESS, "END",                                            \
	  "the same as the word END: show what is before it", NULL)

OPTIONS(memory_units, MEMORY_OPTIONS);

static const struct table_options no_heading = { .no_heading = true };

#define UNITS_LIST(X)                                                          \
	X(UNITS_ADDRESS, "address", "Address", KIND_ADDRESS, 12, LOOK_ADDRESS, \
	  "of the first unit")                                                 \
	X(UNITS_VALUES, "values", "Values", KIND_TEXT, 0, 0,                   \
	  "the units, hexadecimal; question marks are not in the target")      \
	X(UNITS_TEXT, "text", "Text", KIND_TEXT, 0, LOOK_LEAVE_OUT,            \
	  "the bytes that are ASCII; dots are others")

COLUMNS(units, UNITS_COLUMNS, UNITS_LIST);

SCHEMA(units, .name = "lines", .is_main = true,
       .lines = "{address:012a}  {values}[=text   {text}]\n");

#define STRING_LIST(X)                                                                         \
	X(STRING_ADDRESS, "address", NULL, KIND_ADDRESS, 0, LOOK_ADDRESS, "of its first unit") \
	X(STRING_TEXT, "text", NULL, KIND_TEXT, 0, 0, "at most 32 units")

COLUMNS(string, STRING_COLUMNS, STRING_LIST);

SCHEMA(string, .name = "lines", .is_main = true, .lines = "{address:012a}  \"{text}\"\n");

/* The bytes that are shown, and how many of them were not there. */
struct memory_range {
	uint64_t at, end;
	uint64_t missing;
};

/* The word END, or the option. */
static const struct value *end_of(const struct call *call)
{
	return call->words[1].given ? &call->words[1] : &call->options[OPT_END];
}

/* HD_ERR_FAULT: the first unit is not in the target. */
static enum hd_status find_range(struct call *call, uint32_t size, uint64_t usual,
				 struct memory_range *ret)
{
	uint64_t begin = call->words[0].number, end;
	const struct value *count = &call->options[OPT_COUNT], *until = end_of(call);
	uint8_t unit[8];
	uint64_t bytes = usual;
	if (count->given)
		bytes = count->number > BYTES_MAX / size ? BYTES_MAX + 1 : count->number * size;
	if (until->given)
		bytes = until->number > begin ? until->number - begin : 0;
	if (bytes > BYTES_MAX) {
		return fail(call->err, HD_ERR_ARGUMENT, begin,
			    "%s shows at most %" PRIu64 " MiB at once", call->command->name,
			    BYTES_MAX >> 20);
	}
	if (!memory_read(call->heap->memory, begin, unit, size)) {
		return fail(call->err, HD_ERR_FAULT, begin,
			    "the target has no memory at %" PRIx64 " (maddress lists what it has)",
			    begin);
	}
	end = begin > UINT64_MAX - bytes ? UINT64_MAX : begin + bytes;
	*ret = (struct memory_range){ .at = begin, .end = end };
	return HD_OK;
}

static void write_missing(struct call *call, const struct memory_range *range)
{
	static const struct column columns[] = {
		{ "missing", NULL, KIND_BYTES, 0, 0, "bytes that the target does not have" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	const struct cell missing = cell_number(range->missing);
	(void)answer_table_end(&call->answer);
	answer_data(&call->answer, &schema, &missing);
	if (range->missing) {
		answer_remark(&call->answer,
			      "\nThe target does not have %" PRIu64 " of these bytes.\n",
			      range->missing);
	}
}

static void put_unit(const uint8_t *bytes, uint32_t size, struct text *text)
{
	for (uint32_t i = size; i > 0; i--)
		text_printf(text, "%02x", bytes[i - 1]);
}

/* One line of at most BYTES_IN_LINE bytes. */
static void write_units(struct call *call, struct memory_range *range, uint32_t size, bool is_text)
{
	uint8_t bytes[BYTES_IN_LINE];
	char ascii[BYTES_IN_LINE];
	uint64_t left = range->end - range->at;
	size_t count = left < sizeof(bytes) ? (size_t)left / size : sizeof(bytes) / size;
	HD_CLEANUP(text) struct text values = { 0 };
	memset(ascii, ' ', sizeof(ascii));
	for (size_t i = 0; i < count; i++) {
		uint8_t *unit = bytes + i * size;
		bool is_there = memory_read(call->heap->memory, range->at + i * size, unit, size);
		text_puts(&values, i ? " " : "");
		for (uint32_t j = 0; j < size && !is_there; j++)
			text_puts(&values, "??");
		range->missing += is_there ? 0 : size;
		if (is_there)
			put_unit(unit, size, &values);
		for (uint32_t j = 0; j < size; j++) {
			bool is_shown = is_there && unit[j] >= 0x20 && unit[j] < 0x7f;
			ascii[i * size + j] = '.';
			if (is_shown)
				ascii[i * size + j] = (char)unit[j];
		}
	}
	/* The text of a short line is below that of the others. */
	while (is_text && answer_is_text(&call->answer) &&
	       values.size < (2u * size + 1) * (sizeof(bytes) / size) - 1)
		text_puts(&values, " ");
	struct cell cells[UNITS_COLUMNS] = {
		[UNITS_ADDRESS] = cell_number(range->at),
		[UNITS_VALUES] = cell_text(values.bytes, values.size),
	};
	if (is_text)
		cells[UNITS_TEXT] = cell_text(ascii, count * size);
	answer_row(&call->answer, cells);
	call->out.text.failed |= values.failed;
	range->at += count * size;
}

static enum hd_status show_units(struct call *call, uint32_t size, bool is_text)
{
	struct memory_range range = { 0 };
	TRY(find_range(call, size, BYTES_USUAL, &range));
	answer_table(&call->answer, &units_schema, &no_heading);
	while (range.end - range.at >= size) {
		write_units(call, &range, size, is_text);
		TRY(call_check(call));
	}
	write_missing(call, &range);
	return HD_OK;
}

static enum hd_status write_words(struct call *call, struct word_reader *reader,
				  struct memory_range *range)
{
	HD_CLEANUP(word_cells) struct word_cells kept = { 0 };
	uint64_t symbols = WORD_SYMBOL_BYTES, word;
	for (; range->end - range->at >= sizeof(word); range->at += sizeof(word)) {
		struct cell cells[WORD_COLUMNS] = { [WORD_ADDRESS] = cell_number(range->at) };
		if (memory_u64(call->heap->memory, range->at, &word)) {
			TRY(word_cells(call, reader, word, &symbols, &kept, cells));
		} else {
			range->missing += sizeof(word);
		}
		answer_row(&call->answer, cells);
		TRY(call_check(call));
	}
	return HD_OK;
}

static enum hd_status run_dq(struct call *call)
{
	HD_CLEANUP(word_reader) struct word_reader reader = { .heap = call->heap };
	struct memory_range range = { 0 };
	TRY(find_range(call, sizeof(uint64_t), BYTES_USUAL, &range));
	answer_table(&call->answer, &word_schema, &no_heading);
	TRY(write_words(call, &reader, &range));
	write_missing(call, &range);
	return HD_OK;
}

static enum hd_status run_dp(struct call *call)
{
	return run_dq(call);
}

static enum hd_status run_db(struct call *call)
{
	return show_units(call, 1, true);
}

static enum hd_status run_dw(struct call *call)
{
	return show_units(call, 2, false);
}

static enum hd_status run_dd(struct call *call)
{
	return show_units(call, 4, false);
}

static enum hd_status run_dc(struct call *call)
{
	return show_units(call, 4, true);
}

/* A line of the text; *@p ret_ends: the text ends in it. */
static void write_string(struct call *call, struct memory_range *range, bool *ret_ends)
{
	uint8_t units[2 * UNITS_IN_STRING];
	uint64_t left = range->end - range->at;
	size_t size = left < sizeof(units) ? (size_t)left & ~(size_t)1 : sizeof(units);
	size_t there = memory_prefix(call->heap->memory, range->at, units, size) & ~(size_t)1;
	size_t count = 0;
	HD_CLEANUP(text) struct text text = { 0 };
	struct utf16 utf16 = { .text = &text };
	while (count < there / 2 && (units[2 * count] || units[2 * count + 1]))
		count++;
	*ret_ends = count < size / 2;
	/* A pair of surrogates stays in one line. */
	if (count == UNITS_IN_STRING && (units[2 * count - 1] & 0xfc) == 0xd8)
		count--;
	if (count == there / 2 && there < size)
		range->missing = size - there;
	utf16_append(&utf16, units, count);
	utf16_end(&utf16);
	const struct cell cells[STRING_COLUMNS] = {
		[STRING_ADDRESS] = cell_number(range->at),
		[STRING_TEXT] = text.size ? cell_text(text.bytes, text.size) : cell_string(""),
	};
	answer_row(&call->answer, cells);
	call->out.text.failed |= text.failed;
	range->at += 2 * count;
}

static enum hd_status run_du(struct call *call)
{
	struct memory_range range = { 0 };
	bool ends = false;
	TRY(find_range(call, 2, 2 * STRING_USUAL, &range));
	answer_table(&call->answer, &string_schema, &no_heading);
	while (!ends && range.end - range.at >= 2) {
		write_string(call, &range, &ends);
		TRY(call_check(call));
	}
	write_missing(call, &range);
	return HD_OK;
}

static enum hd_status check_memory(struct call *call)
{
	const struct value *end = end_of(call);
	if (call->words[1].given && call->options[OPT_END].given)
		return call_usage(call, "END is given twice");
	if (call->options[OPT_COUNT].given && end->given)
		return call_usage(call, "give -count or the end, not both");
	if (end->given && end->number < call->words[0].number)
		return call_usage(call, "the end is before ADDR");
	return HD_OK;
}

#define MEMORY_COMMAND(NAME, SUMMARY, ...)                                                     \
	COMMAND(NAME, .summary = (SUMMARY), .top_level = TOP_LEVEL_NEVER, .has_rows = true,    \
		.needs = NEEDS_RUNTIME, .options = memory_units_options,                       \
		.words = { { "ADDR", VALUE_ADDRESS, false }, { "END", VALUE_ADDRESS, true } }, \
		.check = check_memory, __VA_ARGS__)

MEMORY_COMMAND(db, "show memory as bytes, with the ASCII text", .example = "db 7f0fd8068768");
MEMORY_COMMAND(dw, "show memory as words of 16 bits", .example = "dw 7f0fd8068768 -count 16");
MEMORY_COMMAND(dd, "show memory as words of 32 bits", .example = "dd 7f0fd8068768");
MEMORY_COMMAND(dc, "show memory as words of 32 bits, with the ASCII text",
	       .example = "dc 7f0fd8068768");
MEMORY_COMMAND(du, "show memory as text in UTF-16, up to the character 0",
	       .description = "A string object has its text from its address + c on.\n",
	       .example = "du 7f0fd8068768+c");
MEMORY_COMMAND(
	dq, "show memory as words of 64 bits, and what each is the address of",
	.description =
		"Beside a word is the object that starts there or around it, with the text of a string,\n"
		"the MethodTable, the method, the thread whose stack it leads to, or the place in\n"
		"a mapped file.\n",
	.example = "dq 7f0fd8068768 -count 4");
MEMORY_COMMAND(dp, "the same as dq: show memory as addresses", .example = "dp 7f0fd8068768");
