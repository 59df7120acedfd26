/* SPDX-License-Identifier: MIT */
#include "findings/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "findings/comparison.h"
#include "findings/rule.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/job.h"
#include "util/text.h"

/* Longer names are cut in their middle. */
#define NAME_MAX_BYTES 200u

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

/* In place of a text for which there is no memory. */
static const char *no_text(struct report *report)
{
	report->lacks_text = true;
	return "?";
}

static const char *keep(struct report *report, const char *bytes, size_t size)
{
	char *copy = arena_alloc(report->arena, size + 1);
	if (!copy)
		return no_text(report);
	memcpy(copy, bytes, size);
	copy[size] = '\0';
	return copy;
}

const char *report_text(struct report *report, const char *format, ...)
{
	char small[512];
	va_list args;
	va_start(args, format);
	int size = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (size < 0)
		return "?";
	if ((size_t)size < sizeof(small))
		return keep(report, small, (size_t)size);
	char *large = arena_alloc(report->arena, (size_t)size + 1);
	if (!large)
		return no_text(report);
	va_start(args, format);
	(void)vsnprintf(large, (size_t)size + 1, format, args);
	va_end(args);
	return large;
}

const char *report_name(struct report *report, const char *name, size_t size)
{
	const char *nul = memchr(name, '\0', size);
	if (nul)
		size = (size_t)(nul - name);
	if (size <= NAME_MAX_BYTES)
		return keep(report, name, size);
	size_t head = NAME_MAX_BYTES / 2, tail = size - NAME_MAX_BYTES / 2;
	while (head && utf8_continues(name[head]))
		head--;
	while (tail < size && utf8_continues(name[tail]))
		tail++;
	return report_text(report, "%.*s...%.*s", (int)head, name, (int)(size - tail), name + tail);
}

const char *report_type_name(struct report *report, uint32_t type)
{
	const struct hd_graph *graph = report->facts.graph;
	if (type >= graph->type_count || !graph->types[type].name)
		return "an unknown type";
	return report_name(report, graph->types[type].name, graph->types[type].name_size);
}

/* "+Inner" of "<Outer's arguments>+Inner"; "": nothing is nested there. */
static const char *nested_name(const char *arguments)
{
	size_t depth = 0, i = 0;
	for (; arguments[i] && (depth || arguments[i] == '<'); i++) {
		depth += arguments[i] == '<';
		depth -= arguments[i] == '>';
	}
	return arguments[i] == '+' ? arguments + i : "";
}

const char *report_short_name(struct report *report, uint32_t type)
{
	const char *name = report_type_name(report, type);
	size_t size = strcspn(name, "<[`("), begin = 0;
	if (!size)
		return name;
	for (size_t i = 0; i < size; i++) {
		if (name[i] == '.' || name[i] == '+')
			begin = i + 1;
	}
	const char *array = strstr(name + size, "[]");
	bool is_array = array && !array[2];
	const char *nested = nested_name(name + size);
	return begin < size
		       ? report_text(report, "%.*s%.*s%s", (int)(size - begin), name + begin,
				     (int)strcspn(nested, "<[`("), nested, is_array ? "[]" : "")
		       : name;
}

const char *report_number(struct report *report, uint64_t number)
{
	char buf[NUMBER_SIZE];
	return report_text(report, "%s", format_thousands(number, buf));
}

const char *report_bytes(struct report *report, uint64_t bytes)
{
	char buf[32];
	return report_text(report, "%s", format_bytes(bytes, buf));
}

const char *report_share(struct report *report, uint64_t bytes)
{
	char buf[32];
	return report_text(report, "%s", format_share(facts_share(&report->facts, bytes), buf));
}

void finding_count(struct report_finding *finding, const char *what, uint64_t value)
{
	if (finding->count_count < FINDING_COUNTS)
		finding->counts[finding->count_count++] = (struct evidence_count){ what, value };
}

void finding_sample(struct report_finding *finding, uint32_t node)
{
	if (finding->sample_count < FINDING_SAMPLES)
		finding->samples[finding->sample_count++] = node;
}

static struct rule_result *running_result(struct report *report)
{
	for (size_t i = 0; i < report_rule_count(); i++) {
		if (report_rule_at(i) == report->running)
			return &report->results[i];
	}
	return &report->results[0];
}

void rule_met(struct report *report, uint64_t value)
{
	struct rule_result *result = running_result(report);
	if (value > result->met)
		result->met = value;
}

void rule_limited(struct report *report)
{
	running_result(report)->is_limited = true;
}

/* Is the object what dominates @p node, or is it that node? */
static bool is_below(const struct report_facts *facts, uint32_t node, uint32_t subject)
{
	for (unsigned int i = 0; node != HD_NONE && i < EXPLAINED_LEVELS; i++) {
		if (node == subject)
			return true;
		node = facts_idom(facts, node);
	}
	return false;
}

