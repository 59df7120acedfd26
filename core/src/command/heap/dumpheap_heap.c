/* SPDX-License-Identifier: MIT */
/* dumpheap on the heap of a core or a process: streams, and makes no graph. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/heap/object_pass.h"
#include "answer/tables.h"
#include "command/heap/cmd_strings.h"
#include "command/heap/dumpheap.h"
#include "command/heap/heap_call.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/sink.h"

#define FRAGMENT_LIST(X)                                                                     \
	X(FRAGMENT_ADDRESS, "address", "Address", KIND_ADDRESS, 16, 0, "a large Free block") \
	X(FRAGMENT_SIZE, "size", "Size", KIND_BYTES, 14, LOOK_THOUSANDS, "its bytes")        \
	X(FRAGMENT_NEXT, "next", "Followed By", KIND_ADDRESS, 16, 0, "the object after it")  \
	X(FRAGMENT_NEXT_TYPE, "next_type", "", KIND_TYPE, 0, 0, "type of that object")

COLUMNS(fragment, FRAGMENT_COLUMNS, FRAGMENT_LIST);

SCHEMA(fragment, .name = "fragments");

static void write_fragments(struct call *call, const struct object_tally *tally)
{
	struct answer *answer = &call->answer;
	if (!tally->fragments_count)
		return;
	answer_remark(answer, "\nFragmented blocks larger than 0.5 MB:\n");
	answer_table(answer, &fragment_schema, NULL);
	for (size_t i = 0; i < tally->fragments_count && !answer_is_stopped(answer); i++) {
		const struct fragment *row = &tally->fragments[i];
		size_t size;
		const char *name = type_name(call->heap->runtime, row->next_type, &size);
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
static enum hd_status write_tally_statistics(struct call *call, const struct object_tally *tally,
					     const char *part, bool first)
{
	const struct object_filter *filter = tally->filter;
	struct statistics statistics;
	TRY(type_counts_statistics(&tally->counts, call->heap->runtime, part, &statistics,
				   call->err));
	statistics_sort(&statistics, call->options[DUMPHEAP_BYCOUNT].given, false);
	answer_remark(&call->answer, first ? "Statistics:\n" : "\nStatistics:\n");
	statistics.limit = call_statistics_limit(call, DUMPHEAP_STAT, DUMPHEAP_LIMIT);
	statistics_table(&call->answer, &statistics);
	statistics_deinit(&statistics);
	bool filtered =
		part || filter->method_table || filter->min || filter->max || filter->life->graph;
	if (!filtered)
		write_fragments(call, tally);
	return HD_OK;
}

static enum hd_status tally_heap(struct call *call, const struct object_filter *filter)
{
	HD_CLEANUP(object_tally) struct object_tally tally = { 0 };
	TRY(object_tally_count(&tally, call->heap, filter, &call->job, call->err));
	TRY(write_tally_statistics(call, &tally, filter->type_part, true));
	gaps_report(call, &tally.gaps);
	return HD_OK;
}

static void write_walked_object(struct call *call, const struct walker *walker)
{
	const struct object *object = &walker->object;
	struct cell type = { 0 };
	if (answer_is_data(&call->answer)) {
		size_t size;
		const char *name = type_name(call->heap->runtime, object->type, &size);
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

#define LOCK_LIST(X)                                                                     \
	X(LOCK_OBJECT, "address", "Object", KIND_ADDRESS, 16, LOOK_ADDRESS,              \
	  "the object that is locked")                                                   \
	X(LOCK_ID, "thread", NULL, KIND_NUMBER, 0, 0, "managed id of the thread")        \
	X(LOCK_THREAD, "thread_address", "Thread", KIND_ADDRESS, 16, 0,                  \
	  "its Thread; 0x0: no thread has the id")                                       \
	X(LOCK_OS_ID, "os_id", "OSId", KIND_NUMBER, 18, 0, "its id in the system, or 0") \
	X(LOCK_RECURSION, "recursion", "Recursion", KIND_NUMBER, 14, 0,                  \
	  "how often it was taken again")

COLUMNS(lock, LOCK_COLUMNS, LOCK_LIST);

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

SCHEMA(lock, .name = "locks", .is_main = true,
       .heading = "          Object           Thread               OSId      Recursion",
       .layout = lock_layout);

/* An object whose header holds a thin lock; others are passed over. */
static void write_thin_lock(struct call *call, const struct object *object)
{
	struct sync_info sync;
	if (!runtime_sync_info(call->heap->runtime, object->address, &sync) || !sync.has_thin_lock)
		return;
	const struct runtime_thread *owner =
		runtime_thread_by_id(call->heap->runtime, sync.lock_thread);
	const struct cell cells[LOCK_COLUMNS] = {
		[LOCK_OBJECT] = cell_number(object->address),
		[LOCK_ID] = cell_number(sync.lock_thread),
		[LOCK_THREAD] = cell_number(owner ? owner->address : 0),
		[LOCK_OS_ID] = cell_number(owner ? owner->os_id : 0),
		[LOCK_RECURSION] = cell_number(sync.lock_recursion),
	};
	answer_row(&call->answer, cells);
}

