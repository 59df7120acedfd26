/* SPDX-License-Identifier: MIT */
/* eeheap: heaps, generations and segments, loader heaps; balance: bytes per heap. */
#include <inttypes.h>
#include <stdio.h>

#include "command/heap/eeheap_loader.h"
#include "command/heap/heap_call.h"
#include "command/table.h"
#include "gc/heap.h"
#include "runtime/runtime_ops.h"

#define EEHEAP_OPTIONS(X)                                                        \
	X(OPT_GC, "gc", VALUE_NONE, NULL, "the GC heap (the default)", NULL)     \
	X(OPT_LOADER, "loader", VALUE_NONE, NULL,                                \
	  "the loader's heaps by context, and those for compiled code", NULL)    \
	X(OPT_JIT, "jit", VALUE_NONE, NULL, "the heaps for compiled code", NULL) \
	X(OPT_HEAP, "heap", VALUE_NUMBER, "N", "only logical heap N", NULL)      \
	X(OPT_SEGMENT, "segment", VALUE_ADDRESS, "ADDR", "only this segment", NULL)

OPTIONS(eeheap, EEHEAP_OPTIONS);

struct gc_totals {
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

#define SEGMENT_LIST(X)                                                                      \
	X(SEGMENT_ADDRESS, "address", "segment", KIND_ADDRESS, 16, LOOK_ADDRESS,             \
	  "where the GC's record of it is")                                                  \
	X(SEGMENT_GENERATION, "generation", NULL, KIND_TEXT, 0, 0,                           \
	  "0, 1, 2, ephemeral, loh, poh or nongc")                                           \
	X(SEGMENT_BEGIN, "begin", "begin", KIND_ADDRESS, 16, 0, "its first object")          \
	X(SEGMENT_ALLOCATED, "allocated", "allocated", KIND_ADDRESS, 16, 0,                  \
	  "where its objects end")                                                           \
	X(SEGMENT_COMMITTED, "committed", "committed", KIND_ADDRESS, 16, 0,                  \
	  "end of its committed memory")                                                     \
	X(SEGMENT_RESERVED, "reserved", NULL, KIND_ADDRESS, 0, 0, "where its addresses end") \
	X(SEGMENT_GEN1, "gen1_begin", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                 \
	  "where generation 1 begins in an ephemeral one")                                   \
	X(SEGMENT_GEN0, "gen0_begin", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                 \
	  "where generation 0 begins in an ephemeral one")                                   \
	X(SEGMENT_ALLOCATED_SIZE, NULL, "allocated size", KIND_TEXT, 16, LOOK_LEFT, NULL)    \
	X(SEGMENT_COMMITTED_SIZE, NULL, "committed size", KIND_TEXT, 17, LOOK_LEFT, NULL)

COLUMNS(segment, SEGMENT_COLUMNS, SEGMENT_LIST);

/* In order of address; text has them by sections. */
const struct schema eeheap_segment_schema = { .name = "segments", SCHEMA_COLUMNS(segment_columns) };
static const struct schema section_schema = { SCHEMA_COLUMNS(segment_columns) };

static void size_text(char *buf, size_t size, uint64_t value)
{
	if (value) {
		(void)snprintf(buf, size, "0x%" PRIx64 " (%" PRIu64 ")", value, value);
	} else {
		*buf = '\0';
	}
}

static void write_segment(struct answer *answer, const struct segment *segment)
{
	bool is_ephemeral = segment->generation == GENERATION_EPHEMERAL;
	char allocated[48], committed[48];
	size_text(allocated, sizeof(allocated), segment->end - segment->begin);
	size_text(committed, sizeof(committed), segment_committed_size(segment));
	struct cell cells[SEGMENT_COLUMNS] = {
		[SEGMENT_ADDRESS] = cell_number(segment->address),
		[SEGMENT_GENERATION] = cell_string(generation_name(segment->generation)),
		[SEGMENT_BEGIN] = cell_number(segment->begin),
		[SEGMENT_ALLOCATED] = cell_number(segment->end),
		[SEGMENT_COMMITTED] = cell_number(segment->committed),
		[SEGMENT_RESERVED] = cell_number(segment->reserved),
		[SEGMENT_ALLOCATED_SIZE] = cell_string(allocated),
		[SEGMENT_COMMITTED_SIZE] = cell_string(committed),
	};
	if (is_ephemeral) {
		cells[SEGMENT_GEN1] = cell_number(segment->gen1_begin);
		cells[SEGMENT_GEN0] = cell_number(segment->gen0_begin);
	}
	answer_row(answer, cells);
}

/* Data: the segments of heap @p index. */
static void write_segments(struct answer *answer, const struct heap_range *range, uint32_t index)
{
	static const struct table_options options = { .limit = UINT64_MAX,
						      .hidden = UINT64_MAX,
						      .no_heading = true };
	answer_table(answer, &eeheap_segment_schema, &options);
	for (size_t i = 0; i < range->count && !answer_is_stopped(answer); i++) {
		if (range->segments[i]->heap == index)
			write_segment(answer, range->segments[i]);
	}
	(void)answer_table_end(answer);
}

/* Text: those of one section. */
static void write_section(struct answer *answer, const struct heap_range *range, uint32_t index,
			  size_t section)
{
	const struct table_options options = { .limit = UINT64_MAX,
					       .no_heading = !sections[section].has_header };
	answer_remark(answer, "%s\n", sections[section].heading);
	answer_table(answer, &section_schema, &options);
	for (size_t i = 0; i < range->count && !answer_is_stopped(answer); i++) {
		const struct segment *segment = range->segments[i];
		if (segment->heap != index || segment->generation != sections[section].generation)
			continue;
		write_segment(answer, segment);
		if (segment->generation == GENERATION_EPHEMERAL) {
			answer_remark(answer,
				      "%16s generation 1 starts at %" PRIx64
				      ", generation 0 at %" PRIx64 "\n",
				      "", segment->gen1_begin, segment->gen0_begin);
		}
	}
	(void)answer_table_end(answer);
}

static void write_sections(struct call *call, const struct heap_range *range, uint32_t index)
{
	bool has_regions = runtime_has_regions(call->heap->runtime);
	/* The headings of the first sections come before their names. */
	answer_remark(&call->answer, "Small object heap\n");
	answer_table(&call->answer, &section_schema, NULL);
	(void)answer_table_end(&call->answer);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		uint8_t generation = sections[i].generation;
		/* Segments hold generations 0 and 1 in the ephemeral one. */
		if (!has_regions && (generation == GENERATION_0 || generation == GENERATION_1))
			continue;
		if (has_regions && generation == GENERATION_EPHEMERAL)
			continue;
		if (answer_is_stopped(&call->answer))
			return;
		write_section(&call->answer, range, index, i);
	}
}

