/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COMMAND_INFO_H
#define HEAPDUMP_SRC_COMMAND_INFO_H

#include "command/command.h"

/** info about the open core or process; @p layout: the offsets and where they come from. */
HD_NODISCARD enum hd_status run_info_target(struct call *call, bool layout);

/** "roots", "root_kinds", ...: how many there are. */
void info_json_roots(struct json *json, const struct hd_graph *graph);
/** The same as one line. */
void info_text_roots(struct out *out, const struct hd_graph *graph);

#endif
