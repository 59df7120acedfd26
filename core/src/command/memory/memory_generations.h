/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/generation_bytes.h"
#include "command/call.h"

/**
 * Count the bytes of each generation that are live, dead and free, of all heaps of call->heap
 * together.
 *
 * @retval HD_OK
 * @retval HD_ERR_FAULT the heap cannot be walked
 */
HD_NODISCARD enum hd_status memory_count_generations(struct call *call,
						     struct generation_bytes *ret);

/** Answer with the table of generations, and with what is not known of them. */
void memory_write_generations(struct call *call, const struct generation_bytes *bytes);
