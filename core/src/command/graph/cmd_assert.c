/* SPDX-License-Identifier: MIT */
/* Rules about the objects that are alive, for a test or a build: which hold, and status 1 if not all do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/diff.h"
#include "analysis/graph/live_types.h"
#include "command/completeness.h"
#include "command/other_session.h"
#include "command/table.h"
#include "command/tracing_began.h"
#include "command/type_words.h"
#include "graph/heap_graph.h"
#include "util/alloc.h"
#include "util/sink.h"

#define ASSERT_OPTIONS(X)                                                                     \
	X(OPT_MAX, "max", VALUE_RULE, "TYPE=N", "at most N objects of TYPE are alive", NULL)  \
	X(OPT_MAX_BYTES, "max-bytes", VALUE_RULE, "TYPE=SIZE",                                \
	  "live objects of TYPE have at most SIZE bytes (K, M, G)", NULL)                     \
	X(OPT_MAX_HEAP, "max-heap", VALUE_NUMBER, "SIZE",                                     \
	  "all live objects have at most SIZE bytes", NULL)                                   \
	X(OPT_AGAINST, "against", VALUE_FILE, "FILE", "an earlier dump, for the next option", \
	  NULL)                                                                               \
	X(OPT_MAX_GROWTH, "max-growth", VALUE_TEXT, "N%|SIZE",                                \
	  "live objects have grown by at most N percent, or SIZE bytes", NULL)                \
	X(OPT_MARKDOWN, "markdown", VALUE_NONE, NULL, "the table as Markdown", NULL)          \
	X(OPT_STRICT, "strict", VALUE_NONE, NULL,                                             \
	  "a rule about a type that is not there is an error", NULL)

OPTIONS(assert, ASSERT_OPTIONS);

/* One rule, and what was found. */
struct heap_rule {
	char *pattern; /* owned; NULL: all types */
	bool is_bytes, is_growth;
	bool is_percent; /* limit is percent of what was there before */
	uint64_t limit;  /* objects or bytes; of a growth what may be added */
	uint64_t found;
	uint64_t before; /* bytes, of a growth */
	bool is_any;     /* an object of such a type is alive */
	bool is_known;   /* there is such a type, or the rule is about all */
};

struct rules {
	struct heap_rule *rows;
	size_t count;
	size_t unknown;          /* rules about a type that is not there */
	struct hd_error no_type; /* of the first of them, if -strict was given */
	bool was_traced;         /* the earlier dump has objects that the first trace leaves */
};

static void rules_deinit(struct rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		mem_free(rules->rows[i].pattern);
	mem_free(rules->rows);
}

/* "max Shop.Session=100": a line of call->joined, without its end. */
static enum hd_status add_type_rule(struct call *call, struct rules *rules, const char *line,
				    size_t size)
{
	const char *blank = memchr(line, ' ', size), *end = line + size;
	const char *type = blank + 1, *equals = memrchr(type, '=', (size_t)(end - type));
	char number[32];
	struct heap_rule rule = { .is_bytes = blank - line != strlen("max") };
	size_t digits = equals ? (size_t)(end - equals) - 1 : 0;
	(void)snprintf(number, sizeof(number), "%.*s", (int)(digits < 31 ? digits : 31),
		       equals ? equals + 1 : "");
	if (!equals || equals == type || digits > 31 || !parse_number(number, &rule.limit)) {
		return fail(
			call->err, HD_ERR_ARGUMENT, 0,
			"-%.*s is the name of a type and a number, such as Shop.Session=100, not "
			"\"%.*s\"",
			(int)(blank - line), line, (int)(end - type < 80 ? end - type : 80), type);
	}
	rule.pattern = mem_strndup(type, (size_t)(equals - type));
	TRY_MEMORY(rule.pattern, call->err);
	rules->rows[rules->count++] = rule;
	return HD_OK;
}

static enum hd_status add_growth_rule(struct call *call, struct rules *rules)
{
	const char *text = call->options[OPT_MAX_GROWTH].text;
	size_t size = strlen(text);
	char number[32];
	struct heap_rule rule = { .is_bytes = true, .is_growth = true };
	rule.is_percent = size && text[size - 1] == '%';
	(void)snprintf(number, sizeof(number), "%.*s",
		       (int)(size < 31 ? size - rule.is_percent : 31), text);
	if (size > 31 || !parse_number(number, &rule.limit)) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "-max-growth is a number of percent or bytes, such as 5%% or 20M, not "
			    "\"%.40s\"",
			    text);
	}
	rules->rows[rules->count++] = rule;
	return HD_OK;
}

