/* SPDX-License-Identifier: MIT */
/* Collections whose arrays are nearly empty: doc/report.md 4.12. */
#include <inttypes.h>

#include "analysis/report/counted.h"
#include "analysis/report/rule.h"
#include "analysis/report/rules.h"
#include "analysis/report/typed.h"
#include "inspect/member.h"
#include "util/alloc.h"

#define ROOM_MIN     4u
#define CLAIM_LEVELS 16u

/* The collections of one type that objects of one type have. */
struct waste {
	uint32_t holder, type, sample;
	uint64_t count, used, room, bytes;
};

struct wastes {
	struct waste *rows;
	size_t rows_count, rows_capacity;
};

static enum hd_status add_waste(struct wastes *wastes, size_t begin, const struct waste *one,
				struct hd_error *err)
{
	size_t i = begin;
	while (i < wastes->rows_count && wastes->rows[i].holder != one->holder)
		i++;
	/* Types of holders are few; those that come late are counted together. */
	if (i == wastes->rows_count && i - begin >= TALLY_MAX) {
		i = begin;
	} else if (i == wastes->rows_count) {
		if (!PAGES_RESERVE(wastes, rows))
			return fail_nomem(err);
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

static bool is_wasteful(struct report_facts *facts, uint32_t node, struct waste *ret)
{
	struct counted counted;
	if (!counted_read(facts, node, &counted) || !counted.has_count || !counted.has_room ||
	    counted.room <= ROOM_MIN || counted.count * 4 >= counted.room ||
	    counted_turns(&counted) || facts_is_claimed(facts, node, CLAIM_LEVELS))
		return false;
	uint32_t idom = facts_idom(facts, node);
	ret->holder = idom == HD_NONE ? HD_NONE : facts->graph->node_types[idom];
	ret->type = facts->graph->node_types[node];
	ret->sample = node;
	ret->used = counted.count;
	ret->room = counted.room;
	ret->bytes = (counted.room - counted.count) * counted.slot;
	/* Hostile counts: not more than the array has. */
	if (counted.array == HD_NONE || ret->bytes > graph_size(facts->graph, counted.array))
		return false;
	return facts->classes[node] == CLASS_PROCESS;
}

static enum hd_status collect_wastes(struct report *report, struct wastes *wastes,
				     struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		struct typed_nodes all = typed_nodes(facts, type);
		const struct counted_type *counted =
			all.count ? counted_type_of(facts, all.nodes[0]) : NULL;
		size_t begin = wastes->rows_count;
		struct waste waste;
		for (uint32_t i = 0; counted && i < all.count; i++) {
			if (is_wasteful(facts, all.nodes[i], &waste))
				TRY(add_waste(wastes, begin, &waste, err));
		}
	}
	return HD_OK;
}

static enum hd_status add_waste_finding(struct report *report, const struct waste *waste,
					struct hd_error *err)
{
	uint64_t permille = facts_permille(&report->facts, waste->bytes);
	struct report_finding finding = { .severity = permille >= 100 && waste->bytes >= MEGABYTE
							      ? SEVERITY_MEDIUM
							      : SEVERITY_LOW,
					  .bytes = waste->bytes,
					  .objects = waste->count,
					  .member_type = waste->type };
	holder_find(report, waste->sample, &finding.holder);
	const char *type = report_short_name(report, waste->type);
	const char *name = finding.holder.name;
	finding.id = report_text(report, "collections:%s:%s", name,
				 report_type_name(report, waste->type));
	finding.title =
		report_text(report, "%" PRIu64 " nearly empty %s in %s", waste->count, type, name);
	finding.sentence = report_text(report,
				       "%" PRIu64 " %s in %s use %" PRIu64 " of their %" PRIu64
				       " slots; %s are empty.",
				       waste->count, type, name, waste->used, waste->room,
				       report_bytes(report, waste->bytes));
	finding.look_at = report_text(report, "the capacity that %s is made with", name);
	finding.next =
		report_text(report, "dumpheap -type %s", report_type_name(report, waste->type));
	finding_count(&finding, "collections", waste->count);
	finding_count(&finding, "used", waste->used);
	finding_count(&finding, "slots", waste->room);
	finding_sample(&finding, waste->sample);
	return finding_add(report, &finding, err);
}

static enum hd_status find_wastes(struct report *report, struct hd_error *err)
{
	struct wastes wastes = { 0 };
	enum hd_status status = collect_wastes(report, &wastes, err);
	for (size_t i = 0; status == HD_OK && i < wastes.rows_count; i++) {
		uint64_t permille = facts_permille(&report->facts, wastes.rows[i].bytes);
		rule_met(report, permille / 10);
		if (permille >= 10)
			status = add_waste_finding(report, &wastes.rows[i], err);
	}
	pages_free(wastes.rows, wastes.rows_capacity, sizeof(*wastes.rows));
	return status;
}

const struct report_rule collections_rule = {
	.name = "collections",
	.threshold =
		"collections filled under 25 %, with empty slots of 10 % of the live heap and 1 MB",
	.needs = RULE_FIELDS,
	.find = find_wastes,
};
