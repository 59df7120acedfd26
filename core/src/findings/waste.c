/* SPDX-License-Identifier: MIT */
#include "findings/waste.h"

#include "findings/rule.h"
#include "findings/typed.h"
#include "util/alloc.h"

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

bool waste_is_explained(const struct report *report, uint32_t node)
{
	return facts_is_claimed(&report->facts, node, EXPLAINED_LEVELS) &&
	       !report_is_growing(report, node);
}

bool waste_is_told(const struct report *report, uint32_t sample, uint64_t bytes)
{
	const struct report_finding *growing = report_growing(report, sample);
	return growing && bytes < growing->bytes / 2;
}

void wastes_deinit(struct wastes *wastes)
{
	pages_free(wastes->rows, wastes->rows_capacity, sizeof(*wastes->rows));
	*wastes = (struct wastes){ 0 };
}

void waste_describe(struct report *report, const struct waste *waste, const char *what,
		    struct report_finding *ret)
{
	*ret = (struct report_finding){ .bytes = waste->bytes,
					.objects = waste->count,
					.member_type = waste->type };
	holder_find(report, waste->sample, &ret->holder);
	const char *type = report_short_name(report, waste->type), *name = ret->holder.name;
	const char *full = report_type_name(report, waste->type);
	ret->id = report_text(report, "%s:%s:%s", report->running->name, name, full);
	ret->title = report_text(report, "%s nearly empty %s in %s",
				 report_number(report, waste->count), type, name);
	ret->sentence = report_text(
		report,
		waste->count == 1 ? "%s %s in %s uses %s of its %s slots; %s are empty."
				  : "%s %s in %s use %s of their %s slots; %s are empty.",
		report_number(report, waste->count), type, name, report_number(report, waste->used),
		report_number(report, waste->room), report_bytes(report, waste->bytes));
	ret->next = report_text(report, "dumpheap -type %s", full);
	finding_count(ret, what, waste->count);
	finding_count(ret, "used", waste->used);
	finding_count(ret, "slots", waste->room);
	finding_sample(ret, waste->sample);
}
