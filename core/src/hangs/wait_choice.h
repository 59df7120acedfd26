/* SPDX-License-Identifier: MIT */
/* Chooses among the nodes that a node waits for: which one keeps it from going on? */
#pragma once

#include "hangs/waits.h"

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
