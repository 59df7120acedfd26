/* SPDX-License-Identifier: MIT */
/* Makes findings: their texts and names, how severe they are, and their words. */
#include <stdarg.h>
#include <stdio.h>

#include "findings/rule.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/text.h"

/* Longer names are cut in their middle. */
#define NAME_MAX_BYTES 200u

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

/* "Cart.Load" of "Shop.Cart.Load". */
static const char *last_parts(const char *method)
{
	const char *dot = strrchr(method, '.');
	while (dot && dot > method && dot[-1] != '.')
		dot--;
	return dot ? dot : method;
}

const char *report_short_name(struct report *report, uint32_t type)
{
	static const char *const kinds[] = { [VARIABLES_CALL] = "call",
					     [VARIABLES_STATE] = "state",
					     [VARIABLES_CLOSURE] = "lambda" };
	enum variables_kind kind;
	const char *method = report_variables_of(report, type, &kind);
	if (*method)
		return report_text(report, "%s.%s", last_parts(method), kinds[kind]);
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

void rule_met(struct report *report, uint64_t value)
{
	if (value > report->result->met)
		report->result->met = value;
}

void rule_limited(struct report *report)
{
	report->result->is_limited = true;
}

void rule_lacks(struct report *report, const char *reason)
{
	report->result->has_run = false;
	report->result->reason = reason;
}

bool finding_is_around(const struct report_finding *finding, const struct report_facts *facts,
		       uint32_t node)
{
	for (unsigned int i = 0; node != HD_NONE && i < EXPLAINED_LEVELS; i++) {
		if (node == finding->holder.subject)
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

const struct report_finding *report_growing(const struct report *report, uint32_t node)
{
	for (size_t i = 0; i < report->findings_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		if (finding->growth.state == GROWTH_GROWS &&
		    finding_is_around(finding, &report->facts, node))
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

static bool is_used(const struct least *least)
{
	return least->objects || least->bytes || least->permille || least->half_limits;
}

static bool is_enough(const struct report_facts *facts, const struct report_finding *finding,
		      const struct least *least)
{
	return finding->objects >= least->objects && finding->bytes >= least->bytes &&
	       facts_permille(facts, finding->bytes) >= least->permille &&
	       finding->bytes >= facts_limit(facts) * least->half_limits / 2;
}

bool finding_weigh(const struct report *report, const struct telling *telling,
		   struct report_finding *finding)
{
	for (unsigned int i = 0; i <= SEVERITY_INFO; i++) {
		if (!is_used(&telling->least[i]) ||
		    !is_enough(&report->facts, finding, &telling->least[i]))
			continue;
		finding->severity = (enum severity)i;
		return true;
	}
	return false;
}

/* The names of places, without a digit that may follow. */
enum place {
	OBJECTS,
	BYTES,
	SHARE,
	TYPE,
	FULL,
	HOLDER,
	METHOD,
	COUNT,
	SIZE,
	PLACES
};
static const char *const places[PLACES] = { "objects", "bytes",  "share", "type", "full",
					    "holder",  "method", "count", "size" };

static const char *part_of(struct report *report, const struct report_finding *finding,
			   const char *const *texts, const char *name)
{
	unsigned int place = 0;
	while (place < PLACES && strncmp(name, places[place], strlen(places[place])) != 0)
		place++;
	size_t index = (size_t)(name[strcspn(name, "0123456789}")] - '0');
	uint64_t count = index < FINDING_COUNTS ? finding->counts[index].value : 0;
	switch (place) {
	case OBJECTS:
		return report_number(report, finding->objects);
	case BYTES:
		return report_bytes(report, finding->bytes);
	case SHARE:
		return report_share(report, finding->bytes);
	case TYPE:
		return report_short_name(report, finding->member_type);
	case FULL:
		return report_type_name(report, finding->member_type);
	case HOLDER:
		return finding->holder.name;
	case METHOD:
		return finding->method;
	case COUNT:
		return report_number(report, count);
	case SIZE:
		return report_bytes(report, count);
	default:
		return texts[index];
	}
}

/* The words with all parts in their places, in the report's arena. */
static const char *fill_in(struct report *report, const struct report_finding *finding,
			   const char *const *texts, const char *words)
{
	HD_CLEANUP(text) struct text text = { 0 };
	const char *place;
	for (; (place = strchr(words, '{')); words = strchr(place, '}') + 1) {
		text_append(&text, words, (size_t)(place - words));
		text_puts(&text, part_of(report, finding, texts, place + 1));
	}
	report->lacks_text |= text.failed;
	return text.size ? report_text(report, "%s%s", text.bytes, words) : words;
}

enum hd_status finding_tell(struct report *report, struct report_finding *finding,
			    const struct telling *telling, const char *const *texts,
			    struct hd_error *err)
{
	bool is_one = finding->objects == 1;
	const char *title = is_one ? telling->title_of_one : NULL;
	const char *sentence = is_one ? telling->sentence_of_one : NULL;
	finding->id = fill_in(report, finding, texts, telling->id);
	finding->title = fill_in(report, finding, texts, title ? title : telling->title);
	finding->sentence =
		fill_in(report, finding, texts, sentence ? sentence : telling->sentence);
	finding->look_at = fill_in(report, finding, texts, telling->look_at);
	finding->next = fill_in(report, finding, texts, telling->next);
	return finding_add(report, finding, err);
}
