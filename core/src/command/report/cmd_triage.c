/* SPDX-License-Identifier: MIT */
/* The first look at a target: the answers of other commands, in a few lines. */
#include <inttypes.h>
#include <string.h>

#include "command/report/first_look.h"
#include "gc/heap.h"

/* A heap with more objects is reported by report itself: that takes more than two seconds. */
#define REPORT_OBJECTS_MAX 4000000u
/* Findings, and commands to go on with. */
#define FINDINGS_SHOWN 3u
#define NEXT_MAX       3u
#define GROUPS_SHOWN   3u

/* The state of a triage. */
struct triage {
	struct call *call;
	struct text next[NEXT_MAX]; /* commands to go on with, the most telling first */
	size_t next_count;
	struct text reason; /* why the last part that is not known is not */
};

static void triage_deinit(struct triage *triage)
{
	text_deinit(&triage->reason);
	for (size_t i = 0; i < NEXT_MAX; i++)
		text_deinit(&triage->next[i]);
}

static void note_next(struct triage *triage, const char *command, size_t size)
{
	for (size_t i = 0; i < triage->next_count; i++) {
		const struct text *have = &triage->next[i];
		if (have->size == size && memcmp(have->bytes, command, size) == 0)
			return;
	}
	if (size && triage->next_count < NEXT_MAX)
		text_append(&triage->next[triage->next_count++], command, size);
}

/* Text says a reason once for all parts that it counts for. */
static void shorten_reason(struct triage *triage, struct look_part *part)
{
	struct text *reason = &triage->reason;
	if (reason->size && reason->size == part->text.size &&
	    memcmp(reason->bytes, part->text.bytes, reason->size) == 0) {
		part->text.size = 0;
		text_puts(&part->text, "not known, for the same reason");
		return;
	}
	reason->size = 0;
	text_append(reason, part->text.bytes, part->text.size);
}

/* Write a row, and propose its command if it has found something. */
static void write_part(struct triage *triage, struct look_part *part)
{
	if (strcmp(part->state, "found") == 0)
		note_next(triage, part->next, strlen(part->next));
	if (strcmp(part->state, "not known") == 0 && answer_is_text(&triage->call->answer))
		shorten_reason(triage, part);
	look_part_write(triage->call, part);
}

typedef enum hd_status look_at(struct call *call, struct look_part *ret);

static enum hd_status look_and_write(struct triage *triage, look_at *look)
{
	HD_CLEANUP(look_part) struct look_part part = { .name = NULL };
	TRY(look(triage->call, &part));
	write_part(triage, &part);
	return HD_OK;
}

/* "80.6 MB: stacks 56.1 MB, GC heap 13.8 MB, images 6.2 MB", of what info has. */
static void write_memory(struct triage *triage, const struct hd_rows *rows)
{
	static const struct {
		const char *member, *name;
	} groups[] = {
		{ "memory.gc", "GC heap" },    { "memory.native", "native" },
		{ "memory.stacks", "stacks" }, { "memory.images", "images" },
		{ "memory.files", "files" },   { "memory.runtime", "runtime" },
	};
	HD_CLEANUP(look_part)
	struct look_part part = { .name = "memory", .state = "fact", .next = "memory" };
	uint64_t last = UINT64_MAX, resident = look_number(rows, "memory.resident");
	uint64_t all = resident ? resident : look_number(rows, "memory.in_core");
	char size[32];
	if (!all)
		return;
	text_puts(&part.text, format_bytes(all, size));
	for (unsigned int shown = 0; shown < GROUPS_SHOWN; shown++) {
		uint64_t most = 0;
		const char *name = NULL;
		for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
			uint64_t bytes = look_number(rows, groups[i].member);
			if (bytes < last && bytes > most) {
				most = bytes;
				name = groups[i].name;
			}
		}
		if (!name)
			break;
		last = most;
		text_printf(&part.text, "%s%s %s", shown ? ", " : ": ", name,
			    format_bytes(most, size));
	}
	write_part(triage, &part);
}

/* A dump file has no such member: it has all of its objects. */
static bool has_all_objects(const struct hd_rows *rows)
{
	const struct hd_value *walkable = hd_rows_member(rows, "walkable");
	return !walkable || walkable->kind == HD_KIND_NULL || walkable->number;
}

/* Is it a core or a process in which no runtime was found, because it is cut, or has none? */
static bool lacks_runtime(const struct triage *triage)
{
	return triage->call->session->target && !triage->call->session->runtime;
}

