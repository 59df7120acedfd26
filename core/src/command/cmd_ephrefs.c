/* SPDX-License-Identifier: MIT */
/* ephrefs: what old objects refer to in younger generations; ephtoloh: young and large objects. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/heap_range.h"
#include "heap/references.h"
#include "util/alloc.h"
#include "util/bitmap.h"

/* Width of the first type of a pair, as SOS has it. */
#define TYPE_WIDTH 64u

/* References of one object into one generation; of ephtoloh each by itself. */
struct crossing {
	uint64_t from, to; /* to: the first one */
	uint64_t size;     /* of what is referred to */
	uint32_t count;
	uint8_t from_generation, to_generation;
};

/* Does a reference from an object of that generation to one of the other count? */
typedef bool (*crossing_test)(uint8_t from, uint8_t to);

/* One bit for each address that was referred to, of the segments that have young objects. */
struct marks {
	uint64_t **bitmaps; /* by segment of the heap; NULL: nothing young */
};

/* What one worker finds. */
struct finder {
	crossing_test test;
	bool is_single;      /* each reference by itself */
	struct marks *marks; /* or NULL: not asked for */
	struct window targets;
	struct gaps gaps;
	struct crossing *rows;
	size_t rows_count, rows_capacity;
	uint64_t count, size; /* objects that were first marked, and their bytes */
};

static bool is_young(uint8_t generation)
{
	return generation == GENERATION_0 || generation == GENERATION_1;
}

/* Is it older, and not frozen?  Large and pinned objects count as generation 2. */
static bool is_old_to_young(uint8_t from, uint8_t to)
{
	if (from == GENERATION_0 || from == GENERATION_NONGC)
		return false;
	return to == GENERATION_0 || (to == GENERATION_1 && from != GENERATION_1);
}

static bool is_young_to_large(uint8_t from, uint8_t to)
{
	return is_young(from) && to == GENERATION_LOH;
}

static bool is_large_to_young(uint8_t from, uint8_t to)
{
	return from == GENERATION_LOH && is_young(to);
}

/* May any reference of an object of this generation count? */
static bool is_source(const struct finder *finder, uint8_t from)
{
	for (unsigned int to = 0; to < GENERATION_EPHEMERAL; to++) {
		if (finder->test(from, (uint8_t)to))
			return true;
	}
	return false;
}

/* Mark what is referred to; counts it the first time. */
static void mark(struct finder *finder, const struct heap *heap, const struct segment *segment,
		 const struct object *object)
{
	uint64_t *bitmap = finder->marks->bitmaps[segment - heap->segments];
	uint64_t bit = (object->address - segment->begin) / 8;
	uint64_t mask = (uint64_t)1 << bit % 64;
	if (!bitmap || __atomic_fetch_or(&bitmap[bit / 64], mask, __ATOMIC_RELAXED) & mask)
		return;
	finder->count++;
	finder->size += object->size;
}

/* The row for a reference of walker->object, whose own rows begin at @p first; NULL: no memory. */
static struct crossing *find_row(struct finder *finder, const struct walker *walker, size_t first,
				 uint8_t from, uint8_t to)
{
	for (size_t i = first; !finder->is_single && i < finder->rows_count; i++) {
		if (finder->rows[i].to_generation == to)
			return &finder->rows[i];
	}
	if (!PAGES_RESERVE(finder, rows))
		return NULL;
	finder->rows[finder->rows_count] = (struct crossing){ .from = walker->object.address,
							      .from_generation = from,
							      .to_generation = to };
	return &finder->rows[finder->rows_count++];
}

