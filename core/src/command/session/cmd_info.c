/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analysis/graph/diff.h"
#include "command/completeness.h"
#include "command/session/info.h"
#include "command/table.h"
#include "format/format.h"
#include "output/root_label.h"

#define INFO_OPTIONS(X)                           \
	X(OPT_LAYOUT, "layout", VALUE_NONE, NULL, \
	  "the offsets of the runtime's structures, and where each is from", NULL)

OPTIONS(info, INFO_OPTIONS);

/* Root kinds of @p graph: dump files know fewer. */
static unsigned int kind_count(const struct hd_graph *graph)
{
	return graph->origins.details ? HD_ROOT_THREAD_STATIC + 1u : HD_ROOT_GC + 1u;
}

struct root_counts {
	uint64_t kinds[HD_ROOT_THREAD_STATIC + 1];
	uint64_t weak, repeated;
};

static struct root_counts count_roots(const struct hd_graph *graph)
{
	struct root_counts counts = { 0 };
	for (uint32_t i = 0; i < graph->root_count; i++) {
		counts.kinds[graph->roots[i].kind]++;
		counts.weak += root_is_weak(&graph->roots[i]);
		counts.repeated += graph->roots[i].repeated;
	}
	return counts;
}

enum roots_column {
	ROOTS_COUNT,
	ROOTS_KINDS, /**< one for each kind */
	ROOTS_WEAK = ROOTS_KINDS + HD_ROOT_THREAD_STATIC + 1,
	ROOTS_REPEATED,
	ROOTS_COLUMNS
};

#define KIND_COLUMN(id, name, help) \
	[ROOTS_KINDS + (id)] = { "root_kinds." name, NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, help }

static const struct column roots_columns[ROOTS_COLUMNS] = {
	[ROOTS_COUNT] = { "roots", NULL, KIND_NUMBER, 0, 0, "how many there are" },
	KIND_COLUMN(HD_ROOT_INTERNAL, "internal", "roots of the runtime itself"),
	KIND_COLUMN(HD_ROOT_STACK, "stack", "roots on stacks"),
	KIND_COLUMN(HD_ROOT_FINALIZER, "finalizer", "roots in the finalizer's queues"),
	KIND_COLUMN(HD_ROOT_HANDLE, "handle", "handles"),
	KIND_COLUMN(HD_ROOT_STATIC, "static", "static fields"),
	KIND_COLUMN(HD_ROOT_GC, "gc", "roots of the GC; in a core, frozen objects"),
	KIND_COLUMN(HD_ROOT_THREAD_STATIC, "thread-static", "static fields of a thread"),
	[ROOTS_WEAK] = { "weak_roots", NULL, KIND_NUMBER, 0, 0, "roots that keep nothing alive" },
	[ROOTS_REPEATED] = { "repeated_roots", NULL, KIND_NUMBER, 0, 0,
			     "roots that repeat others" },
};

static void roots_layout(struct out *out, const struct cell *cells)
{
	char number[NUMBER_SIZE];
	const char *before = " (";
	out_printf(out, "Roots:       %s", format_thousands(cells[ROOTS_COUNT].number, number));
	for (unsigned int kind = 0; kind <= HD_ROOT_THREAD_STATIC; kind++) {
		uint64_t count = cells[ROOTS_KINDS + kind].number;
		if (!count)
			continue;
		out_printf(out, "%s%s %s", before, format_thousands(count, number),
			   root_kind_names[kind]);
		before = ", ";
	}
	out_puts(out, *before == ',' ? ")" : "");
	if (cells[ROOTS_WEAK].number)
		out_printf(out, "; %s weak", format_thousands(cells[ROOTS_WEAK].number, number));
	if (cells[ROOTS_REPEATED].number) {
		out_printf(out, "; %s repeated",
			   format_thousands(cells[ROOTS_REPEATED].number, number));
	}
	out_puts(out, "\n");
}

