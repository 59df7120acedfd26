/* SPDX-License-Identifier: MIT */
#include "analysis/heap/dead_range.h"
#include "analysis/heap/life.h"
#include "answer/tables.h"
#include "command/completeness.h"
#include "command/table.h"
#include "util/sink.h"

#define NOTREACHABLEINRANGE_OPTIONS(X)                                                          \
	X(OPT_SHORT, "short", VALUE_NONE, NULL, "only the addresses (ids), one per line", NULL) \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "only the statistics by type", NULL)              \
	X(OPT_NO_FINALIZER, "nofinalizer", VALUE_NONE, NULL,                                    \
	  "what only finalizer queues keep alive counts as dead", NULL)                         \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N objects, or types (0 = all)",  \
	  NULL)                                                                                 \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,                           \
	  "treat every word on a stack as a reference", NULL)

OPTIONS(notreachableinrange, NOTREACHABLEINRANGE_OPTIONS);

/* Lists the rows, and counts for the lines next to them. */
struct range_lister {
	struct call *call;
	struct dead_range range;
	struct statistics statistics;
	uint64_t limit;
	bool has_rows;
};

static enum hd_status list_range_objects(struct range_lister *lister)
{
	struct call *call = lister->call;
	for (;;) {
		uint32_t node;
		if (call->out.stopped)
			return fail_cancelled(call->err);
		TRY(dead_range_next(&lister->range, &call->job, &node, call->err));
		if (node == HD_NONE)
			return HD_OK;
		statistics_add(&lister->statistics, call->graph->node_types[node],
			       graph_size(call->graph, node));
		if (lister->has_rows && answer_wants_row(&call->answer))
			object_row(&call->answer, call->graph, node);
	}
}

static void warn_pointers(struct call *call, const struct dead_range *range)
{
	HD_CLEANUP(text) struct text text = { 0 };
	char number[COUNT_SIZE];
	if (range->missing) {
		text_printf(&text, "the last %s of the range cannot be read",
			    format_count(range->missing, "byte", number));
	} else if (range->invalid) {
		text_printf(&text, "%s of the range %s to no object",
			    format_count(range->invalid, "word", number),
			    range->invalid == 1 ? "points" : "point");
	}
	if (text.bytes)
		sink_warn(call->sink, text.bytes);
}

static void write_end(struct range_lister *lister)
{
	struct call *call = lister->call;
	struct answer *answer = &call->answer;
	if (lister->has_rows && answer_table_end(answer))
		answer_cut(answer, lister->limit);
	statistics_sort(&lister->statistics, false, false);
	answer_remark(answer, lister->has_rows ? "\nStatistics:\n" : "Statistics:\n");
	lister->statistics.limit = call_statistics_limit(call, OPT_STAT, OPT_LIMIT);
	statistics_table(answer, &lister->statistics);
	completeness_json(call);
	completeness_write(call, DEAD_PERHAPS);
	warn_pointers(call, &lister->range);
}

static enum hd_status notreachable_answer(struct call *call, const struct reach *live)
{
	struct range_lister lister = { .call = call,
				       .limit = call_limit(call, OPT_LIMIT, UINT64_MAX),
				       .has_rows = !call->options[OPT_STAT].given };
	TRY(statistics_of_graph(&lister.statistics, call->graph, 0, call->err));
	job_begin(&call->job, "Listing objects", 0);
	if (lister.has_rows && call->options[OPT_SHORT].given)
		answer_be_brief(&call->answer);
	if (lister.has_rows)
		object_table(&call->answer, lister.limit, brief_address);
	dead_range_open(&lister.range, call->heap, call->graph, live, call->words[0].number,
			call->words[1].number);
	enum hd_status status = list_range_objects(&lister);
	if (status == HD_OK)
		write_end(&lister);
	dead_range_close(&lister.range);
	statistics_deinit(&lister.statistics);
	return status;
}

static enum hd_status run_notreachableinrange(struct call *call)
{
	if (!call->options[OPT_NO_FINALIZER].given) {
		const struct reach *live;
		TRY(session_live(call->session, &call->job, &live, call->err));
		return notreachable_answer(call, live);
	}
	HD_CLEANUP(reach) struct reach live = { 0 };
	TRY(reach_without_finalizers(call->graph, &call->job, &live, call->err));
	return notreachable_answer(call, &live);
}

COMMAND(notreachableinrange, .has_rows = true,
	.summary = "list the dead objects between two addresses",
	.example = "notreachableinrange 7f0fd8000020 7f0fd8400000 -stat",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_GRAPH, .options = notreachableinrange_options,
	.words = { { "START", VALUE_ADDRESS, false }, { "END", VALUE_ADDRESS, false } },
	.check = check_range);
