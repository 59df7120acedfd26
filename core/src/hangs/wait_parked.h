/* SPDX-License-Identifier: MIT */
/* The main thread that waits until the process ends. */
#pragma once

#include "hangs/waits.h"

struct job;

/**
 * Does the main thread wait for the node, in the class of Main, and nobody else?  So do programs whose other parts are at work, to live
 * as long as these: new ManualResetEventSlim().Wait(), await new TaskCompletionSource().Task.  A program that is quiet
 * (wait_quiet.h), and no server, has no such parts.
 *
 * @param among By node: the only one that is set is @p node.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in threads, async methods, timers and work items.
 */
HD_NODISCARD enum hd_status wait_is_parked(const struct waits *waits, const bool *among,
					   uint32_t node, struct job *job, bool *ret,
					   struct hd_error *err);
