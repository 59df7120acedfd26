/* SPDX-License-Identifier: MIT */
/* Is there anybody who may release a semaphore, use a channel or complete a task that many wait for? */
#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/pool/pool_state.h"
#include "analysis/pool/timers.h"
#include "gc/references.h"
#include "hangs/wait_handlers.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_things.h"
#include "runtime/coreclr/code/code_names.h"
#include "runtime/coreclr/types/type_name.h"
#include "runtime/statics.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Objects from a node to the thing; and those of a timer or a work item, over a delegate. */
#define NODE_LEVELS 3u
#define ITEM_LEVELS 4u
/* Objects that are looked at for one reference, the nearest first; larger ones are not followed. */
#define STEPS_MAX  256u
#define OBJECT_MAX 1024u
/* Objects whose things are remembered: the frames of a deep recursion refer to the same again and again. */
#define SEEN_MAX 4096u
/* Methods and classes that are remembered. */
#define CLUES_MAX 256u

/* A method that waits for things, or a class with a static variable that leads to them. */
struct release_clue {
	const struct type *type; /* of a state machine, or of a class */
	uint64_t method;         /* or a MethodDesc */
	uint32_t async_method;   /* or the row of an async method */
	uint64_t things;         /* a bit for each row of things */
};

struct release_clues {
	struct release_clue rows[CLUES_MAX];
	size_t rows_count;
};

/* Things that an object leads to: all, and those from which whoever has it reads. */
struct release_found {
	uint64_t all, read;
};

struct release_step {
	uint64_t address;
	unsigned int levels;
	uint64_t
		hidden; /* the bits of things for which the way is of no use: who can write only does not read */
	bool is_of_reader; /* over an object that reads a channel or a BlockingCollection */
};

struct release_search {
	const struct waits *waits;
	const uint32_t *ends;
	struct wait_things *things;
	struct window window;
	struct release_clues machines, methods, classes;
	struct release_clues
		asked; /* of the code that was read: the things of the classes that it uses */
	struct release_step steps[STEPS_MAX];
	struct {
		uint64_t address;
		struct release_found things;
	} seen[SEEN_MAX];    /* by address: what things_from() found over NODE_LEVELS */
	uint64_t of_statics; /* the bits of things that static variables lead to */
	uint64_t semaphores; /* the bits of things that are semaphores */
	uint64_t full,
		empty; /* the bits of channels and collections that are to be read, or to be written or completed */
	uint64_t found; /* the bits of those that somebody may release */
	/* By thing: the bits of those that somebody may release who waits for this one. */
	uint64_t found_after[WAIT_THINGS_MAX];
	/* By thing: those from which somebody reads who waits for this one. */
	uint64_t read_after[WAIT_THINGS_MAX];
};

static uint64_t thing_bit(const struct release_search *search, const struct wait_thing *thing)
{
	return thing ? UINT64_C(1) << (thing - search->things->rows) : 0;
}

/* The bits of things at an address: a channel may be full for some and empty for others. */
static uint64_t things_at(const struct release_search *search, uint64_t address)
{
	const struct wait_things *things = search->things;
	uint64_t bits = 0;
	size_t row = ROWS_FROM(things->rows, things->rows_count, address, address);
	for (; row < things->rows_count && things->rows[row].address == address; row++)
		bits |= UINT64_C(1) << row;
	return bits;
}

/* The thing that the node waits for in the end, or NULL. */
static const struct wait_thing *waits_for(const struct release_search *search, uint32_t node)
{
	return wait_thing_of(search->waits, search->things, search->ends[node]);
}

/* The node may release these, when it goes on; what waits in a deadlock does not. */
static void note_found(struct release_search *search, uint32_t node, struct release_found found)
{
	const struct wait_thing *thing = waits_for(search, node);
	if (thing) {
		search->found_after[thing - search->things->rows] |= found.all;
		search->read_after[thing - search->things->rows] |= found.read;
	} else if (search->ends[node] != WAIT_IN_CYCLE) {
		search->found |= found.all;
	}
}