/* Is it a mini dump, or a core that lacks so much, that no command about the heap has an answer? */
static bool lacks_heap(const struct triage *triage)
{
	const struct heap *heap = triage->call->session->heap;
	return heap && !heap->is_walkable;
}

static void append_objects(struct text *text, const struct hd_rows *rows)
{
	char count[COUNT_SIZE], size[32];
	text_printf(
		text, ", %s with %s%s", format_count(look_number(rows, "objects"), "object", count),
		format_bytes(look_number(rows, "bytes"), size),
		has_all_objects(rows) ? ""
				      : " could be read: not all of the heap can be walked (info)");
}

/* "core of process 19538, .NET 10.0.12, 8 threads, 72,859 objects with 5.3 MB" */
static enum hd_status look_at_target(struct triage *triage, uint64_t *ret_objects)
{
	HD_CLEANUP(look_part) struct look_part part = { .name = "target", .state = "fact" };
	struct text *text = &part.text;
	struct hd_rows *rows;
	char count[COUNT_SIZE];
	TRY(look_ask(triage->call, "info", &part, &rows));
	if (!rows) {
		write_part(triage, &part);
		return HD_OK;
	}
	const struct hd_value *kind = hd_rows_member(rows, "kind");
	bool is_core = look_has_text(kind) && kind->size == 4 && memcmp(kind->text, "core", 4) == 0;
	look_append(text, kind);
	if (look_number(rows, "pid")) {
		text_printf(text, is_core ? " of process %" PRIu64 : " %" PRIu64,
			    look_number(rows, "pid"));
	}
	if (look_has_text(hd_rows_member(rows, "runtime.version"))) {
		text_puts(text, ", .NET ");
		look_append(text, hd_rows_member(rows, "runtime.version"));
	}
	if (look_has_text(hd_rows_member(rows, "runtime.flavor"))) {
		text_puts(text, " ");
		look_append(text, hd_rows_member(rows, "runtime.flavor"));
	}
	if (look_number(rows, "threads")) {
		text_printf(text, ", %s",
			    format_count(look_number(rows, "threads"), "thread", count));
	}
	*ret_objects = look_number(rows, "objects");
	if (!lacks_runtime(triage))
		append_objects(text, rows);
	write_part(triage, &part);
	write_memory(triage, rows);
	hd_rows_free(rows);
	return HD_OK;
}

static void write_finding(struct triage *triage, const struct hd_rows *rows,
			  const struct hd_table *table, uint64_t row)
{
	HD_CLEANUP(text) struct text text = { 0 }, next = { 0 }, severity = { 0 };
	const struct hd_value *bytes = look_value(rows, table, row, "stake.bytes");
	char size[32];
	look_append(&text, look_value(rows, table, row, "title"));
	if (bytes && bytes->number)
		text_printf(&text, "  %s", format_bytes(bytes->number, size));
	look_append(&next, look_value(rows, table, row, "next"));
	look_append(&severity, look_value(rows, table, row, "severity"));
	look_finding_write(triage->call, &severity, &text, &next);
	note_next(triage, next.bytes, next.size);
}

/* How many rules of the report could not run, for lack of data. */
static uint64_t count_idle_rules(const struct hd_rows *rows)
{
	const struct hd_table *table = hd_rows_find(rows, "rules");
	uint64_t count = 0;
	for (uint64_t i = 0; i < hd_rows_count(rows, table); i++) {
		const struct hd_value *ran = look_value(rows, table, i, "ran");
		count += ran && !ran->number;
	}
	return count;
}

