/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"

/**
 * "recorded": null, or why the runtime says that it ended the process (runtime_crash_record()), with exceptions and
 * their stacks.  A record that is damaged is told.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status crash_record_write(struct call *call);
