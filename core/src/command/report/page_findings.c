/* SPDX-License-Identifier: MIT */
/* The findings of a page: cards with their evidence; and what the rules have met. */
#include <inttypes.h>
#include <string.h>

#include "command/report/first_look.h"
#include "command/report/page.h"
#include "command/report/report_answer.h"
#include "findings/comparison.h"
#include "util/field_label.h"
#include "util/text.h"

/* Most cards of one kind: a damaged heap may have many findings. */
#define CARDS_MAX 50u
/* Longest line about a crash or damage, in bytes. */
#define STATE_SIZE 400u

static const char *shape_of(enum severity severity)
{
	static const char *const shapes[] = { "\u25b2", "\u25c6", "\u25cf", "\u25cb" };
	return shapes[severity];
}

static void write_step(struct page *page, const struct path_step *step)
{
	struct html *html = &page->html;
	const struct graph_type *type = facts_type(&page->report->facts, step->node);
	html_puts(html, "<li>");
	if (step->link && *step->link) {
		html_puts(html, step->is_blamed ? "<strong class=\"link\"><bdi>"
						: "<span class=\"link\"><bdi>");
		HD_CLEANUP(text) struct text label = { 0 };
		field_labels_append(&label, step->link, strlen(step->link));
		html_name(html, label.bytes ? label.bytes : "", label.size, PAGE_NAME_SIZE);
		html->out->text.failed |= label.failed;
		html_puts(html, step->is_blamed ? "</bdi></strong> " : "</bdi></span> ");
	}
	html_puts(html, "<bdi class=\"type\">");
	html_name(html, type->name ? type->name : "?", type->name ? type->name_size : 1,
		  PAGE_NAME_SIZE);
	html_printf(html, "</bdi> <code>%" PRIx64 "</code>",
		    graph_id(page->report->facts.graph, step->node));
	if (step->is_blamed)
		html_puts(html, " <span class=\"note\">look here</span>");
	html_puts(html, "</li>\n");
}

static void write_held_by(struct page *page, const struct held_by *holder)
{
	struct html *html = &page->html;
	if (!holder->step_count)
		return;
	html_puts(html, "<details class=\"more\" open><summary>Path from the root");
	if (holder->root_kind) {
		html_puts(html, " (");
		html_string(html, holder->root_kind);
		html_puts(html, ")");
	}
	html_puts(html, "</summary>\n<ol class=\"path\">\n");
	for (size_t i = 0; i < holder->step_count; i++)
		write_step(page, &holder->steps[i]);
	html_puts(html, "</ol>\n");
	if (holder->is_cut)
		html_puts(html, "<p class=\"note\">Steps in the middle are left out.</p>\n");
	html_puts(html, "</details>\n");
}

static void write_fact(struct page *page, const char *what, uint64_t value)
{
	char number[NUMBER_SIZE];
	html_puts(&page->html, "<div><dt>");
	html_string(&page->html, what);
	html_printf(&page->html, "</dt><dd>%s</dd></div>\n", format_thousands(value, number));
}

static void write_growth(struct page *page, const struct growth *growth)
{
	struct html *html = &page->html;
	if (growth->state == GROWTH_NOT_ASKED)
		return;
	html_printf(html, "<div><dt>growth</dt><dd>%s", growth_name(growth->state));
	if (growth->reason) {
		html_puts(html, ": ");
		html_string(html, growth->reason);
	}
	html_puts(html, "</dd></div>\n");
	if (growth->has_count)
		write_fact(page, "elements, as the collection says", growth->count);
	if (growth->has_version)
		write_fact(page, "changes that the collection has counted", growth->version);
	write_fact(page, "younger than the last collection", growth->young);
}

static void write_since(struct page *page, const struct since *since)
{
	char size[32];
	if (!since)
		return;
	html_printf(&page->html, "<div><dt>since the other heap</dt><dd>%s</dd></div>\n",
		    since_name(since->state));
	write_fact(page, "objects in the other heap", since->count_before);
	html_printf(&page->html, "<div><dt>bytes in the other heap</dt><dd>%s</dd></div>\n",
		    format_bytes(since->bytes_before, size));
}

