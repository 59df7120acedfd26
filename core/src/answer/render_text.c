/* SPDX-License-Identifier: MIT */
/* Answers as text: SOS's columns, in colour where that is on. */
#include "answer/answering.h"

static void put_address_cell(struct text *text, const struct column *column, uint64_t address)
{
	if (column->look & LOOK_PREFIXED)
		text_puts(text, "0x");
	text_hex(text, address, column->look & LOOK_ZEROS ? 16 : 1,
		 (column->look & LOOK_UPPER) != 0);
}

static void put_number_cell(struct text *text, const struct column *column, uint64_t number)
{
	char buf[NUMBER_SIZE];
	if (column->look & LOOK_THOUSANDS) {
		text_puts(text, format_thousands(number, buf));
	} else {
		text_number(text, number);
	}
}

static void put_type_cell(struct text *text, const struct cell *cell)
{
	if (cell->text.bytes) {
		text_escape(text, cell->text.bytes, cell->text.size);
	} else {
		text_printf(text, "<unknown type %llx>", (unsigned long long)cell->text.id);
	}
}

void text_set(struct text *text, const struct cell *cell, const char *between)
{
	bool any = false;
	for (size_t i = 0; cell->set.names[i]; i++) {
		if (!(cell->set.bits >> i & 1))
			continue;
		text_puts(text, any ? between : "");
		text_puts(text, cell->set.names[i]);
		any = true;
	}
}

void out_type_cell(struct out *out, const struct cell *cell)
{
	if (cell->shown) {
		out_styled(out, STYLE_NOTE, "%s", cell->shown);
	} else {
		out_type(out, cell->text.bytes, cell->text.size, cell->text.id);
	}
}

void cell_format(struct text *text, const struct column *column, const struct cell *cell)
{
	if (cell->shown) {
		text_puts(text, cell->shown);
		return;
	}
	if (!cell->is_there && column->kind != KIND_TYPE)
		return;
	char real[32];
	enum cell_kind kind = column->kind == KIND_ANY ? (enum cell_kind)cell->kind : column->kind;
	switch (kind) {
	case KIND_FLAG:
		text_puts(text, cell->flag ? "yes" : "no");
		break;
	case KIND_NUMBER:
	case KIND_BYTES:
		put_number_cell(text, column, cell->number);
		break;
	case KIND_SIGNED:
		if (cell->signed_number < 0)
			text_puts(text, "-");
		put_number_cell(text, column,
				cell->signed_number < 0 ? 0 - (uint64_t)cell->signed_number
							: (uint64_t)cell->signed_number);
		break;
	case KIND_PERCENT:
		text_printf(text, "%.1f%%", cell->real);
		break;
	case KIND_REAL:
	case KIND_SINGLE:
		(void)format_real(cell->real, kind == KIND_SINGLE, real, sizeof(real));
		text_puts(text, real);
		break;
	case KIND_ADDRESS:
		put_address_cell(text, column, cell->number);
		break;
	case KIND_TEXT:
		text_escape(text, cell->text.bytes, cell->text.size);
		break;
	case KIND_TYPE:
		put_type_cell(text, cell);
		break;
	case KIND_SET:
		text_set(text, cell, ",");
		break;
	case KIND_ANY:
		break;
	}
}

/* The colour of a cell; false: none. */
static bool style_of(const struct column *column, const struct cell *cell, enum style *ret)
{
	bool is_type = column->kind == KIND_TYPE;
	if (is_type && (cell->shown || !cell->is_there)) {
		*ret = STYLE_NOTE;
	} else if (is_type) {
		*ret = STYLE_TYPE;
	} else if (column->look & LOOK_ADDRESS) {
		*ret = STYLE_ADDRESS;
	} else {
		return false;
	}
	return true;
}

/* Move what was appended since @p begin to the right, so that it ends at @p width. */
static void align_right(struct text *text, size_t begin, size_t width)
{
	static const char blanks[] =
		"                                                                ";
	size_t size = text->size - begin;
	if (text->failed || size >= width)
		return;
	size_t missing = width - size;
	while (missing) {
		size_t now = missing < sizeof(blanks) - 1 ? missing : sizeof(blanks) - 1;
		text_append(text, blanks, now);
		missing -= now;
	}
	if (text->failed)
		return;
	memmove(text->bytes + begin + (width - size), text->bytes + begin, size);
	memset(text->bytes + begin, ' ', width - size);
}

