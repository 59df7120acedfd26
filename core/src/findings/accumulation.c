/* SPDX-License-Identifier: MIT */
#include "findings/accumulation.h"

#include <stdlib.h>

#include "findings/rule.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"

/** Zero is allowed in big_tree_deinit(). */
struct big_tree {
	uint64_t limit;  /**< what a node of it retains at least */
	uint32_t *nodes; /**< ascending */
	size_t nodes_count, nodes_capacity;
	uint64_t *is_big; /**< bitmap */
	uint32_t *ranks;  /**< of it: a node's number without a search */
	uint32_t *begin;  /**< by node of it, then of the virtual root, and one more: in children */
	uint32_t *children; /**< all that they dominate directly */
	uint32_t children_count, node_count;
};

/* Does a node retain at least the limit? */
static bool big_tree_has(const struct big_tree *tree, uint32_t node)
{
	return bitmap_has(tree->is_big, node);
}

/* Its number, which is nodes_count for the virtual root (HD_NONE). */
static size_t big_tree_index(const struct big_tree *tree, uint32_t node)
{
	if (node == HD_NONE)
		return tree->nodes_count;
	return bitmap_rank(tree->is_big, tree->ranks, node);
}

/* The number of the node that dominates a live node; SIZE_MAX: that one is not big. */
static size_t parent_index(const struct big_tree *tree, const struct report_facts *facts,
			   uint32_t node)
{
	uint32_t idom = facts_idom(facts, node);
	if (!facts_is_live(facts, node) || (idom != HD_NONE && !big_tree_has(tree, idom)))
		return SIZE_MAX;
	return big_tree_index(tree, idom);
}

static enum hd_status find_big_nodes(struct big_tree *tree, const struct report_facts *facts,
				     struct hd_error *err)
{
	for (uint32_t node = 0; node < facts->graph->object_count; node++) {
		if (!facts_is_live(facts, node) || facts_retained(facts, node) < tree->limit)
			continue;
		TRY_MEMORY(PAGES_RESERVE(tree, nodes), err);
		tree->nodes[tree->nodes_count++] = node;
		(void)bitmap_add(tree->is_big, node);
	}
	return HD_OK;
}

static enum hd_status fill_tree(struct big_tree *tree, const struct report_facts *facts,
				struct hd_error *err)
{
	uint32_t count = facts->graph->object_count;
	tree->is_big = bitmap_alloc(tree->node_count);
	TRY_MEMORY(tree->is_big, err);
	TRY(find_big_nodes(tree, facts, err));
	tree->ranks = bitmap_ranks(tree->is_big, tree->node_count);
	TRY_MEMORY(tree->ranks, err);
	tree->begin = pages_alloc(tree->nodes_count + 3, sizeof(*tree->begin));
	TRY_MEMORY(tree->begin, err);
	for (uint32_t node = 0; node < count; node++) {
		size_t index = parent_index(tree, facts, node);
		if (index != SIZE_MAX)
			tree->begin[index + 2]++;
	}
	TRY(job_check(facts->job, 0, err));
	for (size_t i = 2; i < tree->nodes_count + 3; i++)
		tree->begin[i] += tree->begin[i - 1];
	tree->children_count = tree->begin[tree->nodes_count + 2];
	tree->children = pages_alloc(tree->children_count, sizeof(*tree->children));
	TRY_MEMORY(tree->children, err);
	/* The row after is where the next child goes: at the end all have moved to their places. */
	for (uint32_t node = 0; node < count; node++) {
		size_t index = parent_index(tree, facts, node);
		if (index != SIZE_MAX)
			tree->children[tree->begin[index + 1]++] = node;
	}
	return HD_OK;
}

static void big_tree_deinit(struct big_tree *tree)
{
	if (tree->begin)
		pages_free(tree->begin, tree->nodes_count + 3, sizeof(*tree->begin));
	pages_free(tree->children, tree->children_count, sizeof(*tree->children));
	pages_free(tree->nodes, tree->nodes_capacity, sizeof(*tree->nodes));
	bitmap_ranks_free(tree->ranks, tree->node_count);
	if (tree->is_big)
		bitmap_free(tree->is_big, tree->node_count);
	*tree = (struct big_tree){ 0 };
}

