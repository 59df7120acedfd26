/* SPDX-License-Identifier: MIT */
/* Many threads that were started for one method: doc/report.md 4.29. */
#include "findings/rule.h"
#include "gc/heap.h"
#include "inspect/async_name.h"
#include "native/memory_share.h"
#include "roots/root_set.h"
#include "runtime/thread_state.h"
#include "util/text.h"

#define THREADS_MIN 100u
/* So many of the outermost frames are looked at: those of the framework that start a thread. */
#define FRAMES_MAX 64u

/* {0}: of how many threads, {1}: what is known of their stacks. */
static const struct telling of_started = {
	.least = { [SEVERITY_MEDIUM] = { .objects = THREADS_MIN } },
	.id = "started-threads:{method}",
	.title = "{objects} threads run {method}",
	.sentence = "{objects} of {0} threads were started for {method}, and have not ended{1}.",
	.look_at = "who starts a thread for {method}, and what ends it: a task of the pool needs "
		   "no thread while it waits",
	.next = "parallelstacks",
};

/* The outermost method of the program on a stack: what the thread was started for; 0: none. */
static uint64_t started_method(const struct report_facts *facts, const struct thread_stack *stack)
{
	HD_CLEANUP(text) struct text name = { 0 };
	for (size_t i = 0; i < stack->frames_count && i < FRAMES_MAX; i++) {
		uint64_t method_desc = stack->frames[stack->frames_count - 1 - i].method_desc;
		name.size = 0;
		if (method_desc && method_user_append(&name, facts->heap->runtime, method_desc) &&
		    facts_name_is_own(facts, name.bytes, name.size))
			return method_desc;
	}
	return 0;
}

static enum hd_status count_started(const struct report_facts *facts, struct tally *ret,
				    struct hd_error *err)
{
	const struct root_set *roots = facts->roots;
	for (size_t i = 0; i < roots->stack_count; i++) {
		const struct thread_stack *stack = &roots->stacks[i];
		if (!job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (!stack->thread ||
		    thread_state_is(stack->thread,
				    THREAD_STATE_POOL_WORKER | THREAD_STATE_COMPLETION_PORT))
			continue;
		uint64_t method_desc = started_method(facts, stack);
		if (method_desc)
			tally_add(ret, method_desc, HD_NONE, 0);
	}
	return HD_OK;
}

static enum hd_status add_started(struct report *report, uint64_t method_desc, uint64_t count,
				  struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	const struct memory_share *share = facts->native;
	uint64_t threads = facts->roots->stack_count;
	HD_CLEANUP(text) struct text name = { 0 };
	struct report_finding finding = {
		.objects = count,
		.bytes = share ? share->stacks / threads * count : 0,
		.member_type = HD_NONE,
		.holder = { .subject = HD_NONE, .root_kind = "none", .name = "their own stacks" },
	};
	if (!finding_weigh(report, &of_started, &finding) ||
	    !method_user_append(&name, facts->heap->runtime, method_desc))
		return HD_OK;
	finding.method = report_name(report, name.bytes, name.size);
	finding_count(&finding, "threads", count);
	finding_count(&finding, "all threads", threads);
	const char *stacks = share && share->stacks
				     ? report_text(report, "; all stacks have %s in memory",
						   report_bytes(report, share->stacks))
				     : "";
	const char *const texts[] = { report_number(report, threads), stacks };
	return finding_tell(report, &finding, &of_started, texts, err);
}

static enum hd_status find_started(struct report *report, struct hd_error *err)
{
	struct tally methods = { .count = 0 };
	TRY(count_started(&report->facts, &methods, err));
	if (methods.is_full)
		rule_limited(report);
	for (size_t i = 0; i < methods.count; i++) {
		rule_met(report, methods.counts[i]);
		TRY(add_started(report, methods.keys[i], methods.counts[i], err));
	}
	return HD_OK;
}

const struct report_rule started_threads_rule = {
	.name = "started-threads",
	.turn = TURN_STATES,
	.threshold = "100 threads outside of the pool that were started for one method",
	.needs = RULE_FIELDS | RULE_ROOTS,
	.is_outside = true,
	.find = find_started,
};