static enum hd_status look_at_findings(struct triage *triage, uint64_t objects)
{
	HD_CLEANUP(look_part) struct look_part part = { .name = "finding", .state = "none" };
	struct hd_rows *rows;
	uint64_t shown = 0;
	char count[COUNT_SIZE];
	if (objects > REPORT_OBJECTS_MAX) {
		text_printf(&part.text, "not looked for among %s: report does",
			    format_count(objects, "object", count));
		part.state = "not known";
		part.next = "report";
		write_part(triage, &part);
		note_next(triage, "report", 6);
		return HD_OK;
	}
	TRY(look_ask(triage->call, "report", &part, &rows));
	if (!rows) {
		write_part(triage, &part);
		return HD_OK;
	}
	const struct hd_table *table = hd_rows_find(rows, "findings");
	for (uint64_t i = 0; i < hd_rows_count(rows, table) && shown < FINDINGS_SHOWN; i++) {
		const struct hd_value *severity = look_value(rows, table, i, "severity");
		bool is_told = severity && (severity->text[0] == 'h' || severity->text[0] == 'm');
		if (!is_told)
			continue;
		write_finding(triage, rows, table, i);
		shown++;
	}
	const struct hd_value *complete = hd_rows_member(rows, "complete");
	if (!shown) {
		bool is_whole = complete && complete->kind == HD_KIND_FLAG && complete->number;
		uint64_t idle = count_idle_rules(rows);
		part.state = is_whole && !idle ? "none" : "not known";
		text_puts(&part.text, "none of severity high or medium");
		text_puts(&part.text, is_whole ? "" : ", but not all could be read (report)");
		if (idle) {
			text_printf(&part.text, ", but %s could not run here (report --json)",
				    format_count(idle, "rule", count));
		}
		write_part(triage, &part);
	}
	hd_rows_free(rows);
	return HD_OK;
}

/* Say once why no command about .NET has an answer. */
static enum hd_status look_at_missing_runtime(struct triage *triage)
{
	HD_CLEANUP(look_part)
	struct look_part part = { .name = "runtime", .state = "not known" };
	struct hd_rows *rows;
	TRY(look_ask(triage->call, "eeversion", &part, &rows));
	hd_rows_free(rows);
	part.next = "info";
	write_part(triage, &part);
	triage->call->findings = true;
	return HD_OK;
}

static enum hd_status look_at_runtime(struct triage *triage, uint64_t objects)
{
	TRY(look_and_write(triage, look_at_crash));
	TRY(look_and_write(triage, look_at_damage));
	TRY(look_and_write(triage, look_at_hang));
	TRY(look_at_findings(triage, objects));
	/* It says more of those that wait than the headline. */
	if (triage->call->session->target && !lacks_heap(triage))
		note_next(triage, "hang", 4);
	return HD_OK;
}

static void write_next(struct triage *triage)
{
	static const char *const of_dump[] = { "report", "dumpheap -stat", "roots" };
	static const char *const of_target[] = { "report", "dumpheap -stat", "clrstack -all" };
	static const char *const of_stacks[] = { "clrstack -all", "clrthreads", "memory" };
	static const char *const of_other[] = { "info", "memory", "modules" };
	bool is_target = triage->call->session->target;
	const char *const *usual = lacks_runtime(triage) ? of_other
				   : lacks_heap(triage)  ? of_stacks
				   : is_target           ? of_target
							 : of_dump;
	const char *words[NEXT_MAX];
	struct answer *answer = &triage->call->answer;
	for (size_t i = 0; i < NEXT_MAX; i++)
		note_next(triage, usual[i], strlen(usual[i]));
	answer_remark(answer, "Go on with:\n");
	for (size_t i = 0; i < triage->next_count; i++) {
		HD_CLEANUP(text) struct text shown = { 0 };
		words[i] = triage->next[i].bytes ? triage->next[i].bytes : "";
		triage->call->out.text.failed |= triage->next[i].failed;
		text_escape(&shown, triage->next[i].bytes, triage->next[i].size);
		answer_remark(answer, "  %s\n", shown.bytes ? shown.bytes : "");
	}
	answer_list(answer, "next", words, triage->next_count);
}

static enum hd_status run_triage(struct call *call)
{
	static const struct table_options options = { .no_heading = true };
	HD_CLEANUP(triage) struct triage triage = { .call = call };
	uint64_t objects = 0;
	answer_table(&call->answer, &parts_schema, &options);
	TRY(look_at_target(&triage, &objects));
	if (lacks_runtime(&triage)) {
		TRY(look_at_missing_runtime(&triage));
	} else {
		TRY(look_at_runtime(&triage, objects));
	}
	(void)answer_table_end(&call->answer);
	write_next(&triage);
	return HD_OK;
}

COMMAND(triage, .has_rows = true,
	.summary = "the first look: crash, damage, hang, memory, findings, and how to go on",
	.description =
		"Runs info, crashinfo, verifyheap, hang and report, and shows the main line of each,\n"
		"and three commands to go on with. A part that has no answer for this target says why. A heap\n"
		"with more than 4,000,000 objects is not reported here: report takes some seconds then.\n"
		"Ends with status 1 when there is a crash, damage, a verdict of hang, or a finding of\n"
		"severity high or medium; and when there is no runtime, as in a core that is cut.\n",
	.needs = NEEDS_OUTLINE);
