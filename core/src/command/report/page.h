/* SPDX-License-Identifier: MIT */
/* A report as one HTML page, which needs no other file and no network: doc/report.md 6. */
#pragma once

#include "command/call.h"
#include "findings/report.h"
#include "output/html.h"

/* Bytes of a name in a table or a card, and in a chart. */
#define PAGE_NAME_SIZE  200u
#define PAGE_CHART_NAME 200u

/** The page that is being written to call->out. */
struct page {
	struct call *call;
	const struct report *report;
	struct html html;
	struct hd_rows *hang;   /**< the answer of hang; NULL: there is none */
	uint64_t verdict_count; /**< of it */
};

/** Write the whole page. */
HD_NODISCARD enum hd_status page_write(struct call *call, const struct report *report);

/** Its parts: sections of the page. */
HD_NODISCARD enum hd_status page_findings(struct page *page);
/** A section about the growth since another heap; nothing without one. */
HD_NODISCARD enum hd_status page_growth(struct page *page);
/** A section about what each rule has met, and for which rules data was missing. */
void page_rules(struct page *page);
/** The dominator tree, as charts and as a table. */
HD_NODISCARD enum hd_status page_charts(struct page *page);
/** The generations and segments; nothing for a dump file that does not tell them. */
HD_NODISCARD enum hd_status page_map(struct page *page);
HD_NODISCARD enum hd_status page_types(struct page *page);
/** Tables that other commands answer with: dominators, handles, threads, ... */
HD_NODISCARD enum hd_status page_commands(struct page *page);
/** Ask hang, so that page->verdict_count is known. */
HD_NODISCARD enum hd_status page_ask_hang(struct page *page);
/** A section about what hang has found, and the stacks; nothing if it has found nothing. */
HD_NODISCARD enum hd_status page_waits(struct page *page);

/** Begin a section with a heading; page_section_end() ends it. */
void page_section(struct page *page, const char *id, const char *title);
void page_section_end(struct page *page);
/** Begin a table that can be sorted and searched, up to its body; and end it. */
void page_table(struct page *page, const char *id, const char *caption);
/** A column of its head.  @p help: what it has, in more words; or NULL. */
void page_column(struct page *page, const char *title, const char *help, bool is_number);
void page_body(struct page *page);
void page_table_end(struct page *page);
/** Cells. */
void page_bytes(struct page *page, uint64_t bytes);
void page_number(struct page *page, uint64_t number);
/** Its share of the live bytes, with a bar. */
void page_share(struct page *page, uint64_t bytes);
void page_name(struct page *page, const char *name, size_t size);
void page_address(struct page *page, uint64_t address);
/** A next command, which can be copied. */
void page_next(struct page *page, const char *command);
