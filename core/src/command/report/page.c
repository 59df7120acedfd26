/* SPDX-License-Identifier: MIT */
#include "command/report/page.h"

#include <inttypes.h>

#include <heapdump/answer.h>

#include "command/completeness.h"
#include "command/report/page_assets.h"
#include "gc/heap.h"
#include "runtime/runtime.h"
#include "session/losses.h"

static void write_target_name(struct page *page)
{
	const struct hd_session *session = page->call->session;
	const char *target = session->path ? session->path : session->label;
	const char *slash = target ? strrchr(target, '/') : NULL;
	const char *name = slash && slash[1] ? slash + 1 : target;
	if (name)
		html_name(&page->html, name, strlen(name), PAGE_NAME_SIZE);
}

static void write_page_head(struct page *page)
{
	struct html *html = &page->html;
	html_puts(html,
		  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		  "script-src '");
	html_puts(html, page_js_hash);
	html_puts(html, "'; style-src '");
	html_puts(html, page_css_hash);
	html_puts(html, "'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
			"<meta charset=\"utf-8\">\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta name=\"color-scheme\" content=\"light dark\">\n"
			"<meta name=\"generator\" content=\"heapdump " HD_VERSION "\">\n"
			"<title>Heap report: ");
	write_target_name(page);
	html_puts(html, "</title>\n<style>");
	html_puts(html, page_css);
	html_puts(html, "</style>\n</head>\n<body>\n"
			"<a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n");
}

static void write_bytes_fact(struct page *page, const char *what, uint64_t bytes)
{
	char size[32];
	html_printf(&page->html, "<div><dt>%s</dt><dd>%s</dd></div>\n", what,
		    format_bytes(bytes, size));
}

static void write_runtime_facts(struct page *page)
{
	const struct heap *heap = page->call->heap;
	if (!heap)
		return;
	html_puts(&page->html, "<div><dt>runtime</dt><dd>.NET ");
	html_string(&page->html, runtime_version(heap->runtime));
	if (runtime_flavor(heap->runtime))
		html_printf(&page->html, " %s", runtime_flavor(heap->runtime));
	html_printf(&page->html, ", %s GC, %" PRIu32 " %s</dd></div>\n",
		    runtime_has_server_gc(heap->runtime) ? "server" : "workstation",
		    heap->heap_count, heap->heap_count == 1 ? "heap" : "heaps");
}

/* Live, dead and free bytes as one bar; what it shows is in the list, too. */
static void write_bar(struct page *page)
{
	const struct heap_sums *sums = &page->report->facts.sums;
	uint64_t free_bytes = sums->free_soh + sums->free_loh;
	double all = (double)(sums->all_live + sums->all_dead + free_bytes);
	if (all <= 0)
		return;
	double live = 100 * (double)sums->all_live / all, dead = 100 * (double)sums->all_dead / all;
	html_printf(
		&page->html,
		"<svg class=\"whole\" role=\"img\" aria-label=\"%.1f %% of the heap is alive, %.1f "
		"%% is dead, %.1f %% is free\">"
		"<rect class=\"live\" width=\"%.2f%%\" height=\"100%%\"/>"
		"<rect class=\"dead\" x=\"%.2f%%\" width=\"%.2f%%\" height=\"100%%\"/>"
		"<rect class=\"free\" x=\"%.2f%%\" width=\"%.2f%%\" height=\"100%%\"/></svg>\n",
		live, dead, 100 - live - dead > 0 ? 100 - live - dead : 0, live, live, dead,
		live + dead, 100 - live - dead > 0 ? 100 - live - dead : 0);
}

static void write_sums(struct page *page)
{
	const struct report_facts *facts = &page->report->facts;
	const struct heap_sums *sums = &facts->sums;
	char number[NUMBER_SIZE];
	html_puts(&page->html, "<dl class=\"facts\">\n");
	write_runtime_facts(page);
	write_bytes_fact(page, "alive", sums->all_live);
	html_printf(&page->html, "<div><dt>live objects</dt><dd>%s</dd></div>\n",
		    format_thousands(sums->live_objects, number));
	write_bytes_fact(page, call_lacks_frozen(page->call) ? "without a root" : "dead",
			 sums->all_dead);
	if (facts->heap)
		write_bytes_fact(page, "free blocks", sums->free_soh + sums->free_loh);
	if (facts->sums.has_recent)
		write_bytes_fact(page, "allocated since the last collection", sums->recent);
	if (facts_types_by_name(facts)) {
		html_printf(&page->html,
			    "<div><dt>types without a known module</dt><dd>%s</dd></div>\n",
			    format_thousands(facts_types_by_name(facts), number));
	}
	html_puts(&page->html, "</dl>\n");
}

