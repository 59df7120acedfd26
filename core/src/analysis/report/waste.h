/* SPDX-License-Identifier: MIT */
/* Slots of arrays and collections that are empty, by type and by what holds them. */
#ifndef HEAPDUMP_SRC_ANALYSIS_REPORT_WASTE_H
#define HEAPDUMP_SRC_ANALYSIS_REPORT_WASTE_H

#include "analysis/report/report.h"

/** Arrays or collections of one type that objects of one type hold. */
struct waste {
	uint32_t holder; /**< a type, or HD_NONE */
	uint32_t type, sample;
	uint64_t count, used, room, bytes;
};

struct wastes {
	struct waste *rows;
	size_t rows_count, rows_capacity;
};

/**
 * Count one: into the row of its holder among the rows from @p begin on, which are those of its type.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wastes_add(struct wastes *wastes, size_t begin, const struct waste *one,
				       struct hd_error *err);
void wastes_deinit(struct wastes *wastes);

/** Make a finding of a row: all but its severity and look_at.  @p what: "collections" or "arrays", static. */
void waste_describe(struct report *report, const struct waste *waste, const char *what,
		    struct report_finding *ret);

#endif
