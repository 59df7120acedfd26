/* SPDX-License-Identifier: MIT */
/* Objects that wait for their finalizer: doc/report.md 4.6. */
#include "analysis/heap/finalizer_objects.h"
#include "findings/rule.h"
#include "roots/root_set.h"
#include "util/text.h"

#define READY_MIN 1000u

#define TELLING_OF_READY                                                                  \
	.id = "finalizers:{full}", .title = "{objects} objects wait for their finalizer", \
	.next = "finalizequeue -stat"

static const struct telling of_stuck = {
	TELLING_OF_READY,
	.sentence = "The finalizer thread is in {method}, and {objects} objects wait for their "
		    "finalizer, most of them {type} ({bytes}).",
	.look_at = "what {method} waits for",
};
static const struct telling of_slow = {
	TELLING_OF_READY,
	.sentence = "The finalizer thread does not keep up: {objects} objects wait for their "
		    "finalizer, most of them {type} ({bytes}).",
	.look_at = "what the finalizers do, and who forgets Dispose",
};

/* The finalizer that the finalizer thread is in, or NULL: it waits for work, or its stack is not known. */
static const char *current_finalizer(struct report *report)
{
	const struct root_set *roots = report->facts.roots;
	struct runtime *runtime = report->facts.heap->runtime;
	HD_CLEANUP(text) struct text text = { 0 };
	const char *ret = NULL;
	for (size_t i = 0; i < roots->stack_count; i++) {
		const struct thread_stack *stack = &roots->stacks[i];
		if (!stack->thread || !runtime_is_finalizer_thread(runtime, stack->thread))
			continue;
		for (size_t j = 0; j < stack->frames_count && !ret; j++) {
			text.size = 0;
			if (!stack->frames[j].method_desc)
				continue;
			runtime_method_signature(runtime, stack->frames[j].method_desc, &text);
			if (text.size && strstr(text.bytes, ".Finalize("))
				ret = report_name(report, text.bytes, text.size);
		}
	}
	return ret;
}

static enum hd_status find_finalizers(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	const struct finalizer_list *list = &facts->roots->finalizers;
	struct tally types = { .count = 0 };
	uint64_t ready = 0, bytes = 0;
	for (size_t i = 0; i < list->rows_count; i++) {
		uint32_t node = finalizer_is_ready(&list->rows[i])
					? facts_node(facts, list->rows[i].object)
					: HD_NONE;
		if (node == HD_NONE)
			continue;
		ready++;
		bytes += facts_retained(facts, node);
		tally_add(&types, facts->graph->node_types[node], node, 0);
	}
	rule_met(report, ready);
	if (ready < READY_MIN)
		return HD_OK;
	for (size_t i = 0; i < list->rows_count; i++) {
		if (finalizer_is_ready(&list->rows[i]))
			facts_claim(facts, facts_node(facts, list->rows[i].object));
	}
	size_t top = tally_top(&types);
	const char *method = current_finalizer(report);
	struct report_finding finding = {
		.severity = method ? SEVERITY_HIGH
				   : (facts_permille(facts, bytes) >= 50 ? SEVERITY_MEDIUM
									 : SEVERITY_LOW),
		.bytes = bytes,
		.objects = ready,
		.method = method,
	};
	finding_about(report, &finding, types.first[top], types.first[top]);
	finding_count(&finding, "ready", ready);
	return finding_tell(report, &finding, method ? &of_stuck : &of_slow, NULL, err);
}

const struct report_rule finalizers_rule = {
	.name = "finalizers",
	.turn = TURN_DEFECTS,
	.threshold = "1,000 objects that are ready to be finalized",
	.needs = RULE_FIELDS | RULE_ROOTS,
	.find = find_finalizers,
};
