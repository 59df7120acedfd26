/* SPDX-License-Identifier: MIT */
/* Makes one finding of piles that belong together. */
#include "findings/judged_pile.h"

#include "findings/accumulation.h"
#include "findings/rule.h"
#include "util/alloc.h"

#define REFERRERS_MAX 64u
/* Counts of twins differ by one in this many. */
#define TWINS_APART 100u

static bool is_same_pile_name(const struct report_finding *a, const struct report_finding *b)
{
	return a->rule == b->rule && a->member_type == b->member_type &&
	       strcmp(a->holder.name, b->holder.name) == 0;
}

static void add_young(struct judged *judged, struct report_finding *into,
		      const struct growth *growth)
{
	judged->growth.young += growth->young;
	judged->growth.all += growth->all;
	into->growth.young = judged->growth.young;
	into->growth.all = judged->growth.all;
}

/* Is it what other objects are made of: a string, or an array? */
static bool is_content(const struct report_facts *facts, uint32_t type)
{
	const struct graph_type *row = &facts->graph->types[type];
	return type_is_array(row) || type_is_class(row, "System.String");
}

/* Are they one finding?  With @p is_strict, strings and arrays are not joined with what only holds such. */
static bool is_one_pile(const struct report *report, const struct judgement *judgement,
			const struct report_finding *findings, const size_t of[2], bool is_strict)
{
	uint32_t first = judgement->rows[of[0]].pile->type,
		 type = judgement->rows[of[1]].pile->type;
	bool is_mixed = first != type &&
			(is_content(&report->facts, first) || is_content(&report->facts, type));
	return is_same_pile_name(&findings[of[0]], &findings[of[1]]) && !(is_strict && is_mixed);
}

/* Which of the piles are parts of others of their name?  Their bytes count there. */
static enum hd_status find_parts(const struct report *report, struct report_finding *findings,
				 struct judgement *judgement, struct hd_error *err)
{
	struct grouped_pile *piles = judgement->piles;
	for (size_t i = 0; i < judgement->count; i++) {
		piles[i].pile = judgement->rows[i].pile;
		while (!is_same_pile_name(&findings[piles[i].group], &findings[i]))
			piles[i].group++;
	}
	TRY(piles_find_parts(&report->facts, piles, judgement->count, err));
	for (size_t i = 0; i < judgement->count; i++) {
		if (piles[i].is_part)
			findings[i].bytes = findings[i].objects = 0;
		judgement->rows[i].members = piles[i].members;
	}
	return HD_OK;
}

/* Findings of one name and type are one. */
static void fold_same(struct report *report, size_t begin, struct judgement *judgement,
		      bool is_strict)
{
	struct report_finding *findings = report->findings + begin;
	size_t kept = 0;
	for (size_t i = 0; i < judgement->count; i++) {
		struct report_finding *row = &findings[i];
		const struct judged *judged = &judgement->rows[i];
		size_t same = 0;
		while (same < kept && !is_one_pile(report, judgement, findings,
						   (const size_t[]){ same, i }, is_strict))
			same++;
		if (same == kept) {
			judgement->rows[kept] = *judged;
			findings[kept++] = *row;
			continue;
		}
		struct report_finding *into = &findings[same];
		judgement->rows[same].members += judged->members;
		if (judged->members)
			add_young(&judgement->rows[same], into, &judged->growth);
		into->bytes += row->bytes;
		into->objects += row->objects;
		into->is_limited |= row->is_limited;
		into->severity = row->severity < into->severity ? row->severity : into->severity;
	}
	report->findings_count = begin + kept;
	judgement->count = kept;
}

/* Does a live object of the pile's type, or of what its nodes hold, refer to @p node? */
static bool is_of_member(const struct report_facts *facts, const struct csr *reverse,
			 const struct judged *whole, uint32_t node)
{
	uint64_t begin = csr_begin(reverse, node), end = csr_begin(reverse, node + 1);
	for (uint64_t i = begin; i < end && i < begin + REFERRERS_MAX; i++) {
		uint32_t from = reverse->targets[i];
		if (from >= facts->graph->object_count || !facts_is_live(facts, from))
			continue;
		uint32_t type = facts->graph->node_types[from];
		if (type == whole->pile->type || type == whole->type)
			return true;
	}
	return false;
}

/*
 * Strings and arrays that something else has as well, an index for example, are dominated next to the objects that they
 * belong to, and not by these.
 */
static bool is_content_of(const struct report *report, const struct csr *reverse,
			  const struct judged *judged, const struct judged *whole)
{
	const struct report_facts *facts = &report->facts;
	const struct pile *pile = judged->pile;
	size_t found = 0;
	if (!is_content(facts, pile->type) || is_content(facts, whole->pile->type))
		return false;
	for (size_t i = 0; i < pile->sample_count; i++)
		found += is_of_member(facts, reverse, whole, pile->sample[i]);
	return 2 * found > pile->sample_count;
}

/* Collections with as many elements as each other have one thing each for the same ones: an entity and its row. */
static bool is_twin_of(const struct judged *judged, const struct judged *whole)
{
	const struct growth *a = &judged->growth, *b = &whole->growth;
	uint64_t first = a->has_count ? a->count : judged->members;
	uint64_t second = b->has_count ? b->count : whole->members;
	uint64_t least = first < second ? first : second;
	uint64_t apart = first < second ? second - first : first - second;
	return least >= MEMBERS_MIN && apart <= least / TWINS_APART;
}

