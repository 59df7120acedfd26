/* SPDX-License-Identifier: MIT */
#include "command/report/page_rows.h"

#include <inttypes.h>

const struct hd_value *row_value(const struct hd_table *table, const struct hd_value *values,
				 const char *name)
{
	int index = hd_table_column(table, name);
	return values && index >= 0 && values[index].kind != HD_KIND_NULL ? &values[index] : NULL;
}

static bool is_number_kind(uint32_t kind)
{
	return kind == HD_KIND_NUMBER || kind == HD_KIND_SIGNED || kind == HD_KIND_BYTES ||
	       kind == HD_KIND_REAL || kind == HD_KIND_PERCENT;
}

static void write_value_cell(struct page *page, const struct hd_value *value)
{
	struct html *html = &page->html;
	char text[32];
	switch (value ? (enum hd_kind)value->kind : HD_KIND_NULL) {
	case HD_KIND_NUMBER:
		page_number(page, value->number);
		break;
	case HD_KIND_BYTES:
		page_bytes(page, value->number);
		break;
	case HD_KIND_ADDRESS:
		page_address(page, value->number);
		break;
	case HD_KIND_FLAG:
		html_puts(html, value->number ? "<td>yes</td>" : "<td>no</td>");
		break;
	case HD_KIND_SIGNED:
		html_printf(html, "<td class=\"n\" data-v=\"%" PRId64 "\">%" PRId64 "</td>",
			    value->signed_number, value->signed_number);
		break;
	case HD_KIND_REAL:
	case HD_KIND_PERCENT:
		html_printf(html, "<td class=\"n\">%s</td>",
			    format_real(value->real, false, text, sizeof(text)));
		break;
	case HD_KIND_TEXT:
	case HD_KIND_TYPE:
	case HD_KIND_SET:
		page_name(page, value->text, value->size);
		break;
	case HD_KIND_NULL:
	case HD_KIND_ANY:
		html_puts(html, "<td></td>");
		break;
	}
}

static void write_rows_heading(struct page *page, const struct rows_table *spec,
			       const struct hd_table *table)
{
	page_table(page, spec->table_id, spec->caption);
	for (const struct rows_column *column = spec->columns; column->name; column++) {
		int index = hd_table_column(table, column->name);
		page_column(page, column->title, index >= 0 ? table->columns[index].help : NULL,
			    index >= 0 && is_number_kind(table->columns[index].kind));
	}
	page_body(page);
}

static void write_answer_rows(struct page *page, const struct rows_table *spec,
			      const struct hd_rows *rows)
{
	const struct hd_table *table = hd_rows_find(rows, spec->table);
	uint64_t count = hd_rows_count(rows, table);
	if (!count) {
		html_puts(&page->html, "<p>There are none.</p>\n");
		return;
	}
	write_rows_heading(page, spec, table);
	for (uint64_t i = 0; i < count && i < spec->most; i++) {
		uint64_t row = spec->is_ascending ? count - 1 - i : i;
		const struct hd_value *values = hd_rows_at(rows, table, row);
		html_puts(&page->html, "<tr>");
		for (const struct rows_column *column = spec->columns; column->name; column++)
			write_value_cell(page, row_value(table, values, column->name));
		html_puts(&page->html, "</tr>\n");
	}
	page_table_end(page);
	if (count > spec->most) {
		html_printf(&page->html,
			    "<p class=\"note\">These are the first %" PRIu64 "; others are left "
			    "out.</p>\n",
			    spec->most);
	}
}

enum hd_status page_run(struct page *page, int argc, const char *const *argv, struct hd_rows **ret)
{
	struct hd_error *err = page->call->err;
	*ret = NULL;
	enum hd_status status = command_rows(page->call, argc, argv, ret);
	if (status == HD_OK || status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED)
		return status;
	html_printf(&page->html, "<p class=\"note\">%s has no answer here: ", argv[0]);
	html_string(&page->html, err->message);
	html_puts(&page->html, ".</p>\n");
	*err = (struct hd_error){ 0 };
	return HD_OK;
}

enum hd_status page_rows(struct page *page, const struct rows_table *table)
{
	struct hd_rows *rows;
	page_section(page, table->id, table->title);
	TRY(page_run(page, table->word_count, table->words, &rows));
	if (rows)
		write_answer_rows(page, table, rows);
	hd_rows_free(rows);
	html_printf(&page->html, "<p class=\"next\">All of them: <code>%s</code></p>\n",
		    table->all);
	page_section_end(page);
	return HD_OK;
}
