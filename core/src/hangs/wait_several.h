/* SPDX-License-Identifier: MIT */
/* Nodes that wait for several others: the lists of them, and which of these keeps each from going on. */
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

/**
 * Set the edge of each node that waits for several (waits->several), by which of them can never go on:
 * a node that needs all of several cannot when one of these cannot, a node that needs any of them only
 * when none of these can.  A node with one edge cannot when the other end cannot.
 *
 * Whatever can never go on gets an edge to another such node.  Else the edge of a node that needs all
 * leads to the first one that is known, and a node that needs any gets no edge.  So the cycles of the
 * edges are exactly the deadlocks.
 *
 * @param waits All single edges must have been set.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in nodes and edges.
 */
HD_NODISCARD enum hd_status wait_choose_edges(struct waits *waits, struct hd_error *err);