/* Who waits for a thing that may be released goes on, and may release others then. */
static void spread_found(struct release_search *search)
{
	for (size_t i = 0; i < search->things->rows_count; i++) {
		if (search->things->rows[i].may_change)
			search->found |= UINT64_C(1) << i;
	}
	for (uint64_t last = 0; last != search->found;) {
		last = search->found;
		for (size_t i = 0; i < search->things->rows_count; i++) {
			if (last >> i & 1)
				search->found |= search->found_after[i];
		}
	}
}

static void note_clue(struct release_search *search, struct release_clues *clues,
		      struct release_clue clue)
{
	for (size_t i = 0; i < clues->rows_count; i++) {
		if (clues->rows[i].type == clue.type && clues->rows[i].method == clue.method &&
		    clues->rows[i].async_method == clue.async_method) {
			clues->rows[i].things |= clue.things;
			return;
		}
	}
	if (clues->rows_count == CLUES_MAX) {
		search->found |= clue.things; /* not all that must be asked can be */
	} else {
		clues->rows[clues->rows_count++] = clue;
	}
}

/* The things that an object is, or completes: the task of a TaskCompletionSource.  Who has a task cannot. */
static uint64_t look_at_object(struct release_search *search, const struct object *object)
{
	if (async_type_is_task(async_graph_type(search->waits->async, object->type)))
		return 0;
	struct member task = fact_of(search->waits->members, object, FACT_COMPLETION_SOURCE_TASK);
	return things_at(search, object->address) |
	       (task.state == MEMBER_READ ? things_at(search, task.bits) : 0);
}

static bool is_followed(const struct release_search *search, const struct object *object)
{
	enum async_type kind = async_graph_type(search->waits->async, object->type);
	return object->type->has_pointers && !object->type->component_size &&
	       object->size <= OBJECT_MAX && !async_type_is_task(kind) &&
	       !async_type_is_method(kind);
}

/* The next step from an object of a kind: who has a reader of a channel does not write to it. */
static struct release_step step_from(const struct release_search *search,
				     const struct release_step *step, enum async_type kind)
{
	struct release_step next = *step;
	next.levels--;
	if (kind == ASYNC_CHANNEL_READER)
		next.hidden |= search->empty;
	if (kind == ASYNC_CHANNEL_WRITER)
		next.hidden |= search->full;
	next.is_of_reader |= kind == ASYNC_CHANNEL_READER || kind == ASYNC_READ_ITERATOR;
	return next;
}

/* The things that are reached from an object over so many others. */
static struct release_found things_from(struct release_search *search, uint64_t address,
					unsigned int levels)
{
	struct release_found found = { 0 };
	size_t count = 1;
	search->steps[0] = (struct release_step){ .address = address, .levels = levels };
	for (size_t i = 0; i < count; i++) {
		const struct release_step *step = &search->steps[i];
		struct object object;
		struct references references;
		struct reference reference;
		if (!member_object(search->waits->members, step->address, &object))
			continue;
		uint64_t things = look_at_object(search, &object) & ~step->hidden;
		found.all |= things;
		found.read |= step->is_of_reader ? things : 0;
		if (!step->levels || !is_followed(search, &object))
			continue;
		struct release_step next = step_from(
			search, step, async_graph_type(search->waits->async, object.type));
		references_begin(&references, &search->window, &object);
		while (count < STEPS_MAX && references_next(&references, &reference)) {
			next.address = reference.value;
			search->steps[count++] = next;
		}
	}
	return found;
}

/* The same for what a node refers to. */
static struct release_found things_of_node(struct release_search *search, uint64_t address)
{
	uint64_t place = address / 8 % SEEN_MAX;
	if (search->seen[place].address != address) {
		search->seen[place].things = things_from(search, address, NODE_LEVELS);
		search->seen[place].address = address;
	}
	return search->seen[place].things;
}