static struct gc_totals sum(const struct heap_range *range, uint32_t index, bool all)
{
	struct gc_totals totals = { 0 };
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

#define TOTAL_LIST(X)                                       \
	X(TOTAL_ALLOCATED, "total", NULL, KIND_BYTES, 0, 0, \
	  "bytes up to the end of the last object")         \
	X(TOTAL_COMMITTED, "committed", NULL, KIND_BYTES, 0, 0, "committed bytes")

COLUMNS(total, TOTAL_COLUMNS, TOTAL_LIST);

#define HEAP_TOTALS(before, after)                                                        \
	before "Allocated Heap Size:" after "Size: 0x{total:x} ({total}) bytes.\n" before \
	       "Committed Heap Size:" after "Size: 0x{committed:x} ({committed}) bytes.\n"
static const struct schema heap_total_schema = { SCHEMA_COLUMNS(total_columns),
						 .lines = HEAP_TOTALS("", "       ") };
SCHEMA(total, .lines = HEAP_TOTALS("GC ", "    "));

#define CONTEXT_LIST(X)                                                            \
	X(CONTEXT_POINTER, "pointer", "Pointer", KIND_ADDRESS, 16, 0,              \
	  "where its free memory begins")                                          \
	X(CONTEXT_LIMIT, "limit", "Limit", KIND_ADDRESS, 16, 0, "where that ends") \
	X(CONTEXT_THREAD_ADDRESS, "thread", NULL, KIND_ADDRESS, 0, 0,              \
	  "its Thread; 0x0: it is of a heap, or global")                           \
	X(CONTEXT_OF, NULL, "Owner", KIND_TEXT, 0, 0, NULL)

COLUMNS(context, CONTEXT_COLUMNS, CONTEXT_LIST);
SCHEMA(context, .name = "contexts");

static void write_contexts(struct answer *answer, const struct heap *heap)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	answer_remark(answer, "Allocation contexts\n");
	if (!heap->context_count)
		answer_remark(answer, "            none\n");
	answer_table(answer, &context_schema, &options);
	for (size_t i = 0; i < heap->context_count; i++) {
		const struct context *context = &heap->contexts[i];
		char thread[32];
		(void)snprintf(thread, sizeof(thread), "thread %" PRIx64, context->thread);
		const char *owner = context->owner == CONTEXT_HEAP ? "heap" : "global";
		const struct cell cells[CONTEXT_COLUMNS] = {
			[CONTEXT_POINTER] = cell_number(context->pointer),
			[CONTEXT_LIMIT] = cell_number(context->limit),
			[CONTEXT_THREAD_ADDRESS] = cell_number(context->thread),
			[CONTEXT_OF] =
				cell_string(context->owner == CONTEXT_THREAD ? thread : owner),
		};
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
}

#define HEAP_LIST(X)                                                                            \
	X(HEAP_INDEX, "index", "Heap", KIND_NUMBER, 0, 0, "number of the logical heap, from 0") \
	X(HEAP_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0,                                    \
	  "the server GC's record of it; 0x0 of the workstation GC")

COLUMNS(heap, HEAP_COLUMNS, HEAP_LIST);

const struct schema eeheap_heap_schema = {
	.name = "heaps",
	SCHEMA_COLUMNS(heap_columns),
	.is_main = true,
	.lines = "[?address Heap {index} ({address:016})\n]",
};

static void write_totals(struct answer *answer, const struct schema *schema,
			 struct gc_totals totals,
			 void (*write)(struct answer *, const struct schema *, const struct cell *))
{
	const struct cell cells[TOTAL_COLUMNS] = {
		[TOTAL_ALLOCATED] = cell_number(totals.allocated),
		[TOTAL_COMMITTED] = cell_number(totals.committed),
	};
	write(answer, schema, cells);
}

static void write_heap(struct call *call, const struct heap_range *range, uint32_t index)
{
	struct answer *answer = &call->answer;
	const struct heap *heap = call->heap;
	bool is_server = runtime_has_server_gc(heap->runtime);
	struct cell address = cell_number(heap->heap_addresses[index]);
	const struct cell cells[HEAP_COLUMNS] = {
		[HEAP_INDEX] = cell_number(index),
		[HEAP_ADDRESS] = is_server ? address : cell_shown(address, ""),
	};
	answer_row_begin(answer, cells);
	write_segments(answer, range, index);
	write_sections(call, range, index);
	if (is_server) {
		write_totals(answer, &heap_total_schema, sum(range, index, false), answer_heading);
	}
	answer_row_end(answer);
	answer_remark(answer, "------------------------------\n");
}

static void write_gc_heaps(struct call *call, const struct heap_range *range)
{
	struct answer *answer = &call->answer;
	const struct heap *heap = call->heap;
	answer_remark(answer,
		      "========================================\nNumber of GC Heaps: %" PRIu32
		      "\n----------------------------------------\n",
		      heap->heap_count);
	answer_table(answer, &eeheap_heap_schema, NULL);
	for (uint32_t i = 0; i < heap->heap_count && !answer_is_stopped(answer); i++) {
		if (has_heap(range, i))
			write_heap(call, range, i);
	}
	(void)answer_table_end(answer);
	write_contexts(answer, heap);
	answer_remark(answer, "------------------------------\n");
	write_totals(answer, &total_schema, sum(range, 0, true), answer_record);
}

static enum hd_status run_eeheap(struct call *call)
{
	bool has_loader = call->options[OPT_LOADER].given;
	const struct runtime *runtime = call->heap->runtime;
	if ((has_loader || call->options[OPT_JIT].given) &&
	    !(runtime_capabilities(runtime) & RUNTIME_LOADER)) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "eeheap %s needs the loader heaps, which a program with %s does not "
			    "keep; memory shows who has the memory of the process",
			    has_loader ? "-loader" : "-jit", runtime_ops(runtime)->name);
	}
	if (has_loader || call->options[OPT_JIT].given) {
		TRY(eeheap_write_loader(call, has_loader));
		if (!call->options[OPT_GC].given)
			return HD_OK;
	}
	HD_CLEANUP(heap_range) struct heap_range range = { 0 };
	const struct range_choice choice = range_choice(
		&call->options[OPT_HEAP], &call->options[OPT_SEGMENT], NULL, call->words);
	TRY(heap_range_init(&range, call->heap, &choice, call->err));
	write_gc_heaps(call, &range);
	return HD_OK;
}

