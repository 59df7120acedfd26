/* SPDX-License-Identifier: MIT */
/* dumpheap on the heap of a core or a process: streams, and makes no graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/heap/type_chooser.h"
#include "analysis/heap/type_counts.h"
#include "answer/tables.h"
#include "command/heap/cmd_strings.h"
#include "command/heap/dumpheap.h"
#include "command/heap/heap_call.h"
#include "util/alloc.h"

/* Free blocks from this size on are listed as fragmentation; SOS's limit. */
#define FRAGMENT_MIN ((uint64_t)512 << 10)
/* So many of them are listed. */
#define FRAGMENTS_LISTED_MAX 1000u

struct fragment {
	uint64_t address, size, next;
	const struct type *next_type;
};

/* What one worker, or the one pass that lists, has met. */
struct tally {
	struct call *call;
	const struct heap_range *range;
	uint64_t min, max, mt; /* max 0: none */
	const struct life *life;
	uint32_t node; /* of the next object, for life */
	struct type_counts counts;
	struct gaps gaps;
	struct fragment *fragments;
	size_t fragment_count, fragment_capacity;
	uint64_t free_at, free_size; /* the Free block just met, if it is a large one */
	bool is_asked, lacks_bytes;  /* heap_lacks_bytes(), if that was asked */
	bool nomem;
};

static void tally_deinit(struct tally *tally)
{
	type_counts_deinit(&tally->counts);
	pages_free(tally->fragments, tally->fragment_capacity, sizeof(*tally->fragments));
}

/* Remember large Free blocks, and what follows them. */
static void follow_free(struct tally *tally, const struct walker *walker)
{
	const struct object *object = &walker->object;
	if (tally->free_at && tally->fragment_count < FRAGMENTS_LISTED_MAX) {
		if (tally->fragment_count == tally->fragment_capacity &&
		    !pages_grow((void **)&tally->fragments, &tally->fragment_capacity,
				sizeof(*tally->fragments))) {
			tally->nomem = true;
			return;
		}
		tally->fragments[tally->fragment_count++] =
			(struct fragment){ tally->free_at, tally->free_size, object->address,
					   object->type };
	}
	bool large = object->type->is_free && object->size >= FRAGMENT_MIN;
	tally->free_at = large ? object->address : 0;
	tally->free_size = object->size;
}

/* Does the next object pass all but -type? */
static inline bool tally_passes(struct tally *tally, const struct walker *walker)
{
	const struct object *object = &walker->object;
	if (!life_passes(tally->life, object, &tally->node))
		return false;
	if (object->size < tally->min || (tally->max && object->size > tally->max))
		return false;
	if (tally->mt && object->type->method_table != tally->mt)
		return false;
	return tally->range->is_whole ||
	       heap_range_has(tally->range, walker->segment, object->address);
}

static void begin_segment(struct tally *tally, struct walker *walker, const struct segment *segment)
{
	heap_range_walk(tally->range, walker, segment);
	tally->free_at = 0;
	tally->node = life_node(tally->life, segment->begin);
}

static enum hd_status tally_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct tally *tally = arg;
	begin_segment(tally, walker, walker->segment);
	for (;;) {
		enum walk_result result = walker_next(walker);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&tally->gaps, walker->heap, &walker->damage);
			tally->free_at = 0;
			continue;
		}
		if (tally->free_at || walker->object.size >= FRAGMENT_MIN)
			follow_free(tally, walker);
		if (tally_passes(tally, walker) &&
		    !type_counts_add(&tally->counts, &walker->object))
			return fail_nomem(err);
	}
}

/* Add the tallies of all workers up in the first. */
static bool merge_tallies(struct tally *tallies, unsigned int count)
{
	struct tally *sum = &tallies[0];
	for (unsigned int i = 1; i < count; i++) {
		struct tally *other = &tallies[i];
		if (!type_counts_merge(&sum->counts, &other->counts))
			return false;
		gaps_merge(&sum->gaps, &other->gaps);
		for (size_t j = 0; j < other->fragment_count; j++) {
			if (sum->fragment_count == sum->fragment_capacity &&
			    !pages_grow((void **)&sum->fragments, &sum->fragment_capacity,
					sizeof(*sum->fragments)))
				return false;
			sum->fragments[sum->fragment_count++] = other->fragments[j];
		}
	}
	return true;
}

