/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "command/table.h"
#include "gc/gc_failure.h"
#include "gc/heap.h"

#define FAILURE_LIST(X)                                                                \
	X(FAILURE_HEAP, "heap", NULL, KIND_NUMBER, 0, 0, "number of the heap")         \
	X(FAILURE_REASON, "reason", NULL, KIND_TEXT, 0, 0,                             \
	  "budget, cant_commit, cant_reserve, loh, low_memory, "                       \
	  "unproductive_full_gc, or a number that is not known")                       \
	X(FAILURE_ALLOCATION, "allocation", NULL, KIND_BYTES, 0, 0,                    \
	  "bytes that the program asked for")                                          \
	X(FAILURE_COLLECTION, "collection", NULL, KIND_NUMBER, 0, 0,                   \
	  "number of the collection then")                                             \
	X(FAILURE_REQUEST, "request", NULL, KIND_TEXT, 0, 0,                           \
	  "the request to the system that failed: reserve_segment, "                   \
	  "commit_segment, commit_ephemeral, grow_table, commit_table; null: "         \
	  "none")                                                                      \
	X(FAILURE_SIZE, "size", NULL, KIND_BYTES, 0, 0, "bytes of that request")       \
	X(FAILURE_AVAILABLE, "available_mb", NULL, KIND_NUMBER, 0, 0,                  \
	  "commit space when the collection began; null: not noted")                   \
	X(FAILURE_LARGE, "large", NULL, KIND_FLAG, 0, 0, "for the large object heap?") \
	X(FAILURE_REASON_TEXT, .heading = "reason_text",                               \
	  .kind = KIND_TEXT) /* text only, as the next */                              \
	X(FAILURE_REQUEST_TEXT, .heading = "request_text",                             \
	  .kind = KIND_TEXT) /* absent: there is none */

COLUMNS(failure, FAILURE_COLUMNS, FAILURE_LIST);

static const struct {
	const char *word, *text; /* SOS's texts */
} reasons[GC_FAILURE_REASONS] = {
	[GC_FAILURE_NONE] = { "none", "None" },
	[GC_FAILURE_BUDGET] = { "budget",
				"OOM was due to an internal .Net error, likely a bug in the GC" },
	[GC_FAILURE_CANT_COMMIT] = { "cant_commit", "Didn't have enough memory to commit" },
	[GC_FAILURE_CANT_RESERVE] = { "cant_reserve",
				      "OOM was due to an internal .Net error, likely a bug in the "
				      "GC" },
	[GC_FAILURE_LOH] = { "loh", "Didn't have enough memory to allocate an LOH segment" },
	[GC_FAILURE_LOW_MEMORY] = { "low_memory", "Low on memory during GC" },
	[GC_FAILURE_UNPRODUCTIVE_GC] = { "unproductive_full_gc", "Could not do a full GC" },
}, requests[GC_REQUESTS] = {
	[GC_REQUEST_NONE] = { "none", "None" },
	[GC_REQUEST_RESERVE_SEGMENT] = { "reserve_segment", "Failed to reserve memory" },
	[GC_REQUEST_COMMIT_SEGMENT] = { "commit_segment",
					"Didn't have enough memory to commit beginning of the "
					"segment" },
	[GC_REQUEST_COMMIT_EPHEMERAL] = { "commit_ephemeral",
					  "Didn't have enough memory to commit the new ephemeral "
					  "segment" },
	[GC_REQUEST_GROW_TABLE] = { "grow_table",
				    "Didn't have enough memory to grow the internal GC data "
				    "structures" },
	[GC_REQUEST_COMMIT_TABLE] = { "commit_table",
				      "Didn't have enough memory to commit the internal GC data "
				      "structures" },
};

static const struct schema failures_schema = {
	.name = "failures",
	SCHEMA_COLUMNS(failure_columns),
	.is_main = true,
	.lines =
		"{reason_text}\n"
		"Heap {heap}, collection {collection}: the program asked for {allocation:,} bytes\n"
		"[=request_text Details: [?large LOH|SOH] {request_text} {size:,} bytes\n"
		"[ - on GC entry available commit space was {available_mb:,} MB\n]]",
};

static void write_gc_failure(struct call *call, uint32_t index, const struct gc_failure *failure)
{
	char reason[16], request[16];
	(void)snprintf(reason, sizeof(reason), "%" PRIu32, failure->reason);
	(void)snprintf(request, sizeof(request), "%" PRIu32, failure->request);
	bool is_known = failure->reason < GC_FAILURE_REASONS;
	bool has_known = failure->request < GC_REQUESTS;
	struct cell cells[FAILURE_COLUMNS] = {
		[FAILURE_HEAP] = cell_number(index),
		[FAILURE_REASON] = cell_string(is_known ? reasons[failure->reason].word : reason),
		[FAILURE_ALLOCATION] = cell_number(failure->allocation),
		[FAILURE_COLLECTION] = cell_number(failure->collection),
		[FAILURE_SIZE] = cell_number(failure->size),
		[FAILURE_LARGE] = cell_flag(failure->is_large),
		[FAILURE_REASON_TEXT] =
			cell_string(is_known ? reasons[failure->reason].text : reason),
	};
	if (failure->request != GC_REQUEST_NONE) {
		cells[FAILURE_REQUEST] =
			cell_string(has_known ? requests[failure->request].word : request);
		cells[FAILURE_REQUEST_TEXT] =
			cell_string(has_known ? requests[failure->request].text : request);
	}
	if (failure->available)
		cells[FAILURE_AVAILABLE] = cell_number(failure->available);
	answer_row(&call->answer, cells);
}

static const struct column end_columns[] = {
	{ "complete", NULL, KIND_FLAG, 0, 0, "could what all heaps note be read?" },
};
static const struct schema end_schema = { SCHEMA_COLUMNS(end_columns) };

static enum hd_status run_analyzeoom(struct call *call)
{
	const struct heap *heap = call->heap;
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	uint32_t found = 0, lost = 0;
	answer_table(&call->answer, &failures_schema, &options);
	for (uint32_t i = 0; i < heap->heap_count; i++) {
		struct gc_failure failure;
		if (!gc_failure_read(heap->runtime, heap->heap_addresses[i], &failure)) {
			lost++;
		} else if (failure.reason != GC_FAILURE_NONE) {
			found++;
			if (answer_wants_row(&call->answer))
				write_gc_failure(call, i, &failure);
		}
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	const struct cell cells[] = { cell_flag(!lost) };
	answer_data(&call->answer, &end_schema, cells);
	if (lost) {
		answer_remark(&call->answer,
			      "What %" PRIu32 " of the %" PRIu32
			      " heaps note of failed allocations cannot be read.\n",
			      lost, heap->heap_count);
	} else if (!found) {
		answer_remark(&call->answer,
			      "There was no managed OOM due to allocations on the GC heap\n");
	}
	return HD_OK;
}

COMMAND(analyzeoom, .alias = "ao", .has_rows = true,
	.summary = "show the last allocation for which the GC had no memory",
	.description =
		"Each heap of the GC notes its last one. It does not note those that were too large\n"
		"for any heap, nor what native code could not get.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME);
