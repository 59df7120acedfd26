/* SPDX-License-Identifier: MIT */
/* Timers that are set and keep what they will call: doc/report.md 4.8. */
#include "analysis/pool/callback_name.h"
#include "findings/rule.h"
#include "inspect/value.h"
#include "util/text.h"

#define TIMERS_MIN  256u
#define TIMERS_HIGH 10000u

static const struct telling of_timers = {
	.least = { [SEVERITY_HIGH] = { .objects = TIMERS_HIGH, .permille = 10 },
		   [SEVERITY_MEDIUM] = { .objects = TIMERS_MIN, .permille = 10 } },
	.id = "timers:{method}",
	.title = "{objects} timers call {method}",
	.sentence = "{objects} timers are set that call {method}; with what they capture they keep "
		    "{bytes} (held by {holder}).",
	.look_at = "who makes these timers, and where each is disposed",
	.next = "timerinfo",
};

static const char *const timer_classes[] = {
	"System.Threading.Timer",         "System.Threading.TimerHolder", "System.Timers.Timer",
	"System.Threading.PeriodicTimer", "System.Threading.Tasks.Task",  NULL
};

/* Task.Delay: the calls that wait for it are told by the rule of async methods. */
static bool is_delay(const struct report_facts *facts, uint32_t timer)
{
	uint32_t state = facts_fact_node(facts, timer, FACT_TIMER_STATE);
	return state != HD_NONE &&
	       type_begins(facts_type(facts, state), "System.Threading.Tasks.Task+DelayPromise");
}

/* The code that a timer calls; 0: it is not set. */
static uint64_t callback_of(const struct report_facts *facts, uint32_t timer)
{
	struct member due = facts_fact(facts, timer, FACT_TIMER_DUE);
	struct member cancelled = facts_fact(facts, timer, FACT_TIMER_CANCELED);
	if (due.state != MEMBER_READ || due.bits == UINT32_MAX || is_delay(facts, timer) ||
	    cancelled.bits)
		return 0;
	struct object object;
	struct delegate_info info;
	uint32_t callback = facts_fact_node(facts, timer, FACT_TIMER_CALLBACK);
	if (callback == HD_NONE || !facts_object(facts, callback, &object) ||
	    !delegate_read(facts->heap, &object, &info))
		return 0;
	return info.method_desc ? info.method_desc : info.method_code;
}

static const char *callback_name(struct report *report, uint32_t timer)
{
	struct report_facts *facts = &report->facts;
	uint32_t callback = facts_fact_node(facts, timer, FACT_TIMER_CALLBACK);
	struct object object;
	HD_CLEANUP(text) struct text text = { 0 };
	uint64_t target;
	const char *ret = "an unknown method";
	if (callback != HD_NONE && facts_object(facts, callback, &object) &&
	    callback_append(&text, facts->heap, facts->members, &object, &target) && text.size)
		ret = report_name(report, text.bytes, text.size);
	return ret;
}

/*
 * The timer in front of this one in the queue's list dominates it, but does not own what it keeps.
 */
static uint64_t bytes_after(const struct report_facts *facts, uint32_t timer, uint64_t code)
{
	uint32_t before = facts_idom(facts, timer);
	bool is_timer = before < facts->graph->object_count &&
			facts->graph->node_types[before] == facts->graph->node_types[timer];
	return is_timer && callback_of(facts, before) == code ? facts_retained(facts, timer) : 0;
}

static enum hd_status add_timers(struct report *report, const struct typed_nodes *all,
				 const struct tally *tally, size_t row, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	uint64_t bytes = 0, after = 0, count = tally->counts[row], held = 0;
	uint32_t holder = HD_NONE, unheld = HD_NONE;
	for (uint32_t i = 0; i < all->count; i++) {
		after += bytes_after(facts, all->nodes[i], tally->keys[row]);
		if (callback_of(facts, all->nodes[i]) != tally->keys[row])
			continue;
		uint32_t top = typed_claim_up(facts, all->nodes[i], timer_classes, 3);
		uint32_t callback = facts_fact_node(facts, all->nodes[i], FACT_TIMER_CALLBACK);
		bytes += facts_retained(facts, top);
		if (callback != HD_NONE && facts_idom(facts, callback) != all->nodes[i])
			bytes += facts_retained(facts, callback);
		bool is_held = facts->classes[top] == CLASS_PROCESS;
		held += is_held;
		holder = is_held ? top : holder;
		unheld = is_held ? unheld : all->nodes[i];
	}
	bytes -= after;
	/* Most of them: one that somebody holds does not tell who holds the others. */
	if (holder == HD_NONE || (held * 2 < count && unheld != HD_NONE))
		holder = unheld != HD_NONE ? unheld : tally->first[row];
	struct report_finding finding = { .bytes = bytes,
					  .objects = count,
					  .member_type = facts->graph->node_types[holder] };
	if (!finding_weigh(report, &of_timers, &finding))
		return HD_OK;
	finding.method = callback_name(report, tally->first[row]);
	holder_find(report, holder, &finding.holder);
	finding_count(&finding, "timers", count);
	finding_sample(&finding, tally->first[row]);
	return finding_tell(report, &finding, &of_timers, NULL, err);
}

static enum hd_status find_timers(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	uint32_t type = typed_next(facts, HD_NONE, "System.Threading.TimerQueueTimer");
	struct tally callbacks = { .count = 0 };
	if (type == HD_NONE)
		return HD_OK;
	struct typed_nodes all = typed_nodes(facts, type);
	for (uint32_t i = 0; i < all.count && all.count >= TIMERS_MIN; i++) {
		uint64_t code = callback_of(facts, all.nodes[i]);
		if (code)
			tally_add(&callbacks, code, all.nodes[i], 0);
	}
	if (callbacks.is_full)
		rule_limited(report);
	for (size_t i = 0; i < callbacks.count; i++) {
		rule_met(report, callbacks.counts[i]);
		if (callbacks.counts[i] >= TIMERS_MIN)
			TRY(add_timers(report, &all, &callbacks, i, err));
	}
	return HD_OK;
}

const struct report_rule timers_rule = {
	.name = "timers",
	.turn = TURN_DEFECTS,
	.threshold = "256 timers that call one method and keep 1 % of the live heap",
	.needs = RULE_FIELDS,
	.rests_on_growth = true,
	.find = find_timers,
};
