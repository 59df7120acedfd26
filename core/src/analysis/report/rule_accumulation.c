/* SPDX-License-Identifier: MIT */
/* Many objects of one type below one object or collection: doc/report.md 4.1. */
#include <stdlib.h>

#include "analysis/report/accumulation.h"
#include "analysis/report/counted.h"
#include "analysis/report/growth.h"
#include "analysis/report/owners.h"
#include "analysis/report/rule.h"
#include "analysis/report/rules.h"
#include "inspect/member.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"

#define MEMBERS_MIN       256u
#define LARGE_MEMBERS_MIN 16u
/* That a collection grows is more than its count says. */
#define GROWING_MEMBERS_MIN 64u
#define LARGE_MEMBER        ((uint64_t)64 << 10)
#define CLAIM_LEVELS        10u
/* Without a sign of growth, less is not worth a second dump. */
#define UNKNOWN_MIN ((uint64_t)1 << 20)

/* A group with what is known of its owner. */
struct judged {
	const struct pile *pile;
	struct owners owners;
	struct growth growth;
	uint32_t type;  /* of what piles up: what the nodes of a collection hold */
	uint64_t limit; /* that the owner has */
	bool has_limit;
	enum root_class root;
};

static bool is_explained(struct report *report, const struct pile *pile)
{
	const struct report_facts *facts = &report->facts;
	size_t claimed = 0;
	for (size_t i = 0; i < pile->sample_count; i++)
		claimed += facts_is_claimed(facts, pile->sample[i], 1);
	bool is_inside = pile->at != HD_NONE && facts_is_claimed(facts, pile->at, CLAIM_LEVELS);
	return is_inside || 2 * claimed >= pile->sample_count;
}

/* What explains it also explains this one. */
static void note_explained(struct report *report, const struct pile *pile, const char *id)
{
	for (size_t i = 0; i < report->findings_count; i++) {
		struct report_finding *finding = &report->findings[i];
		if (finding->member_type == pile->type) {
			also_explains(&finding->explains, id);
			return;
		}
	}
}

/* Are there so few members that they may all be meant to be there? */
static bool is_small(const struct judged *judged)
{
	const struct pile *pile = judged->pile;
	bool grew = judged->growth.state == GROWTH_GROWS && judged->growth.has_version;
	if (grew && pile->count >= GROWING_MEMBERS_MIN && pile->bytes >= UNKNOWN_MIN)
		return false;
	return pile->count < MEMBERS_MIN &&
	       !(pile->count >= LARGE_MEMBERS_MIN && pile->bytes / pile->count >= LARGE_MEMBER);
}

static enum severity severity_of_pile(const struct report *report, const struct judged *judged)
{
	const struct report_facts *facts = &report->facts;
	const struct pile *pile = judged->pile;
	uint64_t permille = facts_permille(facts, pile->bytes);
	if (judged->root != CLASS_PROCESS)
		return SEVERITY_INFO;
	if (judged->growth.state == GROWTH_TURNS || judged->has_limit)
		return SEVERITY_INFO;
	if (is_small(judged))
		return SEVERITY_LOW;
	if (judged->growth.state == GROWTH_GROWS && permille >= 200)
		return judged->growth.has_version ? SEVERITY_HIGH : SEVERITY_MEDIUM;
	if (judged->growth.state == GROWTH_IDLE)
		return SEVERITY_LOW;
	return permille >= 100 && pile->bytes >= UNKNOWN_MIN ? SEVERITY_MEDIUM : SEVERITY_LOW;
}

static const char *meaning(struct report *report, const struct judged *judged)
{
	switch (judged->growth.state) {
	case GROWTH_GROWS:
		return judged->growth.has_version
			       ? report_text(
					 report,
					 "nothing was ever removed, and %s are younger than the "
					 "last collection",
					 report_number(report, judged->growth.young))
			       : report_text(report,
					     "%s are younger than the last collection, so it still "
					     "grows",
					     report_number(report, judged->growth.young));
	case GROWTH_TURNS:
		return "elements come and go";
	case GROWTH_IDLE:
		return "none of them is younger than the last collection: a large table, which does "
		       "not grow now";
	default:
		return report_text(
			report,
			"one dump cannot tell whether it still grows (%s); take a second "
			"one later and compare",
			judged->growth.reason ? judged->growth.reason : "no growth seen");
	}
}

/* The object whose path names the owner: the collection, or what dominates the members. */
static uint32_t subject_of(const struct judged *judged)
{
	if (judged->owners.count)
		return judged->owners.rows[0].node;
	return judged->pile->at != HD_NONE ? judged->pile->at : judged->pile->sample[0];
}

