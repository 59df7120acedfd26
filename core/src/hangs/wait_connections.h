/* SPDX-License-Identifier: MIT */
/* Pools of HTTP connections of which nobody gives one back. */
#pragma once

#include "hangs/wait_things.h"

/**
 * Look at each thing that is a pool of HttpClient's connections to a server, where no other connection is being made, and
 * of HTTP/1.1 as many have a request as there may be.  An answer that is not read to its end keeps its connection, or
 * stream of HTTP/2, until somebody reads or disposes of it.  Set
 *
 * - pool_items, holders and holder, where calls have such answers that wait for the same pool again, and nobody else
 *   refers to these;
 * - is_nested, pool_items, holders and holder, where all connections are to this same process, which has no others, and all
 *   requests that come over them wait for the same pool;
 * - lost: so many connections have answers that nothing refers to any more; only a garbage collection gives them back.
 *
 * Only where both together are all that are in use; else nothing is set: an answer is still to come, or is read.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in the references of async methods and threads, for each such pool, until one is found that has a
 * connection; and in the heap, where none is found.
 */
HD_NODISCARD enum hd_status wait_connections_find(const struct waits *waits, struct job *job,
						  struct wait_things *things, struct hd_error *err);
