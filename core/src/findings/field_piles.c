/* SPDX-License-Identifier: MIT */
#include "findings/field_piles.h"

#include "analysis/graph/hash_index.h"
#include "findings/accumulation.h"
#include "findings/typed.h"
#include "gc/heap.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/text.h"

/* More owners are what piles up themselves; so are owners that have fewer elements each. */
#define OWNERS_MOST  1024u
#define PER_OWNER    16u
#define ELEMENTS_MIN 256u
/* Types of owners, each with collections of one type, that are looked at. */
#define CANDIDATES_MOST 200u
/* Owners come and go if one in so many is young or garbage. */
#define SHORT_LIVED 10u

/* Collections of one type that objects of one type have in one field. */
struct fields {
	const uint32_t *nodes;
	size_t count;
	uint32_t owner_type;
};

/* The nodes inside of a collection that are still to be looked at. */
struct inner_nodes {
	uint32_t *rows;
	size_t rows_count, rows_capacity;
};

struct finding_fields {
	struct report_facts *facts;
	uint64_t limit;
	uint64_t *
		bytes; /* by type of owner: what the collections of one type retain; and how many these are */
	uint32_t *counts;
	uint8_t *own; /* by type: is it the program's? */
	uint64_t done;
	unsigned int candidates;
	struct inner_nodes inner;
	uint32_t nodes[OWNERS_MOST];
	uint64_t keys[OWNERS_MOST];
	struct piles *piles;
	struct hd_error *err;
};

static void finding_fields_deinit(struct finding_fields *finding)
{
	mem_free(finding->bytes);
	mem_free(finding->counts);
	mem_free(finding->own);
	pages_free(finding->inner.rows, finding->inner.rows_capacity, sizeof(*finding->inner.rows));
}

/* The type of the program's object that has a collection; HD_NONE: something else has it. */
static uint32_t owner_type_of(const struct finding_fields *finding, uint32_t node)
{
	const struct hd_graph *graph = finding->facts->graph;
	uint32_t owner = facts_idom(finding->facts, node);
	uint32_t type = owner < graph->object_count ? graph->node_types[owner] : HD_NONE;
	return type < graph->type_count && finding->own[type] ? type : HD_NONE;
}

/* A number for the field by which the owner refers to the collection. */
static uint64_t field_key(const struct hd_graph *graph, uint32_t owner, uint32_t node)
{
	HD_CLEANUP(text) struct text text = { 0 };
	uint64_t hash = 0;
	graph->places.link(graph->places.arg, owner, node, &text);
	for (size_t i = 0; i < text.size; i++)
		hash = hash_mix(hash, (uint8_t)text.bytes[i]);
	return hash;
}

/* An array, node or table of the framework's collections, and no element. */
static bool is_part(struct report_facts *facts, uint32_t collection, uint32_t target)
{
	const struct graph_type *type = facts_type(facts, target);
	if (type_is_array(type))
		return !type_is_array(facts_type(facts, collection));
	return type_begins(type, "System.Collections.") && !counted_type_of(facts, target);
}

/* Where the elements of a collection are noted: by type, or as members of a pile. */
struct element_notes {
	struct tally *types; /* NULL: pile counts */
	struct pile *pile;
	uint64_t stride;
};

/* Note what @p node, a part of a collection, dominates: an element, or a further part. */
static enum hd_status visit_part(struct finding_fields *finding, uint32_t node,
				 const struct element_notes *notes)
{
	struct report_facts *facts = finding->facts;
	const struct csr *forward = &facts->graph->forward;
	struct inner_nodes *inner = &finding->inner;
	uint64_t end = csr_begin(forward, node + 1);
	for (uint64_t i = csr_begin(forward, node); i < end; i++) {
		uint32_t target = forward->targets[i];
		if (target >= facts->graph->object_count || facts_idom(facts, target) != node)
			continue;
		if (is_part(facts, node, target)) {
			TRY_MEMORY(PAGES_RESERVE(inner, rows), finding->err);
			inner->rows[inner->rows_count++] = target;
		} else if (notes->types) {
			tally_add(notes->types, facts->graph->node_types[target], target,
				  facts_retained(facts, target));
		} else if (facts->graph->node_types[target] == notes->pile->type) {
			pile_add(facts, notes->pile, target, notes->stride);
		}
	}
	return HD_OK;
}

