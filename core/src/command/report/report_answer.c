/* SPDX-License-Identifier: MIT */
#include "command/report/report_answer.h"

#include <inttypes.h>
#include <string.h>

#include "command/completeness.h"
#include "findings/comparison.h"
#include "findings/rule.h"
#include "session/losses.h"
#include "util/text.h"

#define FINDING_LIST(X)                                                                      \
	X(FINDING_ID, "id", NULL, KIND_TEXT, 0, 0,                                           \
	  "has no address: the same in two dumps of one program")                            \
	X(FINDING_RULE, "rule", NULL, KIND_TEXT, 0, 0, "name of the rule")                   \
	X(FINDING_SEVERITY, "severity", NULL, KIND_TEXT, 0, 0, "high, medium, low or info")  \
	X(FINDING_CONFIDENCE, "confidence", NULL, KIND_TEXT, 0, 0, "high, medium or low")    \
	X(FINDING_TITLE, "title", NULL, KIND_TEXT, 0, 0, "some words")                       \
	X(FINDING_SENTENCE, "sentence", NULL, KIND_TEXT, 0, 0, "what it means")              \
	X(FINDING_LOOK_AT, "look_at", NULL, KIND_TEXT, 0, 0, "what to look at in the code")  \
	X(FINDING_NEXT, "next", NULL, KIND_TEXT, 0, 0, "the command that shows more")        \
	X(FINDING_LIMITED, "limited", NULL, KIND_FLAG, 0, 0, "was not all of it looked at?") \
	X(FINDING_BYTES, "stake.bytes", NULL, KIND_BYTES, 0, 0, "what it is about")          \
	X(FINDING_OBJECTS, "stake.objects", NULL, KIND_NUMBER, 0, 0, "the same in objects")  \
	X(FINDING_SHARE, "stake.share_of_live", NULL, KIND_REAL, 0, 0,                       \
	  "its bytes as a part of the live bytes; null: they are outside of the heap")       \
	X(FINDING_SUBJECT_KIND, "subject.kind", NULL, KIND_TEXT, 0, 0,                       \
	  "kind of the root that it hangs on")                                               \
	X(FINDING_SUBJECT_NAME, "subject.name", NULL, KIND_TEXT, 0, 0,                       \
	  "the field or root that it hangs on")                                              \
	X(FINDING_SUBJECT_ADDRESS, "subject.address", NULL, KIND_ADDRESS, 0, 0,              \
	  "the object that holds it")                                                        \
	X(FINDING_BLAME_TYPE, "blame.type", NULL, KIND_TEXT, 0, 0,                           \
	  "the program's type whose field holds it")                                         \
	X(FINDING_BLAME_FIELD, "blame.field", NULL, KIND_TEXT, 0, 0,                         \
	  "that field, property or variable, as the code has it")                            \
	X(FINDING_BLAME_METHOD, "blame.method", NULL, KIND_TEXT, 0, 0,                       \
	  "a handler, callback or async method")                                             \
	X(FINDING_GROWTH, "growth.state", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT | LOOK_WHOLE,   \
	  "grows, turns over, idle or unknown")                                              \
	X(FINDING_GROWTH_REASON, "growth.reason", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,        \
	  "why it is taken for that")                                                        \
	X(FINDING_GROWTH_COUNT, "growth.count", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,        \
	  "elements, as the collection says")                                                \
	X(FINDING_GROWTH_VERSION, "growth.version", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,    \
	  "how many changes the collection has counted")                                     \
	X(FINDING_GROWTH_YOUNG, "growth.young", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,        \
	  "elements that are younger than the last collection")                              \
	X(FINDING_SINCE, "since.state", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                  \
	  "with -against: new, grew, same, shrank or unknown")                               \
	X(FINDING_SINCE_COUNT, "since.objects_before", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, \
	  "how many there were in the other one")                                            \
	X(FINDING_SINCE_BYTES, "since.bytes_before", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,    \
	  "its bytes in the other one")                                                      \
	X(FINDING_SINCE_RATE, "since.bytes_per_hour", NULL, KIND_REAL, 0, LOOK_LEAVE_OUT,    \
	  "growth in an hour; left out where the times are not known")

