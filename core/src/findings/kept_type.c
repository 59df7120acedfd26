/* SPDX-License-Identifier: MIT */
#include "findings/kept_type.h"

#define LEVELS        8u
#define REFERENCE_MAX 64u

/*
 * Find the object that retains most, among those that @p node refers to and dominates; HD_NONE:
 * none.
 */
static uint32_t largest_kept(const struct report_facts *facts, uint32_t node)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t begin = csr_begin(forward, node), end = csr_begin(forward, node + 1);
	uint32_t ret = HD_NONE;
	end = end - begin > REFERENCE_MAX ? begin + REFERENCE_MAX : end;
	for (; begin < end; begin++) {
		uint32_t target = forward->targets[begin];
		if (target < facts->graph->object_count && facts_idom(facts, target) == node &&
		    (ret == HD_NONE || facts_retained(facts, target) > facts_retained(facts, ret)))
			ret = target;
	}
	return ret;
}

uint32_t kept_type(const struct report_facts *facts, const uint32_t *nodes, size_t count)
{
	uint32_t ret = HD_NONE;
	for (size_t i = 0; i < count; i++) {
		uint32_t node = nodes[i];
		unsigned int level = 0;
		while (node != HD_NONE && level++ < LEVELS && !type_is_own(facts_type(facts, node)))
			node = largest_kept(facts, node);
		if (node == HD_NONE || node == nodes[i] || level > LEVELS)
			return HD_NONE;
		uint32_t type = facts->graph->node_types[node];
		if (i && type != ret)
			return HD_NONE;
		ret = type;
	}
	return ret;
}
