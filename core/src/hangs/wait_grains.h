/* SPDX-License-Identifier: MIT */
/* Whom a call of a grain of Orleans waits for. */
#pragma once

#include "hangs/wait_rows.h"
#include "hangs/waits.h"

struct job;

/**
 * Find which async method works on each message of a grain: the innermost one of the program, of the chain whose
 * outermost method has the message.
 *
 * @param[out] ret Pairs of a message and a node, sorted; empty before.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in async methods and what they refer to; nothing without a call of a grain.
 */
HD_NODISCARD enum hd_status wait_grains_find(const struct waits *waits, struct job *job,
					     struct wait_rows *ret, struct hd_error *err);

/**
 * The node that must go on before the answer at @p source comes: it works on its message, or on the one for which that
 * waits in the queue of the grain; WAIT_NOBODY: not known.
 */
uint32_t wait_grain_node(const struct waits *waits, const struct wait_rows *grains,
			 uint64_t source);
