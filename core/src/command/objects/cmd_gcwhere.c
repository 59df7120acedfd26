/* SPDX-License-Identifier: MIT */
/* gcwhere and listnearobj: where an address lies in the heap, and what is around it. */
#include <inttypes.h>
#include <stdio.h>

#include "command/table.h"
#include "inspect/locate.h"
#include "util/job.h"

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
	HD_CLEANUP(text) struct text text = { 0 };
	if (below) {
		text_printf(&text, "; the segment below ends at %" PRIx64, below->end);
	}
	if (above) {
		text_printf(&text, "; the segment above begins at %" PRIx64, above->begin);
	}
	return fail(call->err, HD_ERR_NOTFOUND, address,
		    "%" PRIx64 " is not in the GC heap%s (eeheap -gc lists it)", address,
		    text.bytes ? text.bytes : "");
}

#define WHERE_LIST(X)                                                                              \
	X(WHERE_ADDRESS, "address", "Address", KIND_ADDRESS, 15, 0, "what was asked for")          \
	X(WHERE_HEAP, "heap", "Heap", KIND_NUMBER, 6, 0, "the logical heap of its segment")        \
	X(WHERE_SEGMENT, "segment", "Segment", KIND_ADDRESS, 16, 0,                                \
	  "where the GC's record of the segment is")                                               \
	X(WHERE_GENERATION, "generation", "Generation", KIND_TEXT, 10, 0,                          \
	  "0, 1, 2, loh, poh or nongc")                                                            \
	X(WHERE_BEGIN, "begin", NULL, KIND_ADDRESS, 0, 0, "first object of the segment")           \
	X(WHERE_ALLOCATED, "allocated", "Allocated", KIND_ADDRESS, 25, 0, "where its objects end") \
	X(WHERE_COMMITTED, "committed", "Committed", KIND_ADDRESS, 25, 0,                          \
	  "end of its committed memory")                                                           \
	X(WHERE_RESERVED, "reserved", "Reserved", KIND_ADDRESS, 25, 0, "where its addresses end")

COLUMNS(where, WHERE_COLUMNS, WHERE_LIST);

static void put_range(struct out *out, uint64_t begin, uint64_t end)
{
	out_printf(out, " %012" PRIx64 "-%012" PRIx64, begin, end);
}

static void where_layout(struct out *out, const struct cell *cells)
{
	uint64_t begin = cells[WHERE_BEGIN].number, committed = cells[WHERE_COMMITTED].number;
	out_styled(out, STYLE_HEAD, "%-15s %-6s %-16s %-10s %-25s %-25s %-25s", "Address", "Heap",
		   "Segment", "Generation", "Allocated", "Committed", "Reserved");
	out_printf(out, "\n%-15" PRIx64 " %-6" PRIu64 " %-16" PRIx64 " %-10s",
		   cells[WHERE_ADDRESS].number, cells[WHERE_HEAP].number,
		   cells[WHERE_SEGMENT].number, cells[WHERE_GENERATION].text.bytes);
	put_range(out, begin, cells[WHERE_ALLOCATED].number);
	put_range(out, begin & ~(uint64_t)0xfff, committed);
	put_range(out, committed, cells[WHERE_RESERVED].number);
	out_puts(out, "\n");
}

SCHEMA(where, .layout = where_layout);

static enum hd_status run_gcwhere(struct call *call)
{
	uint64_t address = call->words[0].number;
	const struct segment *segment = heap_segment_at(call->heap, address);
	if (!segment)
		return not_in_heap(call, address);
	const char *generation = generation_name(segment_generation_at(segment, address));
	const struct cell cells[WHERE_COLUMNS] = {
		[WHERE_ADDRESS] = cell_number(address),
		[WHERE_HEAP] = cell_number(segment->heap),
		[WHERE_SEGMENT] = cell_number(segment->address),
		[WHERE_GENERATION] = cell_string(generation),
		[WHERE_BEGIN] = cell_number(segment->begin),
		[WHERE_ALLOCATED] = cell_number(segment->end),
		[WHERE_COMMITTED] = cell_number(segment->committed),
		[WHERE_RESERVED] = cell_number(segment->reserved),
	};
	answer_record(&call->answer, &where_schema, cells);
	return HD_OK;
}

