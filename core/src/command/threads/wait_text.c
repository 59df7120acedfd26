/* SPDX-License-Identifier: MIT */
#include "command/threads/wait_text.h"

#include <inttypes.h>

#include "analysis/async/async_call.h"
#include "analysis/async/async_graph.h"
#include "command/async/async_text.h"
#include "command/threads/wait_state.h"
#include "hangs/wait_callers.h"
#include "inspect/async_name.h"
#include "inspect/thread_name.h"
#include "inspect/value.h"
#include "runtime/coreclr/code/code.h"

/* Members of a cycle that are followed. */
#define CYCLE_STEPS_MAX 64u

void append_thread(struct text *text, struct heap *heap, const struct runtime_thread *thread)
{
	text_printf(text, "thread %" PRIu32, thread->id);
	HD_CLEANUP(text) struct text name = { 0 };
	if (thread_name(heap, thread, &name) && name.size)
		text_printf(text, " (%s)", name.bytes);
}

static void append_object(struct text *text, struct heap *heap, const struct object *object)
{
	size_t size;
	const char *name = type_name(heap->runtime, object->type, &size);
	text_escape(text, name, size);
	text_printf(text, " %" PRIx64, object->address);
}

bool append_async_name(struct text *text, const struct waits *waits, const struct object *object)
{
	return waits->async ? async_graph_call_append(text, waits->async, object)
			    : async_call_append(text, waits->heap, waits->members, object);
}

/* "the async method Shop.Checkout.Place 7fbb..." */
static bool append_async(struct text *text, const struct waits *waits,
			 const struct thread_wait *wait)
{
	HD_CLEANUP(text) struct text method = { 0 };
	bool is_async = append_async_name(&method, waits, &wait->object);
	if (is_async) {
		text_puts(text, "the async method ");
		text_escape(text, method.bytes, method.size);
		text_printf(text, " %" PRIx64, wait->object.address);
	}
	return is_async;
}

void append_wait(struct text *text, const struct waits *waits, const struct thread_wait *wait)
{
	struct heap *heap = waits->heap;
	switch (wait->kind) {
	case WAIT_MONITOR:
	case WAIT_LAZY:
		text_puts(text, "waits to enter the monitor of ");
		break;
	case WAIT_PULSE:
		text_puts(text, "waits until somebody pulses ");
		break;
	case WAIT_JOIN:
		text_puts(text, "waits until a thread ends");
		return;
	case WAIT_CALLBACK:
		text_puts(text, "waits for the end of a callback of ");
		break;
	case WAIT_SUSPENSION:
		text_puts(text, "waits until all threads have stopped for a collection");
		return;
	case WAIT_INITIALIZER:
		text_puts(text, "waits for the initializer of ");
		break;
	default:
		text_puts(text, "waits for ");
		break;
	}
	if (wait->object.type && append_async(text, waits, wait)) {
		return;
	}
	if (wait->kind == WAIT_SPIN_LOCK && wait->object.type) {
		text_puts(text, "the SpinLock in ");
	}
	if (wait->object.type) {
		append_object(text, heap, &wait->object);
	} else if (wait->initializer) {
		size_t size;
		const char *name = type_name(heap->runtime, wait->initializer, &size);
		text_escape(text, name, size);
	} else {
		text_puts(text, wait_kind_name(wait->kind));
	}
}

#define MEMBER_LIST(X)                                                                                          \
	X(MEMBER_WHAT, "member", NULL, KIND_TEXT, 0, 0, "\"thread\" or \"async method\"")                       \
	X(MEMBER_ID, "id", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "managed id of the thread")                    \
	X(MEMBER_OS_ID, "os_id", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "its id in the system")                  \
	X(MEMBER_NAME, "name", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "Thread.Name")                               \
	X(MEMBER_ASYNC, "async_method", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "its name")                         \
	X(MEMBER_BOX, "box", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "task of the async method")                 \
	X(MEMBER_KIND, "waits_for", NULL, KIND_TEXT, 0, 0, "the kind of wait")                                  \
	X(MEMBER_OBJECT, "object", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "what it waits for")                  \
	X(MEMBER_TYPE, "type", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT, "type of that")                              \
	X(MEMBER_OWNER, "owner", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                                          \
	  "managed id of the thread that has it: the next one of the cycle")                                    \
	X(MEMBER_OWNER_BOX, "owner_box", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                                 \
	  "or the box of the async method that comes next")                                                     \
	X(MEMBER_METHOD, "method", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                          \
	  "the method that waits: the program's, where one is on the stack")                                    \
	X(MEMBER_CALLERS, "callers", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                        \
	  "the methods of the program that have called that one, or await the async method, the nearest first") \
	X(MEMBER_HELD_IN, "held_in", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                        \
	  "the method in which the owner uses the object")                                                      \
	X(MEMBER_SENTENCE, NULL, "sentence", KIND_TEXT, 0, 0, NULL)

