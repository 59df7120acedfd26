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

/** Is anything dropped of what piles up? */
enum growth_drops {
	DROPS_UNKNOWN,
	DROPS_NOTHING, /**< next to none of it is garbage, though some came lately */
	DROPS_SOME,    /**< so much is garbage that as many may have left as came */
};

/**
 * Compare how many objects of a type are garbage with how many of it came since the last collection (@p ages): of what comes and
 * goes, as much is garbage as is young.  What came before the last collection does not count, as that one has taken its
 * garbage.
 */
enum growth_drops growth_drops(const struct report_facts *facts, uint32_t type,
			       const struct member_ages *ages);
