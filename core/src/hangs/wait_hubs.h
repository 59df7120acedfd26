/* SPDX-License-Identifier: MIT */
/* Hubs of SignalR that wait for a client's result, which they would read only later. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

struct job;

/**
 * Find calls of InvokeAsync of SignalR that wait for the result of the client whose connection they belong to: its
 * messages are read only after the method of the hub that waits.
 *
 * @param[out] ret Pairs of a node that waits for the result (plus 1), and the node of the method that reads the messages of the
 * connection after that; sorted.  Empty before.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in async methods.
 */
HD_NODISCARD enum hd_status wait_hubs_find(const struct waits *waits, struct job *job,
					   struct wait_rows *ret, struct hd_error *err);
