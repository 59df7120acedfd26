/* SPDX-License-Identifier: MIT */
/* eeheap -gc: heaps, generations and segments; balance: bytes per heap. */
#include <inttypes.h>
#include <stdio.h>

#include "command/heap_range.h"

enum {
	OPT_GC,
	OPT_LOADER,
	OPT_HEAP,
	OPT_SEGMENT
};

const struct option eeheap_options[] = {
	[OPT_GC] = { "gc", VALUE_NONE, NULL, "the GC heap (the default)", NULL },
	[OPT_LOADER] = { "loader", VALUE_NONE, NULL, "the loader's heaps: not read", NULL },
	[OPT_HEAP] = { "heap", VALUE_NUMBER, "N", "only logical heap N", NULL },
	[OPT_SEGMENT] = { "segment", VALUE_ADDRESS, "ADDR", "only this segment", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

struct totals {
	uint64_t allocated, committed;
};

/* SOS's sections, in its order; "ephemeral" stands for all three generations of segments. */
static const struct {
	const char *heading;
	uint8_t generation;
	bool has_header;
} sections[] = {
	{ "generation 0:", GENERATION_0, false },
	{ "generation 1:", GENERATION_1, false },
	{ "generation 2:", GENERATION_2, false },
	{ "ephemeral segment:", GENERATION_EPHEMERAL, false },
	{ "NonGC heap", GENERATION_NONGC, true },
	{ "Large object heap", GENERATION_LOH, true },
	{ "Pinned object heap", GENERATION_POH, true },
};

static void size_text(char *buf, size_t size, uint64_t value)
{
	if (value) {
		(void)snprintf(buf, size, "0x%" PRIx64 " (%" PRIu64 ")", value, value);
	} else {
		*buf = '\0';
	}
}

static void write_header(struct out *out)
{
	out_styled(out, STYLE_HEAD, "%16s %16s %16s %16s %-16s %-17s", "segment", "begin",
		   "allocated", "committed", "allocated size", "committed size");
	out_puts(out, "\n");
}

static void write_row(struct out *out, const struct segment *segment)
{
	char allocated[48], committed[48];
	size_text(allocated, sizeof(allocated), segment->end - segment->begin);
	size_text(committed, sizeof(committed), segment_committed_size(segment));
	out_styled(out, STYLE_ADDRESS, "%16" PRIx64, segment->address);
	out_printf(out, " %16" PRIx64 " %16" PRIx64 " %16" PRIx64 " %-16s %-17s\n", segment->begin,
		   segment->end, segment->committed, allocated, committed);
	if (segment->generation != GENERATION_EPHEMERAL)
		return;
	out_printf(out, "%16s generation 1 starts at %" PRIx64 ", generation 0 at %" PRIx64 "\n",
		   "", segment->gen1_begin, segment->gen0_begin);
}

static void write_heap(struct call *call, const struct heap_range *range, uint32_t index)
{
	struct out *out = &call->out;
	bool has_regions = call->heap->clr->gc.has_regions;
	out_puts(out, "Small object heap\n");
	write_header(out);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		uint8_t generation = sections[i].generation;
		size_t rows = 0;
		/* Segments hold generations 0 and 1 in the ephemeral one. */
		if (!has_regions && (generation == GENERATION_0 || generation == GENERATION_1))
			continue;
		if (has_regions && generation == GENERATION_EPHEMERAL)
			continue;
		out_printf(out, "%s\n", sections[i].heading);
		if (sections[i].has_header)
			write_header(out);
		for (size_t j = 0; j < range->count; j++) {
			const struct segment *segment = range->segments[j];
			if (segment->heap == index && segment->generation == generation) {
				write_row(out, segment);
				rows++;
			}
		}
		if (!rows && call->out.stopped)
			return;
	}
}

static struct totals sum(const struct heap_range *range, uint32_t index, bool all)
{
	struct totals totals = { 0 };
	for (size_t i = 0; i < range->count; i++) {
		const struct segment *segment = range->segments[i];
		if (!all && segment->heap != index)
			continue;
		totals.allocated += segment->end - segment->begin;
		totals.committed += segment_committed_size(segment);
	}
	return totals;
}

static bool has_heap(const struct heap_range *range, uint32_t index)
{
	for (size_t i = 0; i < range->count; i++) {
		if (range->segments[i]->heap == index)
			return true;
	}
	return false;
}

static void write_contexts(struct call *call)
{
	const struct heap *heap = call->heap;
	out_puts(&call->out, "Allocation contexts\n");
	if (!heap->context_count)
		out_puts(&call->out, "            none\n");
	for (size_t i = 0; i < heap->context_count; i++) {
		const struct context *context = &heap->contexts[i];
		out_printf(&call->out, "%16" PRIx64 " %16" PRIx64 " ", context->pointer,
			   context->limit);
		if (context->owner == CONTEXT_THREAD) {
			out_printf(&call->out, "thread %" PRIx64 "\n", context->thread);
		} else {
			out_puts(&call->out,
				 context->owner == CONTEXT_HEAP ? "heap\n" : "global\n");
		}
	}
}

static void write_text(struct call *call, const struct heap_range *range)
{
	struct out *out = &call->out;
	const struct heap *heap = call->heap;
	out_printf(out,
		   "========================================\nNumber of GC Heaps: %" PRIu32
		   "\n----------------------------------------\n",
		   heap->heap_count);
	for (uint32_t i = 0; i < heap->heap_count && !out->stopped; i++) {
		if (!has_heap(range, i))
			continue;
		if (heap->clr->gc.is_server) {
			out_printf(out, "Heap %" PRIu32 " (%016" PRIx64 ")\n", i,
				   heap->heap_addresses[i]);
		}
		write_heap(call, range, i);
		struct totals totals = sum(range, i, false);
		if (heap->clr->gc.is_server) {
			out_printf(out,
				   "Allocated Heap Size:       Size: 0x%" PRIx64 " (%" PRIu64
				   ") bytes.\nCommitted Heap Size:       Size: 0x%" PRIx64
				   " (%" PRIu64 ") bytes.\n",
				   totals.allocated, totals.allocated, totals.committed,
				   totals.committed);
		}
		out_puts(out, "------------------------------\n");
	}
	write_contexts(call);
	struct totals totals = sum(range, 0, true);
	out_printf(out,
		   "------------------------------\nGC Allocated Heap Size:    Size: 0x%" PRIx64
		   " (%" PRIu64 ") bytes.\nGC Committed Heap Size:    Size: 0x%" PRIx64 " (%" PRIu64
		   ") bytes.\n",
		   totals.allocated, totals.allocated, totals.committed, totals.committed);
}

static void json_segment(struct json *json, const struct segment *segment)
{
	json_object(json, NULL);
	json_address(json, "address", segment->address);
	json_string(json, "generation", generation_name(segment->generation));
	json_address(json, "begin", segment->begin);
	json_address(json, "allocated", segment->end);
	json_address(json, "committed", segment->committed);
	json_address(json, "reserved", segment->reserved);
	if (segment->generation == GENERATION_EPHEMERAL) {
		json_address(json, "gen1_begin", segment->gen1_begin);
		json_address(json, "gen0_begin", segment->gen0_begin);
	}
	json_end(json);
}

static void write_json(struct call *call, const struct heap_range *range)
{
	struct json *json = &call->json;
	const struct heap *heap = call->heap;
	json_array(json, "heaps");
	for (uint32_t i = 0; i < heap->heap_count && !call->out.stopped; i++) {
		if (!has_heap(range, i))
			continue;
		json_object(json, NULL);
		json_number(json, "index", i);
		json_address(json, "address", heap->heap_addresses[i]);
		json_array(json, "segments");
		for (size_t j = 0; j < range->count; j++) {
			if (range->segments[j]->heap == i)
				json_segment(json, range->segments[j]);
		}
		json_end(json);
		json_end(json);
	}
	json_end(json);
	json_array(json, "contexts");
	for (size_t i = 0; i < heap->context_count; i++) {
		json_object(json, NULL);
		json_address(json, "pointer", heap->contexts[i].pointer);
		json_address(json, "limit", heap->contexts[i].limit);
		json_address(json, "thread", heap->contexts[i].thread);
		json_end(json);
	}
	json_end(json);
	struct totals totals = sum(range, 0, true);
	json_number(json, "total", totals.allocated);
	json_number(json, "committed", totals.committed);
}

enum hd_status run_eeheap(struct call *call)
{
	if (call->options[OPT_LOADER].given) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "the loader's heaps are not read: eeheap shows the GC heap");
	}
	const struct value none = { 0 };
	struct heap_range range;
	TRY(heap_range_init(&range, call, &call->options[OPT_HEAP], &call->options[OPT_SEGMENT],
			    &none, &call->words[0], &call->words[1]));
	if (call->as_json) {
		write_json(call, &range);
	} else {
		write_text(call, &range);
	}
	heap_range_deinit(&range);
	return HD_OK;
}

