/* SPDX-License-Identifier: MIT */
/* All roots of a heap (doc/coreclr.md 15). */
#include "roots/root_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gc/handles.h"
#include "runtime/coreclr/threads/in_flight.h"
#include "runtime/coreclr/threads/thread_words.h"
#include "runtime/thread_state.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/text.h"

/* How many threads are named. */
#define THREADS_NAMED_MAX 3u

enum stack_gap {
	GAP_NONE,
	GAP_PARTIAL,
	GAP_MISSING,
	GAP_NO_REGISTERS,
	GAPS
};

static const struct {
	enum finding_kind kind;
	const char *what, *cost;
} gaps[GAPS] = {
	[GAP_PARTIAL] = { FINDING_PARTIAL_STACK, "not walked to the end",
			  "every word from there on that may be a reference counts as a root, "
			  "which may keep dead objects alive" },
	[GAP_MISSING] = { FINDING_MISSING_STACK, "not in the target",
			  "objects that only local variables there keep alive count as dead" },
	[GAP_NO_REGISTERS] = { FINDING_NO_REGISTERS, "without registers in the target",
			       "objects that only local variables there keep alive count as dead" },
};

/* The stacks with one kind of gap. */
struct summary {
	uint64_t count;
	struct text names; /* of the first threads */
	const char *why;   /* of the first */
};

static enum stack_gap gap_of(const struct target *target, const struct thread_stack *stack)
{
	uint64_t id = stack->thread->os_id;
	if (stack->is_missing) {
		return id <= INT32_MAX && target_thread(target, (int32_t)id) ? GAP_MISSING
									     : GAP_NO_REGISTERS;
	}
	return stack->is_partial ? GAP_PARTIAL : GAP_NONE;
}

/* Report the threads whose stacks are incomplete: one finding of the target per kind. */
static void report_stack_gaps(const struct root_set *roots)
{
	struct target *target = heap_target(roots->heap);
	struct summary summaries[GAPS] = { 0 };
	for (size_t i = 0; i < roots->stack_count; i++) {
		const struct thread_stack *stack = &roots->stacks[i];
		struct summary *summary = &summaries[gap_of(target, stack)];
		if (!summary->count)
			summary->why = stack->why;
		if (summary->count < THREADS_NAMED_MAX) {
			text_printf(&summary->names, "%s%" PRIx64, summary->count ? ", " : "",
				    stack->thread->os_id);
		}
		summary->count++;
	}
	for (unsigned int i = GAP_NONE + 1; i < GAPS; i++) {
		const struct summary *summary = &summaries[i];
		if (!summary->count)
			continue;
		findings_add_counted(&target->findings, gaps[i].kind, summary->count, NULL,
				     "%" PRIu64 " stack%s %s (thread%s %s%s)%s%s: %s",
				     summary->count, summary->count == 1 ? " is" : "s are",
				     gaps[i].what, summary->count == 1 ? "" : "s",
				     summary->names.bytes ? summary->names.bytes : "?",
				     summary->count > THREADS_NAMED_MAX ? ", ..." : "",
				     *summary->why ? ": " : "", summary->why, gaps[i].cost);
	}
	for (unsigned int i = 0; i < GAPS; i++)
		text_deinit(&summaries[i].names);
}

/** The record of a thread that holds a handle, and the index of that thread. */
struct handle_owner {
	uint32_t thread; /**< UINT32_MAX: none */
	uint8_t record;  /**< enum handle_record */
};

/* Most exceptions of one thread that are read. */
#define THROWN_MAX 65536u

/* Strong handles by address. */
struct owner_finder {
	const struct runtime *runtime;
	uint64_t *addresses;
	uint32_t *indexes;
	uint32_t count;
	struct handle_owner *owners;
};

/*
 * Is @p word, in a record of @p thread, the address of a handle?  The first thread is kept, and its
 * most specific record.
 */
