/* SPDX-License-Identifier: MIT */
/* The types of the program that a pile is made of: doc/report.md 4.1. */
#include "findings/made_of.h"

#include <stdlib.h>

#include "findings/rule.h"
#include "util/alloc.h"
#include "util/job.h"

/* Piles that are looked into: the most severe come first. */
#define PILES_MAX 16u
/* Sums of all piles: a heap with very many types has fewer piles looked into. */
#define SUMS_MAX ((size_t)4 << 20)
#define NO_PILE  UINT8_MAX
/* A type with a smaller part of a pile is not told. */
#define PART_MIN 10u

/* A pile, and what it has of each type of the program. */
struct inside {
	struct report_finding *finding;
	uint64_t *counts, *bytes; /* by type */
	uint64_t retained;
};

struct making {
	const struct report_facts *facts;
	struct inside piles[PILES_MAX];
	size_t pile_count;
	uint8_t *of_nodes;  /* by node: its pile, + 1; 0: not known yet; NO_PILE: none */
	uint32_t *nearest;  /* by node: the type that it belongs to, + 1; 0: not known yet */
	uint8_t *own_types; /* by type: is it the program's? */
};

static void making_deinit(struct making *making)
{
	size_t nodes = making->facts->graph->node_count;
	for (size_t i = 0; i < making->pile_count; i++) {
		mem_free(making->piles[i].counts);
		mem_free(making->piles[i].bytes);
	}
	pages_free(making->of_nodes, nodes, sizeof(*making->of_nodes));
	pages_free(making->nearest, nodes, sizeof(*making->nearest));
	mem_free(making->own_types);
}

static bool is_pile(const struct report_facts *facts, const struct report_finding *finding)
{
	uint32_t subject = finding->holder.subject;
	bool is_about_one = strcmp(finding->rule->name, "accumulation") == 0 ||
			    strcmp(finding->rule->name, "growth") == 0;
	return is_about_one && subject < facts->graph->object_count &&
	       facts_is_live(facts, subject) &&
	       facts_retained(facts, subject) >= finding->bytes / 2;
}

static int smallest_first(const void *left, const void *right)
{
	const struct inside *a = left, *b = right;
	return a->retained < b->retained ? -1 : a->retained > b->retained;
}

static enum hd_status list_piles(struct making *making, struct report *report, struct hd_error *err)
{
	const struct report_facts *facts = making->facts;
	size_t types = (size_t)facts->graph->type_count + 1;
	size_t most = SUMS_MAX / types < PILES_MAX ? SUMS_MAX / types + 1 : PILES_MAX;
	for (size_t i = 0; i < report->findings_count && making->pile_count < most; i++) {
		struct report_finding *finding = &report->findings[i];
		if (!is_pile(facts, finding))
			continue;
		struct inside *pile = &making->piles[making->pile_count++];
		*pile = (struct inside){ .finding = finding,
					 .counts = mem_calloc(types, sizeof(*pile->counts)),
					 .bytes = mem_calloc(types, sizeof(*pile->bytes)),
					 .retained =
						 facts_retained(facts, finding->holder.subject) };
		TRY_MEMORY(pile->counts && pile->bytes, err);
	}
	qsort(making->piles, making->pile_count, sizeof(*making->piles), smallest_first);
	return HD_OK;
}

static enum hd_status prepare(struct making *making, struct hd_error *err)
{
	const struct hd_graph *graph = making->facts->graph;
	making->of_nodes = pages_alloc(graph->node_count, sizeof(*making->of_nodes));
	making->nearest = pages_alloc(graph->node_count, sizeof(*making->nearest));
	making->own_types = mem_calloc((size_t)graph->type_count + 1, sizeof(*making->own_types));
	TRY_MEMORY(making->of_nodes && making->nearest && making->own_types, err);
	for (uint32_t type = 0; type < graph->type_count; type++)
		making->own_types[type] = typed_is_own(making->facts, &graph->types[type]);
	for (size_t i = making->pile_count; i-- > 0;) {
		uint32_t subject = making->piles[i].finding->holder.subject;
		making->of_nodes[subject] = (uint8_t)(i + 1);
		making->nearest[subject] = graph->type_count + 1;
	}
	return HD_OK;
}

/* The pile that a node is in, + 1, or NO_PILE; all nodes on the way to it are in the same one. */
static uint8_t pile_of(struct making *making, uint32_t node)
{
	uint32_t at = node;
	while (at != HD_NONE && !making->of_nodes[at])
		at = facts_idom(making->facts, at);
	uint8_t ret = at == HD_NONE ? NO_PILE : making->of_nodes[at];
	for (; node != at; node = facts_idom(making->facts, node))
		making->of_nodes[node] = ret;
	return ret;
}

