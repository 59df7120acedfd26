/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COMMAND_INFO_H
#define HEAPDUMP_SRC_COMMAND_INFO_H

#include "command/command.h"

/** info about the open core or process; @p layout: the offsets and where they come from. */
HD_NODISCARD enum hd_status run_info_target(struct call *call, bool layout);

#endif