/* Note the elements of a collection that it dominates. */
static enum hd_status visit_elements(struct finding_fields *finding, uint32_t collection,
				     const struct element_notes *notes)
{
	struct inner_nodes *inner = &finding->inner;
	TRY_MEMORY(PAGES_RESERVE(inner, rows), finding->err);
	inner->rows[inner->rows_count++] = collection;
	while (inner->rows_count) {
		TRY(visit_part(finding, inner->rows[--inner->rows_count], notes));
		if (finding->done++ % JOB_STRIDE == 0)
			TRY(job_check(finding->facts->job, 0, finding->err));
	}
	return HD_OK;
}

/* The type of the elements with most bytes, objects before strings and arrays; types->count: there is none. */
static size_t element_type(const struct report_facts *facts, const struct tally *types)
{
	size_t best = types->count;
	bool is_best_plain = true;
	for (size_t i = 0; i < types->count; i++) {
		const struct graph_type *type = &facts->graph->types[types->keys[i]];
		bool is_plain = type_is_array(type) || type_is_class(type, "System.String");
		if (best == types->count || (is_best_plain && !is_plain) ||
		    (is_plain == is_best_plain && types->bytes[i] > types->bytes[best])) {
			best = i;
			is_best_plain = is_plain;
		}
	}
	return best;
}

/* Add up what the collections say of themselves. */
static void add_counted(struct report_facts *facts, uint32_t node, bool is_first,
			struct counted *sum)
{
	struct counted one;
	if (!counted_read(facts, node, &one)) {
		sum->has_count = sum->has_version = sum->took_nothing = false;
		return;
	}
	if (is_first) {
		*sum = (struct counted){ .layout = one.layout,
					 .array = HD_NONE,
					 .has_count = true,
					 .has_version = true,
					 .took_nothing = true };
	}
	sum->has_count &= one.has_count;
	sum->has_version &= one.has_version;
	sum->took_nothing &= one.took_nothing;
	sum->took_out |= one.took_out;
	sum->count += one.count;
	sum->version += one.version;
}

/* Is a pile the one of a single collection of the fields? */
static bool is_of_one(struct report_facts *facts, const struct pile *pile,
		      const struct fields *fields)
{
	uint32_t node = pile->at != HD_NONE ? owners_above(facts, pile->at) : HD_NONE;
	for (size_t i = 0; i < fields->count; i++) {
		if (fields->nodes[i] == node)
			return true;
	}
	return false;
}

static enum hd_status add_pile_of_field(struct finding_fields *finding, const struct fields *fields)
{
	struct report_facts *facts = finding->facts;
	struct piles *piles = finding->piles;
	struct tally types = { .count = 0 };
	struct pile pile = { .at = fields->nodes[0], .whole = HD_NONE, .owners = fields->count };
	for (size_t i = 0; i < fields->count; i++) {
		uint32_t node = fields->nodes[i];
		pile.bytes += facts_retained(facts, node);
		pile.at = facts_retained(facts, node) > facts_retained(facts, pile.at) ? node
										       : pile.at;
		const struct element_notes by_type = { .types = &types };
		TRY(visit_elements(finding, node, &by_type));
		add_counted(facts, node, i == 0, &pile.sum);
	}
	size_t type = element_type(facts, &types);
	if (type == types.count)
		return HD_OK;
	pile.type = (uint32_t)types.keys[type];
	pile.count = types.counts[type];
	if (pile.bytes < finding->limit || pile.count < ELEMENTS_MIN ||
	    pile.count / PER_OWNER < fields->count)
		return HD_OK;
	pile.owner_type = fields->owner_type;
	pile.sum.node = pile.at;
	const struct element_notes members = { .pile = &pile,
					       .stride = pile.count / PILE_SAMPLE + 1 };
	for (size_t i = 0; i < fields->count; i++)
		TRY(visit_elements(finding, fields->nodes[i], &members));
	size_t kept = 0;
	for (size_t i = 0; i < piles->rows_count; i++) {
		if (!is_of_one(facts, &piles->rows[i], fields))
			piles->rows[kept++] = piles->rows[i];
	}
	piles->rows_count = kept;
	TRY_MEMORY(PAGES_RESERVE(piles, rows), finding->err);
	piles->rows[piles->rows_count++] = pile;
	return HD_OK;
}

