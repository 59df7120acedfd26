/* SPDX-License-Identifier: MIT */
/* Slots of arrays and collections that are empty, by type and by what holds them. */
#pragma once

#include "findings/rule.h"

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
 * Count one: into the row of its holder and type among the rows from @p begin on.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wastes_add(struct wastes *wastes, size_t begin, const struct waste *one,
				       struct hd_error *err);
/**
 * Has another finding explained the object?  That something grows does not explain that most of it is waste: that counts
 * first, and waste_is_told() is asked for the sum.
 */
bool waste_is_explained(const struct report *report, uint32_t node);
/** Is the waste a smaller part of something that grows, which a finding tells? */
bool waste_is_told(const struct report *report, uint32_t sample, uint64_t bytes);

void wastes_deinit(struct wastes *wastes);

/** How a rule tells of rows. */
struct waste_telling {
	struct telling telling;
	const char *counts[3]; /**< names of a row's count, used and room */
	bool has_blamed;       /**< only what a field of the program holds is told */
	bool is_met_in_bytes;  /**< its threshold is in megabytes, and no share of the heap */
};

/**
 * Make findings of the rows of which there is enough.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wastes_tell(struct report *report, const struct wastes *wastes,
					const struct waste_telling *how, struct hd_error *err);
