/* SPDX-License-Identifier: MIT */
/* Writes the section of a page about the growth since another heap. */
#include <inttypes.h>

#include "command/report/growth_text.h"
#include "command/report/page.h"
#include "util/alloc.h"

#define GROWTH_ROWS 200u

static void write_more(struct page *page, uint64_t before, uint64_t after)
{
	char more[40];
	html_printf(&page->html, "<td class=\"n\" data-v=\"%s%" PRIu64 "\">%s</td>",
		    after < before ? "-" : "", after < before ? before - after : after - before,
		    growth_more(before, after, more));
}

static void write_growth_columns(struct page *page)
{
	page_column(page, "Bytes +/-", "growth", true);
	page_column(page, "Before", "its bytes in the other heap", true);
	page_column(page, "Now", "its bytes in this heap", true);
	page_column(page, "Objects before", NULL, true);
	page_column(page, "Objects now", NULL, true);
}

static void write_sum_cells(struct page *page, const uint64_t bytes[2], const uint64_t counts[2])
{
	write_more(page, bytes[0], bytes[1]);
	page_bytes(page, bytes[0]);
	page_bytes(page, bytes[1]);
	page_number(page, counts[0]);
	page_number(page, counts[1]);
}

static void write_left_rows(struct page *page, uint64_t left)
{
	char count[COUNT_SIZE];
	if (left) {
		html_printf(&page->html, "<p class=\"note\">Left out: %s.</p>\n",
			    format_count(left, "row", count));
	}
}

static void write_rate_cell(struct page *page, const struct since *since)
{
	double rate = since->bytes_per_hour;
	if (!since->has_rate || rate <= -1e18 || rate >= 1e18) {
		html_puts(&page->html, "<td></td>");
		return;
	}
	write_more(page, rate < 0 ? (uint64_t)-rate : 0, rate > 0 ? (uint64_t)rate : 0);
}

static void write_holding_row(struct page *page, const struct change *change)
{
	const struct since *since = &change->since;
	const struct holding *any = change->after ? change->after : change->before;
	html_puts(&page->html, "<tr>");
	write_sum_cells(page, (const uint64_t[]){ since->bytes_before, since->bytes },
			(const uint64_t[]){ since->count_before, since->count });
	write_rate_cell(page, since);
	if (since->has_changes) {
		page_number(page, since->inserted);
		page_number(page, since->removed);
	} else {
		html_puts(&page->html, "<td></td><td></td>");
	}
	html_printf(&page->html, "<td>%s%s</td>", since_name(since->state),
		    since->series.is_steady ? ", steadily" : "");
	page_name(page, any->name, strlen(any->name));
	page_name(page, any->member, strlen(any->member));
	html_puts(&page->html, "</tr>\n");
}

static enum hd_status write_holding_rows(struct page *page,
					 const struct heap_comparison *comparison)
{
	size_t count = comparison->changes_count, i = 0;
	HD_FREE const struct change **order = NULL;
	TRY(comparison_by_growth(comparison, &order, page->call->err));
	page_table(page, "growth-holders", "What fields and roots hold");
	write_growth_columns(page);
	page_column(page, "In an hour", "growth, where the times are known", true);
	page_column(page, "Put in", "since, as the collection counts", true);
	page_column(page, "Taken out", "since, as the collection counts", true);
	page_column(page, "State", "new, grew, same, shrank or unknown", false);
	page_column(page, "Holder", "a field or a root", false);
	page_column(page, "Type", "of what it holds", false);
	page_body(page);
	for (; i < count && i < GROWTH_ROWS; i++)
		write_holding_row(page, order[i]);
	page_table_end(page);
	write_left_rows(page, count - i);
	return HD_OK;
}

/* A table of sums by name. */
struct sums_table {
	const char *id, *caption, *title;
	const struct named_sums *before, *after;
};

static enum hd_status write_sums_rows(struct page *page, const struct sums_table *table)
{
	HD_CLEANUP(diff) struct diff diff = { 0 };
	TRY(growth_of_sums(table->before, table->after, &diff, page->call->err));
	page_table(page, table->id, table->caption);
	write_growth_columns(page);
	page_column(page, table->title, NULL, false);
	page_body(page);
	uint64_t rows = 0;
	for (size_t i = 0; i < diff.row_count; i++) {
		const struct diff_row *row = &diff.rows[i];
		if (row->size_before == row->size_after || rows++ >= GROWTH_ROWS)
			continue;
		html_puts(&page->html, "<tr>");
		write_sum_cells(page, (const uint64_t[]){ row->size_before, row->size_after },
				(const uint64_t[]){ row->count_before, row->count_after });
		page_name(page, row->name, row->name_size);
		html_puts(&page->html, "</tr>\n");
	}
	page_table_end(page);
	write_left_rows(page, rows > GROWTH_ROWS ? rows - GROWTH_ROWS : 0);
	return HD_OK;
}

/* The other heap by the name of its file: folders are nobody's business. */
static void write_compared(struct page *page, const struct heap_comparison *comparison)
{
	const char *name = comparison->with->name, *slash = strrchr(name, '/');
	HD_CLEANUP(text) struct text summary = { 0 };
	name = slash && slash[1] ? slash + 1 : name;
	growth_summary(comparison, &summary);
	html_puts(&page->html, "<p>Compared with <bdi>");
	html_name(&page->html, name, strlen(name), PAGE_NAME_SIZE);
	html_puts(&page->html, "</bdi>");
	html_text(&page->html, summary.bytes ? summary.bytes : "", summary.size);
	html_puts(&page->html, "</p>\n");
}

enum hd_status page_growth(struct page *page)
{
	const struct heap_comparison *comparison = page->report->comparison;
	if (!comparison)
		return HD_OK;
	const struct inventory *before = comparison->before, *after = &comparison->after;
	const struct sums_table tables[] = {
		{ "growth-roots", "What is reached from each root first", "Root", &before->roots,
		  &after->roots },
		{ "growth-types", "Live objects by type", "Type", &before->types, &after->types },
	};
	page_section(page, "growth", "Growth");
	write_compared(page, comparison);
	TRY(write_holding_rows(page, comparison));
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		TRY(write_sums_rows(page, &tables[i]));
	page_section_end(page);
	return HD_OK;
}
