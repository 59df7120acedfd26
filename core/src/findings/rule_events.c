/* SPDX-License-Identifier: MIT */
/* Objects that only an event keeps alive: doc/report.md 4.3. */
#include "findings/owners.h"
#include "findings/rule.h"
#include "framework/delegate.h"
#include "inspect/value.h"
#include "runtime/coreclr/code/code.h"
#include "util/bitmap.h"
#include "util/text.h"

#define HANDLERS_MIN  32u
#define HIGH_HANDLERS 256u
#define HIGH_MANY     1000u
#define SAMPLE        16u
/* Handlers of all events that are looked at. */
#define HANDLERS_MAX 5000000u

/* {0}: how many of the type there are, {1}: and others; {2}: what a wrapper of the framework keeps. */
static const struct telling of_event = {
	.id = "events:{holder}:{full}",
	.title = "{count0} handlers of {holder}",
	.sentence =
		"{holder} has {count0} handlers, and nothing but this event keeps alive the objects "
		"that {count1} of them belong to: {0} {type}{1} ({bytes}){2}. They were probably meant "
		"to unsubscribe.",
	.look_at = "where {holder} is subscribed to, and never unsubscribed from",
	.next = "gcroot -type {full}",
};

/* The handlers of one event. */
struct event {
	uint32_t delegate, list;
	uint64_t handlers, sole; /* all, and those whose objects nothing else keeps alive */
	uint64_t objects;        /* these objects: one may have several handlers */
	struct tally targets;    /* by type */
	uint32_t sample[SAMPLE]; /* the first of these objects */
	size_t sample_count;
};

/* The framework removes the handlers of these itself. */
static bool is_managed_event(const struct graph_type *type)
{
	return type_contains(type, "WeakEvent") || type_begins(type, "System.Windows.");
}

static uint32_t read_handler_list(const struct report_facts *facts, uint32_t delegate)
{
	struct object object, array;
	struct delegate_words words;
	if (!facts_object(facts, delegate, &object) ||
	    !delegate_handlers_read(facts->members, &object, &words) ||
	    (int64_t)words.count < (int64_t)HANDLERS_MIN)
		return HD_NONE;
	uint32_t list = facts_node(facts, words.handlers);
	return list != HD_NONE && facts_object(facts, list, &array) &&
			       delegate_handlers_check(&array, words.count)
		       ? list
		       : HD_NONE;
}

static uint32_t handler_target(const struct report_facts *facts, uint32_t handler)
{
	struct object object;
	if (!facts_object(facts, handler, &object))
		return HD_NONE;
	struct member target = delegate_target(facts->members, &object);
	return target.state == MEMBER_READ ? facts_node(facts, target.bits) : HD_NONE;
}

static void count_handlers(const struct report_facts *facts, uint64_t *seen, struct event *event)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t begin = csr_begin(forward, event->list), end = csr_begin(forward, event->list + 1);
	for (; begin < end; begin++) {
		uint32_t handler = forward->targets[begin];
		uint32_t target = handler_target(facts, handler);
		event->handlers++;
		if (target == HD_NONE || target == handler)
			continue;
		uint32_t idom = facts_idom(facts, target);
		bool is_sole = idom == handler || idom == event->list || idom == event->delegate;
		event->sole += is_sole;
		if (is_sole && !is_managed_event(facts_type(facts, target)) &&
		    bitmap_add(seen, target)) {
			event->objects++;
			if (event->sample_count < SAMPLE)
				event->sample[event->sample_count++] = target;
			tally_add(&event->targets, facts->graph->node_types[target], target,
				  facts_retained(facts, target));
		}
	}
}

static void forget_seen(const struct report_facts *facts, uint64_t *seen, const struct event *event)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t end = csr_begin(forward, event->list + 1);
	for (uint64_t i = csr_begin(forward, event->list); i < end; i++) {
		uint32_t target = handler_target(facts, forward->targets[i]);
		if (target != HD_NONE)
			seen[target / 64] = 0;
	}
}

static void claim_handlers(struct report_facts *facts, const struct event *event)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t end = csr_begin(forward, event->list + 1);
	facts_claim(facts, event->list);
	for (uint64_t i = csr_begin(forward, event->list); i < end; i++) {
		facts_claim(facts, forward->targets[i]);
		facts_claim(facts, handler_target(facts, forward->targets[i]));
	}
}

