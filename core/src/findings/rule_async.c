/* SPDX-License-Identifier: MIT */
/* Calls of one async method that wait and pile up: doc/report.md 4.10. */
#include <string.h>

#include "analysis/async/async_graph.h"
#include "findings/growth.h"
#include "findings/owners.h"
#include "findings/rule.h"
#include "findings/rules.h"
#include "findings/typed.h"
#include "framework/member.h"

#define CALLS_MIN  256u
#define CALLS_HIGH 10000u

static const char *const task_classes[] = {
	"System.Threading.Tasks.", "System.Runtime.CompilerServices.AsyncTaskMethodBuilder", NULL
};

/* {0}: for which calls wait. */
static const struct telling of_calls = {
	.id = "async:{method}",
	.title = "{objects} calls of {method} wait",
	.sentence = "{objects} calls of {method} wait for {0}; they keep {bytes} and are held by "
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

static enum hd_status add_calls(struct report *report, struct async_graph *graph,
				const struct tally *tally, size_t row, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	const struct async_node *first = NULL;
	struct member_ages ages = { .all = 0 };
	uint32_t sample[OWNERS_MAX * 50], node;
	size_t sampled = 0;
	uint64_t bytes = 0, count = tally->counts[row], stride = count / 100 + 1;
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (graph->rows[i].method != tally->keys[row] ||
		    !waits(facts, &graph->rows[i], &node))
			continue;
		first = first ? first : &graph->rows[i];
		uint32_t top = top_of(facts, node);
		bytes += facts_retained(facts, top);
		if (ages.all % stride == 0 && sampled < sizeof(sample) / sizeof(sample[0]))
			sample[sampled++] = top;
		ages_add(&ages, facts, node);
		(void)typed_claim_up(facts, node, task_classes, 4);
	}
	if (!first)
		return HD_OK;
	struct owners owners;
	owners_find(facts, HD_NONE, sample, sampled, &owners);
	struct report_finding finding = { .severity = SEVERITY_MEDIUM,
					  .bytes = bytes,
					  .objects = count,
					  .member_type =
						  facts->graph->node_types[tally->first[row]] };
	finding.growth = growth_of(facts, &ages, owners.rows, owners.count);
	if (facts_permille(facts, bytes) >= 100 &&
	    (count >= CALLS_HIGH || finding.growth.state == GROWTH_GROWS))
		finding.severity = SEVERITY_HIGH;
	holder_find(report, owners.count ? owners.rows[0].node : sample[0], &finding.holder);
	const char *name = async_node_name(graph, first);
	finding.method = report_name(report, name, strlen(name));
	finding_count(&finding, "calls", count);
	finding_sample(&finding, tally->first[row]);
	return finding_tell(report, &finding, &of_calls,
			    (const char *[]){ async_wait_name(first->wait) }, err);
}

static enum hd_status check_calls(struct report *report, struct async_graph *graph,
				  struct hd_error *err)
{
	struct tally methods = { .count = 0 };
	uint32_t node;
	for (size_t i = 0; i < graph->rows_count; i++) {
		if (waits(&report->facts, &graph->rows[i], &node))
			tally_add(&methods, graph->rows[i].method, node, 0);
	}
	if (methods.is_full)
		rule_limited(report);
	for (size_t i = 0; i < methods.count; i++) {
		rule_met(report, methods.counts[i]);
		if (methods.counts[i] >= CALLS_MIN)
			TRY(add_calls(report, graph, &methods, i, err));
	}
	return HD_OK;
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
	if (boxes < CALLS_MIN)
		return HD_OK;
	HD_CLEANUP(async_graph) struct async_graph graph = { 0 };
	TRY(async_graph_create(facts->heap, facts->members, false, facts->job, &graph, err));
	return check_calls(report, &graph, err);
}

const struct report_rule async_rule = {
	.name = "async",
	.turn = TURN_DEFECTS,
	.threshold = "256 calls of one async method that wait",
	.needs = RULE_FIELDS,
	.rests_on_growth = true,
	.find = find_calls,
};