static enum hd_status read_rules(struct call *call, struct rules *rules)
{
	const char *line = call->joined.bytes, *end;
	/* A line each, and the two options that may be given once. */
	size_t count = 2;
	for (size_t i = 0; i < call->joined.size; i++)
		count += line[i] == '\n';
	rules->rows = mem_calloc(count, sizeof(*rules->rows));
	TRY_MEMORY(rules->rows, call->err);
	for (; line && (end = strchr(line, '\n')); line = end + 1)
		TRY(add_type_rule(call, rules, line, (size_t)(end - line)));
	if (call->options[OPT_MAX_HEAP].given) {
		const uint64_t limit = call->options[OPT_MAX_HEAP].number;
		rules->rows[rules->count++] =
			(struct heap_rule){ .is_bytes = true, .limit = limit };
	}
	return call->options[OPT_MAX_GROWTH].given ? add_growth_rule(call, rules) : HD_OK;
}

/* A process is not stopped for rules that cannot be checked. */
static enum hd_status check_assert(struct call *call)
{
	const struct value *options = call->options;
	HD_CLEANUP(rules) struct rules rules = { 0 };
	if (options[OPT_MAX_GROWTH].given != options[OPT_AGAINST].given)
		return call_usage(call, "-against and -max-growth need each other");
	if (!options[OPT_MAX].given && !options[OPT_MAX_BYTES].given &&
	    !options[OPT_MAX_HEAP].given && !options[OPT_MAX_GROWTH].given)
		return call_usage(call, "a rule is missing");
	return read_rules(call, &rules);
}

/* Count what is alive in @p session, by type; to be freed with pages_free(). */
static enum hd_status count_live(struct call *call, struct hd_session *session,
				 struct hd_graph *graph, struct live_count **ret)
{
	const struct reach *live;
	TRY(session_live(session, &call->job, &live, call->err));
	struct live_count *counts = pages_alloc(graph->type_count, sizeof(*counts));
	TRY_MEMORY(counts, call->err);
	enum hd_status status = live_types_count(graph, live, &call->job, counts, call->err);
	if (status == HD_OK) {
		*ret = counts;
	} else {
		pages_free(counts, graph->type_count, sizeof(*counts));
	}
	return status;
}

/* Bytes that are alive in the earlier dump. */
static enum hd_status count_before(struct call *call, struct rules *rules, uint64_t *ret)
{
	HD_CLEANUP(other_session) struct hd_session *other = NULL;
	struct hd_graph *graph;
	struct live_count *counts;
	TRY(other_session_open(call, call->options[OPT_AGAINST].text, &other));
	TRY(session_graph(other, false, &call->job, &graph, call->err));
	TRY(count_live(call, other, graph, &counts));
	*ret = live_types_total(graph, counts).size;
	const struct diff_side side = diff_side_of(graph);
	rules->was_traced = diff_has_events(&side);
	pages_free(counts, graph->type_count, sizeof(*counts));
	session_warn(other, call->sink, true);
	return HD_OK;
}

static void judge(const struct hd_graph *graph, const struct live_count *counts, uint64_t before,
		  struct heap_rule *rule)
{
	struct live_count sum = rule->pattern ? live_types_sum(graph, counts, rule->pattern)
					      : live_types_total(graph, counts);
	rule->is_any = sum.count;
	rule->found = rule->is_bytes ? sum.size : sum.count;
	if (!rule->is_growth)
		return;
	rule->before = before;
	if (rule->is_percent) {
		double limit = (double)before * ((double)rule->limit / 100);
		rule->limit = limit < (double)UINT64_MAX / 2 ? (uint64_t)limit : UINT64_MAX / 2;
	}
	rule->limit = rule->limit < UINT64_MAX - before ? rule->limit + before : UINT64_MAX;
}

#define RULE_LIST(X)                                                                               \
	X(RULE_VERDICT, "verdict", "Verdict", KIND_TEXT, 8, LOOK_LEFT,                             \
	  "ok; broken; unknown: it holds for what could be read, and not all could be; with "      \
	  "-strict also: there is no such type")                                                   \
	X(RULE_FOUND, "found", "Found", KIND_NUMBER, 14, LOOK_THOUSANDS, "what is alive")          \
	X(RULE_LIMIT, "limit", "Limit", KIND_NUMBER, 14, LOOK_THOUSANDS, "what may be alive")      \
	X(RULE_UNIT, "unit", NULL, KIND_TEXT, 0, 0, "objects or bytes")                            \
	X(RULE_TYPE, "type", NULL, KIND_TEXT, 0, 0, "of which types; null: of all")                \
	X(RULE_BEFORE, "before", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT, "bytes in the earlier dump") \
	X(RULE_ANY, "is_any", NULL, KIND_FLAG, 0, 0, "is an object of these types alive?")         \
	X(RULE_KNOWN, "is_known", NULL, KIND_FLAG, 0, 0,                                           \
	  "is there such a type, or is the rule about all objects?")

