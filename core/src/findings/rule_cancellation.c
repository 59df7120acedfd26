/* SPDX-License-Identifier: MIT */
/* Linked token sources and callbacks that pile up on one token: doc/report.md 4.4. */
#include "findings/owners.h"
#include "findings/rule.h"
#include "util/job.h"

#define NODES_MIN  1000u
#define NODES_HIGH 10000u
#define SAMPLE     16u

static const char *const source_classes[] = { "System.Threading.CancellationTokenSource", NULL };

#define TELLING_OF_SOURCE                                             \
	.id = "cancellation:{holder}:{full}",                         \
	.title = "{count0} registrations with the token of {holder}", \
	.next = "gcroot -type System.Threading.CancellationTokenSource"

static const struct telling of_linked = {
	TELLING_OF_SOURCE,
	.sentence = "{count0} linked sources hang on the token of {holder} ({bytes}): each source "
		    "of CreateLinkedTokenSource must be disposed.",
	.look_at = "calls of CreateLinkedTokenSource without using",
};
/* {0}: the type of the program that they keep. */
static const struct telling of_callbacks = {
	TELLING_OF_SOURCE,
	.sentence =
		"{count0} callbacks hang on the token of {holder} ({bytes}){0}: each registration "
		"must be disposed when the work is done.",
	.look_at = "calls of Register on the token of {holder}",
};

/* The registrations of one source. */
struct registrations {
	uint64_t count, bytes;
	struct tally states;     /* by type */
	uint32_t sample[SAMPLE]; /* of the states */
	size_t sample_count;
};

/* The bytes that only the node keeps: its callback, and the state of that. */
static uint64_t bytes_of_node(const struct report_facts *facts, uint32_t node, uint32_t state)
{
	uint32_t callback = facts_fact_node(facts, node, FACT_CALLBACK_NODE_CALL);
	uint64_t bytes = graph_size(facts->graph, node);
	if (state != HD_NONE && facts_idom(facts, state) == node)
		bytes += facts_retained(facts, state);
	if (callback != HD_NONE && callback != state && facts_idom(facts, callback) == node)
		bytes += facts_retained(facts, callback);
	return bytes;
}

/* The type of the program that each callback keeps, behind the wrappers of the framework; "": none. */
static const char *kept_text(struct report *report, const struct registrations *registrations)
{
	const struct report_facts *facts = &report->facts;
	uint32_t kept = owners_kept_type(facts, registrations->sample, registrations->sample_count);
	uint32_t own = facts->graph->node_types[registrations->sample[0]];
	if (kept == HD_NONE && type_is_own(&facts->graph->types[own]))
		kept = own;
	return kept == HD_NONE ? ""
			       : report_text(report, ", each with an object of type %s",
					     report_type_name(report, kept));
}

static enum hd_status add_source(struct report *report, uint32_t source,
				 const struct registrations *registrations, struct hd_error *err)
{
	const struct tally *states = &registrations->states;
	uint64_t count = registrations->count;
	struct report_facts *facts = &report->facts;
	size_t top = tally_top(states);
	const struct graph_type *state = &facts->graph->types[states->keys[top]];
	bool is_linked = type_contains(state, "Linked") && states->counts[top] * 10 >= count * 9;
	/* A stack with one of the registrations reaches all others, which the source does not retain then. */
	uint64_t bytes = facts_retained(facts, source), objects;
	bytes = bytes > registrations->bytes ? bytes : registrations->bytes;
	objects = facts->dominators->retained_count[source];
	objects = objects > count ? objects : count;
	uint64_t permille = facts_permille(facts, bytes);
	bool is_much = (count >= NODES_HIGH && permille >= 100) ||
		       (permille >= 500 && bytes >= 4 * MEGABYTE);
	struct report_finding finding = { .severity = is_linked || is_much ? SEVERITY_HIGH
									   : SEVERITY_MEDIUM,
					  .bytes = bytes,
					  .objects = objects };
	finding_about(report, &finding, source, states->first[top]);
	finding_count(&finding, "registrations", count);
	facts_claim(facts, source);
	return finding_tell(report, &finding, is_linked ? &of_linked : &of_callbacks,
			    (const char *[]){ kept_text(report, registrations) }, err);
}

/* The source that a node is registered with; HD_NONE: the node is free. */
static uint32_t source_of(const struct report_facts *facts, uint32_t node)
{
	struct member id = facts_fact(facts, node, FACT_CALLBACK_NODE_ID);
	if (!id.bits)
		return HD_NONE;
	return facts_fact_node(facts, node, FACT_CALLBACK_NODE_SOURCE);
}

static bool is_cancelled(const struct report_facts *facts, uint32_t source)
{
	struct member state = facts_fact(facts, source, FACT_CANCELLATION_STATE);
	return state.bits;
}

static enum hd_status check_source(struct report *report, uint32_t type, uint32_t source,
				   struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct typed_nodes all = typed_nodes(facts, type);
	struct registrations found = { .count = 0 };
	for (uint32_t i = 0; i < all.count; i++) {
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (source_of(facts, all.nodes[i]) != source)
			continue;
		uint32_t state = facts_fact_node(facts, all.nodes[i], FACT_CALLBACK_NODE_STATE);
		found.count++;
		found.bytes += bytes_of_node(facts, all.nodes[i], state);
		if (state == HD_NONE)
			continue;
		tally_add(&found.states, facts->graph->node_types[state], state, 0);
		if (found.sample_count < SAMPLE)
			found.sample[found.sample_count++] = state;
	}
	if (found.count < NODES_MIN || !found.states.count || is_cancelled(facts, source) ||
	    facts->classes[source] != CLASS_PROCESS)
		return HD_OK;
	TRY(add_source(report, source, &found, err));
	for (uint32_t i = 0; i < all.count; i++) {
		if (source_of(facts, all.nodes[i]) != source)
			continue;
		uint32_t state = facts_fact_node(facts, all.nodes[i], FACT_CALLBACK_NODE_STATE);
		facts_claim(facts, all.nodes[i]);
		if (state != HD_NONE)
			(void)typed_claim_up(facts, state, source_classes, 2);
	}
	return HD_OK;
}

static enum hd_status find_cancellation(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	uint32_t type =
		typed_next(facts, HD_NONE, "System.Threading.CancellationTokenSource+CallbackNode");
	struct tally sources = { .count = 0 };
	if (type == HD_NONE)
		return HD_OK;
	struct typed_nodes all = typed_nodes(facts, type);
	uint32_t stride = all.count / 10000 + 1;
	/* A source with many nodes is met in a part of them, too. */
	for (uint32_t i = 0; i < all.count; i += stride) {
		uint32_t source = source_of(facts, all.nodes[i]);
		if (source != HD_NONE)
			tally_add(&sources, source, source, 0);
	}
	rule_met(report, all.count);
	if (all.count < NODES_MIN)
		return HD_OK;
	if (sources.is_full)
		rule_limited(report);
	for (size_t i = 0; i < sources.count; i++) {
		if (sources.counts[i] * stride >= NODES_MIN / 2)
			TRY(check_source(report, type, sources.first[i], err));
	}
	return HD_OK;
}

const struct report_rule cancellation_rule = {
	.name = "cancellation",
	.turn = TURN_DEFECTS,
	.threshold = "1,000 registrations with one token source that is not cancelled",
	.needs = RULE_FIELDS,
	.find = find_cancellation,
};
