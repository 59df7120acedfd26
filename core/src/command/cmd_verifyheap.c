/* SPDX-License-Identifier: MIT */
/* verifyheap, verifyobj: SOS's table, then what each finding means. */
#include <inttypes.h>
#include <stdio.h>

#include "command/crash.h"
#include "command/heap_range.h"
#include "command/object.h"
#include "command/verify_text.h"
#include "inspect/locate.h"

enum {
	OPT_HEAP,
	OPT_SEGMENT,
	OPT_IGNORE_GC_STATE,
	OPT_NO_PROGRESS
};

const struct option verifyheap_options[] = {
	[OPT_HEAP] = { "heap", VALUE_NUMBER, "N", "only logical heap N", NULL },
	[OPT_SEGMENT] = { "segment", VALUE_ADDRESS, "ADDR", "only this segment", NULL },
	[OPT_IGNORE_GC_STATE] = { "ignoreGCState", VALUE_NONE, NULL,
				  "accepted for SOS; a GC in progress is always tried", NULL },
	[OPT_NO_PROGRESS] = { "noprogress", VALUE_NONE, NULL, "show no progress", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

static void json_finding(struct call *call, const struct verify_finding *finding)
{
	struct json *json = &call->json;
	struct clr *clr = call->heap->clr;
	json_object(json, NULL);
	json_address(json, "address", finding->address);
	json_string(json, "kind", finding->kind);
	json_string(json, "verdict", verdict_name(finding->verdict));
	json_address(json, "slot", finding->slot);
	json_address(json, "word", finding->word);
	json_address(json, "segment", finding->segment);
	json_string(json, "detail", finding->detail);
	if (finding->last_good.type) {
		size_t size;
		const char *name = type_name(clr, finding->last_good.type, &size);
		json_object(json, "last_good");
		json_address(json, "address", finding->last_good.address);
		json_text(json, "type", name, size);
		json_number(json, "size", finding->last_good.size);
		json_end(json);
	} else {
		json_null(json, "last_good");
	}
	json_number(json, "skipped", finding->skipped);
	json_object(json, "referrers");
	json_number(json, "count", finding->referrer_count);
	json_array(json, "first");
	for (uint64_t i = 0; i < finding->referrer_count && i < CONSEQUENCES_KEPT; i++)
		json_address(json, NULL, finding->referrers[i]);
	json_end(json);
	json_end(json);
	json_object(json, "consequences");
	json_number(json, "count", finding->consequence_count);
	json_array(json, "first");
	for (uint64_t i = 0; i < finding->consequence_count && i < CONSEQUENCES_KEPT; i++)
		json_address(json, NULL, finding->consequences[i]);
	json_end(json);
	json_end(json);
	json_end(json);
}

static enum hd_status write_json(struct call *call, const struct verify_result *result,
				 const struct crash *crash)
{
	struct json *json = &call->json;
	if (crash)
		TRY(crash_write_json(call, crash, result->marked > 0));
	json_number(json, "objects", result->objects);
	json_bool(json, "gc_in_progress", call->heap->gc_in_progress);
	json_number(json, "damaged", result->damage_count);
	json_number(json, "not_kept", result->not_kept);
	json_number(json, "plug_nodes", result->plug_nodes);
	json_array(json, "findings");
	for (size_t i = 0; i < result->count; i++) {
		TRY(call_check(call));
		json_finding(call, &result->findings[i]);
	}
	json_end(json);
	return HD_OK;
}

static void write_row(struct call *call, const struct verify_finding *finding)
{
	out_styled(&call->out, STYLE_ADDRESS, "%-16" PRIx64 " %-16" PRIx64, finding->segment,
		   finding->address);
	out_printf(&call->out, " %-32s %s\n", finding->kind,
		   finding->detail ? finding->detail : "");
}

/* What may be odd because a GC was moving objects, and was not called damage. */
static void write_moving(struct call *call, const struct verify_result *result)
{
	struct out *out = &call->out;
	char number[27];
	out_puts(out,
		 "A garbage collection was moving objects: only what could be walked was verified, "
		 "and\nreferences were not.");
	if (result->plug_nodes) {
		out_printf(out, " It had written over %s,\nwhich is no sign of damage.",
			   format_count(result->plug_nodes, "dead object", number));
	}
	if (result->count > result->damage_count)
		out_puts(out, " What is listed as gc-in-progress may be its work.");
	out_puts(out, "\n");
}

static enum hd_status write_text(struct call *call, const struct verify_result *result,
				 const struct crash *crash)
{
	struct out *out = &call->out;
	char number[27];
	TRY(crash_write_text(call, crash, result->marked > 0));
	if (result->count) {
		out_styled(out, STYLE_HEAD, "%-16s %-16s %-32s %s", "Segment", "Object", "Failure",
			   "Reason");
		out_puts(out, "\n");
	}
	for (size_t i = 0; i < result->count; i++) {
		TRY(call_check(call));
		write_row(call, &result->findings[i]);
	}
	if (result->count)
		out_puts(out, "\n");
	out_printf(out, "%s objects verified, ", format_thousands(result->objects, number));
	out_printf(out, "%s error%s.\n", format_thousands(result->damage_count, number),
		   result->damage_count == 1 ? "" : "s");
	if (result->not_kept) {
		out_printf(out, "%s more findings are not listed.\n",
			   format_thousands(result->not_kept, number));
	}
	if (!result->damage_count)
		out_puts(out, "No heap corruption detected.\n");
	if (call->heap->gc_in_progress)
		write_moving(call, result);
	for (size_t i = 0; i < result->count; i++) {
		TRY(call_check(call));
		out_printf(out, "\nFinding %zu of %zu\n", i + 1, result->count);
		verify_text(call, &result->findings[i]);
	}
	return HD_OK;
}

enum hd_status run_verifyheap(struct call *call)
{
	const struct value none = { 0 };
	struct heap_range range;
	struct verify_result result;
	TRY(heap_range_init(&range, call, &call->options[OPT_HEAP], &call->options[OPT_SEGMENT],
			    &none, &call->words[0], &call->words[1]));
	struct verify_options options = { 0 };
	if (!range.is_whole) {
		options.segments = range.segments;
		options.segment_count = range.count;
		options.begin = range.begin;
		options.end = range.end || !range.begin ? range.end : UINT64_MAX;
	}
	struct crash crash;
	crash_find(call, &crash);
	if (crash.is_in_gc) {
		options.crashed = true;
		options.suspects = crash.addresses;
		options.suspect_count = crash.count;
	}
	if (call->options[OPT_NO_PROGRESS].given)
		call->job.progress = NULL;
	enum hd_status status = verify_heap(call->heap, &options, &call->job, &result, call->err);
	heap_range_deinit(&range);
	if (status != HD_OK)
		return status;
	job_end(&call->job);
	call->findings = result.damage_count != 0;
	status = call->as_json ? write_json(call, &result, &crash)
			       : write_text(call, &result, &crash);
	verify_result_deinit(&result);
	return status;
}

static void write_object(struct call *call, uint64_t address, const struct verify_result *result)
{
	struct out *out = &call->out;
	if (!result->count) {
		out_printf(out, "object 0x%" PRIx64 " is a valid object\n", address);
		return;
	}
	out_styled(out, STYLE_HEAD, "%-6s %-32s %s", "Offset", "Issue", "Description");
	out_puts(out, "\n");
	for (size_t i = 0; i < result->count; i++) {
		const struct verify_finding *finding = &result->findings[i];
		uint64_t offset = finding->slot - address;
		char text[24] = "-";
		if (offset < (uint64_t)1 << 40) {
			(void)snprintf(text, sizeof(text), "0x%02" PRIx64, offset);
		} else if (-offset < 16) {
			(void)snprintf(text, sizeof(text), "-0x%02" PRIx64, -offset);
		}
		out_printf(out, "%-6s %-32s %s\n", text, finding->kind,
			   finding->detail ? finding->detail : "");
	}
	out_printf(out, "\n%zu error%s detected.\n", result->count, result->count == 1 ? "" : "s");
	for (size_t i = 0; i < result->count; i++) {
		out_puts(out, "\n");
		verify_text(call, &result->findings[i]);
	}
}

/* Where what is to be verified starts: the object at @p address, or the damage that hides it. */
static enum hd_status find_start(struct call *call, uint64_t address, uint64_t *ret)
{
	struct location location;
	struct object object;
	TRY(object_locate(call->heap, address, &call->job, &location, call->err));
	*ret = location.place == PLACE_SKIPPED ? location.damage.address : address;
	if (location.place == PLACE_SKIPPED && *ret == address)
		return HD_OK;
	return call_located_object(call, address, &location, &object);
}

enum hd_status run_verifyobj(struct call *call)
{
	struct verify_result result;
	uint64_t address = call->words[0].number, start;
	TRY(find_start(call, address, &start));
	TRY(verify_object(call->heap, start, &call->job, &result, call->err));
	call->findings = result.damage_count != 0;
	enum hd_status status = HD_OK;
	if (call->as_json) {
		json_address(&call->json, "address", address);
		json_bool(&call->json, "valid", result.count == 0);
		status = write_json(call, &result, NULL);
	} else {
		write_object(call, address, &result);
	}
	verify_result_deinit(&result);
	return status;
}