void info_roots(struct answer *answer, const struct hd_graph *graph)
{
	static const struct schema schema = { SCHEMA_COLUMNS(roots_columns),
					      .layout = roots_layout };
	struct root_counts counts = count_roots(graph);
	struct cell cells[ROOTS_COLUMNS] = {
		[ROOTS_COUNT] = cell_number(graph->root_count),
		[ROOTS_WEAK] = cell_number(counts.weak),
		[ROOTS_REPEATED] = cell_number(counts.repeated),
	};
	for (unsigned int kind = 0; kind < kind_count(graph); kind++)
		cells[ROOTS_KINDS + kind] = cell_number(counts.kinds[kind]);
	answer_record(answer, &schema, cells);
}

static const struct column missing_columns[] = {
	{ "missing", NULL, KIND_TEXT, 0, 0, "what is not there" },
};

const struct schema info_missing_schema = {
	.name = "missing",
	SCHEMA_COLUMNS(missing_columns),
	.is_list = true,
};

#define DOMAIN_LIST(X)                                                                  \
	X(DOMAIN_NAME, "name", NULL, KIND_TEXT, 0, 0, "name of the section")            \
	X(DOMAIN_VERSION, "version", NULL, KIND_NUMBER, 0, 0, "version of its records") \
	X(DOMAIN_START, "start", NULL, KIND_ADDRESS, 0, 0, "time at its beginning")     \
	X(DOMAIN_END, "end", NULL, KIND_ADDRESS, 0, 0, "time at its end")               \
	X(DOMAIN_LABEL, .kind = KIND_TEXT) /**< text only */

COLUMNS(domain, DOMAIN_COLUMNS, DOMAIN_LIST);

static void domain_layout(struct out *out, const struct cell *cells)
{
	const struct cell *name = &cells[DOMAIN_NAME];
	const struct cell *start = &cells[DOMAIN_START], *end = &cells[DOMAIN_END];
	bool has_both = start->is_there && end->is_there;
	out_puts(out, cells[DOMAIN_LABEL].text.bytes);
	text_escape(&out->text, name->text.bytes, name->text.size);
	/* Exports of cores have 0: not known. */
	if (has_both && !start->number && !end->number) {
		out_puts(out, "\n");
		return;
	}
	if (start->is_there)
		out_printf(out, ", %" PRIx64, start->number);
	if (has_both)
		out_printf(out, " to %" PRIx64, end->number);
	if (has_both && end->number >= start->number)
		out_printf(out, " (%" PRIu64 " ms)", end->number - start->number);
	out_puts(out, "\n");
}