/* Remember the methods that wait for things, and for async ones their callers. */
static void note_waiting_methods(struct release_search *search)
{
	const struct waits *waits = search->waits;
	const struct async_node *methods = waits->async->rows;
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct wait_thing *thing = wait_thing_of(waits, search->things, i);
		if (thing && wait_method(&waits->rows[i])) {
			note_clue(search, &search->methods,
				  (struct release_clue){ .method = wait_method(&waits->rows[i]),
							 .things = thing_bit(search, thing) });
		}
	}
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		const struct wait_thing *thing = waits_for(search, (uint32_t)(waits->count + i));
		/* In a quiet program, all further calls wait, too; who completes the one that is shared refers to it. */
		bool is_shared = thing && thing->calls &&
				 (thing->kind == AWAIT_SOURCE || thing->kind == AWAIT_COMPLETION) &&
				 thing->threads + thing->methods < WAIT_THING_MIN;
		uint64_t bits = is_shared ? 0 : thing_bit(search, thing);
		const char *name = async_node_code(waits->async, &methods[i]);
		bool is_near = methods[i].depth <= 3;
		if (bits && is_near &&
		    !framework_owns(search->waits->heap->runtime, name, strlen(name))) {
			note_clue(search, &search->machines,
				  (struct release_clue){ .async_method = methods[i].method,
							 .things = bits });
		}
	}
}

/* Is a name ("Shop.Mailer+<Send>d__5", "Shop.Mailer.Send") that of something in the class? */
static bool is_inside(const char *name, const char *class_name, size_t size)
{
	return strncmp(name, class_name, size) == 0 && (name[size] == '+' || name[size] == '.');
}

static uint64_t things_of_class(const void *arg, const char *name)
{
	const struct release_search *search = arg;
	uint64_t found = 0;
	for (size_t i = 0; i < search->classes.rows_count; i++) {
		const struct release_clue *clue = &search->classes.rows[i];
		size_t size;
		const char *class_name = type_name(search->waits->heap->runtime, clue->type, &size);
		if (is_inside(name, class_name, size))
			found |= clue->things;
	}
	return found;
}

/*
 * The things that are reached over static variables of classes which a state machine, or a method, uses.
 * Each is read once.
 */
static uint64_t things_used_by(struct release_search *search, const struct type *machine,
			       uint64_t method_desc)
{
	struct release_clues *asked = &search->asked;
	struct heap *heap = search->waits->heap;
	const struct code_search code = { things_of_class, search };
	if (!search->classes.rows_count)
		return 0;
	for (size_t i = 0; i < asked->rows_count; i++) {
		if (asked->rows[i].type == machine && asked->rows[i].method == method_desc)
			return asked->rows[i].things;
	}
	if (asked->rows_count == CLUES_MAX)
		return UINT64_MAX;
	struct release_clue *clue = &asked->rows[asked->rows_count++];
	*clue = (struct release_clue){ .type = machine, .method = method_desc };
	clue->things = search->of_statics &
		       (machine ? code_names_of_machine(heap->runtime, machine, &code)
				: code_names_of_method(heap->runtime, method_desc, &code));
	return clue->things;
}

/* A signal, or the end of the process, calls it. */
static void look_at_handler(void *arg, uint64_t delegate, uint64_t method_desc)
{
	struct release_search *search = arg;
	char name[WAIT_NAME_SIZE];
	search->found |= things_from(search, delegate, ITEM_LEVELS).all |
			 things_used_by(search, NULL, method_desc);
	if (runtime_method_name(search->waits->heap->runtime, method_desc, name, sizeof(name),
				NULL))
		search->found |= things_of_class(search, name);
}

