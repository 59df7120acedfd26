/* SPDX-License-Identifier: MIT */
/* Writes the parts of a page: sections, tables and their cells. */
#include <inttypes.h>

#include "command/report/page.h"

void page_section(struct page *page, const char *id, const char *title)
{
	html_printf(
		&page->html,
		"<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
		id, id, id, title);
}

void page_section_end(struct page *page)
{
	html_puts(&page->html, "</section>\n");
}

void page_table(struct page *page, const char *id, const char *caption)
{
	html_printf(
		&page->html,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"%s-caption\">\n"
		"<table id=\"%s\" class=\"data\">\n<caption id=\"%s-caption\">%s</caption>\n"
		"<thead><tr>",
		id, id, id, caption);
}

void page_column(struct page *page, const char *title, const char *help, bool is_number)
{
	struct html *html = &page->html;
	html_puts(html, is_number ? "<th scope=\"col\" class=\"n\"" : "<th scope=\"col\"");
	if (help) {
		html_puts(html, " title=\"");
		html_string(html, help);
		html_puts(html, "\"");
	}
	html_printf(html, ">%s</th>", title);
}

void page_body(struct page *page)
{
	html_puts(&page->html, "</tr></thead>\n<tbody>\n");
}

void page_table_end(struct page *page)
{
	html_puts(&page->html, "</tbody></table></div>\n");
}

void page_bytes(struct page *page, uint64_t bytes)
{
	char size[32];
	html_printf(&page->html, "<td class=\"n\" data-v=\"%" PRIu64 "\">%s</td>", bytes,
		    format_bytes(bytes, size));
}

void page_number(struct page *page, uint64_t number)
{
	char digits[NUMBER_SIZE];
	html_printf(&page->html, "<td class=\"n\" data-v=\"%" PRIu64 "\">%s</td>", number,
		    format_thousands(number, digits));
}

void page_share(struct page *page, uint64_t bytes)
{
	uint64_t permille = facts_permille(&page->report->facts, bytes);
	char share[32];
	html_printf(&page->html,
		    "<td class=\"n\" data-v=\"%" PRIu64
		    "\"><svg class=\"bar\" aria-hidden=\"true\">"
		    "<rect width=\"%" PRIu64 "%%\" height=\"8\"/></svg>%s</td>",
		    permille, permille > 1000 ? 100 : permille / 10,
		    format_share(facts_share(&page->report->facts, bytes), share));
}

void page_name(struct page *page, const char *name, size_t size)
{
	html_puts(&page->html, "<td class=\"name\"><bdi>");
	html_name(&page->html, name ? name : "?", name ? size : 1, PAGE_NAME_SIZE);
	html_puts(&page->html, "</bdi></td>");
}

void page_address(struct page *page, uint64_t address)
{
	html_printf(&page->html, "<td class=\"address\">%" PRIx64 "</td>", address);
}

void page_next(struct page *page, const char *command)
{
	html_puts(&page->html, "<p class=\"next\">Next: <code><bdi>");
	html_string(&page->html, command);
	html_puts(&page->html, "</bdi></code></p>\n");
}