static int compare_fragments(const void *a, const void *b)
{
	const struct fragment *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

enum fragment_column {
	FRAGMENT_ADDRESS,
	FRAGMENT_SIZE,
	FRAGMENT_NEXT,
	FRAGMENT_NEXT_TYPE,
	FRAGMENT_COLUMNS
};

static const struct column fragment_columns[FRAGMENT_COLUMNS] = {
	[FRAGMENT_ADDRESS] = { "address", "Address", KIND_ADDRESS, 16, 0, "a large Free block" },
	[FRAGMENT_SIZE] = { "size", "Size", KIND_BYTES, 14, LOOK_THOUSANDS, "its bytes" },
	[FRAGMENT_NEXT] = { "next", "Followed By", KIND_ADDRESS, 16, 0, "the object after it" },
	[FRAGMENT_NEXT_TYPE] = { "next_type", "", KIND_TYPE, 0, 0, "type of that object" },
};

static const struct schema fragment_schema = { .name = "fragments",
					       SCHEMA_COLUMNS(fragment_columns) };

static void write_fragments(struct call *call, struct tally *tally)
{
	struct answer *answer = &call->answer;
	if (!tally->fragment_count)
		return;
	qsort(tally->fragments, tally->fragment_count, sizeof(*tally->fragments),
	      compare_fragments);
	answer_remark(answer, "\nFragmented blocks larger than 0.5 MB:\n");
	answer_table(answer, &fragment_schema, NULL);
	for (size_t i = 0; i < tally->fragment_count && !answer_is_stopped(answer); i++) {
		const struct fragment *row = &tally->fragments[i];
		size_t size;
		const char *name = type_name(call->heap->clr, row->next_type, &size);
		const struct cell cells[FRAGMENT_COLUMNS] = {
			[FRAGMENT_ADDRESS] = cell_number(row->address),
			[FRAGMENT_SIZE] = cell_number(row->size),
			[FRAGMENT_NEXT] = cell_number(row->next),
			[FRAGMENT_NEXT_TYPE] = cell_type(name, size, row->next_type->method_table),
		};
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
}

/* The table at the end, and what is wrong with the answer. */
static enum hd_status write_tally_statistics(struct call *call, struct tally *tally,
					     const char *part, bool first)
{
	struct statistics statistics;
	TRY(type_counts_statistics(&tally->counts, call->heap->clr, part, &statistics, call->err));
	statistics_sort(&statistics, call->options[DUMPHEAP_BYCOUNT].given, false);
	answer_remark(&call->answer, first ? "Statistics:\n" : "\nStatistics:\n");
	statistics_table(&call->answer, &statistics);
	statistics_deinit(&statistics);
	bool filtered = part || tally->mt || tally->min || tally->max || tally->life->graph;
	if (!filtered)
		write_fragments(call, tally);
	return HD_OK;
}

static enum hd_status tally_heap(struct call *call, const struct tally *proto)
{
	unsigned int workers = job_workers(&call->job);
	struct tally *tallies = mem_calloc(workers, sizeof(*tallies));
	void **args = mem_calloc(workers, sizeof(void *));
	if (!tallies || !args) {
		mem_free(tallies);
		mem_free(args);
		return fail_nomem(call->err);
	}
	for (unsigned int i = 0; i < workers; i++) {
		tallies[i] = *proto;
		args[i] = &tallies[i];
	}
	enum hd_status status =
		heap_walk(call->heap, proto->range->segments, proto->range->count, &call->job,
			  "Scanning heap", tally_segment, args, call->err);
	job_end(&call->job);
	if (status == HD_OK && !merge_tallies(tallies, workers))
		status = fail_nomem(call->err);
	if (status == HD_OK) {
		status = write_tally_statistics(call, &tallies[0],
						call->options[DUMPHEAP_TYPE].text, true);
	}
	if (status == HD_OK)
		gaps_report(call, &tallies[0].gaps);
	for (unsigned int i = 0; i < workers; i++)
		tally_deinit(&tallies[i]);
	mem_free(tallies);
	mem_free(args);
	return status;
}

static void write_walked_object(struct call *call, const struct walker *walker)
{
	const struct object *object = &walker->object;
	struct cell type = { 0 };
	if (answer_is_data(&call->answer)) {
		size_t size;
		const char *name = type_name(call->heap->clr, object->type, &size);
		type = cell_type(name, size, object->type->method_table);
	}
	const struct cell cells[OBJECT_COLUMNS] = {
		[OBJECT_ADDRESS] = cell_number(object->address),
		[OBJECT_MT] = cell_number(object->type->method_table),
		[OBJECT_TYPE] = type,
		[OBJECT_SIZE] = cell_number(object->size),
		[OBJECT_FREE] = cell_flag(object->type->is_free),
		[OBJECT_GENERATION] = cell_string(
			generation_name(segment_generation_at(walker->segment, object->address))),
		[OBJECT_NOTE] = { .shown = object->type->is_free ? "Free" : "" },
	};
	answer_row(&call->answer, cells);
}

enum lock_column {
	LOCK_OBJECT,
	LOCK_ID,
	LOCK_THREAD,
	LOCK_OS_ID,
	LOCK_RECURSION,
	LOCK_COLUMNS
};

static const struct column lock_columns[LOCK_COLUMNS] = {
	[LOCK_OBJECT] = { "address", "Object", KIND_ADDRESS, 16, LOOK_ADDRESS,
			  "the object that is locked" },
	[LOCK_ID] = { "thread", NULL, KIND_NUMBER, 0, 0, "managed id of the thread" },
	[LOCK_THREAD] = { "thread_address", "Thread", KIND_ADDRESS, 16, 0,
			  "its Thread; 0x0: no thread has the id" },
	[LOCK_OS_ID] = { "os_id", "OSId", KIND_NUMBER, 18, 0, "its id in the system, or 0" },
	[LOCK_RECURSION] = { "recursion", "Recursion", KIND_NUMBER, 14, 0,
			     "how often it was taken again" },
};

static void lock_layout(struct out *out, const struct cell *cells)
{
	out_styled(out, STYLE_ADDRESS, "%16" PRIx64, cells[LOCK_OBJECT].number);
	if (cells[LOCK_THREAD].number) {
		out_printf(out, " %16" PRIx64 " %#18" PRIx64 " %14" PRIu64 "\n",
			   cells[LOCK_THREAD].number, cells[LOCK_OS_ID].number,
			   cells[LOCK_RECURSION].number);
	} else {
		out_printf(out, " %16s %18s %14" PRIu64 " (no thread has id %" PRIu64 ")\n", "?",
			   "?", cells[LOCK_RECURSION].number, cells[LOCK_ID].number);
	}
}

static const struct schema lock_schema = {
	.name = "locks",
	SCHEMA_COLUMNS(lock_columns),
	.is_main = true,
	.heading = "          Object           Thread               OSId      Recursion",
	.layout = lock_layout,
};

/* An object whose header holds a thin lock; others are passed over. */
static void write_thin_lock(struct call *call, const struct object *object)
{
	struct sync_info sync;
	if (!clr_sync_info(call->heap->clr, object->address, &sync) || !sync.has_thin_lock)
		return;
	const struct clr_thread *owner = clr_thread_by_id(call->heap->clr, sync.lock_thread);
	const struct cell cells[LOCK_COLUMNS] = {
		[LOCK_OBJECT] = cell_number(object->address),
		[LOCK_ID] = cell_number(sync.lock_thread),
		[LOCK_THREAD] = cell_number(owner ? owner->address : 0),
		[LOCK_OS_ID] = cell_number(owner ? owner->os_id : 0),
		[LOCK_RECURSION] = cell_number(sync.lock_recursion),
	};
	answer_row(&call->answer, cells);
}

/* Is it an object whose MethodTable the target lacks? */
static bool is_untyped(struct tally *tally, const struct damage *damage)
{
	struct heap *heap = tally->call->heap;
	/* The MethodTable word is there; is it the rest that is not? */
	if (damage->kind == DAMAGE_MISSING_BYTES)
		return damage->word && !type_find(heap->clr, damage->word & ~(uint64_t)7);
	if (!damage_is_untyped(heap, damage))
		return false;
	if (!tally->gaps.missing && !tally->is_asked) {
		tally->lacks_bytes = heap_lacks_bytes(heap);
		tally->is_asked = true;
	}
	return tally->gaps.missing || tally->lacks_bytes;
}

/* Where a walk has met what is no object that can be read. */
static void write_gap(struct tally *tally, const struct damage *damage)
{
	struct call *call = tally->call;
	struct answer *answer = &call->answer;
	bool is_core = heap_target(call->heap)->kind == TARGET_CORE;
	if (is_untyped(tally, damage)) {
		answer_remark(answer, "object %012" PRIx64 ": its MethodTable %012" PRIx64 " %s\n",
			      damage->address, damage->word & ~(uint64_t)7,
			      is_core ? "is not in the core" : "cannot be read");
		return;
	}
	if (damage->kind != DAMAGE_BAD_METHOD_TABLE && damage->kind != DAMAGE_BAD_SIZE)
		return;
	if (call->heap->gc_in_progress) {
		answer_remark(answer, "object %012" PRIx64 ": moved by a garbage collection\n",
			      damage->address);
		return;
	}
	/* Three lines, as SOS has them for an object that is none. */
	answer_remark(answer, "object %012" PRIx64 ": does not have valid %s\n", damage->address,
		      damage->kind == DAMAGE_BAD_SIZE ? "size" : "MT");
	answer_remark(answer, "curr_object:      %012" PRIx64 "\n", damage->address);
	if (damage->last_good.type) {
		answer_remark(answer, "Last good object: %012" PRIx64 "\n",
			      damage->last_good.address);
	}
}

static enum hd_status list_segment_objects(struct call *call, struct tally *tally,
					   struct walker *walker, struct type_chooser *chooser)
{
	bool locks = call->options[DUMPHEAP_THINLOCK].given;
	for (;;) {
		enum walk_result result = walker_next(walker);
		if (call->out.stopped || walker->cancelled)
			return fail_cancelled(call->err);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&tally->gaps, walker->heap, &walker->damage);
			write_gap(tally, &walker->damage);
			tally->free_at = 0;
			continue;
		}
		follow_free(tally, walker);
		if (!tally_passes(tally, walker) || !type_chooser_has(chooser, walker->object.type))
			continue;
		if (!type_counts_add(&tally->counts, &walker->object))
			return fail_nomem(call->err);
		if (locks) {
			/* The word before a Free block is a rest of what was there. */
			if (!walker->object.type->is_free)
				write_thin_lock(call, &walker->object);
		} else if (answer_wants_row(&call->answer)) {
			write_walked_object(call, walker);
			TRY(call_check(call));
		}
	}
}

