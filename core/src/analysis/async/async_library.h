/* SPDX-License-Identifier: MIT */
/* Links of objects of libraries: blocks of a dataflow, limiters of rates, agents of F#, grains of Orleans, connections. */
#pragma once

#include "analysis/async/async_graph.h"

/**
 * Add to the graph's links whom @p object lets wait, or what it is a part of; nothing for another class than those of
 * libraries (doc/coreclr.md 20.2 to 20.4, doc/requests.md 1).
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * Cost: linear in the object's references; of the queue of a grain, a constant number of messages is looked at; linear in
 * the queues of a pool of connections.
 */
HD_NODISCARD enum hd_status async_links_of_library(struct async_graph *graph,
						   const struct object *object,
						   struct hd_error *err);
