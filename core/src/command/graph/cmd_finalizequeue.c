/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "analysis/heap/finalizer_objects.h"
#include "answer/tables.h"
#include "command/completeness.h"
#include "command/heap/heap_call.h"
#include "command/table.h"

#define FINALIZEQUEUE_OPTIONS(X)                                                               \
	X(OPT_DETAIL, "detail", VALUE_NONE, NULL,                                              \
	  "also part of the queue and type of each object", NULL)                              \
	X(OPT_ALL_READY, "allReady", VALUE_NONE, NULL,                                         \
	  "objects that are ready, or will be once a GC has found them dead", NULL)            \
	X(OPT_SHORT, "short", VALUE_NONE, NULL, "only the addresses, one per line", NULL)      \
	X(OPT_MT, "mt", VALUE_TYPE_ID, "MT", "objects of this MethodTable", NULL)              \
	X(OPT_STAT, "stat", VALUE_NONE, NULL, "only the statistics by type", NULL)             \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "list at most N objects, or types (0 = all)", \
	  NULL)                                                                                \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,                          \
	  "with -allReady: treat every word on a stack as a reference", NULL)

OPTIONS(finalizequeue, FINALIZEQUEUE_OPTIONS);

static const char *const part_names[FINALIZER_PARTS] = {
	[FINALIZER_POH] = "poh",     [FINALIZER_LOH] = "loh",   [FINALIZER_GEN2] = "gen2",
	[FINALIZER_GEN1] = "gen1",   [FINALIZER_GEN0] = "gen0", [FINALIZER_CRITICAL] = "critical",
	[FINALIZER_READY] = "ready",
};

/* A queue; of its bounds text makes counts. */
enum queue_column {
	QUEUE_INDEX,
	QUEUE_ADDRESS,
	QUEUE_BOUNDS,
	QUEUE_COLUMNS = QUEUE_BOUNDS + FINALIZER_PARTS + 1
};

static const struct column queue_columns[QUEUE_COLUMNS] = {
	[QUEUE_INDEX] = { "index", "Heap", KIND_NUMBER, 0, 0,
			  "number of the logical heap, from 0" },
	[QUEUE_ADDRESS] = { "queue", NULL, KIND_ADDRESS, 0, 0, "where its finalizer queue is" },
};

/* Entries in the parts from @p first to @p last. */
static uint64_t part_count(const uint64_t *bounds, enum finalizer_part first,
			   enum finalizer_part last)
{
	return (bounds[last + 1] - bounds[first]) / 8;
}

static void put_queue_part(struct out *out, const uint64_t *bounds, const char *name,
			   enum finalizer_part part)
{
	out_printf(out, "%s has %" PRIu64 " objects (%" PRIx64 "->%" PRIx64 ")\n", name,
		   part_count(bounds, part, part), bounds[part], bounds[part + 1]);
}

static void queue_layout(struct out *out, const struct cell *cells)
{
	uint64_t bounds[FINALIZER_PARTS + 1];
	for (size_t i = 0; i <= FINALIZER_PARTS; i++)
		bounds[i] = cells[QUEUE_BOUNDS + i].number;
	out_printf(out, "Heap %" PRIu64 "\n", cells[QUEUE_INDEX].number);
	put_queue_part(out, bounds, "generation 0", FINALIZER_GEN0);
	put_queue_part(out, bounds, "generation 1", FINALIZER_GEN1);
	put_queue_part(out, bounds, "generation 2", FINALIZER_GEN2);
	if (part_count(bounds, FINALIZER_LOH, FINALIZER_LOH))
		put_queue_part(out, bounds, "large object heap", FINALIZER_LOH);
	if (part_count(bounds, FINALIZER_POH, FINALIZER_POH))
		put_queue_part(out, bounds, "pinned object heap", FINALIZER_POH);
	out_printf(out, "Ready for finalization %" PRIu64 " objects (%" PRIx64 "->%" PRIx64 ")\n",
		   part_count(bounds, FINALIZER_CRITICAL, FINALIZER_READY),
		   bounds[FINALIZER_CRITICAL], bounds[FINALIZER_PARTS]);
	uint64_t critical = part_count(bounds, FINALIZER_CRITICAL, FINALIZER_CRITICAL);
	if (critical) {
		out_printf(out, "    the last %" PRIu64 " of them are critical\n", critical);
	}
}

