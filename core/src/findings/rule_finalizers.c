/* SPDX-License-Identifier: MIT */
/* Objects that wait for their finalizer: doc/report.md 4.6. */
#include "analysis/heap/finalizer_objects.h"
#include "findings/rule.h"
#include "findings/rules.h"
#include "findings/typed.h"
#include "framework/member.h"
#include "roots/root_set.h"
#include "util/text.h"

#define READY_MIN 1000u

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
		.member_type = (uint32_t)types.keys[top],
		.method = method,
	};
	holder_find(report, types.first[top], &finding.holder);
	const char *type = report_short_name(report, finding.member_type);
	finding.id =
		report_text(report, "finalizers:%s", report_type_name(report, finding.member_type));
	finding.title = report_text(report, "%s objects wait for their finalizer",
				    report_number(report, ready));
	finding.sentence = report_text(
		report, "%s %s objects wait for their finalizer, most of them %s (%s).",
		method ? report_text(report, "The finalizer thread is in %s, and", method)
		       : "The finalizer thread does not keep up:",
		report_number(report, ready), type, report_bytes(report, bytes));
	finding.look_at = method ? report_text(report, "what %s waits for", method)
				 : "what the finalizers do, and who forgets Dispose";
	finding.next = "finalizequeue -stat";
	finding_count(&finding, "ready", ready);
	finding_sample(&finding, types.first[top]);
	return finding_add(report, &finding, err);
}

const struct report_rule finalizers_rule = {
	.name = "finalizers",
	.turn = TURN_DEFECTS,
	.threshold = "1,000 objects that are ready to be finalized",
	.needs = RULE_FIELDS | RULE_ROOTS,
	.find = find_finalizers,
};