static void try_word(struct owner_finder *finder, uint64_t word, uint32_t thread,
		     enum handle_record record)
{
	uint32_t count = finder->count;
	if (!count || word < finder->addresses[0] || word > finder->addresses[count - 1])
		return;
	size_t low = lower_bound_u64(finder->addresses, count, word);
	if (low == count || finder->addresses[low] != word)
		return;
	struct handle_owner *owner = &finder->owners[finder->indexes[low]];
	if (owner->thread == UINT32_MAX || (owner->thread == thread && record > owner->record))
		*owner = (struct handle_owner){ .thread = thread, .record = (uint8_t)record };
}

static void try_exceptions(struct owner_finder *finder, uint64_t thread_address, uint32_t thread)
{
	struct in_flight flight;
	uint64_t handle;
	unsigned int count = 0;
	for (in_flight_begin(&flight, finder->runtime, thread_address);
	     flight.at && count < THROWN_MAX; in_flight_next(&flight), count++) {
		if (!in_flight_handle(&flight, &handle))
			return;
		try_word(finder, handle, thread, RECORD_EXCEPTION);
	}
}

static void try_threads(struct owner_finder *finder)
{
	const struct runtime *runtime = finder->runtime;
	size_t thrown = runtime_thrown_word(runtime);
	uint64_t words[THREAD_WORDS_MAX];
	for (size_t i = 0; i < runtime_thread_count(runtime); i++) {
		const struct runtime_thread *thread = runtime_thread_at(runtime, i);
		size_t count = runtime_thread_words(runtime, thread, words);
		for (size_t at = 0; at < count; at++) {
			try_word(finder, words[at], (uint32_t)i,
				 at == thrown ? RECORD_LAST_THROWN : RECORD_THREAD);
		}
		try_exceptions(finder, thread->address, (uint32_t)i);
	}
}

/* False when memory is exhausted. */
static bool sort_strong(struct owner_finder *finder, const struct handle_list *handles)
{
	uint32_t count = 0;
	size_t capacity = handles->rows_count ? handles->rows_count : 1;
	HD_FREE uint32_t *order = mem_alloc(capacity, sizeof(*order));
	HD_FREE uint32_t *strong = mem_alloc(capacity, sizeof(*strong));
	finder->addresses = mem_alloc(capacity, sizeof(*finder->addresses));
	finder->indexes = mem_alloc(capacity, sizeof(*finder->indexes));
	bool good = order && strong && finder->addresses && finder->indexes;
	for (size_t i = 0; good && i < handles->rows_count; i++) {
		if (!handle_keeps_alive(&handles->rows[i]))
			continue;
		finder->addresses[count] = handles->rows[i].address;
		strong[count++] = (uint32_t)i;
	}
	good = good && sort_keys(finder->addresses, order, count);
	for (uint32_t i = 0; good && i < count; i++)
		finder->indexes[i] = strong[order[i]];
	finder->count = count;
	return good;
}

/*
 * Find the strong handles that the runtime's own records hold: words of its Threads (the managed
 * Thread object, the exception last thrown, ...), and exceptions in flight (ExInfo).
 *
 * @param[out] ret The owner of each handle; to be given to pages_free().
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
static enum hd_status runtime_handles_find(const struct runtime *runtime,
					   const struct handle_list *handles,
					   struct handle_owner **ret, struct hd_error *err)
{
	struct owner_finder finder = { .runtime = runtime };
	finder.owners = pages_alloc(handles->rows_count, sizeof(*finder.owners));
	bool good = finder.owners != NULL;
	if (good) {
		memset(finder.owners, 0xff, handles->rows_count * sizeof(*finder.owners));
		good = sort_strong(&finder, handles);
	}
	if (good)
		try_threads(&finder);
	mem_free(finder.addresses);
	mem_free(finder.indexes);
	if (!good) {
		pages_free(finder.owners, handles->rows_count, sizeof(*finder.owners));
		return fail_nomem(err);
	}
	*ret = finder.owners;
	return HD_OK;
}

struct root_collector {
	struct root_set *set;
	struct heap *heap;
	struct runtime *runtime;
	struct job *job;
	struct hd_error *err;
	uint64_t bad, bad_value; /* number of precise roots that are not in the heap; the first
				  * one */
	uint64_t misplaced;      /* slots of statics that are in none of the arrays for them */
	uint64_t added;
};

static bool is_in_heap(const struct root_collector *collector, uint64_t value)
{
	return heap_segment_at(collector->heap, value) != NULL;
}