COLUMNS(finding, FINDING_COLUMNS, FINDING_LIST);

static const struct schema findings_schema = {
	.name = "findings",
	SCHEMA_COLUMNS(finding_columns),
	.is_main = true,
	.lines = "\\h{severity:-7}\\.{title}  {stake.bytes:b}[?stake.share_of_live  "
		 "({stake.share_of_live})]\n"
		 "       \\w{sentence}\n       Next: {next}\n",
};

static const struct column step_columns[] = {
	{ "address", NULL, KIND_ADDRESS, 0, 0, "the object" },
	{ "type", NULL, KIND_TYPE, 0, 0, "its type" },
	{ "link", NULL, KIND_TEXT, 0, 0,
	  "how the object before it, or the root, refers to it, by the field's name in metadata" },
	{ "blamed", NULL, KIND_FLAG, 0, 0, "is that the field that is to blame?" },
};
static const struct schema path_schema_of_report = { .name = "path", SCHEMA_COLUMNS(step_columns) };

static const struct column count_columns[] = {
	{ "what", NULL, KIND_TEXT, 0, 0, "what was counted" },
	{ "value", NULL, KIND_NUMBER, 0, 0, "how many" },
};
static const struct schema counts_schema = { .name = "counts", SCHEMA_COLUMNS(count_columns) };

static const struct column sample_columns[] = {
	{ "address", NULL, KIND_ADDRESS, 0, 0, "one of the objects" },
};
static const struct schema samples_schema = { .name = "samples",
					      SCHEMA_COLUMNS(sample_columns),
					      .is_list = true };

static const struct column made_of_columns[] = {
	{ "type", NULL, KIND_TYPE, 0, 0, "a type of the program that much of a pile belongs to" },
	{ "count", NULL, KIND_NUMBER, 0, 0, "its objects" },
	{ "bytes", NULL, KIND_BYTES, 0, 0, "these, and what they have that is of no such type" },
};
static const struct schema made_of_schema = { .name = "made_of", SCHEMA_COLUMNS(made_of_columns) };

static const struct column explained_columns[] = {
	{ "id", NULL, KIND_TEXT, 0, 0, "a finding that this one explains, and that is not listed" },
};
static const struct schema explains_schema = { .name = "explains",
					       SCHEMA_COLUMNS(explained_columns),
					       .is_list = true };

static void write_holder_path(struct call *call, const struct report *report,
			      const struct report_finding *finding)
{
	const struct hd_graph *graph = report->facts.graph;
	answer_table(&call->answer, &path_schema_of_report, NULL);
	for (size_t i = 0; i < finding->holder.step_count; i++) {
		const struct path_step *step = &finding->holder.steps[i];
		const struct graph_type *type = facts_type(&report->facts, step->node);
		answer_row(&call->answer,
			   (const struct cell[]){ cell_number(graph_id(graph, step->node)),
						  cell_type(type->name, type->name_size, type->id),
						  cell_string(step->link),
						  cell_flag(step->is_blamed) });
	}
	(void)answer_table_end(&call->answer);
}

/* Write the evidence of a finding, which only data has. */
static void write_finding_evidence(struct call *call, const struct report *report,
				   const struct report_finding *finding)
{
	struct answer *answer = &call->answer;
	if (answer_is_text(answer))
		return;
	write_holder_path(call, report, finding);
	answer_table(answer, &counts_schema, NULL);
	for (size_t i = 0; i < finding->count_count; i++) {
		answer_row(answer, (const struct cell[]){ cell_string(finding->counts[i].what),
							  cell_number(finding->counts[i].value) });
	}
	(void)answer_table_end(answer);
	answer_table(answer, &samples_schema, NULL);
	for (size_t i = 0; i < finding->sample_count; i++) {
		uint64_t id = graph_id(report->facts.graph, finding->samples[i]);
		answer_row(answer, (const struct cell[]){ cell_number(id) });
	}
	(void)answer_table_end(answer);
	answer_table(answer, &made_of_schema, NULL);
	const struct made_of *made_of = report_made_of(report, finding);
	for (size_t i = 0; i < made_of->count; i++) {
		const struct graph_type *type = &report->facts.graph->types[made_of->parts[i].type];
		answer_row(answer,
			   (const struct cell[]){ cell_type(type->name, type->name_size, type->id),
						  cell_number(made_of->parts[i].count),
						  cell_number(made_of->parts[i].bytes) });
	}
	(void)answer_table_end(answer);
	answer_table(answer, &explains_schema, NULL);
	for (size_t i = 0; i < finding->explains.count; i++)
		answer_row(answer, (const struct cell[]){ cell_string(finding->explains.ids[i]) });
	(void)answer_table_end(answer);
}