enum hd_status run_balance(struct call *call)
{
	const struct heap *heap = call->heap;
	const struct value none = { 0 };
	struct heap_range range;
	TRY(heap_range_init(&range, call, &none, &none, &none, &none, &none));
	uint64_t all = sum(&range, 0, true).allocated;
	char number[27];
	if (call->as_json) {
		json_array(&call->json, "heaps");
	} else {
		out_styled(&call->out, STYLE_HEAD, "%5s %18s %8s %18s", "Heap", "Bytes", "Share",
			   "Committed");
		out_puts(&call->out, "\n");
	}
	for (uint32_t i = 0; i < heap->heap_count && !call->out.stopped; i++) {
		struct totals totals = sum(&range, i, false);
		if (call->as_json) {
			json_object(&call->json, NULL);
			json_number(&call->json, "index", i);
			json_number(&call->json, "size", totals.allocated);
			json_number(&call->json, "committed", totals.committed);
			json_end(&call->json);
			continue;
		}
		out_printf(&call->out, "%5" PRIu32 " %18s %7.1f%%", i,
			   format_thousands(totals.allocated, number),
			   all ? 100.0 * (double)totals.allocated / (double)all : 0.0);
		out_printf(&call->out, " %18s\n", format_thousands(totals.committed, number));
	}
	if (call->as_json)
		json_end(&call->json);
	heap_range_deinit(&range);
	return HD_OK;
}
