/* SPDX-License-Identifier: MIT */
#include "hangs/wait_judge.h"

#include "hangs/wait_agents.h"
#include "hangs/wait_alone.h"
#include "hangs/wait_blocks.h"
#include "hangs/wait_connections.h"
#include "hangs/wait_limiters.h"
#include "hangs/wait_pools.h"
#include "hangs/wait_rentals.h"

enum hd_status wait_things_judge(const struct waits *waits, const uint32_t *ends,
				 struct wait_graph *graph, struct job *job, struct wait_things *ret,
				 struct hd_error *err)
{
	TRY(wait_things_find(waits, ends, job, ret, err));
	TRY(wait_limiters_find(waits, job, ret, err));
	TRY(wait_connections_find(waits, job, ret, err));
	wait_blocks_find(waits, ret);
	TRY(wait_releasers_find(waits, ends, job, ret, err));
	TRY(wait_things_find_holders(waits, job, ret, err));
	TRY(wait_pools_find(waits, job, ret, err));
	TRY(wait_alone_find(waits, graph, job, ret, err));
	TRY(wait_rentals_find(waits, graph, job, ret, err));
	return wait_agents_find(waits, job, ret, err);
}