static bool add_reference(struct finder *finder, struct walker *walker, size_t first, uint8_t from,
			  uint64_t value)
{
	const struct heap *heap = walker->heap;
	const struct segment *segment = walker->segment;
	struct object object;
	if (value < segment->begin || value >= segment->end)
		segment = heap_segment_at(heap, value);
	if (!segment || value % 8)
		return true;
	uint8_t to = (uint8_t)segment_generation_at(segment, value);
	if (!finder->test(from, to) ||
	    object_decode(&finder->targets, walker->cache, heap->clr, value, segment->end,
			  &object) != DECODE_OBJECT ||
	    object.type->is_free)
		return true;
	struct crossing *row = find_row(finder, walker, first, from, to);
	if (!row)
		return false;
	if (!row->count++)
		row->to = value;
	row->size += object.size;
	if (finder->marks)
		mark(finder, heap, segment, &object);
	return true;
}

static bool add_object(struct finder *finder, struct walker *walker, uint8_t from)
{
	struct references references;
	struct reference reference;
	size_t first = finder->rows_count;
	references_begin(&references, &walker->window, &walker->object);
	while (references_next(&references, &reference)) {
		/* That to the LoaderAllocator is in no slot. */
		if (reference.slot && !add_reference(finder, walker, first, from, reference.value))
			return false;
	}
	return true;
}

static enum hd_status find_in_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct finder *finder = arg;
	const struct segment *segment = walker->segment;
	bool is_split = segment->generation == GENERATION_EPHEMERAL;
	uint8_t generation = segment->generation;
	if (!is_split && !is_source(finder, generation))
		return HD_OK;
	for (;;) {
		enum walk_result result = walker_next(walker);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&finder->gaps, walker->heap, &walker->damage);
			continue;
		}
		const struct object *object = &walker->object;
		if (!object->type->has_pointers)
			continue;
		if (is_split)
			generation = (uint8_t)segment_generation_at(segment, object->address);
		if (!add_object(finder, walker, generation))
			return fail_nomem(err);
	}
}