static void fill_growth(const struct growth *growth, struct cell cells[FINDING_COLUMNS])
{
	const struct since *since = growth->since;
	if (growth->state != GROWTH_NOT_ASKED) {
		cells[FINDING_GROWTH] = cell_string(growth_name(growth->state));
		cells[FINDING_GROWTH_REASON] = cell_string(growth->reason);
		cells[FINDING_GROWTH_YOUNG] = cell_number(growth->young);
		if (growth->has_count)
			cells[FINDING_GROWTH_COUNT] = cell_number(growth->count);
		if (growth->has_version)
			cells[FINDING_GROWTH_VERSION] = cell_number(growth->version);
	}
	if (!since)
		return;
	cells[FINDING_SINCE] = cell_string(since_name(since->state));
	cells[FINDING_SINCE_COUNT] = cell_number(since->count_before);
	cells[FINDING_SINCE_BYTES] = cell_number(since->bytes_before);
	if (since->has_rate)
		cells[FINDING_SINCE_RATE] = cell_real(since->bytes_per_hour);
}

static void write_report_finding(struct call *call, const struct report *report,
				 const struct report_finding *finding)
{
	const struct held_by *holder = &finding->holder;
	char share[32];
	struct cell cells[FINDING_COLUMNS] = {
		[FINDING_ID] = cell_string(finding->id),
		[FINDING_RULE] = cell_string(finding->rule->name),
		[FINDING_SEVERITY] = cell_string(severity_name(finding->severity)),
		[FINDING_CONFIDENCE] = cell_string(confidence_name(finding->confidence)),
		[FINDING_TITLE] = cell_string(finding->title),
		[FINDING_SENTENCE] = cell_string(finding->sentence),
		[FINDING_LOOK_AT] = cell_string(finding->look_at),
		[FINDING_NEXT] = cell_string(finding->next),
		[FINDING_LIMITED] = cell_flag(finding->is_limited),
		[FINDING_BYTES] = cell_number(finding->bytes),
		[FINDING_OBJECTS] = cell_number(finding->objects),
		[FINDING_SUBJECT_KIND] = cell_string(holder->root_kind),
		[FINDING_SUBJECT_NAME] = cell_string(holder->name),
		[FINDING_BLAME_TYPE] = cell_string(holder->blamed_type),
		[FINDING_BLAME_FIELD] = cell_string(holder->blamed_field),
		[FINDING_BLAME_METHOD] = cell_string(finding->method),
	};
	if (!finding->rule->is_outside) {
		double part = facts_share(&report->facts, finding->bytes);
		/* Free bytes are no part of what is alive. */
		cells[FINDING_SHARE] =
			cell_shown(cell_real(part), part > 1 ? "" : format_share(part, share));
	}
	if (holder->subject != HD_NONE) {
		cells[FINDING_SUBJECT_ADDRESS] =
			cell_number(graph_id(report->facts.graph, holder->subject));
	}
	fill_growth(&finding->growth, cells);
	answer_row_begin(&call->answer, cells);
	write_finding_evidence(call, report, finding);
	answer_row_end(&call->answer);
}

