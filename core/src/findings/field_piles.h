/* SPDX-License-Identifier: MIT */
/* Piles in the collections that some objects of one type have in one field: each is small, and all of them are not. */
#pragma once

#include "util/fail.h"

struct piles;
struct report_facts;

/**
 * Add the piles of @p limit bytes or more, each in place of those of its single collections.
 *
 * @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED
 * Cost: a pass over all collections, and over what is in those of such fields.
 */
HD_NODISCARD enum hd_status piles_add_fields(struct report_facts *facts, uint64_t limit,
					     struct piles *piles, struct hd_error *err);