COLUMNS(rule, RULE_COLUMNS, RULE_LIST);

/* Why the rule holds although nobody may have meant it so. */
static const char *remark_of(const struct cell *cells)
{
	return cells[RULE_ANY].flag     ? ""
	       : cells[RULE_KNOWN].flag ? ": no object of such a type is alive"
					: ": there is no such type";
}

static void rule_layout(struct out *out, const struct cell *cells)
{
	const struct cell *type = &cells[RULE_TYPE];
	char found[NUMBER_SIZE], limit[NUMBER_SIZE], before[32];
	out_printf(out, "%-8s %14s %14s  %s of ", cells[RULE_VERDICT].text.bytes,
		   format_thousands(cells[RULE_FOUND].number, found),
		   format_thousands(cells[RULE_LIMIT].number, limit), cells[RULE_UNIT].text.bytes);
	if (type->is_there) {
		text_escape(&out->text, type->text.bytes, type->text.size);
	} else {
		out_puts(out, "all objects");
	}
	if (cells[RULE_BEFORE].is_there)
		out_printf(out, ", %s before", format_bytes(cells[RULE_BEFORE].number, before));
	out_printf(out, "%s\n", remark_of(cells));
}

SCHEMA(rule, .name = "rules", .is_main = true,
       .heading = "Verdict           Found          Limit  Rule", .layout = rule_layout);

/* In a table of Markdown a bar ends a cell, and a backtick ends the code that a name stands in. */
static void markdown_layout(struct out *out, const struct cell *cells)
{
	const struct cell *type = &cells[RULE_TYPE];
	char found[NUMBER_SIZE], limit[NUMBER_SIZE];
	HD_CLEANUP(text) struct text name = { 0 };
	if (type->is_there)
		text_escape(&name, type->text.bytes, type->text.size);
	out_printf(out, "| %s | %s | %s | %s of ", cells[RULE_VERDICT].text.bytes,
		   format_thousands(cells[RULE_FOUND].number, found),
		   format_thousands(cells[RULE_LIMIT].number, limit), cells[RULE_UNIT].text.bytes);
	out_puts(out, type->is_there ? "`" : "all objects");
	for (const char *at = name.bytes; at && *at; at++)
		out_printf(out, "%s%c", *at == '|' ? "\\" : "", *at == '`' ? '\'' : *at);
	out_puts(out, type->is_there ? "`" : "");
	if (cells[RULE_BEFORE].is_there)
		out_printf(out, ", %s before", format_thousands(cells[RULE_BEFORE].number, found));
	out_printf(out, "%s |\n", remark_of(cells));
}

static const struct schema markdown_schema = { .name = "rules",
					       SCHEMA_COLUMNS(rule_columns),
					       .is_main = true,
					       .heading = "| Verdict | Found | Limit | Rule |\n"
							  "| --- | ---: | ---: | --- |",
					       .layout = markdown_layout };

/* Which rules are about a type that the program does not have?  People believe a rule that a misspelt name never breaks. */
static enum hd_status check_names(struct call *call, struct rules *rules)
{
	struct hd_error *err = call->err, reason;
	for (size_t i = 0; i < rules->count; i++) {
		struct heap_rule *rule = &rules->rows[i];
		rule->is_known = true;
		if (!rule->pattern || rule->is_any)
			continue;
		call->err = &reason;
		enum hd_status status = call_check_name(call, rule->pattern);
		call->err = err;
		if (status == HD_OK)
			continue;
		if (status != HD_ERR_NOTFOUND) {
			*err = reason;
			return status;
		}
		rule->is_known = false;
		if (!rules->unknown++)
			rules->no_type = reason;
		if (!call->options[OPT_STRICT].given)
			sink_warn(call->sink, reason.message);
	}
	return HD_OK;
}

