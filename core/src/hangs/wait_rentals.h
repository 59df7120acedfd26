/* SPDX-License-Identifier: MIT */
/* Pools of objects in a channel, of which nobody has one any more who could give it back. */
#pragma once

#include "hangs/wait_things.h"

struct wait_graph;

/**
 * Add a thing THING_RENTAL for each pool whose objects are all away for ever.  A pool has in its fields a channel with the objects that
 * are free, which is empty, and an array with all of them, which is full; each of them refers to the pool.  Async methods of
 * the pool wait for the channel without a limit, and a thread or a request of a server for these, directly or not.  No root leads to
 * one of the objects but over the pool and those who wait; and nobody who may go on is in a method of the pool, which could make others.
 *
 * Things that are the channels of such pools are taken away.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in async methods; where there is such a pool, in the objects of the heap and their references, too.
 */
HD_NODISCARD enum hd_status wait_rentals_find(const struct waits *waits, struct wait_graph *graph,
					      struct job *job, struct wait_things *things,
					      struct hd_error *err);
