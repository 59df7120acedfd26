/* SPDX-License-Identifier: MIT */
/* An answer that is kept: the rows of all its tables. */
#pragma once

#include "answer/visit.h"

/** NULL when memory is exhausted. */
struct hd_rows *rows_create(void);

/** The visitor for the answer: it keeps the tables and rows in @p rows. */
struct visit *rows_visit(struct hd_rows *rows);

/** Keep a line of warning. */
void rows_warn(struct hd_rows *rows, const char *line);

/**
 * Was every row kept?
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM the message says what can be done
 */
HD_NODISCARD enum hd_status rows_check(const struct hd_rows *rows, struct hd_error *err);
