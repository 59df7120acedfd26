/* SPDX-License-Identifier: MIT */
/* Timers that are set and keep what they will call: doc/report.md 4.8. */
#include "analysis/pool/callback_name.h"
#include "findings/rule.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/text.h"

#define TIMERS_MIN  256u
#define TIMERS_HIGH 10000u
#define NO_ROW      TALLY_MAX

/* Their number is no evidence: each connection of a server may have one. */
#define TELLING_OF_TIMERS                                                                       \
	.id = "timers:{method}", .title = "{objects} timers call {method}",                     \
	.sentence = "{objects} timers are set that call {method}; with what they capture they " \
		    "keep {bytes} (held by {holder}).",                                         \
	.look_at = "who makes these timers, and where each is disposed", .next = "timerinfo"

static const struct telling of_timers = {
	.least = { [SEVERITY_HIGH] = { .objects = TIMERS_HIGH, .permille = 100 },
		   [SEVERITY_MEDIUM] = { .objects = TIMERS_MIN, .half_limits = 2 },
		   [SEVERITY_LOW] = { .objects = TIMERS_MIN, .permille = 10 } },
	TELLING_OF_TIMERS,
};

/* Deadlines and pings of connections: as many as there are connections. */
static const struct telling of_framework = {
	.least = { [SEVERITY_HIGH] = { .objects = TIMERS_HIGH, .permille = 100 },
		   [SEVERITY_MEDIUM] = { .objects = TIMERS_MIN,
					 .permille = 100,
					 .bytes = 4 * MEGABYTE },
		   [SEVERITY_INFO] = { .objects = TIMERS_MIN, .permille = 10 } },
	TELLING_OF_TIMERS,
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
		ret = report_method_name(report, text.bytes, text.size);
	return ret;
}

/* The timers that call one method. */
struct same_timers {
	uint64_t bytes, held;
	uint32_t holder, unheld; /* one of those that the process holds, and of the others */
};

/* All timers, by the method that they call: the rows of both tables are the same. */
struct timers {
	struct typed_nodes all;
	struct tally callbacks;
	uint8_t *rows; /* by timer: NO_ROW, or its row */
	struct same_timers same[TALLY_MAX];
};

static bool is_many(const struct timers *timers, size_t row)
{
	return row < timers->callbacks.count && timers->callbacks.counts[row] >= TIMERS_MIN;
}

/* The row of a timer that stands in the list of all; NO_ROW: it is not one of them. */
static size_t row_of(const struct timers *timers, uint32_t node)
{
	uint32_t begin = 0, end = timers->all.count;
	while (begin < end) {
		uint32_t middle = begin + (end - begin) / 2;
		if (timers->all.nodes[middle] < node) {
			begin = middle + 1;
		} else {
			end = middle;
		}
	}
	return begin < timers->all.count && timers->all.nodes[begin] == node ? timers->rows[begin]
									     : NO_ROW;
}

static void add_timer(struct report_facts *facts, uint32_t timer, struct same_timers *same)
{
	uint32_t top = typed_claim_up(facts, timer, timer_classes, 3);
	uint32_t callback = facts_fact_node(facts, timer, FACT_TIMER_CALLBACK);
	same->bytes += facts_retained(facts, top);
	if (callback != HD_NONE && facts_idom(facts, callback) != timer)
		same->bytes += facts_retained(facts, callback);
	bool is_held = facts->classes[top] == CLASS_PROCESS;
	same->held += is_held;
	same->holder = is_held ? top : same->holder;
	same->unheld = is_held ? same->unheld : timer;
}

/* The timer in front of this one in the queue's list dominates it, but does not own what it keeps. */
static void take_from_one_before(const struct report_facts *facts, struct timers *timers,
				 uint32_t timer)
{
	size_t before = row_of(timers, facts_idom(facts, timer));
	if (is_many(timers, before))
		timers->same[before].bytes -= facts_retained(facts, timer);
}

static enum hd_status tell_timers(struct report *report, const struct timers *timers, size_t row,
				  struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	const struct same_timers *same = &timers->same[row];
	uint64_t count = timers->callbacks.counts[row];
	uint32_t holder = same->holder, first = timers->callbacks.first[row];
	/* Most of them: one that somebody holds does not tell who holds the others. */
	if (holder == HD_NONE || (same->held * 2 < count && same->unheld != HD_NONE))
		holder = same->unheld != HD_NONE ? same->unheld : first;
	struct report_finding finding = { .bytes = same->bytes,
					  .objects = count,
					  .member_type = facts->graph->node_types[holder] };
	finding.method = callback_name(report, first);
	bool is_own = facts_name_is_own(facts, finding.method, strlen(finding.method));
	const struct telling *telling = is_own ? &of_timers : &of_framework;
	if (!finding_weigh(report, telling, &finding))
		return HD_OK;
	holder_find(report, holder, &finding.holder);
	finding_count(&finding, "timers", count);
	finding_sample(&finding, first);
	return finding_tell(report, &finding, telling, NULL, err);
}

/* One pass finds the methods, another one adds up what their timers keep. */
static enum hd_status add_up(struct report_facts *facts, struct timers *timers,
			     struct hd_error *err)
{
	for (uint32_t i = 0; i < timers->all.count; i++) {
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		uint64_t code = callback_of(facts, timers->all.nodes[i]);
		timers->rows[i] =
			code ? (uint8_t)tally_add(&timers->callbacks, code, timers->all.nodes[i], 0)
			     : NO_ROW;
	}
	for (size_t i = 0; i < TALLY_MAX; i++)
		timers->same[i] = (struct same_timers){ .holder = HD_NONE, .unheld = HD_NONE };
	for (uint32_t i = 0; i < timers->all.count; i++) {
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		take_from_one_before(facts, timers, timers->all.nodes[i]);
		if (is_many(timers, timers->rows[i]))
			add_timer(facts, timers->all.nodes[i], &timers->same[timers->rows[i]]);
	}
	return HD_OK;
}

static enum hd_status find_timers(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	uint32_t type = typed_next(facts, HD_NONE, "System.Threading.TimerQueueTimer");
	struct timers timers = { .callbacks.count = 0 };
	if (type == HD_NONE)
		return HD_OK;
	timers.all = typed_nodes(facts, type);
	if (timers.all.count < TIMERS_MIN)
		return HD_OK;
	timers.rows = pages_alloc(timers.all.count, 1);
	enum hd_status status = timers.rows ? add_up(facts, &timers, err) : fail_nomem(err);
	pages_free(timers.rows, timers.all.count, 1);
	TRY(status);
	if (timers.callbacks.is_full)
		rule_limited(report);
	for (size_t i = 0; i < timers.callbacks.count; i++) {
		rule_met(report, timers.callbacks.counts[i]);
		if (is_many(&timers, i))
			TRY(tell_timers(report, &timers, i, err));
	}
	return HD_OK;
}

const struct report_rule timers_rule = {
	.name = "timers",
	.turn = TURN_DEFECTS,
	.threshold = "256 timers that call one method and keep 10 % of the live heap",
	.needs = RULE_FIELDS,
	.rests_on_growth = true,
	.find = find_timers,
};
