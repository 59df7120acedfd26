/* SPDX-License-Identifier: MIT */
/* A table of an answer that is kept in columns, and handed out as a stream of Arrow (heapdump/arrow.h). */
#pragma once

#include <heapdump/arrow.h>

#include "answer/visit.h"

/** The table, and what is kept of it. */
struct arrow_table;

/**
 * @param[in] name Of the table, borrowed until arrow_table_stream(); NULL: the main one.
 * @param batch_rows Most rows of a batch, > 0.
 * @return NULL when memory is exhausted
 */
struct arrow_table *arrow_table_create(const char *name, uint32_t batch_rows);
/** NULL is allowed. */
void arrow_table_destroy(struct arrow_table *table);

/** The visitor for the answer: it keeps the rows of the table. */
struct visit *arrow_table_visit(struct arrow_table *table);

/**
 * Was every row kept, and was there such a table?
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_UNSUPPORTED a text is too long for a column
 * @retval HD_ERR_NOTFOUND no such table; the message names those that the answer has
 */
HD_NODISCARD enum hd_status arrow_table_check(const struct arrow_table *table,
					      struct hd_error *err);
/** The same, but only about the rows: why the visitor has stopped the command, if it has. */
HD_NODISCARD enum hd_status arrow_table_check_rows(const struct arrow_table *table,
						   struct hd_error *err);

/** Make the stream, which owns the table from then on: releasing it destroys the table. */
void arrow_table_stream(struct arrow_table *table, const char *command,
			struct ArrowArrayStream *ret);