static void write_domains(struct answer *answer, const struct hd_graph *graph)
{
	static const struct schema schema = { .name = "domains",
					      SCHEMA_COLUMNS(domain_columns),
					      .layout = domain_layout };
	answer_table(answer, &schema, NULL);
	for (uint32_t i = 0; i < graph->domains.count && !answer_is_stopped(answer); i++) {
		const struct graph_domain *domain = &graph->domains.rows[i];
		const struct cell cells[DOMAIN_COLUMNS] = {
			[DOMAIN_NAME] = cell_text(domain->name, domain->name_size),
			[DOMAIN_VERSION] = cell_number(domain->version),
			[DOMAIN_START] = { .is_there = domain->has_start, .number = domain->start },
			[DOMAIN_END] = { .is_there = domain->has_end, .number = domain->end },
			[DOMAIN_LABEL] = cell_string(i ? INFO_BLANK : "Domains:     "),
		};
		if (domain->name)
			answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
}

#define GRAPH_FINDING_LIST(X)                                                                 \
	X(GRAPH_FINDING_KIND, "kind", NULL, KIND_TEXT, 0, 0, "what it is, in a word")         \
	X(GRAPH_FINDING_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "how often it was met")      \
	X(GRAPH_FINDING_LINE, "line", NULL, KIND_NUMBER, 0, 0, "where it was met first")      \
	X(GRAPH_FINDING_DETAIL, "detail", NULL, KIND_TEXT, 0, 0, "what it is, as a sentence") \
	X(GRAPH_FINDING_LABEL, .heading = "label", .kind = KIND_TEXT) /**< text only */

COLUMNS(finding, GRAPH_FINDING_COLUMNS, GRAPH_FINDING_LIST);

static void write_graph_findings(struct answer *answer, const struct hd_graph *graph)
{
	static const struct schema schema = { .name = "findings",
					      SCHEMA_COLUMNS(finding_columns),
					      .lines = "{label}{count:,} {kind}: {detail}\n" };
	if (!graph->findings.count)
		answer_remark(answer, "Findings:    none\n");
	answer_table(answer, &schema, NULL);
	for (size_t i = 0; i < graph->findings.count; i++) {
		const struct graph_finding *finding = &graph->findings.rows[i];
		const struct cell cells[GRAPH_FINDING_COLUMNS] = {
			[GRAPH_FINDING_KIND] = cell_string(finding_name(finding->kind)),
			[GRAPH_FINDING_COUNT] = cell_number(finding->count),
			[GRAPH_FINDING_LINE] = { .is_there = finding->line,
						 .number = finding->line },
			[GRAPH_FINDING_DETAIL] = cell_string(finding->detail),
			[GRAPH_FINDING_LABEL] = cell_string(i ? INFO_BLANK : "Findings:    "),
		};
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
}

/* .NET's ticks as "2026-11-21 15:04:05". */
#define TICKS_SECOND     10000000u
#define TICKS_UNIX_EPOCH 621355968000000000u

static bool format_time(const struct graph_info *info, char buf[32])
{
	if (info->time < TICKS_UNIX_EPOCH)
		return false;
	time_t time = (time_t)((info->time - TICKS_UNIX_EPOCH) / TICKS_SECOND);
	struct tm parts;
	return gmtime_r(&time, &parts) && strftime(buf, 32, "%Y-%m-%d %H:%M:%S", &parts);
}

#define FILE_LIST(X)                                                                             \
	X(FILE_KIND, "kind", NULL, KIND_TEXT, 0, 0, "name of the file's format")                 \
	X(FILE_RUNTIME, "runtime", NULL, KIND_TEXT, 0, 0, "nothing: a file has none")            \
	X(FILE_PROCESS, "process.name", NULL, KIND_TEXT, 0, 0, "name of the process")            \
	X(FILE_COMMAND, "process.command", NULL, KIND_TEXT, 0, 0, "its command line")            \
	X(FILE_PID, "process.pid", NULL, KIND_NUMBER, 0, 0, "its id, or 0")                      \
	X(FILE_MACHINE, "process.machine", NULL, KIND_TEXT, 0, 0, "where it ran")                \
	X(FILE_TIME, "process.time", NULL, KIND_TEXT, 0, 0, "when the file was written, UTC")    \
	X(FILE_TOOL, "process.tool", NULL, KIND_TEXT, 0, 0, "what has written it")               \
	X(FILE_PARTIAL, "process.partial", NULL, KIND_FLAG, 0, 0,                                \
	  "does it hold only a part of the heap?")                                               \
	X(FILE_WALKABLE, "walkable", NULL, KIND_FLAG, 0, 0, "can the heap be walked?")           \
	X(FILE_OBJECTS, "objects", NULL, KIND_NUMBER, 0, 0, "how many objects it has")           \
	X(FILE_BYTES, "bytes", NULL, KIND_BYTES, 0, 0, "their bytes")                            \
	X(FILE_REFERENCES, "references", NULL, KIND_NUMBER, 0, 0, "how many there are")          \
	X(FILE_TYPES, "types", NULL, KIND_NUMBER, 0, 0, "how many types there are")              \
	X(FILE_PATH, .heading = "path", .kind = KIND_TEXT) /**< text only, as all that follow */ \
	X(FILE_SUMMARY, .heading = "summary", .kind = KIND_TEXT)                                 \
	X(FILE_HAS_PROCESS, .heading = "has_process", .kind = KIND_FLAG)                         \
	X(FILE_IS_DATED, .heading = "is_dated", .kind = KIND_FLAG)

COLUMNS(file, FILE_COLUMNS, FILE_LIST);

static void file_cells(const struct call *call, char time[32], struct cell cells[FILE_COLUMNS])
{
	const struct hd_graph *graph = call->graph;
	const struct graph_info *info = &graph->info;
	cells[FILE_KIND] = cell_string(call->session->format->name);
	cells[FILE_PROCESS] = cell_string(info->process);
	cells[FILE_COMMAND] = cell_string(info->command);
	cells[FILE_PID] = cell_number(info->pid);
	cells[FILE_MACHINE] = cell_string(info->machine);
	cells[FILE_TIME] = cell_string(format_time(info, time) ? time : NULL);
	cells[FILE_TOOL] = cell_string(info->tool);
	cells[FILE_HAS_PROCESS] = cell_flag(info->process || info->pid || info->machine);
	cells[FILE_IS_DATED] = cell_flag(cells[FILE_TIME].is_there || info->tool);
	cells[FILE_PARTIAL] = cell_flag(info->is_partial);
	cells[FILE_WALKABLE] = cell_flag(true);
	cells[FILE_OBJECTS] = cell_number(graph->object_count);
	cells[FILE_BYTES] = cell_number(graph->total_size);
	cells[FILE_REFERENCES] = cell_number(graph->forward.edge_count);
	cells[FILE_TYPES] = cell_number(graph->type_count);
	cells[FILE_PATH] = cell_string(call->session->path);
	cells[FILE_SUMMARY] = cell_string(call->session->format->summary);
}

/* Write what kind of file it is, and what is in it: text has the domains between the two. */
static void write_file_info(struct call *call)
{
	static const struct schema file_schema = {
		SCHEMA_COLUMNS(file_columns),
		.lines = "File:        {path}\nFormat:      {kind} ({summary})\n"
			 "[?has_process Process:     {process.name}[?process.pid [=process.name , "
			 "]{process.pid}][ on {process.machine}]\n]"
			 "[Command:     {process.command}\n]"
			 "[?is_dated Written:     {process.time}[=process.tool [=process.time  ]by "
			 "{process.tool}]\n]"
	};
	static const struct schema counts_schema = {
		SCHEMA_COLUMNS(file_columns),
		.lines = "Objects:     {objects:,} ({bytes:,} bytes)\n"
			 "References:  {references:,}\nTypes:       {types:,}\n"
	};
	struct answer *answer = &call->answer;
	struct cell cells[FILE_COLUMNS] = { 0 };
	char time[32];
	file_cells(call, time, cells);
	answer_heading(answer, &file_schema, cells);
	if (answer_is_text(answer))
		write_domains(answer, call->graph);
	answer_record(answer, &counts_schema, cells);
}

/* Is it a heap that its process sent, which makes objects for that? */
static bool is_collected(const struct call *call)
{
	return call->session->format == &gcdump_format || call->session->format == &nettrace_format;
}

#define TRACING_LIST(X)                                                                       \
	X(TRACING_MERGED, "roots_merged", NULL, KIND_FLAG, 0, 0,                              \
	  "has the file one root of each kind for an object?")                                \
	X(TRACING_FROZEN, "frozen_known", NULL, KIND_FLAG, 0, 0,                              \
	  "are frozen objects known, which then have roots?")                                 \
	X(TRACING_EVENTS, "event_metadata", NULL, KIND_FLAG, 0, 0,                            \
	  "are there the objects that come of tracing?")                                      \
	X(TRACING_BEFORE, "traced_before", NULL, KIND_FLAG, 0, 0,                             \
	  "was the process traced before? null: not known")                                   \
	X(TRACING_FREE_COUNT, "free.count", NULL, KIND_NUMBER, 0, 0, "none: a file has none") \
	X(TRACING_FREE_SIZE, "free.size", NULL, KIND_BYTES, 0, 0, "their bytes")

COLUMNS(tracing, TRACING_COLUMNS, TRACING_LIST);

/*
 * Do objects of a trace lack the names of their types, although nothing of it is lost?  A runtime that has
 * sent a name to another session may not send it again.
 */
static bool has_sent_names_before(const struct call *call)
{
	const struct graph_findings *findings = &call->graph->findings;
	bool is_unnamed = false, is_whole = call->session->format == &nettrace_format;
	for (size_t i = 0; i < findings->count; i++) {
		enum finding_kind kind = findings->rows[i].kind;
		is_unnamed |= kind == FINDING_UNRESOLVED_TYPE;
		is_whole &= kind != FINDING_PARTIAL_HEAP && kind != FINDING_LOST_EVENTS &&
			    kind != FINDING_TRUNCATED && kind != FINDING_DAMAGED;
	}
	return is_unnamed && is_whole;
}

static void write_tracing_info(struct call *call)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(tracing_columns),
		.lines =
			"[=event_metadata Tracing:     [=traced_before [?traced_before the process was "
			"traced before, or listens to events itself: some 2,900 objects\n"
			"             (230 KB) come from that|no sign that the process was traced "
			"before: the first time leaves some 2,900 objects\n"
			"             (230 KB), which later snapshots have]|nothing tells whether the "
			"process was traced before: it has no event sources of\n"
			"             the runtime, so tracing leaves no objects]\n]"
	};
	const struct diff_side side = diff_side_of(call->graph);
	const bool has_events = diff_has_events(&side);
	const bool was_traced = has_events || has_sent_names_before(call);
	const struct cell cells[TRACING_COLUMNS] = {
		[TRACING_MERGED] = cell_flag(call_merges_roots(call)),
		[TRACING_FROZEN] = cell_flag(!call_lacks_frozen(call)),
		[TRACING_EVENTS] = { .is_there = is_collected(call), .flag = has_events },
		[TRACING_BEFORE] = { .is_there = is_collected(call) &&
						 (was_traced || diff_has_event_sources(&side)),
				     .flag = was_traced },
		[TRACING_FREE_COUNT] = cell_number(0),
		[TRACING_FREE_SIZE] = cell_number(0),
	};
	answer_record(&call->answer, &schema, cells);
}

