/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/completeness.h"
#include "command/strings.h"
#include "query/filter.h"
#include "query/reach.h"
#include "report/statistics.h"
#include "util/alloc.h"
#include "util/bitmap.h"

enum {
	OPT_MT,
	OPT_STAT,
	OPT_SHORT,
	OPT_STRINGS,
	OPT_LIMIT,
	OPT_SUMMARY
};

const struct option objsize_options[] = {
	[OPT_MT] = { "mt", VALUE_ADDRESS, "ID",
		     "of all objects of that type (MethodTable or type id) together", NULL },
	[OPT_STAT] = { "stat", VALUE_NONE, NULL, "only the statistics by type", NULL },
	[OPT_SHORT] = { "short", VALUE_NONE, NULL, "only the addresses (ids), one a line", NULL },
	[OPT_STRINGS] = { "strings", VALUE_NONE, NULL, "equal strings among them, counted", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N objects (0 = all)", NULL },
	[OPT_SUMMARY] = { "summary", VALUE_NONE, NULL, "the same as -stat", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

#define REACHES_MORE "it may reach more"

/* What is asked about: an object, or all of a type. */
struct subject {
	uint32_t node; /* HD_NONE: nodes */
	uint32_t type;
	uint32_t *nodes;
	size_t nodes_count, nodes_capacity;
};

static enum hd_status list_objects(struct call *call, const struct reach *reach,
				   struct statistics *statistics)
{
	const struct hd_graph *graph = call->graph;
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX), seen = 0, listed = 0;
	uint64_t end = graph->object_count;
	bool rows = !call->options[OPT_STAT].given;
	for (uint64_t at = bitmap_next(reach->bitmap, 0, end); at < end;
	     at = bitmap_next(reach->bitmap, at + 1, end)) {
		uint32_t node = (uint32_t)at;
		if (seen++ % 4096 == 0)
			TRY(call_check(call));
		statistics_add(statistics, graph->node_types[node], graph_size(graph, node));
		if (!rows || listed++ >= limit)
			continue;
		if (call->as_json) {
			object_json(&call->json, graph, node);
		} else if (call->options[OPT_SHORT].given) {
			out_printf(&call->out, "%" PRIx64 "\n", graph_id(graph, node));
		} else {
			object_row(&call->out, graph, node, false);
		}
	}
	bool is_cut = rows && limit < reach->count;
	char number[27];
	if (rows && call->as_json)
		json_end(&call->json);
	if (is_cut && call->as_json)
		json_bool(&call->json, "truncated", true);
	if (is_cut && !call->as_json && !call->options[OPT_SHORT].given) {
		out_printf(&call->out, "(the first %s; -limit 0 lists all)\n",
			   format_thousands(limit, number));
	}
	return HD_OK;
}

static enum hd_status write_json(struct call *call, const struct subject *subject,
				 const struct reach *reach, struct statistics *statistics)
{
	struct json *json = &call->json;
	if (subject->node != HD_NONE) {
		json_address(json, "object", graph_id(call->graph, subject->node));
	} else {
		json_null(json, "object");
		json_address(json, "mt", call->options[OPT_MT].number);
		json_number(json, "of", subject->nodes_count);
	}
	json_number(json, "count", reach->count);
	json_number(json, "size", reach_size(call->graph, reach));
	if (!call->options[OPT_STAT].given)
		json_array(json, "objects");
	TRY(list_objects(call, reach, statistics));
	statistics_sort(statistics, false, false);
	statistics_json(statistics, json);
	links_completeness_json(call);
	return HD_OK;
}

/* "Objects which X (T) transitively keep alive:" */
static void write_title(struct call *call, const struct subject *subject)
{
	const struct graph_type *type = &call->graph->types[subject->type];
	struct out *out = &call->out;
	char number[COUNT_SIZE];
	out_puts(out, "Objects which ");
	if (subject->node != HD_NONE) {
		out_printf(out, "%" PRIx64 " (", graph_id(call->graph, subject->node));
		out_type(out, type->name, type->name_size, type->id);
		out_puts(out, ")");
	} else {
		out_printf(out, "%s of ", format_count(subject->nodes_count, "object", number));
		out_type(out, type->name, type->name_size, type->id);
	}
	out_puts(out, " transitively keep alive:\n\n");
}

static enum hd_status write_text(struct call *call, const struct subject *subject,
				 const struct reach *reach, struct statistics *statistics)
{
	struct out *out = &call->out;
	if (call->options[OPT_SHORT].given)
		return list_objects(call, reach, statistics);
	write_title(call, subject);
	if (!call->options[OPT_STAT].given)
		object_row_header(out);
	TRY(list_objects(call, reach, statistics));
	statistics_sort(statistics, false, false);
	out_puts(out, call->options[OPT_STAT].given ? "Statistics:\n" : "\nStatistics:\n");
	statistics_text(statistics, out);
	links_completeness_write(call, REACHES_MORE);
	return HD_OK;
}

/* All objects of the types with id -mt: a dump file may have one in several sections. */
static enum hd_status find_instances(struct call *call, struct subject *subject)
{
	struct filter filter = { .has_mt = true, .mt = call->options[OPT_MT].number };
	const struct hd_graph *graph = call->graph;
	enum hd_status status = HD_OK;
	TRY(filter_prepare(&filter, graph, call->err));
	for (uint32_t node = 0; status == HD_OK; node++) {
		node = filter_next(&filter, graph, node);
		if (node >= filter.last)
			break;
		if (!PAGES_RESERVE(subject, nodes)) {
			status = fail_nomem(call->err);
		} else {
			subject->nodes[subject->nodes_count++] = node;
		}
	}
	filter_deinit(&filter, graph);
	TRY(status);
	if (!subject->nodes_count) {
		return fail(call->err, HD_ERR_NOTFOUND, filter.mt,
			    "no objects of a type %" PRIx64 "; types lists the types", filter.mt);
	}
	subject->type = graph->node_types[subject->nodes[0]];
	return HD_OK;
}

enum hd_status check_objsize(struct call *call)
{
	bool has_object = call->words[0].given, has_mt = call->options[OPT_MT].given;
	if (has_object && has_mt) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "objsize is about one object (ID) or about a type (-mt), not both");
	}
	return has_object || has_mt ? HD_OK : call_usage(call, "an id is missing (or -mt ID)");
}

