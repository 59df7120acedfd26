/* SPDX-License-Identifier: MIT */
#include "answer/answering.h"

#include <stdarg.h>

#include "graph/short_names.h"

static const struct renderer *const renderers[] = {
	[FORMAT_TEXT] = &text_renderer,     [FORMAT_JSON] = &json_renderer,
	[FORMAT_NDJSON] = &ndjson_renderer, [FORMAT_CSV] = &csv_renderer,
	[FORMAT_ROWS] = &visit_renderer,
};

void answer_init(struct answer *answer, enum answer_format format, struct out *out,
		 struct json *json)
{
	*answer = (struct answer){ .renderer = renderers[format], .out = out, .json = json };
}

bool answer_enter_main(struct answer *answer)
{
	const struct answer_level *level = &answer->levels[answer->depth - 1];
	if (!level->schema->is_main || answer->had_main)
		return false;
	answer->had_main = true;
	answer->main_depth = answer->depth;
	return true;
}

void answer_leave_main(struct answer *answer)
{
	if (answer->main_depth == answer->depth)
		answer->main_depth = 0;
}

void answer_be_brief(struct answer *answer)
{
	if (answer->renderer == &text_renderer)
		answer->renderer = &brief_renderer;
}

bool answer_is_data(const struct answer *answer)
{
	return answer->renderer != &text_renderer && answer->renderer != &brief_renderer;
}

bool answer_is_stopped(const struct answer *answer)
{
	return answer->out->stopped;
}

bool answer_is_text(const struct answer *answer)
{
	return answer->renderer->shows_remarks;
}

void answer_table(struct answer *answer, const struct schema *schema,
		  const struct table_options *options)
{
	bool is_left_out = !schema->name && !answer->renderer->shows_remarks;
	if (answer->depth)
		is_left_out |= answer->levels[answer->depth - 1].is_left_out;
	struct answer_level *level = &answer->levels[answer->depth++];
	*level = (struct answer_level){ .schema = schema, .is_left_out = is_left_out };
	if (options) {
		level->options = *options;
	} else {
		level->options.limit = UINT64_MAX;
	}
	if (!is_left_out)
		answer->renderer->table(answer);
}

static struct answer_level *innermost(struct answer *answer)
{
	return &answer->levels[answer->depth - 1];
}

bool answer_wants_row(struct answer *answer)
{
	struct answer_level *level = innermost(answer);
	return level->rows++ < level->options.limit;
}

uint64_t answer_rows(const struct answer *answer)
{
	return answer->levels[answer->depth - 1].rows;
}

/* Look for short names in cells that are written. */
static void note_short_names(struct answer *answer, const struct schema *schema,
			     const struct cell *cells)
{
	if (!answer->short_names || answer->has_short_name)
		return;
	for (size_t i = 0; i < schema->count; i++) {
		uint8_t kind = (uint8_t)schema->columns[i].kind;
		if (kind == KIND_ANY)
			kind = (uint8_t)cells[i].kind;
		if (cells[i].is_there && (kind == KIND_TEXT || kind == KIND_TYPE) &&
		    short_names_has(answer->short_names, cells[i].text.bytes, cells[i].text.size))
			answer->has_short_name = true;
	}
}

void answer_row(struct answer *answer, const struct cell *cells)
{
	answer->rows++;
	if (!innermost(answer)->is_left_out)
		note_short_names(answer, innermost(answer)->schema, cells);
	if (!innermost(answer)->is_left_out)
		answer->renderer->row(answer, cells);
}

void answer_row_begin(struct answer *answer, const struct cell *cells)
{
	innermost(answer)->is_in_row = true;
	answer_row(answer, cells);
}

void answer_row_end(struct answer *answer)
{
	innermost(answer)->is_in_row = false;
	if (!innermost(answer)->is_left_out && answer->renderer->row_end)
		answer->renderer->row_end(answer);
}

bool answer_table_end(struct answer *answer)
{
	const struct answer_level *level = innermost(answer);
	bool is_cut = level->rows > level->options.limit;
	if (!level->is_left_out && answer->renderer->table_end)
		answer->renderer->table_end(answer);
	answer->depth--;
	return is_cut;
}

void answer_record(struct answer *answer, const struct schema *schema, const struct cell *cells)
{
	note_short_names(answer, schema, cells);
	if (answer->renderer->record)
		answer->renderer->record(answer, schema, cells);
}

void answer_record_begin(struct answer *answer, const struct schema *schema,
			 const struct cell *cells)
{
	note_short_names(answer, schema, cells);
	if (answer->renderer->record_begin)
		answer->renderer->record_begin(answer, schema, cells);
}

void answer_record_end(struct answer *answer)
{
	if (answer->renderer->row_end)
		answer->renderer->row_end(answer);
}

void answer_data(struct answer *answer, const struct schema *schema, const struct cell *cells)
{
	if (!answer->renderer->shows_remarks)
		answer_record(answer, schema, cells);
}

void answer_heading(struct answer *answer, const struct schema *schema, const struct cell *cells)
{
	if (answer->renderer->shows_remarks)
		answer_record(answer, schema, cells);
}

void answer_none(struct answer *answer, const char *name)
{
	if (answer->renderer->none)
		answer->renderer->none(answer, name);
}

void answer_object(struct answer *answer, const char *name)
{
	if (answer->renderer->object)
		answer->renderer->object(answer, name);
}

void answer_object_end(struct answer *answer)
{
	if (answer->renderer->object_end)
		answer->renderer->object_end(answer);
}

void answer_list(struct answer *answer, const char *name, const char *const *items, size_t count)
{
	if (answer->renderer->list)
		answer->renderer->list(answer, name, items, count);
}

void answer_remark(struct answer *answer, const char *format, ...)
{
	if (!answer->renderer->shows_remarks)
		return;
	va_list args;
	va_start(args, format);
	out_vprintf(answer->out, format, args);
	va_end(args);
}

void answer_remark_styled(struct answer *answer, enum style style, const char *format, ...)
{
	if (!answer->renderer->shows_remarks)
		return;
	va_list args;
	va_start(args, format);
	out_begin_style(answer->out, style);
	out_vprintf(answer->out, format, args);
	out_end_style(answer->out);
	va_end(args);
}

void answer_truncated(struct answer *answer)
{
	static const struct column columns[] = {
		{ "truncated", NULL, KIND_FLAG, 0, 0, "are there more rows?" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	answer_data(answer, &schema, (const struct cell[]){ cell_flag(true) });
}

void answer_cut(struct answer *answer, uint64_t limit)
{
	char number[NUMBER_SIZE];
	answer_truncated(answer);
	answer_remark(answer, "(the first %s; -limit 0 lists all)\n",
		      format_thousands(limit, number));
}
