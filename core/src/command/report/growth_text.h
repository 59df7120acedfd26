/* SPDX-License-Identifier: MIT */
/* Text and pages both say this about two heaps. */
#pragma once

#include "analysis/graph/diff.h"
#include "findings/comparison.h"
#include "util/text.h"

/** Append what comes after the name of the other heap: " (the same process, ...): ...", up to four sentences. */
void growth_summary(const struct heap_comparison *comparison, struct text *ret);

/** "+1.5 MB", "-3 KB". */
const char *growth_more(uint64_t before, uint64_t after, char buf[40]);

/** Pair the sums of two heaps, most growth first; for diff_deinit() if it succeeds. */
HD_NODISCARD enum hd_status growth_of_sums(const struct named_sums *before,
					   const struct named_sums *after, struct diff *ret,
					   struct hd_error *err);
