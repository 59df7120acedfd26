/* SPDX-License-Identifier: MIT */
#include "findings/inner_growth.h"

#include <stdlib.h>

#include "findings/typed.h"
#include "gc/heap.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"
#include "util/sort.h"

#define LEVELS_MAX 64u
#define TYPES_MAX  16u
#define DEAD_SHARE 10u
/* So many must have come since the last collection: right after it there is no garbage of anything. */
#define YOUNG_MIN 10u
#define OWN       1u
#define NOT_OWN   2u

/* The young objects of some types that one subject retains. */
struct inner_types {
	uint32_t node;
	size_t index; /* of the subject */
	uint32_t types[TYPES_MAX];
	uint64_t young[TYPES_MAX][2]; /* of generations 0 and 1 */
	uint64_t parts[TYPES_MAX];
	size_t count;
};

struct finding_inner {
	const struct report_facts *facts;
	struct inner_types *rows; /* by node */
	size_t rows_count;
	uint64_t *is_subject; /* bitmap */
	uint8_t *own;         /* by type: 0, as long as nobody has asked */
};

ORDER_BY(compare_rows, struct inner_types, node)

static bool is_own(struct finding_inner *finding, uint32_t node)
{
	uint32_t type = finding->facts->graph->node_types[node];
	if (type >= finding->facts->graph->type_count)
		return false;
	if (!finding->own[type]) {
		const struct graph_type *row = &finding->facts->graph->types[type];
		finding->own[type] = type_is_own(row) && !type_is_array(row) ? OWN : NOT_OWN;
	}
	return finding->own[type] == OWN;
}

static void add_young(const struct report_facts *facts, struct inner_types *row, uint32_t node,
		      unsigned int generation)
{
	size_t i = 0;
	uint32_t type = facts->graph->node_types[node];
	while (i < row->count && row->types[i] != type)
		i++;
	if (i == TYPES_MAX)
		return;
	if (i == row->count)
		row->types[row->count++] = type;
	row->young[i][generation]++;
	if (generation == GENERATION_0)
		row->parts[i] |= (uint64_t)1 << facts_young_part(facts, node);
}

/* Count a young object for all subjects that retain it. */
static void add_above(struct finding_inner *finding, uint32_t node, unsigned int generation)
{
	uint32_t at = facts_idom(finding->facts, node);
	for (unsigned int i = 0; i < LEVELS_MAX && at != HD_NONE; i++) {
		size_t row = bitmap_has(finding->is_subject, at)
				     ? ROWS_FROM(finding->rows, finding->rows_count, node, at)
				     : finding->rows_count;
		for (; row < finding->rows_count && finding->rows[row].node == at; row++)
			add_young(finding->facts, &finding->rows[row], node, generation);
		at = facts_idom(finding->facts, at);
	}
}

static enum hd_status count_young(struct finding_inner *finding, struct hd_error *err)
{
	const struct report_facts *facts = finding->facts;
	uint64_t done = 0;
	for (size_t run = 0; run < facts->runs_count; run++) {
		unsigned int generation = facts->runs[run].generation;
		uint32_t end = run + 1 < facts->runs_count ? facts->runs[run + 1].first
							   : facts->graph->object_count;
		if (generation > GENERATION_1)
			continue;
		for (uint32_t node = facts->runs[run].first; node < end; node++) {
			if (done++ % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
				return fail_cancelled(err);
			if (facts_is_live(facts, node) && is_own(finding, node))
				add_above(finding, node, generation);
		}
	}
	return HD_OK;
}

/* The type with most young objects; all others of it that are alive count as old ones of the subject, as far as it has so many. */
static struct inner_growth largest(const struct report_facts *facts, const struct inner_types *row)
{
	struct inner_growth ret = { .type = HD_NONE };
	size_t best = 0;
	for (size_t i = 1; i < row->count; i++) {
		if (row->young[i][0] + row->young[i][1] > row->young[best][0] + row->young[best][1])
			best = i;
	}
	if (!row->count)
		return ret;
	uint64_t all = facts_live_count(facts, row->types[best]);
	uint64_t retained = facts->dominators->retained_count[row->node];
	ret.type = row->types[best];
	ret.ages.of[GENERATION_0] = row->young[best][0];
	ret.ages.of[GENERATION_1] = row->young[best][1];
	ret.ages.parts = row->parts[best];
	ret.ages.all = all < retained ? all : retained;
	return ret;
}

static void finding_inner_deinit(struct finding_inner *finding)
{
	if (!finding->facts)
		return;
	mem_free(finding->rows);
	mem_free(finding->own);
	bitmap_free(finding->is_subject, finding->facts->graph->node_count);
}

enum hd_status inner_growth_find(const struct report_facts *facts, const uint32_t *subjects,
				 size_t count, struct inner_growth *ret, struct hd_error *err)
{
	HD_CLEANUP(finding_inner) struct finding_inner finding = { .facts = facts };
	for (size_t i = 0; i < count; i++)
		ret[i] = (struct inner_growth){ .type = HD_NONE };
	if (!facts->has_generations || !facts->heap)
		return HD_OK;
	finding.rows = mem_calloc(count + 1, sizeof(*finding.rows));
	finding.own = mem_calloc((size_t)facts->graph->type_count + 1, 1);
	finding.is_subject = bitmap_alloc(facts->graph->node_count);
	TRY_MEMORY(finding.rows && finding.own && finding.is_subject, err);
	for (size_t i = 0; i < count; i++) {
		if (subjects[i] >= facts->graph->object_count)
			continue;
		finding.rows[finding.rows_count].node = subjects[i];
		finding.rows[finding.rows_count++].index = i;
		(void)bitmap_add(finding.is_subject, subjects[i]);
	}
	if (finding.rows_count) {
		qsort(finding.rows, finding.rows_count, sizeof(*finding.rows), compare_rows);
		TRY(count_young(&finding, err));
	}
	for (size_t i = 0; i < finding.rows_count; i++)
		ret[finding.rows[i].index] = largest(facts, &finding.rows[i]);
	return HD_OK;
}

/* Are its objects mostly members of one collection: of the program, or nodes of elements of such types? */
static bool is_of_members(const struct graph_type *type)
{
	return type_is_own(type) ||
	       (type_begins(type, "System.Collections.") && type_contains(type, "<"));
}

/* Strings and arrays are garbage for many reasons. */
static bool is_plain(const struct graph_type *type)
{
	return type_is_array(type) || type_is_class(type, "System.String");
}

enum growth_drops growth_drops(const struct report_facts *facts, uint32_t type,
			       const struct member_ages *ages)
{
	if (!facts->heap || !facts->is_complete || type >= facts->graph->type_count)
		return DROPS_UNKNOWN;
	const struct graph_type *row = &facts->graph->types[type];
	uint64_t live = facts_live_count(facts, type), young = ages->of[GENERATION_0];
	uint64_t dead = row->count > live ? row->count - live : 0;
	if (dead * DEAD_SHARE > young)
		return is_plain(row) ? DROPS_UNKNOWN : DROPS_SOME;
	return young >= YOUNG_MIN && is_of_members(row) ? DROPS_NOTHING : DROPS_UNKNOWN;
}
