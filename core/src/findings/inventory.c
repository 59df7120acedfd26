/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "findings/accumulation.h"
#include "findings/comparison.h"
#include "findings/rule.h"
#include "gc/heap.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/job.h"
#include "util/sort.h"

/* Holdings of half a percent are listed: what makes a finding has more. */
#define LISTED_SHARE 200u
#define LISTED_MIN   ((uint64_t)16 << 10)
#define OLDS_MAX     65536u

int holding_compare(const struct holding *a, const struct holding *b)
{
	int order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->member, b->member);
}

static int compare_holdings(const void *left, const void *right)
{
	const struct holding *a = left, *b = right;
	int order = holding_compare(a, b);
	if (order)
		return order;
	return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : 0;
}

static enum hd_status add_named_sum(struct named_sums *sums, const struct graph_type *row,
				    struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(sums, rows), err);
	sums->rows[sums->rows_count] = *row;
	sums->rows[sums->rows_count++].name_size = (uint32_t)strlen(row->name);
	return HD_OK;
}

static enum hd_status inventory_types(struct report *report, struct inventory *inventory,
				      struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		uint32_t count = facts_live_count(facts, type);
		struct graph_type row = { .id = facts->graph->types[type].id, .count = count };
		if (!count)
			continue;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t node = facts->type_nodes[facts->type_begin[type] + i];
			row.size += graph_size(facts->graph, node);
		}
		row.name = report_type_name(report, type);
		TRY(add_named_sum(&inventory->types, &row, err));
		TRY(job_check(facts->job, count, err));
	}
	return HD_OK;
}

/* Sums by root. */
struct sums_by_root {
	size_t nodes, roots;
	uint32_t *of_nodes; /* by node: its root, + 1; 0: not known yet */
	uint64_t *counts, *bytes;
};

static void sums_by_root_deinit(struct sums_by_root *sums)
{
	pages_free(sums->of_nodes, sums->nodes, sizeof(*sums->of_nodes));
	pages_free(sums->counts, sums->roots, sizeof(*sums->counts));
	pages_free(sums->bytes, sums->roots, sizeof(*sums->bytes));
}

/* The root that a path begins at; what lies on it is noted, so that no step is gone twice. */
static uint32_t root_of_path(const struct report *report, const struct sums_by_root *sums,
			     uint32_t node)
{
	const uint32_t *parents = report->facts.paths.parents;
	uint32_t at = node;
	while (!sums->of_nodes[at] && parents[at] && parents[at] != at + 1)
		at = parents[at] - 1;
	uint64_t steps = 1; /* at is where the path begins */
	uint32_t root =
		sums->of_nodes[at] ? sums->of_nodes[at] - 1 : holder_root(report, at, &steps);
	while (root != HD_NONE && !sums->of_nodes[node]) {
		sums->of_nodes[node] = root + 1;
		if (node == at)
			break;
		node = parents[node] - 1;
	}
	return root;
}