COLUMNS(member, MEMBER_COLUMNS, MEMBER_LIST);

SCHEMA(member, .name = "members",
       .lines =
	       "  \\w{sentence}\n[    it waits in {method:m}[ <- {callers}]\n|[    it is awaited by {callers}\n]]"
	       "[    the owner uses that in {held_in:m}\n]");

#define CYCLE_LIST(X)                                                                           \
	X(CYCLE_PROBABLE, "probable", NULL, KIND_FLAG, 0, 0,                                    \
	  "is an owner in it only probable?  Of a semaphore or a context nothing stores one")   \
	X(CYCLE_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "members that wait for each other")    \
	X(CYCLE_THREADS, "threads", NULL, KIND_NUMBER, 0, 0, "so many of them are threads")     \
	X(CYCLE_METHODS, "async_methods", NULL, KIND_NUMBER, 0, 0, "and so many async methods") \
	X(CYCLE_FOLLOWERS, "followers", NULL, KIND_NUMBER, 0, 0,                                \
	  "other threads that wait for one of these")                                           \
	X(CYCLE_CHAINS, "following_chains", NULL, KIND_NUMBER, 0, 0,                            \
	  "chains of async methods that do")                                                    \
	X(CYCLE_HEAD, NULL, "head", KIND_TEXT, 0, 0, NULL)

COLUMNS(deadlock, CYCLE_COLUMNS, CYCLE_LIST);

SCHEMA(deadlock, .name = "deadlocks", .lines = "\\h{head}\\.:\n");

void append_counts(struct text *text, uint64_t threads, uint64_t others, const char *noun)
{
	char count[COUNT_SIZE];
	if (threads)
		text_puts(text, format_count(threads, "thread", count));
	if (threads && others)
		text_puts(text, " and ");
	if (others)
		text_puts(text, format_count(others, noun, count));
}

void append_members(struct text *text, const struct deadlock *deadlock)
{
	append_counts(text, deadlock->threads, deadlock->count - deadlock->threads, "async method");
}

void append_followers(struct text *text, const struct deadlock *deadlock)
{
	append_counts(text, deadlock->following_threads, deadlock->following_chains, "async chain");
}

static void append_box_waiter(struct text *text, struct async_graph *graph,
			      const struct async_node *box)
{
	text_puts(text, "the async method ");
	text_puts(text, async_node_name(graph, box));
	text_printf(text, " %" PRIx64, box->address);
}

static void append_node(struct text *text, const struct waits *waits, uint32_t node)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	if (wait) {
		append_thread(text, waits->heap, wait->thread);
	} else {
		append_box_waiter(text, waits->async, wait_node_method(waits, node));
	}
}

static const char *owner_verb(const struct waits *waits, const struct thread_wait *wait,
			      bool is_probable)
{
	/* Only a mutex has an owner: any other handle is set after a callback (wait_callbacks.c). */
	if (wait->kind == WAIT_HANDLE && wait->object.type &&
	    !type_derives_from(waits->heap->runtime, wait->object.type, 0,
			       net_type_name(NET_MUTEX)))
		return " sets after its callback";
	if (wait->kind == WAIT_JOIN || wait->kind == WAIT_SUSPENSION)
		return "";
	if (wait->kind == WAIT_INITIALIZER || wait->kind == WAIT_TASK ||
	    wait->kind == WAIT_CALLBACK)
		return " runs";
	return is_probable ? " probably has" : " has";
}

/* "which needs thread 5": of tasks that are made of others, the one that counts. */
static void append_needed(struct text *text, const struct waits *waits, uint32_t node)
{
	const struct wait_several *several = wait_node_several(waits, node);
	const struct thread_wait *wait = wait_node_thread(waits, node);
	if (several && several->is_any) {
		text_printf(text, ", which needs one of %zu %s that all hang; the first is ",
			    several->count,
			    wait && wait->kind == WAIT_ANY_HANDLE ? "owners" : "tasks");
	} else {
		text_puts(text, ", which needs ");
	}
	append_node(text, waits, waits->edges[node].to);
}

static bool waits_for_readers(const struct thread_wait *wait)
{
	return wait->object.type &&
	       (wait->kind == WAIT_READ || wait->kind == WAIT_WRITE || wait->kind == WAIT_UPGRADE);
}

