/* SPDX-License-Identifier: MIT */
#include "findings/owners.h"

#include "findings/typed.h"
#include "util/bitmap.h"

#define LEVELS_MAX      64u
#define VOTE_LEVELS     6u
#define REFERRERS_MAX   16u
#define VOTES_MAX       16u
#define ITEM_MEMBERS    8u
#define KEPT_LEVELS     16u
#define KEPT_REFERENCES 64u

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

uint32_t owners_above(struct report_facts *facts, uint32_t node)
{
	return owner_above(facts, node, LEVELS_MAX);
}

enum hd_status owners_inside_init(struct owners_inside *ret, struct report_facts *facts,
				  uint32_t owner, struct hd_error *err)
{
	uint64_t nodes = facts->graph->node_count;
	*ret = (struct owners_inside){ .facts = facts,
				       .owner = owner,
				       .known = bitmap_alloc(nodes),
				       .inside = bitmap_alloc(nodes) };
	if (ret->known && ret->inside)
		return HD_OK;
	owners_inside_deinit(ret);
	return fail_nomem(err);
}

void owners_inside_deinit(struct owners_inside *inside)
{
	uint64_t nodes = inside->facts ? inside->facts->graph->node_count : 0;
	bitmap_free(inside->known, nodes);
	bitmap_free(inside->inside, nodes);
	*inside = (struct owners_inside){ 0 };
}

bool owners_inside_has(struct owners_inside *inside, uint32_t node)
{
	struct report_facts *facts = inside->facts;
	uint32_t at = node;
	/* Another collection, or an object of the program, has what is below it. */
	while (at != HD_NONE && at != inside->owner && !bitmap_has(inside->known, at) &&
	       is_inner(facts, at) && !counted_type_of(facts, at))
		at = facts_idom(facts, at);
	bool ret = at != HD_NONE && (at == inside->owner || bitmap_has(inside->inside, at));
	for (; node != at; node = facts_idom(facts, node)) {
		(void)bitmap_add(inside->known, node);
		if (ret)
			(void)bitmap_add(inside->inside, node);
	}
	return ret;
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
	if (at != HD_NONE)
		add_owner(facts, owners_above(facts, at), ret);
	if (ret->count || !facts->members || !facts->graph->reverse.offsets)
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

/* An object that two members refer to belongs to none of them. */
static bool is_shared(const struct report_facts *facts, uint32_t target, const uint32_t *members,
		      size_t count)
{
	const struct csr *forward = &facts->graph->forward;
	unsigned int referring = 0;
	for (size_t i = 0; i < count && i < ITEM_MEMBERS && referring < 2; i++) {
		uint64_t begin = csr_begin(forward, members[i]);
		uint64_t end = csr_begin(forward, members[i] + 1);
		end = end - begin > REFERRERS_MAX ? begin + REFERRERS_MAX : end;
		while (begin < end && forward->targets[begin] != target)
			begin++;
		referring += begin < end;
	}
	return referring > 1;
}

/* The type of the largest object that a member refers to, the program's first; HD_NONE: there is none. */
static uint32_t item_of(const struct report_facts *facts, uint32_t member, const uint32_t *members,
			size_t count)
{
	const struct hd_graph *graph = facts->graph;
	uint64_t begin = csr_begin(&graph->forward, member);
	uint64_t end = csr_begin(&graph->forward, member + 1);
	uint32_t best = HD_NONE;
	uint64_t best_size = 0;
	end = end - begin > REFERRERS_MAX ? begin + REFERRERS_MAX : end;
	for (; begin < end; begin++) {
		uint32_t target = graph->forward.targets[begin];
		if (graph_is_missing(graph, target) ||
		    graph->node_types[target] == graph->node_types[member] ||
		    is_shared(facts, target, members, count))
			continue;
		uint64_t weight = facts_retained(facts, target);
		weight = type_is_own(facts_type(facts, target)) ? weight * 16 : weight;
		if (weight > best_size) {
			best = graph->node_types[target];
			best_size = weight;
		}
	}
	return best;
}

uint32_t owners_item_type(const struct report_facts *facts, uint32_t type, const uint32_t *members,
			  size_t count)
{
	uint32_t items[ITEM_MEMBERS];
	size_t looked_at = count < ITEM_MEMBERS ? count : ITEM_MEMBERS;
	if (type >= facts->graph->type_count || !is_item_node(&facts->graph->types[type]))
		return type;
	for (size_t i = 0; i < looked_at; i++)
		items[i] = item_of(facts, members[i], members, count);
	/* Where they hold this and that, what they are says more. */
	for (size_t i = 0; i < looked_at; i++) {
		size_t same = 0;
		for (size_t k = 0; k < looked_at; k++)
			same += items[k] == items[i];
		if (items[i] != HD_NONE && same * 4 >= looked_at * 3)
			return items[i];
	}
	return type;
}

uint32_t owners_item_node(const struct report_facts *facts, uint32_t member, uint32_t item_type)
{
	const struct hd_graph *graph = facts->graph;
	uint64_t begin = csr_begin(&graph->forward, member);
	uint64_t end = csr_begin(&graph->forward, member + 1);
	end = end - begin > REFERRERS_MAX ? begin + REFERRERS_MAX : end;
	if (graph->node_types[member] == item_type)
		return member;
	for (; begin < end; begin++) {
		uint32_t target = graph->forward.targets[begin];
		if (!graph_is_missing(graph, target) && graph->node_types[target] == item_type)
			return target;
	}
	return HD_NONE;
}

/* The object that retains most: @p best, or one that @p from refers to and @p node dominates. */
static uint32_t larger_kept(const struct report_facts *facts, uint32_t node, uint32_t from,
			    uint32_t best)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t begin = csr_begin(forward, from), end = csr_begin(forward, from + 1);
	end = end - begin > KEPT_REFERENCES ? begin + KEPT_REFERENCES : end;
	for (; begin < end; begin++) {
		uint32_t target = forward->targets[begin];
		if (target < facts->graph->object_count && facts_idom(facts, target) == node &&
		    (best == HD_NONE ||
		     facts_retained(facts, target) > facts_retained(facts, best)))
			best = target;
	}
	return best;
}