static enum hd_status note_static_classes(struct release_search *search, struct job *job,
					  struct hd_error *err)
{
	const struct heap *heap = search->waits->heap;
	HD_CLEANUP(static_slots) struct static_slots slots = { 0 };
	TRY(static_slots_read(heap->runtime, job, &slots, err));
	for (size_t i = 0; i < slots.rows_count; i++) {
		uint64_t value = 0;
		if (!memory_u64(heap->memory, slots.rows[i].address, &value) || !value)
			continue;
		uint64_t bits = things_from(search, value, 1).all;
		search->of_statics |= bits;
		if (bits) {
			note_clue(search, &search->classes,
				  (struct release_clue){ .type = slots.rows[i].type,
							 .things = bits });
		}
	}
	wait_handlers_visit(search->waits, &slots, look_at_handler, search);
	return HD_OK;
}

static bool sleeps_without_end(const struct release_search *search, uint32_t node)
{
	const struct async_node *method = wait_node_method(search->waits, search->ends[node]);
	return method && wait_delays_without_end(search->waits, method);
}

static struct release_found look_at_fields_of_method(struct release_search *search,
						     const struct async_node *method)
{
	const struct waits *waits = search->waits;
	HD_CLEANUP(window) struct window window = { .memory = waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	struct release_found found = { 0 };
	uint64_t self = async_node_this(waits->async, method);
	if (!member_object(waits->members, method->holder, &object))
		return found;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot < method->fields)
			continue;
		struct release_found things = things_of_node(search, reference.value);
		/* All methods of a class have its semaphores; who has not begun to wait has none. */
		if (reference.slot == self && !async_node_has_passed(method))
			things.all &= ~search->semaphores;
		found.all |= things.all;
		found.read |= things.read;
	}
	return found;
}

static void look_at_method(struct release_search *search, const struct async_node *method,
			   uint32_t node)
{
	const struct async_method_key *key =
		&search->waits->async->methods.rows[method->method].key;
	const char *name = async_node_code(search->waits->async, method);
	/* Whoever asks an async iterator for its next element refers to it; it does nothing before. */
	if (method->wait == AWAIT_YIELD || sleeps_without_end(search, node))
		return;
	struct release_found found = look_at_fields_of_method(search, method);
	for (size_t i = 0; i < search->machines.rows_count && async_node_has_passed(method); i++) {
		if (search->machines.rows[i].async_method == method->method)
			found.all |= search->machines.rows[i].things;
	}
	if (!framework_owns(search->waits->heap->runtime, name, strlen(name))) {
		found.all |= things_of_class(search, name) |
			     things_used_by(search, key->machine, key->method_desc);
	}
	note_found(search, node, found);
}

static uint64_t things_of_frame(struct release_search *search, const struct stack_frame *frame)
{
	char name[WAIT_NAME_SIZE];
	uint64_t found = 0;
	if (frame->kind != STACK_MANAGED || frame->is_dead || !frame->method_desc)
		return 0;
	for (size_t i = 0; i < search->methods.rows_count; i++) {
		if (search->methods.rows[i].method == frame->method_desc)
			found |= search->methods.rows[i].things;
	}
	if (search->classes.rows_count &&
	    runtime_method_name(search->waits->heap->runtime, frame->method_desc, name,
				sizeof(name), NULL) &&
	    !framework_owns(search->waits->heap->runtime, name, strlen(name))) {
		found |= things_of_class(search, name) |
			 things_used_by(search, NULL, frame->method_desc);
	}
	return found;
}

static void look_at_thread(struct release_search *search, uint32_t row)
{
	const struct thread_wait *wait = &search->waits->rows[row];
	struct release_found found = { 0 };
	if (wait->kind == WAIT_IDLE || wait_sleeps_without_end(search->waits, wait))
		return;
	for (size_t i = 0; i < wait->stack.frames_count; i++)
		found.all |= things_of_frame(search, &wait->stack.frames[i]);
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		if (wait->stack.roots[i].flags & STACK_ROOT_INTERIOR)
			continue;
		struct release_found things = things_of_node(search, wait->stack.roots[i].value);
		found.all |= things.all;
		found.read |= things.read;
	}
	/* A stack that could not be walked to its end may hold anything. */
	if (wait->stack.is_partial || wait->stack.is_missing)
		found.all = UINT64_MAX;
	note_found(search, row, found);
}