static const struct column heap_columns[] = {
	{ "live", NULL, KIND_BYTES, 0, 0, "bytes that roots keep alive" },
	{ "dead", NULL, KIND_BYTES, 0, 0, "bytes that no root keeps alive" },
	{ "recent", NULL, KIND_BYTES, 0, 0,
	  "bytes in generation 0, live and dead; null: not known" },
	{ "objects", NULL, KIND_NUMBER, 0, 0, "live objects" },
};
SCHEMA(heap, .name = "heap");

static void write_heap_sums(struct call *call, const struct report *report)
{
	const struct heap_sums *sums = &report->facts.sums;
	const struct cell cells[] = { cell_number(sums->all_live), cell_number(sums->all_dead),
				      report->facts.sums.has_recent ? cell_number(sums->recent)
								    : cell_null(),
				      cell_number(sums->live_objects) };
	char live[32], dead[32], objects[COUNT_SIZE];
	answer_data(&call->answer, &heap_schema, cells);
	answer_remark(&call->answer,
		      call_lacks_frozen(call) && sums->all_dead
			      ? "%s are alive in %s; nothing in this file roots %s, which may be "
				"frozen objects.\n\n"
			      : "%s are alive in %s, %s are not.\n\n",
		      format_bytes(sums->all_live, live),
		      format_count(sums->live_objects, "object", objects),
		      format_bytes(sums->all_dead, dead));
}

static const struct column rule_columns[] = {
	{ "rule", NULL, KIND_TEXT, 0, 0, "its name" },
	{ "ran", NULL, KIND_FLAG, 0, 0, "was it checked?" },
	{ "reason", NULL, KIND_TEXT, 0, 0, "why it was not" },
	{ "limited", NULL, KIND_FLAG, 0, 0,
	  "was its limit of work met, so that it did not see all?" },
	{ "met", NULL, KIND_NUMBER, 0, 0, "the largest value that it met: a count, or percent" },
	{ "threshold", NULL, KIND_TEXT, 0, 0, "what makes a finding" },
};
static const struct schema rules_schema = { .name = "rules", SCHEMA_COLUMNS(rule_columns) };

/* How many rules were checked, and why others were not, in one line. */
static void remark_rules(struct call *call, const struct report *report)
{
	size_t ran = 0, limited = 0, count = report_rule_count();
	const char *reason = NULL;
	bool is_one = true;
	for (size_t i = 0; i < count; i++) {
		const struct rule_result *result = &report->results[i];
		ran += result->has_run;
		limited += result->is_limited;
		is_one &= !reason || !result->reason || strcmp(reason, result->reason) == 0;
		reason = reason ? reason : result->reason;
	}
	char rules[COUNT_SIZE];
	answer_remark(&call->answer, "Checked: %s", format_count(ran, "rule", rules));
	if (reason) {
		answer_remark(&call->answer, ", %zu could not run here (%s%s)", count - ran, reason,
			      is_one ? "" : ", and others");
	}
	answer_remark(&call->answer, "; %zu met %s limit of work. --json has the details.\n",
		      limited, limited == 1 ? "its" : "their");
}

static void write_rules(struct call *call, const struct report *report)
{
	struct answer *answer = &call->answer;
	size_t count = report_rule_count();
	if (answer_is_text(answer)) {
		remark_rules(call, report);
		return;
	}
	answer_table(answer, &rules_schema, NULL);
	for (size_t i = 0; i < count; i++) {
		const struct rule_result *result = &report->results[i];
		answer_row(answer, (const struct cell[]){
					   cell_string(report_rule_at(i)->name),
					   cell_flag(result->has_run), cell_string(result->reason),
					   cell_flag(result->is_limited), cell_number(result->met),
					   cell_string(report_rule_at(i)->threshold) });
	}
	(void)answer_table_end(answer);
}

static void write_largest(struct call *call, const struct report *report)
{
	HD_CLEANUP(text) struct text text = { 0 };
	answer_remark(&call->answer,
		      "No finding of severity high or medium. The largest holders:\n");
	for (size_t i = 0; i < report->largest_count; i++) {
		const struct large_holder *row = &report->largest[i];
		const struct graph_type *type = facts_type(&report->facts, row->node);
		char size[32];
		text.size = 0;
		text_escape(&text, type->name ? type->name : "?", type->name ? type->name_size : 1);
		text_printf(&text, " %" PRIx64, graph_id(report->facts.graph, row->node));
		text_puts(&text, row->name ? " in " : "");
		if (row->name)
			text_escape(&text, row->name, strlen(row->name));
		answer_remark(&call->answer, "%10s  %s\n", format_bytes(row->bytes, size),
			      text.bytes ? text.bytes : "");
	}
}

