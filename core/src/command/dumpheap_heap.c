/* SPDX-License-Identifier: MIT */
/* dumpheap on the heap of a core or a process: streams, and makes no graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/dumpheap.h"
#include "command/life.h"
#include "command/strings.h"
#include "command/type_counts.h"
#include "util/alloc.h"

/* Free blocks from this size on are listed as fragmentation; SOS's limit. */
#define FRAGMENT_MIN ((uint64_t)512 << 10)
/* So many of them are listed. */
#define FRAGMENTS_MAX 1000u

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
	if (tally->free_at && tally->fragment_count < FRAGMENTS_MAX) {
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
static inline bool passes(struct tally *tally, const struct walker *walker)
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

static enum hd_status count_segment(void *arg, struct walker *walker, struct hd_error *err)
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
		if (passes(tally, walker) && !type_counts_add(&tally->counts, &walker->object))
			return fail_nomem(err);
	}
}

/* Add the tallies of all workers up in the first. */
static bool merge(struct tally *tallies, unsigned int count)
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

static void write_fragments(struct call *call, struct tally *tally)
{
	if (!tally->fragment_count)
		return;
	struct clr *clr = call->heap->clr;
	qsort(tally->fragments, tally->fragment_count, sizeof(*tally->fragments),
	      compare_fragments);
	if (call->as_json) {
		json_array(&call->json, "fragments");
	} else {
		out_puts(&call->out, "\nFragmented blocks larger than 0.5 MB:\n");
		out_styled(&call->out, STYLE_HEAD, "%16s %14s %16s", "Address", "Size",
			   "Followed By");
		out_puts(&call->out, "\n");
	}
	for (size_t i = 0; i < tally->fragment_count && !call->out.stopped; i++) {
		const struct fragment *row = &tally->fragments[i];
		size_t size;
		const char *name = type_name(clr, row->next_type, &size);
		char number[27];
		if (call->as_json) {
			json_object(&call->json, NULL);
			json_address(&call->json, "address", row->address);
			json_number(&call->json, "size", row->size);
			json_address(&call->json, "next", row->next);
			json_text(&call->json, "next_type", name, size);
			json_end(&call->json);
			continue;
		}
		out_printf(&call->out, "%16" PRIx64 " %14s %16" PRIx64 " ", row->address,
			   format_thousands(row->size, number), row->next);
		out_type(&call->out, name, size, row->next_type->method_table);
		out_puts(&call->out, "\n");
	}
	if (call->as_json)
		json_end(&call->json);
}

/* The table at the end, and what is wrong with the answer. */
static enum hd_status write_statistics(struct call *call, struct tally *tally, const char *part,
				       bool first)
{
	struct statistics statistics;
	TRY(type_counts_statistics(&tally->counts, call->heap->clr, part, &statistics, call->err));
	statistics_sort(&statistics, call->options[DUMPHEAP_BYCOUNT].given, false);
	if (call->as_json) {
		statistics_json(&statistics, &call->json);
	} else {
		out_puts(&call->out, first ? "Statistics:\n" : "\nStatistics:\n");
		statistics_text(&statistics, &call->out);
	}
	statistics_deinit(&statistics);
	bool filtered = part || tally->mt || tally->min || tally->max || tally->life->graph;
	if (!filtered)
		write_fragments(call, tally);
	return HD_OK;
}

static enum hd_status count_all(struct call *call, const struct tally *proto)
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
			  "Scanning heap", count_segment, args, call->err);
	job_end(&call->job);
	if (status == HD_OK && !merge(tallies, workers))
		status = fail_nomem(call->err);
	if (status == HD_OK) {
		status = write_statistics(call, &tallies[0], call->options[DUMPHEAP_TYPE].text,
					  true);
	}
	if (status == HD_OK)
		gaps_report(call, &tallies[0].gaps);
	for (unsigned int i = 0; i < workers; i++)
		tally_deinit(&tallies[i]);
	mem_free(tallies);
	mem_free(args);
	return status;
}

