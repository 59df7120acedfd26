/* SPDX-License-Identifier: MIT */
/* Lambdas whose captured variables keep much: doc/report.md 4.21. */
#include "findings/rule.h"
#include "gc/heap.h"
#include "mem/memory.h"
#include "runtime/coreclr/types/field.h"

#define CLOSURE    "<>c__DisplayClass"
#define THIS       "<>4__this"
#define SAMPLE     100u
#define FIELDS_MAX 64u

/* {0}: the method, {1}: the variable. */
static const struct telling of_closures = {
	.least = { [SEVERITY_LOW] = { .objects = 1, .bytes = MEGABYTE, .permille = 100 } },
	.id = "closures:{full}:{1}",
	.title_of_one = "{objects} lambda of {0} keeps {1}",
	.title = "{objects} lambdas of {0} keep {1}",
	.sentence_of_one =
		"{objects} lambda of {0} that {holder} holds keeps what it has captured: {bytes}, "
		"most of it through the variable {1}.",
	.sentence = "{objects} lambdas of {0} that {holder} holds keep what they have captured: "
		    "{bytes}, most of it through the variable {1}.",
	.look_at = "whether {1} is needed there, or only a part of it in a variable of its own",
	.next = "gcroot -type {full}",
};

/* The field through which a part of them keeps most; NULL: none does.  In the arena. */
static const char *largest_capture(struct report *report, uint32_t type)
{
	struct report_facts *facts = &report->facts;
	struct typed_nodes all = typed_nodes(facts, type);
	const struct type *class = typed_class(facts, type);
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

static enum hd_status add_closures(struct report *report, struct report_finding *finding,
				   uint32_t first, struct hd_error *err)
{
	const char *capture = largest_capture(report, finding->member_type);
	if (!capture)
		return HD_OK;
	finding_about(report, finding, first, first);
	enum variables_kind kind;
	const char *outer = report_variables_of(report, finding->member_type, &kind);
	if (!*outer)
		outer = report_type_name(report, finding->member_type);
	finding_count(finding, "closures", finding->objects);
	return finding_tell(report, finding, &of_closures, (const char *[]){ outer, capture }, err);
}

static enum hd_status find_closures(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		struct typed_nodes all = typed_nodes(facts, type);
		struct report_finding finding = { .member_type = type };
		uint32_t first = HD_NONE;
		const struct graph_type *row = &facts->graph->types[type];
		if (!all.count || !type_contains(row, CLOSURE) || type_is_array(row))
			continue;
		for (uint32_t i = 0; i < all.count; i++) {
			uint32_t node = all.nodes[i], idom = facts_idom(facts, node);
			if (facts->classes[node] != CLASS_PROCESS ||
			    facts_is_claimed(facts, node, EXPLAINED_LEVELS))
				continue;
			first = finding.objects++ ? first : node;
			if (idom == HD_NONE || facts->graph->node_types[idom] != type)
				finding.bytes += facts_retained(facts, node);
		}
		rule_met(report, facts_permille(facts, finding.bytes) / 10);
		if (finding_weigh(report, &of_closures, &finding))
			TRY(add_closures(report, &finding, first, err));
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