#define NEIGHBOUR_LIST(X)                                                                    \
	X(NEIGHBOUR_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "where the object begins") \
	X(NEIGHBOUR_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "its MethodTable")                   \
	X(NEIGHBOUR_TYPE, "type", NULL, KIND_TYPE, 0, 0, "name of its type")                 \
	X(NEIGHBOUR_SIZE, "size", NULL, KIND_BYTES, 0, 0, "its own bytes")                   \
	X(NEIGHBOUR_LABEL, NULL, "label", KIND_TEXT, 0, 0, NULL)

COLUMNS(neighbour, NEIGHBOUR_COLUMNS, NEIGHBOUR_LIST);

#define NEIGHBOUR_SCHEMA(key)                                             \
	{                                                                 \
		.name = (key), SCHEMA_COLUMNS(neighbour_columns),         \
		.lines = "{label:-13} {address:012a} {size:-28} {type}\n" \
	}
static const struct schema before_schema = NEIGHBOUR_SCHEMA("before");
static const struct schema current_schema = NEIGHBOUR_SCHEMA("current");
static const struct schema next_schema = NEIGHBOUR_SCHEMA("next");

static void write_neighbour(struct call *call, const struct schema *schema, const char *label,
			    const struct object *object)
{
	if (!object->type) {
		answer_none(&call->answer, schema->name);
		answer_remark(&call->answer, "%-13s none\n", label);
		return;
	}
	size_t size;
	const char *name = type_name(call->heap->runtime, object->type, &size);
	char both[48];
	(void)snprintf(both, sizeof(both), "%" PRIu64 " (0x%" PRIx64 ")", object->size,
		       object->size);
	const struct cell cells[NEIGHBOUR_COLUMNS] = {
		[NEIGHBOUR_ADDRESS] = cell_number(object->address),
		[NEIGHBOUR_MT] = cell_number(object->type->method_table),
		[NEIGHBOUR_TYPE] = cell_type(name, size, object->type->method_table),
		[NEIGHBOUR_SIZE] = cell_shown(cell_number(object->size), both),
		[NEIGHBOUR_LABEL] = cell_string(label),
	};
	answer_record(&call->answer, schema, cells);
}

static const struct column soundness_columns[] = {
	{ "consistent", NULL, KIND_FLAG, 0, 0, "do objects follow each other there?" },
	{ "allocation_context", NULL, KIND_FLAG, 0, 0,
	  "does the address lie in free memory that a thread or heap allocates from?" },
};
static const struct schema soundness_schema = { SCHEMA_COLUMNS(soundness_columns) };

static void write_soundness(struct call *call, const struct location *around, bool in_context)
{
	struct answer *answer = &call->answer;
	bool is_consistent = around->place != PLACE_SKIPPED;
	const struct cell cells[] = { cell_flag(is_consistent), cell_flag(in_context) };
	call->findings = !is_consistent;
	answer_data(answer, &soundness_schema, cells);
	if (!is_consistent) {
		answer_remark(answer,
			      "Heap local consistency not confirmed: no object at %012" PRIx64
			      " (word %016" PRIx64 "); verifyheap says more.\n",
			      around->damage.address, around->damage.word);
		return;
	}
	if (in_context && !around->object.type) {
		answer_remark(answer, "(the address lies in an allocation context, which is "
				      "free memory)\n");
	}
	answer_remark(answer, "Heap local consistency confirmed.\n");
}

static enum hd_status run_listnearobj(struct call *call)
{
	uint64_t address = call->words[0].number;
	struct location around;
	TRY(object_locate(call->heap, address, &call->job, &around, call->err));
	job_end(&call->job);
	if (around.place == PLACE_OUTSIDE)
		return not_in_heap(call, address);
	write_neighbour(call, &before_schema, "Before:", &around.before);
	write_neighbour(call, &current_schema, "Current:", &around.object);
	write_neighbour(call, &next_schema, "Next:", &around.next);
	bool in_context = false;
	for (size_t i = 0; i < call->heap->context_count; i++) {
		const struct context *context = &call->heap->contexts[i];
		in_context |= address >= context->pointer && address < context->limit + 24;
	}
	write_soundness(call, &around, in_context);
	return HD_OK;
}

COMMAND(gcwhere, .summary = "show the heap, segment and generation of an address",
	.example = "gcwhere 7f0fd8068768", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP,
	.words = { { "ADDR", VALUE_ADDRESS, false } });

COMMAND(listnearobj, .alias = "lno", .summary = "show the objects before, at and after an address",
	.description =
		"The segment is walked from its first object, so ADDR may lie inside an object.\n",
	.example = "listnearobj 7f0fd8068770", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP,
	.words = { { "ADDR", VALUE_ADDRESS, false } });
