/* SPDX-License-Identifier: MIT */
/* Converts the roots of a heap to those of the graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/thread_name.h"
#include "inspect/value.h"
#include "snapshot/snapshot_parts.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/sort.h"

/* Roots that are put into a graph. */
struct rooting {
	struct hd_graph *graph;
	const struct places *places;
	const struct root_set *set;
	struct runtime *runtime;
	struct job *job;
	struct hd_error *err;
	uint32_t *nodes;     /* node of each root of the set; HD_NONE: it is left out */
	uint32_t *threads;   /* the graph's number of each thread of the runtime, or HD_NONE */
	uint32_t *frames;    /* the graph's number of each frame in all stacks, or HD_NONE */
	size_t *first_frame; /* where each stack begins in frames; then the end */
	uint32_t *seen;      /* hash table of the graph's roots: index + 1 */
	size_t seen_size;    /* a power of two */
	struct name_table methods, statics, slots;
	uint64_t lost, lost_value; /* number of values that are not an object, and the first one */
};

static const uint8_t handle_kinds[HANDLE_TYPES] = {
	[HANDLE_WEAK_SHORT] = GRAPH_HANDLE_WEAK_SHORT,
	[HANDLE_WEAK_LONG] = GRAPH_HANDLE_WEAK_LONG,
	[HANDLE_STRONG] = GRAPH_HANDLE_STRONG,
	[HANDLE_PINNED] = GRAPH_HANDLE_PINNED,
	[HANDLE_VARIABLE] = GRAPH_HANDLE_VARIABLE,
	[HANDLE_REF_COUNTED] = GRAPH_HANDLE_REF_COUNTED,
	[HANDLE_DEPENDENT] = GRAPH_HANDLE_DEPENDENT,
	[HANDLE_ASYNC_PINNED] = GRAPH_HANDLE_ASYNC_PINNED,
	[HANDLE_SIZED_REF] = GRAPH_HANDLE_SIZED_REF,
	[HANDLE_WEAK_NATIVE_COM] = GRAPH_HANDLE_WEAK_NATIVE_COM,
	[HANDLE_WEAK_INTERIOR] = GRAPH_HANDLE_WEAK_INTERIOR,
	[HANDLE_CROSS_REFERENCE] = GRAPH_HANDLE_CROSS_REFERENCE,
};

static const struct handle *handle_of(const struct rooting *rooting, const struct root *root)
{
	return &rooting->set->handles.rows[root->index];
}

static const struct stack_root *stack_root_of(const struct rooting *rooting,
					      const struct root *root)
{
	return &rooting->set->stacks[root->stack].roots[root->index];
}

static bool is_on_stack(const struct root *root)
{
	return root->source == ROOT_STACK || root->source == ROOT_EXCEPTION;
}

/* Node of the object that contains @p address, or HD_NONE. */
static uint32_t node_around(const struct rooting *rooting, uint64_t address)
{
	const struct starts *starts = rooting->places->starts;
	uint64_t start = starts_at_or_before(starts, address);
	if (!start)
		return HD_NONE;
	uint32_t node = (uint32_t)starts_rank(starts, start);
	uint64_t size = (graph_size(rooting->graph, node) + 7) & ~(uint64_t)7;
	return address - start < size ? node : HD_NONE;
}

static uint32_t node_of(struct rooting *rooting, const struct root *root)
{
	const struct starts *starts = rooting->places->starts;
	/* The graph has dependent handles as edges. */
	if (root->source == ROOT_HANDLE && handle_of(rooting, root)->type == HANDLE_DEPENDENT)
		return HD_NONE;
	if (root->is_interior || root->is_conservative)
		return node_around(rooting, root->value);
	if (starts_has(starts, root->value))
		return (uint32_t)starts_rank(starts, root->value);
	if (!rooting->lost++)
		rooting->lost_value = root->value;
	return HD_NONE;
}

