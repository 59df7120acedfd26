/* SPDX-License-Identifier: MIT */
#include "findings/report.h"

#include <stdlib.h>

#include "findings/comparison.h"
#include "findings/made_of.h"
#include "findings/rule.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"

const char *severity_name(enum severity severity)
{
	static const char *const names[] = { "high", "medium", "low", "info" };
	return names[severity];
}

const char *confidence_name(enum confidence confidence)
{
	static const char *const names[] = { "high", "medium", "low" };
	return names[confidence];
}

const char *growth_name(enum growth_state state)
{
	static const char *const names[] = { "not asked", "grows", "turns over", "idle",
					     "unknown" };
	return names[state];
}

/* Note what holds something that grows. */
static void mark_growing(struct report *report)
{
	for (size_t i = 0; i < report->findings_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		uint32_t subject = finding->holder.subject;
		if (finding->growth.state == GROWTH_GROWS &&
		    subject < report->facts.graph->node_count)
			(void)bitmap_add(report->growing, subject);
	}
}

static int compare_severities(const void *left, const void *right)
{
	const struct report_finding *a = left, *b = right;
	if (a->severity != b->severity)
		return a->severity < b->severity ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return strcmp(a->id, b->id);
}

/*
 * A pile of which nobody knows whether it grows, and of which most is waste that another finding names: the other one says
 * more, and names who has the pile.
 */
static void explain_unknown(struct report *report, struct report_finding *pile)
{
	if (pile->growth.state != GROWTH_UNKNOWN || pile->severity != SEVERITY_MEDIUM)
		return;
	for (size_t i = 0; i < report->findings_count; i++) {
		struct report_finding *other = &report->findings[i];
		if (other->severity > SEVERITY_MEDIUM || other == pile || !other->sample_count ||
		    other->growth.state != GROWTH_NOT_ASKED || other->bytes < pile->bytes / 2 ||
		    !finding_is_around(pile, &report->facts, other->samples[0]))
			continue;
		pile->severity = SEVERITY_LOW;
		also_explains(&other->explains, pile->id);
		other->sentence =
			report_text(report, "%s One dump cannot tell whether they pile up, in %s.",
				    other->sentence, pile->holder.name);
		return;
	}
}

/* The reason why the target has no data for a rule; NULL: it has. */
static const char *lacks(const struct report_facts *facts, unsigned int needs)
{
	if (needs & RULE_FIELDS && !facts->heap)
		return "a dump file has no values of fields";
	if (needs & RULE_ROOTS && !facts->roots)
		return "a dump file does not have all handles and queues";
	if (needs & RULE_GENERATIONS && !facts->has_generations)
		return "the generations are not known";
	if (needs & RULE_MEMORY && !facts->native)
		return "it is not known what else is in memory";
	return NULL;
}

static enum hd_status run_rule(struct report *report, size_t index, struct hd_error *err)
{
	const struct report_rule *rule = report_rule_at(index);
	struct rule_result *result = &report->results[index];
	result->reason = lacks(&report->facts, rule->needs);
	if (result->reason)
		return HD_OK;
	report->running = rule;
	report->result = result;
	result->has_run = true;
	TRY(rule->find(report, err));
	if (report->lacks_text)
		return fail_nomem(err);
	return job_step(report->facts.job, 0, 1) ? HD_OK : fail_cancelled(err);
}

/* The next turn meets the most severe finding first, if several explain one thing. */
static void end_turn(struct report *report)
{
	if (report->findings_count) {
		qsort(report->findings, report->findings_count, sizeof(*report->findings),
		      compare_severities);
	}
	mark_growing(report);
}

static enum hd_status run_rules(struct report *report, bool is_reversed, struct hd_error *err)
{
	size_t count = report_rule_count();
	job_begin(report->facts.job, "Checking rules", count);
	for (unsigned int turn = 0; turn < TURN_COUNT; turn++) {
		for (size_t i = 0; i < count; i++) {
			size_t index = is_reversed ? count - 1 - i : i;
			if (report_rule_at(index)->turn == turn)
				TRY(run_rule(report, index, err));
		}
		end_turn(report);
	}
	return HD_OK;
}

static enum hd_status compare_heaps(struct report *report, const struct compared_with *with,
				    struct hd_error *err)
{
	if (!with)
		return HD_OK;
	report->comparison = mem_calloc(1, sizeof(*report->comparison));
	TRY_MEMORY(report->comparison, err);
	enum hd_status status = comparison_make(report, with, report->comparison, err);
	job_end(report->facts.job);
	return status;
}

static void find_largest(struct report *report)
{
	const struct report_facts *facts = &report->facts;
	struct large_holder *rows = report->largest;
	size_t count = 0;
	for (uint32_t node = 0; node < facts->graph->object_count; node++) {
		if (!facts_is_live(facts, node) || facts_idom(facts, node) != HD_NONE)
			continue;
		uint64_t bytes = facts_retained(facts, node);
		if (count == LARGE_HOLDERS && bytes <= rows[count - 1].bytes)
			continue;
		size_t at = count < LARGE_HOLDERS ? count++ : count - 1;
		for (; at && rows[at - 1].bytes < bytes; at--)
			rows[at] = rows[at - 1];
		rows[at] = (struct large_holder){ .node = node, .bytes = bytes };
	}
	for (size_t i = 0; i < count; i++) {
		const struct graph_type *type = facts_type(facts, rows[i].node);
		struct held_by holder;
		holder_find(report, rows[i].node, &holder);
		bool is_type = type->name && strlen(holder.name) == type->name_size &&
			       memcmp(holder.name, type->name, type->name_size) == 0;
		rows[i].name = is_type ? NULL : holder.name;
	}
	report->largest_count = count;
}

enum hd_status report_make(struct report *ret, const struct facts_of *of, struct job *job,
			   struct hd_error *err)
{
	*ret = (struct report){ .arena = arena_create() };
	ret->results = mem_calloc(report_rule_count(), sizeof(*ret->results));
	TRY_MEMORY(ret->arena && ret->results, err);
	TRY(facts_init(&ret->facts, of, job, err));
	ret->growing = bitmap_alloc(of->graph->node_count);
	ret->wasted = bitmap_alloc(of->graph->node_count);
	TRY_MEMORY(ret->growing && ret->wasted, err);
	TRY(compare_heaps(ret, of->with, err));
	enum hd_status status = run_rules(ret, of->is_reversed, err);
	job_end(job);
	TRY(status);
	if (of->with)
		TRY(comparison_conclude(ret, err));
	for (size_t i = 0; i < ret->findings_count; i++)
		explain_unknown(ret, &ret->findings[i]);
	end_turn(ret);
	find_largest(ret);
	return made_of_find(ret, err);
}

void report_deinit(struct report *report)
{
	if (report->comparison)
		comparison_deinit(report->comparison);
	mem_free(report->comparison);
	if (report->facts.graph) {
		bitmap_free(report->growing, report->facts.graph->node_count);
		bitmap_free(report->wasted, report->facts.graph->node_count);
	}
	facts_deinit(&report->facts);
	pages_free(report->findings, report->findings_capacity, sizeof(*report->findings));
	mem_free(report->made_of);
	mem_free(report->results);
	arena_destroy(report->arena);
	*report = (struct report){ 0 };
}

bool report_has(const struct report *report, enum severity severity)
{
	return report->findings_count && report->findings[0].severity <= severity;
}
