/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "command/completeness.h"
#include "command/heap/heap_call.h"
#include "command/table.h"
#include "util/alloc.h"

enum {
	OPT_UNREACHABLE,
	OPT_UNROOTED,
	OPT_IU,
	OPT_CONSERVATIVE
};

static const struct option gcheapstat_options[] = {
	[OPT_UNREACHABLE] = { "unreachable", VALUE_NONE, NULL,
			      "also the bytes of objects that no root keeps alive", NULL },
	[OPT_UNROOTED] = { "inclUnrooted", VALUE_NONE, NULL, "the same", NULL },
	[OPT_IU] = { "iu", VALUE_NONE, NULL, "the same", NULL },
	[OPT_CONSERVATIVE] = { "conservative", VALUE_CONSERVATIVE, NULL,
			       "with -unreachable: whatever may be a reference on a stack is one",
			       NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* By enum generation. */
#define GENERATIONS 6u

enum figure {
	FIGURE_SIZE, /* from the first object to the end of the last */
	FIGURE_FREE,
	FIGURE_UNROOTED,
	FIGURE_COMMITTED,
	FIGURES
};

static const struct {
	const char *heading;
	bool has_percentages;
} figures[FIGURES] = {
	[FIGURE_SIZE] = { "", false },
	[FIGURE_FREE] = { "Free space:\n", true },
	[FIGURE_UNROOTED] = { "Unrooted objects:\n", true },
	[FIGURE_COMMITTED] = { "Committed space:\n", false },
};

/* Bytes of one heap. */
struct bytes {
	uint64_t of[FIGURES][GENERATIONS];
};

/* What one worker counts, by heap. */
struct heapstat_counter {
	const struct life *dead;
	struct bytes *heaps;
	struct gaps gaps;
};

static enum hd_status count_segment_bytes(void *arg, struct walker *walker, struct hd_error *err)
{
	struct heapstat_counter *counter = arg;
	const struct segment *segment = walker->segment;
	struct bytes *bytes = &counter->heaps[segment->heap];
	uint32_t node = life_node(counter->dead, segment->begin);
	(void)err;
	for (;;) {
		enum walk_result result = walker_next(walker);
		const struct object *object = &walker->object;
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&counter->gaps, walker->heap, &walker->damage);
			continue;
		}
		bool is_dead = counter->dead->graph && life_passes(counter->dead, object, &node);
		if (!is_dead && !object->type->is_free)
			continue;
		uint32_t generation = segment_generation_at(segment, object->address);
		enum figure figure = is_dead ? FIGURE_UNROOTED : FIGURE_FREE;
		if (generation < GENERATIONS)
			bytes->of[figure][generation] += object->size;
	}
}

/* Sizes of an ephemeral segment: generation 2, 1 and 0 lie behind each other. */
static void add_ephemeral(const struct segment *segment, struct bytes *bytes)
{
	uint64_t *size = bytes->of[FIGURE_SIZE], *committed = bytes->of[FIGURE_COMMITTED];
	uint64_t old = segment->gen1_begin - segment->begin;
	uint64_t middle = segment->gen0_begin - segment->gen1_begin;
	uint64_t head = segment->begin & 0xfff, all = segment_committed_size(segment);
	size[GENERATION_2] += old;
	size[GENERATION_1] += middle;
	size[GENERATION_0] += segment->end - segment->gen0_begin;
	committed[GENERATION_2] += old + head;
	committed[GENERATION_1] += middle;
	committed[GENERATION_0] += all > head + old + middle ? all - head - old - middle : 0;
}

static void add_segments(const struct heap *heap, struct bytes *heaps)
{
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		struct bytes *bytes = &heaps[segment->heap];
		if (segment->generation == GENERATION_EPHEMERAL) {
			add_ephemeral(segment, bytes);
		} else if (segment->generation < GENERATIONS) {
			bytes->of[FIGURE_SIZE][segment->generation] +=
				segment->end - segment->begin;
			bytes->of[FIGURE_COMMITTED][segment->generation] +=
				segment_committed_size(segment);
		}
	}
}

static void add_bytes(struct bytes *sum, const struct bytes *other)
{
	for (size_t i = 0; i < FIGURES; i++) {
		for (size_t j = 0; j < GENERATIONS; j++)
			sum->of[i][j] += other->of[i][j];
	}
}