static int compare_crossings(const void *a, const void *b)
{
	const struct crossing *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* All rows in order of address, and what the workers have counted, in finders[0]. */
static bool merge(struct finder *finders, unsigned int count)
{
	struct finder *sum = &finders[0];
	for (unsigned int i = 1; i < count; i++) {
		const struct finder *other = &finders[i];
		for (size_t j = 0; j < other->rows_count; j++) {
			if (!PAGES_RESERVE(sum, rows))
				return false;
			sum->rows[sum->rows_count++] = other->rows[j];
		}
		gaps_merge(&sum->gaps, &other->gaps);
		sum->count += other->count;
		sum->size += other->size;
	}
	if (sum->rows_count)
		qsort(sum->rows, sum->rows_count, sizeof(*sum->rows), compare_crossings);
	return true;
}

static void finder_deinit(struct finder *finder)
{
	window_deinit(&finder->targets);
	pages_free(finder->rows, finder->rows_capacity, sizeof(*finder->rows));
	finder->rows = NULL;
	finder->rows_count = finder->rows_capacity = 0;
}

/* Walk the heap; @p ret, whose first fields say what for, gets all rows. */
static enum hd_status find_crossings(struct call *call, struct finder *ret)
{
	unsigned int workers = job_workers(&call->job);
	struct finder *finders = mem_calloc(workers, sizeof(*finders));
	void **args = mem_calloc(workers, sizeof(void *));
	enum hd_status status = finders && args ? HD_OK : fail_nomem(call->err);
	for (unsigned int i = 0; status == HD_OK && i < workers; i++) {
		finders[i] = *ret;
		finders[i].targets.memory = call->heap->memory;
		args[i] = &finders[i];
	}
	if (status == HD_OK) {
		status = heap_walk(call->heap, NULL, 0, &call->job, "Scanning heap",
				   find_in_segment, args, call->err);
		job_end(&call->job);
		if (status == HD_OK && !merge(finders, workers))
			status = fail_nomem(call->err);
		if (status == HD_OK) {
			*ret = finders[0];
			finders[0] = (struct finder){ .targets = ret->targets };
			ret->targets = (struct window){ 0 };
		}
	}
	for (unsigned int i = 0; finders && args && i < workers; i++)
		finder_deinit(&finders[i]);
	mem_free(finders);
	mem_free(args);
	return status;
}

static void marks_deinit(struct marks *marks, const struct heap *heap)
{
	for (size_t i = 0; marks->bitmaps && i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		bitmap_free(marks->bitmaps[i], (segment->end - segment->begin) / 8);
	}
	mem_free(marks->bitmaps);
	marks->bitmaps = NULL;
}

static enum hd_status marks_init(struct marks *marks, struct call *call)
{
	const struct heap *heap = call->heap;
	uint64_t bytes = 0;
	marks->bitmaps = mem_calloc(heap->segment_count + 1, sizeof(*marks->bitmaps));
	if (!marks->bitmaps)
		return fail_nomem(call->err);
	for (size_t i = 0; i < heap->segment_count; i++) {
		const struct segment *segment = &heap->segments[i];
		uint64_t size = segment->end - segment->begin;
		if (!is_young(segment->generation) && segment->generation != GENERATION_EPHEMERAL)
			continue;
		bytes += size / 64;
		enum hd_status status = job_check_memory(&call->job, bytes, call->err);
		if (status == HD_OK) {
			marks->bitmaps[i] = bitmap_alloc(size / 8);
			status = marks->bitmaps[i] ? HD_OK : fail_nomem(call->err);
		}
		if (status != HD_OK) {
			marks_deinit(marks, heap);
			return status;
		}
	}
	return HD_OK;
}

static const char *sos_generation(uint8_t generation)
{
	static const char *const names[GENERATION_COUNT] = {
		[GENERATION_0] = "Generation0", [GENERATION_1] = "Generation1",
		[GENERATION_2] = "Generation2", [GENERATION_LOH] = "Large",
		[GENERATION_POH] = "Pinned",    [GENERATION_NONGC] = "Frozen",
	};
	return generation < GENERATION_COUNT && names[generation] ? names[generation] : "Unknown";
}

struct writer {
	struct call *call;
	struct window window;
};

static void crossing_json(struct writer *writer, const struct crossing *row,
			  const struct object *object)
{
	struct json *json = &writer->call->json;
	size_t size;
	const char *name = type_name(writer->call->heap->clr, object->type, &size);
	json_object(json, NULL);
	json_address(json, "address", row->from);
	json_address(json, "mt", object->type->method_table);
	json_text(json, "type", name, size);
	json_number(json, "size", object->size);
	json_string(json, "generation", generation_name((enum generation)row->from_generation));
	json_string(json, "to_generation", generation_name((enum generation)row->to_generation));
	json_number(json, "count", row->count);
	json_number(json, "referenced_size", row->size);
	json_end(json);
}

static void crossing_text(struct writer *writer, const struct crossing *row,
			  const struct object *object)
{
	struct out *out = &writer->call->out;
	char number[3][27];
	size_t size;
	const char *name = type_name(writer->call->heap->clr, object->type, &size);
	out_styled(out, STYLE_ADDRESS, "%16" PRIx64, row->from);
	out_printf(out, " %16" PRIx64 " %14s %-11s %-11s %14s %14s ", object->type->method_table,
		   format_thousands(object->size, number[0]), sos_generation(row->from_generation),
		   sos_generation(row->to_generation), format_thousands(row->count, number[1]),
		   format_thousands(row->size, number[2]));
	out_type(out, name, size, object->type->method_table);
	out_puts(out, "\n");
}

static void group_header(struct call *call, const struct crossing *row, bool is_first)
{
	struct out *out = &call->out;
	const char *from = sos_generation(row->from_generation);
	const char *to = sos_generation(row->to_generation);
	out_printf(out, "%sReferences from %c%s to %c%s:\n\n", is_first ? "" : "\n", from[0] | 0x20,
		   from + 1, to[0] | 0x20, to + 1);
	out_styled(out, STYLE_HEAD, "%16s %16s %14s %-11s %-11s %14s %14s %s", "Object",
		   "MethodTable", "Size", "Obj Gen", "Ref Gen", "Obj Count", "Obj Size", "Type");
	out_puts(out, "\n");
}

static enum hd_status write_crossing(struct writer *writer, const struct crossing *row)
{
	struct object object;
	/* The walk has met it. */
	if (!object_read(writer->call->heap, &writer->window, row->from, &object))
		return HD_OK;
	if (writer->call->as_json) {
		crossing_json(writer, row, &object);
	} else {
		crossing_text(writer, row, &object);
	}
	return call_check(writer->call);
}

/* Group by the two generations, in the order in which they are first met. */
static enum hd_status write_groups(struct writer *writer, const struct finder *found)
{
	uint64_t done = 0;
	for (size_t i = 0; i < found->rows_count; i++) {
		const struct crossing *first = &found->rows[i];
		unsigned int group = first->from_generation * 8u + first->to_generation;
		if (done >> group & 1)
			continue;
		if (!writer->call->as_json)
			group_header(writer->call, first, !done);
		done |= (uint64_t)1 << group;
		for (size_t j = i; j < found->rows_count; j++) {
			const struct crossing *row = &found->rows[j];
			if (row->from_generation == first->from_generation &&
			    row->to_generation == first->to_generation)
				TRY(write_crossing(writer, row));
		}
	}
	return HD_OK;
}

static enum hd_status write_ephrefs(struct call *call, struct finder *found)
{
	struct writer writer = { .call = call, .window = { .memory = call->heap->memory } };
	char number[3][27];
	if (call->as_json)
		json_array(&call->json, "objects");
	enum hd_status status = write_groups(&writer, found);
	window_deinit(&writer.window);
	TRY(status);
	if (call->as_json) {
		json_end(&call->json);
		json_object(&call->json, "referenced");
		json_number(&call->json, "count", found->count);
		json_number(&call->json, "size", found->size);
		json_end(&call->json);
	} else {
		out_printf(&call->out,
			   "\n%s older generation objects referenced %s younger objects (%s "
			   "bytes)\n",
			   format_thousands(found->rows_count, number[0]),
			   format_thousands(found->count, number[1]),
			   format_thousands(found->size, number[2]));
	}
	gaps_report(call, &found->gaps);
	return HD_OK;
}

enum hd_status run_ephrefs(struct call *call)
{
	struct marks marks;
	TRY(marks_init(&marks, call));
	struct finder found = { .test = is_old_to_young, .marks = &marks };
	enum hd_status status = find_crossings(call, &found);
	if (status == HD_OK)
		status = write_ephrefs(call, &found);
	finder_deinit(&found);
	marks_deinit(&marks, call->heap);
	return status;
}

/* One end of a pair; text that more stands behind of is as wide as SOS's. */
static void write_end_of(struct writer *writer, const char *key, uint64_t address, bool is_last)
{
	struct call *call = writer->call;
	struct object object;
	size_t size = 0;
	const char *name = NULL;
	if (object_read(call->heap, &writer->window, address, &object))
		name = type_name(call->heap->clr, object.type, &size);
	if (call->as_json) {
		json_object(&call->json, key);
		json_address(&call->json, "address", address);
		json_text(&call->json, "type", name, size);
		json_end(&call->json);
		return;
	}
	out_styled(&call->out, STYLE_ADDRESS, "%16" PRIx64, address);
	out_puts(&call->out, " ");
	out_type(&call->out, name, size, 0);
	if (is_last) {
		out_puts(&call->out, "\n");
	} else {
		out_pad(&call->out, 1 + (size < TYPE_WIDTH ? TYPE_WIDTH - size : 0));
	}
}

/* A row from end to end; @p last 0: it has two. */
static enum hd_status write_pair(struct writer *writer, uint64_t from, uint64_t to, uint64_t last)
{
	struct call *call = writer->call;
	if (call->as_json)
		json_object(&call->json, NULL);
	write_end_of(writer, "from", from, false);
	write_end_of(writer, last ? "through" : "to", to, !last);
	if (last)
		write_end_of(writer, "to", last, true);
	if (call->as_json)
		json_end(&call->json);
	return call_check(call);
}

static void pairs_header(struct call *call, const char *what, const char *from, const char *to)
{
	char heads[2][32];
	(void)snprintf(heads[0], sizeof(heads[0]), "%s Type", from);
	(void)snprintf(heads[1], sizeof(heads[1]), "%s Type", to);
	out_printf(&call->out, "%s:\n\n", what);
	out_styled(&call->out, STYLE_HEAD, "%16s %-*s %16s %s", from, (int)TYPE_WIDTH, heads[0], to,
		   heads[1]);
	out_puts(&call->out, "\n");
}

static enum hd_status write_pairs(struct writer *writer, const struct finder *found,
				  const char *key, const char *what, bool is_to_large)
{
	struct call *call = writer->call;
	if (call->as_json) {
		json_array(&call->json, key);
	} else if (found->rows_count) {
		pairs_header(call, what, is_to_large ? "Ephemeral" : "Large Object",
			     is_to_large ? "Large Object" : "Ephemeral");
	} else {
		out_printf(&call->out, "No %s.\n", what);
	}
	for (size_t i = 0; i < found->rows_count; i++)
		TRY(write_pair(writer, found->rows[i].from, found->rows[i].to, 0));
	if (call->as_json) {
		json_end(&call->json);
	} else if (found->rows_count) {
		out_puts(&call->out, "\n");
	}
	return HD_OK;
}

/* Index of the first row from @p address, or rows_count. */
static size_t first_from(const struct finder *found, uint64_t address)
{
	size_t low = 0, high = found->rows_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (found->rows[middle].from < address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < found->rows_count && found->rows[low].from == address ? low
									   : found->rows_count;
}

/* Young objects that refer to large ones that refer to young ones: the first of these. */
static enum hd_status write_through(struct writer *writer, const struct finder *to_large,
				    const struct finder *from_large)
{
	struct call *call = writer->call;
	bool any = false;
	if (call->as_json)
		json_array(&call->json, "through_large");
	for (size_t i = 0; i < to_large->rows_count; i++) {
		const struct crossing *row = &to_large->rows[i];
		size_t next = first_from(from_large, row->to);
		if (next == from_large->rows_count)
			continue;
		if (!any && !call->as_json) {
			out_puts(&call->out, "Ephemeral objects which point to Large objects which "
					     "point to Ephemeral objects:\n\n");
		}
		any = true;
		TRY(write_pair(writer, row->from, row->to, from_large->rows[next].to));
	}
	if (call->as_json) {
		json_end(&call->json);
	} else if (!any && to_large->rows_count && from_large->rows_count) {
		out_puts(&call->out,
			 "No Ephemeral objects which point to Large objects which point "
			 "to Ephemeral objects.\n");
	}
	return HD_OK;
}

static enum hd_status write_ephtoloh(struct call *call, struct finder *to_large,
				     struct finder *from_large)
{
	struct writer writer = { .call = call, .window = { .memory = call->heap->memory } };
	enum hd_status status =
		write_pairs(&writer, to_large, "to_large",
			    "Ephemeral objects pointing to the Large objects", true);
	if (status == HD_OK) {
		status = write_pairs(&writer, from_large, "from_large",
				     "Large objects pointing to Ephemeral objects", false);
	}
	if (status == HD_OK)
		status = write_through(&writer, to_large, from_large);
	window_deinit(&writer.window);
	if (status == HD_OK)
		gaps_report(call, &to_large->gaps);
	return status;
}

enum hd_status run_ephtoloh(struct call *call)
{
	struct finder to_large = { .test = is_young_to_large, .is_single = true };
	struct finder from_large = { .test = is_large_to_young, .is_single = true };
	enum hd_status status = find_crossings(call, &to_large);
	if (status == HD_OK)
		status = find_crossings(call, &from_large);
	if (status == HD_OK) {
		gaps_merge(&to_large.gaps, &from_large.gaps);
		status = write_ephtoloh(call, &to_large, &from_large);
	}
	finder_deinit(&to_large);
	finder_deinit(&from_large);
	return status;
}
