/* SPDX-License-Identifier: MIT */
/* Who has a database of SQLite that others want (Microsoft.Data.Sqlite; doc/coreclr.md 20.6). */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

struct job;

/**
 * Append the name of the database that a thread in WAIT_DATABASE wants, as the program gave it: "shop.db"; false, and nothing is
 * appended, when it cannot be read.
 */
bool wait_database_append(struct text *text, const struct waits *waits,
			  const struct thread_wait *wait);

/**
 * Find who probably has the databases that threads want: the thread whose frames, or the async method whose variables lead to
 * an open transaction of another connection to the same database.  Nothing is looked at where nobody wants one.
 *
 * @param[out] ret By the object of the wait, the node; several nodes: one of them has it.  To be given to wait_rows_deinit(),
 *   also on failure; empty before.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in roots and async methods, when somebody wants one.
 */
HD_NODISCARD enum hd_status wait_databases_find(const struct waits *waits, struct job *job,
						struct wait_rows *ret, struct hd_error *err);
