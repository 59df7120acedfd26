/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "native/memory_account.h"
#include "targets/process/cgroup_memory.h"

/**
 * The account of what a session has open; a warning says if there is no runtime in it.
 *
 * @param[out] ret To be given to memory_account_destroy(); untouched on failure.
 */
HD_NODISCARD enum hd_status make_call_account(struct call *call, struct hd_session *session,
					      struct memory_account **ret);

/**
 * The cgroup of the process that a session has open, as it was when the process was stopped; @p ret borrows its texts.
 *
 * @return false: nothing is known, or it is a core
 */
bool cgroup_of_session(const struct hd_session *session, struct cgroup_memory *ret);
