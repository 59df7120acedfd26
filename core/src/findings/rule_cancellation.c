/* SPDX-License-Identifier: MIT */
/* Linked token sources and callbacks that pile up on one token: doc/report.md 4.4. */
#include "findings/owners.h"
#include "findings/rule.h"
#include "util/field_label.h"
#include "util/job.h"

#define NODES_MIN  1000u
#define NODES_HIGH 10000u
#define SAMPLE     32u
/* A callback may be a delegate that calls another one. */
#define DELEGATES_MAX 4u

static const char *const source_classes[] = { "System.Threading.CancellationTokenSource", NULL };

#define TELLING_OF_SOURCE                                             \
	.id = "cancellation:{holder}:{full}",                         \
	.title = "{count0} registrations with the token of {holder}", \
	.next = "gcroot -type System.Threading.CancellationTokenSource"

/* {0} and {1}: the type of the program that each source keeps by its own registrations. */
static const struct telling of_linked = {
	TELLING_OF_SOURCE,
	.sentence =
		"{count0} linked sources hang on the token of {holder} ({bytes}){0}: each source "
		"of CreateLinkedTokenSource must be disposed.",
	.look_at = "calls of CreateLinkedTokenSource without using{1}",
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
	uint32_t sample[SAMPLE]; /* of the states, from all parts */
	size_t sample_count;
	uint32_t kept
		[SAMPLE]; /* by sample, which is a linked source: an object of the program, or HD_NONE */
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

/* The object of the program that a callback belongs to: its state, or the target of delegates; HD_NONE: none. */
static uint32_t object_of_callback(const struct report_facts *facts, uint32_t node)
{
	for (unsigned int i = 0; node != HD_NONE && i < DELEGATES_MAX; i++) {
		uint32_t target = facts_fact_node(facts, node, FACT_DELEGATE_TARGET);
		if (target == HD_NONE || target == node) {
			const struct graph_type *type = facts_type(facts, node);
			return type_is_own(type) && !type_is_array(type) ? node : HD_NONE;
		}
		node = target;
	}
	return HD_NONE;
}

/* Find what a registration with one of the linked sources keeps. */
static void note_kept(const struct report_facts *facts, uint32_t node,
		      struct registrations *registrations, size_t index)
{
	const enum fact ways[] = { FACT_CALLBACK_NODE_STATE, FACT_CALLBACK_NODE_CALL };
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		uint32_t object = object_of_callback(facts, facts_fact_node(facts, node, ways[i]));
		if (registrations->kept[index] == HD_NONE)
			registrations->kept[index] = object;
	}
}

/* The type of the program of which nine in ten linked sources keep an object each; HD_NONE: there is none. */
static uint32_t type_kept_by_sources(const struct report_facts *facts,
				     const struct registrations *registrations)
{
	struct tally types = { .count = 0 };
	for (size_t i = 0; i < registrations->sample_count; i++) {
		uint32_t node = registrations->kept[i];
		/* An object that two of them keep belongs to none: the lambdas of a class that capture nothing have one. */
		bool is_shared = i && node == registrations->kept[i - 1];
		if (node != HD_NONE && !is_shared) {
			node = owners_captured(facts, node);
			tally_add(&types, facts->graph->node_types[node], node, 0);
		}
	}
	size_t top = tally_top(&types);
	bool is_most = top != types.count &&
		       types.counts[top] * 10 >= (uint64_t)registrations->sample_count * 9;
	return is_most ? (uint32_t)types.keys[top] : HD_NONE;
}

/*
 * A source that the framework has: the field that refers to it says more than a static that leads there. Of the tokens of
 * a host people know the property.
 */
