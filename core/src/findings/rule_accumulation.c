/* SPDX-License-Identifier: MIT */
/* Many objects of one type below one object or collection: doc/report.md 4.1. */

#include "findings/accumulation.h"
#include "findings/comparison.h"
#include "findings/rule.h"
#include "util/alloc.h"
#include "util/job.h"

#define MEMBERS_MIN       256u
#define LARGE_MEMBERS_MIN 16u
/* Growth is stronger evidence than a count, so fewer members are enough. */
#define GROWING_MEMBERS_MIN 64u
#define LARGE_MEMBER        ((uint64_t)64 << 10)
#define CLAIM_LEVELS        10u
#define AWAIT_LEVELS        16u
#define PATH_STEPS_MAX      1000000u
#define REFERRERS_MAX       64u
/* Counts of twins differ by one in this many. */
#define TWINS_APART 100u
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
	bool is_of_main; /* an async method that Main waits for holds it: as long as the process */
	enum root_class root;
	uint64_t members; /* of all piles of its name */
};

/* The piles that became findings, in their order. */
struct judgement {
	struct judged *rows;
	struct grouped_pile *piles; /* by name */
	size_t count;
};

/* Is it the box of the async Main, or of a method that it awaits? */
static bool does_main_await(const struct report_facts *facts, uint32_t box)
{
	for (unsigned int i = 0; i < AWAIT_LEVELS && box != HD_NONE; i++) {
		const struct graph_type *type = facts_type(facts, box);
		if (!type_contains(type, "+AsyncStateMachineBox<"))
			return false;
		if (type_contains(type, "<Main>"))
			return true;
		box = facts_fact_node(facts, box, FACT_TASK_NEXT);
	}
	return false;
}

static bool is_held_by_main(const struct report_facts *facts, uint32_t node)
{
	const struct graph_type *last = NULL; /* that is not the one of a box */
	for (uint32_t i = 0; i < PATH_STEPS_MAX && node != HD_NONE; i++) {
		const struct graph_type *type = facts_type(facts, node);
		if (type != last && type_contains(type, "+AsyncStateMachineBox<")) {
			if (does_main_await(facts, node))
				return true;
		} else {
			last = type;
		}
		node = path_before(&facts->paths, node);
	}
	return false;
}

static bool is_explained(struct report *report, const struct pile *pile)
{
	const struct report_facts *facts = &report->facts;
	size_t claimed = 0;
	for (size_t i = 0; i < pile->sample_count; i++)
		claimed += facts_is_claimed(facts, pile->sample[i], 1);
	bool is_inside = pile->at != HD_NONE && facts_is_claimed(facts, pile->at, CLAIM_LEVELS);
	return is_inside || 2 * claimed >= pile->sample_count;
}

/* The finding that explains the pile also explains this one. */
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

/* Are there so few members that they may all be meant to be there?  Not if they were put in one by one lately. */
static bool is_small(const struct judged *judged)
{
	const struct pile *pile = judged->pile;
	const struct growth *growth = &judged->growth;
	bool is_new = growth->state == GROWTH_UNKNOWN && 2 * growth->young >= growth->all;
	bool grew = growth->has_version && growth->version >= growth->count &&
		    (growth->state == GROWTH_GROWS || is_new);
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
	if (judged->root != CLASS_PROCESS && !judged->is_of_main)
		return SEVERITY_INFO;
	if (judged->growth.state == GROWTH_TURNS || judged->has_limit)
		return SEVERITY_INFO;
	if (is_small(judged))
		return SEVERITY_LOW;
	/* A program that does one job holds in Main what the job needs. */
	if (judged->is_of_main) {
		return judged->growth.state == GROWTH_GROWS && permille >= 200 ? SEVERITY_MEDIUM
									       : SEVERITY_LOW;
	}
	if (judged->growth.state == GROWTH_GROWS && permille >= 200)
		return judged->growth.has_version ? SEVERITY_HIGH : SEVERITY_MEDIUM;
	if (judged->growth.state == GROWTH_IDLE)
		return SEVERITY_LOW;
	return permille >= 100 && pile->bytes >= UNKNOWN_MIN ? SEVERITY_MEDIUM : SEVERITY_LOW;
}

/* Two heaps tell more of growth than one. */
static void judge_growth(const struct report *report, struct judged *judged,
			 struct report_finding *finding)
{
	struct growth *growth = &judged->growth;
	if (!growth->since)
		return;
	if (judged->root == CLASS_PROCESS && !judged->has_limit)
		finding->severity = since_severity(report, growth->since, finding->severity);
	enum since_state state = growth->since->state;
	if (state == SINCE_GREW) {
		growth->state = GROWTH_GROWS;
		growth->reason = GROWTH_OF_TWO;
	} else if (state == SINCE_SAME || state == SINCE_SHRANK) {
		growth->state = growth->state == GROWTH_TURNS ? GROWTH_TURNS : GROWTH_IDLE;
		growth->reason = STANDING_OF_TWO;
	}
}

static const char *meaning(struct report *report, const struct judged *judged)
{
	if (judged->growth.since)
		return since_text(report, judged->growth.since);
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
		return report_text(report, "one dump cannot tell whether it still grows (%s); %s",
				   judged->growth.reason ? judged->growth.reason : "no growth seen",
				   report->comparison ? "the other one does not tell either"
						      : "take a second one later and compare");
	}
}

/* The object whose path names the owner: the collection, or what dominates the members. */
static uint32_t subject_of(const struct judged *judged)
{
	if (judged->owners.count)
		return judged->owners.rows[0].node;
	return judged->pile->at != HD_NONE ? judged->pile->at : judged->pile->sample[0];
}