static enum hd_status find_nodes(struct rooting *rooting, size_t *ret_count)
{
	const struct root_set *set = rooting->set;
	size_t count = 0;
	rooting->nodes = pages_alloc(set->rows_count, sizeof(*rooting->nodes));
	TRY_MEMORY(rooting->nodes, rooting->err);
	for (size_t i = 0; i < set->rows_count; i++) {
		rooting->nodes[i] = node_of(rooting, &set->rows[i]);
		count += rooting->nodes[i] != HD_NONE;
		if (i % JOB_STRIDE == 0 && !job_step(rooting->job, 0, 0))
			return fail_cancelled(rooting->err);
	}
	*ret_count = count;
	return HD_OK;
}

static uint32_t *none_array(size_t count)
{
	uint32_t *array = pages_alloc(count, sizeof(*array));
	if (array && count)
		memset(array, 0xff, count * sizeof(*array));
	return array;
}

static enum hd_status allocate_maps(struct rooting *rooting)
{
	const struct root_set *set = rooting->set;
	rooting->threads = none_array(runtime_thread_count(rooting->runtime));
	rooting->first_frame = mem_calloc(set->stack_count + 1, sizeof(*rooting->first_frame));
	TRY_MEMORY(rooting->threads && rooting->first_frame, rooting->err);
	for (size_t i = 0; i < set->stack_count; i++) {
		rooting->first_frame[i + 1] = rooting->first_frame[i] + set->stacks[i].frames_count;
	}
	rooting->frames = none_array(rooting->first_frame[set->stack_count]);
	return rooting->frames ? HD_OK : fail_nomem(rooting->err);
}

static void number_thread(struct rooting *rooting, uint32_t thread)
{
	if (thread < runtime_thread_count(rooting->runtime) && rooting->threads[thread] == HD_NONE)
		rooting->threads[thread] = (uint32_t)rooting->graph->origins.thread_count++;
}

/* Index of the thread of a stack, or HD_NONE. */
static uint32_t thread_of(const struct rooting *rooting, const struct thread_stack *stack)
{
	return stack->thread ? (uint32_t)runtime_thread_index(rooting->runtime, stack->thread)
			     : HD_NONE;
}

/* Frame that a stack's root is in, as an index in frames, or SIZE_MAX. */
static size_t frame_of_root(const struct rooting *rooting, const struct root *root)
{
	if (!is_on_stack(root))
		return SIZE_MAX;
	uint32_t frame = stack_root_of(rooting, root)->frame;
	return frame < rooting->set->stacks[root->stack].frames_count
		       ? rooting->first_frame[root->stack] + frame
		       : SIZE_MAX;
}

/* Number the threads and frames that have roots. */
static void number_all(struct rooting *rooting)
{
	const struct root_set *set = rooting->set;
	for (size_t i = 0; i < set->rows_count; i++) {
		const struct root *root = &set->rows[i];
		if (rooting->nodes[i] == HD_NONE)
			continue;
		number_thread(rooting, root->thread);
		size_t frame = frame_of_root(rooting, root);
		if (frame == SIZE_MAX || rooting->frames[frame] != HD_NONE)
			continue;
		rooting->frames[frame] = (uint32_t)rooting->graph->origins.frame_count++;
		number_thread(rooting, thread_of(rooting, &set->stacks[root->stack]));
	}
}

static enum hd_status make_threads(struct rooting *rooting)
{
	struct hd_graph *graph = rooting->graph;
	const struct runtime *runtime = rooting->runtime;
	graph->origins.threads =
		pages_alloc(graph->origins.thread_count, sizeof(*graph->origins.threads));
	TRY_MEMORY(graph->origins.threads, rooting->err);
	for (size_t i = 0; i < runtime_thread_count(runtime); i++) {
		if (rooting->threads[i] == HD_NONE)
			continue;
		struct graph_thread *thread = &graph->origins.threads[rooting->threads[i]];
		struct text name = { 0 };
		thread->os_id = runtime_thread_at(runtime, i)->os_id;
		thread->id = runtime_thread_at(runtime, i)->id;
		(void)thread_name(rooting->places->heap, runtime_thread_at(runtime, i), &name);
		enum hd_status status = name_table_keep_text(graph->origins.arena, &name,
							     &thread->name, rooting->err);
		text_deinit(&name);
		TRY(status);
	}
	return HD_OK;
}