static void name_source(struct report *report, struct held_by *holder)
{
	if (holder->step_count < 2)
		return;
	const struct path_step *last = &holder->steps[holder->step_count - 1];
	const struct graph_type *owner = facts_type(&report->facts, last[-1].node);
	bool is_host =
		type_is_class(owner, "Microsoft.Extensions.Hosting.Internal.ApplicationLifetime");
	if (*last->link != '.' || (holder->blamed_field && !is_host))
		return;
	const char *field = last->link + 1;
	size_t size = field_name_size(field), label_size;
	const char *label = field_label(field, size, &label_size);
	const char *name = report_type_name(report, report->facts.graph->node_types[last[-1].node]);
	holder->name = report_text(report, "%.*s.%.*s", (int)strcspn(name, "<"), name,
				   (int)label_size, label);
	const char *end = memmem(field, size, "Source", strlen("Source"));
	/* "ApplicationStopping" for "_stoppingSource". */
	if (is_host && *field == '_' && end && end - field > 2) {
		holder->name =
			report_text(report, "%s (the host's Application%c%.*s)", holder->name,
				    field[1] & ~0x20, (int)(end - field - 2), field + 2);
	}
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
	name_source(report, &finding.holder);
	finding_count(&finding, "registrations", count);
	facts_claim(facts, source);
	uint32_t kept = is_linked ? type_kept_by_sources(facts, registrations) : HD_NONE;
	const char *name = kept != HD_NONE ? report_type_name(report, kept) : NULL;
	const char *texts[] = {
		name ? report_text(report, ", each with an object of type %s", name)
		     : kept_text(report, registrations),
		name ? report_text(report, ", where a %s is made", name) : "",
	};
	return finding_tell(report, &finding, is_linked ? &of_linked : &of_callbacks, texts, err);
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

/* Count the nodes that are registered with the source, and take samples of their states. */
static enum hd_status count_nodes(struct report_facts *facts, const struct typed_nodes *all,
				  uint32_t source, struct registrations *ret, struct hd_error *err)
{
	uint32_t stride = all->count / SAMPLE + 1;
	for (uint32_t i = 0; i < all->count; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(facts->job, 0, err));
		if (source_of(facts, all->nodes[i]) != source)
			continue;
		uint32_t state = facts_fact_node(facts, all->nodes[i], FACT_CALLBACK_NODE_STATE);
		ret->count++;
		ret->bytes += bytes_of_node(facts, all->nodes[i], state);
		if (state == HD_NONE)
			continue;
		tally_add(&ret->states, facts->graph->node_types[state], state, 0);
		if (ret->sample_count < SAMPLE && i / stride >= ret->sample_count) {
			ret->kept[ret->sample_count] = HD_NONE;
			ret->sample[ret->sample_count++] = state;
		}
	}
	return HD_OK;
}

/* Note what the linked sources of the sample keep by their own registrations. */
static enum hd_status note_sample(struct report_facts *facts, const struct typed_nodes *all,
				  struct registrations *found, struct hd_error *err)
{
	for (uint32_t i = 0; i < all->count; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(facts->job, 0, err));
		uint32_t linked = source_of(facts, all->nodes[i]);
		for (size_t k = 0; k < found->sample_count; k++) {
			if (linked == found->sample[k])
				note_kept(facts, all->nodes[i], found, k);
		}
	}
	return HD_OK;
}

static void claim_nodes(struct report_facts *facts, const struct typed_nodes *all, uint32_t source)
{
	for (uint32_t i = 0; i < all->count; i++) {
		if (source_of(facts, all->nodes[i]) != source)
			continue;
		uint32_t state = facts_fact_node(facts, all->nodes[i], FACT_CALLBACK_NODE_STATE);
		facts_claim(facts, all->nodes[i]);
		if (state != HD_NONE)
			(void)typed_claim_up(facts, state, source_classes, 2);
	}
}

static enum hd_status check_source(struct report *report, uint32_t type, uint32_t source,
				   struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct typed_nodes all = typed_nodes(facts, type);
	struct registrations found = { .count = 0 };
	TRY(count_nodes(facts, &all, source, &found, err));
	if (found.count < NODES_MIN || !found.states.count || is_cancelled(facts, source) ||
	    facts->classes[source] != CLASS_PROCESS)
		return HD_OK;
	TRY(note_sample(facts, &all, &found, err));
	TRY(add_source(report, source, &found, err));
	claim_nodes(facts, &all, source);
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