/* Interior pointers may lead to native memory or the stack, conservative ones anywhere. */
static enum hd_status root_set_add(struct root_collector *collector, struct root root)
{
	struct root_set *set = collector->set;
	if (++collector->added % JOB_STRIDE == 0 && !job_step(collector->job, 0, 0))
		return fail_cancelled(collector->err);
	if (!root.value)
		return HD_OK;
	if (!is_in_heap(collector, root.value)) {
		if (!root.is_interior && !root.is_conservative && !collector->bad++)
			collector->bad_value = root.value;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(set, rows), collector->err);
	set->rows[set->rows_count++] = root;
	return HD_OK;
}

static enum hd_status add_stack_roots(struct root_collector *collector, uint32_t index)
{
	const struct thread_stack *stack = &collector->set->stacks[index];
	uint32_t thread = (uint32_t)runtime_thread_index(collector->runtime, stack->thread);
	for (size_t i = 0; i < stack->roots_count; i++) {
		const struct stack_root *from = &stack->roots[i];
		struct root root = {
			.value = from->value,
			.index = (uint32_t)i,
			.stack = index,
			.source = from->kind == STACK_ROOT_EXCEPTION ? ROOT_EXCEPTION : ROOT_STACK,
			.is_pinned = from->flags & STACK_ROOT_PINNED,
			.is_interior = from->flags & STACK_ROOT_INTERIOR,
			.is_conservative = from->flags & STACK_ROOT_CONSERVATIVE,
			.thread = thread,
		};
		TRY(root_set_add(collector, root));
	}
	return HD_OK;
}

/*
 * Find the threads whose stacks are walked, by index; each thread of the process once.  False:
 * memory is exhausted.
 */
static bool choose_threads(const struct runtime *runtime, uint32_t **ret, uint32_t *ret_count,
			   uint32_t *ret_repeated)
{
	size_t capacity = runtime_thread_count(runtime) ? runtime_thread_count(runtime) : 1;
	HD_FREE uint64_t *ids = mem_alloc(capacity, sizeof(*ids));
	HD_FREE uint32_t *order = mem_alloc(capacity, sizeof(*order));
	uint32_t *chosen = mem_alloc(capacity, sizeof(*chosen));
	HD_FREE uint8_t *is_again = mem_calloc(capacity, 1);
	uint32_t count = (uint32_t)runtime_thread_count(runtime), kept = 0;
	bool good = ids && order && chosen && is_again;
	for (uint32_t i = 0; good && i < count; i++) {
		ids[i] = thread_has_stack(runtime_thread_at(runtime, i))
				 ? runtime_thread_at(runtime, i)->os_id
				 : 0;
	}
	good = good && sort_keys(ids, order, count);
	for (uint32_t i = 0; good && i < count; i++) {
		bool is_repeated = ids[i] && i && ids[i] == ids[i - 1];
		is_again[order[i]] = !ids[i] || is_repeated;
		*ret_repeated += is_repeated;
	}
	for (uint32_t i = 0; good && i < count; i++) {
		if (!is_again[i])
			chosen[kept++] = i;
	}
	if (!good)
		mem_free(chosen);
	*ret = good ? chosen : NULL;
	*ret_count = kept;
	return good;
}

static enum hd_status walk_threads(struct root_collector *collector, struct stack_walker *walker,
				   const uint32_t *threads, uint32_t count)
{
	struct root_set *set = collector->set;
	const struct stack_options options = { .conservative = set->is_conservative };
	for (uint32_t i = 0; i < count; i++) {
		const struct runtime_thread *thread =
			runtime_thread_at(collector->runtime, threads[i]);
		struct thread_stack *stack = &set->stacks[i];
		TRY(stack_walk(walker, thread, &options, collector->job, stack, collector->err));
		stack->thread = thread;
		set->stack_count = i + 1;
		TRY(add_stack_roots(collector, i));
		TRY(job_check(collector->job, 1, collector->err));
	}
	return HD_OK;
}

