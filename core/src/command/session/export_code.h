/* SPDX-License-Identifier: MIT */
/* Managed code as an ELF file, for debuggers (doc/managed-elf.md), or as the map of perf. */
#pragma once

#include "command/call.h"

/** Does the call ask for it, by -format or by the end of the file's name? */
bool export_wants_code(const struct call *call);
/** Do its options and words go together? */
HD_NODISCARD enum hd_status export_code_check(struct call *call);
/** Write it to the file that the first word names, and answer. */
HD_NODISCARD enum hd_status export_code(struct call *call);