/* Which of two twins belongs to the other one: what others are made of, and else the smaller one. */
static bool is_lesser_twin(const struct report *report, const struct judgement *judgement,
			   const struct report_finding *findings, size_t index, size_t other)
{
	bool is_made_of = is_content(&report->facts, judgement->rows[index].pile->type);
	if (is_made_of != is_content(&report->facts, judgement->rows[other].pile->type))
		return is_made_of;
	const struct report_finding *one = &findings[index], *whole = &findings[other];
	return whole->bytes > one->bytes || (whole->bytes == one->bytes && other < index);
}

/* The finding of the same field that this one belongs to; judgement->count: there is none. */
static size_t whole_of_finding(const struct report *report, const struct judgement *judgement,
			       const struct csr *reverse, const struct report_finding *findings,
			       size_t index)
{
	const struct report_finding *one = &findings[index];
	for (size_t i = 0; i < judgement->count; i++) {
		if (i == index || !one->holder.blamed_field ||
		    strcmp(findings[i].holder.name, one->holder.name) != 0)
			continue;
		const struct judged *judged = &judgement->rows[index], *whole = &judgement->rows[i];
		if (is_content_of(report, reverse, judged, whole) ||
		    (is_twin_of(judged, whole) &&
		     is_lesser_twin(report, judgement, findings, index, i)))
			return i;
	}
	return judgement->count;
}

/* Are the bytes of a pile among those of the other one, because a member of that retains it? */
static bool is_inside_pile(const struct report_facts *facts, const struct pile *pile,
			   const struct pile *whole)
{
	uint32_t at = pile->at;
	for (uint32_t i = 0; i < PATH_STEPS_MAX && at < facts->graph->object_count; i++) {
		if (at == whole->whole || facts->graph->node_types[at] == whole->type)
			return true;
		if (at == whole->at)
			return false;
		at = facts_idom(facts, at);
	}
	return false;
}

static void fold_into(const struct report_facts *facts, struct report_finding *into,
		      struct judged *whole, const struct report_finding *part,
		      const struct judged *judged)
{
	if (!is_inside_pile(facts, judged->pile, whole->pile)) {
		into->bytes += part->bytes;
		into->objects += part->objects;
	}
	also_explains(&into->explains, part->id);
	if (part->severity < into->severity) {
		into->severity = part->severity;
		into->growth = whole->growth = part->growth;
	}
}

/* Piles of one field that belong together are one finding, whatever their types are. */
static enum hd_status fold_related(struct report *report, size_t begin, struct judgement *judgement,
				   struct hd_error *err)
{
	struct report_finding *findings = report->findings + begin;
	HD_FREE size_t *wholes = mem_calloc(judgement->count + 1, sizeof(*wholes));
	const struct csr *reverse;
	size_t kept = 0;
	TRY_MEMORY(wholes, err);
	TRY(graph_reverse(report->facts.graph, report->facts.job, &reverse, err));
	for (size_t i = 0; i < judgement->count; i++)
		wholes[i] = whole_of_finding(report, judgement, reverse, findings, i);
	for (size_t i = 0; i < judgement->count; i++) {
		size_t whole = wholes[i];
		/* This ends: no finding belongs to itself. */
		while (whole != judgement->count && wholes[whole] != judgement->count)
			whole = wholes[whole];
		if (whole != judgement->count) {
			fold_into(&report->facts, &findings[whole], &judgement->rows[whole],
				  &findings[i], &judgement->rows[i]);
		}
	}
	for (size_t i = 0; i < judgement->count; i++) {
		if (wholes[i] != judgement->count)
			continue;
		judgement->rows[kept] = judgement->rows[i];
		findings[kept++] = findings[i];
	}
	report->findings_count = begin + kept;
	judgement->count = kept;
	return HD_OK;
}

/* A fact that a rule before has told of the connections, or that these findings have; NULL: none. */
static struct report_finding *connections_before(struct report *report, size_t end)
{
	for (size_t i = 0; i < end; i++) {
		if (strncmp(report->findings[i].id, OF_CONNECTIONS, strlen(OF_CONNECTIONS)) == 0)
			return &report->findings[i];
	}
	return NULL;
}

static void describe_connections(struct report *report, struct report_finding *finding)
{
	const char *title = finding->title;
	uint64_t count = owners_count_sockets(&report->facts);
	const char *sockets =
		report_text(report, count == 1 ? "%s socket is open" : "%s sockets are open",
			    report_number(report, count));
	finding->id = OF_CONNECTIONS;
	finding->title = sockets;
	finding->sentence = report_text(report, "%s. Most of what their connections keep: %s, %s.",
					sockets, title, report_bytes(report, finding->bytes));
	finding->look_at = "how many connections are open, if it is more than you expect";
}

void judged_piles_fold_connections(struct report *report, size_t begin,
				   const struct judgement *judgement)
{
	struct report_finding *findings = report->findings + begin;
	size_t kept = 0;
	for (size_t i = 0; i < judgement->count; i++) {
		struct report_finding row = findings[i];
		bool is_fact = judgement->rows[i].is_connection && row.severity == SEVERITY_INFO;
		struct report_finding *before =
			is_fact ? connections_before(report, begin + kept) : NULL;
		if (before) {
			also_explains(&before->explains, row.id);
			continue;
		}
		if (is_fact && owners_count_sockets(&report->facts))
			describe_connections(report, &row);
		findings[kept++] = row;
	}
	report->findings_count = begin + kept;
}

enum hd_status judged_piles_fold(struct report *report, size_t begin, struct judgement *judgement,
				 struct hd_error *err)
{
	TRY(find_parts(report, report->findings + begin, judgement, err));
	fold_same(report, begin, judgement, true);
	TRY(fold_related(report, begin, judgement, err));
	fold_same(report, begin, judgement, false);
	return HD_OK;
}