static enum hd_status find_subject(struct call *call, struct subject *subject)
{
	if (call->options[OPT_MT].given)
		return find_instances(call, subject);
	TRY(call_object(call, 0, &subject->node));
	subject->type = call->graph->node_types[subject->node];
	return HD_OK;
}

static enum hd_status write_strings(struct call *call, const struct subject *subject,
				    const struct reach *reach)
{
	const struct heap_range range = { .is_whole = true };
	const struct life among = { .graph = call->graph, .live = reach };
	if (!call->heap) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "-strings is about a core or a process; a heap dump file has no texts");
	}
	if (!call->as_json)
		write_title(call, subject);
	TRY(strings_write(call, &range, &among));
	if (call->as_json) {
		links_completeness_json(call);
	} else {
		links_completeness_write(call, REACHES_MORE);
	}
	return HD_OK;
}

static enum hd_status answer(struct call *call, const struct subject *subject)
{
	struct reach reach;
	bool is_one = subject->node != HD_NONE;
	TRY(reach_init(call->graph, is_one ? &subject->node : subject->nodes,
		       is_one ? 1 : subject->nodes_count, &call->job, &reach, call->err));
	if (call->options[OPT_STRINGS].given) {
		enum hd_status listed = write_strings(call, subject, &reach);
		reach_deinit(&reach);
		return listed;
	}
	struct statistics statistics;
	enum hd_status status = statistics_of_graph(&statistics, call->graph, call->err);
	if (status == HD_OK) {
		status = call->as_json ? write_json(call, subject, &reach, &statistics)
				       : write_text(call, subject, &reach, &statistics);
	}
	statistics_deinit(&statistics);
	reach_deinit(&reach);
	return status;
}

enum hd_status run_objsize(struct call *call)
{
	struct subject subject = { .node = HD_NONE };
	if (call->options[OPT_SUMMARY].given)
		call->options[OPT_STAT].given = true;
	if (call->options[OPT_STAT].given)
		call->options[OPT_SHORT].given = false;
	enum hd_status status = find_subject(call, &subject);
	if (status == HD_OK)
		status = answer(call, &subject);
	pages_free(subject.nodes, subject.nodes_capacity, sizeof(*subject.nodes));
	return status;
}