/* Name the roots that a runtime does not send, or not as what they are. */
static void write_unsent_roots(struct call *call)
{
	struct answer *answer = &call->answer;
	if (!is_collected(call))
		return;
	if (call_lacks_frozen(call)) {
		answer_remark(
			answer, INFO_BLANK
			"Frozen objects (literals, types) have no roots in this file: with the\n" INFO_BLANK
			"option -generations, collect finds out which ones they are.\n");
	}
	if (!count_roots(call->graph).kinds[HD_ROOT_THREAD_STATIC]) {
		answer_remark(
			answer, INFO_BLANK
			"Thread statics have no roots of their own: the runtime sends them as\n" INFO_BLANK
			"roots of stacks or as handles, and not which ones they are.\n");
	}
}

static void write_graph_info(struct call *call)
{
	struct answer *answer = &call->answer;
	write_file_info(call);
	info_roots(answer, call->graph);
	merged_roots_write(call, INFO_BLANK);
	write_unsent_roots(call);
	write_tracing_info(call);
	if (!answer_is_text(answer))
		write_domains(answer, call->graph);
	answer_table(answer, &info_missing_schema,
		     &(const struct table_options){ .no_heading = true });
	(void)answer_table_end(answer);
	write_graph_findings(answer, call->graph);
}