/* The verb for what the thread that must leave a lock does with it. */
static const char *lock_verb(const struct waits *waits, const struct thread_wait *wait,
			     const struct thread_wait *owner, bool are_several)
{
	if (owner->thread == wait_lock_writer(waits, &wait->object))
		return " has";
	if (wait->kind != WAIT_WRITE && owner->kind == WAIT_WRITE &&
	    owner->object.address == wait->object.address)
		return " waits to write first";
	if (owner->thread == wait_lock_upgrader(waits, &wait->object) && !are_several)
		return " has for upgradeable reading";
	return are_several ? " have for reading" : " has for reading";
}

/* "which thread 5 has for reading", "which thread 6 waits to write first". */
static void append_lock_owner(struct text *text, const struct waits *waits,
			      const struct thread_wait *wait, const struct thread_wait *owner)
{
	const struct wait_several *several =
		wait_node_several(waits, (uint32_t)(wait - waits->rows));
	size_t others = several ? several->count - 1 : 0;
	char count[COUNT_SIZE];
	if (wait->unknown_readers) {
		text_printf(
			text,
			wait->unknown_readers == 1
				? ", which %s has for reading that cannot be found and may have ended"
				: ", which %s have for reading that cannot be found and may have ended",
			format_count(wait->unknown_readers, "thread", count));
	}
	if (!owner)
		return;
	text_puts(text, wait->unknown_readers ? ", and which " : ", which ");
	append_node(text, waits, (uint32_t)(owner - waits->rows));
	if (others)
		text_printf(text, " and %s", format_count(others, "other thread", count));
	text_puts(text, lock_verb(waits, wait, owner, others > 0));
}

void append_blocked(struct text *text, const struct waits *waits, const struct thread_wait *wait)
{
	uint32_t node = (uint32_t)(wait - waits->rows);
	struct wait_edge edge = waits->edges[node];
	const struct async_node *box = wait_node_method(waits, edge.to);
	const struct thread_wait *owner = wait_of_thread(waits, wait->blamed_owner);
	append_thread(text, waits->heap, wait->thread);
	text_puts(text, " ");
	append_wait(text, waits, wait);
	HD_CLEANUP(text) struct text state = { 0 };
	append_wait_state(&state, waits, wait);
	if (state.size)
		text_printf(text, " (%s)", state.bytes);
	if (waits_for_readers(wait)) {
		append_lock_owner(text, waits, wait, owner);
		return;
	}
	/*
	 * The text has named the task's async method; now the thread that runs it is of interest.
	 */
	bool is_said = wait->kind == WAIT_TASK && box && box->address == wait->object.address;
	if (is_said)
		edge.to = owner ? (uint32_t)(owner - waits->rows) : WAIT_NOBODY;
	if (edge.to == WAIT_NOBODY)
		return;
	if (wait_node_several(waits, node) || (box && !is_said && wait->kind == WAIT_TASK)) {
		append_needed(text, waits, node);
		return;
	}
	bool is_named = wait->kind == WAIT_JOIN || wait->kind == WAIT_SUSPENSION;
	text_puts(text, is_named ? ": " : ", which ");
	append_node(text, waits, edge.to);
	text_puts(text, owner_verb(waits, wait, edge.is_probable));
}

/* "..., and then for thread 5 (window), which runs its SynchronizationContext" */
static void append_return(struct text *text, const struct waits *waits, uint32_t node)
{
	const struct async_node *box = wait_node_method(waits, node);
	if (box->next != ASYNC_NO_NODE) {
		text_puts(text, " awaits ");
		append_node(text, waits, (uint32_t)waits->count + box->next);
		text_puts(text, ", and then waits for ");
	} else if (box->wait == AWAIT_THREAD) {
		text_puts(text, " can go on, but waits for ");
	} else {
		text_puts(text, " waits for ");
		append_async_wait(text, waits->async, box);
		text_puts(text, ", and then for ");
	}
	append_node(text, waits, waits->edges[node].to);
	text_puts(text, waits->edges[node].is_of_scheduler
				? ", which runs its TaskScheduler"
				: ", which runs its SynchronizationContext");
}

