/* SPDX-License-Identifier: MIT */
#include "analysis/heap/life.h"
#include "answer/tables.h"
#include "command/completeness.h"
#include "command/table.h"
#include "heap/heap.h"
#include "mem/window.h"
#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/sink.h"

enum {
	OPT_SHORT,
	OPT_STAT,
	OPT_NO_FINALIZER,
	OPT_LIMIT,
	OPT_CONSERVATIVE
};

static const struct option notreachableinrange_options[] = {
	[OPT_SHORT] = { "short", VALUE_NONE, NULL, "only the addresses (ids), one a line", NULL },
	[OPT_STAT] = { "stat", VALUE_NONE, NULL, "only the statistics by type", NULL },
	[OPT_NO_FINALIZER] = { "nofinalizer", VALUE_NONE, NULL,
			       "what only finalizer queues keep alive counts as dead", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N objects (0 = all)", NULL },
	[OPT_CONSERVATIVE] = { "conservative", VALUE_CONSERVATIVE, NULL,
			       "whatever may be a reference on a stack is one", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

struct range_lister {
	struct call *call;
	const struct reach *live;
	struct statistics statistics;
	uint64_t limit;
	bool has_rows;
	uint64_t invalid, missing; /* pointers to no object; that could not be read */
};

static enum hd_status list_node(struct range_lister *lister, uint32_t node)
{
	struct call *call = lister->call;
	if (bitmap_has(lister->live->bitmap, node))
		return call_check(call);
	statistics_add(&lister->statistics, call->graph->node_types[node],
		       graph_size(call->graph, node));
	if (lister->has_rows && answer_wants_row(&call->answer))
		object_row(&call->answer, call->graph, node);
	return call_check(call);
}

/* Does any of the heap lie in [begin, end)? */
static bool is_of_heap(const struct heap *heap, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < heap->segment_count; i++) {
		if (heap->segments[i].begin < end && begin < heap->segments[i].end)
			return true;
	}
	return false;
}

/* As SOS does: the objects that the words of the range, which is not in the heap, point to. */
static enum hd_status list_pointers(struct range_lister *lister, uint64_t begin, uint64_t end)
{
	struct call *call = lister->call;
	struct window window = { .memory = call->heap->memory };
	enum hd_status status = HD_OK;
	uint64_t at = begin & ~(uint64_t)7, count = (end - at - 1) / 8 + 1;
	for (; status == HD_OK && count; count--, at += 8) {
		const uint8_t *bytes = window_at(&window, at, 8, NULL);
		if (!bytes) {
			lister->missing = end - at;
			break;
		}
		uint64_t value = load_u64(bytes);
		uint32_t node = value ? hd_graph_find(call->graph, value) : HD_NONE;
		if (node != HD_NONE) {
			status = list_node(lister, node);
		} else {
			lister->invalid += value != 0;
		}
	}
	window_deinit(&window);
	return status;
}

static enum hd_status list_range_objects(struct range_lister *lister)
{
	struct call *call = lister->call;
	uint64_t begin = call->words[0].number, end = call->words[1].number;
	if (call->heap && !is_of_heap(call->heap, begin, end))
		return list_pointers(lister, begin, end);
	uint32_t last = graph_lower_bound(call->graph, end);
	for (uint32_t node = graph_lower_bound(call->graph, begin); node < last; node++)
		TRY(list_node(lister, node));
	return HD_OK;
}

static void warn_pointers(const struct range_lister *lister)
{
	struct call *call = lister->call;
	struct text text = { 0 };
	char number[COUNT_SIZE];
	if (lister->missing) {
		text_printf(&text, "the last %s of the range cannot be read",
			    format_count(lister->missing, "byte", number));
	} else if (lister->invalid) {
		text_printf(&text, "%s of the range %s to no object",
			    format_count(lister->invalid, "word", number),
			    lister->invalid == 1 ? "points" : "point");
	}
	if (text.bytes)
		sink_warn(call->sink, text.bytes);
	text_deinit(&text);
}

static void write_end(struct range_lister *lister)
{
	struct call *call = lister->call;
	struct answer *answer = &call->answer;
	if (lister->has_rows && answer_table_end(answer))
		answer_cut(answer, lister->limit);
	statistics_sort(&lister->statistics, false, false);
	answer_remark(answer, lister->has_rows ? "\nStatistics:\n" : "Statistics:\n");
	statistics_table(answer, &lister->statistics);
	completeness_json(call);
	completeness_write(call, DEAD_PERHAPS);
	warn_pointers(lister);
}

static enum hd_status notreachable_answer(struct call *call, const struct reach *live)
{
	struct range_lister lister = { .call = call,
				       .live = live,
				       .limit = call_limit(call, OPT_LIMIT, UINT64_MAX),
				       .has_rows = !call->options[OPT_STAT].given };
	TRY(statistics_of_graph(&lister.statistics, call->graph, call->err));
	job_begin(&call->job, "Listing objects", 0);
	if (lister.has_rows && call->options[OPT_SHORT].given)
		answer_be_brief(&call->answer);
	if (lister.has_rows)
		object_table(&call->answer, lister.limit, brief_address);
	enum hd_status status = list_range_objects(&lister);
	if (status == HD_OK)
		write_end(&lister);
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
	struct reach live;
	TRY(reach_without_finalizers(call->graph, &call->job, &live, call->err));
	enum hd_status status = notreachable_answer(call, &live);
	reach_deinit(&live);
	return status;
}

const struct command notreachableinrange_command = {
	.name = "notreachableinrange",
	.has_rows = true,
	.summary = "list the dead objects between two addresses",
	.description = "",
	.example = "notreachableinrange 7f0fd8000020 7f0fd8400000 -stat",
	.is_sos = true,
	.needs = NEEDS_GRAPH,
	.options = notreachableinrange_options,
	.words = { { "START", VALUE_ADDRESS, false }, { "END", VALUE_ADDRESS, false } },
	.check = check_range,
	.run = run_notreachableinrange,
};
