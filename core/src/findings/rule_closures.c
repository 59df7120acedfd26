/* SPDX-License-Identifier: MIT */
/* Lambdas whose captured variables keep much: doc/report.md 4.21. */
#include "findings/rule.h"
#include "findings/rules.h"
#include "findings/typed.h"
#include "framework/member.h"
#include "gc/heap.h"
#include "mem/memory.h"
#include "runtime/coreclr/types/field.h"
#include "util/alloc.h"

#define CLOSURE    "<>c__DisplayClass"
#define THIS       "<>4__this"
#define SAMPLE     100u
#define FIELDS_MAX 64u

/* The closures of one class that objects outlive their method with. */
struct closures {
	uint32_t type, first;
	uint64_t count, bytes;
};

/* The field through which a part of them keeps most; NULL: none does.  In the arena. */
static const char *largest_capture(struct report *report, const struct closures *closures)
{
	struct report_facts *facts = &report->facts;
	struct typed_nodes all = typed_nodes(facts, closures->type);
	const struct type *class = typed_class(facts, closures->type);
	uint64_t bytes[FIELDS_MAX] = { 0 };
	uint32_t sample[SAMPLE];
	struct field_list list;
	size_t count = typed_sample(&all, sample, SAMPLE), best = FIELDS_MAX;
	if (!class || field_list_read(facts->heap->runtime, class, &list, NULL) != HD_OK)
		return NULL;
	for (size_t i = 0; i < list.count && i < FIELDS_MAX; i++) {
		if (list.rows[i].is_static || !element_is_reference(list.rows[i].element_type))
			continue;
		for (size_t j = 0; j < count; j++) {
			uint64_t at = graph_id(facts->graph, sample[j]) + OBJECT_FIELDS, target;
			if (!memory_u64(facts->heap->memory, at + list.rows[i].offset, &target))
				continue;
			uint32_t node = facts_node(facts, target);
			if (node != HD_NONE && facts_idom(facts, node) == sample[j])
				bytes[i] += facts_retained(facts, node);
		}
		if (bytes[i] && (best == FIELDS_MAX || bytes[i] > bytes[best]))
			best = i;
	}
	const char *ret = NULL;
	if (best < FIELDS_MAX) {
		const char *name = list.rows[best].name;
		ret = strcmp(name, THIS) == 0 ? "this" : report_name(report, name, strlen(name));
	}
	field_list_deinit(&list);
	return ret;
}

static enum hd_status add_closures(struct report *report, const struct closures *closures,
				   struct hd_error *err)
{
	const char *capture = largest_capture(report, closures);
	if (!capture)
		return HD_OK;
	struct report_finding finding = { .severity = SEVERITY_LOW,
					  .bytes = closures->bytes,
					  .objects = closures->count,
					  .member_type = closures->type };
	holder_find(report, closures->first, &finding.holder);
	const char *full = report_type_name(report, closures->type);
	const char *plus = strstr(full, "+" CLOSURE);
	const char *outer = plus ? report_name(report, full, (size_t)(plus - full)) : full;
	finding.id = report_text(report, "closures:%s:%s", full, capture);
	bool is_one = closures->count == 1;
	finding.title = report_text(
		report, is_one ? "%s lambda of %s keeps %s" : "%s lambdas of %s keep %s",
		report_number(report, closures->count), outer, capture);
	finding.sentence = report_text(
		report,
		is_one ? "%s lambda of %s that %s holds keeps what it has captured: %s, most of it "
			 "through the variable %s."
		       : "%s lambdas of %s that %s holds keep what they have captured: %s, most of "
			 "it through the variable %s.",
		report_number(report, closures->count), outer, finding.holder.name,
		report_bytes(report, closures->bytes), capture);
	finding.look_at = report_text(
		report, "whether %s is needed there, or only a part of it in a variable of its own",
		capture);
	finding.next = report_text(report, "gcroot -type %s", full);
	finding_count(&finding, "closures", closures->count);
	finding_sample(&finding, closures->first);
	return finding_add(report, &finding, err);
}

static enum hd_status find_closures(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		struct typed_nodes all = typed_nodes(facts, type);
		struct closures closures = { .type = type, .first = HD_NONE };
		const struct graph_type *row = &facts->graph->types[type];
		if (!all.count || !type_contains(row, CLOSURE) || type_is_array(row))
			continue;
		for (uint32_t i = 0; i < all.count; i++) {
			uint32_t node = all.nodes[i], idom = facts_idom(facts, node);
			if (facts->classes[node] != CLASS_PROCESS ||
			    facts_is_claimed(facts, node, EXPLAINED_LEVELS))
				continue;
			closures.first = closures.count++ ? closures.first : node;
			if (idom == HD_NONE || facts->graph->node_types[idom] != type)
				closures.bytes += facts_retained(facts, node);
		}
		rule_met(report, facts_permille(facts, closures.bytes) / 10);
		if (closures.count && closures.bytes >= MEGABYTE &&
		    facts_permille(facts, closures.bytes) >= 100)
			TRY(add_closures(report, &closures, err));
	}
	return HD_OK;
}

const struct report_rule closures_rule = {
	.name = "closures",
	.turn = TURN_WASTE,
	.threshold = "lambdas of one method whose variables keep 10 % of the live heap, and 1 MB",
	.needs = RULE_FIELDS,
	.find = find_closures,
};