/* Walk the heap into @p heaps, one per heap. */
static enum hd_status count_objects(struct call *call, const struct life *dead, struct bytes *heaps,
				    struct gaps *gaps)
{
	unsigned int workers = job_workers(&call->job);
	uint32_t count = call->heap->heap_count;
	struct heapstat_counter *counters = mem_calloc(workers, sizeof(*counters));
	struct bytes *bytes = mem_calloc((size_t)workers * count, sizeof(*bytes));
	void **args = mem_calloc(workers, sizeof(void *));
	enum hd_status status = counters && bytes && args ? HD_OK : fail_nomem(call->err);
	for (unsigned int i = 0; status == HD_OK && i < workers; i++) {
		counters[i] = (struct heapstat_counter){ .dead = dead,
							 .heaps = bytes + (size_t)i * count };
		args[i] = &counters[i];
	}
	if (status == HD_OK) {
		status = heap_walk(call->heap, NULL, 0, &call->job, "Scanning heap",
				   count_segment_bytes, args, call->err);
		job_end(&call->job);
	}
	for (unsigned int i = 0; status == HD_OK && i < workers; i++) {
		for (uint32_t j = 0; j < count; j++)
			add_bytes(&heaps[j], &counters[i].heaps[j]);
		gaps_merge(gaps, &counters[i].gaps);
	}
	mem_free(counters);
	mem_free(bytes);
	mem_free(args);
	return status;
}

/* The figures of a heap, or of all. */
enum heap_figure_column {
	HEAP_INDEX,
	HEAP_FIGURES,
	HEAP_COLUMNS = HEAP_FIGURES + FIGURES * GENERATIONS
};

#define COLUMNS_OF(figure, key, look, help)                                                   \
	[HEAP_FIGURES +                                                                       \
		(figure)*GENERATIONS] = { key ".gen0", NULL, KIND_BYTES,                      \
					  0,           look, help " in generation 0" },       \
		{ key ".gen1", NULL, KIND_BYTES, 0, look, help " in generation 1" },          \
		{ key ".gen2", NULL, KIND_BYTES, 0, look, help " in generation 2" },          \
		{ key ".loh", NULL, KIND_BYTES, 0, look, help " in the large object heap" },  \
		{ key ".poh", NULL, KIND_BYTES, 0, look, help " in the pinned object heap" }, \
	{                                                                                     \
		key ".foh", NULL, KIND_BYTES, 0, look, help " in the frozen segments"         \
	}

static const struct column heap_columns[HEAP_COLUMNS] = {
	[HEAP_INDEX] = { "index", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,
			 "of the logical heap, from 0" },
	COLUMNS_OF(FIGURE_SIZE, "size", 0, "bytes up to the end of the last object"),
	COLUMNS_OF(FIGURE_FREE, "free", 0, "bytes of Free blocks"),
	COLUMNS_OF(FIGURE_UNROOTED, "unrooted", LOOK_LEAVE_OUT,
		   "bytes of objects that no root keeps alive"),
	COLUMNS_OF(FIGURE_COMMITTED, "committed", 0, "bytes that the GC has of the kernel"),
};

static const struct schema heap_schema = {
	.name = "heaps",
	SCHEMA_COLUMNS(heap_columns),
	.is_main = true,
};
static const struct schema total_schema = { .name = "total", SCHEMA_COLUMNS(heap_columns) };

static void make_figure_cells(const struct bytes *bytes, bool has_unrooted,
			      struct cell cells[HEAP_COLUMNS])
{
	for (size_t i = 0; i < FIGURES; i++) {
		for (size_t j = 0; j < GENERATIONS && (has_unrooted || i != FIGURE_UNROOTED); j++)
			cells[HEAP_FIGURES + i * GENERATIONS + j] = cell_number(bytes->of[i][j]);
	}
}

/* Data: by heap. */
static void write_heap_figures(struct call *call, const struct bytes *heaps,
			       const struct bytes *total, bool has_unrooted)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	struct answer *answer = &call->answer;
	answer_table(answer, &heap_schema, &options);
	for (uint32_t i = 0; i < call->heap->heap_count; i++) {
		struct cell cells[HEAP_COLUMNS] = { [HEAP_INDEX] = cell_number(i) };
		make_figure_cells(&heaps[i], has_unrooted, cells);
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
	struct cell cells[HEAP_COLUMNS] = { 0 };
	make_figure_cells(total, has_unrooted, cells);
	answer_record(answer, &total_schema, cells);
}

/* One figure of a heap; SOS's columns. */
enum figure_column {
	FIGURE_HEAP,
	FIGURE_BYTES,
	FIGURE_SHARES = FIGURE_BYTES + GENERATIONS,
	FIGURE_COLUMNS = FIGURE_SHARES + 3
};

static const struct column figure_columns[FIGURE_COLUMNS] = {
	[FIGURE_HEAP] = { NULL, "Heap", KIND_TEXT, 8, LOOK_LEFT, NULL },
	[FIGURE_BYTES] = { NULL, "Gen0", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "Gen1", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "Gen2", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "LOH", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "POH", KIND_BYTES, 10, LOOK_LEFT, NULL },
	{ NULL, "FRZ", KIND_BYTES, 10, LOOK_LEFT, NULL },
	[FIGURE_SHARES] = { NULL, "", KIND_TEXT, 8, LOOK_LEFT, NULL },
	{ NULL, "", KIND_TEXT, 8, LOOK_LEFT, NULL },
	{ NULL, "", KIND_TEXT, 8, LOOK_LEFT, NULL },
};

