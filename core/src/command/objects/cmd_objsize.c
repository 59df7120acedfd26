/* SPDX-License-Identifier: MIT */
#include "answer/tables.h"
#include "command/chosen_objects.h"
#include "command/completeness.h"
#include "command/heap/cmd_strings.h"
#include "command/table.h"
#include "graph/reach.h"
#include "util/bitmap.h"

#define OBJSIZE_OPTIONS(X)                                                                      \
	X(OPT_MT, "mt", VALUE_TYPE_ID, "ID",                                                    \
	  "all objects of that type (MethodTable or type id) together", NULL)                   \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "only the statistics by type", NULL)              \
	X(OPT_SHORT, "short", VALUE_NONE, NULL, "only the addresses (ids), one per line", NULL) \
	X(OPT_STRINGS, "strings", VALUE_NONE, NULL, "equal strings among them, counted", NULL)  \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N objects, or types (0 = all)",  \
	  NULL)                                                                                 \
	X(OPT_SUMMARY, "summary", VALUE_NONE, NULL, "the same as -stat", NULL)

OPTIONS(objsize, OBJSIZE_OPTIONS);

#define REACHES_MORE "it may reach more"

static enum hd_status list_reached(struct call *call, const struct reach *reach,
				   struct statistics *statistics)
{
	const struct hd_graph *graph = call->graph;
	struct answer *answer = &call->answer;
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX), seen = 0;
	uint64_t end = graph->object_count;
	bool rows = !call->options[OPT_STAT].given;
	if (rows)
		object_table(answer, limit, NULL);
	for (uint64_t at = bitmap_next(reach->bitmap, 0, end); at < end;
	     at = bitmap_next(reach->bitmap, at + 1, end)) {
		uint32_t node = (uint32_t)at;
		if (seen++ % 4096 == 0)
			TRY(call_check(call));
		statistics_add(statistics, graph->node_types[node], graph_size(graph, node));
		if (rows && answer_wants_row(answer))
			object_row(answer, graph, node);
	}
	if (rows && answer_table_end(answer))
		answer_cut(answer, limit);
	return HD_OK;
}

#define SUBJECT_LIST(X)                                                                    \
	X(SUBJECT_OBJECT, "object", NULL, KIND_ADDRESS, 0, 0, "the object; null with -mt") \
	X(SUBJECT_MT, "mt", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "the type of -mt")      \
	X(SUBJECT_OF, "of", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "its objects")           \
	X(SUBJECT_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "objects that are reached")     \
	X(SUBJECT_SIZE, "size", NULL, KIND_BYTES, 0, 0, "their bytes")                     \
	X(SUBJECT_CLASS, NULL, "class", KIND_TYPE, 0, 0, NULL)

COLUMNS(subject, SUBJECT_COLUMNS, SUBJECT_LIST);

SCHEMA(subject,
       .lines = "Objects which [{object:x} (|{of:*object} of ]{class}[=object )] transitively "
		"keep alive:\n"
		"\n");

static void write_subject(struct call *call, const struct chosen_objects *subject,
			  const struct reach *reach,
			  void (*write)(struct answer *, const struct schema *,
					const struct cell *))
{
	const struct graph_type *type = &call->graph->types[subject->type];
	struct cell cells[SUBJECT_COLUMNS] = {
		[SUBJECT_COUNT] = cell_number(reach->count),
		[SUBJECT_SIZE] = cell_number(reach_size(call->graph, reach)),
		[SUBJECT_CLASS] = cell_type(type->name, type->name_size, type->id),
	};
	if (!subject->of_type) {
		cells[SUBJECT_OBJECT] = cell_number(graph_id(call->graph, subject->nodes[0]));
	} else {
		cells[SUBJECT_MT] = cell_number(subject->of_type->number);
		cells[SUBJECT_OF] = cell_number(subject->nodes_count);
	}
	write(&call->answer, &subject_schema, cells);
}

static enum hd_status write_reached(struct call *call, const struct chosen_objects *subject,
				    const struct reach *reach)
{
	struct answer *answer = &call->answer;
	bool rows = !call->options[OPT_STAT].given;
	HD_CLEANUP(statistics) struct statistics statistics = { 0 };
	TRY(statistics_of_graph(&statistics, call->graph, 0, call->err));
	if (call->options[OPT_SHORT].given)
		answer_be_brief(answer);
	write_subject(call, subject, reach, answer_record);
	TRY(list_reached(call, reach, &statistics));
	statistics_sort(&statistics, false, false);
	answer_remark(answer, rows ? "\nStatistics:\n" : "Statistics:\n");
	statistics.limit = call_statistics_limit(call, OPT_STAT, OPT_LIMIT);
	statistics_table(answer, &statistics);
	links_completeness_json(call);
	links_completeness_write(call, REACHES_MORE);
	return HD_OK;
}

static enum hd_status check_objsize(struct call *call)
{
	bool has_object = call->words[0].given, has_mt = call->options[OPT_MT].given;
	if (has_object && has_mt) {
		return fail(call->err, HD_ERR_ARGUMENT, 0,
			    "objsize is about one object (ID) or about a type (-mt), not both");
	}
	return has_object || has_mt ? HD_OK : call_usage(call, "an id is missing (or -mt ID)");
}

static enum hd_status write_strings(struct call *call, const struct chosen_objects *subject,
				    const struct reach *reach)
{
	const struct heap_range range = { .is_whole = true };
	const struct life among = { .graph = call->graph, .live = reach };
	const struct object_filter filter = { .range = &range, .life = &among };
	const struct strings_listing listing = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	if (!call->heap) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "-strings needs a core or a process; a heap dump file has no texts");
	}
	write_subject(call, subject, reach, answer_heading);
	TRY(strings_write(call, &filter, &listing));
	links_completeness_json(call);
	links_completeness_write(call, REACHES_MORE);
	return HD_OK;
}

static enum hd_status run_objsize(struct call *call)
{
	HD_CLEANUP(chosen_objects) struct chosen_objects subject = { 0 };
	if (call->options[OPT_SUMMARY].given)
		call->options[OPT_STAT].given = true;
	if (call->options[OPT_STAT].given)
		call->options[OPT_SHORT].given = false;
	TRY(chosen_objects_init(call, &call->options[OPT_MT], NULL, &subject));
	HD_CLEANUP(reach) struct reach reach = { 0 };
	TRY(reach_init(call->graph, subject.nodes, subject.nodes_count, &call->job, &reach,
		       call->err));
	return call->options[OPT_STRINGS].given ? write_strings(call, &subject, &reach)
						: write_reached(call, &subject, &reach);
}

COMMAND(objsize, .has_rows = true,
	.summary = "list what an object keeps reachable, itself included",
	.example = "objsize 1ce056 -stat", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_GRAPH,
	.options = objsize_options, .words = { { "ID", VALUE_OBJECT, true } },
	.check = check_objsize);
