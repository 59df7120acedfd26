/* SPDX-License-Identifier: MIT */
/* Answers as text: SOS's columns, in colour where that is on. */
#include <stdlib.h>

#include "answer/answering.h"
#include "answer/cell_lines.h"
#include "output/fit.h"

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

/* How a placeholder of schema->lines shows its cell. */
struct picture {
	bool is_left;
	unsigned int width;  /* fewest characters */
	unsigned int digits; /* fewest digits of a hexadecimal number */
	char form;           /* its letter, or 0 */
	const char *noun;    /* after the '*' */
	int noun_size;
};

static bool ends_name(char c)
{
	return c == '}' || c == ':' || c == '?' || c == ' ' || !c;
}

/* The column whose name, or heading if it has none, begins at *@p at, which is after it from now on. */
static size_t column_at(const struct schema *schema, const char **at)
{
	size_t i = 0, size = 0;
	for (; i < schema->count; i++) {
		const struct column *column = &schema->columns[i];
		const char *own = column->name ? column->name : column->heading;
		for (size = 0; own && own[size] && own[size] == (*at)[size];)
			size++;
		if (own && !own[size] && ends_name((*at)[size]))
			break;
	}
	while (!ends_name((*at)[size]))
		size++;
	*at += size;
	return i;
}

/* The part after the ':' of a placeholder; *@p at is after it from now on. */
static struct picture read_picture(const char **at)
{
	struct picture picture = { .is_left = **at == '-' };
	*at += picture.is_left;
	unsigned int *number = **at == '0' ? &picture.digits : &picture.width;
	for (; **at >= '0' && **at <= '9'; (*at)++)
		*number = *number * 10 + (unsigned int)(**at - '0');
	if (**at != '?' && **at != '}')
		picture.form = *(*at)++;
	for (picture.noun = *at; !ends_name(**at) || **at == ' '; (*at)++)
		picture.noun_size++;
	return picture;
}

static void put_form(struct out *out, const struct column *column, const struct cell *cell,
		     const struct picture *picture)
{
	struct text *text = &out->text;
	struct cell shown;
	char buf[COUNT_SIZE];
	switch (picture->form) {
	case 'a':
	case 'x':
	case 'X':
		text_hex(text, cell->number, picture->digits, picture->form == 'X');
		break;
	case ',':
	case '*':
		text_puts(text, format_thousands(cell->number, buf));
		break;
	case '+':
		text_number(text, cell->number);
		break;
	case 'b':
		text_puts(text, format_bytes(cell->number, buf));
		break;
	case '_':
		out_pad(out, cell->number);
		break;
	case 's': /* the next cell is the line */
		source_line_put(out, cell, cell + 1);
		break;
	default:
		shown = *cell;
		shown.is_there |= column->kind <= KIND_ADDRESS;
		if (column->kind == KIND_TYPE) {
			out_type_cell(out, cell);
		} else if (picture->digits) {
			text_hex(text, cell->number, picture->digits, false);
		} else {
			cell_format(text, column, &shown);
		}
	}
	if (picture->noun_size) {
		text_printf(text, " %.*s%s", picture->noun_size, picture->noun,
			    cell->number == 1 ? "" : "s");
	}
}

/* Write the cell in its style, if it has one, and fill up its width. */
static void put_picture(struct out *out, const struct column *column, const struct cell *cell,
			const struct picture *picture)
{
	const size_t begin = out->text.size;
	put_form(out, column, cell, picture);
	if (!picture->width)
		return;
	const size_t size = out->text.size - begin;
	if (!picture->is_left) {
		align_right(&out->text, begin, picture->width);
	} else if (size < picture->width) {
		out_pad(out, picture->width - size);
	}
}

