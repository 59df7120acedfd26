/* SPDX-License-Identifier: MIT */
#include "analysis/report/owners.h"

#include "analysis/report/counted.h"
#include "graph/csr.h"

#define LEVELS_MAX    64u
#define VOTE_LEVELS   6u
#define REFERRERS_MAX 16u
#define VOTES_MAX     16u

/* Candidates, and how many members voted for each. */
struct votes {
	uint32_t nodes[VOTES_MAX];
	uint32_t counts[VOTES_MAX];
	uint32_t last[VOTES_MAX]; /* the member that voted last, + 1: each has one vote */
	size_t count;
};

static void vote(struct votes *votes, uint32_t node, uint32_t voter)
{
	size_t i = 0;
	while (i < votes->count && votes->nodes[i] != node)
		i++;
	if (i == VOTES_MAX)
		return;
	if (i == votes->count) {
		votes->nodes[i] = node;
		votes->counts[i] = votes->last[i] = 0;
		votes->count++;
	}
	if (votes->last[i] != voter + 1)
		votes->counts[i]++;
	votes->last[i] = voter + 1;
}

/* Arrays, buckets and nodes of the framework between a collection and its elements. */
static bool is_inner(const struct report_facts *facts, uint32_t node)
{
	const struct graph_type *type = facts_type(facts, node);
	return !type_is_own(type) || type_is_array(type);
}

/* The collection that has @p node inside, without objects of the program in between. */
static uint32_t owner_above(struct report_facts *facts, uint32_t node, unsigned int levels)
{
	for (unsigned int i = 0; node != HD_NONE && i <= levels; i++) {
		if (counted_type_of(facts, node))
			return node;
		if (!is_inner(facts, node))
			return HD_NONE;
		node = facts_idom(facts, node);
	}
	return HD_NONE;
}

static void add_owner(struct report_facts *facts, uint32_t node, struct owners *ret)
{
	if (node != HD_NONE && ret->count < OWNERS_MAX &&
	    counted_read(facts, node, &ret->rows[ret->count]))
		ret->count++;
}

static void vote_all(struct report_facts *facts, const uint32_t *members, size_t count,
		     struct votes *votes)
{
	const struct csr *reverse = &facts->graph->reverse;
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = csr_begin(reverse, members[i]);
		uint64_t end = csr_begin(reverse, members[i] + 1);
		end = end - begin > REFERRERS_MAX ? begin + REFERRERS_MAX : end;
		for (; begin < end; begin++) {
			uint32_t owner = owner_above(facts, reverse->targets[begin], VOTE_LEVELS);
			if (owner != HD_NONE)
				vote(votes, owner, (uint32_t)i);
		}
	}
}

void owners_find(struct report_facts *facts, uint32_t at, const uint32_t *members, size_t count,
		 struct owners *ret)
{
	struct votes votes = { .count = 0 };
	*ret = (struct owners){ .count = 0 };
	if (!facts->members)
		return;
	if (at != HD_NONE)
		add_owner(facts, owner_above(facts, at, LEVELS_MAX), ret);
	if (ret->count || !facts->graph->reverse.offsets)
		return;
	ret->is_guess = true;
	vote_all(facts, members, count, &votes);
	for (unsigned int turn = 0; turn < OWNERS_MAX; turn++) {
		size_t best = VOTES_MAX;
		for (size_t i = 0; i < votes.count; i++) {
			if (votes.counts[i] &&
			    (best == VOTES_MAX || votes.counts[i] > votes.counts[best]))
				best = i;
		}
		if (best == VOTES_MAX || (size_t)votes.counts[best] * 2 < count)
			return;
		add_owner(facts, votes.nodes[best], ret);
		votes.counts[best] = 0;
	}
}

static bool is_item_node(const struct graph_type *type)
{
	return !type_is_own(type) &&
	       (type_contains(type, "Node") || type_contains(type, "Entry") ||
		type_contains(type, "Lazy<") || type_contains(type, "System.Collections.") ||
		type_contains(type, "System.Object") || type_begins(type, "System.WeakReference"));
}

uint32_t owners_item_type(const struct report_facts *facts, uint32_t type, const uint32_t *members,
			  size_t count)
{
	const struct hd_graph *graph = facts->graph;
	uint32_t best = HD_NONE;
	uint64_t best_size = 0;
	if (type >= graph->type_count || !is_item_node(&graph->types[type]))
		return type;
	for (size_t i = 0; i < count && i < 8; i++) {
		uint64_t begin = csr_begin(&graph->forward, members[i]);
		uint64_t end = csr_begin(&graph->forward, members[i] + 1);
		for (; begin < end; begin++) {
			uint32_t target = graph->forward.targets[begin];
			if (graph_is_missing(graph, target) || graph->node_types[target] == type)
				continue;
			uint64_t weight = facts_retained(facts, target);
			weight = type_is_own(facts_type(facts, target)) ? weight * 16 : weight;
			if (weight > best_size) {
				best = graph->node_types[target];
				best_size = weight;
			}
		}
	}
	return best == HD_NONE ? type : best;
}