static enum hd_status sum_by_root(const struct report *report, const struct sums_by_root *sums,
				  struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	for (uint32_t node = 0; node < facts->graph->object_count; node++) {
		if (node % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		uint32_t root =
			facts_is_live(facts, node) ? root_of_path(report, sums, node) : HD_NONE;
		if (root == HD_NONE)
			continue;
		sums->counts[root]++;
		sums->bytes[root] += graph_size(facts->graph, node);
	}
	return HD_OK;
}

static enum hd_status name_roots(struct report *report, const struct sums_by_root *sums,
				 struct inventory *inventory, struct hd_error *err)
{
	const struct hd_graph *graph = report->facts.graph;
	for (uint32_t root = 0; root < graph->root_count; root++) {
		if (!sums->counts[root])
			continue;
		const struct graph_type row = { .name = holder_root_label(report, root),
						.count = sums->counts[root],
						.size = sums->bytes[root] };
		TRY(add_named_sum(&inventory->roots, &row, err));
	}
	return HD_OK;
}

static enum hd_status inventory_roots(struct report *report, struct inventory *inventory,
				      struct hd_error *err)
{
	const struct hd_graph *graph = report->facts.graph;
	size_t nodes = graph->node_count, roots = (size_t)graph->root_count + 1;
	HD_CLEANUP(sums_by_root)
	struct sums_by_root sums = { .nodes = nodes,
				     .roots = roots,
				     .of_nodes = pages_alloc(nodes, sizeof(*sums.of_nodes)),
				     .counts = pages_alloc(roots, sizeof(*sums.counts)),
				     .bytes = pages_alloc(roots, sizeof(*sums.bytes)) };
	TRY_MEMORY(sums.of_nodes && sums.counts && sums.bytes, err);
	TRY(sum_by_root(report, &sums, err));
	return name_roots(report, &sums, inventory, err);
}

static bool is_old_object(const struct report_facts *facts, uint32_t node)
{
	unsigned int generation = facts_generation(facts, node);
	return generation >= GENERATION_2 && generation <= GENERATION_POH;
}

static enum hd_status inventory_olds(const struct report *report, struct inventory *inventory,
				     struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	const struct hd_graph *graph = facts->graph;
	uint32_t stride = graph->object_count / OLDS_MAX + 1;
	for (uint32_t node = 0; node < graph->object_count; node += stride) {
		if (!facts_is_live(facts, node) || !is_old_object(facts, node))
			continue;
		TRY_MEMORY(PAGES_RESERVE(inventory, olds), err);
		inventory->olds[inventory->olds_count++] =
			(struct old_object){ graph_id(graph, node), facts_type(facts, node)->id };
		if (node > UINT32_MAX - stride)
			break;
	}
	return HD_OK;
}

/*
 * A collection that grows may make its nodes anew, as ConcurrentDictionary does, and their items are still there: so these are
 * looked up.
 */
static void list_olds(const struct report_facts *facts, const struct pile *pile,
		      struct holding *ret)
{
	for (size_t i = 0; i < pile->sample_count && ret->old_count < HOLDING_SAMPLE; i++) {
		uint32_t item = owners_item_node(facts, pile->sample[i], ret->type);
		if (item != HD_NONE && is_old_object(facts, item))
			ret->old_ids[ret->old_count++] = graph_id(facts->graph, item);
	}
}

static enum hd_status add_holding(struct report *report, const struct pile *pile,
				  struct inventory *inventory, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct owners owners;
	struct held_by holder;
	uint64_t limit;
	if (!pile->sample_count)
		return HD_OK;
	owners_find(facts, pile->at, pile->sample, pile->sample_count, &owners);
	uint32_t subject = pile->at != HD_NONE ? pile->at : pile->sample[0];
	if (owners.count)
		subject = owners.rows[0].node;
	uint32_t type = owners_item_type(facts, pile->type, pile->sample, pile->sample_count);
	holder_find(report, subject, &holder);
	TRY_MEMORY(PAGES_RESERVE(inventory, holdings), err);
	struct holding *row = &inventory->holdings[inventory->holdings_count++];
	*row = (struct holding){ .name = holder.name,
				 .member = report_type_name(report, type),
				 .count = pile->count,
				 .bytes = pile->bytes,
				 .subject = subject,
				 .type = type,
				 .type_id = facts->graph->types[type].id,
				 .root = (enum root_class)facts->classes[pile->sample[0]],
				 .has_limit = counted_limit(facts, subject, &limit) };
	if (owners.count) {
		const struct counted *counted = &owners.rows[0];
		row->owner = (struct own_count){ counted->has_count, counted->has_version,
						 counted->count, counted->version };
		row->owner_id = graph_id(facts->graph, counted->node);
	}
	list_olds(facts, pile, row);
	return HD_OK;
}

/* Holdings of one name and member are one; of each, what another one of them has counts there. */
static enum hd_status share_holdings(const struct report_facts *facts,
				     const struct inventory *inventory, struct grouped_pile *piles,
				     struct hd_error *err)
{
	for (size_t i = 0; i < inventory->holdings_count; i++) {
		const struct holding *row = &inventory->holdings[i];
		while (holding_compare(&inventory->holdings[piles[i].group], row) != 0)
			piles[i].group++;
	}
	TRY(piles_find_parts(facts, piles, inventory->holdings_count, err));
	for (size_t i = 0; i < inventory->holdings_count; i++) {
		inventory->holdings[i].count = piles[i].members;
		if (piles[i].is_part)
			inventory->holdings[i].bytes = 0;
	}
	return HD_OK;
}

static void join_holdings(struct inventory *inventory)
{
	size_t kept = 0;
	if (inventory->holdings_count) {
		qsort(inventory->holdings, inventory->holdings_count, sizeof(*inventory->holdings),
		      compare_holdings);
	}
	for (size_t i = 0; i < inventory->holdings_count; i++) {
		const struct holding *row = &inventory->holdings[i];
		struct holding *last = kept ? &inventory->holdings[kept - 1] : NULL;
		if (!last || holding_compare(last, row) != 0) {
			inventory->holdings[kept++] = *row;
		} else {
			last->bytes += row->bytes;
			last->count += row->count;
		}
	}
	inventory->holdings_count = kept;
}

static enum hd_status add_holdings(struct report *report, const struct piles *piles,
				   struct inventory *inventory, struct hd_error *err)
{
	HD_FREE struct grouped_pile *groups = mem_calloc(piles->rows_count + 1, sizeof(*groups));
	TRY_MEMORY(groups, err);
	for (size_t i = 0; i < piles->rows_count; i++) {
		groups[inventory->holdings_count].pile = &piles->rows[i];
		TRY(add_holding(report, &piles->rows[i], inventory, err));
	}
	return share_holdings(&report->facts, inventory, groups, err);
}

static enum hd_status inventory_holdings(struct report *report, struct inventory *inventory,
					 struct hd_error *err)
{
	HD_CLEANUP(piles) struct piles piles = { 0 };
	uint64_t share = inventory->live / LISTED_SHARE;
	inventory->least = share > LISTED_MIN ? share : LISTED_MIN;
	TRY(piles_find(&report->facts, inventory->least, &piles, err));
	TRY(piles_join(&report->facts, &piles, err));
	TRY(add_holdings(report, &piles, inventory, err));
	inventory->is_limited = piles.is_limited;
	join_holdings(inventory);
	return HD_OK;
}

enum hd_status inventory_make(struct report *report, struct inventory *ret, struct hd_error *err)
{
	const struct report_facts *facts = &report->facts;
	*ret = (struct inventory){ .live = facts->sums.all_live,
				   .objects = facts->sums.live_objects,
				   .is_complete = facts->is_complete };
	job_begin(facts->job, "Adding up what is alive", facts->sums.live_objects);
	TRY(inventory_types(report, ret, err));
	TRY(inventory_roots(report, ret, err));
	TRY(inventory_olds(report, ret, err));
	return inventory_holdings(report, ret, err);
}

enum hd_status inventory_keep(struct inventory *inventory, struct report *report,
			      struct hd_error *err)
{
	size_t count = report->findings_count;
	inventory->findings = mem_calloc(count + 1, sizeof(*inventory->findings));
	TRY_MEMORY(inventory->findings, err);
	for (size_t i = 0; i < count; i++) {
		const struct report_finding *finding = &report->findings[i];
		inventory->findings[i] =
			(struct told_finding){ finding->id, finding->bytes, finding->objects };
	}
	inventory->findings_count = count;
	inventory->arena = report->arena;
	report->arena = NULL;
	return HD_OK;
}

static void sums_free(struct named_sums *sums)
{
	pages_free(sums->rows, sums->rows_capacity, sizeof(*sums->rows));
}

void inventory_deinit(struct inventory *inventory)
{
	sums_free(&inventory->types);
	sums_free(&inventory->roots);
	pages_free(inventory->holdings, inventory->holdings_capacity, sizeof(*inventory->holdings));
	pages_free(inventory->olds, inventory->olds_capacity, sizeof(*inventory->olds));
	mem_free(inventory->findings);
	arena_destroy(inventory->arena);
	*inventory = (struct inventory){ 0 };
}
