/* SPDX-License-Identifier: MIT */
/* Many objects of one type below one object or collection: doc/report.md 4.1. */

#include "findings/accumulation.h"
#include "findings/comparison.h"
#include "findings/field_piles.h"
#include "findings/judged_pile.h"
#include "findings/rule.h"
#include "findings/typed.h"
#include "framework/collection_layout.h"
#include "gc/heap.h"
#include "util/alloc.h"
#include "util/job.h"

#define SMALL_HEAP        (10 * MEGABYTE)
#define SMALL_PILE        (5 * MEGABYTE)
#define LARGE_MEMBERS_MIN 16u
/* Growth is stronger evidence than a count, so fewer members are enough. */
#define GROWING_MEMBERS_MIN 64u
#define LARGE_MEMBER        ((uint64_t)64 << 10)
#define CLAIM_LEVELS        10u
/* A ring has nearly all objects of its type. */
#define REPLACED_APART 10u
#define AWAIT_LEVELS   16u
/* So many members are asked who holds them, if nothing holds all. */
#define ASKED_MAX 16u
/* Some hundred connections of a server keep less. */
#define CONNECTIONS_MIN (8 * MEGABYTE)
/* In tenths of a percent. */
#define HALF_OF_ALL 500u
/* A pile that grows is told from half of what others need, and from this on. */
#define GROWING_MIN ((uint64_t)512 << 10)
/* Without a sign of growth, less is not worth a second dump. */
#define UNKNOWN_MIN ((uint64_t)1 << 20)

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
	bool grew = growth->has_proof && (growth->state == GROWTH_GROWS || is_new);
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
	if (judged->growth.state == GROWTH_TURNS || judged->has_limit ||
	    (judged->is_connection && pile->bytes < CONNECTIONS_MIN))
		return SEVERITY_INFO;
	if (is_small(judged))
		return SEVERITY_LOW;
	/* Each of some rooms has its visitors: that says nothing if nothing counts them. */
	if (pile->owners && !judged->growth.has_proof && judged->growth.state != GROWTH_GROWS)
		return SEVERITY_LOW;
	/* A program that does one job holds in Main what the job needs. */
	if (judged->is_of_main) {
		return judged->growth.state == GROWTH_GROWS && permille >= 200 ? SEVERITY_MEDIUM
									       : SEVERITY_LOW;
	}
	/* A cache that is not full yet drops nothing, either: a counter says more. */
	bool is_sure = judged->growth.has_proof ||
		       (judged->drops == DROPS_NOTHING && permille >= HALF_OF_ALL);
	/* In a small heap a pile that no counter proves to grow may be all that the program works on now. */
	if (!judged->growth.has_proof && facts->sums.all_live < SMALL_HEAP &&
	    pile->bytes < SMALL_PILE)
		return SEVERITY_LOW;
	if (judged->growth.state == GROWTH_GROWS && permille >= 200)
		return is_sure ? SEVERITY_HIGH : SEVERITY_MEDIUM;
	if (judged->growth.state == GROWTH_IDLE)
		return SEVERITY_LOW;
	/* Less is worth a line if it grows for sure. */
	permille = judged->growth.state == GROWTH_GROWS && is_sure ? permille * 2 : permille;
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

/* Only a counter proves that nothing was removed. */
static const char *growing_words(struct report *report, const struct judged *judged)
{
	const char *young = report_number(report, judged->growth.young);
	if (judged->growth.has_proof) {
		return report_text(report,
				   "nothing was ever removed, and %s are younger than the last "
				   "collection",
				   young);
	}
	const char *removed = judged->drops == DROPS_NOTHING
				      ? "next to none was dropped since: it probably grows"
				      : "nothing counts how many were removed";
	return report_text(report, "%s are younger than the last collection, and %s", young,
			   removed);
}

