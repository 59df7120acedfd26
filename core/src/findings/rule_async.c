/* SPDX-License-Identifier: MIT */
/* Calls of one async method that wait and pile up: doc/report.md 4.10. */
#include <string.h>

#include "analysis/async/async_graph.h"
#include "findings/owners.h"
#include "findings/rule.h"
#include "framework/owns.h"

/* So many calls of a method are looked at; so many are told however little they keep, more severely if they are more. */
#define LOOKED_AT_MIN 32u
#define CALLS_MIN     256u
#define CALLS_MEDIUM  1000u
#define CALLS_HIGH    10000u
/* Fewer bytes are what a server with some hundred connections needs. */
#define BYTES_MEDIUM (8 * MEGABYTE)

static const char *const task_classes[] = {
	"System.Threading.Tasks.", "System.Runtime.CompilerServices.AsyncTaskMethodBuilder", NULL
};

/* Connections, hubs and pipes wait most of the time. */
static const struct telling of_framework = {
	.id = OF_CONNECTIONS,
	.title = "{count1} sockets are open, and {objects} calls of the framework wait",
	.sentence =
		"{count1} sockets are open. {objects} calls of methods like {method} wait: mostly one "
		"or more for each connection; they keep {bytes}.",
	.look_at = "how many connections are open, if it is more than you expect",
	.next = "dumpasync -stats",
};

/* {0}: for which calls wait; {1}: what they keep of the program. */
static const struct telling of_calls = {
	.id = "async:{method}",
	.title = "{objects} calls of {method} wait",
	.sentence =
		"{objects} calls of {method} wait for {0}; they keep {bytes}{1} and are held by "
		"{holder}.",
	.look_at = "what completes the {0} that {method} awaits",
	.next = "dumpasync -stats",
};

static bool waits(const struct report_facts *facts, const struct async_node *node, uint32_t *ret)
{
	*ret = node->state >= 0 && node->next == ASYNC_NO_NODE ? facts_node(facts, node->address)
							       : HD_NONE;
	return *ret != HD_NONE && facts_is_live(facts, *ret);
}

/* Find the object by which the program holds a call: the source or task that dominates its box. */
static uint32_t top_of(const struct report_facts *facts, uint32_t node)
{
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t idom = facts_idom(facts, node);
		if (idom == HD_NONE || !type_begins(facts_type(facts, idom), task_classes[0]) ||
		    type_is_array(facts_type(facts, idom)))
			break;
		node = idom;
	}
	return node;
}

/* Calls of one method, or of all methods of the framework. */
struct calls {
	const struct async_node *first;
	struct member_ages ages;
	uint32_t sample[OWNERS_MAX * 50];
	size_t sampled;
	uint64_t bytes, count;
	uint32_t node; /* of the first */
};

static void read_calls(struct report_facts *facts, const struct async_graph *graph, uint64_t method,
		       struct calls *calls)
{
	uint64_t stride = calls->count / 100 + 1;
	uint32_t node;
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (graph->rows[i].method != method || !waits(facts, &graph->rows[i], &node))
			continue;
		calls->first = calls->first ? calls->first : &graph->rows[i];
		uint32_t top = top_of(facts, node);
		calls->bytes += facts_retained(facts, top);
		if (calls->ages.all % stride == 0 &&
		    calls->sampled < sizeof(calls->sample) / sizeof(calls->sample[0]))
			calls->sample[calls->sampled++] = top;
		ages_add(&calls->ages, facts, node);
	}
}

static void claim_calls(struct report_facts *facts, const struct async_graph *graph,
			uint64_t method)
{
	uint32_t node;
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (graph->rows[i].method == method && waits(facts, &graph->rows[i], &node))
			(void)typed_claim_up(facts, node, task_classes, 4);
	}
}

/* Does it wait for what comes from outside, or for a time?  Each connection of a server does. */
static bool waits_for_others(enum async_wait wait)
{
	switch (wait) {
	case AWAIT_SOCKET:
	case AWAIT_PIPE_READ:
	case AWAIT_PIPE_WRITE:
	case AWAIT_DELAY:
	case AWAIT_PERIODIC:
	case AWAIT_READ:
	case AWAIT_GRAIN:
	case AWAIT_SOURCE_OF_VALUE:
	case AWAIT_OTHER_TASK:
		return true;
	default:
		return false;
	}
}

/* Counts alone are no evidence: each connection of a server has some calls that wait. */
static enum severity severity_of_calls(const struct report *report,
				       const struct report_finding *finding, enum async_wait wait)
{
	bool grows = finding->growth.state == GROWTH_GROWS;
	bool is_many = finding->objects >= CALLS_MEDIUM;
	if (facts_permille(&report->facts, finding->bytes) < 100)
		return grows && is_many ? SEVERITY_LOW : SEVERITY_INFO;
	if (finding->objects >= CALLS_HIGH || (grows && finding->bytes >= BYTES_MEDIUM))
		return SEVERITY_HIGH;
	bool is_large = waits_for_others(wait) ? finding->bytes >= BYTES_MEDIUM
					       : finding->bytes >= facts_limit(&report->facts);
	if (finding->bytes >= BYTES_MEDIUM || (is_many && is_large))
		return SEVERITY_MEDIUM;
	return grows || is_many ? SEVERITY_LOW : SEVERITY_INFO;
}

