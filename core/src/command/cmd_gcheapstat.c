/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "command/completeness.h"
#include "command/heap_range.h"
#include "command/life.h"
#include "util/alloc.h"

enum {
	OPT_UNREACHABLE,
	OPT_UNROOTED,
	OPT_IU,
	OPT_CONSERVATIVE
};

const struct option gcheapstat_options[] = {
	[OPT_UNREACHABLE] = { "unreachable", VALUE_NONE, NULL,
			      "also the bytes of objects that no root keeps alive", NULL },
	[OPT_UNROOTED] = { "inclUnrooted", VALUE_NONE, NULL, "the same", NULL },
	[OPT_IU] = { "iu", VALUE_NONE, NULL, "the same", NULL },
	[OPT_CONSERVATIVE] = { "conservative", VALUE_NONE, NULL,
			       "with -unreachable: whatever may be a reference on a stack is one",
			       NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* Columns: SOS's names, and in JSON; by enum generation. */
#define GENERATIONS 6u
static const char *const columns[GENERATIONS] = { "Gen0", "Gen1", "Gen2", "LOH", "POH", "FRZ" };
static const char *const keys[GENERATIONS] = { "gen0", "gen1", "gen2", "loh", "poh", "foh" };

enum figure {
	FIGURE_SIZE, /* from the first object to the end of the last */
	FIGURE_FREE,
	FIGURE_UNROOTED,
	FIGURE_COMMITTED,
	FIGURES
};

static const struct {
	const char *heading, *key;
	bool has_percentages;
} figures[FIGURES] = {
	[FIGURE_SIZE] = { NULL, "size", false },
	[FIGURE_FREE] = { "Free space:", "free", true },
	[FIGURE_UNROOTED] = { "Unrooted objects:", "unrooted", true },
	[FIGURE_COMMITTED] = { "Committed space:", "committed", false },
};

/* Bytes of one heap. */
struct bytes {
	uint64_t of[FIGURES][GENERATIONS];
};

/* What one worker counts, by heap. */
struct counter {
	const struct life *dead;
	struct bytes *heaps;
	struct gaps gaps;
};

static enum hd_status count_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct counter *counter = arg;
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
	struct counter *counters = mem_calloc(workers, sizeof(*counters));
	struct bytes *bytes = mem_calloc((size_t)workers * count, sizeof(*bytes));
	void **args = mem_calloc(workers, sizeof(void *));
	enum hd_status status = counters && bytes && args ? HD_OK : fail_nomem(call->err);
	for (unsigned int i = 0; status == HD_OK && i < workers; i++) {
		counters[i] = (struct counter){ .dead = dead, .heaps = bytes + (size_t)i * count };
		args[i] = &counters[i];
	}
	if (status == HD_OK) {
		status = heap_walk(call->heap, NULL, 0, &call->job, "Scanning heap", count_segment,
				   args, call->err);
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

/* "SOH:17%"; nothing where there is no size. */
static void write_percentage(struct out *out, const char *name, uint64_t part, uint64_t size)
{
	char text[32] = "";
	if (size)
		(void)snprintf(text, sizeof(text), "%s:%" PRIu64 "%%", name, part * 100 / size);
	out_printf(out, " %-8s", text);
}

static void write_row(struct call *call, const char *name, const struct bytes *bytes,
		      enum figure figure, bool has_percentages)
{
	struct out *out = &call->out;
	const uint64_t *part = bytes->of[figure], *size = bytes->of[FIGURE_SIZE];
	out_printf(out, "%-8s", name);
	for (size_t i = 0; i < GENERATIONS; i++)
		out_printf(out, " %-10" PRIu64, part[i]);
	if (has_percentages) {
		write_percentage(out, "SOH", part[0] + part[1] + part[2],
				 size[0] + size[1] + size[2]);
		write_percentage(out, "LOH", part[GENERATION_LOH], size[GENERATION_LOH]);
		write_percentage(out, "POH", part[GENERATION_POH], size[GENERATION_POH]);
	}
	out_puts(out, "\n");
}

static void write_text(struct call *call, const struct bytes *heaps, const struct bytes *total,
		       bool has_unrooted)
{
	struct out *out = &call->out;
	for (unsigned int i = 0; i < FIGURES; i++) {
		enum figure figure = (enum figure)i;
		if (figure == FIGURE_UNROOTED && !has_unrooted)
			continue;
		if (figures[i].heading)
			out_printf(out, "%s\n", figures[i].heading);
		out_styled(out, STYLE_HEAD, "%-8s", "Heap");
		for (size_t j = 0; j < GENERATIONS; j++)
			out_styled(out, STYLE_HEAD, " %-10s", columns[j]);
		out_puts(out, "\n");
		for (uint32_t j = 0; j < call->heap->heap_count; j++) {
			char name[16];
			(void)snprintf(name, sizeof(name), "Heap%" PRIu32, j);
			write_row(call, name, &heaps[j], figure, figures[i].has_percentages);
		}
		write_row(call, "Total", total, figure, false);
		if (i + 1 < FIGURES)
			out_puts(out, "\n");
	}
}

static void bytes_json(struct call *call, const struct bytes *bytes, bool has_unrooted)
{
	struct json *json = &call->json;
	for (size_t i = 0; i < FIGURES; i++) {
		if (i == FIGURE_UNROOTED && !has_unrooted)
			continue;
		json_object(json, figures[i].key);
		for (size_t j = 0; j < GENERATIONS; j++)
			json_number(json, keys[j], bytes->of[i][j]);
		json_end(json);
	}
}

static void write_json(struct call *call, const struct bytes *heaps, const struct bytes *total,
		       bool has_unrooted)
{
	json_array(&call->json, "heaps");
	for (uint32_t i = 0; i < call->heap->heap_count; i++) {
		json_object(&call->json, NULL);
		json_number(&call->json, "index", i);
		bytes_json(call, &heaps[i], has_unrooted);
		json_end(&call->json);
	}
	json_end(&call->json);
	json_object(&call->json, "total");
	bytes_json(call, total, has_unrooted);
	json_end(&call->json);
}

static enum hd_status answer(struct call *call, struct bytes *heaps)
{
	bool has_unrooted = call->options[OPT_UNREACHABLE].given ||
			    call->options[OPT_UNROOTED].given || call->options[OPT_IU].given;
	struct life dead = { 0 };
	struct gaps gaps = { 0 };
	struct bytes total = { 0 };
	if (has_unrooted)
		TRY(life_init(&dead, call, true));
	TRY(count_objects(call, &dead, heaps, &gaps));
	add_segments(call->heap, heaps);
	for (uint32_t i = 0; i < call->heap->heap_count; i++)
		add_bytes(&total, &heaps[i]);
	if (call->as_json) {
		write_json(call, heaps, &total, has_unrooted);
		if (has_unrooted)
			completeness_json(call);
	} else {
		write_text(call, heaps, &total, has_unrooted);
		if (has_unrooted)
			completeness_write(call, DEAD_PERHAPS);
	}
	gaps_report(call, &gaps);
	return HD_OK;
}

enum hd_status run_gcheapstat(struct call *call)
{
	struct bytes *heaps = mem_calloc(call->heap->heap_count, sizeof(*heaps));
	if (!heaps)
		return fail_nomem(call->err);
	enum hd_status status = answer(call, heaps);
	mem_free(heaps);
	return status;
}
