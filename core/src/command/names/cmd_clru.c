/* SPDX-License-Identifier: MIT */
/* clru: the code of a method with its lines and IL; GDB's plug-in shows the instructions beside them. */
#include <inttypes.h>

#include "command/names/shown_code.h"
#include "command/table.h"
#include "gc/heap.h"
#include "mem/memory.h"

/* Bytes of a row. */
#define ROW_BYTES 16u

#define CODE_LIST(X)                                                                         \
	X(CODE_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "where the bytes lie")          \
	X(CODE_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "the same as a place in the code") \
	X(CODE_SIZE, "size", NULL, KIND_BYTES, 0, 0, "how many bytes these are")             \
	X(CODE_BYTES, "bytes", NULL, KIND_TEXT, 0, 0,                                        \
	  "the bytes in hexadecimal, with blanks between; null: they are not in the target") \
	X(CODE_IL, "il", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                               \
	  "offset of their IL; no member: there is none, or it is not known")                \
	X(CODE_FILE, "source_file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                      \
	  "path of the source file, as the compiler saw it; no member: no PDB tells it")     \
	X(CODE_LINE, "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file")      \
	X(CODE_BEGINS, .heading = "begins", .kind = KIND_FLAG) /**< text only */

COLUMNS(code, CODE_COLUMNS, CODE_LIST);

SCHEMA(code, .name = "pieces", .is_main = true,
       .lines = "[?begins \n[=source_file {source_file} @ {line}:\n][=il IL_{il:04}:\n]]"
		"{address:016} {bytes?<not in the target>}\n");

static const struct table_options bare = { .limit = UINT64_MAX, .no_heading = true };

static bool is_same(const struct cell *a, const struct cell *b)
{
	return a->is_there == b->is_there && (!a->is_there || a->number == b->number);
}

/* The bytes of a row; those that are not there are left out. */
static void put_bytes(struct call *call, uint64_t address, uint32_t size, struct text *text)
{
	uint8_t bytes[ROW_BYTES];
	size_t got = memory_prefix(call->heap->memory, address, bytes, size);
	text->size = 0;
	for (size_t i = 0; i < got; i++)
		text_printf(text, "%s%02x", i ? " " : "", bytes[i]);
}

/* How many bytes from @p offset on a row takes: a piece of IL begins another one. */
static uint32_t row_size(const struct shown_code *shown, uint32_t offset)
{
	uint32_t size = shown->size - offset < ROW_BYTES ? shown->size - offset : ROW_BYTES;
	uint32_t next = shown_code_next(shown, offset);
	return next - offset < size ? next - offset : size;
}

static enum hd_status write_pieces(struct call *call, const struct shown_code *shown)
{
	HD_CLEANUP(text) struct text bytes = { 0 };
	struct cell before = { 0 };
	answer_table(&call->answer, &code_schema, &bare);
	for (uint32_t offset = 0, size; offset < shown->size; offset += size) {
		size = row_size(shown, offset);
		put_bytes(call, shown->code.start + offset, size, &bytes);
		struct cell cells[CODE_COLUMNS] = {
			[CODE_ADDRESS] = cell_number(shown->code.start + offset),
			[CODE_OFFSET] = cell_number(offset),
			[CODE_SIZE] = cell_number(size),
		};
		if (bytes.size)
			cells[CODE_BYTES] = cell_text(bytes.bytes, bytes.size);
		shown_code_place(shown, offset, &cells[CODE_IL], &cells[CODE_FILE],
				 &cells[CODE_LINE]);
		cells[CODE_BEGINS] = cell_flag(!offset || !is_same(&before, &cells[CODE_IL]));
		before = cells[CODE_IL];
		TRY_MEMORY(!bytes.failed, call->err);
		if (answer_wants_row(&call->answer))
			answer_row(&call->answer, cells);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

static enum hd_status run_clru(struct call *call)
{
	HD_CLEANUP(shown_code) struct shown_code shown = { 0 };
	TRY(shown_code_find(call, &shown));
	shown_code_write(call, &shown);
	TRY(write_pieces(call, &shown));
	answer_remark(
		&call->answer,
		"\nThere is no disassembler here. In GDB clru shows instructions; LLDB: disassemble "
		"-s 0x%" PRIx64 " -e 0x%" PRIx64 "\n",
		shown.code.start, shown.code.start + shown.size);
	return HD_OK;
}

COMMAND(clru, .alias = "u", .has_rows = true,
	.summary = "show the code of a method, with the lines and the IL that it was made of",
	.description =
		"METHOD is the address of a MethodDesc, or one in the code of a method. In\n"
		"GDB the instructions are shown, with the names of what they call; elsewhere\n"
		"their bytes. LLDB's disassemble knows managed methods, too.\n",
	.example = "clru 7f0f794a1ba0", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA, .words = { { "METHOD", VALUE_ADDRESS, false } });
