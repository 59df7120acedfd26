/* SPDX-License-Identifier: MIT */
#include "managed_elf/line_table.h"

#include "util/alloc.h"
#include "util/leb.h"

/* Standard and extended opcodes (DWARF 4, 7.21). */
enum {
	LNS_EXTENDED,
	LNS_COPY,
	LNS_ADVANCE_PC,
	LNS_ADVANCE_LINE,
	LNS_SET_FILE,
	LNS_NEGATE_STMT = 6,
	LNS_SET_PROLOGUE_END = 10,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2,
};

#define VERSION 4u
#define SLOTS   ((size_t)2 * LINE_FILES_MAX)

void line_table_deinit(struct line_table *table)
{
	text_deinit(&table->program);
	text_deinit(&table->files);
	mem_free(table->paths);
	mem_free(table->numbers);
	*table = (struct line_table){ 0 };
}

static bool make_slots(struct line_table *table)
{
	if (!table->paths)
		table->paths = mem_calloc(SLOTS, sizeof(*table->paths));
	if (!table->numbers)
		table->numbers = mem_calloc(SLOTS, sizeof(*table->numbers));
	table->files.failed |= !table->paths || !table->numbers;
	return !table->files.failed;
}

uint32_t line_table_file(struct line_table *table, const char *path)
{
	if (!make_slots(table))
		return 0;
	size_t slot = (size_t)((uintptr_t)path * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;
	while (table->paths[slot] && table->paths[slot] != path)
		slot = (slot + 1) % SLOTS;
	if (!table->paths[slot]) {
		if (table->files_count == LINE_FILES_MAX)
			return 0;
		table->paths[slot] = path;
		table->numbers[slot] = ++table->files_count;
		text_escape(&table->files, path, strlen(path));
		text_append(&table->files, "\0\0\0\0", 4);
	}
	return table->numbers[slot];
}

void line_table_begin(struct line_table *table, uint64_t address)
{
	text_fixed(&table->program, LNS_EXTENDED, 1);
	text_uleb(&table->program, 1 + sizeof(address));
	text_fixed(&table->program, LNE_SET_ADDRESS, 1);
	text_fixed(&table->program, address, sizeof(address));
	table->address = address;
	table->last = (struct line_place){ .line = 1, .is_statement = true };
	table->has_rows = false;
	table->has_statement = false;
}

static void advance(struct line_table *table, uint64_t address)
{
	if (address == table->address)
		return;
	text_fixed(&table->program, LNS_ADVANCE_PC, 1);
	text_uleb(&table->program, address - table->address);
	table->address = address;
}

void line_table_row(struct line_table *table, uint64_t address, const struct line_place *place)
{
	struct line_place next = *place;
	const struct line_place last = table->last;
	if (!next.file)
		next = (struct line_place){ .file = last.file, .line = 0 };
	if (table->has_rows && next.file == last.file && next.line == last.line &&
	    !next.is_statement)
		return;
	advance(table, address);
	if (next.file != last.file) {
		text_fixed(&table->program, LNS_SET_FILE, 1);
		text_uleb(&table->program, next.file);
	}
	if (next.line != last.line) {
		text_fixed(&table->program, LNS_ADVANCE_LINE, 1);
		text_sleb(&table->program, (int64_t)next.line - (int64_t)last.line);
	}
	if (next.is_statement != last.is_statement)
		text_fixed(&table->program, LNS_NEGATE_STMT, 1);
	if (next.is_statement && !table->has_statement)
		text_fixed(&table->program, LNS_SET_PROLOGUE_END, 1);
	text_fixed(&table->program, LNS_COPY, 1);
	table->has_statement |= next.is_statement;
	table->last = next;
	table->has_rows = true;
	table->rows++;
}

void line_table_end(struct line_table *table, uint64_t address)
{
	advance(table, address);
	text_fixed(&table->program, LNS_EXTENDED, 1);
	text_uleb(&table->program, 1);
	text_fixed(&table->program, LNE_END_SEQUENCE, 1);
}

bool line_table_failed(const struct line_table *table)
{
	return table->program.failed || table->files.failed;
}

void line_table_write(const struct line_table *table, struct text *ret)
{
	/* The smallest instruction, operations of one, are rows statements, special opcodes (none is used), and the
	 * number of operands of each standard opcode. */
	static const char head[] = "\1\1\1\xfb\x0e\x0d\0\1\1\1\1\0\0\0\1\0\0\1";
	size_t begin = ret->size, size = sizeof(head) - 1 + 1 + table->files.size + 1;
	text_fixed(ret, 2 + 4 + size + table->program.size, 4);
	text_fixed(ret, VERSION, 2);
	text_fixed(ret, size, 4);
	text_append(ret, head, sizeof(head) - 1);
	text_fixed(ret, 0, 1); /* no folders: paths are whole */
	text_append(ret, table->files.bytes, table->files.size);
	text_fixed(ret, 0, 1);
	text_append(ret, table->program.bytes, table->program.size);
	ret->failed |= ret->size - begin > UINT32_MAX;
}
