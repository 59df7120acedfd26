/* SPDX-License-Identifier: MIT */
/* Another dump file, core or process, with which a command compares what is open. */
#pragma once

#include "command/call.h"

/**
 * Open @p name in a session of its own, with the settings of the call.  A process is copied: the sink is told for how long
 * it was stopped.
 *
 * @param[out] ret To be given to hd_session_destroy(); untouched on failure.
 */
HD_NODISCARD enum hd_status other_session_open(struct call *call, const char *name,
					       struct hd_session **ret);

/** For HD_CLEANUP(other_session), in front of a pointer that is NULL or was opened so. */
static inline void other_session_deinit(struct hd_session **other)
{
	hd_session_destroy(*other);
}

/**
 * The heap of its target; an error names the target, because two are open.
 *
 * @param[out] ret one that can be walked; owned by @p other
 */
HD_NODISCARD enum hd_status other_session_heap(struct call *call, struct hd_session *other,
					       struct heap **ret);
