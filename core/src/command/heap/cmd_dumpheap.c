/* SPDX-License-Identifier: MIT */
#include "analysis/graph/filter.h"
#include "answer/tables.h"
#include "command/completeness.h"
#include "command/heap/dumpheap.h"
#include "command/heap/heap_call.h"

static const struct option dumpheap_options[] = {
	[DUMPHEAP_STAT] = { "stat", VALUE_NONE, NULL, "only the statistics by type", NULL },
	[DUMPHEAP_TYPE] = { "type", VALUE_TYPE, "TEXT", "objects whose type name contains TEXT",
			    NULL },
	[DUMPHEAP_MT] = { "mt", VALUE_TYPE_ID, "ID", "objects of this type id or MethodTable",
			  NULL },
	[DUMPHEAP_MIN] = { "min", VALUE_NUMBER, "N", "objects of N bytes and more", NULL },
	[DUMPHEAP_MAX] = { "max", VALUE_NUMBER, "N", "objects of at most N bytes", NULL },
	[DUMPHEAP_SHORT] = { "short", VALUE_NONE, NULL, "only the addresses (ids), one per line",
			     NULL },
	[DUMPHEAP_BYCOUNT] = { "bycount", VALUE_NONE, NULL, "statistics by count, not by size",
			       NULL },
	[DUMPHEAP_LIVE] = { "live", VALUE_NONE, NULL, "objects that roots keep alive", NULL },
	[DUMPHEAP_DEAD] = { "dead", VALUE_NONE, NULL,
			    "objects that no root keeps alive, without Free blocks", NULL },
	[DUMPHEAP_LIMIT] = { "limit", VALUE_NUMBER, "N",
			     "list at most N objects, or types (0 = all)", NULL },
	[DUMPHEAP_STRINGS] = { "strings", VALUE_NONE, NULL, "count equal strings", NULL },
	[DUMPHEAP_THINLOCK] = { "thinlock", VALUE_NONE, NULL, "objects locked by a thin lock",
				NULL },
	[DUMPHEAP_HEAP] = { "heap", VALUE_NUMBER, "N", "objects of logical heap N", NULL },
	[DUMPHEAP_SEGMENT] = { "segment", VALUE_ADDRESS, "ADDR", "objects of this segment", NULL },
	[DUMPHEAP_GEN] = { "gen", VALUE_CHOICE, "GEN", "objects of this generation",
			   generation_choices },
	[DUMPHEAP_IGNORE_GC_STATE] = { "ignoreGCState", VALUE_NONE, NULL,
				       "accepted for SOS: it is always so", NULL },
	[DUMPHEAP_NO_PROGRESS] = { "noprogress", VALUE_NONE, NULL, "show no progress", NULL },
	[DUMPHEAP_CONSERVATIVE] = { "conservative", VALUE_CONSERVATIVE, NULL,
				    "with -live, -dead: treat every word on a stack as a reference",
				    NULL },
	[DUMPHEAP_COUNT] = { NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* One pass over the objects: rows as they come, counts for the statistics. */
static enum hd_status list_graph_objects(struct call *call, const struct filter *filter,
					 struct statistics *statistics)
{
	const struct hd_graph *graph = call->graph;
	bool rows = !call->options[DUMPHEAP_STAT].given;
	uint64_t since = 0;
	for (uint32_t node = filter_next(filter, graph, filter->first); node < filter->last;
	     node = filter_next(filter, graph, node + 1)) {
		if (++since % 1024 == 0)
			TRY(call_check(call));
		statistics_add(statistics, graph->node_types[node], graph_size(graph, node));
		if (rows && answer_wants_row(&call->answer))
			object_row(&call->answer, graph, node);
	}
	return HD_OK;
}

static enum hd_status dumpheap_answer(struct call *call, const struct filter *filter,
				      struct statistics *statistics)
{
	struct answer *answer = &call->answer;
	bool rows = !call->options[DUMPHEAP_STAT].given;
	uint64_t limit = call_limit(call, DUMPHEAP_LIMIT, UINT64_MAX);
	if (rows && call->options[DUMPHEAP_SHORT].given)
		answer_be_brief(answer);
	if (rows)
		object_table(answer, limit, NULL);
	TRY(list_graph_objects(call, filter, statistics));
	if (rows && answer_table_end(answer))
		answer_cut(answer, limit);
	statistics_sort(statistics, call->options[DUMPHEAP_BYCOUNT].given, false);
	answer_remark(answer, rows ? "\nStatistics:\n" : "Statistics:\n");
	statistics->limit = call_statistics_limit(call, DUMPHEAP_STAT, DUMPHEAP_LIMIT);
	statistics_table(answer, statistics);
	if (filter->live) {
		dead_completeness_json(call);
		/* Where no object is listed, none is called dead. */
		if (!filter->dead || statistics->count || !call_is_complete(call))
			dead_completeness_write(call, DEAD_PERHAPS);
	}
	return HD_OK;
}

static enum hd_status check_dumpheap(struct call *call)
{
	if (call->options[DUMPHEAP_LIVE].given && call->options[DUMPHEAP_DEAD].given)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "give -live or -dead, not both");
	return check_range(call);
}

static enum hd_status run_dumpheap(struct call *call)
{
	if (call->options[DUMPHEAP_NO_PROGRESS].given)
		call->job.progress = NULL;
	if (call->heap)
		return run_dumpheap_heap(call);
	for (size_t i = DUMPHEAP_STRINGS; i < DUMPHEAP_IGNORE_GC_STATE; i++) {
		if (call->options[i].given && i != DUMPHEAP_GEN) {
			return fail(call->err, HD_ERR_UNSUPPORTED, 0,
				    "-%s needs a core or a process: a heap dump file does not "
				    "hold it",
				    dumpheap_options[i].name);
		}
	}
	const struct value *generation = &call->options[DUMPHEAP_GEN];
	if (generation->given && !call->graph->places.generation)
		return no_generations(call, "-gen");
	struct filter filter = {
		.has_generation = generation->given,
		.generation = generation->given ? generation_choice(generation->text) : 0,
		.type_part = call->options[DUMPHEAP_TYPE].text,
		.has_mt = call->options[DUMPHEAP_MT].given,
		.mt = call->options[DUMPHEAP_MT].number,
		.min = call->options[DUMPHEAP_MIN].number,
		.max = call->options[DUMPHEAP_MAX].number,
		.has_max = call->options[DUMPHEAP_MAX].given,
		.begin = call->words[0].number,
		.end = call->words[1].number,
		.dead = call->options[DUMPHEAP_DEAD].given,
	};
	if (call->options[DUMPHEAP_LIVE].given || filter.dead)
		TRY(session_live(call->session, &call->job, &filter.live, call->err));
	HD_CLEANUP(statistics) struct statistics statistics = { 0 };
	TRY(statistics_of_graph(&statistics, call->graph, 0, call->err));
	job_begin(&call->job, "Listing objects", call->graph->object_count);
	enum hd_status status = filter_prepare(&filter, call->graph, call->err);
	if (status == HD_OK)
		status = dumpheap_answer(call, &filter, &statistics);
	filter_deinit(&filter, call->graph);
	return status;
}

COMMAND(dumpheap, .has_rows = true, .summary = "list objects, and count them by type",
	.description =
		"Objects come in ascending order of address (id in a dump file); with a range, only\n"
		"those with START <= address < END. -type TEXT finds types whose name contains TEXT:\n"
		"\"*\" stands for any text, \"^\" for the start and \"$\" for the end of the name; case\n"
		"matters only when TEXT has a capital. In a name, `2 means 2 type arguments.\n",
	.example = "dumpheap -stat -type System.String", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_EITHER, .options = dumpheap_options,
	.words = { { "START", VALUE_ADDRESS, true }, { "END", VALUE_ADDRESS, true } },
	.check = check_dumpheap);