static enum hd_status name_method(struct rooting *rooting, uint64_t method_desc, const char **ret)
{
	const struct name_key key = { .of = method_desc };
	struct name_entry *entry = name_table_find(&rooting->methods, key);
	TRY_MEMORY(entry, rooting->err);
	if (!entry->is_used) {
		struct text text = { 0 };
		runtime_method_signature(rooting->runtime, method_desc, &text);
		enum hd_status status =
			name_table_add(&rooting->methods, entry, &text, rooting->err);
		text_deinit(&text);
		TRY(status);
	}
	*ret = entry->name;
	return HD_OK;
}

static enum hd_status make_frame(struct rooting *rooting, const struct thread_stack *stack,
				 const struct stack_frame *from, struct graph_frame *to)
{
	uint32_t thread = thread_of(rooting, stack);
	to->sp = from->sp;
	to->ip = from->ip;
	to->offset = from->offset & INT32_MAX;
	to->is_active = from->is_active;
	to->thread = thread < runtime_thread_count(rooting->runtime) ? rooting->threads[thread]
								     : HD_NONE;
	to->method = from->name;
	if (from->kind != STACK_MANAGED || !from->method_desc)
		return HD_OK;
	return name_method(rooting, from->method_desc, &to->method);
}

static enum hd_status make_frames(struct rooting *rooting)
{
	struct hd_graph *graph = rooting->graph;
	const struct root_set *set = rooting->set;
	graph->origins.frames =
		pages_alloc(graph->origins.frame_count, sizeof(*graph->origins.frames));
	TRY_MEMORY(graph->origins.frames, rooting->err);
	for (size_t i = 0; i < set->stack_count; i++) {
		const struct thread_stack *stack = &set->stacks[i];
		const uint32_t *numbers = rooting->frames + rooting->first_frame[i];
		for (size_t k = 0; k < stack->frames_count; k++) {
			if (numbers[k] == HD_NONE)
				continue;
			TRY(make_frame(rooting, stack, &stack->frames[k],
				       &graph->origins.frames[numbers[k]]));
		}
	}
	return HD_OK;
}

/* The graph's type of that MethodTable, or HD_NONE. */
static uint32_t find_graph_type(const struct hd_graph *graph, uint64_t method_table)
{
	uint32_t low = (uint32_t)ROWS_FROM(graph->types, graph->type_count, id, method_table);
	return low < graph->type_count && graph->types[low].id == method_table ? low : HD_NONE;
}

/* Statics of one type and token have one name, in all threads. */
static enum hd_status name_static(struct rooting *rooting, const struct static_slot *slot,
				  const char **ret)
{
	const struct name_key key = { .of = slot->type->method_table, .part = slot->token };
	struct name_entry *entry = name_table_find(&rooting->statics, key);
	TRY_MEMORY(entry, rooting->err);
	if (!entry->is_used) {
		struct text text = { 0 };
		static_slot_name(rooting->runtime, slot, &text);
		enum hd_status status =
			name_table_add(&rooting->statics, entry, &text, rooting->err);
		text_deinit(&text);
		TRY(status);
	}
	*ret = entry->name;
	return HD_OK;
}

static enum hd_status slot_text(struct rooting *rooting, const struct stack_root *root,
				const char **ret)
{
	const struct name_key key = { .of = (uint64_t)root->base << 1 | root->is_register,
				      .part = (uint32_t)root->offset };
	struct name_entry *entry = name_table_find(&rooting->slots, key);
	TRY_MEMORY(entry, rooting->err);
	if (!entry->is_used) {
		char buf[STACK_SLOT_SIZE];
		struct text text = { 0 };
		stack_root_slot(runtime_arch(rooting->places->heap->runtime), root, buf);
		text_puts(&text, buf);
		enum hd_status status = name_table_add(&rooting->slots, entry, &text, rooting->err);
		text_deinit(&text);
		TRY(status);
	}
	*ret = entry->name;
	return HD_OK;
}