static void begin_list(struct call *call, uint64_t limit)
{
	const struct table_options objects = { .limit = limit,
					       .hidden = 1u << OBJECT_CLASS,
					       .brief = brief_address };
	if (call->options[DUMPHEAP_THINLOCK].given) {
		answer_table(&call->answer, &lock_schema, NULL);
	} else {
		answer_table(&call->answer, &object_schema, &objects);
	}
}

static enum hd_status end_object_list(struct call *call, struct tally *tally, uint64_t limit)
{
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, limit);
	gaps_report(call, &tally->gaps);
	if (call->options[DUMPHEAP_THINLOCK].given)
		return HD_OK;
	return write_tally_statistics(call, tally, NULL, false);
}

static enum hd_status list_all(struct call *call, struct tally *tally)
{
	struct walker walker;
	TRY(walker_init(&walker, call->heap, call->err));
	struct type_chooser chooser = { .clr = call->heap->clr,
					.part = call->options[DUMPHEAP_TYPE].text };
	uint64_t limit = call_limit(call, DUMPHEAP_LIMIT, UINT64_MAX);
	job_begin(&call->job, "Scanning heap", heap_range_bytes(tally->range));
	walker.job = &call->job;
	begin_list(call, limit);
	enum hd_status status = HD_OK;
	for (size_t i = 0; status == HD_OK && i < tally->range->count; i++) {
		begin_segment(tally, &walker, tally->range->segments[i]);
		status = list_segment_objects(call, tally, &walker, &chooser);
	}
	job_end(&call->job);
	walker_deinit(&walker);
	if (status == HD_OK && chooser.failed)
		status = fail_nomem(call->err);
	if (status == HD_OK)
		status = end_object_list(call, tally, limit);
	type_chooser_deinit(&chooser);
	return status;
}