static enum hd_status add_stacks(struct root_collector *collector)
{
	struct root_set *set = collector->set;
	struct stack_walker *walker = NULL;
	uint32_t *threads = NULL, count = 0, repeated = 0;
	TRY_MEMORY(choose_threads(collector->runtime, &threads, &count, &repeated), collector->err);
	if (repeated) {
		findings_add(runtime_findings(collector->runtime), FINDING_THREAD_LIST, NULL,
			     "%" PRIu32 " managed thread%s the OS id of another: %s stacks are not "
			     "known",
			     repeated, repeated == 1 ? " has" : "s have",
			     repeated == 1 ? "its" : "their");
	}
	set->stacks = pages_alloc(count, sizeof(*set->stacks));
	set->stack_capacity = count;
	enum hd_status status = set->stacks
					? stack_walker_create(collector->runtime, collector->heap,
							      &walker, collector->err)
					: fail_nomem(collector->err);
	if (status == HD_OK) {
		job_begin(collector->job, "Walking stacks", count);
		status = walk_threads(collector, walker, threads, count);
		job_end(collector->job);
		stack_walker_destroy(walker);
	}
	mem_free(threads);
	return status;
}

static bool is_weak(const struct handle *handle)
{
	return handle->type != HANDLE_DEPENDENT && !handle_keeps_alive(handle);
}

static enum hd_status add_edge(struct root_collector *collector, const struct handle *handle)
{
	struct root_set *set = collector->set;
	if (!handle->object || !handle->secondary)
		return HD_OK;
	if (!is_in_heap(collector, handle->object) || !is_in_heap(collector, handle->secondary)) {
		if (!collector->bad++)
			collector->bad_value = handle->secondary;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(set, edges), collector->err);
	set->edges[set->edges_count++] =
		(struct root_edge){ .from = handle->object, .to = handle->secondary };
	return HD_OK;
}

ORDER_BY2(compare_edges, struct root_edge, from, to)

static enum hd_status add_handles(struct root_collector *collector,
				  const struct handle_owner *owners)
{
	struct root_set *set = collector->set;
	for (size_t i = 0; i < set->handles.rows_count; i++) {
		const struct handle *handle = &set->handles.rows[i];
		if (handle->type == HANDLE_DEPENDENT) {
			TRY(add_edge(collector, handle));
			continue;
		}
		struct root root = {
			.value = handle->object,
			.index = (uint32_t)i,
			.source = owners[i].thread == UINT32_MAX ? ROOT_HANDLE : ROOT_RUNTIME,
			.is_weak = is_weak(handle),
			.is_pinned = handle->type == HANDLE_PINNED ||
				     handle->type == HANDLE_ASYNC_PINNED,
			.record = owners[i].record,
			.thread = owners[i].thread,
		};
		TRY(root_set_add(collector, root));
	}
	if (set->edges_count)
		qsort(set->edges, set->edges_count, sizeof(*set->edges), compare_edges);
	return HD_OK;
}

/*
 * The arrays with the statics of types that are not collectible are pinned; those of threads may
 * move.
 */
static bool is_in_holder(const struct root_collector *collector, const struct static_slot *slot)
{
	const struct segment *segment = heap_segment_at(collector->heap, slot->address);
	return slot->thread != UINT32_MAX || (segment && segment->generation == GENERATION_POH);
}

/*
 * Statics of collectible types are not roots: they are edges that begin at their LoaderAllocator.
 */
static enum hd_status add_static_roots(struct root_collector *collector)
{
	struct root_set *set = collector->set;
	for (size_t i = 0; i < set->statics.rows_count; i++) {
		const struct static_slot *slot = &set->statics.rows[i];
		uint64_t value;
		if (slot->type->is_collectible)
			continue;
		if (!is_in_holder(collector, slot)) {
			collector->misplaced++;
			continue;
		}
		TRY_MEMORY(PAGES_RESERVE(set, claimed), collector->err);
		set->claimed[set->claimed_count++] = slot->address;
		if (!memory_u64(collector->heap->memory, slot->address, &value))
			continue;
		struct root root = {
			.value = value,
			.index = (uint32_t)i,
			.source = ROOT_STATIC,
			.thread = slot->thread,
		};
		TRY(root_set_add(collector, root));
	}
	return HD_OK;
}