static void write_missing_banner(struct page *page)
{
	struct met_loss met[FINDING_KINDS];
	HD_CLEANUP(text) struct text losses = { 0 };
	size_t count = session_losses(page->call->session, met);
	if (!count)
		return;
	losses_write(met, count, &losses);
	html_puts(&page->html, "<p class=\"warning\" role=\"note\"><b>Incomplete:</b> ");
	if (losses.bytes)
		html_text(&page->html, losses.bytes, losses.size);
	html_puts(
		&page->html,
		". There may be more to find, and an empty list does not mean that nothing is wrong. "
		"<code>info</code> says more.</p>\n");
}

static void write_header(struct page *page)
{
	html_puts(&page->html, "<header>\n<h1>Heap report</h1>\n<p class=\"target\"><bdi>");
	write_target_name(page);
	html_puts(&page->html, "</bdi></p>\n");
	write_missing_banner(page);
	write_bar(page);
	write_sums(page);
	html_puts(&page->html, "</header>\n");
}

static void write_nav(struct page *page)
{
	const struct report_facts *facts = &page->report->facts;
	bool has_heap = facts->heap;
	const struct {
		const char *id, *title;
		bool is_there;
	} links[] = {
		{ "findings", "Findings", true },
		{ "growth", "Growth", page->report->comparison },
		{ "waits", "Why it hangs", page->verdict_count },
		{ "tree", "Dominator tree", facts->sums.live_objects },
		{ "map", has_heap ? "Map of the heap" : "Generations", facts->has_generations },
		{ "types", "Types", true },
		{ "dominators", "Dominators", true },
		{ "handles", "Handles", has_heap },
		{ "finalizers", "Finalizers", has_heap },
		{ "threads", "Threads", has_heap },
		{ "rules", "What was checked", true },
		{ "help", "How to read it", true },
	};
	html_puts(&page->html, "<nav aria-label=\"Parts of the report\"><ul>\n");
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		if (links[i].is_there) {
			html_printf(&page->html, "<li><a href=\"#%s\">%s</a></li>\n", links[i].id,
				    links[i].title);
		}
	}
	html_puts(&page->html, "</ul></nav>\n");
}

static void write_help(struct page *page)
{
	page_section(page, "help", "How to read it");
	html_puts(
		&page->html,
		"<p><b>Severity</b> says how certain it is that something is wrong, not how large it "
		"is. High needs more than size: it grows, its objects are finished and still held, or "
		"it is a known kind of defect. Medium is large, and one dump cannot tell whether it "
		"grows; or it is waste. Low and info are facts.</p>\n"
		"<p><b>An object retains</b> what would be freed together with it. All shares are of "
		"the live heap. A type retains what would be freed if none of its objects were "
		"there.</p>\n"
		"<p><b>The field to look at</b> is the last one on the path from the root whose class "
		"belongs to the program.</p>\n"
		"<p><b>Next</b> is a command for <code>heapdump</code>, or for GDB and LLDB with its "
		"plug-in.</p>\n"
		"<p>Characters that cannot be seen, or that change the direction of text, are shown "
		"as <code>\\u202e</code>. Long names are cut in their middle.</p>\n"
		"<p class=\"note\">Written by heapdump " HD_VERSION ".</p>\n");
	page_section_end(page);
}

static enum hd_status write_page_parts(struct page *page)
{
	TRY(page_findings(page));
	TRY(page_growth(page));
	TRY(page_waits(page));
	TRY(page_charts(page));
	TRY(page_map(page));
	TRY(page_types(page));
	TRY(page_commands(page));
	page_rules(page);
	write_help(page);
	return HD_OK;
}

static enum hd_status write_page_body(struct page *page)
{
	write_header(page);
	TRY(page_ask_hang(page));
	write_nav(page);
	html_puts(&page->html, "<main>\n");
	TRY(write_page_parts(page));
	html_puts(&page->html, "</main>\n<script>");
	html_puts(&page->html, page_js);
	html_puts(&page->html, "</script>\n</body>\n</html>\n");
	return HD_OK;
}

enum hd_status page_write(struct call *call, const struct report *report)
{
	struct page page = { .call = call, .report = report };
	html_init(&page.html, &call->out);
	write_page_head(&page);
	enum hd_status status = write_page_body(&page);
	hd_rows_free(page.hang);
	return status;
}