static void write_row(struct call *call, const struct walker *walker)
{
	const struct object *object = &walker->object;
	char number[27];
	if (call->as_json) {
		struct json *json = &call->json;
		size_t size;
		const char *name = type_name(call->heap->clr, object->type, &size);
		json_object(json, NULL);
		json_address(json, "address", object->address);
		json_address(json, "mt", object->type->method_table);
		json_text(json, "type", name, size);
		json_number(json, "size", object->size);
		json_bool(json, "free", object->type->is_free);
		json_string(
			json, "generation",
			generation_name(segment_generation_at(walker->segment, object->address)));
		json_end(json);
	} else if (call->options[DUMPHEAP_SHORT].given) {
		out_printf(&call->out, "%012" PRIx64 "\n", object->address);
	} else {
		out_styled(&call->out, STYLE_ADDRESS, "%16" PRIx64, object->address);
		out_printf(&call->out, " %16" PRIx64 " %14s %s\n", object->type->method_table,
			   format_thousands(object->size, number),
			   object->type->is_free ? "Free" : "");
	}
}

/* An object whose header holds a thin lock; others are passed over. */
static void write_thin_lock(struct call *call, const struct object *object)
{
	struct sync_info sync;
	if (!clr_sync_info(call->heap->clr, object->address, &sync) || !sync.has_thin_lock)
		return;
	const struct clr_thread *owner = clr_thread_by_id(call->heap->clr, sync.lock_thread);
	if (call->as_json) {
		struct json *json = &call->json;
		json_object(json, NULL);
		json_address(json, "address", object->address);
		json_number(json, "thread", sync.lock_thread);
		json_address(json, "thread_address", owner ? owner->address : 0);
		json_number(json, "os_id", owner ? owner->os_id : 0);
		json_number(json, "recursion", sync.lock_recursion);
		json_end(json);
		return;
	}
	out_styled(&call->out, STYLE_ADDRESS, "%16" PRIx64, object->address);
	if (owner) {
		out_printf(&call->out, " %16" PRIx64 " %#18" PRIx64 " %14" PRIu32 "\n",
			   owner->address, owner->os_id, sync.lock_recursion);
	} else {
		out_printf(&call->out, " %16s %18s %14" PRIu32 " (no thread has id %" PRIu32 ")\n",
			   "?", "?", sync.lock_recursion, sync.lock_thread);
	}
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
	if (call->as_json || call->options[DUMPHEAP_SHORT].given)
		return;
	struct out *out = &call->out;
	bool is_core = call->heap->clr->target->kind == TARGET_CORE;
	if (is_untyped(tally, damage)) {
		out_printf(out, "object %012" PRIx64 ": its MethodTable %012" PRIx64 " %s\n",
			   damage->address, damage->word & ~(uint64_t)7,
			   is_core ? "is not in the core" : "cannot be read");
		return;
	}
	if (damage->kind != DAMAGE_BAD_METHOD_TABLE && damage->kind != DAMAGE_BAD_SIZE)
		return;
	if (call->heap->gc_in_progress) {
		out_printf(out, "object %012" PRIx64 ": moved by a garbage collection\n",
			   damage->address);
		return;
	}
	/* Three lines, as SOS's dumpheap has them for an object that is none. */
	out_printf(out, "object %012" PRIx64 ": does not have valid %s\n", damage->address,
		   damage->kind == DAMAGE_BAD_SIZE ? "size" : "MT");
	out_printf(out, "curr_object:      %012" PRIx64 "\n", damage->address);
	if (damage->last_good.type)
		out_printf(out, "Last good object: %012" PRIx64 "\n", damage->last_good.address);
}

static enum hd_status list_segment(struct call *call, struct tally *tally, struct walker *walker,
				   struct type_chooser *chooser, uint64_t limit, uint64_t *listed)
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
		if (!passes(tally, walker) || !type_chooser_has(chooser, walker->object.type))
			continue;
		if (!type_counts_add(&tally->counts, &walker->object))
			return fail_nomem(call->err);
		if (locks) {
			/* The word before a Free block is a rest of what was there. */
			if (!walker->object.type->is_free)
				write_thin_lock(call, &walker->object);
		} else if ((*listed)++ < limit) {
			write_row(call, walker);
			TRY(call_check(call));
		}
	}
}