/* The arrays of the thread with that index. */
static enum hd_status add_thread_arrays_of(struct root_collector *collector, uint32_t thread)
{
	struct runtime *runtime = collector->runtime;
	struct thread_local_data data;
	for (uint32_t i = 0;
	     thread_local_data_read(runtime, runtime_thread_at(runtime, thread), i, &data); i++) {
		struct root root = {
			.value = data.object,
			.index = i,
			.source = ROOT_THREAD_LOCALS,
			.thread = thread,
		};
		TRY(root_set_add(collector, root));
	}
	return HD_OK;
}

static enum hd_status add_thread_arrays(struct root_collector *collector)
{
	size_t count = runtime_thread_count(collector->runtime);
	for (size_t i = 0; i < count; i++)
		TRY(add_thread_arrays_of(collector, (uint32_t)i));
	return HD_OK;
}

static enum hd_status add_finalizers(struct root_collector *collector)
{
	const struct finalizer_list *list = &collector->set->finalizers;
	for (size_t i = 0; i < list->rows_count; i++) {
		struct root root = {
			.value = list->rows[i].object,
			.index = (uint32_t)i,
			.source = ROOT_FINALIZER,
			.thread = UINT32_MAX,
		};
		if (list->rows[i].part >= FINALIZER_CRITICAL)
			TRY(root_set_add(collector, root));
	}
	return HD_OK;
}

static enum hd_status collect_roots(struct root_collector *collector)
{
	struct root_set *set = collector->set;
	struct handle_owner *owners = NULL;
	TRY(handle_list_read(collector->heap, collector->job, &set->handles, collector->err));
	TRY(finalizer_list_read(collector->heap, &set->finalizers, collector->err));
	TRY(static_slots_read(collector->runtime, collector->job, &set->statics, collector->err));
	TRY(add_stacks(collector));
	TRY(runtime_handles_find(collector->runtime, &set->handles, &owners, collector->err));
	enum hd_status status = add_handles(collector, owners);
	pages_free(owners, set->handles.rows_count, sizeof(*owners));
	TRY(status);
	TRY(add_static_roots(collector));
	TRY(add_thread_arrays(collector));
	return add_finalizers(collector);
}

enum hd_status root_set_create(struct heap *heap, bool conservative, struct job *job,
			       struct root_set **ret, struct hd_error *err)
{
	struct root_set *set = mem_calloc(1, sizeof(*set));
	TRY_MEMORY(set, err);
	set->heap = heap;
	set->is_conservative = conservative;
	struct root_collector collector = {
		.set = set, .heap = heap, .runtime = heap->runtime, .job = job, .err = err
	};
	enum hd_status status = collect_roots(&collector);
	if (status != HD_OK) {
		root_set_destroy(set);
		return status;
	}
	report_stack_gaps(set);
	if (collector.misplaced) {
		findings_add(heap_findings(heap), FINDING_STATICS, NULL,
			     "%" PRIu64
			     " static fields seem to be where no static field can be: left out",
			     collector.misplaced);
	}
	if (collector.bad) {
		findings_add_counted(heap_findings(heap), FINDING_BAD_ROOT, collector.bad, NULL,
				     "%" PRIu64
				     " roots do not point into the heap and were left out (the "
				     "first one to 0x%" PRIx64 ")",
				     collector.bad, collector.bad_value);
	}
	*ret = set;
	return HD_OK;
}

void root_set_destroy(struct root_set *roots)
{
	if (!roots)
		return;
	for (size_t i = 0; i < roots->stack_count; i++)
		thread_stack_deinit(&roots->stacks[i]);
	pages_free(roots->stacks, roots->stack_capacity, sizeof(*roots->stacks));
	pages_free(roots->rows, roots->rows_capacity, sizeof(*roots->rows));
	pages_free(roots->edges, roots->edges_capacity, sizeof(*roots->edges));
	pages_free(roots->claimed, roots->claimed_capacity, sizeof(*roots->claimed));
	handle_list_deinit(&roots->handles);
	finalizer_list_deinit(&roots->finalizers);
	static_slots_deinit(&roots->statics);
	mem_free(roots);
}