static enum hd_status look_at_timers(struct release_search *search, struct job *job,
				     struct hd_error *err)
{
	const struct waits *waits = search->waits;
	HD_CLEANUP(set_timers) struct set_timers timers = { 0 };
	enum hd_status status = set_timers_read(waits->heap, waits->members, job, &timers, err);
	for (size_t i = 0; status == HD_OK && i < timers.rows_count; i++)
		search->found |= things_from(search, timers.rows[i].address, ITEM_LEVELS).all;
	return status;
}

static enum hd_status look_at_work(struct release_search *search, struct job *job,
				   struct hd_error *err)
{
	const struct queue_reader reader = { search->waits->heap, search->waits->members, job };
	HD_CLEANUP(pool_queues) struct pool_queues queues = { 0 };
	TRY(pool_queues_read(&reader, &queues, err));
	for (unsigned int i = 0; i < POOL_QUEUES; i++) {
		for (size_t k = 0; k < queues.queues[i].rows_count; k++) {
			search->found |=
				things_from(search, queues.queues[i].rows[k], ITEM_LEVELS).all;
		}
	}
	return HD_OK;
}

static enum hd_status look_at_all(struct release_search *search, struct job *job,
				  struct hd_error *err)
{
	const struct waits *waits = search->waits;
	const struct async_graph *graph = waits->async;
	note_waiting_methods(search);
	TRY(note_static_classes(search, job, err));
	TRY(look_at_timers(search, job, err));
	TRY(look_at_work(search, job, err));
	for (size_t i = 0; i < waits->count; i++) {
		look_at_thread(search, (uint32_t)i);
		TRY(job_check(job, 0, err));
	}
	for (size_t i = 0; i < graph->rows_count; i++) {
		look_at_method(search, &graph->rows[i], (uint32_t)(waits->count + i));
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
	}
	return graph->failed ? fail_nomem(err) : HD_OK;
}

static bool is_to_be_read(const struct wait_thing *thing)
{
	return thing->kind == AWAIT_WRITE || (thing->kind == AWAIT_COMPLETION && thing->left);
}

static bool is_to_be_written(const struct wait_thing *thing)
{
	return thing->kind == AWAIT_READ || (thing->kind == AWAIT_COMPLETION && !thing->left);
}

enum hd_status wait_releasers_find(const struct waits *waits, const uint32_t *ends, struct job *job,
				   struct wait_things *things, struct hd_error *err)
{
	bool is_open = false;
	for (size_t i = 0; i < things->rows_count; i++)
		is_open |= !things->rows[i].may_change;
	if (!is_open)
		return HD_OK;
	HD_FREE struct release_search *search = mem_calloc(1, sizeof(*search));
	TRY_MEMORY(search, err);
	search->waits = waits;
	search->ends = ends;
	search->things = things;
	search->window.memory = waits->heap->memory;
	for (size_t i = 0; i < things->rows_count; i++) {
		uint64_t bit = UINT64_C(1) << i;
		search->semaphores |= things->rows[i].kind == AWAIT_SEMAPHORE ? bit : 0;
		search->full |= is_to_be_read(&things->rows[i]) ? bit : 0;
		search->empty |= is_to_be_written(&things->rows[i]) ? bit : 0;
	}
	enum hd_status status = look_at_all(search, job, err);
	spread_found(search);
	for (size_t i = 0; i < things->rows_count; i++)
		things->rows[i].may_change |= search->found >> i & 1;
	wait_stages_find(things, search->read_after);
	window_deinit(&search->window);
	return status;
}
