/* SPDX-License-Identifier: MIT */
/* The main table of an answer as RFC 4180 has it: lines end with CR LF, numbers are plain. */
#include "answer/answering.h"

/*
 * A field that holds a comma, a quote or the end of a line is in quotes, and quotes in it are
 * doubled.  Other characters that a terminal would act on are escaped, as in text.
 */
static void render_csv_field(struct text *text, const char *bytes, size_t size)
{
	static const char special[] = { ',', '"', '\r', '\n' };
	bool is_quoted = false;
	for (size_t i = 0; i < sizeof(special) && size; i++)
		is_quoted = is_quoted || memchr(bytes, special[i], size);
	if (!is_quoted) {
		text_escape(text, bytes, size);
		return;
	}
	text_puts(text, "\"");
	for (size_t i = 0; i < size;) {
		size_t run = 0;
		while (i + run < size && bytes[i + run] != '"' && bytes[i + run] != '\n')
			run++;
		text_escape(text, bytes + i, run);
		i += run;
		if (i < size)
			text_puts(text, bytes[i++] == '"' ? "\"\"" : "\n");
	}
	text_puts(text, "\"");
}

static void render_csv_cell(struct text *text, enum cell_kind kind, const struct cell *cell)
{
	char real[32];
	if (kind == KIND_ANY)
		kind = (enum cell_kind)cell->kind;
	switch (kind) {
	case KIND_FLAG:
		text_puts(text, cell->flag ? "true" : "false");
		break;
	case KIND_NUMBER:
	case KIND_BYTES:
		text_number(text, cell->number);
		break;
	case KIND_SIGNED:
		if (cell->signed_number < 0)
			text_puts(text, "-");
		text_number(text, cell->signed_number < 0 ? 0 - (uint64_t)cell->signed_number
							  : (uint64_t)cell->signed_number);
		break;
	case KIND_PERCENT:
		text_printf(text, "%.1f", cell->real);
		break;
	case KIND_REAL:
	case KIND_SINGLE:
		(void)format_real(cell->real, kind == KIND_SINGLE, real, sizeof(real));
		text_puts(text, real);
		break;
	case KIND_ADDRESS:
		text_puts(text, "0x");
		text_hex(text, cell->number, 1, false);
		break;
	case KIND_TEXT:
	case KIND_TYPE:
		render_csv_field(text, cell->text.bytes, cell->text.size);
		break;
	case KIND_SET:
		text_set(text, cell, " ");
		break;
	case KIND_ANY:
		break;
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
		out_puts(answer->out, name);
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
		if (cells[i].is_there)
			render_csv_cell(text, schema->columns[i].kind, &cells[i]);
		between = ",";
	}
	out_puts(answer->out, "\r\n");
}

const struct renderer csv_renderer = {
	.table = render_csv_table,
	.table_end = answer_leave_main,
	.row = render_csv_row,
};
