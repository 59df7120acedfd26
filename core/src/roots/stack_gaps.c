/* SPDX-License-Identifier: MIT */
#include "roots/stack_gaps.h"

#include <inttypes.h>

#include "util/text.h"

/* How many threads are named. */
#define THREADS_NAMED_MAX 3u

enum stack_gap {
	GAP_NONE,
	GAP_PARTIAL,
	GAP_MISSING,
	GAP_NO_REGISTERS,
	GAPS
};

static const struct {
	enum finding_kind kind;
	const char *what, *cost;
} gaps[GAPS] = {
	[GAP_PARTIAL] = { FINDING_PARTIAL_STACK, "not walked to the end",
			  "every word from there on that may be a reference counts as a root, "
			  "which may keep dead objects alive" },
	[GAP_MISSING] = { FINDING_MISSING_STACK, "not in the target",
			  "objects that only local variables there keep alive count as dead" },
	[GAP_NO_REGISTERS] = { FINDING_NO_REGISTERS, "without registers in the target",
			       "objects that only local variables there keep alive count as dead" },
};

/* The stacks with one kind of gap. */
struct summary {
	uint64_t count;
	struct text names; /* of the first threads */
	const char *why;   /* of the first */
};

static enum stack_gap gap_of(const struct target *target, const struct thread_stack *stack)
{
	uint64_t id = stack->thread->os_id;
	if (stack->is_missing) {
		return id <= INT32_MAX && target_thread(target, (int32_t)id) ? GAP_MISSING
									     : GAP_NO_REGISTERS;
	}
	return stack->is_partial ? GAP_PARTIAL : GAP_NONE;
}

void report_stack_gaps(const struct root_set *roots)
{
	struct target *target = heap_target(roots->heap);
	struct summary summaries[GAPS] = { 0 };
	for (size_t i = 0; i < roots->stack_count; i++) {
		const struct thread_stack *stack = &roots->stacks[i];
		struct summary *summary = &summaries[gap_of(target, stack)];
		if (!summary->count)
			summary->why = stack->why;
		if (summary->count < THREADS_NAMED_MAX) {
			text_printf(&summary->names, "%s%" PRIx64, summary->count ? ", " : "",
				    stack->thread->os_id);
		}
		summary->count++;
	}
	for (unsigned int i = GAP_NONE + 1; i < GAPS; i++) {
		const struct summary *summary = &summaries[i];
		if (!summary->count)
			continue;
		findings_add_counted(&target->findings, gaps[i].kind, summary->count, NULL,
				     "%" PRIu64 " stack%s %s (thread%s %s%s)%s%s: %s",
				     summary->count, summary->count == 1 ? " is" : "s are",
				     gaps[i].what, summary->count == 1 ? "" : "s",
				     summary->names.bytes ? summary->names.bytes : "?",
				     summary->count > THREADS_NAMED_MAX ? ", ..." : "",
				     *summary->why ? ": " : "", summary->why, gaps[i].cost);
	}
	for (unsigned int i = 0; i < GAPS; i++)
		text_deinit(&summaries[i].names);
}