static enum hd_status dumpheap_heap_answer(struct call *call, struct tally *tally,
					   struct life *life)
{
	const struct value *options = call->options;
	if (options[DUMPHEAP_LIVE].given || options[DUMPHEAP_DEAD].given)
		TRY(call_life(call, options[DUMPHEAP_DEAD].given, life));
	bool is_list = !options[DUMPHEAP_STAT].given && !options[DUMPHEAP_STRINGS].given;
	if (options[DUMPHEAP_SHORT].given && is_list)
		answer_be_brief(&call->answer);
	life_write(life, call);
	if (options[DUMPHEAP_STRINGS].given)
		return strings_write(call, tally->range, life);
	if (options[DUMPHEAP_STAT].given && !options[DUMPHEAP_THINLOCK].given)
		return tally_heap(call, tally);
	enum hd_status status = list_all(call, tally);
	tally_deinit(tally);
	return status;
}

enum hd_status run_dumpheap_heap(struct call *call)
{
	const struct value *options = call->options;
	if (options[DUMPHEAP_MAX].given && !options[DUMPHEAP_MAX].number)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "-max is at least 1");
	struct heap_range range;
	const struct range_choice choice =
		range_choice(&options[DUMPHEAP_HEAP], &options[DUMPHEAP_SEGMENT],
			     &options[DUMPHEAP_GEN], call->words);
	TRY(heap_range_init(&range, call->heap, &choice, call->err));
	struct life life = { 0 };
	struct tally tally = {
		.call = call,
		.range = &range,
		.life = &life,
		.min = options[DUMPHEAP_MIN].number,
		.max = options[DUMPHEAP_MAX].number,
		.mt = options[DUMPHEAP_MT].number,
	};
	enum hd_status status = dumpheap_heap_answer(call, &tally, &life);
	heap_range_deinit(&range);
	return status;
}
