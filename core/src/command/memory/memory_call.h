/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COMMAND_MEMORY_CALL_H
#define HEAPDUMP_SRC_COMMAND_MEMORY_CALL_H

#include "analysis/memory/memory_account.h"
#include "command/call.h"

/**
 * The account of what is open, for commands that need NEEDS_ACCOUNT; a warning says if there is no
 * runtime in it.
 *
 * @param[out] ret To be given to memory_account_destroy(); untouched on failure.
 */
HD_NODISCARD enum hd_status call_memory_account(struct call *call, struct memory_account **ret);

#endif