/* @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED */
static enum hd_status big_tree_init(struct big_tree *ret, const struct report_facts *facts,
				    uint64_t limit, struct hd_error *err)
{
	*ret = (struct big_tree){ .limit = limit, .node_count = facts->graph->node_count };
	return fill_tree(ret, facts, err);
}

/* The child that retains most; HD_NONE: none. */
static uint32_t big_tree_largest(const struct big_tree *tree, const struct report_facts *facts,
				 size_t index)
{
	uint32_t largest = HD_NONE;
	for (uint32_t i = tree->begin[index]; i < tree->begin[index + 1]; i++) {
		uint32_t child = tree->children[i];
		if (largest == HD_NONE ||
		    facts_retained(facts, child) > facts_retained(facts, largest))
			largest = child;
	}
	return largest;
}

#define PILES_MAX     200u
#define VISITS_MAX    10000000u
#define CHAIN_MIN     64u
#define CHAIN_PERCENT 70u
#define CHAIN_MEMBERS 4u /* one in this many nodes of a chain is of the type */

/* Sums by type of the children of one node. */
struct type_sums {
	uint64_t *bytes, *counts; /* by type */
	uint32_t *touched;
	size_t touched_count;
};

struct finding_piles {
	const struct report_facts *facts;
	struct big_tree tree;
	struct type_sums sums;
	struct piles *piles;
	struct hd_error *err;
};

void piles_deinit(struct piles *piles)
{
	pages_free(piles->rows, piles->rows_capacity, sizeof(*piles->rows));
	*piles = (struct piles){ 0 };
}

static enum hd_status sums_init(struct type_sums *sums, uint32_t types, struct hd_error *err)
{
	sums->bytes = mem_calloc((size_t)types + 1, sizeof(*sums->bytes));
	sums->counts = mem_calloc((size_t)types + 1, sizeof(*sums->counts));
	sums->touched = mem_calloc((size_t)types + 1, sizeof(*sums->touched));
	return sums->bytes && sums->counts && sums->touched ? HD_OK : fail_nomem(err);
}

static void finding_piles_deinit(struct finding_piles *finding)
{
	mem_free(finding->sums.bytes);
	mem_free(finding->sums.counts);
	mem_free(finding->sums.touched);
	big_tree_deinit(&finding->tree);
}

static void sums_clear(struct type_sums *sums)
{
	for (size_t i = 0; i < sums->touched_count; i++)
		sums->bytes[sums->touched[i]] = sums->counts[sums->touched[i]] = 0;
	sums->touched_count = 0;
}

static void sums_add(struct type_sums *sums, uint32_t type, uint64_t bytes)
{
	if (!sums->counts[type]++)
		sums->touched[sums->touched_count++] = type;
	sums->bytes[type] += bytes;
}

static enum hd_status add_pile(struct finding_piles *finding, const struct pile *pile)
{
	struct piles *piles = finding->piles;
	if (piles->rows_count >= PILES_MAX) {
		piles->is_limited = true;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(piles, rows), finding->err);
	piles->rows[piles->rows_count++] = *pile;
	return HD_OK;
}

void pile_add(const struct report_facts *facts, struct pile *pile, uint32_t node, uint64_t stride)
{
	if (pile->ages.all % stride == 0 && pile->sample_count < PILE_SAMPLE)
		pile->sample[pile->sample_count++] = node;
	pile->objects += facts->dominators->retained_count[node];
	ages_add(&pile->ages, facts, node);
}

static uint64_t stride_of(uint64_t count)
{
	return count / PILE_SAMPLE + 1;
}

static void list_members(const struct finding_piles *finding, size_t index, struct pile *pile)
{
	const struct report_facts *facts = finding->facts;
	const struct big_tree *tree = &finding->tree;
	uint64_t stride = stride_of(pile->count);
	for (uint32_t i = tree->begin[index]; i < tree->begin[index + 1]; i++) {
		uint32_t child = tree->children[i];
		if (facts->graph->node_types[child] == pile->type && !big_tree_has(tree, child))
			pile_add(facts, pile, child, stride);
	}
}