static void write_header(struct call *call)
{
	bool locks = call->options[DUMPHEAP_THINLOCK].given;
	if (call->as_json) {
		json_array(&call->json, locks ? "locks" : "objects");
	} else if (locks) {
		out_styled(&call->out, STYLE_HEAD, "%16s %16s %18s %14s", "Object", "Thread",
			   "OSId", "Recursion");
		out_puts(&call->out, "\n");
	} else if (!call->options[DUMPHEAP_SHORT].given) {
		object_row_header(&call->out);
	}
}

static enum hd_status end_list(struct call *call, struct tally *tally, uint64_t listed,
			       uint64_t limit)
{
	bool locks = call->options[DUMPHEAP_THINLOCK].given;
	bool truncated = !locks && listed > limit;
	char number[27];
	if (call->as_json) {
		json_end(&call->json);
		if (truncated)
			json_bool(&call->json, "truncated", true);
	} else if (truncated && !call->options[DUMPHEAP_SHORT].given) {
		out_printf(&call->out, "(the first %s; -limit 0 lists all)\n",
			   format_thousands(limit, number));
	}
	gaps_report(call, &tally->gaps);
	if (locks || (call->options[DUMPHEAP_SHORT].given && !call->as_json))
		return HD_OK;
	return write_statistics(call, tally, NULL, false);
}

static enum hd_status list_all(struct call *call, struct tally *tally)
{
	struct walker walker;
	TRY(walker_init(&walker, call->heap, call->err));
	struct type_chooser chooser = { .clr = call->heap->clr,
					.part = call->options[DUMPHEAP_TYPE].text };
	uint64_t limit = call_limit(call, DUMPHEAP_LIMIT, UINT64_MAX), listed = 0;
	job_begin(&call->job, "Scanning heap", heap_range_bytes(tally->range));
	walker.job = &call->job;
	write_header(call);
	enum hd_status status = HD_OK;
	for (size_t i = 0; status == HD_OK && i < tally->range->count; i++) {
		begin_segment(tally, &walker, tally->range->segments[i]);
		status = list_segment(call, tally, &walker, &chooser, limit, &listed);
	}
	job_end(&call->job);
	walker_deinit(&walker);
	if (status == HD_OK && chooser.failed)
		status = fail_nomem(call->err);
	if (status == HD_OK)
		status = end_list(call, tally, listed, limit);
	type_chooser_deinit(&chooser);
	return status;
}

static enum hd_status answer(struct call *call, struct tally *tally, struct life *life)
{
	const struct value *options = call->options;
	if (options[DUMPHEAP_LIVE].given || options[DUMPHEAP_DEAD].given)
		TRY(life_init(life, call, options[DUMPHEAP_DEAD].given));
	if (call->as_json || !options[DUMPHEAP_SHORT].given)
		life_write(life, call);
	if (options[DUMPHEAP_STRINGS].given)
		return strings_write(call, tally->range, life);
	if (options[DUMPHEAP_STAT].given && !options[DUMPHEAP_THINLOCK].given)
		return count_all(call, tally);
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
	TRY(heap_range_init(&range, call, &options[DUMPHEAP_HEAP], &options[DUMPHEAP_SEGMENT],
			    &options[DUMPHEAP_GEN], &call->words[0], &call->words[1]));
	struct life life = { 0 };
	struct tally tally = {
		.call = call,
		.range = &range,
		.life = &life,
		.min = options[DUMPHEAP_MIN].number,
		.max = options[DUMPHEAP_MAX].number,
		.mt = options[DUMPHEAP_MT].number,
	};
	enum hd_status status = answer(call, &tally, &life);
	heap_range_deinit(&range);
	return status;
}
