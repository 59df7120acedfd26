/* SPDX-License-Identifier: MIT */
/* The main table of an answer as RFC 4180 has it: lines end with CR LF, numbers are plain. */
#include <string.h>

#include "answer/answering.h"

/* Is it only a number with its sign?  A spreadsheet takes it for what it is. */
static bool is_signed_number(const char *bytes, size_t size)
{
	size_t at = size && (*bytes == '-' || *bytes == '+'), digits = 0;
	for (unsigned int part = 0; part < 2; part++) {
		for (; at < size && bytes[at] >= '0' && bytes[at] <= '9'; digits++)
			at++;
		if (part || at == size || bytes[at] != '.')
			break;
		at++;
	}
	if (digits && at + 1 < size && (bytes[at] == 'e' || bytes[at] == 'E')) {
		size_t start = at + 1 + (bytes[at + 1] == '-' || bytes[at + 1] == '+');
		for (at = start; at < size && bytes[at] >= '0' && bytes[at] <= '9';)
			at++;
		digits = at - start;
	}
	return digits && at == size;
}

/* Does what begins here, at the beginning of a cell, become a formula in a spreadsheet?  Wide signs do, too. */
static bool begins_formula(const char *bytes, size_t size)
{
	static const char wide[][4] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					"\xef\xbc\xa0" };
	if (*bytes == '=' || *bytes == '+' || *bytes == '-' || *bytes == '@')
		return true;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		if (size >= 3 && memcmp(bytes, wide[i], 3) == 0)
			return true;
	}
	return false;
}

/*
 * May a spreadsheet begin a cell after this byte?  It does after the end of a line, and after a semicolon
 * where that separates cells; there it knows no quotes that were written for commas.  Blanks and quotes
 * that follow change nothing.
 */
static bool leads_to_cell(char c, bool is_at_cell)
{
	return c == ';' || c == '\n' || (is_at_cell && (c == ' ' || c == '"'));
}

/* Can the field be written as it is, but for escapes?  Most can. */
static bool is_plain_field(const char *bytes, size_t size)
{
	static const char special[] = { ',', '"', '\r', '\n', ';' };
	if (size && (*bytes == ' ' || begins_formula(bytes, size)))
		return false;
	for (size_t i = 0; i < sizeof(special) && size; i++) {
		if (memchr(bytes, special[i], size))
			return false;
	}
	return true;
}

/*
 * A field that holds a comma, a quote or the end of a line is in quotes, and quotes in it are
 * doubled.  Other characters that nobody sees are escaped, as in text.  What a spreadsheet would take
 * for a formula gets an apostrophe, which makes it text, unless the bytes are wanted as they are.
 */
static void render_csv_field(struct text *text, const char *bytes, size_t size, bool is_raw)
{
	if (is_plain_field(bytes, size)) {
		text_escape(text, bytes, size);
		return;
	}
	bool is_quoted = memchr(bytes, ',', size) || memchr(bytes, '"', size) ||
			 memchr(bytes, '\r', size) || memchr(bytes, '\n', size);
	bool is_guarded = !is_raw && !is_signed_number(bytes, size), is_at_cell = true;
	size_t written = 0;
	text_puts(text, is_quoted ? "\"" : "");
	for (size_t i = 0; i < size; i++) {
		char c = bytes[i];
		bool is_formula = is_guarded && is_at_cell && begins_formula(bytes + i, size - i);
		if (is_formula || c == '"' || c == '\n') {
			text_escape(text, bytes + written, i - written);
			text_puts(text, is_formula ? "'" : c == '"' ? "\"\"" : "\n");
			written = is_formula ? i : i + 1;
		}
		is_at_cell = leads_to_cell(c, is_at_cell);
	}
	text_escape(text, bytes + written, size - written);
	text_puts(text, is_quoted ? "\"" : "");
}

static void render_csv_cell(struct text *text, enum cell_kind kind, const struct cell *cell,
			    bool is_raw)
{
	const struct column column = { .kind = kind, .look = LOOK_PREFIXED };
	const struct cell value = cell_shown(*cell, NULL);
	switch (kind == KIND_ANY ? (enum cell_kind)cell->kind : kind) {
	case KIND_FLAG:
		text_puts(text, cell->flag ? "true" : "false");
		break;
	case KIND_PERCENT:
		text_printf(text, "%.1f", cell->real);
		break;
	case KIND_TEXT:
	case KIND_TYPE:
		render_csv_field(text, cell->text.bytes, cell->text.size, is_raw);
		break;
	case KIND_SET:
		text_set(text, cell, " ");
		break;
	default:
		cell_format(text, &column, &value);
	}
}

static void render_csv_table(struct answer *answer)
{
	const struct schema *schema = answer->levels[answer->depth - 1].schema;
	const char *between = "";
	if (!answer_enter_main(answer))
		return;
	for (size_t i = 0; i < schema->count; i++) {
		const char *name = schema->columns[i].name;
		if (!name)
			continue;
		out_puts(answer->out, between);
		render_csv_field(&answer->out->text, name, strlen(name), answer->is_raw_csv);
		between = ",";
	}
	out_puts(answer->out, "\r\n");
}

/* A line has no place for tables inside a row. */
static void render_csv_row(struct answer *answer, const struct cell *cells)
{
	const struct schema *schema = answer->levels[answer->depth - 1].schema;
	struct text *text = &answer->out->text;
	const char *between = "";
	if (answer->main_depth != answer->depth)
		return;
	for (size_t i = 0; i < schema->count; i++) {
		if (!schema->columns[i].name)
			continue;
		text_puts(text, between);
		if (cells[i].is_there) {
			render_csv_cell(text, schema->columns[i].kind, &cells[i],
					answer->is_raw_csv);
		}
		between = ",";
	}
	out_puts(answer->out, "\r\n");
}

const struct renderer csv_renderer = {
	.table = render_csv_table,
	.table_end = answer_leave_main,
	.row = render_csv_row,
};