/* Fill @p width columns, as the look of @p column says. */
static void render_text_cell(struct out *out, const struct column *column, const struct cell *cell,
			     uint8_t width)
{
	struct text *text = &out->text;
	enum style style;
	struct column narrow = *column;
	if (column->kind == KIND_ADDRESS && out_is_narrow(out)) {
		narrow.look &= (uint8_t)~LOOK_ZEROS;
		column = &narrow;
	}
	bool has_style = style_of(column, cell, &style);
	if (has_style)
		out_begin_style(out, style);
	bool is_name = column->kind == KIND_TYPE;
	if (is_name)
		out_begin_name(out, FIT_TYPE);
	size_t begin = text->size;
	cell_format(text, column, cell);
	size_t size = text->size - begin;
	if (is_name)
		out_end_name(out);
	if (column->look & LOOK_LEFT || is_name) {
		out_pad(out, size < width ? width - size : 0);
	} else {
		align_right(text, begin, width);
	}
	if (has_style)
		out_end_style(out);
}

static uint8_t width_of(const struct answer *answer, const struct answer_level *level, size_t i)
{
	const struct column *column = &level->schema->columns[i];
	uint8_t width = level->options.widths ? level->options.widths[i] : column->width;
	uint8_t narrow = (uint8_t)out_address_digits(answer->out);
	return column->kind == KIND_ADDRESS && width > narrow ? narrow : width;
}

static bool column_is_shown(const struct answer_level *level, size_t i)
{
	return level->schema->columns[i].heading && !(level->options.hidden >> i & 1);
}

static void render_text_headings(struct answer *answer, const struct answer_level *level)
{
	struct out *out = answer->out;
	const char *between = "";
	for (size_t i = 0; i < level->schema->count; i++) {
		const struct column *column = &level->schema->columns[i];
		if (!column_is_shown(level, i))
			continue;
		const struct column heading = { .kind = KIND_TEXT,
						.look = column->look & LOOK_LEFT };
		const struct cell cell = cell_string(column->heading);
		text_puts(&out->text, *column->heading ? between : "");
		render_text_cell(out, &heading, &cell, width_of(answer, level, i));
		between = " ";
	}
}

static void write_heading(struct answer *answer)
{
	struct answer_level *level = &answer->levels[answer->depth - 1];
	const struct schema *schema = level->schema;
	level->is_begun = true;
	if (level->options.no_heading || (schema->layout && !schema->heading))
		return;
	out_begin_style(answer->out, STYLE_HEAD);
	uint32_t narrow = schema->narrow_below ? schema->narrow_below : OUT_NARROW;
	if (schema->narrow_heading && out_has_fewer(answer->out, narrow)) {
		out_puts(answer->out, schema->narrow_heading);
	} else if (schema->heading) {
		out_puts(answer->out, schema->heading);
	} else {
		render_text_headings(answer, level);
	}
	out_end_style(answer->out);
	out_puts(answer->out, "\n");
}

static void render_text_table(struct answer *answer)
{
	if (!answer->levels[answer->depth - 1].options.late_heading)
		write_heading(answer);
}

static void render_text_row(struct answer *answer, const struct cell *cells)
{
	const struct answer_level *level = &answer->levels[answer->depth - 1];
	struct out *out = answer->out;
	if (!level->is_begun)
		write_heading(answer);
	if (level->schema->layout) {
		level->schema->layout(out, cells);
		return;
	}
	bool any = false;
	for (size_t i = 0; i < level->schema->count; i++) {
		if (!column_is_shown(level, i))
			continue;
		text_puts(&out->text, any ? " " : "");
		render_text_cell(out, &level->schema->columns[i], &cells[i],
				 width_of(answer, level, i));
		any = true;
	}
	out_puts(out, any ? "\n" : "");
}

/* "Heading: value", one line for each member that has a value and a heading. */
static void render_text_record(struct answer *answer, const struct schema *schema,
			       const struct cell *cells)
{
	struct out *out = answer->out;
	if (schema->layout) {
		schema->layout(out, cells);
		return;
	}
	for (size_t i = 0; i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		if (!column->heading || (!cells[i].is_there && !cells[i].shown))
			continue;
		text_puts(&out->text, column->heading);
		out_pad(out, strlen(column->heading) < column->width
				     ? column->width - strlen(column->heading)
				     : 0);
		render_text_cell(out, column, &cells[i], 0);
		out_puts(out, "\n");
	}
}

const struct renderer text_renderer = {
	.table = render_text_table,
	.row = render_text_row,
	.record = render_text_record,
	.record_begin = render_text_record,
	.shows_remarks = true,
};

static void begin_brief(struct answer *answer)
{
	(void)answer_enter_main(answer);
}

static void write_brief_row(struct answer *answer, const struct cell *cells)
{
	const struct answer_level *level = &answer->levels[answer->depth - 1];
	if (answer->main_depth != answer->depth)
		return;
	if (level->options.brief) {
		level->options.brief(answer->out, cells);
		return;
	}
	cell_format(&answer->out->text, &level->schema->columns[0], &cells[0]);
	out_puts(answer->out, "\n");
}

const struct renderer brief_renderer = {
	.table = begin_brief,
	.table_end = answer_leave_main,
	.row = write_brief_row,
};
