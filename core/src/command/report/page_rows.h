/* SPDX-License-Identifier: MIT */
/* The answer of another command as a table of a page. */
#pragma once

#include <heapdump/answer.h>

#include "command/report/page.h"

/** A column of the answer, under the title that it gets. */
struct rows_column {
	const char *name, *title; /**< NULL ends a list */
};

/** A section with one table. */
struct rows_table {
	const char *id, *table_id, *title, *caption;
	const char *words[4]; /**< the command: its limit, if it has one, is more than most */
	const char *all;      /**< the command that shows all */
	const char *table;    /**< of its answer */
	const struct rows_column *columns;
	uint64_t most; /**< rows */
	int word_count;
	bool needs_heap;   /**< a dump file does not have it */
	bool is_ascending; /**< the largest row is the last one: the page begins with it */
};

/**
 * Run the command and write the section; one that fails is a section that says so.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status page_rows(struct page *page, const struct rows_table *table);

/** Run a command; HD_OK and *@p ret NULL: it failed, and the page says why. */
HD_NODISCARD enum hd_status page_run(struct page *page, int argc, const char *const *argv,
				     struct hd_rows **ret);

/** The value of a column of a row, NULL: there is none. */
const struct hd_value *row_value(const struct hd_table *table, const struct hd_value *values,
				 const char *name);
