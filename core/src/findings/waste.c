/* SPDX-License-Identifier: MIT */
/* Slots that are empty, by type and by what holds them: added up, and told. */
#include "findings/rule.h"
#include "util/alloc.h"
#include "util/bitmap.h"

#define PARTS_MAX 16u

enum hd_status wastes_add(struct wastes *wastes, size_t begin, const struct waste *one,
			  struct hd_error *err)
{
	size_t i = begin;
	while (i < wastes->rows_count &&
	       (wastes->rows[i].holder != one->holder || wastes->rows[i].type != one->type))
		i++;
	/* Types of holders are few; those that come late are counted together. */
	if (i == wastes->rows_count && i - begin >= TALLY_MAX) {
		i = begin;
	} else if (i == wastes->rows_count) {
		TRY_MEMORY(PAGES_RESERVE(wastes, rows), err);
		wastes->rows[wastes->rows_count++] =
			(struct waste){ one->holder, one->type, one->sample, 0, 0, 0, 0 };
	}
	struct waste *row = &wastes->rows[i];
	row->count++;
	row->used += one->used;
	row->room += one->room;
	row->bytes += one->bytes;
	return HD_OK;
}

uint64_t waste_own_bytes(const struct report_facts *facts, uint32_t node)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t begin = csr_begin(forward, node), end = csr_begin(forward, node + 1);
	uint64_t bytes = graph_size(facts->graph, node);
	end = end - begin > PARTS_MAX ? begin + PARTS_MAX : end;
	for (; begin < end; begin++) {
		uint32_t part = forward->targets[begin];
		if (part < facts->graph->object_count && facts_idom(facts, part) == node &&
		    type_is_array(facts_type(facts, part)))
			bytes += graph_size(facts->graph, part);
	}
	return bytes;
}

bool waste_is_explained(const struct report *report, uint32_t node)
{
	if (bitmap_has(report->wasted, node))
		return true;
	return facts_is_claimed(&report->facts, node, EXPLAINED_LEVELS) &&
	       !report_is_growing(report, node);
}

bool waste_is_told(const struct report *report, uint32_t sample, uint64_t bytes)
{
	const struct report_finding *growing = report_growing(report, sample);
	bool is_much = bytes >= 4 * MEGABYTE && facts_permille(&report->facts, bytes) >= 100;
	return growing && bytes < growing->bytes / 2 && !is_much;
}

void wastes_deinit(struct wastes *wastes)
{
	pages_free(wastes->rows, wastes->rows_capacity, sizeof(*wastes->rows));
	*wastes = (struct wastes){ 0 };
}

static enum hd_status tell_waste(struct report *report, const struct waste *waste,
				 const struct waste_telling *how, struct hd_error *err)
{
	struct report_finding finding = { .bytes = waste->bytes,
					  .objects = waste->count,
					  .member_type = waste->type };
	if (!finding_weigh(report, &how->telling, &finding) ||
	    waste_is_told(report, waste->sample, waste->bytes))
		return HD_OK;
	holder_find(report, waste->sample, &finding.holder);
	if (how->has_blamed && !finding.holder.blamed_type)
		return HD_OK;
	finding_count(&finding, how->counts[0], waste->count);
	finding_count(&finding, how->counts[1], waste->used);
	finding_count(&finding, how->counts[2], waste->room);
	finding_sample(&finding, waste->sample);
	return finding_tell(report, &finding, &how->telling, NULL, err);
}

enum hd_status wastes_tell(struct report *report, const struct wastes *wastes,
			   const struct waste_telling *how, struct hd_error *err)
{
	for (size_t i = 0; i < wastes->rows_count; i++) {
		uint64_t bytes = wastes->rows[i].bytes;
		rule_met(report, how->is_met_in_bytes ? bytes / MEGABYTE
						      : facts_permille(&report->facts, bytes) / 10);
		TRY(tell_waste(report, &wastes->rows[i], how, err));
	}
	return HD_OK;
}
