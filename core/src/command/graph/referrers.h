/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"

/**
 * Answer with who refers directly to some objects, by type and field, and a line of how many: referrers, and strings
 * with -value.
 *
 * @param[in] nodes @p count objects of call->graph, ascending, no node twice.
 */
HD_NODISCARD enum hd_status referrers_write(struct call *call, const uint32_t *nodes, size_t count,
					    uint64_t limit);
