/* SPDX-License-Identifier: MIT */
/* The collections that members of a group are in. */
#ifndef HEAPDUMP_SRC_ANALYSIS_REPORT_OWNERS_H
#define HEAPDUMP_SRC_ANALYSIS_REPORT_OWNERS_H

#include "analysis/report/counted.h"

#define OWNERS_MAX 2u

struct owners {
	struct counted rows[OWNERS_MAX];
	size_t count;
	bool is_guess; /**< by a vote of some members */
};

/**
 * Find them.
 *
 * @param at What dominates all members; HD_NONE: nothing does.
 * @param members Some of them, @p count.
 */
void owners_find(struct report_facts *facts, uint32_t at, const uint32_t *members, size_t count,
		 struct owners *ret);

/** The type of what a node of a framework's collection holds, for @p type; else @p type itself. */
uint32_t owners_item_type(const struct report_facts *facts, uint32_t type, const uint32_t *members,
			  size_t count);

#endif
