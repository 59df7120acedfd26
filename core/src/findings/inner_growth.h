/* SPDX-License-Identifier: MIT */
/* Does a collection grow inside of its members?  A fixed number of lists, each of which grows: doc/report.md 4.2. */
#pragma once

#include "findings/growth.h"

/** The type of the program of which a subject retains most young objects, and how old its objects are. */
struct inner_growth {
	uint32_t type; /**< or HD_NONE: there is none */
	struct member_ages ages;
};

/**
 * Find it for each of @p count subjects, which may retain each other.
 *
 * @param subjects Nodes, or HD_NONE.
 * @param ret By subject.
 * @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED
 * Cost: one pass over the young objects, with a few steps each.
 */
HD_NODISCARD enum hd_status inner_growth_find(const struct report_facts *facts,
					      const uint32_t *subjects, size_t count,
					      struct inner_growth *ret, struct hd_error *err);

/**
 * Is next to none of the type garbage, when @p young ones are alive?  Then nothing was dropped lately: of what comes and
 * goes, as much is garbage as is young.  False if that is not known.
 */
bool growth_drops_nothing(const struct report_facts *facts, uint32_t type, uint64_t young);
