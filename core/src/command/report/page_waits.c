/* SPDX-License-Identifier: MIT */
/* Why a process hangs, if hang has found something: its verdicts, and the stacks of all threads. */
#include <inttypes.h>

#include "command/report/page.h"
#include "command/report/page_rows.h"

#define VERDICTS_MAX 50u
#define EVIDENCE_MAX 50u
#define FRAMES_MAX   1000u
#define LINE_SIZE    400u
/* Deeper frames are not indented further. */
#define INDENT_MAX 24u

static void write_text_value(struct page *page, const struct hd_value *value, size_t most)
{
	if (!value || !value->text)
		return;
	html_puts(&page->html, "<bdi>");
	html_name(&page->html, value->text, value->size, most);
	html_puts(&page->html, "</bdi>");
}

static void write_verdict_evidence(struct page *page, const struct hd_rows *rows, uint64_t verdict)
{
	const struct hd_table *table = hd_rows_find(rows, "verdicts.evidence");
	uint64_t first = 0, count = 0;
	if (!table || !hd_rows_in(rows, table, verdict, &first, &count) || !count)
		return;
	html_puts(&page->html, "<ul>\n");
	for (uint64_t i = 0; i < count && i < EVIDENCE_MAX; i++) {
		const struct hd_value *values = hd_rows_at(rows, table, first + i);
		const struct hd_value *method = row_value(table, values, "method");
		html_puts(&page->html, "<li>");
		write_text_value(page, row_value(table, values, "text"), LINE_SIZE);
		if (method) {
			html_puts(&page->html, "<br><code>");
			write_text_value(page, method, PAGE_NAME_SIZE);
			html_puts(&page->html, "</code>");
		}
		html_puts(&page->html, "</li>\n");
	}
	html_puts(&page->html, "</ul>\n");
	if (count > EVIDENCE_MAX)
		html_puts(&page->html, "<p class=\"note\">More is left out.</p>\n");
}

static void write_verdict_card(struct page *page, const struct hd_rows *rows,
			       const struct hd_table *table, uint64_t index)
{
	const struct hd_value *values = hd_rows_at(rows, table, index);
	const struct hd_value *next = row_value(table, values, "next");
	html_puts(&page->html, "<article class=\"card high\">\n<h3>");
	write_text_value(page, row_value(table, values, "summary"), LINE_SIZE);
	html_puts(&page->html, "</h3>\n");
	write_verdict_evidence(page, rows, index);
	if (next) {
		html_puts(&page->html, "<p class=\"next\">Next: <code>");
		write_text_value(page, next, PAGE_NAME_SIZE);
		html_puts(&page->html, "</code></p>\n");
	}
	html_puts(&page->html, "</article>\n");
}

static void write_frames(struct page *page, const struct hd_rows *rows)
{
	const struct hd_table *table = hd_rows_find(rows, "frames");
	uint64_t count = hd_rows_count(rows, table);
	html_puts(&page->html, "<details class=\"more\"><summary>Stacks of all threads, equal "
			       "frames together</summary>\n<ul class=\"stacks\">\n");
	for (uint64_t i = 0; i < count && i < FRAMES_MAX; i++) {
		const struct hd_value *values = hd_rows_at(rows, table, i);
		const struct hd_value *depth = row_value(table, values, "depth");
		const struct hd_value *threads = row_value(table, values, "count");
		uint64_t indent = depth ? depth->number : 0;
		html_printf(&page->html, "<li class=\"i%" PRIu64 "\"><b>%" PRIu64 "</b> ",
			    indent < INDENT_MAX ? indent : INDENT_MAX,
			    threads ? threads->number : 0);
		write_text_value(page, row_value(table, values, "method"), PAGE_NAME_SIZE);
		html_puts(&page->html, "</li>\n");
	}
	html_puts(&page->html, "</ul>\n");
	if (count > FRAMES_MAX) {
		html_puts(&page->html, "<p class=\"note\">Further frames are left out; "
				       "parallelstacks shows all.</p>\n");
	}
	html_puts(&page->html, "</details>\n");
}

static enum hd_status write_stacks(struct page *page)
{
	static const char *const words[] = { "parallelstacks" };
	struct hd_rows *rows;
	TRY(page_run(page, 1, words, &rows));
	if (rows)
		write_frames(page, rows);
	hd_rows_free(rows);
	return HD_OK;
}

enum hd_status page_ask_hang(struct page *page)
{
	static const char *const words[] = { "hang" };
	if (!page->call->heap)
		return HD_OK;
	TRY(page_run(page, 1, words, &page->hang));
	if (page->hang) {
		page->verdict_count =
			hd_rows_count(page->hang, hd_rows_find(page->hang, "verdicts"));
	}
	return HD_OK;
}

enum hd_status page_waits(struct page *page)
{
	if (!page->verdict_count)
		return HD_OK;
	const struct hd_table *table = hd_rows_find(page->hang, "verdicts");
	page->call->findings = true;
	page_section(page, "waits", "Why it hangs");
	for (uint64_t i = 0; i < page->verdict_count && i < VERDICTS_MAX; i++)
		write_verdict_card(page, page->hang, table, i);
	TRY(write_stacks(page));
	page_section_end(page);
	return HD_OK;
}