/* The sentence after the table. */
static void write_verdict(struct call *call, const struct rules *rules, size_t broken,
			  bool is_complete)
{
	const char *blank_line = call->options[OPT_MARKDOWN].given ? "\n" : "";
	const char *plural = rules->count == 1 ? "" : "s";
	if (broken) {
		answer_remark(&call->answer, "%s%zu of %zu rule%s %s broken.\n", blank_line, broken,
			      rules->count, plural, broken == 1 ? "is" : "are");
	} else if (!is_complete) {
		answer_remark(
			&call->answer,
			"%sNo rule is known to be broken: not all of the heap could be read.\n",
			blank_line);
	} else if (rules->unknown && call->options[OPT_STRICT].given) {
		answer_remark(&call->answer,
			      "%s%zu of %zu rule%s %s about a type that is not there.\n",
			      blank_line, rules->unknown, rules->count, plural,
			      rules->unknown == 1 ? "is" : "are");
	} else {
		answer_remark(&call->answer, "%sAll rules hold.\n", blank_line);
	}
	bool has_earlier = call->options[OPT_AGAINST].given;
	const struct diff_side side = diff_side_of(call->graph);
	if (has_earlier)
		tracing_began_write(call, !rules->was_traced && diff_has_events(&side), blank_line);
}

static void write_rules(struct call *call, const struct rules *rules)
{
	bool is_complete = call_is_complete(call), is_strict = call->options[OPT_STRICT].given;
	size_t broken = 0;
	answer_table(&call->answer,
		     call->options[OPT_MARKDOWN].given ? &markdown_schema : &rule_schema, NULL);
	for (size_t i = 0; i < rules->count; i++) {
		const struct heap_rule *rule = &rules->rows[i];
		bool holds = rule->found <= rule->limit;
		bool is_sure = is_complete && (rule->is_known || !is_strict);
		broken += !holds;
		const struct cell cells[RULE_COLUMNS] = {
			[RULE_VERDICT] = cell_string(!holds    ? "broken"
						     : is_sure ? "ok"
							       : "unknown"),
			[RULE_FOUND] = cell_number(rule->found),
			[RULE_LIMIT] = cell_number(rule->limit),
			[RULE_UNIT] = cell_string(rule->is_bytes ? "bytes" : "objects"),
			[RULE_TYPE] = rule->pattern ? cell_string(rule->pattern) : cell_null(),
			[RULE_BEFORE] =
				rule->is_growth ? cell_number(rule->before) : (struct cell){ 0 },
			[RULE_ANY] = cell_flag(rule->is_any),
			[RULE_KNOWN] = cell_flag(rule->is_known),
		};
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	call->findings = broken || !is_complete;
	write_verdict(call, rules, broken, is_complete);
	completeness_json(call);
	completeness_write(call, "rules may be broken by what is missing");
}

static enum hd_status run_assert(struct call *call)
{
	HD_CLEANUP(rules) struct rules rules = { 0 };
	struct live_count *counts;
	uint64_t before = 0;
	TRY(read_rules(call, &rules));
	if (call->options[OPT_AGAINST].given)
		TRY(count_before(call, &rules, &before));
	TRY(count_live(call, call->session, call->graph, &counts));
	for (size_t i = 0; i < rules.count; i++)
		judge(call->graph, counts, before, &rules.rows[i]);
	pages_free(counts, call->graph->type_count, sizeof(*counts));
	TRY(check_names(call, &rules));
	job_end(&call->job);
	write_rules(call, &rules);
	if (!rules.unknown || !call->options[OPT_STRICT].given)
		return HD_OK;
	return fail(call->err, HD_ERR_NOTFOUND, 0, "%s", rules.no_type.message);
}

COMMAND(assert, .has_rows = true, .top_level = TOP_LEVEL_NEVER,
	.summary = "check rules about live objects, for a test or a build",
	.description =
		"Only objects that a root keeps alive count: garbage that waits for a collection does\n"
		"not. TYPE is the whole name of a type, or a pattern if there is a star, ^ or $ in it:\n"
		"a star is any text, ^ is where the name begins and $ where it ends. Without ^ and $ a\n"
		"pattern matches anywhere: *Session also matches Shop.SessionFactory, *Session$ does\n"
		"not. -max and -max-bytes may be given again. A rule of which nothing is broken, where\n"
		"not all of the heap could be read, is unknown. The status is 0 if all rules hold, 1 if\n"
		"one is broken or unknown, and with -strict 2 if there is no such type.\n",
	.example = "assert -max Shop.Session=100 -max-heap 200M", .needs = NEEDS_GRAPH,
	.options = assert_options, .check = check_assert);