SCHEMA(queue, .name = "heaps", .layout = queue_layout);

#define PART_LIST(X)                                                                \
	X(PART_NAME, "part", NULL, KIND_TEXT, 0, 0,                                 \
	  "generation of its objects, or critical or ready: their turn has come")   \
	X(PART_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "its entries")              \
	X(PART_BEGIN, "begin", NULL, KIND_ADDRESS, 0, 0, "where its entries begin") \
	X(PART_END, "end", NULL, KIND_ADDRESS, 0, 0, "where they end")

COLUMNS(part, PART_COLUMNS, PART_LIST);
SCHEMA(part, .name = "parts");

static void write_parts(struct answer *answer, const struct finalizer_queue *queue)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	answer_table(answer, &part_schema, &options);
	for (unsigned int i = 0; i < FINALIZER_PARTS; i++) {
		enum finalizer_part part = (enum finalizer_part)i;
		const struct cell cells[PART_COLUMNS] = {
			[PART_NAME] = cell_string(part_names[i]),
			[PART_COUNT] = cell_number(part_count(queue->bounds, part, part)),
			[PART_BEGIN] = cell_number(queue->bounds[i]),
			[PART_END] = cell_number(queue->bounds[i + 1]),
		};
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
}

static void write_queues(struct call *call, const struct finalizer_list *list)
{
	struct answer *answer = &call->answer;
	answer_table(answer, &queue_schema, NULL);
	for (size_t i = 0; i < list->queue_count; i++) {
		const struct finalizer_queue *queue = &list->queues[i];
		struct cell cells[QUEUE_COLUMNS] = {
			[QUEUE_INDEX] = cell_number(queue->heap),
			[QUEUE_ADDRESS] = cell_number(queue->address),
		};
		for (size_t j = 0; j <= FINALIZER_PARTS; j++)
			cells[QUEUE_BOUNDS + j] = cell_number(queue->bounds[j]);
		answer_row_begin(answer, cells);
		write_parts(answer, queue);
		answer_row_end(answer);
	}
	(void)answer_table_end(answer);
	answer_remark(answer, "------------------------------\n%s",
		      call->options[OPT_ALL_READY].given
			      ? "Statistics for all finalizable objects that are no longer "
				"rooted:\n"
			      : "Statistics for all finalizable objects (including all objects "
				"ready for finalization):\n");
}

static const char *generation_at(const struct heap *heap, uint64_t address)
{
	const struct segment *segment = heap_segment_at(heap, address);
	return segment ? generation_name(segment_generation_at(segment, address)) : NULL;
}

#define ENTRY_LIST(X)                                                                     \
	X(ENTRY_OBJECT, "address", "Address", KIND_ADDRESS, 16, LOOK_ADDRESS,             \
	  "where the object begins")                                                      \
	X(ENTRY_MT, "mt", "MT", KIND_ADDRESS, 16, 0, "its MethodTable")                   \
	X(ENTRY_TYPE, "type", "Type", KIND_TYPE, 0, 0, "name of its type")                \
	X(ENTRY_SIZE, "size", "Size", KIND_BYTES, 14, LOOK_THOUSANDS, "its own bytes")    \
	X(ENTRY_HEAP, "heap", "Heap", KIND_NUMBER, 4, 0, "the logical heap of its queue") \
	X(ENTRY_GENERATION, "generation", NULL, KIND_TEXT, 0, 0,                          \
	  "where the object is: 0, 1, 2, loh, poh or nongc")                              \
	X(ENTRY_PART, "part", "Part", KIND_TEXT, 8, LOOK_LEFT,                            \
	  "where the entry is: gen0, gen1, gen2, loh, poh, critical or ready")            \
	X(ENTRY_READY, "ready", NULL, KIND_FLAG, 0, 0,                                    \
	  "has its turn come, so that the queue keeps it alive?")                         \
	X(ENTRY_ADDRESS, "entry", NULL, KIND_ADDRESS, 0, 0, "where the entry of the queue is")

#define ENTRY_LINE "{address:16a}[=mt  {mt:16x} {size:14,} |\\d <no object>\\.]"

COLUMNS(entry, ENTRY_COLUMNS, ENTRY_LIST);

const struct schema finalizequeue_schema = {
	.name = "objects",
	SCHEMA_COLUMNS(entry_columns),
	.is_main = true,
	.heading = "         Address               MT           Size",
	.lines = ENTRY_LINE "\n",
};