static enum hd_status add_calls(struct report *report, struct async_graph *graph,
				const struct tally *tally, size_t row, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct calls calls = { .count = tally->counts[row] };
	read_calls(facts, graph, tally->keys[row], &calls);
	if (!calls.first || (calls.count < CALLS_MIN && (calls.bytes < BYTES_MEDIUM ||
							 facts_permille(facts, calls.bytes) < 100)))
		return HD_OK;
	claim_calls(facts, graph, tally->keys[row]);
	struct owners owners;
	owners_find(facts, HD_NONE, calls.sample, calls.sampled, &owners);
	struct report_finding finding = { .bytes = calls.bytes, .objects = calls.count };
	finding.growth = growth_of(facts, &calls.ages, owners.rows, owners.count);
	finding.severity = severity_of_calls(report, &finding, calls.first->wait);
	finding_about(report, &finding, owners.count ? owners.rows[0].node : calls.sample[0],
		      tally->first[row]);
	const char *name = async_node_name(graph, calls.first);
	finding.method = report_name(report, name, strlen(name));
	finding_count(&finding, "calls", calls.count);
	uint32_t kept = owners_kept_type(facts, calls.sample, calls.sampled);
	const char *most = kept == HD_NONE ? ""
					   : report_text(report, ", each an object of type %s,",
							 report_type_name(report, kept));
	return finding_tell(report, &finding, &of_calls,
			    (const char *[]){ async_wait_name(calls.first->wait), most }, err);
}

/* All methods of the framework are one finding, a fact. */
static enum hd_status add_framework(struct report *report, struct async_graph *graph,
				    const struct calls *calls, struct hd_error *err)
{
	struct report_finding finding = { .severity = SEVERITY_INFO,
					  .bytes = calls->bytes,
					  .objects = calls->count };
	const char *name = async_node_name(graph, calls->first);
	finding.method = report_name(report, name, strlen(name));
	finding_about(report, &finding, calls->sample[0], calls->node);
	finding_count(&finding, "calls", calls->count);
	finding_count(&finding, "sockets", owners_count_sockets(&report->facts));
	return finding_tell(report, &finding, &of_framework, NULL, err);
}

/* @p node: one of its calls. */
static bool is_of_framework(const struct report_facts *facts, struct async_graph *graph,
			    uint32_t node)
{
	uint32_t row = async_graph_find(graph, graph_id(facts->graph, node));
	if (row == ASYNC_NO_NODE)
		return false;
	const char *name = async_node_code(graph, &graph->rows[row]);
	return framework_owns(facts->heap->runtime, name, strlen(name));
}

static enum hd_status check_calls(struct report *report, struct async_graph *graph,
				  struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct tally methods = { .count = 0 };
	struct calls framework = { .count = 0 };
	uint32_t node;
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (waits(facts, &graph->rows[i], &node))
			tally_add(&methods, graph->rows[i].method, node, 0);
	}
	if (methods.is_full)
		rule_limited(report);
	for (size_t i = 0; i < methods.count; i++) {
		rule_met(report, methods.counts[i]);
		if (methods.counts[i] < LOOKED_AT_MIN)
			continue;
		if (!job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (is_of_framework(facts, graph, methods.first[i])) {
			framework.node = framework.count ? framework.node : methods.first[i];
			framework.count += methods.counts[i];
			read_calls(facts, graph, methods.keys[i], &framework);
			claim_calls(facts, graph, methods.keys[i]);
		} else {
			TRY(add_calls(report, graph, &methods, i, err));
		}
	}
	return framework.count >= CALLS_MIN && framework.first
		       ? add_framework(report, graph, &framework, err)
		       : HD_OK;
}

static enum hd_status find_calls(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	uint64_t boxes = 0;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		if (type_contains(&facts->graph->types[type], "AsyncStateMachineBox") ||
		    type_contains(&facts->graph->types[type], "+RuntimeAsyncTask<"))
			boxes += facts_live_count(facts, type);
	}
	if (boxes < LOOKED_AT_MIN)
		return HD_OK;
	if (facts->async)
		return check_calls(report, facts->async, err);
	HD_CLEANUP(async_graph) struct async_graph graph = { 0 };
	TRY(async_graph_create(facts->heap, facts->members, false, facts->job, &graph, err));
	return check_calls(report, &graph, err);
}

const struct report_rule async_rule = {
	.name = "async",
	.turn = TURN_DEFECTS,
	.threshold =
		"1,000 calls of one async method that wait and keep 10 % of the live heap, or 32 that also keep 8 MB",
	.needs = RULE_FIELDS,
	.rests_on_growth = true,
	.find = find_calls,
};
