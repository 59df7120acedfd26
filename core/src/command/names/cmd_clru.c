/* SPDX-License-Identifier: MIT */
/* clru: the instructions of a method, with its lines, its IL and the names of what it calls. */
#include <inttypes.h>

#include "arch/disassembler.h"
#include "command/names/shown_code.h"
#include "command/table.h"
#include "gc/heap.h"
#include "mem/memory.h"
#include "runtime/coreclr/code/code.h"
#include "targets/code_place.h"

/* Bytes that are read for an instruction, and shown in a row where they are none. */
#define ROW_BYTES 16u

/* Bytes of native symbol tables that may be read. */
#define SYMBOL_BYTES_MAX ((uint64_t)256 << 20)

#define CODE_LIST(X)                                                                         \
	X(CODE_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "where the instruction lies")   \
	X(CODE_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "the same as a place in the code") \
	X(CODE_SIZE, "size", NULL, KIND_BYTES, 0, 0, "how many bytes it has")                \
	X(CODE_BYTES, "bytes", NULL, KIND_TEXT, 0, 0,                                        \
	  "the bytes in hexadecimal, with blanks between; null: they are not in the target") \
	X(CODE_INSTRUCTION, "instruction", NULL, KIND_TEXT, 0, 0,                            \
	  "the instruction; null: the bytes are not one, or there is no disassembler")       \
	X(CODE_TARGET, "target", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                      \
	  "the code outside of the method to which it calls or jumps now; no member: it "    \
	  "does not, or that is not known")                                                  \
	X(CODE_TARGET_NAME, "target_name", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,               \
	  "name of that method or native function; no member: not known")                    \
	X(CODE_IL, "il", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                               \
	  "offset of their IL; no member: there is none, or it is not known")                \
	X(CODE_FILE, "source_file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                      \
	  "path of the source file, as the compiler saw it; no member: no PDB tells it")     \
	X(CODE_LINE, "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file")      \
	X(CODE_BEGINS, .heading = "begins", .kind = KIND_FLAG) /**< text only */

COLUMNS(code, CODE_COLUMNS, CODE_LIST);

SCHEMA(code, .name = "pieces", .is_main = true,
       .lines = "[?begins \n[=source_file {source_file} @ {line}:\n][=il IL_{il:04}:\n]]"
		"{address:016} [=instruction {instruction}|{bytes?<not in the target>}]"
		"[=target_name   ; {target_name}]\n");

static const struct table_options bare = { .limit = UINT64_MAX, .no_heading = true };

/* The rows while they are written. */
struct listing {
	struct call *call;
	const struct shown_code *shown;
	struct disassembler *disassembler; /* NULL: there is none */
	struct code_constants constants;
	uint64_t symbols_left; /* bytes of native symbol tables that may be read */
	struct cell il;        /* of the row before */
	struct text bytes, name;
	struct instruction instruction; /* of the row */
};

static void listing_deinit(struct listing *listing)
{
	disassembler_destroy(listing->disassembler);
	text_deinit(&listing->bytes);
	text_deinit(&listing->name);
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	return a->is_there == b->is_there && (!a->is_there || a->number == b->number);
}

/* The name of the method or native function at @p target, which was read at @p cell if that is not 0; empty: it has none. */
static void put_target_name(struct listing *listing, uint64_t target, uint64_t cell)
{
	struct call *call = listing->call;
	struct runtime *runtime = call->heap->runtime;
	struct code_info code = { .start = target };
	listing->name.size = 0;
	if (runtime_code_at(runtime, target, &code) ||
	    runtime_method_at(runtime, target, &code.method_desc) ||
	    (cell && runtime_method_of_cell(runtime, cell, &code.method_desc))) {
		runtime_method_signature(runtime, code.method_desc, &listing->name);
		if (code.start != target)
			text_printf(&listing->name, "+0x%" PRIx64, target - code.start);
	} else {
		target_code_place(runtime_target(runtime), call->settings.symbols, target, true,
				  &listing->symbols_left, &listing->name);
	}
}

/* The cells for the code to which the instruction at @p address goes; they stay empty where it stays in the method. */
static void find_target(struct listing *listing, const uint8_t *bytes, uint64_t address,
			struct cell *cells)
{
	struct runtime *runtime = listing->call->heap->runtime;
	const struct arch_ops *ops = runtime_arch(runtime)->ops;
	struct code_reference to;
	if (!ops->call_target ||
	    !ops->call_target(bytes, listing->instruction.size, address, &listing->constants, &to))
		return;
	uint64_t cell = to.is_cell ? to.address : 0;
	if (cell && !runtime_code_pointer(runtime, cell, &to.address))
		return;
	if (!to.address || to.address - listing->shown->code.start < listing->shown->size)
		return;
	put_target_name(listing, to.address, cell);
	cells[CODE_TARGET] = cell_number(to.address);
	if (listing->name.size)
		cells[CODE_TARGET_NAME] = cell_text(listing->name.bytes, listing->name.size);
}

/* How many bytes a row has that has no instruction: a piece of IL begins another row, and so does a page. */
static uint32_t row_size(const struct listing *listing, uint32_t offset, size_t there)
{
	const struct shown_code *shown = listing->shown;
	uint64_t address = shown->code.start + offset, page = 0;
	uint32_t size = shown->size - offset, next = shown_code_next(shown, offset) - offset;
	if (there) {
		page = listing->disassembler ? 1 : ROW_BYTES;
	} else {
		const struct arch *arch = runtime_arch(listing->call->heap->runtime);
		page = page_after(arch->space.page_min, address) - address;
	}
	size = next < size ? next : size;
	return page && page < size ? (uint32_t)page : size;
}

/* Fill @p cells for the bytes at @p offset; how many they are. */
static uint32_t fill_row(struct listing *listing, uint32_t offset, struct cell *cells)
{
	const struct shown_code *shown = listing->shown;
	uint64_t address = shown->code.start + offset;
	uint32_t left = shown->size - offset, size;
	uint8_t bytes[ROW_BYTES];
	size_t there = memory_prefix(listing->call->heap->memory, address, bytes,
				     left < ROW_BYTES ? left : ROW_BYTES);
	bool is_one =
		listing->disassembler && disassembler_read(listing->disassembler, bytes, there,
							   address, &listing->instruction);
	size = is_one ? listing->instruction.size : row_size(listing, offset, there);
	listing->bytes.size = 0;
	for (size_t i = 0; i < there && i < size; i++)
		text_printf(&listing->bytes, "%s%02x", i ? " " : "", bytes[i]);
	if (listing->bytes.size)
		cells[CODE_BYTES] = cell_text(listing->bytes.bytes, listing->bytes.size);
	if (is_one) {
		cells[CODE_INSTRUCTION] = cell_string(listing->instruction.text);
		find_target(listing, bytes, address, cells);
	} else {
		listing->constants.known = 0;
	}
	return size;
}

static enum hd_status write_pieces(struct listing *listing)
{
	struct call *call = listing->call;
	const struct shown_code *shown = listing->shown;
	answer_table(&call->answer, &code_schema, &bare);
	for (uint32_t offset = 0, size; offset < shown->size; offset += size) {
		struct cell cells[CODE_COLUMNS] = {
			[CODE_ADDRESS] = cell_number(shown->code.start + offset),
			[CODE_OFFSET] = cell_number(offset),
		};
		size = fill_row(listing, offset, cells);
		cells[CODE_SIZE] = cell_number(size);
		shown_code_place(shown, offset, &cells[CODE_IL], &cells[CODE_FILE],
				 &cells[CODE_LINE]);
		cells[CODE_BEGINS] = cell_flag(!offset || !is_same(&listing->il, &cells[CODE_IL]));
		listing->il = cells[CODE_IL];
		TRY_MEMORY(!listing->bytes.failed && !listing->name.failed, call->err);
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
	HD_CLEANUP(listing) struct listing listing = { .call = call, .shown = &shown };
	listing.symbols_left = SYMBOL_BYTES_MAX;
	TRY(shown_code_find(call, &shown));
	listing.disassembler = disassembler_create(runtime_arch(call->heap->runtime));
	shown_code_write(call, &shown);
	TRY(write_pieces(&listing));
	if (!listing.disassembler)
		answer_remark(&call->answer, "\nThere is no disassembler for this code here.\n");
	return HD_OK;
}

COMMAND(clru, .alias = "u", .has_rows = true,
	.summary = "show the instructions of a method, with the lines and the IL behind them",
	.description =
		"METHOD is the address of a MethodDesc, or one in the code of a method. After a\n"
		"call comes the name of the method or native function that it goes to now. x64 is\n"
		"shown as Intel writes it, and --json has the bytes, too.\n",
	.example = "clru 7f0f794a1ba0", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA, .words = { { "METHOD", VALUE_ADDRESS, false } });
