/* SPDX-License-Identifier: MIT */
/* Tables of a page that other commands answer with, and that of the types. */

#include <heapdump/answer.h>

#include "command/report/page.h"
#include "command/report/page_rows.h"
#include "findings/type_rows.h"

#define TYPES_MAX 500u

static void write_type_row(struct page *page, const struct type_row *row)
{
	const struct graph_type *type = &page->report->facts.graph->types[row->type];
	html_puts(&page->html, "<tr>");
	page_bytes(page, row->retained);
	page_share(page, row->retained);
	page_bytes(page, row->bytes);
	page_number(page, row->objects);
	page_bytes(page, row->dead);
	page_name(page, type->name, type->name_size);
	html_puts(&page->html, "</tr>\n");
}

static void write_type_rows(struct page *page, const struct type_rows *rows)
{
	page_section(page, "types", "Types");
	page_table(page, "types-table", "What the objects of each type take and retain");
	page_column(page, "Retained", "what would be freed if none of these objects were there",
		    true);
	page_column(page, "Share", "what it retains, as a part of the live heap", true);
	page_column(page, "Own bytes", "of live objects", true);
	page_column(page, "Objects", "live ones", true);
	page_column(page, "Dead", "bytes that nothing keeps alive", true);
	page_column(page, "Type", NULL, false);
	page_body(page);
	for (size_t i = 0; i < rows->count; i++)
		write_type_row(page, &rows->rows[i]);
	page_table_end(page);
	if (rows->left_types) {
		char types[COUNT_SIZE], objects[COUNT_SIZE], size[32];
		html_printf(&page->html, "<p class=\"note\">%s that retain less are left out:",
			    format_count(rows->left_types, "type", types));
		html_printf(&page->html, " %s, %s.</p>\n",
			    format_count(rows->left_objects, "object", objects),
			    format_bytes(rows->left_bytes, size));
	}
	page_section_end(page);
}

enum hd_status page_types(struct page *page)
{
	HD_CLEANUP(type_rows) struct type_rows rows = { 0 };
	TRY(type_rows_init(&rows, &page->report->facts, TYPES_MAX, page->call->err));
	write_type_rows(page, &rows);
	return HD_OK;
}

static const struct rows_column dominator_columns[] = {
	{ "retained", "Retained" }, { "count", "Objects" },  { "size", "Own bytes" },
	{ "type", "Type" },         { "root.kind", "Root" }, { "root.name", "Root's name" },
	{ "address", "Address" },   { NULL, NULL },
};
static const struct rows_column handle_columns[] = {
	{ "count", "Handles" },
	{ "size", "Bytes" },
	{ "name", "Type of the target" },
	{ NULL, NULL },
};
static const struct rows_column finalizer_columns[] = {
	{ "count", "Objects" },
	{ "size", "Bytes" },
	{ "name", "Type" },
	{ NULL, NULL },
};
static const struct rows_column thread_columns[] = {
	{ "id", "Thread" }, { "os_id", "Thread of the system" }, { "finalizer", "Finalizer" },
	{ "dead", "Dead" }, { "exception_type", "Exception" },   { "address", "Address" },
	{ NULL, NULL },
};

/* Values of strings are left out: a page is passed on, and they may be secrets. */
static const struct rows_table command_tables[] = {
	{ .id = "dominators",
	  .table_id = "dominators-table",
	  .title = "Dominators",
	  .caption = "The objects that retain most",
	  .words = { "dominators", "-top", "301" },
	  .all = "dominators -top 0",
	  .word_count = 3,
	  .table = "nodes",
	  .columns = dominator_columns,
	  .most = 300 },
	{ .id = "handles",
	  .table_id = "handles-table",
	  .title = "Handles",
	  .caption = "Targets of GC handles, by type",
	  .words = { "gchandles", "-stat" },
	  .all = "gchandles -stat",
	  .word_count = 2,
	  .table = "types",
	  .columns = handle_columns,
	  .most = 200,
	  .needs_heap = true,
	  .is_ascending = true },
	{ .id = "finalizers",
	  .table_id = "finalizers-table",
	  .title = "Finalizers",
	  .caption = "Objects with finalizers, by type",
	  .words = { "finalizequeue", "-stat" },
	  .all = "finalizequeue -stat",
	  .word_count = 2,
	  .table = "types",
	  .columns = finalizer_columns,
	  .most = 200,
	  .needs_heap = true,
	  .is_ascending = true },
	{ .id = "threads",
	  .table_id = "threads-table",
	  .title = "Threads",
	  .caption = "Managed threads",
	  .words = { "clrthreads" },
	  .all = "clrthreads",
	  .word_count = 1,
	  .table = "threads",
	  .columns = thread_columns,
	  .most = 500,
	  .needs_heap = true },
};

enum hd_status page_commands(struct page *page)
{
	for (size_t i = 0; i < sizeof(command_tables) / sizeof(*command_tables); i++) {
		if (!command_tables[i].needs_heap || page->call->heap)
			TRY(page_rows(page, &command_tables[i]));
	}
	return HD_OK;
}