/*
 * Find the object that retains most, among those that @p node dominates and refers to, itself or over one other object:
 * several delegates may share what their lambdas have captured.  HD_NONE: none.
 */
static uint32_t largest_kept(const struct report_facts *facts, uint32_t node)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t begin = csr_begin(forward, node), end = csr_begin(forward, node + 1);
	uint32_t ret = larger_kept(facts, node, node, HD_NONE);
	end = end - begin > KEPT_REFERENCES ? begin + KEPT_REFERENCES : end;
	for (; begin < end; begin++) {
		uint32_t target = forward->targets[begin];
		if (target < facts->graph->object_count)
			ret = larger_kept(facts, node, target, ret);
	}
	return ret;
}

/* A library of the program keeps its subscribers in objects of its own: those of its module do not count. */
static bool is_of_another(const struct graph_type *type, const struct graph_type *member)
{
	bool is_same = type->module && member->module && strcmp(type->module, member->module) == 0;
	return type_is_own(type) && !is_same;
}

uint32_t owners_captured(const struct report_facts *facts, uint32_t node)
{
	uint32_t inner = type_contains(facts_type(facts, node), "+<>c__DisplayClass")
				 ? largest_kept(facts, node)
				 : HD_NONE;
	return inner != HD_NONE && type_is_own(facts_type(facts, inner)) &&
			       !type_is_array(facts_type(facts, inner))
		       ? inner
		       : node;
}

uint32_t owners_kept_type(const struct report_facts *facts, const uint32_t *members, size_t count)
{
	uint32_t ret = HD_NONE;
	for (size_t i = 0; i < count; i++) {
		uint32_t node = members[i];
		unsigned int level = 0;
		while (node != HD_NONE && level++ < KEPT_LEVELS &&
		       !is_of_another(facts_type(facts, node), facts_type(facts, members[i])))
			node = largest_kept(facts, node);
		if (node == HD_NONE || node == members[i] || level > KEPT_LEVELS)
			return HD_NONE;
		uint32_t type = facts->graph->node_types[owners_captured(facts, node)];
		if (i && type != ret)
			return HD_NONE;
		ret = type;
	}
	return ret;
}

/* The framework has classes in these places for one connection each. */
static const char *const connection_places[] = {
	"System.Net.Sockets.",
	"System.Net.WebSockets.",
	"System.Net.Security.",
	"System.Net.Quic.",
	"System.Net.Http.HttpConnection",
	"System.Net.Http.Http2",
	"System.Net.Http.Http3",
	"System.IO.Pipelines.",
	"Microsoft.AspNetCore.Server.",
	"Microsoft.AspNetCore.Connections.",
	"Microsoft.AspNetCore.Http.",
	"Microsoft.AspNetCore.SignalR.",
	"Grpc.AspNetCore.Server.",
	"Grpc.Net.Client.",
};

bool owners_is_connection(const struct report_facts *facts, uint32_t node)
{
	for (unsigned int i = 0; i < KEPT_LEVELS && node != HD_NONE; i++) {
		const struct graph_type *type = facts_type(facts, node);
		if (!type_is_array(type)) {
			/* A server and its connections have the container of services, and do not hold what it made. */
			if (type_is_own(type) ||
			    type_begins(type, "Microsoft.Extensions.DependencyInjection."))
				return false;
			for (size_t k = 0;
			     k < sizeof(connection_places) / sizeof(*connection_places); k++) {
				if (type_begins(type, connection_places[k]))
					return true;
			}
		}
		node = path_before(&facts->paths, node);
	}
	return false;
}

uint64_t owners_count_sockets(const struct report_facts *facts)
{
	uint32_t type = typed_next(facts, HD_NONE, "System.Net.Sockets.Socket");
	return type != HD_NONE ? facts_live_count(facts, type) : 0;
}