/* A string or an array is not what piles up, if the objects next to it do. */
static bool is_plain_part(const struct report_facts *facts, uint32_t type)
{
	const struct graph_type *row = &facts->graph->types[type];
	return type_is_class(row, "System.String") || type_is_array(row);
}

/* The type that stands for what @p at holds: that with most bytes, objects before strings and arrays. */
static uint32_t first_type(const struct finding_piles *finding)
{
	const struct type_sums *sums = &finding->sums;
	uint32_t best = HD_NONE;
	bool best_plain = true;
	for (size_t i = 0; i < sums->touched_count; i++) {
		uint32_t type = sums->touched[i];
		if (sums->bytes[type] < finding->tree.limit)
			continue;
		bool plain = is_plain_part(finding->facts, type);
		if (best == HD_NONE || (best_plain && !plain) ||
		    (plain == best_plain && sums->bytes[type] > sums->bytes[best])) {
			best = type;
			best_plain = plain;
		}
	}
	return best;
}

static enum hd_status add_group(struct finding_piles *finding, size_t index, uint32_t type,
				uint64_t bytes)
{
	const struct big_tree *tree = &finding->tree;
	struct pile pile = { .at = index < tree->nodes_count ? tree->nodes[index] : HD_NONE,
			     .type = type,
			     .whole = HD_NONE,
			     .count = finding->sums.counts[type],
			     .bytes = bytes };
	list_members(finding, index, &pile);
	return add_pile(finding, &pile);
}

/* The piles directly below one node of the tree. */
static enum hd_status group_children(struct finding_piles *finding, size_t index)
{
	const struct report_facts *facts = finding->facts;
	const struct big_tree *tree = &finding->tree;
	struct type_sums *sums = &finding->sums;
	uint32_t begin = tree->begin[index], end = tree->begin[index + 1];
	sums_clear(sums);
	if (end - begin > VISITS_MAX) {
		end = begin + VISITS_MAX;
		finding->piles->is_limited = true;
	}
	for (uint32_t i = begin; i < end; i++) {
		uint32_t child = tree->children[i], type = facts->graph->node_types[child];
		if (!big_tree_has(tree, child) && type < facts->graph->type_count)
			sums_add(sums, type, facts_retained(facts, child));
	}
	TRY(job_check(facts->job, 0, finding->err));
	if (index == tree->nodes_count) {
		for (size_t i = 0; i < sums->touched_count; i++) {
			uint32_t type = sums->touched[i];
			if (sums->bytes[type] >= tree->limit)
				TRY(add_group(finding, index, type, sums->bytes[type]));
		}
		return HD_OK;
	}
	uint32_t first = first_type(finding);
	if (first == HD_NONE)
		return HD_OK;
	uint64_t bytes = 0;
	for (size_t i = 0; i < sums->touched_count; i++)
		bytes += sums->bytes[sums->touched[i]];
	return add_group(finding, index, first, bytes);
}

/* Does @p child retain nearly all that @p parent does? */
static bool is_link(const struct report_facts *facts, uint32_t parent, uint32_t child)
{
	return child != HD_NONE &&
	       facts_retained(facts, child) / CHAIN_PERCENT >= facts_retained(facts, parent) / 100;
}

/* The next object of a chain among those that are too small for the tree: what it refers to. */
static uint32_t small_next(const struct report_facts *facts, uint32_t node)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t begin = csr_begin(forward, node), end = csr_begin(forward, node + 1);
	uint32_t next = HD_NONE;
	end = end - begin > CHAIN_MIN ? begin + CHAIN_MIN : end;
	for (; begin < end; begin++) {
		uint32_t target = forward->targets[begin];
		if (facts_idom(facts, target) == node && !graph_is_missing(facts->graph, target) &&
		    (next == HD_NONE ||
		     facts_retained(facts, target) > facts_retained(facts, next)))
			next = target;
	}
	return next;
}

