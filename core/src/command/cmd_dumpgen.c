/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/type_counts.h"

enum {
	OPT_TYPE,
	OPT_MT,
	OPT_STAT,
	OPT_LIMIT
};

const struct option dumpgen_options[] = {
	[OPT_TYPE] = { "type", VALUE_TYPE, "TEXT", "objects whose type name holds TEXT", NULL },
	[OPT_MT] = { "mt", VALUE_ADDRESS, "MT", "list the objects of this MethodTable", NULL },
	[OPT_STAT] = { "stat", VALUE_NONE, NULL, "with -mt: only the statistics", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N", "list at most N objects (0 = all)", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static enum hd_status write_statistics(struct call *call, const struct heap_range *range)
{
	struct type_counts counts = { 0 };
	struct gaps gaps = { 0 };
	struct statistics statistics;
	enum hd_status status = type_counts_walk(&counts, &gaps, call, range);
	if (status == HD_OK) {
		status = type_counts_statistics(&counts, call->heap->clr,
						call->options[OPT_TYPE].text, &statistics,
						call->err);
	}
	type_counts_deinit(&counts);
	TRY(status);
	if (call->options[OPT_MT].given)
		statistics_keep(&statistics, call->options[OPT_MT].number);
	statistics_sort(&statistics, false, false);
	if (call->as_json) {
		statistics_json(&statistics, &call->json);
	} else {
		statistics_plain(&statistics, &call->out);
	}
	statistics_deinit(&statistics);
	gaps_report(call, &gaps);
	return HD_OK;
}

static void write_row(struct call *call, const struct object *object, const char *generation)
{
	struct json *json = &call->json;
	if (!call->as_json) {
		out_styled(&call->out, STYLE_ADDRESS, "%016" PRIx64, object->address);
		out_printf(&call->out, " %016" PRIx64 " %8" PRIu64 "\n", object->type->method_table,
			   object->size);
		return;
	}
	size_t size;
	const char *name = type_name(call->heap->clr, object->type, &size);
	json_object(json, NULL);
	json_address(json, "address", object->address);
	json_address(json, "mt", object->type->method_table);
	json_text(json, "type", name, size);
	json_number(json, "size", object->size);
	json_bool(json, "free", object->type->is_free);
	json_string(json, "generation", generation);
	json_end(json);
}

/* What listing met. */
struct listed {
	uint64_t count, size;
	struct gaps gaps;
};

static enum hd_status list_segment(struct call *call, const struct heap_range *range,
				   struct walker *walker, struct type_chooser *chooser,
				   struct listed *listed)
{
	const char *generation = generation_name((enum generation)range->generation);
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX);
	for (;;) {
		enum walk_result result = walker_next(walker);
		const struct object *object = &walker->object;
		if (call->out.stopped || walker->cancelled)
			return fail_cancelled(call->err);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&listed->gaps, walker->heap, &walker->damage);
		} else if (type_chooser_has(chooser, object->type) &&
			   heap_range_has(range, walker->segment, object->address)) {
			listed->size += object->size;
			if (listed->count++ >= limit)
				continue;
			write_row(call, object, generation);
			TRY(call_check(call));
		}
	}
}

static void write_total(struct call *call, const struct listed *listed)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, UINT64_MAX);
	if (call->as_json) {
		json_end(&call->json);
		if (listed->count > limit)
			json_bool(&call->json, "truncated", true);
		json_object(&call->json, "total");
		json_number(&call->json, "count", listed->count);
		json_number(&call->json, "size", listed->size);
		json_end(&call->json);
		return;
	}
	char number[27];
	if (listed->count > limit) {
		out_printf(&call->out, "(the first %s; -limit 0 lists all)\n",
			   format_thousands(limit, number));
	}
	out_printf(&call->out, "Total %" PRIu64 " objects\n", listed->count);
}

static enum hd_status list_objects(struct call *call, const struct heap_range *range)
{
	struct walker walker;
	struct listed listed = { 0 };
	struct type_chooser chooser = { .clr = call->heap->clr,
					.part = call->options[OPT_TYPE].text,
					.method_table = call->options[OPT_MT].number };
	TRY(walker_init(&walker, call->heap, call->err));
	if (call->as_json) {
		json_array(&call->json, "objects");
	} else {
		out_styled(&call->out, STYLE_HEAD, "%16s %16s %8s", "Address", "MT", "Size");
		out_puts(&call->out, "\n");
	}
	job_begin(&call->job, "Scanning heap", heap_range_bytes(range));
	walker.job = &call->job;
	enum hd_status status = HD_OK;
	for (size_t i = 0; status == HD_OK && i < range->count; i++) {
		heap_range_walk(range, &walker, range->segments[i]);
		status = list_segment(call, range, &walker, &chooser, &listed);
	}
	job_end(&call->job);
	if (status == HD_OK && chooser.failed)
		status = fail_nomem(call->err);
	type_chooser_deinit(&chooser);
	walker_deinit(&walker);
	TRY(status);
	write_total(call, &listed);
	gaps_report(call, &listed.gaps);
	return HD_OK;
}

enum hd_status run_dumpgen(struct call *call)
{
	const struct value none = { 0 };
	struct heap_range range;
	TRY(heap_range_init(&range, call, &none, &none, &call->words[0], &none, &none));
	bool rows = call->options[OPT_MT].given && !call->options[OPT_STAT].given;
	enum hd_status status = rows ? list_objects(call, &range) : write_statistics(call, &range);
	heap_range_deinit(&range);
	return status;
}