/* Describe all piles of one name. */
static void describe_pile(struct report *report, const struct judged *judged,
			  struct report_finding *finding)
{
	const struct pile *pile = judged->pile;
	const char *member = report_short_name(report, judged->type);
	const char *name = finding->holder.name;
	const char *count = report_number(report, judged->members);
	/* The owners and the limit are those of the first pile only, if there are several. */
	bool is_one = judged->members == pile->count;
	const char *by = is_one && pile->at == HD_NONE && judged->owners.count == 2
				 ? " (two collections have them)"
				 : "";
	const char *through = is_one && pile->is_chain ? " in one chain" : "";
	finding->title = report_text(report, "%s %s in %s", count, member, name);
	if (is_one && judged->has_limit) {
		finding->sentence = report_text(
			report, "%s holds %s objects of type %s (%s); it has a limit, %s.", name,
			count, member, report_bytes(report, finding->bytes),
			report_number(report, judged->limit));
	} else {
		finding->sentence = report_text(
			report, "%s holds %s objects of type %s%s%s: %s, %s of the live heap; %s.",
			name, count, member, through, by, report_bytes(report, finding->bytes),
			report_share(report, finding->bytes), meaning(report, judged));
	}
	uint32_t kept = owners_kept_type(&report->facts, pile->sample, pile->sample_count);
	if (is_one && kept != HD_NONE) {
		finding->sentence =
			report_text(report, "%s Each of them keeps an object of type %s.",
				    finding->sentence, report_short_name(report, kept));
	}
	finding->look_at =
		report_text(report, "who adds to %s, and when something leaves it", name);
	finding_count(finding, "members", judged->members);
}

/* Are the members all elements of one array that has no room for more?  What comes in takes the place of another one. */
static bool is_in_full_array(const struct report_facts *facts, const struct judged *judged)
{
	const struct pile *pile = judged->pile;
	struct object array;
	return !judged->owners.count && pile->at != HD_NONE &&
	       facts_object(facts, pile->at, &array) && array.type->component_size &&
	       array.length == csr_degree(&facts->graph->forward, pile->at) &&
	       array.length == pile->count;
}

static enum hd_status judge_pile(struct report *report, const struct pile *pile,
				 struct judgement *judgement, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct judged judged = { .pile = pile };
	owners_find(facts, pile->at, pile->sample, pile->sample_count, &judged.owners);
	judged.type = owners_item_type(facts, pile->type, pile->sample, pile->sample_count);
	judged.growth = growth_of(facts, &pile->ages, judged.owners.rows, judged.owners.count);
	if (judged.growth.state == GROWTH_GROWS && is_in_full_array(facts, &judged)) {
		judged.growth.state = GROWTH_UNKNOWN;
		judged.growth.reason = "the array that has them has no room for more";
	}
	uint32_t subject = subject_of(&judged);
	judged.root = (enum root_class)facts->classes[pile->sample[0]];
	judged.has_limit = counted_limit(facts, subject, &judged.limit);
	judged.is_of_main = judged.root != CLASS_PROCESS && is_held_by_main(facts, subject);
	struct report_finding finding = { .bytes = pile->bytes,
					  .objects = pile->objects,
					  .member_type = judged.type,
					  .is_limited = pile->is_limited };
	holder_find(report, subject, &finding.holder);
	judged.growth.since = comparison_since(report, finding.holder.name,
					       report_type_name(report, judged.type));
	finding.severity = severity_of_pile(report, &judged);
	judge_growth(report, &judged, &finding);
	finding.growth = judged.growth;
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
	finding.next =
		report_text(report, "gcroot -type %s", report_type_name(report, judged.type));
	for (size_t i = 0; i < pile->sample_count; i++)
		finding_sample(&finding, pile->sample[i]);
	if (finding.growth.state == GROWTH_GROWS && pile->at != HD_NONE)
		facts_claim(facts, subject);
	judgement->rows[judgement->count++] = judged;
	return finding_add(report, &finding, err);
}

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

static enum hd_status judge_piles(struct report *report, const struct piles *piles,
				  struct hd_error *err)
{
	HD_FREE struct judged *rows = mem_calloc(piles->rows_count + 1, sizeof(*rows));
	HD_FREE struct grouped_pile *grouped = mem_calloc(piles->rows_count + 1, sizeof(*grouped));
	struct judgement judgement = { .rows = rows, .piles = grouped };
	size_t begin = report->findings_count;
	TRY_MEMORY(rows && grouped, err);
	for (size_t i = 0; i < piles->rows_count; i++)
		TRY(judge_pile(report, &piles->rows[i], &judgement, err));
	if (!judgement.count)
		return HD_OK; /* perhaps without any array of findings */
	TRY(find_parts(report, report->findings + begin, &judgement, err));
	fold_same(report, begin, &judgement, true);
	TRY(fold_related(report, begin, &judgement, err));
	fold_same(report, begin, &judgement, false);
	for (size_t i = begin; i < report->findings_count; i++)
		describe_pile(report, &rows[i - begin], &report->findings[i]);
	return HD_OK;
}

static enum hd_status find_accumulations(struct report *report, struct hd_error *err)
{
	HD_CLEANUP(piles) struct piles piles = { 0 };
	TRY(piles_find(&report->facts, facts_limit(&report->facts), &piles, err));
	if (piles.is_limited)
		rule_limited(report);
	TRY(piles_join(&report->facts, &piles, err));
	return judge_piles(report, &piles, err);
}

const struct report_rule accumulation_rule = {
	.name = "accumulation",
	.turn = TURN_PILES,
	.threshold = "256 objects of one type with 10 % of the live heap, and at least 1 MB",
	.find = find_accumulations,
};