/* Are the owners of a type there as long as the process, and not made for requests? */
static bool live_long(const struct report_facts *facts, uint32_t type)
{
	struct typed_nodes all = typed_nodes(facts, type);
	uint64_t count = facts->graph->types[type].count, young = 0;
	for (uint32_t i = 0; i < all.count; i++)
		young += facts_generation(facts, all.nodes[i]) < GENERATION_2;
	return facts->has_generations && young * SHORT_LIVED <= all.count &&
	       count - all.count <= all.count / SHORT_LIVED;
}

/* Collections of one type that objects of one type have: a pile for each field of them. */
static enum hd_status split_by_field(struct finding_fields *finding, uint32_t type,
				     uint32_t owner_type)
{
	struct report_facts *facts = finding->facts;
	struct typed_nodes all = typed_nodes(facts, type);
	size_t count = 0;
	for (uint32_t i = 0; i < all.count && count < OWNERS_MOST; i++) {
		if (owner_type_of(finding, all.nodes[i]) != owner_type)
			continue;
		finding->keys[count] =
			field_key(facts->graph, facts_idom(facts, all.nodes[i]), all.nodes[i]);
		finding->nodes[count++] = all.nodes[i];
	}
	for (size_t begin = 0, end; begin < count; begin = end) {
		uint64_t key = finding->keys[begin];
		end = begin;
		for (size_t i = begin; i < count; i++) {
			if (finding->keys[i] != key)
				continue;
			uint32_t node = finding->nodes[i];
			finding->nodes[i] = finding->nodes[end];
			finding->keys[i] = finding->keys[end];
			finding->nodes[end] = node;
			finding->keys[end++] = key;
		}
		const struct fields fields = { .nodes = finding->nodes + begin,
					       .count = end - begin,
					       .owner_type = owner_type };
		if (fields.count > 1)
			TRY(add_pile_of_field(finding, &fields));
	}
	return HD_OK;
}

static enum hd_status check_collections(struct finding_fields *finding, uint32_t type)
{
	struct report_facts *facts = finding->facts;
	struct typed_nodes all = typed_nodes(facts, type);
	for (uint32_t i = 0; i < all.count; i++) {
		uint32_t owner = owner_type_of(finding, all.nodes[i]);
		if (owner == HD_NONE)
			continue;
		finding->bytes[owner] += facts_retained(facts, all.nodes[i]);
		finding->counts[owner]++;
		if (i % JOB_STRIDE == 0)
			TRY(job_check(facts->job, 0, finding->err));
	}
	for (uint32_t i = 0; i < all.count; i++) {
		uint32_t owner = owner_type_of(finding, all.nodes[i]);
		if (owner == HD_NONE)
			continue;
		/* Two fields of each owner may have collections of the type. */
		bool is_candidate = finding->bytes[owner] >= finding->limit &&
				    finding->counts[owner] > 1 &&
				    finding->counts[owner] <= OWNERS_MOST;
		finding->bytes[owner] = finding->counts[owner] = 0;
		if (!is_candidate || !live_long(facts, owner))
			continue;
		if (finding->candidates++ == CANDIDATES_MOST) {
			finding->piles->is_limited = true;
			return HD_OK;
		}
		TRY(split_by_field(finding, type, owner));
	}
	return HD_OK;
}

enum hd_status piles_add_fields(struct report_facts *facts, uint64_t limit, struct piles *piles,
				struct hd_error *err)
{
	if (!facts->heap || !facts->graph->places.link)
		return HD_OK;
	size_t types = (size_t)facts->graph->type_count + 1;
	HD_CLEANUP(finding_fields)
	struct finding_fields finding = { .facts = facts,
					  .limit = limit,
					  .bytes = mem_calloc(types, sizeof(*finding.bytes)),
					  .counts = mem_calloc(types, sizeof(*finding.counts)),
					  .own = mem_calloc(types, 1),
					  .piles = piles,
					  .err = err };
	TRY_MEMORY(finding.bytes && finding.counts && finding.own, err);
	for (uint32_t type = 0; type < facts->graph->type_count; type++)
		finding.own[type] = typed_is_own(facts, &facts->graph->types[type]);
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		struct typed_nodes all = typed_nodes(facts, type);
		if (all.count > 1 && counted_type_of(facts, all.nodes[0]))
			TRY(check_collections(&finding, type));
	}
	piles_sort(piles);
	return HD_OK;
}