/* "the async method A waits for SemaphoreSlim 7f... (0 free), which thread 5 probably has" */
static void append_blocked_box(struct text *text, const struct waits *waits, uint32_t node)
{
	const struct async_node *box = wait_node_method(waits, node);
	struct wait_edge edge = waits->edges[node];
	append_box_waiter(text, waits->async, box);
	if (edge.returns_to_thread) {
		append_return(text, waits, node);
		return;
	}
	if (box->next != ASYNC_NO_NODE) {
		text_puts(text, " awaits ");
		append_node(text, waits, edge.to);
		return;
	}
	if (box->wait == AWAIT_RUNS || box->wait == AWAIT_THREAD) {
		text_puts(text, edge.to == WAIT_NOBODY ? " runs" : " runs on ");
		if (edge.to != WAIT_NOBODY)
			append_node(text, waits, edge.to);
		return;
	}
	text_puts(text, " waits for ");
	append_async_wait(text, waits->async, box);
	if (edge.to == WAIT_NOBODY)
		return;
	if (box->wait == AWAIT_GRAIN || box->wait == AWAIT_SOURCE) {
		text_puts(text, ", for which first must go on ");
		append_node(text, waits, edge.to);
		return;
	}
	if (box->wait != AWAIT_TASK && box->wait != AWAIT_SEMAPHORE) {
		append_needed(text, waits, node);
		return;
	}
	text_puts(text, ", which ");
	append_node(text, waits, edge.to);
	text_puts(text, box->wait == AWAIT_TASK ? " runs"
			: edge.is_probable      ? " probably has"
						: " has");
}

void append_blocked_node(struct text *text, const struct waits *waits, uint32_t node)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	if (wait) {
		append_blocked(text, waits, wait);
	} else {
		append_blocked_box(text, waits, node);
	}
}

/* Does @p node wait for @p other? */
static bool leads_to(const struct waits *waits, uint32_t node, uint32_t other)
{
	for (unsigned int i = 0; i < CYCLE_STEPS_MAX && node != WAIT_NOBODY && node != other; i++)
		node = waits->edges[node].to;
	return node == other;
}

void append_callers(struct text *text, const struct waits *waits, uint32_t node)
{
	const struct async_node *box = wait_node_method(waits, node);
	struct wait_callers callers;
	if (box && box->outer != ASYNC_NO_NODE &&
	    leads_to(waits, node, (uint32_t)waits->count + box->outer))
		return;
	wait_callers_find(waits, node, &callers);
	wait_callers_append(text, waits, &callers);
}

void append_place(struct text *text, const struct waits *waits, uint32_t node)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	HD_CLEANUP(text) struct text callers = { 0 };
	if (!wait) {
		text_puts(text, async_node_name(waits->async, wait_node_method(waits, node)));
	} else if (!method_user_append(text, waits->heap->runtime, wait_method(wait))) {
		return;
	}
	append_callers(&callers, waits, node);
	if (callers.size)
		text_printf(text, " <- %s", callers.bytes);
}

/* Texts of one member. */
struct member_texts {
	struct text sentence, method, callers, held, name;
};

/* The frames in which a thread waits, and in which the owner of the object uses it. */
static void set_frames(struct call *call, const struct waits *waits, const struct thread_wait *wait,
		       struct member_texts *texts, struct cell *cells)
{
	struct runtime *runtime = call->heap->runtime;
	const struct thread_wait *owner =
		wait_node_thread(waits, waits->edges[wait - waits->rows].to);
	if (wait_method(wait)) {
		runtime_method_signature(runtime, wait_method(wait), &texts->method);
		cells[MEMBER_METHOD] = cell_text(texts->method.bytes, texts->method.size);
	}
	size_t frame = owner ? wait_frame_with(owner, wait->object.address) : WAIT_NO_FRAME;
	if (frame != WAIT_NO_FRAME) {
		runtime_method_signature(runtime, owner->stack.frames[frame].method_desc,
					 &texts->held);
		cells[MEMBER_HELD_IN] = cell_text(texts->held.bytes, texts->held.size);
	}
}

static void set_node_object(struct cell *cells, struct runtime *runtime,
			    const struct object *object)
{
	size_t size;
	const char *type = type_name(runtime, object->type, &size);
	cells[MEMBER_OBJECT] = cell_number(object->address);
	cells[MEMBER_TYPE] = cell_type(type, size, object->type->method_table);
}

static void set_thread(struct call *call, const struct waits *waits, const struct thread_wait *wait,
		       struct member_texts *texts, struct cell *cells)
{
	cells[MEMBER_WHAT] = cell_string("thread");
	cells[MEMBER_ID] = cell_number(wait->thread->id);
	cells[MEMBER_OS_ID] = cell_number(wait->thread->os_id);
	cells[MEMBER_KIND] = cell_string(wait_kind_name(wait->kind));
	if (thread_name(call->heap, wait->thread, &texts->name) && texts->name.size)
		cells[MEMBER_NAME] = cell_text(texts->name.bytes, texts->name.size);
	if (wait->object.type)
		set_node_object(cells, call->heap->runtime, &wait->object);
	set_frames(call, waits, wait, texts, cells);
}