static const char *meaning(struct report *report, const struct judged *judged)
{
	if (judged->growth.since)
		return since_text(report, judged->growth.since);
	switch (judged->growth.state) {
	case GROWTH_GROWS:
		return growing_words(report, judged);
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

/*
 * The list of the runtime that the members are items of.  Who has one of them in a field can reach the others, but does not
 * hold them.  HD_NONE: they are no such items.
 */
static uint32_t shared_list_of(const struct report_facts *facts, const struct pile *pile)
{
	const struct graph_type *type = &facts->graph->types[pile->type];
	if (type_is_class(type, "System.Threading.CancellationTokenSource+CallbackNode"))
		return facts_fact_node(facts, pile->sample[0], FACT_CALLBACK_NODE_SOURCE);
	if (!type_is_class(type, "System.Threading.TimerQueueTimer"))
		return HD_NONE;
	uint32_t queues = typed_next(facts, HD_NONE, "System.Threading.TimerQueue");
	return queues != HD_NONE ? typed_nodes(facts, queues).nodes[0] : HD_NONE;
}

/* One of the members, where nothing dominates them all, that has the name by which most are held; HD_NONE: there is none. */
static uint32_t common_member(struct report *report, const struct pile *pile)
{
	const char *names[ASKED_MAX];
	size_t asked = pile->sample_count < ASKED_MAX ? pile->sample_count : ASKED_MAX;
	for (size_t i = 0; i < asked; i++) {
		struct held_by holder;
		holder_find(report, pile->sample[i * pile->sample_count / asked], &holder);
		names[i] = holder.name;
		/* Literals are there as long as their code: nobody put them anywhere. */
		if (strcmp(holder.root_kind, "collector") == 0)
			continue;
		size_t same = 0;
		for (size_t k = 0; k <= i; k++)
			same += strcmp(names[k], names[i]) == 0;
		if (same * 2 >= asked)
			return pile->sample[i * pile->sample_count / asked];
	}
	return HD_NONE;
}

/* The object whose path names the owner: the collection, or what dominates the members; HD_NONE: they have no owner. */
static uint32_t subject_of(struct report *report, const struct judged *judged)
{
	uint32_t list = shared_list_of(&report->facts, judged->pile);
	if (list != HD_NONE)
		return list;
	if (judged->owners.count)
		return judged->owners.rows[0].node;
	return judged->pile->at != HD_NONE ? judged->pile->at : common_member(report, judged->pile);
}

/* Are most members parts of connections? */
static bool is_connection(const struct report_facts *facts, const struct pile *pile)
{
	size_t found = 0;
	for (size_t i = 0; i < pile->sample_count; i++)
		found += owners_is_connection(facts, pile->sample[i]);
	return 2 * found > pile->sample_count;
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
	if (is_one && pile->owners) {
		through = report_text(report, " in %s collections",
				      report_number(report, pile->owners));
	}
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
	/* The member that is named may be in a node of the collection. */
	if (is_one && kept != HD_NONE && kept != judged->type) {
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

/* Are most of the young elements the last ones, as in an array that has just become full? */
static bool are_last_young(const struct report_facts *facts, const struct pile *pile)
{
	const struct csr *forward = &facts->graph->forward;
	uint64_t end = csr_begin(forward, pile->at + 1), found = 0;
	uint64_t young = pile->ages.of[GENERATION_0] + pile->ages.of[GENERATION_1];
	for (uint64_t i = end - young; i < end; i++)
		found += facts_generation(facts, forward->targets[i]) < GENERATION_2;
	return found * 2 >= young;
}

/*
 * Is the full array older than some of its elements, so that they took the place of others?  Not if it was made anew for them,
 * for then it is young, or large and others of its type are garbage; nor if there are more objects of the type than it has
 * elements, as in the chains of a table.
 */
static bool is_replacing(const struct report_facts *facts, const struct pile *pile)
{
	const struct hd_graph *graph = facts->graph;
	uint32_t array = graph->node_types[pile->at];
	uint64_t dead = graph->types[array].count - facts_live_count(facts, array);
	unsigned int age = facts_generation(facts, pile->at);
	bool is_old = age == GENERATION_2 || (age == GENERATION_LOH && !dead);
	uint64_t all = facts_live_count(facts, pile->type);
	return is_old && facts->is_complete && all - pile->count <= pile->count / REPLACED_APART &&
	       !are_last_young(facts, pile);
}

/* Strings are often garbage, but the nodes that have them only if they were taken out. */
static enum growth_drops drops_of(const struct report_facts *facts, uint32_t item,
				  const struct pile *pile)
{
	enum growth_drops items = growth_drops(facts, item, &pile->ages);
	enum growth_drops nodes = growth_drops(facts, pile->type, &pile->ages);
	if (items == DROPS_NOTHING || nodes == DROPS_NOTHING)
		return DROPS_NOTHING;
	return items == DROPS_SOME || nodes == DROPS_SOME ? DROPS_SOME : DROPS_UNKNOWN;
}

/* Find out of a pile what the comparison of all of them needs. */
static void prepare_pile(struct report *report, const struct pile *pile, struct judged *ret)
{
	struct report_facts *facts = &report->facts;
	*ret = (struct judged){ .pile = pile };
	if (pile->owners) {
		ret->owners.rows[ret->owners.count++] = pile->sum;
	} else {
		owners_find(facts, pile->at, pile->sample, pile->sample_count, &ret->owners);
	}
	ret->type = owners_item_type(facts, pile->type, pile->sample, pile->sample_count);
	ret->growth = growth_of(facts, &pile->ages, ret->owners.rows, ret->owners.count);
	if (is_in_full_array(facts, ret)) {
		if (is_replacing(facts, pile)) {
			ret->growth.state = GROWTH_TURNS;
			ret->growth.reason = "new elements took the place of old ones";
		} else if (ret->growth.state == GROWTH_GROWS) {
			ret->growth.state = GROWTH_UNKNOWN;
			ret->growth.reason = "the array that has them has no room for more";
		}
	}
	ret->drops = drops_of(facts, ret->type, pile);
	if (ret->growth.state == GROWTH_GROWS && !ret->growth.has_proof &&
	    ret->drops == DROPS_SOME) {
		ret->growth.state = GROWTH_UNKNOWN;
		ret->growth.reason = "some came and others were dropped, and nothing counts them";
	}
	bool hides_changes = pile->owners && pile->sum.layout && pile->sum.layout->hides_changes;
	if (ret->growth.state == GROWTH_GROWS && hides_changes && ret->drops != DROPS_NOTHING) {
		ret->growth.state = GROWTH_UNKNOWN;
		ret->growth.reason = "new elements may have taken the place of old ones";
	}
	ret->subject = subject_of(report, ret);
}

/* The members are old, but what they hold may grow. */
static void look_inside(const struct report_facts *facts, const struct inner_growth *inner,
			struct judged *judged)
{
	if (inner->type == HD_NONE || inner->type == judged->type || judged->pile->owners ||
	    judged->growth.state == GROWTH_TURNS || judged->growth.state == GROWTH_GROWS)
		return;
	struct growth growth = growth_of(facts, &inner->ages, NULL, 0);
	enum growth_drops drops = growth_drops(facts, inner->type, &inner->ages);
	if (growth.state != GROWTH_GROWS || drops != DROPS_NOTHING)
		return;
	judged->growth = growth;
	judged->drops = drops;
}

static enum hd_status judge_pile(struct report *report, struct judged *judged,
				 struct judgement *judgement, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	const struct pile *pile = judged->pile;
	uint32_t subject = judged->subject;
	bool is_shared = subject == shared_list_of(facts, pile);
	judged->root = (enum root_class)facts->classes[is_shared ? subject : pile->sample[0]];
	judged->is_connection = is_connection(facts, pile);
	judged->has_limit = counted_limit(facts, subject, &judged->limit);
	judged->is_of_main = judged->root != CLASS_PROCESS && is_held_by_main(facts, subject);
	struct report_finding finding = { .bytes = pile->bytes,
					  .objects = pile->objects,
					  .member_type = judged->type,
					  .is_limited = pile->is_limited };
	holder_find(report, subject, &finding.holder);
	judged->growth.since = comparison_since(report, finding.holder.name,
						report_type_name(report, judged->type));
	finding.severity = severity_of_pile(report, judged);
	judge_growth(report, judged, &finding);
	finding.growth = judged->growth;
	finding.id = report_text(report, "accumulation:%s:%s", finding.holder.name,
				 report_type_name(report, judged->type));
	rule_met(report, facts_permille(facts, pile->bytes) / 10);
	if (is_explained(report, pile)) {
		note_explained(report, pile, finding.id);
		return HD_OK;
	}
	if (judged->owners.is_guess && judged->owners.count)
		finding.confidence = confidence_less(finding.confidence);
	if (!judged->growth.has_version)
		finding.confidence = confidence_less(finding.confidence);
	finding.next =
		report_text(report, "gcroot -type %s", report_type_name(report, judged->type));
	for (size_t i = 0; i < pile->sample_count; i++)
		finding_sample(&finding, pile->sample[i]);
	if (finding.growth.state == GROWTH_GROWS && pile->at != HD_NONE && !is_shared)
		facts_claim(facts, subject);
	judgement->rows[judgement->count++] = *judged;
	return finding_add(report, &finding, err);
}

/* A pile that is small for one is told if nothing leaves it. */
static bool is_enough(const struct report_facts *facts, const struct judged *judged)
{
	bool is_sure = judged->growth.has_proof || judged->drops == DROPS_NOTHING;
	return judged->pile->bytes >= facts_limit(facts) ||
	       (judged->growth.state == GROWTH_GROWS && is_sure && !is_small(judged));
}

static enum hd_status look_inside_all(const struct report_facts *facts, struct judged *rows,
				      size_t count, struct hd_error *err)
{
	HD_FREE struct inner_growth *inner = mem_calloc(count + 1, sizeof(*inner));
	HD_FREE uint32_t *subjects = mem_calloc(count + 1, sizeof(*subjects));
	TRY_MEMORY(inner && subjects, err);
	for (size_t i = 0; i < count; i++)
		subjects[i] = rows[i].subject;
	TRY(inner_growth_find(facts, subjects, count, inner, err));
	for (size_t i = 0; i < count; i++)
		look_inside(facts, &inner[i], &rows[i]);
	return HD_OK;
}

/*
 * A few old objects are not what piles up, if what they have in one field does; objects that come one by one are, with all
 * that they have.
 */
static void choose_levels(struct judged *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pile *inner = rows[i].pile;
		for (size_t k = 0; inner->owners && k < count; k++) {
			struct judged *outer = &rows[k];
			if (k == i || inner->bytes < outer->pile->bytes / 2 ||
			    (outer->pile->type != inner->owner_type &&
			     outer->type != inner->owner_type))
				continue;
			bool is_outer = outer->growth.state == GROWTH_GROWS ||
					outer->growth.state == GROWTH_TURNS ||
					(outer->growth.young && !is_small(outer));
			outer->is_told_by_other |= !is_outer;
			rows[i].is_told_by_other |= is_outer;
		}
	}
}

static enum hd_status judge_piles(struct report *report, const struct piles *piles,
				  struct hd_error *err)
{
	HD_FREE struct judged *all = mem_calloc(piles->rows_count + 1, sizeof(*all));
	HD_FREE struct judged *rows = mem_calloc(piles->rows_count + 1, sizeof(*rows));
	HD_FREE struct grouped_pile *grouped = mem_calloc(piles->rows_count + 1, sizeof(*grouped));
	struct judgement judgement = { .rows = rows, .piles = grouped };
	size_t begin = report->findings_count;
	TRY_MEMORY(all && rows && grouped, err);
	for (size_t i = 0; i < piles->rows_count; i++)
		prepare_pile(report, &piles->rows[i], &all[i]);
	choose_levels(all, piles->rows_count);
	TRY(look_inside_all(&report->facts, all, piles->rows_count, err));
	for (size_t i = 0; i < piles->rows_count; i++) {
		if (all[i].subject != HD_NONE && !all[i].is_told_by_other &&
		    is_enough(&report->facts, &all[i]))
			TRY(judge_pile(report, &all[i], &judgement, err));
	}
	if (!judgement.count)
		return HD_OK; /* perhaps without any array of findings */
	TRY(judged_piles_fold(report, begin, &judgement, err));
	for (size_t i = begin; i < report->findings_count; i++)
		describe_pile(report, &rows[i - begin], &report->findings[i]);
	judged_piles_fold_connections(report, begin, &judgement);
	return HD_OK;
}

static enum hd_status find_accumulations(struct report *report, struct hd_error *err)
{
	HD_CLEANUP(piles) struct piles piles = { 0 };
	uint64_t limit = facts_limit(&report->facts), half = limit / 2;
	uint64_t least = half > GROWING_MIN ? half : GROWING_MIN;
	least = least < limit ? least : limit;
	TRY(piles_find(&report->facts, least, &piles, err));
	TRY(piles_join(&report->facts, &piles, err));
	TRY(piles_add_fields(&report->facts, least, &piles, err));
	if (piles.is_limited)
		rule_limited(report);
	return judge_piles(report, &piles, err);
}

const struct report_rule accumulation_rule = {
	.name = "accumulation",
	.turn = TURN_PILES,
	.threshold =
		"256 objects of one type with 10 % of the live heap (5 % if they grow), and at least 1 MB",
	.find = find_accumulations,
};
