/* SPDX-License-Identifier: MIT */
/* Arrays that pools keep for their next use: doc/report.md 4.22. */
#include "findings/rule.h"
#include "findings/rules.h"
#include "findings/typed.h"
#include "framework/member.h"

#define BYTES_MIN (16 * MEGABYTE)
#define OWN_POOL  "System.Buffers.ConfigurableArrayPool"

/*
 * Is it a type that only holds the arrays of pools: the lists of each thread, or of each processor?
 */
static bool is_pool_part(const struct graph_type *type)
{
	static const char *const parts[] = { "System.Buffers.SharedArrayPoolThreadLocalArray",
					     "System.Buffers.SharedArrayPoolPartitions",
					     "System.Buffers.SharedArrayPool<" };
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (type_begins(type, parts[i]))
			return true;
	}
	return false;
}

/* A pool of ArrayPool.Create: no collection makes it smaller. */
static enum hd_status check_own_pool(struct report *report, uint32_t pool, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	uint64_t bytes = facts_retained(facts, pool), permille = facts_permille(facts, bytes);
	rule_met(report, permille / 10);
	if (bytes < BYTES_MIN || permille < 200)
		return HD_OK;
	struct report_finding finding = { .severity =
						  permille >= 500 ? SEVERITY_MEDIUM : SEVERITY_INFO,
					  .bytes = bytes,
					  .objects = facts->dominators->retained_count[pool],
					  .member_type = facts->graph->node_types[pool] };
	holder_find(report, pool, &finding.holder);
	const char *name = finding.holder.name;
	finding.id = report_text(report, "pools:%s", name);
	finding.title =
		report_text(report, "%s in the ArrayPool of %s", report_bytes(report, bytes), name);
	finding.sentence = report_text(
		report,
		"The ArrayPool of %s keeps %s (%s of the live heap) in arrays that are not in use. "
		"A pool of ArrayPool.Create gives nothing back, as large as it once became.",
		name, report_bytes(report, bytes), report_share(report, bytes));
	finding.look_at = report_text(
		report,
		"how many arrays of %s are needed at once: ArrayPool.Shared is trimmed when "
		"memory is short, and Create takes a limit",
		name);
	finding.next = "dumpheap -stat -type ConfigurableArrayPool";
	finding_sample(&finding, pool);
	return finding_add(report, &finding, err);
}

static enum hd_status check_own_pools(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (uint32_t type = HD_NONE; (type = typed_next(facts, type, OWN_POOL)) != HD_NONE;) {
		struct typed_nodes all = typed_nodes(facts, type);
		const struct graph_type *row = &facts->graph->types[type];
		if (type_is_array(row) || type_contains(row, "+")) /* its buckets */
			continue;
		for (uint32_t i = 0; i < all.count; i++) {
			if (facts->classes[all.nodes[i]] == CLASS_PROCESS)
				TRY(check_own_pool(report, all.nodes[i], err));
		}
	}
	return HD_OK;
}

static enum hd_status find_pools(struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	uint64_t bytes = 0, count = 0;
	uint32_t largest = HD_NONE;
	TRY(check_own_pools(report, err));
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		struct typed_nodes all = typed_nodes(facts, type);
		if (!all.count || !is_pool_part(&facts->graph->types[type]))
			continue;
		for (uint32_t i = 0; i < all.count; i++) {
			uint32_t node = all.nodes[i], idom = facts_idom(facts, node);
			/* Else it is counted with the pool that has it. */
			if (idom != HD_NONE && is_pool_part(facts_type(facts, idom)))
				continue;
			bytes += facts_retained(facts, node);
			count += facts->dominators->retained_count[node];
			if (largest == HD_NONE ||
			    facts_retained(facts, node) > facts_retained(facts, largest))
				largest = node;
		}
	}
	rule_met(report, facts_permille(facts, bytes) / 10);
	if (bytes < BYTES_MIN || facts_permille(facts, bytes) < 200)
		return HD_OK;
	struct report_finding finding = { .severity = SEVERITY_INFO,
					  .bytes = bytes,
					  .objects = count,
					  .member_type = HD_NONE,
					  .id = "pools:ArrayPool" };
	holder_find(report, largest, &finding.holder);
	finding.title = report_text(report, "%s in array pools", report_bytes(report, bytes));
	finding.sentence = report_text(
		report,
		"Array pools keep %s (%s of the live heap) for the next use. That is right if such "
		"arrays are needed again; the pools give them back when memory is short.",
		report_bytes(report, bytes), report_share(report, bytes));
	finding.look_at = "who rents large arrays of ArrayPool, and whether it needs them often";
	finding.next = "dumpheap -stat -type SharedArrayPool";
	finding_sample(&finding, largest);
	return finding_add(report, &finding, err);
}

const struct report_rule pools_rule = {
	.name = "pools",
	.turn = TURN_WASTE,
	.threshold = "array pools keep 20 % of the live heap, and 16 MB",
	.find = find_pools,
};
