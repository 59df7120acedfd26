/* SPDX-License-Identifier: MIT */
/* Piles that the rule `accumulation` has judged, and which of them are one finding: doc/report.md 4.1. */
#pragma once

#include "findings/inner_growth.h"
#include "findings/owners.h"
#include "findings/report.h"

#define MEMBERS_MIN    256u
#define PATH_STEPS_MAX 1000000u

struct grouped_pile;
struct pile;

/** A group with what is known of its owner. */
struct judged {
	const struct pile *pile;
	struct owners owners;
	struct growth growth;
	uint32_t type;  /**< of what piles up: what the nodes of a collection hold */
	uint64_t limit; /**< that the owner has */
	bool has_limit;
	enum growth_drops drops;
	bool is_told_by_other; /**< a pile of fields, or what has these, tells the same */
	uint32_t subject;      /**< the object whose path names the owner, or HD_NONE */
	bool is_connection;    /**< parts of connections that are open */
	bool is_of_main; /**< an async method that Main waits for holds it: as long as the process */
	enum root_class root;
	uint64_t members; /**< of all piles of its name */
};

/** The piles that became findings, in their order. */
struct judgement {
	struct judged *rows;
	struct grouped_pile *piles; /**< by name */
	size_t count;
};

/**
 * Make one finding of those that belong together: of one name and type, or of one field.
 *
 * @param begin The first of the findings, which are one for each judged pile; both become fewer.
 * @retval HD_OK  @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status judged_piles_fold(struct report *report, size_t begin,
					      struct judgement *judgement, struct hd_error *err);
/** Make one fact of all that belongs to open connections, unless a rule before has told it. The findings have their words. */
void judged_piles_fold_connections(struct report *report, size_t begin,
				   const struct judgement *judgement);
