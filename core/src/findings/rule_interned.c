/* SPDX-License-Identifier: MIT */
/* Strings that string.Intern keeps as long as the process: doc/report.md 4.24. */
#include "findings/rule.h"
#include "gc/heap.h"
#include "roots/root_set.h"

#define STRINGS_MIN    10000u
#define LARGE_MIN      (4 * MEGABYTE)
#define WASTE_PERMILLE 250u

static const struct telling of_interned = {
	.least = { [SEVERITY_LOW] = { .objects = STRINGS_MIN, .half_limits = 2 } },
	.id = "interned:System.String",
	.title = "{objects} interned strings",
	.sentence =
		"{objects} strings ({bytes}, {share} of the live heap) are held by nothing but the "
		"table of interned strings and literals, which keeps them as long as the process.",
	.look_at = "calls of string.Intern with text that comes from outside: a dictionary of the "
		   "program can be emptied",
	.next = "strings",
};

/* The strings that only the runtime's tables hold. */
struct interned {
	uint64_t count, bytes;
	uint32_t first, array;
	struct member_ages ages;
};

/*
 * The runtime keeps literals and interned strings in arrays of objects that are pinned and that
 * handles of its own hold.  No program can make such an array.
 */
static uint32_t table_of(const struct report_facts *facts, const struct handle *handle)
{
	if (handle->type != HANDLE_STRONG && handle->type != HANDLE_PINNED)
		return HD_NONE;
	uint32_t node = facts_node(facts, handle->object);
	return node != HD_NONE && facts_generation(facts, node) == GENERATION_POH &&
			       type_is_class(facts_type(facts, node), "System.Object[]") &&
			       !facts_is_claimed(facts, node, 0)
		       ? node
		       : HD_NONE;
}

static void add_table(struct report_facts *facts, uint32_t array, struct interned *ret)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t end = csr_begin(forward, array + 1), before = ret->count;
	for (uint64_t i = csr_begin(forward, array); i < end; i++) {
		uint32_t node = forward->targets[i];
		if (facts_idom(facts, node) != array ||
		    !type_is_class(facts_type(facts, node), "System.String"))
			continue;
		ret->first = ret->count++ ? ret->first : node;
		ret->bytes += facts_retained(facts, node);
		ages_add(&ret->ages, facts, node);
	}
	if (ret->count > before)
		ret->array = array;
	/* Two handles of one array count once. */
	facts_claim(facts, array);
}

static enum hd_status add_interned(struct report *report, const struct interned *found,
				   struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	struct report_finding finding = { .bytes = found->bytes, .objects = found->count };
	rule_met(report, found->count);
	if (!finding_weigh(report, &of_interned, &finding))
		return HD_OK;
	finding.growth = growth_of(facts, &found->ages, NULL, 0);
	/* Nothing of the program refers to them: so many are a waste, whether they grow or not. */
	bool is_waste = facts_permille(facts, found->bytes) >= WASTE_PERMILLE ||
			finding.growth.state == GROWTH_UNKNOWN;
	if (finding.growth.state == GROWTH_GROWS || (is_waste && found->bytes >= LARGE_MIN))
		finding.severity = SEVERITY_MEDIUM;
	finding_about(report, &finding, found->array, found->first);
	finding.holder.name = "the table of interned strings";
	finding_count(&finding, "strings", found->count);
	return finding_tell(report, &finding, &of_interned, NULL, err);
}

static enum hd_status find_interned(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	const struct handle_list *list = &facts->roots->handles;
	struct interned found = { .first = HD_NONE };
	for (size_t i = 0; i < list->rows_count; i++) {
		uint32_t array = table_of(facts, &list->rows[i]);
		if (array != HD_NONE)
			add_table(facts, array, &found);
	}
	return add_interned(report, &found, err);
}

const struct report_rule interned_rule = {
	.name = "interned",
	.turn = TURN_STATES,
	.threshold = "10,000 strings that only the table of interned strings holds, and 10 % of "
		     "the live heap",
	.needs = RULE_FIELDS | RULE_ROOTS | RULE_GENERATIONS,
	.find = find_interned,
};