/* The type that a node belongs to; type_count: none of the program between it and what has the pile. */
static uint32_t nearest_type(struct making *making, uint32_t node)
{
	const struct hd_graph *graph = making->facts->graph;
	uint32_t at = node, ret = graph->type_count;
	for (; at != HD_NONE; at = facts_idom(making->facts, at)) {
		uint32_t type = at < graph->object_count ? graph->node_types[at] : HD_NONE;
		if (!making->nearest[at] && type < graph->type_count && making->own_types[type])
			making->nearest[at] = type + 1;
		if (making->nearest[at])
			break;
	}
	if (at != HD_NONE)
		ret = making->nearest[at] - 1;
	for (; node != at; node = facts_idom(making->facts, node))
		making->nearest[node] = ret + 1;
	return ret;
}

static enum hd_status count_nodes(struct making *making, struct hd_error *err)
{
	const struct hd_graph *graph = making->facts->graph;
	for (uint32_t node = 0; node < graph->object_count; node++) {
		if (node % JOB_STRIDE == 0 && !job_step(making->facts->job, 0, 0))
			return fail_cancelled(err);
		if (!facts_is_live(making->facts, node))
			continue;
		uint8_t index = pile_of(making, node);
		if (index == NO_PILE)
			continue;
		struct inside *pile = &making->piles[index - 1];
		uint32_t type = nearest_type(making, node);
		pile->bytes[type] += graph_size(graph, node);
		pile->counts[type] += type == graph->node_types[node];
	}
	return HD_OK;
}

/* A pile inside of another one is a part of it. */
static void add_to_outer(struct making *making)
{
	for (size_t i = 0; i < making->pile_count; i++) {
		const struct inside *pile = &making->piles[i];
		uint32_t subject = pile->finding->holder.subject;
		size_t outer = i + 1;
		while (outer < making->pile_count &&
		       making->piles[outer].finding->holder.subject != subject)
			outer++;
		uint32_t idom = facts_idom(making->facts, subject);
		if (outer == making->pile_count && idom != HD_NONE) {
			uint8_t of = pile_of(making, idom);
			outer = of == NO_PILE ? making->pile_count : of - 1u;
		}
		if (outer <= i || outer >= making->pile_count)
			continue;
		for (uint32_t type = 0; type < making->facts->graph->type_count; type++) {
			making->piles[outer].counts[type] += pile->counts[type];
			making->piles[outer].bytes[type] += pile->bytes[type];
		}
	}
}

/* The types with most bytes, at most MADE_OF of them. */
static void choose_types(const struct making *making, const struct inside *pile,
			 struct made_of *ret)
{
	for (unsigned int i = 0; i < MADE_OF; i++) {
		uint32_t best = HD_NONE;
		for (uint32_t type = 0; type < making->facts->graph->type_count; type++) {
			if (pile->bytes[type] &&
			    (best == HD_NONE || pile->bytes[type] > pile->bytes[best]))
				best = type;
		}
		if (best == HD_NONE || pile->bytes[best] * PART_MIN < pile->retained)
			return;
		ret->parts[ret->count].type = best;
		ret->parts[ret->count].count = pile->counts[best];
		ret->parts[ret->count++].bytes = pile->bytes[best];
		pile->bytes[best] = 0;
	}
}

/* Name them, unless the finding does so already. */
static void tell_types(struct report *report, struct report_finding *finding,
		       const struct made_of *made_of)
{
	const char *list = "";
	bool is_new = false;
	for (size_t i = 0; i < made_of->count; i++) {
		const char *name = report_short_name(report, made_of->parts[i].type);
		is_new |= !strstr(finding->sentence, name);
		list = report_text(report, "%s%s%s (%s, %s)", list, i ? ", " : "", name,
				   report_number(report, made_of->parts[i].count),
				   report_bytes(report, made_of->parts[i].bytes));
	}
	if (is_new) {
		finding->sentence = report_text(report, "%s Of the program are in it: %s.",
						finding->sentence, list);
	}
}

enum hd_status made_of_find(struct report *report, struct hd_error *err)
{
	HD_CLEANUP(making) struct making making = { .facts = &report->facts };
	report->made_of = mem_calloc(report->findings_count + 1, sizeof(*report->made_of));
	TRY_MEMORY(report->made_of, err);
	TRY(list_piles(&making, report, err));
	if (!making.pile_count)
		return HD_OK;
	TRY(prepare(&making, err));
	TRY(count_nodes(&making, err));
	add_to_outer(&making);
	for (size_t i = 0; i < making.pile_count; i++) {
		struct report_finding *finding = making.piles[i].finding;
		struct made_of *made_of = &report->made_of[finding - report->findings];
		choose_types(&making, &making.piles[i], made_of);
		tell_types(report, finding, made_of);
	}
	return report->lacks_text ? fail_nomem(err) : HD_OK;
}