#define BALANCE_LIST(X)                                                                            \
	X(BALANCE_INDEX, "index", "Heap", KIND_NUMBER, 5, 0, "number of the logical heap, from 0") \
	X(BALANCE_SIZE, "size", "Bytes", KIND_BYTES, 18, LOOK_THOUSANDS,                           \
	  "bytes up to the end of the last object")                                                \
	X(BALANCE_SHARE, NULL, "Share", KIND_TEXT, 8, 0, NULL)                                     \
	X(BALANCE_COMMITTED, "committed", "Committed", KIND_BYTES, 18, LOOK_THOUSANDS,             \
	  "committed bytes")

COLUMNS(balance, BALANCE_COLUMNS, BALANCE_LIST);

SCHEMA(balance, .name = "heaps", .is_main = true);

static enum hd_status run_balance(struct call *call)
{
	HD_CLEANUP(heap_range) struct heap_range range = { 0 };
	TRY(heap_range_init(&range, call->heap, &(const struct range_choice){ 0 }, call->err));
	uint64_t all = sum(&range, 0, true).allocated;
	answer_table(&call->answer, &balance_schema, NULL);
	for (uint32_t i = 0; i < call->heap->heap_count && !call->out.stopped; i++) {
		struct gc_totals totals = sum(&range, i, false);
		char share[16];
		(void)snprintf(share, sizeof(share), "%.1f%%",
			       all ? 100.0 * (double)totals.allocated / (double)all : 0.0);
		const struct cell cells[BALANCE_COLUMNS] = {
			[BALANCE_INDEX] = cell_number(i),
			[BALANCE_SIZE] = cell_number(totals.allocated),
			[BALANCE_SHARE] = cell_string(share),
			[BALANCE_COMMITTED] = cell_number(totals.committed),
		};
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

COMMAND(eeheap, .has_rows = true,
	.summary = "list heaps, generations and segments of the GC heap, or loader heaps",
	.description =
		"Allocated memory ends with the last object; committed memory is what the GC got from\n"
		"the kernel. The allocation contexts follow: free memory inside generation 0. With\n"
		"-loader or -jit it lists what the runtime has for what it loads and compiles instead,\n"
		"as start(bytes of addresses:bytes that can be read).\n",
	.example = "eeheap -gc", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_SEGMENTS, .options = eeheap_options,
	.words = { { "START", VALUE_ADDRESS, true }, { "END", VALUE_ADDRESS, true } },
	.check = check_range);

COMMAND(balance, .has_rows = true, .summary = "show the bytes of each logical heap",
	.needs = NEEDS_HEAP);