static void write_samples(struct page *page, const struct report_finding *finding)
{
	struct html *html = &page->html;
	if (!finding->sample_count)
		return;
	html_puts(html, "<div><dt>some of the objects</dt><dd>");
	for (size_t i = 0; i < finding->sample_count; i++) {
		html_printf(html, "%s<code>%" PRIx64 "</code>", i ? ", " : "",
			    graph_id(page->report->facts.graph, finding->samples[i]));
	}
	html_puts(html, "</dd></div>\n");
}

static void write_made_of(struct page *page, const struct made_of *made_of)
{
	struct html *html = &page->html;
	if (!made_of->count)
		return;
	html_puts(html, "<div><dt>of the program are in it</dt><dd>");
	for (size_t i = 0; i < made_of->count; i++) {
		const struct graph_type *type =
			&page->report->facts.graph->types[made_of->parts[i].type];
		char count[COUNT_SIZE], size[32];
		html_puts(html, i ? ", <bdi>" : "<bdi>");
		html_name(html, type->name, type->name_size, PAGE_NAME_SIZE);
		html_printf(html, "</bdi> (%s, %s)",
			    format_count(made_of->parts[i].count, "object", count),
			    format_bytes(made_of->parts[i].bytes, size));
	}
	html_puts(html, "</dd></div>\n");
}

static void write_card_evidence(struct page *page, const struct report_finding *finding)
{
	struct html *html = &page->html;
	html_puts(html,
		  "<details class=\"more\"><summary>Evidence</summary>\n<dl class=\"facts\">\n");
	write_fact(page, "objects at stake", finding->objects);
	for (size_t i = 0; i < finding->count_count; i++)
		write_fact(page, finding->counts[i].what, finding->counts[i].value);
	write_growth(page, &finding->growth);
	write_since(page, finding->growth.since);
	write_made_of(page, report_made_of(page->report, finding));
	write_samples(page, finding);
	if (finding->method) {
		html_puts(html, "<div><dt>method</dt><dd><bdi>");
		html_name(html, finding->method, strlen(finding->method), PAGE_NAME_SIZE);
		html_puts(html, "</bdi></dd></div>\n");
	}
	html_printf(html,
		    "<div><dt>rule</dt><dd>%s</dd></div>\n"
		    "<div><dt>confidence</dt><dd>%s</dd></div>\n</dl>\n",
		    finding->rule->name, confidence_name(finding->confidence));
	if (finding->is_limited)
		html_puts(html, "<p class=\"note\">Not all of it was looked at.</p>\n");
	if (finding->explains.count)
		html_puts(html, "<p>It also explains:</p>\n<ul>\n");
	for (size_t i = 0; i < finding->explains.count; i++) {
		const char *id = finding->explains.ids[i];
		html_puts(html, "<li><bdi>");
		html_name(html, id, strlen(id), PAGE_NAME_SIZE);
		html_puts(html, "</bdi></li>\n");
	}
	html_puts(html, finding->explains.count ? "</ul>\n</details>\n" : "</details>\n");
}

static void write_card(struct page *page, const struct report_finding *finding)
{
	struct html *html = &page->html;
	const char *severity = severity_name(finding->severity);
	char size[32], share[32];
	html_printf(html,
		    "<article class=\"card %s\">\n<h3><span class=\"severity\">"
		    "<span aria-hidden=\"true\">%s</span> %s</span> <bdi>",
		    severity, shape_of(finding->severity), severity);
	html_string(html, finding->title);
	double part = facts_share(&page->report->facts, finding->bytes);
	html_printf(html, "</bdi></h3>\n<p class=\"stake\"><b>%s</b>",
		    format_bytes(finding->bytes, size));
	/* Free bytes are no part of what is alive. */
	if (part <= 1 && !finding->rule->is_outside)
		html_printf(html, ", %s of the live heap", format_share(part, share));
	html_puts(html, "</p>\n<p><bdi>");
	html_string(html, finding->sentence);
	html_puts(html, "</bdi></p>\n");
	if (finding->look_at) {
		html_puts(html, "<p>Look at: <bdi>");
		html_string(html, finding->look_at);
		html_puts(html, "</bdi></p>\n");
	}
	write_held_by(page, &finding->holder);
	write_card_evidence(page, finding);
	page_next(page, finding->next);
	html_puts(html, "</article>\n");
}

/*
 * Write the findings from @p first on that are at least as severe; @return the first that is not.
 */