static void figure_layout(struct out *out, const struct cell *cells)
{
	out_printf(out, "%-8s", cells[FIGURE_HEAP].text.bytes);
	for (size_t i = FIGURE_BYTES; i < FIGURE_SHARES; i++)
		out_printf(out, " %-10" PRIu64, cells[i].number);
	for (size_t i = FIGURE_SHARES; i < FIGURE_COLUMNS; i++) {
		if (cells[i].is_there)
			out_printf(out, " %-8s", cells[i].text.bytes);
	}
	out_puts(out, "\n");
}

static const struct schema figure_schema = {
	SCHEMA_COLUMNS(figure_columns),
	.heading = "Heap     Gen0       Gen1       Gen2       LOH        POH        FRZ       ",
	.layout = figure_layout,
};

/* "SOH:17%"; nothing where there is no size. */
static struct cell share_cell(char buf[32], const char *name, uint64_t part, uint64_t size)
{
	*buf = '\0';
	if (size)
		(void)snprintf(buf, 32, "%s:%" PRIu64 "%%", name, part * 100 / size);
	return cell_string(buf);
}

static void write_figure_row(struct answer *answer, const char *name, const struct bytes *bytes,
			     enum figure figure, bool has_percentages)
{
	const uint64_t *part = bytes->of[figure], *size = bytes->of[FIGURE_SIZE];
	struct cell cells[FIGURE_COLUMNS] = { [FIGURE_HEAP] = cell_string(name) };
	char shares[3][32];
	for (size_t i = 0; i < GENERATIONS; i++)
		cells[FIGURE_BYTES + i] = cell_number(part[i]);
	if (has_percentages) {
		struct cell *at = &cells[FIGURE_SHARES];
		at[0] = share_cell(shares[0], "SOH", part[0] + part[1] + part[2],
				   size[0] + size[1] + size[2]);
		at[1] = share_cell(shares[1], "LOH", part[GENERATION_LOH], size[GENERATION_LOH]);
		at[2] = share_cell(shares[2], "POH", part[GENERATION_POH], size[GENERATION_POH]);
	}
	answer_row(answer, cells);
}

/* Text: by figure. */
static void write_figures(struct call *call, const struct bytes *heaps, const struct bytes *total,
			  bool has_unrooted)
{
	struct answer *answer = &call->answer;
	for (unsigned int i = 0; i < FIGURES; i++) {
		enum figure figure = (enum figure)i;
		if (figure == FIGURE_UNROOTED && !has_unrooted)
			continue;
		answer_remark(answer, "%s", figures[i].heading);
		answer_table(answer, &figure_schema, NULL);
		for (uint32_t j = 0; j < call->heap->heap_count; j++) {
			char name[16];
			(void)snprintf(name, sizeof(name), "Heap%" PRIu32, j);
			write_figure_row(answer, name, &heaps[j], figure,
					 figures[i].has_percentages);
		}
		write_figure_row(answer, "Total", total, figure, false);
		(void)answer_table_end(answer);
		if (i + 1 < FIGURES)
			answer_remark(answer, "\n");
	}
}

static enum hd_status gcheapstat_answer(struct call *call, struct bytes *heaps)
{
	bool has_unrooted = call->options[OPT_UNREACHABLE].given ||
			    call->options[OPT_UNROOTED].given || call->options[OPT_IU].given;
	struct life dead = { 0 };
	struct gaps gaps = { 0 };
	struct bytes total = { 0 };
	if (has_unrooted)
		TRY(call_life(call, true, &dead));
	TRY(count_objects(call, &dead, heaps, &gaps));
	add_segments(call->heap, heaps);
	for (uint32_t i = 0; i < call->heap->heap_count; i++)
		add_bytes(&total, &heaps[i]);
	write_heap_figures(call, heaps, &total, has_unrooted);
	write_figures(call, heaps, &total, has_unrooted);
	if (has_unrooted) {
		completeness_json(call);
		completeness_write(call, DEAD_PERHAPS);
	}
	gaps_report(call, &gaps);
	return HD_OK;
}

static enum hd_status run_gcheapstat(struct call *call)
{
	struct bytes *heaps = mem_calloc(call->heap->heap_count, sizeof(*heaps));
	if (!heaps)
		return fail_nomem(call->err);
	enum hd_status status = gcheapstat_answer(call, heaps);
	mem_free(heaps);
	return status;
}

const struct command gcheapstat_command = {
	.name = "gcheapstat",
	.has_rows = true,
	.summary = "show the bytes of each generation: objects, free, committed, dead",
	.description = "",
	.example = "gcheapstat -unreachable",
	.is_sos = true,
	.needs = NEEDS_HEAP,
	.options = gcheapstat_options,
	.run = run_gcheapstat,
};
