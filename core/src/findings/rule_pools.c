/* SPDX-License-Identifier: MIT */
/* Arrays that pools keep for their next use: doc/report.md 4.22. */
#include "findings/rule.h"

#define BYTES_MIN (16 * MEGABYTE)
#define OWN_POOL  "System.Buffers.ConfigurableArrayPool"

static const struct telling of_own_pool = {
	.least = { [SEVERITY_MEDIUM] = { .permille = 500, .bytes = BYTES_MIN },
		   [SEVERITY_INFO] = { .permille = 200, .bytes = BYTES_MIN } },
	.id = "pools:{holder}",
	.title = "{bytes} in the ArrayPool of {holder}",
	.sentence =
		"The ArrayPool of {holder} keeps {bytes} ({share} of the live heap) in arrays that "
		"are not in use. A pool of ArrayPool.Create gives nothing back, as large as it "
		"once became.",
	.look_at = "how many arrays of {holder} are needed at once: ArrayPool.Shared is trimmed "
		   "when memory is short, and Create takes a limit",
	.next = "dumpheap -stat -type ConfigurableArrayPool",
};

static const struct telling of_pools = {
	.least = { [SEVERITY_INFO] = { .permille = 200, .bytes = BYTES_MIN } },
	.id = "pools:ArrayPool",
	.title = "{bytes} in array pools",
	.sentence =
		"Array pools keep {bytes} ({share} of the live heap) for the next use. That is "
		"right if such arrays are needed again; the pools give them back when memory is "
		"short.",
	.look_at = "who rents large arrays of ArrayPool, and whether it needs them often",
	.next = "dumpheap -stat -type SharedArrayPool",
};

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
	struct report_finding finding = { .bytes = facts_retained(facts, pool),
					  .objects = facts->dominators->retained_count[pool] };
	rule_met(report, facts_permille(facts, finding.bytes) / 10);
	if (!finding_weigh(report, &of_own_pool, &finding))
		return HD_OK;
	finding_about(report, &finding, pool, pool);
	return finding_tell(report, &finding, &of_own_pool, NULL, err);
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
	struct report_finding finding = { .member_type = HD_NONE };
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
			finding.bytes += facts_retained(facts, node);
			finding.objects += facts->dominators->retained_count[node];
			if (largest == HD_NONE ||
			    facts_retained(facts, node) > facts_retained(facts, largest))
				largest = node;
		}
	}
	rule_met(report, facts_permille(facts, finding.bytes) / 10);
	if (!finding_weigh(report, &of_pools, &finding))
		return HD_OK;
	holder_find(report, largest, &finding.holder);
	finding_sample(&finding, largest);
	return finding_tell(report, &finding, &of_pools, NULL, err);
}

const struct report_rule pools_rule = {
	.name = "pools",
	.turn = TURN_WASTE,
	.threshold = "array pools keep 20 % of the live heap, and 16 MB",
	.find = find_pools,
};