/* The name of a root on a stack that is not in a managed frame; NULL: not known. */
static const char *unframed_name(const struct stack_root *root)
{
	switch ((enum stack_root_kind)root->kind) {
	case STACK_ROOT_EXCEPTION:
		return "exception in flight";
	case STACK_ROOT_GC_FRAME:
		return "GC frame of the runtime";
	case STACK_ROOT_FRAME:
		return root->is_beyond ? "beyond the last frame that could be walked" : NULL;
	case STACK_ROOT_ARGUMENT:
		return NULL;
	}
	return NULL;
}

/* Add the details of a root on a stack, or of an exception in flight. */
static enum hd_status make_stack_root(struct rooting *rooting, const struct root *from,
				      struct graph_root *root, struct graph_root_detail *detail)
{
	const struct stack_root *of = stack_root_of(rooting, from);
	size_t frame = frame_of_root(rooting, from);
	root->kind = from->source == ROOT_STACK ? HD_ROOT_STACK : HD_ROOT_INTERNAL;
	detail->name = unframed_name(of);
	detail->address = of->address;
	detail->frame = frame == SIZE_MAX ? HD_NONE : rooting->frames[frame];
	/* Conservative words are not in a frame's slot. */
	return slot_text(rooting, of, &detail->slot);
}

static void make_thread_locals_root(struct rooting *rooting, const struct root *from,
				    struct graph_root *root, struct graph_root_detail *detail)
{
	struct runtime *runtime = rooting->set->heap->runtime;
	struct thread_local_data data;
	root->kind = HD_ROOT_INTERNAL;
	detail->name = "thread statics";
	if (thread_local_data_read(runtime, runtime_thread_at(runtime, from->thread), from->index,
				   &data))
		detail->address = data.slot_at;
}

/* Name what the runtime holds with its own handle. */
static const char *record_name(const struct rooting *rooting, const struct root *root)
{
	const struct runtime *runtime = rooting->runtime;
	struct heap *heap = rooting->places->heap;
	struct object object;
	switch ((enum handle_record)root->record) {
	case RECORD_LAST_THROWN:
		if (!object_read(heap, &rooting->places->links->window, root->value, &object) ||
		    !type_is_exception(heap->runtime, object.type))
			break;
		return "last thrown exception";
	case RECORD_EXCEPTION:
		return "exception in flight";
	case RECORD_THREAD:
		break;
	}
	bool is_exposed =
		root->thread < runtime_thread_count(runtime) &&
		thread_object(heap, runtime_thread_at(runtime, root->thread)) == root->value;
	return is_exposed ? "Thread object" : "in the runtime's Thread";
}

static void make_handle_root(struct rooting *rooting, const struct root *from,
			     struct graph_root *root, struct graph_root_detail *detail)
{
	const struct handle *handle = handle_of(rooting, from);
	root->kind = HD_ROOT_HANDLE;
	detail->address = handle->address;
	detail->handle = handle->type < HANDLE_TYPES ? handle_kinds[handle->type]
						     : (uint8_t)GRAPH_HANDLE_NONE;
	if (from->source == ROOT_HANDLE)
		return;
	root->kind = HD_ROOT_INTERNAL;
	detail->name = record_name(rooting, from);
}

static enum hd_status make_static_root(struct rooting *rooting, const struct root *from,
				       struct graph_root *root, struct graph_root_detail *detail)
{
	const struct static_slot *slot = &rooting->set->statics.rows[from->index];
	root->kind = slot->thread == UINT32_MAX ? HD_ROOT_STATIC : HD_ROOT_THREAD_STATIC;
	root->container = find_graph_type(rooting->graph, slot->type->method_table);
	detail->address = slot->address;
	return name_static(rooting, slot, &detail->name);
}

static uint8_t flags_of(const struct root *root)
{
	unsigned int flags = 0;
	if (root->is_pinned)
		flags |= HD_ROOT_PINNED;
	if (root->is_weak)
		flags |= HD_ROOT_WEAK;
	if (root->is_interior)
		flags |= HD_ROOT_INTERIOR;
	if (root->is_conservative)
		flags |= HD_ROOT_CONSERVATIVE;
	return (uint8_t)flags;
}

