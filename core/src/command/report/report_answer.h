/* SPDX-License-Identifier: MIT */
/* A report as an answer: text of one screen, or data. */
#pragma once

#include "command/report/first_look.h"
#include "findings/report.h"

/**
 * Write it.
 *
 * @param state A crash, damage and a hang, if somebody has looked; else this looks at them.
 * @param most Text shows this many findings.
 */
HD_NODISCARD enum hd_status report_answer(struct call *call, const struct report *report,
					  struct look_state *state, uint64_t most);

/** Answer with what grew, by holder, by root and by type; nothing without another heap. */
HD_NODISCARD enum hd_status growth_write(struct call *call, const struct report *report);

/** Write, only as data, whether roots, references or objects are missing, and what names decided. */
void report_missing(struct call *call, const struct report *report);
/** Say in text that names decided what is the framework's, if they did. */
void report_remark_names(struct call *call, const struct report *report);
