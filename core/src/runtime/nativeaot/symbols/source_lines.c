/* SPDX-License-Identifier: MIT */
/* Lines of source code by the line table of the compiler's unit, which libdw reads (doc/nativeaot.md 9.4). */
#include "runtime/nativeaot/symbols/source_lines.h"

#include <dwarf.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/symbols/symbols.h"
#include "targets/target.h"
#include "util/alloc.h"

/* The fixed part of a table of versions 2 to 4, up to minimum_instruction_length (DWARF 4, 6.2.4). */
#define HEADER_SIZE  10u
#define OPCODES_MAX  64u
#define FOLDER_MAX   1024u
#define VERSION_LAST 4u
/* The line that compilers give to code that no line of the source has. */
#define HIDDEN_LINE 0xfeefee
/* libdw makes at most one row of a byte, and twice as many while it sorts them. */
#define BYTES_OF_ROW 112u
/* A file of its own takes at least so many bytes of a table, and libdw puts the folder in front of each. */
#define BYTES_OF_FILE 5u

struct source_lines {
	Dwarf_Lines *lines; /* ascending by address; they belong to the Dwarf */
	size_t count;
};

/*
 * The longest name of a folder in the header of the table at @p at; false: the table is of another version, or damaged.
 */
static bool longest_folder(const uint8_t *at, const uint8_t *end, size_t *ret)
{
	uint16_t version = load_u16(at + 4);
	size_t skip = HEADER_SIZE + (version >= 4) + 1 + 1 + 1 + 1;
	if (version < 2 || version > VERSION_LAST || (size_t)(end - at) <= skip)
		return false;
	uint8_t opcodes = at[skip];
	at += skip + 1;
	if (!opcodes || opcodes > OPCODES_MAX || (size_t)(end - at) < (size_t)opcodes - 1)
		return false;
	at += opcodes - 1;
	*ret = 0;
	while (at < end && *at) {
		const uint8_t *stop = memchr(at, 0, (size_t)(end - at));
		if (!stop || stop - at > (ptrdiff_t)FOLDER_MAX)
			return false;
		*ret = (size_t)(stop - at) > *ret ? (size_t)(stop - at) : *ret;
		at = stop + 1;
	}
	return at < end;
}

/* Is there memory for all that libdw may make of the table? */
static bool table_is_good(struct target *target, struct aot_symbols *symbols)
{
	const Elf_Data *data = dwarf_file_section(&symbols->file, ".debug_line");
	uint64_t offset = 0;
	size_t folder = 0;
	if (!data || !dwarf_number_of(&symbols->file.unit, DW_AT_stmt_list, &offset) ||
	    offset > data->d_size || data->d_size - offset <= HEADER_SIZE)
		return false;
	const uint8_t *at = (const uint8_t *)data->d_buf + offset;
	uint64_t size = load_u32(at), left = data->d_size - offset;
	if (size > left - 4 || size < HEADER_SIZE || !longest_folder(at, at + 4 + size, &folder))
		return false;
	return target_reserve(target, size, BYTES_OF_ROW, NULL) == HD_OK &&
	       target_reserve(target, size / BYTES_OF_FILE, folder + 1, NULL) == HD_OK;
}

static struct source_lines *read_lines(struct target *target, struct aot_symbols *symbols)
{
	struct source_lines found = { 0 };
	if (!table_is_good(target, symbols) ||
	    dwarf_getsrclines(&symbols->file.unit, &found.lines, &found.count) != 0)
		return NULL;
	struct source_lines *lines = mem_alloc(1, sizeof(*lines));
	if (lines)
		*lines = found;
	return lines;
}

static uint64_t address_of(const struct source_lines *lines, size_t index)
{
	Dwarf_Addr address = 0;
	(void)dwarf_lineaddr(dwarf_onesrcline(lines->lines, index), &address);
	return address;
}

/* The last row whose address is at most @p place; NULL: there is none, or no code of it is there. */
static Dwarf_Line *line_at(const struct source_lines *lines, uint64_t place)
{
	size_t low = 0, high = lines->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (address_of(lines, middle) <= place) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	bool is_end = true;
	Dwarf_Line *line = low ? dwarf_onesrcline(lines->lines, low - 1) : NULL;
	return line && dwarf_lineendsequence(line, &is_end) == 0 && !is_end ? line : NULL;
}

bool source_line_find(struct target *target, struct aot_symbols *symbols, uint64_t place,
		      struct source_line *ret)
{
	int number = 0, column = 0;
	uint64_t address = 0;
	if (!symbols->has_tried_lines) {
		symbols->has_tried_lines = true;
		symbols->lines = read_lines(target, symbols);
	}
	const struct dwarf_function *function = dwarf_function_at(&symbols->types, place);
	Dwarf_Line *line = function && symbols->lines ? line_at(symbols->lines, place) : NULL;
	/* The table does not say where a function ends. */
	if (!line || dwarf_lineaddr(line, &address) != 0 || address < function->begin ||
	    dwarf_lineno(line, &number) != 0 || number <= 0 || number == HIDDEN_LINE)
		return false;
	const char *file = dwarf_linesrc(line, NULL, NULL);
	if (!file)
		return false;
	(void)dwarf_linecol(line, &column);
	*ret = (struct source_line){ .file = file,
				     .line = (uint32_t)number,
				     .column = column > 0 ? (uint32_t)column : 0 };
	return true;
}

bool aot_source_line(struct runtime *runtime, uint64_t method, uint64_t place,
		     struct source_line *ret)
{
	struct aot_symbols *symbols = aot_symbols(runtime);
	(void)method;
	return symbols && source_line_find(runtime->target, symbols, place - symbols->bias, ret);
}

void source_lines_destroy(struct source_lines *lines)
{
	mem_free(lines);
}