static enum hd_status make_root(struct rooting *rooting, const struct root *from,
				struct graph_root *root, struct graph_root_detail *detail)
{
	root->flags = flags_of(from);
	if (from->thread < runtime_thread_count(rooting->runtime))
		detail->thread = rooting->threads[from->thread];
	switch ((enum root_source)from->source) {
	case ROOT_STACK:
	case ROOT_EXCEPTION:
		return make_stack_root(rooting, from, root, detail);
	case ROOT_HANDLE:
	case ROOT_RUNTIME:
		make_handle_root(rooting, from, root, detail);
		return HD_OK;
	case ROOT_STATIC:
		return make_static_root(rooting, from, root, detail);
	case ROOT_FINALIZER:
		root->kind = HD_ROOT_FINALIZER;
		detail->address = rooting->set->finalizers.rows[from->index].address;
		return HD_OK;
	case ROOT_THREAD_LOCALS:
		make_thread_locals_root(rooting, from, root, detail);
		return HD_OK;
	}
	return HD_OK;
}

/* Do two roots say the same? Registers have no address: theirs is the thread and the slot's text. */
static bool is_same_root(const struct hd_graph *graph, uint32_t a, uint32_t b)
{
	const struct graph_root *left = &graph->roots[a], *right = &graph->roots[b];
	const struct graph_root_detail *x = &graph->origins.details[a],
				       *y = &graph->origins.details[b];
	if (left->node != right->node || left->kind != right->kind || x->address != y->address)
		return false;
	return x->address || (x->thread == y->thread && x->slot == y->slot);
}

/* Mark root number @p index if an earlier one says the same. */
static void note_root(struct rooting *rooting, uint32_t index)
{
	struct graph_root *root = &rooting->graph->roots[index];
	uint64_t hash =
		(rooting->graph->origins.details[index].address + root->node) * 0x9e3779b97f4a7c15u;
	size_t place = (size_t)(hash >> 32) & (rooting->seen_size - 1);
	for (; rooting->seen[place]; place = (place + 1) & (rooting->seen_size - 1)) {
		if (is_same_root(rooting->graph, rooting->seen[place] - 1, index)) {
			root->repeated = true;
			return;
		}
	}
	rooting->seen[place] = index + 1;
}

/* Objects in frozen segments. */
static uint64_t frozen_count(const struct places *places)
{
	const struct heap *heap = places->heap;
	uint64_t count = 0;
	for (size_t i = 0; i < heap->segment_count; i++) {
		if (heap->segments[i].generation == GENERATION_NONGC) {
			count += starts_segment_rank(places->starts, i + 1) -
				 starts_segment_rank(places->starts, i);
		}
	}
	return count;
}

/* They follow all others. */
static void add_frozen(struct hd_graph *graph, const struct places *places, uint32_t root)
{
	const struct heap *heap = places->heap;
	for (size_t i = 0; i < heap->segment_count; i++) {
		if (heap->segments[i].generation != GENERATION_NONGC)
			continue;
		uint32_t node = (uint32_t)starts_segment_rank(places->starts, i);
		uint32_t end = (uint32_t)starts_segment_rank(places->starts, i + 1);
		for (; node < end; node++, root++) {
			graph->roots[root] = (struct graph_root){ .node = node,
								  .container = HD_NONE,
								  .kind = HD_ROOT_GC };
			graph->origins.details[root] =
				(struct graph_root_detail){ .thread = HD_NONE, .frame = HD_NONE };
		}
	}
}