static size_t write_cards(struct page *page, size_t first, enum severity severity)
{
	const struct report *report = page->report;
	size_t i = first;
	for (; i < report->findings_count && report->findings[i].severity <= severity; i++) {
		if (i - first < CARDS_MAX)
			write_card(page, &report->findings[i]);
	}
	if (i - first > CARDS_MAX) {
		html_printf(
			&page->html,
			"<p class=\"note\">%zu more are left out here; report --json has all.</p>\n",
			i - first - CARDS_MAX);
	}
	return i;
}

static void write_largest_holders(struct page *page)
{
	html_puts(&page->html,
		  "<p><b>No finding of severity high or medium.</b> The largest holders:</p>\n");
	page_table(page, "holders", "Objects that no other dominates and that retain most");
	page_column(page, "Retained", "bytes that would be freed with it", true);
	page_column(page, "Share", "of the live heap", true);
	page_column(page, "Type", NULL, false);
	page_column(page, "Held by", "the field, the static variable or the root that keeps it",
		    false);
	page_column(page, "Address", NULL, false);
	page_body(page);
	for (size_t i = 0; i < page->report->largest_count; i++) {
		const struct large_holder *row = &page->report->largest[i];
		const struct graph_type *type = facts_type(&page->report->facts, row->node);
		html_puts(&page->html, "<tr>");
		page_bytes(page, row->bytes);
		page_share(page, row->bytes);
		page_name(page, type->name, type->name_size);
		page_name(page, row->name ? row->name : "", row->name ? strlen(row->name) : 0);
		page_address(page, graph_id(page->report->facts.graph, row->node));
		html_puts(&page->html, "</tr>\n");
	}
	page_table_end(page);
}

/* A crash or damage; the page has a section of its own about a hang. */
static enum hd_status write_state_card(struct page *page,
				       enum hd_status (*look)(struct call *call,
							      struct look_part *ret))
{
	HD_CLEANUP(look_part) struct look_part part = { .name = NULL };
	TRY(look(page->call, &part));
	if (strcmp(part.state, "found") != 0)
		return HD_OK;
	page->call->findings = true;
	html_printf(&page->html, "<article class=\"card high\">\n<h3>%s: <bdi>",
		    part.name[0] == 'c' ? "Crash" : "Damage");
	html_name(&page->html, part.text.bytes, part.text.size, STATE_SIZE);
	html_printf(&page->html,
		    "</bdi></h3>\n<p class=\"next\">Next: <code>%s</code></p>\n"
		    "</article>\n",
		    part.next);
	return HD_OK;
}

enum hd_status page_findings(struct page *page)
{
	const struct report *report = page->report;
	page_section(page, "findings", "Findings");
	if (page->call->heap) {
		TRY(write_state_card(page, look_at_crash));
		TRY(write_state_card(page, look_at_damage));
	}
	if (!report_has(report, SEVERITY_MEDIUM))
		write_largest_holders(page);
	size_t i = write_cards(page, 0, SEVERITY_MEDIUM);
	if (i < report->findings_count) {
		html_printf(
			&page->html,
			"<details class=\"more facts-only\"><summary>Facts, which need no action: "
			"%zu of severity low or info</summary>\n",
			report->findings_count - i);
		(void)write_cards(page, i, SEVERITY_INFO);
		html_puts(&page->html, "</details>\n");
	}
	page_section_end(page);
	return HD_OK;
}

void page_rules(struct page *page)
{
	struct html *html = &page->html;
	page_section(page, "rules", "What was checked");
	page_table(page, "rules-table", "Each rule with what makes a finding, and what it met");
	page_column(page, "Rule", NULL, false);
	page_column(page, "Makes a finding", "its threshold", false);
	page_column(page, "Met", "the largest value that it met: a count, or percent", true);
	page_column(page, "Result", NULL, false);
	page_body(page);
	for (size_t i = 0; i < report_rule_count(); i++) {
		const struct report_rule *rule = report_rule_at(i);
		const struct rule_result *result = &page->report->results[i];
		html_printf(html, "<tr><td>%s</td><td>", rule->name);
		html_string(html, rule->threshold);
		html_puts(html, "</td>");
		page_number(page, result->met);
		html_puts(html, "<td>");
		html_string(html, !result->has_run ? result->reason
				  : result->is_limited
					  ? "checked in part: its limit of work was met"
					  : "checked");
		html_puts(html, "</td></tr>\n");
	}
	page_table_end(page);
	page_section_end(page);
}
