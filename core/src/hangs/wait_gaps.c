/* SPDX-License-Identifier: MIT */
#include "hangs/wait_gaps.h"

#include "analysis/async/async_graph.h"
#include "framework/absent.h"
#include "targets/target.h"

static void find_of_thread(const struct thread_wait *wait, struct wait_gaps *gaps)
{
	const struct thread_stack *stack = &wait->stack;
	bool is_whole = !stack->is_missing && !stack->is_partial;
	/* Who runs .NET code waits for nothing. */
	bool is_unknown = wait->kind == WAIT_NONE && !wait->thread->is_cooperative;
	gaps->counts[GAP_RECORDS] += wait->info.state == WAIT_INFO_BROKEN;
	gaps->counts[GAP_NAMES] += is_unknown && wait->is_nameless;
	gaps->counts[GAP_STACKS] += is_unknown && !is_whole;
	gaps->counts[GAP_LOCKS] +=
		wait->kind == WAIT_MONITOR && !wait->entered && wait->info.state == WAIT_INFO_WAITS;
}

void wait_gaps_find(const struct waits *waits, struct wait_gaps *ret)
{
	const struct target *target = runtime_target(waits->heap->runtime);
	enum fact absent[FACTS];
	*ret = (struct wait_gaps){
		.counts = { [GAP_NO_THREADS] = !waits->count,
			    [GAP_SOME_THREADS] =
				    target && findings_has(&target->findings, FINDING_THREAD_LIST),
			    [GAP_NO_MONITORS] = waits->monitors.is_missing,
			    [GAP_MONITORS] = waits->monitors.unread,
			    [GAP_RECORDS] = waits->unread_joins,
			    [GAP_FACTS] = facts_absent(waits->heap, absent) },
	};
	if (waits->async) {
		ret->counts[GAP_ASYNC] =
			waits->async->unknown + waits->async->unseen + waits->async->is_cut;
	}
	for (size_t i = 0; i < waits->count; i++)
		find_of_thread(&waits->rows[i], ret);
	for (unsigned int i = 0; i < WAIT_GAPS; i++)
		ret->is_any |= ret->counts[i] != 0;
}