static enum hd_status allocate_roots(struct rooting *rooting, uint64_t count)
{
	struct hd_graph *graph = rooting->graph;
	const uint64_t bytes = count * (sizeof(*graph->roots) + sizeof(*graph->origins.details));
	if (count >= HD_NONE)
		return fail(rooting->err, HD_ERR_UNSUPPORTED, 0, "over 4 billion roots");
	TRY(job_check_memory(rooting->job, bytes, rooting->err));
	graph->root_count = (uint32_t)count;
	graph->roots = pages_alloc(count, sizeof(*graph->roots));
	graph->origins.details = pages_alloc(count, sizeof(*graph->origins.details));
	return graph->roots && graph->origins.details ? HD_OK : fail_nomem(rooting->err);
}

static enum hd_status make_roots(struct rooting *rooting, size_t count)
{
	struct hd_graph *graph = rooting->graph;
	for (rooting->seen_size = 64; rooting->seen_size / 2 < count;)
		rooting->seen_size *= 2;
	rooting->seen = pages_alloc(rooting->seen_size, sizeof(*rooting->seen));
	TRY_MEMORY(rooting->seen, rooting->err);
	uint32_t index = 0;
	for (size_t i = 0; i < rooting->set->rows_count; i++) {
		if (rooting->nodes[i] == HD_NONE)
			continue;
		graph->roots[index] =
			(struct graph_root){ .node = rooting->nodes[i], .container = HD_NONE };
		graph->origins.details[index] =
			(struct graph_root_detail){ .thread = HD_NONE, .frame = HD_NONE };
		TRY(make_root(rooting, &rooting->set->rows[i], &graph->roots[index],
			      &graph->origins.details[index]));
		note_root(rooting, index++);
		if (index % JOB_STRIDE == 0 && !job_step(rooting->job, 0, 0))
			return fail_cancelled(rooting->err);
	}
	return HD_OK;
}

static void report_lost(const struct rooting *rooting)
{
	if (!rooting->lost)
		return;
	findings_add_counted(
		runtime_findings(rooting->runtime), FINDING_ROOT_TO_NO_OBJECT, rooting->lost, NULL,
		"%" PRIu64 " root%s to what is not an object, the first to 0x%" PRIx64 ": left out",
		rooting->lost, rooting->lost == 1 ? "" : "s", rooting->lost_value);
}

/* Make all of them; the caller frees what is allocated on the way. */
static enum hd_status add_snapshot_roots(struct rooting *rooting)
{
	struct hd_graph *graph = rooting->graph;
	const struct places *places = rooting->places;
	size_t count = 0;
	graph->origins.arena = arena_create();
	TRY_MEMORY(graph->origins.arena, rooting->err);
	rooting->methods.arena = rooting->statics.arena = rooting->slots.arena =
		graph->origins.arena;
	TRY(find_nodes(rooting, &count));
	TRY(allocate_roots(rooting, count + frozen_count(places)));
	TRY(allocate_maps(rooting));
	number_all(rooting);
	TRY(make_threads(rooting));
	TRY(make_frames(rooting));
	TRY(make_roots(rooting, count));
	report_lost(rooting);
	add_frozen(graph, places, (uint32_t)count);
	return HD_OK;
}

enum hd_status snapshot_roots(struct hd_graph *graph, struct job *job, struct hd_error *err)
{
	const struct places *places = graph->places.arg;
	const struct root_set *set = places->roots;
	if (!set)
		return HD_OK;
	struct rooting rooting = { .graph = graph,
				   .places = places,
				   .set = set,
				   .runtime = places->heap->runtime,
				   .job = job,
				   .err = err };
	enum hd_status status = add_snapshot_roots(&rooting);
	if (status != HD_OK)
		graph_clear_roots(graph);
	pages_free(rooting.nodes, set->rows_count, sizeof(*rooting.nodes));
	pages_free(rooting.threads, runtime_thread_count(rooting.runtime),
		   sizeof(*rooting.threads));
	if (rooting.first_frame) {
		pages_free(rooting.frames, rooting.first_frame[set->stack_count],
			   sizeof(*rooting.frames));
	}
	pages_free(rooting.seen, rooting.seen_size, sizeof(*rooting.seen));
	mem_free(rooting.first_frame);
	name_table_deinit(&rooting.methods);
	name_table_deinit(&rooting.statics);
	name_table_deinit(&rooting.slots);
	return status;
}