/* Not of what the file has besides: other snapshots, and what was lost of those. */
static bool has_faults(const struct hd_graph *graph)
{
	for (size_t i = 0; i < graph->findings.count; i++) {
		if (!finding_traits(graph->findings.rows[i].kind)->is_elsewhere)
			return true;
	}
	return false;
}

/*
 * Write what holds this process: the shell program says so, debuggers hold the library themselves.
 */
static void write_sandbox(struct call *call)
{
	static const struct column columns[] = {
		{ "sandbox", "Sandbox:     ", KIND_TEXT, 0, 0, "what holds this process" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	const struct cell state = cell_string(call->session->sandbox);
	if (state.text.size)
		answer_record(&call->answer, &schema, &state);
}

static enum hd_status run_info(struct call *call)
{
	bool layout = call->options[OPT_LAYOUT].given;
	if (call->session->target) {
		TRY(run_info_target(call, layout));
		if (!layout)
			write_sandbox(call);
		return HD_OK;
	}
	if (layout) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0, "-layout needs a core or a process");
	}
	call->graph = call->session->graph;
	call->findings = has_faults(call->graph);
	write_graph_info(call);
	write_sandbox(call);
	return HD_OK;
}

COMMAND(info, .top_level = TOP_LEVEL_NEVER, .tells_findings = true,
	.summary = "describe what is open: what it is, totals, findings",
	.description =
		"Findings say what is incomplete or wrong. In a dump file: references and types that\n"
		"it does not define, a missing end, records that --lenient left out. In a core or\n"
		"process: what is missing, what that costs, and what can be done.\n",
	.needs = NEEDS_OUTLINE, .options = info_options);