static void describe_pile(struct report *report, const struct judged *judged,
			  struct report_finding *finding)
{
	const struct pile *pile = judged->pile;
	const char *member = report_short_name(report, judged->type);
	const char *name = finding->holder.name;
	const char *count = report_number(report, pile->count);
	const char *by = pile->at == HD_NONE && judged->owners.count == 2
				 ? " (two collections have them)"
				 : "";
	const char *through = pile->is_chain ? " in one chain" : "";
	finding->title = report_text(report, "%s %s in %s", count, member, name);
	finding->sentence = report_text(
		report, "%s holds %s objects of type %s%s%s: %s, %s of the live heap; %s.", name,
		count, member, through, by, report_bytes(report, pile->bytes),
		report_share(report, pile->bytes), meaning(report, judged));
	if (judged->has_limit) {
		finding->sentence = report_text(
			report, "%s holds %s objects of type %s (%s); it has a limit, %s.", name,
			count, member, report_bytes(report, pile->bytes),
			report_number(report, judged->limit));
	}
	finding->look_at =
		report_text(report, "who adds to %s, and when something leaves it", name);
	finding->next =
		report_text(report, "gcroot -type %s", report_type_name(report, judged->type));
}

static enum hd_status judge_pile(struct report *report, const struct pile *pile,
				 struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct judged judged = { .pile = pile };
	owners_find(facts, pile->at, pile->sample, pile->sample_count, &judged.owners);
	judged.type = owners_item_type(facts, pile->type, pile->sample, pile->sample_count);
	judged.growth = growth_of(facts, &pile->ages, judged.owners.rows, judged.owners.count);
	uint32_t subject = subject_of(&judged);
	judged.root = (enum root_class)facts->classes[pile->sample[0]];
	judged.has_limit = counted_limit(facts, subject, &judged.limit);
	struct report_finding finding = { .severity = severity_of_pile(report, &judged),
					  .bytes = pile->bytes,
					  .objects = pile->objects,
					  .member_type = judged.type,
					  .growth = judged.growth,
					  .is_limited = pile->is_limited };
	holder_find(report, subject, &finding.holder);
	finding.id = report_text(report, "accumulation:%s:%s", finding.holder.name,
				 report_type_name(report, judged.type));
	rule_met(report, facts_permille(facts, pile->bytes) / 10);
	if (is_explained(report, pile)) {
		note_explained(report, pile, finding.id);
		return HD_OK;
	}
	if (judged.owners.is_guess && judged.owners.count)
		finding.confidence = confidence_less(finding.confidence);
	if (!judged.growth.has_version)
		finding.confidence = confidence_less(finding.confidence);
	describe_pile(report, &judged, &finding);
	finding_count(&finding, "members", pile->count);
	for (size_t i = 0; i < pile->sample_count; i++)
		finding_sample(&finding, pile->sample[i]);
	if (finding.growth.state == GROWTH_GROWS && pile->at != HD_NONE)
		facts_claim(facts, subject);
	return finding_add(report, &finding, err);
}

static bool is_same_pile_name(const struct report_finding *a, const struct report_finding *b)
{
	return a->rule == b->rule && a->member_type == b->member_type &&
	       strcmp(a->holder.name, b->holder.name) == 0;
}

/* Findings of one name and type are one: the segments of a queue, the levels of a tree. */
static void fold_same(struct report *report, size_t begin)
{
	size_t kept = begin;
	for (size_t i = begin; i < report->findings_count; i++) {
		struct report_finding *row = &report->findings[i];
		size_t same = begin;
		while (same < kept && !is_same_pile_name(&report->findings[same], row))
			same++;
		if (same == kept) {
			report->findings[kept++] = *row;
			continue;
		}
		struct report_finding *into = &report->findings[same];
		if (into->holder.subject != row->holder.subject) {
			into->bytes += row->bytes;
			into->objects += row->objects;
		}
		into->severity = row->severity < into->severity ? row->severity : into->severity;
	}
	report->findings_count = kept;
}

static enum hd_status find_accumulations(struct report *report, struct hd_error *err)
{
	struct piles piles;
	size_t begin = report->findings_count;
	TRY(piles_find(&report->facts, facts_limit(&report->facts), &piles, err));
	enum hd_status status = HD_OK;
	for (size_t i = 0; status == HD_OK && i < piles.rows_count; i++)
		status = judge_pile(report, &piles.rows[i], err);
	if (piles.is_limited)
		rule_limited(report);
	fold_same(report, begin);
	piles_deinit(&piles);
	return status;
}

const struct report_rule accumulation_rule = {
	.name = "accumulation",
	.threshold = "256 objects of one type with 10 % of the live heap, and at least 1 MB",
	.find = find_accumulations,
};
