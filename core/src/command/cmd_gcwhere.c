/* SPDX-License-Identifier: MIT */
/* gcwhere and listnearobj: where an address lies in the heap, and what is around it. */
#include <inttypes.h>
#include <stdio.h>

#include "command/command.h"
#include "inspect/locate.h"

static enum hd_status not_in_heap(const struct call *call, uint64_t address)
{
	const struct heap *heap = call->heap;
	const struct segment *below = NULL, *above = NULL;
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		if (segment->end <= address && segment->end > segment->begin)
			below = segment;
		if (!above && segment->begin > address && segment->end > segment->begin)
			above = segment;
	}
	struct text text = { 0 };
	if (below) {
		text_printf(&text, "; the segment below ends at %" PRIx64, below->end);
	}
	if (above) {
		text_printf(&text, "; the segment above begins at %" PRIx64, above->begin);
	}
	enum hd_status status = fail(call->err, HD_ERR_NOTFOUND, address,
				     "%" PRIx64 " is not in the GC heap%s (eeheap -gc lists it)",
				     address, text.bytes ? text.bytes : "");
	text_deinit(&text);
	return status;
}

enum hd_status run_gcwhere(struct call *call)
{
	uint64_t address = call->words[0].number;
	const struct segment *segment = heap_segment_at(call->heap, address);
	if (!segment)
		return not_in_heap(call, address);
	const char *generation = generation_name(segment_generation_at(segment, address));
	uint64_t base = segment->begin & ~(uint64_t)0xfff;
	if (call->as_json) {
		struct json *json = &call->json;
		json_address(json, "address", address);
		json_number(json, "heap", segment->heap);
		json_address(json, "segment", segment->address);
		json_string(json, "generation", generation);
		json_address(json, "begin", segment->begin);
		json_address(json, "allocated", segment->end);
		json_address(json, "committed", segment->committed);
		json_address(json, "reserved", segment->reserved);
		return HD_OK;
	}
	struct out *out = &call->out;
	out_styled(out, STYLE_HEAD, "%-15s %-6s %-16s %-10s %-25s %-25s %-25s", "Address", "Heap",
		   "Segment", "Generation", "Allocated", "Committed", "Reserved");
	out_printf(out, "\n%-15" PRIx64 " %-6" PRIu32 " %-16" PRIx64 " %-10s", address,
		   segment->heap, segment->address, generation);
	out_printf(out, " %012" PRIx64 "-%012" PRIx64 " %012" PRIx64 "-%012" PRIx64, segment->begin,
		   segment->end, base, segment->committed);
	out_printf(out, " %012" PRIx64 "-%012" PRIx64 "\n", segment->committed, segment->reserved);
	return HD_OK;
}

static void write_neighbour(struct call *call, const char *label, const char *key,
			    const struct object *object)
{
	size_t size = 0;
	const char *name = object->type ? type_name(call->heap->clr, object->type, &size) : NULL;
	if (call->as_json) {
		struct json *json = &call->json;
		if (!object->type) {
			json_null(json, key);
			return;
		}
		json_object(json, key);
		json_address(json, "address", object->address);
		json_address(json, "mt", object->type->method_table);
		json_text(json, "type", name, size);
		json_number(json, "size", object->size);
		json_end(json);
		return;
	}
	struct out *out = &call->out;
	out_printf(out, "%-13s ", label);
	if (!object->type) {
		out_puts(out, "none\n");
		return;
	}
	char text[48];
	(void)snprintf(text, sizeof(text), "%" PRIu64 " (0x%" PRIx64 ")", object->size,
		       object->size);
	out_styled(out, STYLE_ADDRESS, "%012" PRIx64, object->address);
	out_printf(out, " %-28s ", text);
	out_type(out, name, size, object->type->method_table);
	out_puts(out, "\n");
}

enum hd_status run_listnearobj(struct call *call)
{
	uint64_t address = call->words[0].number;
	struct location around;
	TRY(object_locate(call->heap, address, &call->job, &around, call->err));
	job_end(&call->job);
	if (around.place == PLACE_OUTSIDE)
		return not_in_heap(call, address);
	write_neighbour(call, "Before:", "before", &around.before);
	write_neighbour(call, "Current:", "current", &around.object);
	write_neighbour(call, "Next:", "next", &around.next);
	bool in_context = false;
	for (size_t i = 0; i < call->heap->context_count; i++) {
		const struct context *context = &call->heap->contexts[i];
		in_context |= address >= context->pointer && address < context->limit + 24;
	}
	bool consistent = around.place != PLACE_SKIPPED;
	call->findings = !consistent;
	if (call->as_json) {
		json_bool(&call->json, "consistent", consistent);
		json_bool(&call->json, "allocation_context", in_context);
	} else if (!consistent) {
		out_printf(&call->out,
			   "Heap local consistency not confirmed: no object at %012" PRIx64
			   " (word %016" PRIx64 "); verifyheap says more.\n",
			   around.damage.address, around.damage.word);
	} else {
		if (in_context && !around.object.type) {
			out_puts(&call->out, "(the address lies in an allocation context, which is "
					     "free memory)\n");
		}
		out_puts(&call->out, "Heap local consistency confirmed.\n");
	}
	return HD_OK;
}
