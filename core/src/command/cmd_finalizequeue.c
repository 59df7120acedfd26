/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/completeness.h"
#include "command/life.h"
#include "command/type_counts.h"
#include "heap/finalizer.h"

enum {
	OPT_DETAIL,
	OPT_ALL_READY,
	OPT_SHORT,
	OPT_MT,
	OPT_STAT,
	OPT_LIMIT,
	OPT_CONSERVATIVE
};

const struct option finalizequeue_options[] = {
	[OPT_DETAIL] = { "detail", VALUE_NONE, NULL,
			 "also part of the queue and type of each object", NULL },
	[OPT_ALL_READY] = { "allReady", VALUE_NONE, NULL,
			    "objects that are ready, or will be once a GC has found them dead",
			    NULL },
	[OPT_SHORT] = { "short", VALUE_NONE, NULL, "only the addresses, one a line", NULL },
	[OPT_MT] = { "mt", VALUE_ADDRESS, "MT", "objects of this MethodTable", NULL },
	[OPT_STAT] = { "stat", VALUE_NONE, NULL, "only the statistics by type", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N objects (0 = all)", NULL },
	[OPT_CONSERVATIVE] = { "conservative", VALUE_NONE, NULL,
			       "with -allReady: whatever may be a reference on a stack is one",
			       NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static const char *const part_names[FINALIZER_PARTS] = {
	[FINALIZER_POH] = "poh",     [FINALIZER_LOH] = "loh",   [FINALIZER_GEN2] = "gen2",
	[FINALIZER_GEN1] = "gen1",   [FINALIZER_GEN0] = "gen0", [FINALIZER_CRITICAL] = "critical",
	[FINALIZER_READY] = "ready",
};

static uint64_t part_count(const struct finalizer_queue *queue, enum finalizer_part first,
			   enum finalizer_part last)
{
	return (queue->bounds[last + 1] - queue->bounds[first]) / 8;
}

static void write_part(struct call *call, const struct finalizer_queue *queue, const char *name,
		       enum finalizer_part part)
{
	out_printf(&call->out, "%s has %" PRIu64 " objects (%" PRIx64 "->%" PRIx64 ")\n", name,
		   part_count(queue, part, part), queue->bounds[part], queue->bounds[part + 1]);
}

static void queue_text(struct call *call, const struct finalizer_queue *queue)
{
	out_printf(&call->out, "Heap %" PRIu32 "\n", queue->heap);
	write_part(call, queue, "generation 0", FINALIZER_GEN0);
	write_part(call, queue, "generation 1", FINALIZER_GEN1);
	write_part(call, queue, "generation 2", FINALIZER_GEN2);
	if (part_count(queue, FINALIZER_LOH, FINALIZER_LOH))
		write_part(call, queue, "large object heap", FINALIZER_LOH);
	if (part_count(queue, FINALIZER_POH, FINALIZER_POH))
		write_part(call, queue, "pinned object heap", FINALIZER_POH);
	out_printf(&call->out,
		   "Ready for finalization %" PRIu64 " objects (%" PRIx64 "->%" PRIx64 ")\n",
		   part_count(queue, FINALIZER_CRITICAL, FINALIZER_READY),
		   queue->bounds[FINALIZER_CRITICAL], queue->bounds[FINALIZER_PARTS]);
	if (part_count(queue, FINALIZER_CRITICAL, FINALIZER_CRITICAL)) {
		out_printf(&call->out, "    of them %" PRIu64 " critical ones come last\n",
			   part_count(queue, FINALIZER_CRITICAL, FINALIZER_CRITICAL));
	}
}

static void queue_json(struct call *call, const struct finalizer_queue *queue)
{
	struct json *json = &call->json;
	json_object(json, NULL);
	json_number(json, "index", queue->heap);
	json_address(json, "queue", queue->address);
	json_array(json, "parts");
	for (unsigned int i = 0; i < FINALIZER_PARTS; i++) {
		enum finalizer_part part = (enum finalizer_part)i;
		json_object(json, NULL);
		json_string(json, "part", part_names[i]);
		json_number(json, "count", part_count(queue, part, part));
		json_address(json, "begin", queue->bounds[i]);
		json_address(json, "end", queue->bounds[i + 1]);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void write_queues(struct call *call, const struct finalizer_list *list)
{
	if (call->as_json)
		json_array(&call->json, "heaps");
	for (size_t i = 0; i < list->queue_count; i++) {
		if (call->as_json) {
			queue_json(call, &list->queues[i]);
		} else {
			queue_text(call, &list->queues[i]);
		}
	}
	if (call->as_json) {
		json_end(&call->json);
		return;
	}
	out_puts(&call->out, "------------------------------\n");
	out_puts(&call->out,
		 call->options[OPT_ALL_READY].given
			 ? "Statistics for all finalizable objects that are no longer rooted:\n"
			 : "Statistics for all finalizable objects (including all objects ready "
			   "for finalization):\n");
}

struct lister {
	struct call *call;
	const struct life *dead; /* graph NULL: not asked for */
	struct window window;
	struct type_counts counts;
	uint64_t listed;
};

static bool is_ready(const struct finalizer_entry *entry)
{
	return entry->part >= FINALIZER_CRITICAL;
}

static const char *generation_at(const struct heap *heap, uint64_t address)
{
	const struct segment *segment = heap_segment_at(heap, address);
	return segment ? generation_name(segment_generation_at(segment, address)) : NULL;
}

static void entry_json(struct call *call, const struct finalizer_entry *entry,
		       const struct object *object)
{
	struct json *json = &call->json;
	size_t size = 0;
	const char *name = object->type ? type_name(call->heap->clr, object->type, &size) : NULL;
	json_object(json, NULL);
	json_address(json, "address", entry->object);
	if (object->type) {
		json_address(json, "mt", object->type->method_table);
	} else {
		json_null(json, "mt");
	}
	json_text(json, "type", name, size);
	json_number(json, "size", object->size);
	json_number(json, "heap", entry->heap);
	json_string(json, "generation", generation_at(call->heap, entry->object));
	json_string(json, "part", part_names[entry->part]);
	json_bool(json, "ready", is_ready(entry));
	json_address(json, "entry", entry->address);
	json_end(json);
}

static void entry_text(struct call *call, const struct finalizer_entry *entry,
		       const struct object *object)
{
	struct out *out = &call->out;
	char number[27];
	if (call->options[OPT_SHORT].given) {
		out_printf(out, "%012" PRIx64 "\n", entry->object);
		return;
	}
	out_styled(out, STYLE_ADDRESS, "%16" PRIx64, entry->object);
	if (!object->type) {
		out_styled(out, STYLE_NOTE, " <no object>");
	} else {
		out_printf(out, " %16" PRIx64 " %14s ", object->type->method_table,
			   format_thousands(object->size, number));
	}
	if (call->options[OPT_DETAIL].given && object->type) {
		size_t size;
		const char *name = type_name(call->heap->clr, object->type, &size);
		out_printf(out, "%4" PRIu32 " %-8s ", entry->heap, part_names[entry->part]);
		out_type(out, name, size, object->type->method_table);
	}
	out_puts(out, "\n");
}

static enum hd_status list_entry(struct lister *lister, const struct finalizer_entry *entry,
				 uint64_t limit)
{
	struct call *call = lister->call;
	struct object object = { 0 };
	if (lister->dead->graph && !is_ready(entry) && !life_has(lister->dead, entry->object))
		return HD_OK;
	if (!object_read(call->heap, &lister->window, entry->object, &object))
		object.type = NULL;
	if (call->options[OPT_MT].given &&
	    (!object.type || object.type->method_table != call->options[OPT_MT].number))
		return HD_OK;
	if (object.type && !type_counts_add(&lister->counts, &object))
		return fail_nomem(call->err);
	if (lister->listed++ >= limit)
		return HD_OK;
	if (call->as_json) {
		entry_json(call, entry, &object);
	} else {
		entry_text(call, entry, &object);
	}
	return call_check(call);
}

static void write_header(struct call *call)
{
	if (call->as_json) {
		json_array(&call->json, "objects");
	} else if (!call->options[OPT_SHORT].given) {
		bool detail = call->options[OPT_DETAIL].given;
		out_styled(&call->out, STYLE_HEAD, "%16s %16s %14s%s", "Address", "MT", "Size",
			   detail ? " Heap Part     Type" : "");
		out_puts(&call->out, "\n");
	}
}

static enum hd_status list_entries(struct lister *lister, const struct finalizer_list *list)
{
	struct call *call = lister->call;
	bool rows = !call->options[OPT_STAT].given;
	uint64_t limit = rows ? call_limit(call, OPT_LIMIT, UINT64_MAX) : 0;
	if (rows)
		write_header(call);
	for (size_t i = 0; i < list->rows_count; i++)
		TRY(list_entry(lister, &list->rows[i], limit));
	bool truncated = rows && lister->listed > limit;
	if (call->as_json && rows) {
		json_end(&call->json);
		if (truncated)
			json_bool(&call->json, "truncated", true);
	} else if (truncated && !call->options[OPT_SHORT].given) {
		char number[27];
		out_printf(&call->out, "(the first %s; -limit 0 lists all)\n",
			   format_thousands(limit, number));
	}
	return HD_OK;
}

static enum hd_status write_statistics(struct lister *lister)
{
	struct call *call = lister->call;
	struct statistics statistics;
	if (call->options[OPT_SHORT].given && !call->as_json)
		return HD_OK;
	TRY(type_counts_statistics(&lister->counts, call->heap->clr, NULL, &statistics, call->err));
	statistics_sort(&statistics, false, false);
	answer_remark(&call->answer,
		      call->options[OPT_STAT].given ? "Statistics:\n" : "\nStatistics:\n");
	statistics_table(&call->answer, &statistics);
	statistics_deinit(&statistics);
	return HD_OK;
}

static enum hd_status answer(struct call *call, const struct finalizer_list *list)
{
	struct life dead = { 0 };
	if (call->options[OPT_ALL_READY].given)
		TRY(life_init(&dead, call, true));
	struct lister lister = { .call = call,
				 .dead = &dead,
				 .window = { .memory = call->heap->memory } };
	if (call->as_json || !call->options[OPT_SHORT].given)
		write_queues(call, list);
	enum hd_status status = list_entries(&lister, list);
	if (status == HD_OK)
		status = write_statistics(&lister);
	if (status == HD_OK && dead.graph && call->as_json)
		completeness_json(call);
	if (status == HD_OK && dead.graph && !call->options[OPT_SHORT].given)
		completeness_write(call, DEAD_PERHAPS);
	window_deinit(&lister.window);
	type_counts_deinit(&lister.counts);
	return status;
}

enum hd_status run_finalizequeue(struct call *call)
{
	if (call->options[OPT_STAT].given)
		call->options[OPT_SHORT].given = false;
	struct finalizer_list list;
	TRY(finalizer_list_read(call->heap, &list, call->err));
	enum hd_status status = answer(call, &list);
	finalizer_list_deinit(&list);
	return status;
}