#define DAMAGE_LIST(X)                                                                      \
	X(DAMAGE_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "where an object should be") \
	X(DAMAGE_PROBLEM, "problem", NULL, KIND_TEXT, 0, 0, "what is wrong there")          \
	X(DAMAGE_LAST_GOOD, "last_good_object", NULL, KIND_ADDRESS, 0, 0,                   \
	  "the object before it; null: the segment has none")

COLUMNS(damage, DAMAGE_COLUMNS, DAMAGE_LIST);

SCHEMA(damage, .name = "damage");

/* A place where a walk has met something that is not an object that can be read. */
struct gap_row {
	uint64_t address, last_good; /* last_good 0: there is none, or it does not matter */
	bool is_damage;
	char problem[64];
};

/* The gaps of a list, which are a table of their own after that of the objects. */
struct gap_list {
	struct gap_row *rows; /* pages */
	size_t rows_count, rows_capacity;
};

static void gap_list_deinit(struct gap_list *list)
{
	pages_free(list->rows, list->rows_capacity, sizeof(*list->rows));
}

/* false: the gap is none of those that are told. */
static bool gap_row_of(struct call *call, struct object_pass *pass, struct gap_row *ret)
{
	const struct damage *damage = &pass->walker.damage;
	bool is_core = heap_target(call->heap)->kind == TARGET_CORE;
	*ret = (struct gap_row){ .address = damage->address };
	if (object_pass_lacks_type(pass)) {
		(void)snprintf(ret->problem, sizeof(ret->problem),
			       "its MethodTable %012" PRIx64 " %s", damage->word & ~(uint64_t)7,
			       is_core ? "is not in the core" : "cannot be read");
		return true;
	}
	if (damage->kind != DAMAGE_BAD_METHOD_TABLE && damage->kind != DAMAGE_BAD_SIZE)
		return false;
	if (call->heap->gc_in_progress) {
		(void)snprintf(ret->problem, sizeof(ret->problem), "moved by a garbage collection");
		return true;
	}
	(void)snprintf(ret->problem, sizeof(ret->problem), "does not have valid %s",
		       damage->kind == DAMAGE_BAD_SIZE ? "size" : "MT");
	ret->last_good = damage->last_good.type ? damage->last_good.address : 0;
	ret->is_damage = true;
	return true;
}

/* A gap among the lines of the objects: three lines, as SOS has them for an object that is none. */
static void remark_gap(struct answer *answer, const struct gap_row *row)
{
	answer_remark(answer, "object %012" PRIx64 ": %s\n", row->address, row->problem);
	if (row->is_damage)
		answer_remark(answer, "curr_object:      %012" PRIx64 "\n", row->address);
	if (row->last_good)
		answer_remark(answer, "Last good object: %012" PRIx64 "\n", row->last_good);
}

/* A gap next to rows that have no place for it. */
static void warn_gap(const struct call *call, const struct gap_row *row)
{
	char line[128];
	int size = snprintf(line, sizeof(line), "object %012" PRIx64 ": %s", row->address,
			    row->problem);
	if (row->last_good) {
		(void)snprintf(line + size, sizeof(line) - (size_t)size,
			       "; last good object: %012" PRIx64, row->last_good);
	}
	sink_warn(call->sink, line);
}

/* Has the answer room for a table besides that of the objects? */
static bool keeps_gaps(const struct call *call)
{
	return call->as_json || call->answer.visit;
}

/* Say where a walk has met something that is not an object, or keep it for write_gaps(). */
static enum hd_status tell_gap(struct call *call, struct object_pass *pass, struct gap_list *list)
{
	struct gap_row row;
	if (!gap_row_of(call, pass, &row))
		return HD_OK;
	if (answer_is_text(&call->answer)) {
		remark_gap(&call->answer, &row);
	} else if (!keeps_gaps(call)) {
		warn_gap(call, &row);
	} else {
		if (list->rows_count == list->rows_capacity) {
			TRY(job_check_memory(&call->job, 2 * list->rows_capacity * sizeof(row),
					     call->err));
		}
		TRY_MEMORY(PAGES_RESERVE(list, rows), call->err);
		list->rows[list->rows_count++] = row;
	}
	return HD_OK;
}

