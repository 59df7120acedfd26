/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/heap/out_of_memory.h"
#include "command/table.h"
#include "gc/heap.h"

#define FAILURE_LIST(X)                                                                \
	X(FAILURE_HEAP, "heap", NULL, KIND_NUMBER, 0, 0, "number of the heap")         \
	X(FAILURE_REASON, "reason", NULL, KIND_TEXT, 0, 0,                             \
	  "budget, cant_commit, cant_reserve, loh, low_memory, "                       \
	  "unproductive_full_gc, or a number that is not known")                       \
	X(FAILURE_ALLOCATION, "allocation", NULL, KIND_BYTES, 0, 0,                    \
	  "bytes that the program asked for; null: they are not noted")                \
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
	X(FAILURE_AT_LIMIT, "at_limit", NULL, KIND_FLAG, 0, 0,                         \
	  "is less than that left up to the limit of the heap?")                       \
	X(FAILURE_REASON_TEXT, .heading = "reason_text",                               \
	  .kind = KIND_TEXT) /* text only, as the next */                              \
	X(FAILURE_REQUEST_TEXT, .heading = "request_text",                             \
	  .kind = KIND_TEXT) /* absent: there is none */

COLUMNS(failure, FAILURE_COLUMNS, FAILURE_LIST);

/* Mostly SOS's texts; it calls an ordinary limit a bug of the GC. */
static const char *const reason_texts[GC_FAILURE_REASONS] = {
	[GC_FAILURE_NONE] = "None",
	[GC_FAILURE_BUDGET] = "After the last collection there was no room for new objects",
	[GC_FAILURE_CANT_COMMIT] = "Didn't have enough memory to commit",
	[GC_FAILURE_CANT_RESERVE] = "Didn't have enough memory to reserve",
	[GC_FAILURE_LOH] = "Didn't have enough memory to allocate an LOH segment",
	[GC_FAILURE_LOW_MEMORY] = "Low on memory during GC",
	[GC_FAILURE_UNPRODUCTIVE_GC] = "Could not do a full GC",
};

static const struct {
	const char *word, *text; /* SOS's texts */
} requests[GC_REQUESTS] = {
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
		"Heap {heap}, collection {collection}: [the program asked for {allocation:,} bytes|"
		"how much the program asked for is not noted]\n"
		"[=request_text Details: [?large LOH|SOH] {request_text} {size:,} bytes\n"
		"[ - on GC entry available commit space was {available_mb:,} MB\n]]",
};

static void write_gc_failure(struct call *call, uint32_t index, const struct gc_failure *failure,
			     const struct out_of_memory *have)
{
	char reason[16], request[16];
	(void)snprintf(reason, sizeof(reason), "%" PRIu32, failure->reason);
	(void)snprintf(request, sizeof(request), "%" PRIu32, failure->request);
	bool is_known = failure->reason < GC_FAILURE_REASONS;
	bool has_known = failure->request < GC_REQUESTS;
	struct cell cells[FAILURE_COLUMNS] = {
		[FAILURE_HEAP] = cell_number(index),
		[FAILURE_REASON] =
			cell_string(is_known ? gc_failure_reason_name(failure->reason) : reason),
		[FAILURE_AT_LIMIT] = cell_flag(out_of_memory_at_limit(have, failure)),
		[FAILURE_COLLECTION] = cell_number(failure->collection),
		[FAILURE_SIZE] = cell_number(failure->size),
		[FAILURE_LARGE] = cell_flag(failure->is_large),
		[FAILURE_REASON_TEXT] =
			cell_string(is_known ? reason_texts[failure->reason] : reason),
	};
	if (failure->has_allocation)
		cells[FAILURE_ALLOCATION] = cell_number(failure->needed);
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

#define END_LIST(X)                                                                              \
	X(END_COMPLETE, "complete", NULL, KIND_FLAG, 0, 0, "could what all heaps note be read?") \
	X(END_COMMITTED, "committed", NULL, KIND_BYTES, 0, 0,                                    \
	  "what the GC has committed for its heap now")                                          \
	X(END_LIMIT, "limit", NULL, KIND_BYTES, 0, 0,                                            \
	  "what it may commit, by a setting or by the cgroup; 0: as much as it wants; null: not known")

COLUMNS(end, END_COLUMNS, END_LIST);
SCHEMA(end, .name = NULL);
static const struct schema sizes_schema = {
	SCHEMA_COLUMNS(end_columns),
	.lines = "The GC has committed {committed:,} bytes; "
		 "[?limit the limit of its heap is {limit:,} bytes|"
		 "[=limit its heap has no limit|its limit is not known]]\n",
};

static enum hd_status run_analyzeoom(struct call *call)
{
	const struct heap *heap = call->heap;
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	struct out_of_memory have;
	out_of_memory_read(heap, &have);
	answer_table(&call->answer, &failures_schema, &options);
	for (uint32_t i = 0; i < heap->heap_count; i++) {
		struct gc_failure failure;
		if (gc_failure_read(heap->runtime, heap->heap_addresses[i], &failure) &&
		    failure.reason != GC_FAILURE_NONE && answer_wants_row(&call->answer))
			write_gc_failure(call, i, &failure, &have);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	struct cell cells[END_COLUMNS] = { [END_COMPLETE] = cell_flag(!have.lost),
					   [END_COMMITTED] = cell_number(have.committed) };
	if (have.limits.is_known)
		cells[END_LIMIT] = cell_number(have.limits.heap);
	answer_data(&call->answer, &end_schema, cells);
	if (have.failures)
		answer_heading(&call->answer, &sizes_schema, cells);
	if (have.lost) {
		answer_remark(&call->answer,
			      "What %" PRIu32 " of the %" PRIu32
			      " heaps note of failed allocations cannot be read.\n",
			      have.lost, heap->heap_count);
	} else if (!have.failures) {
		answer_remark(&call->answer,
			      "There was no managed OOM due to allocations on the GC heap\n");
	}
	return HD_OK;
}

COMMAND(analyzeoom, .alias = "ao", .has_rows = true,
	.summary = "show the last allocation for which the GC had no memory",
	.description =
		"Each heap of the GC notes its last one. It does not note those that were too large\n"
		"for any heap, nor what native code could not get. For the reasons budget and low_memory\n"
		"it does not note how much the program asked for. The limit of the heap is one that was\n"
		"set (GCHeapHardLimit), or three quarters of the cgroup's.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME | NEEDS_SEGMENTS);