bool report_is_growing(const struct report *report, uint32_t node)
{
	for (unsigned int i = 0; node != HD_NONE && i < EXPLAINED_LEVELS; i++) {
		if (bitmap_has(report->growing, node))
			return true;
		node = facts_idom(&report->facts, node);
	}
	return false;
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

const struct report_finding *report_growing(const struct report *report, uint32_t node)
{
	for (size_t i = 0; i < report->findings_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		if (finding->growth.state == GROWTH_GROWS &&
		    is_below(&report->facts, node, finding->holder.subject))
			return finding;
	}
	return NULL;
}

/*
 * A command that can be typed, at the prompt and in a shell: a name of a type with "<", ">" or spaces is in quotes, and
 * "*" stands for what was cut out of it.
 */
static const char *typed_command(struct report *report, const char *command)
{
	const char *option = strstr(command, " -type "), *name = option ? option + 7 : "";
	const char *quote = strchr(name, '\'') ? "\"" : "'", *cut = strstr(name, "...");
	if (!cut && !name[strcspn(name, "<>|*'` ()&;$!")])
		return command;
	int size = (int)(name - command), before = cut ? (int)(cut - name) : (int)strlen(name);
	return report_text(report, "%.*s%s%.*s%s%s%s", size, command, quote, before, name,
			   cut ? "*" : "", cut ? cut + 3 : "", quote);
}

/*
 * A stack may hold the objects of a static just now, by a shorter path: that is not why they stay.
 */
static const char *next_command(struct report *report, const struct report_finding *finding)
{
	static const char by_type[] = "gcroot -type ";
	const char *next = finding->next, *kind = finding->holder.root_kind;
	if (!next)
		return "dominators";
	if (strncmp(next, by_type, sizeof(by_type) - 1) != 0 || !kind ||
	    strcmp(kind, "stack") == 0 || strcmp(kind, "none") == 0)
		return next;
	return report_text(report, "gcroot -nostacks %s", next + strlen("gcroot "));
}

enum hd_status finding_add(struct report *report, const struct report_finding *finding,
			   struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(report, findings), err);
	struct report_finding *row = &report->findings[report->findings_count++];
	*row = *finding;
	row->rule = report->running;
	row->next = typed_command(report, next_command(report, row));
	if (!report->facts.is_complete)
		row->confidence = confidence_less(row->confidence);
	return HD_OK;
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
 * A pile of which nobody knows whether it grows, and of which most is waste that another finding
 * names: the other one says more.
 */
static void explain_unknown(struct report *report, struct report_finding *pile)
{
	if (pile->growth.state != GROWTH_UNKNOWN || pile->severity != SEVERITY_MEDIUM)
		return;
	for (size_t i = 0; i < report->findings_count; i++) {
		struct report_finding *other = &report->findings[i];
		if (other->severity > SEVERITY_MEDIUM || other == pile || !other->sample_count ||
		    other->growth.state != GROWTH_NOT_ASKED || other->bytes < pile->bytes / 2 ||
		    !is_below(&report->facts, other->samples[0], pile->holder.subject))
			continue;
		pile->severity = SEVERITY_LOW;
		also_explains(&other->explains, pile->id);
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

enum hd_status report_make(struct report *ret, const struct facts_of *of, struct job *job,
			   struct hd_error *err)
{
	*ret = (struct report){ .arena = arena_create() };
	ret->results = mem_calloc(report_rule_count(), sizeof(*ret->results));
	TRY_MEMORY(ret->arena && ret->results, err);
	TRY(facts_init(&ret->facts, of, job, err));
	ret->growing = bitmap_alloc(of->graph->node_count);
	TRY_MEMORY(ret->growing, err);
	TRY(compare_heaps(ret, of->with, err));
	enum hd_status status = run_rules(ret, of->is_reversed, err);
	job_end(job);
	TRY(status);
	if (of->with)
		TRY(comparison_conclude(ret, err));
	for (size_t i = 0; i < ret->findings_count; i++)
		explain_unknown(ret, &ret->findings[i]);
	end_turn(ret);
	return HD_OK;
}

void report_deinit(struct report *report)
{
	if (report->comparison)
		comparison_deinit(report->comparison);
	mem_free(report->comparison);
	if (report->facts.graph)
		bitmap_free(report->growing, report->facts.graph->node_count);
	facts_deinit(&report->facts);
	pages_free(report->findings, report->findings_capacity, sizeof(*report->findings));
	mem_free(report->results);
	arena_destroy(report->arena);
	*report = (struct report){ 0 };
}

bool report_has(const struct report *report, enum severity severity)
{
	return report->findings_count && report->findings[0].severity <= severity;
}
