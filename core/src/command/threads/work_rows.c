/* SPDX-License-Identifier: MIT */
#include "command/threads/work_rows.h"

#include "analysis/pool/work_counts.h"

#define WORK_LIST(X)                                                                  \
	X(WORK_COUNT, "count", "Count", KIND_NUMBER, 8, 0, "work items")              \
	X(WORK_QUEUE, "queue", "Queue", KIND_TEXT, 8, LOOK_LEFT,                      \
	  "high, local (of one worker), global, assigned (a part of the global one) " \
	  "or low")                                                                   \
	X(WORK_FIRST, "first", "First", KIND_ADDRESS, 12, LOOK_ZEROS | LOOK_ADDRESS,  \
	  "the first of these items")                                                 \
	X(WORK_METHOD, "method", "Method", KIND_TEXT, 0, 0,                           \
	  "what they call, or the type of the item")

COLUMNS(work, WORK_COLUMNS, WORK_LIST);

const struct schema work_schema = {
	.name = "work_items",
	SCHEMA_COLUMNS(work_columns),
	.is_main = true,
	.heading = "   Count Queue    First        Method",
	.lines = "{count:8} {queue:-8} {first:012a} {method:m}\n",
};

uint64_t pool_queues_count(const struct pool_queues *queues)
{
	uint64_t count = 0;
	for (unsigned int i = 0; i < POOL_QUEUES; i++)
		count += queues->queues[i].rows_count;
	return count;
}

static enum hd_status count_work(struct call *call, const struct pool_queues *queues,
				 struct work_counts *counts)
{
	for (unsigned int i = 0; i < POOL_QUEUES; i++) {
		const struct queue_items *items = &queues->queues[i];
		for (size_t k = 0; k < items->rows_count; k++) {
			TRY(work_counts_add(counts, i, items->rows[k], call->err));
			if (k % 1024 == 0)
				TRY(call_check(call));
		}
	}
	work_counts_sort(counts);
	return HD_OK;
}

static const struct column complete_columns[] = {
	{ "complete", NULL, KIND_FLAG, 0, 0, "could all queues be read to their ends?" },
};
static const struct schema complete_schema = { SCHEMA_COLUMNS(complete_columns) };

static void write_complete(struct answer *answer, const struct pool_queues *queues)
{
	bool is_complete = queues->is_known;
	for (unsigned int i = 0; i < POOL_QUEUES; i++)
		is_complete &= !queues->queues[i].is_broken;
	const struct cell cells[] = { cell_flag(is_complete) };
	answer_data(answer, &complete_schema, cells);
	if (!queues->is_known) {
		answer_remark(answer, "There is no queue: the thread pool was not used.\n");
	} else if (!is_complete) {
		answer_remark(answer, "A queue cannot be read to its end: items may be missing.\n");
	}
}

enum hd_status write_merged_work(struct call *call, struct members *members,
				 const struct pool_queues *queues, uint64_t limit)
{
	const struct table_options options = { .limit = limit };
	HD_CLEANUP(work_counts)
	struct work_counts counts = { .heap = call->heap, .members = members };
	TRY(count_work(call, queues, &counts));
	answer_table(&call->answer, &work_schema, &options);
	for (size_t i = 0; i < counts.rows_count; i++) {
		const struct work_count *row = &counts.rows[i];
		const struct cell cells[WORK_COLUMNS] = {
			[WORK_COUNT] = cell_number(row->count),
			[WORK_QUEUE] = cell_string(pool_queue_name((enum pool_queue)row->group)),
			[WORK_FIRST] = cell_number(row->first),
			[WORK_METHOD] = cell_text(row->callback, row->callback_size),
		};
		if (answer_wants_row(&call->answer))
			answer_row(&call->answer, cells);
	}
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, limit);
	write_complete(&call->answer, queues);
	return HD_OK;
}
