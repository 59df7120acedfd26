/* SPDX-License-Identifier: MIT */
/* Nodes that wait for several others: the lists of them. */
#pragma once

#include "hangs/waits.h"

/** Is there room for @p more parts?  All nodes together get a number of them that is linear in nodes. */
bool wait_parts_have_room(const struct waits *waits, uint64_t more);

/**
 * Add a part to waits->several, of the node that wait_several_add() is called for next.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wait_part_add(struct waits *waits, struct wait_edge part,
					  struct hd_error *err);

/**
 * Add @p several with all parts that were added from several.begin on; nothing when there are none.
 * Nodes are given in ascending order.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status wait_several_add(struct waits *waits, struct wait_several several,
					     struct hd_error *err);