static const char *handler_method(struct report *report, const struct event *event)
{
	struct object object;
	struct delegate_info info;
	HD_CLEANUP(text) struct text text = { 0 };
	const struct csr *forward = &report->facts.graph->forward;
	uint32_t handler = forward->targets[csr_begin(forward, event->list)];
	if (!facts_object(&report->facts, handler, &object) ||
	    !delegate_read(report->facts.heap, &object, &info) || !info.method_desc)
		return NULL;
	runtime_method_signature(report->facts.heap->runtime, info.method_desc, &text);
	return text.size ? report_method_name(report, text.bytes, text.size) : NULL;
}

/* The type of the program behind a wrapper of the framework; "": the objects are of the program, or keep nothing of it. */
static const char *wrapped_type(struct report *report, const struct event *event)
{
	uint32_t kept = owners_kept_type(&report->facts, event->sample, event->sample_count);
	return kept == HD_NONE ? ""
			       : report_text(report, ", each with an object of type %s",
					     report_type_name(report, kept));
}

static enum hd_status add_event(struct report *report, const struct event *event,
				struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	size_t top = tally_top(&event->targets);
	uint64_t bytes = facts_retained(facts, event->delegate);
	bool is_high = event->sole * 10 >= event->handlers * 9 &&
		       event->handlers >= HIGH_HANDLERS &&
		       (facts_permille(facts, bytes) >= 50 || event->handlers >= HIGH_MANY);
	struct report_finding finding = {
		.severity = is_high ? SEVERITY_HIGH : SEVERITY_MEDIUM,
		.bytes = bytes,
		.objects = facts->dominators->retained_count[event->delegate]
	};
	finding_about(report, &finding, event->delegate, event->targets.first[top]);
	finding.method = handler_method(report, event);
	uint64_t others = event->objects - event->targets.counts[top];
	const char *with =
		others ? report_text(report, " and %s others", report_number(report, others)) : "";
	finding_count(&finding, "handlers", event->handlers);
	finding_count(&finding, "handlers of objects that nothing else keeps alive", event->sole);
	finding_count(&finding, "these objects", event->objects);
	claim_handlers(facts, event);
	const char *count = report_number(report, event->targets.counts[top]);
	const char *texts[] = { count, with, wrapped_type(report, event) };
	return finding_tell(report, &finding, &of_event, texts, err);
}

/* Two delegates may have one list: the event as it was before the last handler came. */
static enum hd_status check_delegate(struct report *report, uint32_t node, uint64_t *seen,
				     uint64_t *left, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct event event = { .delegate = node, .list = read_handler_list(facts, node) };
	if (event.list == HD_NONE || facts->classes[node] != CLASS_PROCESS ||
	    facts_is_claimed(facts, event.list, 0))
		return HD_OK;
	uint64_t handlers = csr_degree(&facts->graph->forward, event.list);
	if (handlers > *left) {
		rule_limited(report);
		return HD_OK;
	}
	*left -= handlers;
	count_handlers(facts, seen, &event);
	forget_seen(facts, seen, &event);
	rule_met(report, event.sole);
	if (event.handlers < HANDLERS_MIN || event.sole * 2 < event.handlers ||
	    !event.targets.count)
		return HD_OK;
	return add_event(report, &event, err);
}

static enum hd_status find_events(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	uint64_t left = HANDLERS_MAX, *seen = bitmap_alloc(facts->graph->node_count);
	enum hd_status status = seen ? HD_OK : fail_nomem(err);
	for (uint32_t type = 0; status == HD_OK && type < facts->graph->type_count; type++) {
		const struct type *class = typed_class(facts, type);
		if (!class || class->component_size ||
		    !type_is_delegate(facts->heap->runtime, class))
			continue;
		struct typed_nodes all = typed_nodes(facts, type);
		for (uint32_t i = 0; status == HD_OK && i < all.count; i++)
			status = check_delegate(report, all.nodes[i], seen, &left, err);
	}
	bitmap_free(seen, facts->graph->node_count);
	return status;
}

const struct report_rule events_rule = {
	.name = "events",
	.turn = TURN_DEFECTS,
	.threshold = "32 handlers of one event, and nothing else keeps half of their objects alive",
	.needs = RULE_FIELDS,
	.find = find_events,
};
