/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COMMAND_CMD_STRINGS_H
#define HEAPDUMP_SRC_COMMAND_CMD_STRINGS_H

#include "command/heap/heap_call.h"

/** Answer with the equal strings of a part of the heap, counted: strings and dumpheap -strings. */
HD_NODISCARD enum hd_status strings_write(struct call *call, const struct heap_range *range,
					  const struct life *life);

#endif
