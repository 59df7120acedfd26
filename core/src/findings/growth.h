/* SPDX-License-Identifier: MIT */
/* Does a collection grow?  What one dump can say: doc/report.md 4.2. */
#pragma once

#include "findings/facts.h"

struct counted;
struct growth;

/** How many members are in which generation. */
struct member_ages {
	uint64_t of[FACT_GENERATIONS];
	uint64_t all;
	uint64_t parts; /**< bitmap of the parts of generation 0 that have members */
};

static inline void ages_add(struct member_ages *ages, const struct report_facts *facts,
			    uint32_t node)
{
	unsigned int generation = facts_generation(facts, node);
	ages->of[generation < FACT_GENERATIONS ? generation : GENERATION_UNKNOWN]++;
	ages->all++;
	if (generation == 0)
		ages->parts |= (uint64_t)1 << facts_young_part(facts, node);
}

/** Judge growth by @p owners (@p count of them, may be 0) and the ages of the members. */
struct growth growth_of(const struct report_facts *facts, const struct member_ages *ages,
			const struct counted *owners, size_t count);