static void write_gaps(struct call *call, const struct gap_list *list)
{
	struct answer *answer = &call->answer;
	if (!keeps_gaps(call))
		return;
	answer_table(answer, &damage_schema, NULL);
	for (size_t i = 0; i < list->rows_count && !answer_is_stopped(answer); i++) {
		const struct gap_row *row = &list->rows[i];
		const struct cell cells[DAMAGE_COLUMNS] = {
			[DAMAGE_ADDRESS] = cell_number(row->address),
			[DAMAGE_PROBLEM] = cell_string(row->problem),
			[DAMAGE_LAST_GOOD] = { .is_there = row->last_good,
					       .number = row->last_good },
		};
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
}

/* Write one row of a list, if the object is of those that are listed. */
static enum hd_status list_object(struct call *call, const struct walker *walker)
{
	if (call->options[DUMPHEAP_THINLOCK].given) {
		/* The word before a Free block is a rest of what was there. */
		if (!walker->object.type->is_free)
			write_thin_lock(call, &walker->object);
		return HD_OK;
	}
	if (!answer_wants_row(&call->answer))
		return HD_OK;
	write_walked_object(call, walker);
	return call_check(call);
}

static enum hd_status list_objects(struct call *call, struct object_pass *pass,
				   struct gap_list *gaps)
{
	for (;;) {
		enum pass_result result;
		if (call->out.stopped)
			return fail_cancelled(call->err);
		TRY(object_pass_next(pass, &result, call->err));
		if (result == PASS_END)
			return HD_OK;
		if (result == PASS_GAP) {
			TRY(tell_gap(call, pass, gaps));
		} else {
			TRY(list_object(call, &pass->walker));
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

static enum hd_status end_object_list(struct call *call, struct object_tally *tally,
				      const struct gap_list *gaps, uint64_t limit)
{
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, limit);
	write_gaps(call, gaps);
	gaps_report(call, &tally->gaps);
	if (call->options[DUMPHEAP_THINLOCK].given)
		return HD_OK;
	return write_tally_statistics(call, tally, NULL, false);
}

static enum hd_status list_all(struct call *call, const struct object_filter *filter)
{
	HD_CLEANUP(object_pass) struct object_pass pass = { 0 };
	uint64_t limit = call_limit(call, DUMPHEAP_LIMIT, UINT64_MAX);
	TRY(object_pass_open(&pass, call->heap, filter, &call->job, call->err));
	HD_CLEANUP(gap_list) struct gap_list gaps = { 0 };
	begin_list(call, limit);
	TRY(list_objects(call, &pass, &gaps));
	job_end(&call->job);
	return end_object_list(call, &pass.tally, &gaps, limit);
}

static enum hd_status list_strings(struct call *call, const struct object_filter *filter)
{
	const struct strings_listing listing = { .limit = call_limit(call, DUMPHEAP_LIMIT,
								     UINT64_MAX) };
	return strings_write(call, filter, &listing);
}

static enum hd_status dumpheap_heap_answer(struct call *call, const struct object_filter *filter)
{
	const struct value *options = call->options;
	bool is_list = !options[DUMPHEAP_STAT].given && !options[DUMPHEAP_STRINGS].given;
	if (options[DUMPHEAP_SHORT].given && is_list)
		answer_be_brief(&call->answer);
	life_write(filter->life, call);
	if (options[DUMPHEAP_STRINGS].given)
		return list_strings(call, filter);
	if (options[DUMPHEAP_STAT].given && !options[DUMPHEAP_THINLOCK].given)
		return tally_heap(call, filter);
	return list_all(call, filter);
}

enum hd_status run_dumpheap_heap(struct call *call)
{
	const struct value *options = call->options;
	if (options[DUMPHEAP_MAX].given && !options[DUMPHEAP_MAX].number)
		return fail(call->err, HD_ERR_ARGUMENT, 0, "-max is at least 1");
	HD_CLEANUP(heap_range) struct heap_range range = { 0 };
	const struct range_choice choice =
		range_choice(&options[DUMPHEAP_HEAP], &options[DUMPHEAP_SEGMENT],
			     &options[DUMPHEAP_GEN], call->words);
	TRY(heap_range_init(&range, call->heap, &choice, call->err));
	struct life life = { 0 };
	const struct object_filter filter = {
		.range = &range,
		.life = &life,
		.min = options[DUMPHEAP_MIN].number,
		.max = options[DUMPHEAP_MAX].number,
		.method_table = options[DUMPHEAP_MT].number,
		.type_part = options[DUMPHEAP_TYPE].text,
	};
	if (options[DUMPHEAP_LIVE].given || options[DUMPHEAP_DEAD].given)
		TRY(call_life(call, options[DUMPHEAP_DEAD].given, &life));
	return dumpheap_heap_answer(call, &filter);
}