/* Write the cell of the placeholder that begins at @p at; returns where the text goes on. */
static const char *put_placeholder(struct out *out, const struct schema *schema,
				   const struct cell *cells, const char *at)
{
	struct picture picture = { 0 };
	const size_t i = column_at(schema, &at);
	if (*at == ':' && at++)
		picture = read_picture(&at);
	const char *end = strchr(at, '}');
	if (!end || i == schema->count)
		return at;
	const struct column *column = &schema->columns[i], text = { .kind = KIND_TEXT };
	const struct cell *cell = &cells[i];
	struct cell word;
	if (*at == '?' && !cell->is_there && !cell->shown) {
		word = cell_text(at + 1, (size_t)(end - at) - 1);
		column = &text;
		cell = &word;
		picture.form = 0;
		picture.digits = 0;
	}
	if (picture.form == 'a')
		out_begin_style(out, STYLE_ADDRESS);
	if (picture.form == 'm')
		out_begin_name(out, FIT_METHOD);
	put_picture(out, column, cell, &picture);
	if (picture.form == 'm')
		out_end_name(out);
	if (picture.form == 'a')
		out_end_style(out);
	return end + 1;
}

/* Is the cell yes, not 0, or a text that is not empty, and that text shows? */
static bool cell_is_true(const struct column *column, const struct cell *cell)
{
	if (!cell->is_there || cell->shown)
		return cell->is_there && *cell->shown;
	switch (column->kind) {
	case KIND_FLAG:
		return cell->flag;
	case KIND_TEXT:
	case KIND_TYPE:
		return cell->text.size;
	default:
		return cell->number;
	}
}

/* Is the part that begins at *@p at shown?  *@p at is after its condition from now on. */
static bool part_is_shown(const struct schema *schema, const struct cell *cells, const char **at)
{
	const char condition = **at;
	const bool is_written = condition == '?' || condition == '=';
	const char *name = is_written ? *at + 1 : *at + strcspn(*at, "{") + 1;
	const size_t i = column_at(schema, &name);
	if (is_written)
		*at = name + (*name == ' ');
	if (i < schema->count && condition == '?')
		return cell_is_true(&schema->columns[i], &cells[i]);
	return i < schema->count && cells[i].is_there;
}

/* The end of the part that @p at lies in: after its ']', or, with @p or_else, after its '|'. */
static const char *skip_part(const char *at, bool or_else)
{
	for (size_t depth = 0; *at; at++) {
		if (*at == '\\' && at[1]) {
			at++;
		} else if (*at == '[') {
			depth++;
		} else if (!depth && (*at == ']' || (*at == '|' && or_else))) {
			return at + 1;
		} else if (*at == ']') {
			depth--;
		}
	}
	return at;
}

/* Write the character after a backslash: a style begins or ends, or it is only a character. */
static void put_escaped(struct out *out, char character)
{
	switch (character) {
	case 'a':
		out_begin_style(out, STYLE_ADDRESS);
		break;
	case 'h':
		out_begin_style(out, STYLE_HEAD);
		break;
	case 'd':
		out_begin_style(out, STYLE_NOTE);
		break;
	case '.':
		out_end_style(out);
		break;
	case 'w':
		out_begin_sentence(out);
		break;
	default:
		text_append(&out->text, &character, 1);
	}
}

static bool is_sign(char c)
{
	return c == '{' || c == '[' || c == '|' || c == ']' || c == '\\' || !c;
}

/* Write what schema->lines says. */
static void put_lines(struct out *out, const struct schema *schema, const struct cell *cells)
{
	for (const char *at = schema->lines; *at;) {
		size_t plain = 0;
		while (!is_sign(at[plain]))
			plain++;
		text_append(&out->text, at, plain);
		at += plain;
		const char sign = *at;
		at += sign != 0;
		if (sign == '{') {
			at = put_placeholder(out, schema, cells, at);
		} else if (sign == '[' && !part_is_shown(schema, cells, &at)) {
			at = skip_part(at, true);
		} else if (sign == '|') {
			at = skip_part(at, false);
		} else if (sign == '\\' && *at) {
			put_escaped(out, *at++);
		}
	}
	out_flush_if_full(out);
}

/* Write a row or record that does not consist of its columns; false: it does. */
static bool put_own_text(struct out *out, const struct schema *schema, const struct cell *cells)
{
	if (schema->layout) {
		schema->layout(out, cells);
	} else if (schema->lines) {
		put_lines(out, schema, cells);
	}
	return schema->layout || schema->lines;
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
	if (level->options.no_heading || ((schema->layout || schema->lines) && !schema->heading))
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
	if (put_own_text(out, level->schema, cells))
		return;
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
	if (put_own_text(out, schema, cells))
		return;
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