/* The next of a chain; HD_NONE: it ends. */
static uint32_t next_of_chain(const struct finding_piles *finding, uint32_t node)
{
	const struct big_tree *tree = &finding->tree;
	if (!big_tree_has(tree, node))
		return small_next(finding->facts, node);
	uint32_t next = big_tree_largest(tree, finding->facts, big_tree_index(tree, node));
	return is_link(finding->facts, node, next) ? next : HD_NONE;
}

/* Do most objects of the chain from @p head on have one type?  Those of the tree are counted. */
static uint32_t chain_type(struct finding_piles *finding, uint32_t head)
{
	const struct report_facts *facts = finding->facts;
	struct type_sums *sums = &finding->sums;
	uint64_t length = 0;
	uint32_t best = HD_NONE;
	sums_clear(sums);
	for (uint32_t node = head; node != HD_NONE && big_tree_has(&finding->tree, node);
	     node = next_of_chain(finding, node)) {
		if (facts->graph->node_types[node] < facts->graph->type_count)
			sums_add(sums, facts->graph->node_types[node], 0);
		length++;
	}
	for (size_t i = 0; i < sums->touched_count; i++) {
		if (best == HD_NONE || sums->counts[sums->touched[i]] > sums->counts[best])
			best = sums->touched[i];
	}
	bool is_chain = length >= CHAIN_MIN && best != HD_NONE &&
			sums->counts[best] >= length / CHAIN_MEMBERS;
	return is_chain ? best : HD_NONE;
}

static enum hd_status add_chain_pile(struct finding_piles *finding, uint32_t head)
{
	const struct report_facts *facts = finding->facts;
	struct pile pile = { .at = facts_idom(facts, head), .whole = head, .is_chain = true };
	pile.type = chain_type(finding, head);
	if (pile.type == HD_NONE)
		return HD_OK;
	pile.bytes = facts_retained(facts, head);
	for (uint32_t node = head; node != HD_NONE; node = next_of_chain(finding, node))
		pile.count += facts->graph->node_types[node] == pile.type;
	uint64_t stride = stride_of(pile.count), steps = 0;
	for (uint32_t node = head; node != HD_NONE; node = next_of_chain(finding, node)) {
		if (facts->graph->node_types[node] == pile.type)
			pile_add(facts, &pile, node, stride);
		if (++steps % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(finding->err);
	}
	pile.objects = facts->dominators->retained_count[head];
	if (pile.at == HD_NONE)
		pile.at = head;
	return add_pile(finding, &pile);
}

/* The chain that begins with a node of the tree, if it is not in the middle of one. */
static enum hd_status find_chain_pile(struct finding_piles *finding, uint32_t node)
{
	uint32_t before = facts_idom(finding->facts, node);
	if (before != HD_NONE && big_tree_has(&finding->tree, before) &&
	    next_of_chain(finding, before) == node)
		return HD_OK;
	return add_chain_pile(finding, node);
}

static int most_bytes_first(const void *left, const void *right)
{
	const struct pile *a = left, *b = right;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

void piles_sort(struct piles *piles)
{
	if (piles->rows_count)
		qsort(piles->rows, piles->rows_count, sizeof(*piles->rows), most_bytes_first);
}

enum hd_status piles_find(const struct report_facts *facts, uint64_t limit, struct piles *ret,
			  struct hd_error *err)
{
	HD_CLEANUP(finding_piles)
	struct finding_piles finding = { .facts = facts, .piles = ret, .err = err };
	*ret = (struct piles){ 0 };
	TRY(sums_init(&finding.sums, facts->graph->type_count, err));
	TRY(big_tree_init(&finding.tree, facts, limit, err));
	for (size_t i = 0; i <= finding.tree.nodes_count; i++)
		TRY(group_children(&finding, i));
	for (size_t i = 0; i < finding.tree.nodes_count; i++)
		TRY(find_chain_pile(&finding, finding.tree.nodes[i]));
	piles_sort(ret);
	return HD_OK;
}