/* Under another name than in other answers: here "findings" are the answer itself. */
void report_missing(struct call *call, const struct report *report)
{
	static const struct column columns[] = {
		{ "complete", NULL, KIND_FLAG, 0, 0,
		  "false: roots, references or objects are missing, and an empty list does not mean that "
		  "nothing is wrong" },
		{ "types_by_name", NULL, KIND_NUMBER, 0, 0,
		  "types of which no module is known: their names decided whether they are the framework's" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	struct met_loss met[FINDING_KINDS];
	const char *names[FINDING_KINDS];
	size_t count = session_losses(call->session, met);
	for (size_t i = 0; i < count; i++)
		names[i] = finding_name(met[i].kind);
	answer_data(&call->answer, &schema,
		    (const struct cell[]){ cell_flag(call_is_complete(call)),
					   cell_number(facts_types_by_name(&report->facts)) });
	answer_list(&call->answer, "findings_missing", names, count);
}

void report_remark_names(struct call *call, const struct report *report)
{
	uint32_t count = facts_types_by_name(&report->facts);
	char types[COUNT_SIZE];
	if (count) {
		answer_remark(&call->answer,
			      "Names decided what is the framework's: no module is known of %s.\n",
			      format_count(count, "type", types));
	}
}

/*
 * A crash, damage or a hang comes before what leaks: a row for each that was found.  Another command that wants the
 * findings, as triage does, asks for these itself.
 */
static enum hd_status write_state(struct call *call, struct look_state *state)
{
	static const struct table_options options = { .no_heading = true };
	if (call->heap && !call->is_inner)
		TRY(look_at_state(call, state));
	answer_table(&call->answer, &state_schema, &options);
	for (size_t i = 0; i < state->count; i++) {
		if (strcmp(state->parts[i].state, "found") == 0)
			look_part_write(call, &state->parts[i]);
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

static const struct column exit_columns[] = {
	{ "exit_status", NULL, KIND_NUMBER, 0, 0,
	  "of the command: 1 if the process has crashed, its heap is damaged or it hangs, or there is a finding "
	  "that -fail-on tells of" },
};
static const struct schema exit_schema = { SCHEMA_COLUMNS(exit_columns) };

enum hd_status report_answer(struct call *call, const struct report *report,
			     struct look_state *state, uint64_t most)
{
	struct answer *answer = &call->answer;
	static const struct table_options options = { .no_heading = true };
	uint64_t shown = 0, left = 0, facts_left = 0;
	bool is_text = answer_is_text(answer), is_all = most == UINT64_MAX;
	report_missing(call, report);
	TRY(write_state(call, state));
	write_heap_sums(call, report);
	answer_table(answer, &findings_schema, &options);
	for (size_t i = 0; i < report->findings_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		bool is_fact = finding->severity > SEVERITY_LOW;
		if (is_text && (shown >= most || (is_fact && !is_all))) {
			left++;
			facts_left += is_fact;
			continue;
		}
		write_report_finding(call, report, finding);
		shown++;
	}
	(void)answer_table_end(answer);
	if (is_text && !report_has(report, SEVERITY_MEDIUM))
		write_largest(call, report);
	if (is_text && left) {
		answer_remark(answer, "%" PRIu64 " more", left);
		if (facts_left)
			answer_remark(answer, ", %" PRIu64 " of them only facts", facts_left);
		answer_remark(answer, ": -top 0 shows all.\n");
	}
	TRY(growth_write(call, report));
	write_rules(call, report);
	report_remark_names(call, report);
	completeness_write(call, "there may be more to find");
	answer_data(answer, &exit_schema, (const struct cell[]){ cell_number(call->findings) });
	return HD_OK;
}