static void set_box(struct call *call, const struct waits *waits, const struct async_node *box,
		    struct member_texts *texts, struct cell *cells)
{
	struct object object;
	uint64_t awaited =
		box->next == ASYNC_NO_NODE ? box->object : waits->async->rows[box->next].address;
	text_puts(&texts->name, async_node_name(waits->async, box));
	cells[MEMBER_WHAT] = cell_string("async method");
	cells[MEMBER_ASYNC] = cell_text(texts->name.bytes, texts->name.size);
	cells[MEMBER_BOX] = cell_number(box->address);
	cells[MEMBER_KIND] = cell_string(box->next == ASYNC_NO_NODE ? async_wait_name(box->wait)
								    : "async method");
	if (member_object(waits->members, awaited, &object))
		set_node_object(cells, call->heap->runtime, &object);
}

static void write_member(struct call *call, const struct waits *waits, uint32_t node)
{
	struct member_texts texts = { 0 };
	struct cell cells[MEMBER_COLUMNS] = { 0 };
	const struct thread_wait *wait = wait_node_thread(waits, node);
	uint32_t to = waits->edges[node].to;
	const struct thread_wait *owner = wait_node_thread(waits, to);
	if (wait) {
		set_thread(call, waits, wait, &texts, cells);
	} else {
		set_box(call, waits, wait_node_method(waits, node), &texts, cells);
	}
	if (owner) {
		cells[MEMBER_OWNER] = cell_number(owner->thread->id);
	} else {
		cells[MEMBER_OWNER_BOX] = cell_number(wait_node_method(waits, to)->address);
	}
	append_callers(&texts.callers, waits, node);
	if (texts.callers.size)
		cells[MEMBER_CALLERS] = cell_text(texts.callers.bytes, texts.callers.size);
	append_blocked_node(&texts.sentence, waits, node);
	cells[MEMBER_SENTENCE] = cell_text(texts.sentence.bytes, texts.sentence.size);
	answer_row(&call->answer, cells);
	text_deinit(&texts.sentence);
	text_deinit(&texts.method);
	text_deinit(&texts.callers);
	text_deinit(&texts.held);
	text_deinit(&texts.name);
}

static void write_deadlock(struct call *call, const struct waits *waits,
			   const struct deadlocks *deadlocks, const struct deadlock *deadlock)
{
	static const struct table_options options = { .no_heading = true };
	struct answer *answer = &call->answer;
	HD_CLEANUP(text) struct text head = { 0 };
	text_puts(&head, deadlock->is_probable ? "Probably a deadlock of " : "Deadlock of ");
	append_members(&head, deadlock);
	if (deadlock->following_threads || deadlock->following_chains) {
		text_puts(&head, ", and ");
		append_followers(&head, deadlock);
		text_puts(&head, deadlock->count == 1 ? " waiting for it" : " waiting for them");
	}
	const struct cell cells[CYCLE_COLUMNS] = {
		[CYCLE_PROBABLE] = cell_flag(deadlock->is_probable),
		[CYCLE_COUNT] = cell_number(deadlock->count),
		[CYCLE_THREADS] = cell_number(deadlock->threads),
		[CYCLE_METHODS] = cell_number(deadlock->count - deadlock->threads),
		[CYCLE_FOLLOWERS] = cell_number(deadlock->following_threads),
		[CYCLE_CHAINS] = cell_number(deadlock->following_chains),
		[CYCLE_HEAD] = cell_text(head.bytes, head.size),
	};
	answer_row_begin(answer, cells);
	answer_table(answer, &member_schema, &options);
	for (size_t k = 0; k < deadlock->count; k++)
		write_member(call, waits, deadlocks->members[deadlock->begin + k]);
	(void)answer_table_end(answer);
	answer_row_end(answer);
	answer_remark(answer, "\n");
}

void write_deadlocks(struct call *call, const struct waits *waits,
		     const struct deadlocks *deadlocks)
{
	static const struct table_options options = { .no_heading = true };
	answer_table(&call->answer, &deadlock_schema, &options);
	for (size_t i = 0; i < deadlocks->count; i++)
		write_deadlock(call, waits, deadlocks, &deadlocks->rows[i]);
	(void)answer_table_end(&call->answer);
}
