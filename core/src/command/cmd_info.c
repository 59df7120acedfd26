/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "command/completeness.h"
#include "command/info.h"
#include "format/format.h"
#include "query/diff.h"
#include "report/root_label.h"

enum {
	OPT_LAYOUT
};

const struct option info_options[] = {
	[OPT_LAYOUT] = { "layout", VALUE_NONE, NULL,
			 "the offsets of the runtime's structures, and where each is from", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* Root kinds of @p graph: dump files know fewer. */
static unsigned int kind_count(const struct hd_graph *graph)
{
	return graph->details ? HD_ROOT_THREAD_STATIC + 1u : HD_ROOT_GC + 1u;
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

void info_json_roots(struct json *json, const struct hd_graph *graph)
{
	struct root_counts counts = count_roots(graph);
	json_number(json, "roots", graph->root_count);
	json_object(json, "root_kinds");
	for (unsigned int kind = 0; kind < kind_count(graph); kind++)
		json_number(json, root_kind_names[kind], counts.kinds[kind]);
	json_end(json);
	json_number(json, "weak_roots", counts.weak);
	json_number(json, "repeated_roots", counts.repeated);
}

static void json_time(struct json *json, const char *key, bool has, uint64_t time)
{
	if (has) {
		json_address(json, key, time);
	} else {
		json_null(json, key);
	}
}

static void json_domains(struct json *json, const struct hd_graph *graph)
{
	json_array(json, "domains");
	for (uint32_t i = 0; i < graph->domain_count && !json->out->stopped; i++) {
		const struct graph_domain *domain = &graph->domains[i];
		if (!domain->name)
			continue;
		json_object(json, NULL);
		json_text(json, "name", domain->name, domain->name_size);
		json_number(json, "version", domain->version);
		json_time(json, "start", domain->has_start, domain->start);
		json_time(json, "end", domain->has_end, domain->end);
		json_end(json);
	}
	json_end(json);
}

static void json_findings(struct json *json, const struct hd_graph *graph)
{
	json_array(json, "findings");
	for (size_t i = 0; i < graph->finding_count; i++) {
		const struct graph_finding *finding = &graph->findings[i];
		json_object(json, NULL);
		json_string(json, "kind", finding->kind);
		json_number(json, "count", finding->count);
		if (finding->line) {
			json_number(json, "line", finding->line);
		} else {
			json_null(json, "line");
		}
		json_string(json, "detail", finding->detail);
		json_end(json);
	}
	json_end(json);
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

/* What the file says of the process. */
static void json_process(struct json *json, const struct graph_info *info)
{
	char time[32];
	json_object(json, "process");
	json_string(json, "name", info->process);
	json_string(json, "command", info->command);
	json_number(json, "pid", info->pid);
	json_string(json, "machine", info->machine);
	json_string(json, "time", format_time(info, time) ? time : NULL);
	json_string(json, "tool", info->tool);
	json_bool(json, "partial", info->is_partial);
	json_end(json);
}

static void put_part(struct out *out, const char *before, const char *text)
{
	if (!text)
		return;
	out_puts(out, before);
	text_escape(&out->text, text, strlen(text));
}

static void text_process(struct out *out, const struct graph_info *info)
{
	char time[32];
	if (info->process || info->pid || info->machine) {
		out_puts(out, "Process:     ");
		put_part(out, "", info->process);
		if (info->pid)
			out_printf(out, "%s%" PRIu64, info->process ? ", " : "", info->pid);
		put_part(out, " on ", info->machine);
		out_puts(out, "\n");
	}
	put_part(out, "Command:     ", info->command);
	out_puts(out, info->command ? "\n" : "");
	bool has_time = format_time(info, time);
	if (has_time || info->tool) {
		out_printf(out, "Written:     %s", has_time ? time : "");
		put_part(out, has_time ? " by " : "by ", info->tool);
		out_puts(out, "\n");
	}
}

/* Is it a heap that its process sent, which makes objects for that? */
static bool is_collected(const struct call *call)
{
	return call->session->format == &gcdump_format || call->session->format == &nettrace_format;
}

static void json_tracing(struct call *call)
{
	const struct diff_side side = diff_side_of(call->graph);
	if (is_collected(call)) {
		json_bool(&call->json, "event_metadata", diff_has_events(&side));
	} else {
		json_null(&call->json, "event_metadata");
	}
}

static void text_tracing(struct call *call)
{
	const struct diff_side side = diff_side_of(call->graph);
	if (!is_collected(call))
		return;
	out_puts(
		&call->out,
		diff_has_events(&side)
			? "Tracing:     the process was traced before, or listens to events itself: "
			  "some 2,900 objects\n             (230 KB) come of that\n"
			: "Tracing:     no sign that the process was traced before: the first time leaves "
			  "some 2,900 objects\n             (230 KB), which later snapshots have\n");
}

static void write_json(struct call *call)
{
	const struct hd_graph *graph = call->graph;
	struct json *json = &call->json;
	json_string(json, "kind", call->session->format->name);
	json_null(json, "runtime");
	json_process(json, &graph->info);
	json_bool(json, "walkable", true);
	json_number(json, "objects", graph->object_count);
	json_number(json, "bytes", graph->total_size);
	json_number(json, "references", graph->forward.edge_count);
	json_number(json, "types", graph->type_count);
	info_json_roots(json, graph);
	json_bool(json, "roots_merged", call_merges_roots(call));
	json_tracing(call);
	json_object(json, "free");
	json_number(json, "count", 0);
	json_number(json, "size", 0);
	json_end(json);
	json_domains(json, graph);
	json_array(json, "missing");
	json_end(json);
	json_findings(json, graph);
}

static void text_domains(struct out *out, const struct hd_graph *graph)
{
	for (uint32_t i = 0; i < graph->domain_count && !out->stopped; i++) {
		const struct graph_domain *domain = &graph->domains[i];
		if (!domain->name)
			continue;
		out_puts(out, i ? "             " : "Domains:     ");
		text_escape(&out->text, domain->name, domain->name_size);
		/* 0 stands in exports of cores: not known. */
		if (domain->has_start && domain->has_end && !domain->start && !domain->end) {
			out_puts(out, "\n");
			continue;
		}
		if (domain->has_start)
			out_printf(out, ", %" PRIx64, domain->start);
		if (domain->has_start && domain->has_end)
			out_printf(out, " to %" PRIx64, domain->end);
		if (domain->has_start && domain->has_end && domain->end >= domain->start)
			out_printf(out, " (%" PRIu64 " ms)", domain->end - domain->start);
		out_puts(out, "\n");
	}
}

void info_text_roots(struct out *out, const struct hd_graph *graph)
{
	struct root_counts counts = count_roots(graph);
	char number[27];
	out_printf(out, "Roots:       %s", format_thousands(graph->root_count, number));
	const char *before = " (";
	for (unsigned int kind = 0; kind < kind_count(graph); kind++) {
		if (!counts.kinds[kind])
			continue;
		out_printf(out, "%s%s %s", before, format_thousands(counts.kinds[kind], number),
			   root_kind_names[kind]);
		before = ", ";
	}
	out_puts(out, *before == ',' ? ")" : "");
	if (counts.weak)
		out_printf(out, "; %s weak", format_thousands(counts.weak, number));
	if (counts.repeated)
		out_printf(out, "; %s repeated", format_thousands(counts.repeated, number));
	out_puts(out, "\n");
}

static void text_findings(struct out *out, const struct hd_graph *graph)
{
	char number[27];
	if (!graph->finding_count) {
		out_puts(out, "Findings:    none\n");
		return;
	}
	for (size_t i = 0; i < graph->finding_count; i++) {
		const struct graph_finding *finding = &graph->findings[i];
		out_printf(out, "%s%s %s: ", i ? "             " : "Findings:    ",
			   format_thousands(finding->count, number), finding->kind);
		text_escape(&out->text, finding->detail, strlen(finding->detail));
		out_puts(out, "\n");
	}
}

static void write_text(struct call *call)
{
	const struct hd_graph *graph = call->graph;
	struct out *out = &call->out;
	char number[27];
	out_puts(out, "File:        ");
	text_escape(&out->text, call->session->path, strlen(call->session->path));
	out_printf(out, "\nFormat:      %s (%s)\n", call->session->format->name,
		   call->session->format->summary);
	text_process(out, &graph->info);
	text_domains(out, graph);
	out_printf(out, "Objects:     %s", format_thousands(graph->object_count, number));
	out_printf(out, " (%s bytes)\n", format_thousands(graph->total_size, number));
	out_printf(out, "References:  %s\n", format_thousands(graph->forward.edge_count, number));
	out_printf(out, "Types:       %s\n", format_thousands(graph->type_count, number));
	info_text_roots(out, graph);
	merged_roots_write(call, "             ");
	text_tracing(call);
	text_findings(out, graph);
}

/* Not of what the file has besides: other snapshots, and what was lost of those. */
static bool has_faults(const struct hd_graph *graph)
{
	for (size_t i = 0; i < graph->finding_count; i++) {
		const char *kind = graph->findings[i].kind;
		if (strcmp(kind, "snapshots") != 0 && strcmp(kind, "other-losses") != 0)
			return true;
	}
	return false;
}

/* What holds this process: the shell program says so, debuggers hold the library themselves. */
static void write_sandbox(struct call *call)
{
	const char *state = call->session->sandbox;
	if (!*state)
		return;
	if (call->as_json) {
		json_string(&call->json, "sandbox", state);
	} else {
		out_printf(&call->out, "Sandbox:     %s\n", state);
	}
}

enum hd_status run_info(struct call *call)
{
	bool layout = call->options[OPT_LAYOUT].given;
	if (call->session->target) {
		TRY(run_info_target(call, layout));
		if (!layout)
			write_sandbox(call);
		return HD_OK;
	}
	if (layout) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "-layout is about a core or a process");
	}
	call->graph = call->session->graph;
	call->findings = has_faults(call->graph);
	if (call->as_json) {
		write_json(call);
	} else {
		write_text(call);
	}
	write_sandbox(call);
	return HD_OK;
}