static const struct schema detail_schema = {
	.name = "objects",
	SCHEMA_COLUMNS(entry_columns),
	.is_main = true,
	.heading = "         Address               MT           Size Heap Part     Type",
	.lines = ENTRY_LINE "[=mt {heap:4} {part:-8} {type}]\n",
};

static void write_entry(struct call *call, const struct finalizer_entry *entry,
			const struct object *object)
{
	struct cell cells[ENTRY_COLUMNS] = {
		[ENTRY_OBJECT] = cell_number(entry->object),
		[ENTRY_SIZE] = cell_number(object->size),
		[ENTRY_HEAP] = cell_number(entry->heap),
		[ENTRY_GENERATION] = cell_string(generation_at(call->heap, entry->object)),
		[ENTRY_PART] = cell_string(part_names[entry->part]),
		[ENTRY_READY] = cell_flag(finalizer_is_ready(entry)),
		[ENTRY_ADDRESS] = cell_number(entry->address),
	};
	if (object->type) {
		size_t size;
		const char *name = type_name(call->heap->runtime, object->type, &size);
		cells[ENTRY_MT] = cell_number(object->type->method_table);
		cells[ENTRY_TYPE] = cell_type(name, size, object->type->method_table);
	}
	answer_row(&call->answer, cells);
}

static enum hd_status list_queues(struct call *call, struct finalizer_objects *objects,
				  bool is_stat)
{
	for (;;) {
		bool is_there;
		TRY(finalizer_objects_next(objects, &is_there, call->err));
		if (!is_there)
			return HD_OK;
		if (!is_stat && answer_wants_row(&call->answer))
			write_entry(call, objects->entry, &objects->object);
		TRY(call_check(call));
	}
}

static enum hd_status list_entries(struct call *call, struct finalizer_objects *objects,
				   bool is_stat)
{
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX),
					       .brief = brief_address };
	if (!is_stat) {
		answer_table(&call->answer,
			     call->options[OPT_DETAIL].given ? &detail_schema
							     : &finalizequeue_schema,
			     &options);
	}
	TRY(list_queues(call, objects, is_stat));
	if (!is_stat && answer_table_end(&call->answer))
		answer_cut(&call->answer, options.limit);
	return HD_OK;
}

static enum hd_status write_queue_statistics(struct call *call, const struct type_counts *counts,
					     bool is_stat)
{
	HD_CLEANUP(statistics) struct statistics statistics = { 0 };
	TRY(type_counts_statistics(counts, call->heap->runtime, NULL, &statistics, call->err));
	statistics_sort(&statistics, false, false);
	answer_remark(&call->answer, is_stat ? "Statistics:\n" : "\nStatistics:\n");
	statistics.limit = call_statistics_limit(call, OPT_STAT, OPT_LIMIT);
	statistics_table(&call->answer, &statistics);
	return HD_OK;
}

static enum hd_status run_finalizequeue(struct call *call)
{
	HD_CLEANUP(finalizer_list) struct finalizer_list list = { 0 };
	TRY(finalizer_list_read(call->heap, &list, call->err));
	bool is_stat = call->options[OPT_STAT].given;
	struct life dead = { 0 };
	if (call->options[OPT_ALL_READY].given)
		TRY(call_life(call, true, &dead));
	if (call->options[OPT_SHORT].given && !is_stat)
		answer_be_brief(&call->answer);
	write_queues(call, &list);
	const struct finalizer_filter filter = { .dead = &dead,
						 .has_method_table = call->options[OPT_MT].given,
						 .method_table = call->options[OPT_MT].number };
	HD_CLEANUP(finalizer_objects) struct finalizer_objects objects = { 0 };
	finalizer_objects_open(&objects, call->heap, &list, &filter);
	TRY(list_entries(call, &objects, is_stat));
	TRY(write_queue_statistics(call, &objects.counts, is_stat));
	if (dead.graph) {
		completeness_json(call);
		completeness_write(call, DEAD_PERHAPS);
	}
	return HD_OK;
}

COMMAND(finalizequeue, .has_rows = true, .alias = "fq",
	.summary = "list the objects with finalizers, and those whose turn has come",
	.example = "finalizequeue -stat", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP,
	.options = finalizequeue_options);
