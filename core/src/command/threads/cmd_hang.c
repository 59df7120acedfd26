/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/async/async_text.h"
#include "command/table.h"
#include "command/threads/alone_text.h"
#include "command/threads/busy_text.h"
#include "command/threads/gap_rows.h"
#include "command/threads/hang_groups.h"
#include "command/threads/hang_start.h"
#include "command/threads/hang_summary.h"
#include "command/threads/pulse_text.h"
#include "command/threads/wait_text.h"
#include "hangs/verdicts.h"
#include "runtime/coreclr/code/code.h"

/* Members of a cycle that are shown. */
#define CIRCLE_SHOWN 20u
/* Threads that are shown of those that wait for a lock which nobody will leave. */
#define ORPHAN_SHOWN 5u

#define VERDICT_LIST(X)                                                                                                                                                                              \
	X(VERDICT_NAME, "verdict", NULL, KIND_TEXT, 0, 0,                                                                                                                                            \
	  "deadlock, orphaned-lock, requests, unread-output, circle (of async methods), host-start, busy-readers, lost-pulse, lost-places, retry, own-answer, pool-starved, one-owner, one-object, " \
	  "finalizer or collection")                                                                                                                                                                 \
	X(VERDICT_CERTAIN, "certain", NULL, KIND_FLAG, 0, 0,                                                                                                                                         \
	  "false: something that the verdict needs is not stored anywhere, or may end "                                                                                                              \
	  "by itself")                                                                                                                                                                               \
	X(VERDICT_COUNT, "count", NULL, KIND_NUMBER, 0, 0,                                                                                                                                           \
	  "threads or async methods that are part of it; finalizers that are due; "                                                                                                                  \
	  "threads that do not stop")                                                                                                                                                                \
	X(VERDICT_QUEUED, "queued", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                                                                                                                            \
	  "work items that wait for a thread")                                                                                                                                                       \
	X(VERDICT_OBJECT, "object", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                                                                                                                           \
	  "one-object, lost-places, retry: what they wait for")                                                                                                                                      \
	X(VERDICT_SUMMARY, "summary", NULL, KIND_TEXT, 0, 0, "one sentence")                                                                                                                         \
	X(VERDICT_NEXT, "next", NULL, KIND_TEXT, 0, 0, "the command that shows more")

COLUMNS(verdict, VERDICT_COLUMNS, VERDICT_LIST);

const struct schema verdicts_schema = {
	.name = "verdicts",
	SCHEMA_COLUMNS(verdict_columns),
	.is_main = true,
	.lines = "\\h{summary}\\. ({next})\n",
};

#define EVIDENCE_LIST(X)                                                     \
	X(EVIDENCE_TEXT, "text", NULL, KIND_TEXT, 0, 0, "one sentence")      \
	X(EVIDENCE_METHOD, "method", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,     \
	  "the method that waits: the program's, where one is on the stack") \
	X(EVIDENCE_CALLERS, "callers", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,   \
	  "the methods of the program that have called that one, or await the async method, the nearest first")

COLUMNS(evidence, EVIDENCE_COLUMNS, EVIDENCE_LIST);

SCHEMA(evidence, .name = "evidence",
       .lines = "  {text}\n[    in {method:m}[ <- {callers}]\n|[    awaited by {callers}\n]]");

static const struct column hang_columns[] = {
	{ "headline", NULL, KIND_TEXT, 0, 0,
	  "the first verdict; or else one sentence about who waits" },
	{ "threads", NULL, KIND_NUMBER, 0, 0, "managed threads with a stack" },
	{ "waiting", NULL, KIND_NUMBER, 0, 0, "threads that wait" },
	{ "async_chains", NULL, KIND_NUMBER, 0, 0, "chains of async methods that are not done" },
	{ "idle", NULL, KIND_NUMBER, 0, 0, "threads of the runtime that have nothing to do" },
	{ "partial", NULL, KIND_NUMBER, 0, 0, "stacks that could not be walked to their ends" },
	{ "complete", NULL, KIND_FLAG, 0, 0,
	  "false: threads or locks cannot be read (gaps), so that a hang may not be seen" },
};
static const struct schema hang_schema = { SCHEMA_COLUMNS(hang_columns) };

static const char *verdict_name(enum verdict_kind kind)
{
	static const char *const names[] = {
		[VERDICT_DEADLOCK] = "deadlock",    [VERDICT_ORPHAN] = "orphaned-lock",
		[VERDICT_REQUESTS] = "requests",    [VERDICT_OUTPUT] = "unread-output",
		[VERDICT_CIRCLE] = "circle",        [VERDICT_STARVED] = "pool-starved",
		[VERDICT_START] = "host-start",     [VERDICT_PULSE] = "lost-pulse",
		[VERDICT_READERS] = "busy-readers", [VERDICT_ONE_OWNER] = "one-owner",
		[VERDICT_PLACES] = "lost-places",   [VERDICT_RETRY] = "retry",
		[VERDICT_ANSWER] = "own-answer",    [VERDICT_ONE_OBJECT] = "one-object",
		[VERDICT_FINALIZER] = "finalizer",  [VERDICT_COLLECTION] = "collection",
	};
	return names[kind];
}

static void append_next(struct text *text, const struct verdict *verdict)
{
	static const char *const names[] = {
		[VERDICT_DEADLOCK] = "waits",     [VERDICT_ORPHAN] = "waits",
		[VERDICT_REQUESTS] = "dumpasync", [VERDICT_OUTPUT] = "waits",
		[VERDICT_CIRCLE] = "dumpasync",   [VERDICT_STARVED] = "threadpoolqueue",
		[VERDICT_START] = "dumpasync",    [VERDICT_PULSE] = "waits",
		[VERDICT_READERS] = "dumpasync",  [VERDICT_ONE_OWNER] = "waits",
		[VERDICT_ONE_OBJECT] = "gcroot ", [VERDICT_PLACES] = "gcroot ",
		[VERDICT_RETRY] = "gcroot ",      [VERDICT_FINALIZER] = "finalizequeue",
		[VERDICT_ANSWER] = "clrstack",    [VERDICT_COLLECTION] = "clrstack",
	};
	text_puts(text, verdict->failed ? "printexception " : names[verdict->kind]);
	if (verdict->kind == VERDICT_ONE_OBJECT)
		text_printf(text, "%" PRIx64, wait_thing_cause(&verdict->thing));
	if (verdict->place)
		text_printf(text, "%" PRIx64, verdict->place->semaphore);
	if (verdict->failed)
		text_printf(text, "%" PRIx64, verdict->failed->exception);
}

/* One sentence of evidence, which ends here; @p text is used again. */
static void write_evidence(struct call *call, struct text *text)
{
	text_puts(text, ".");
	const struct cell cells[EVIDENCE_COLUMNS] = { [EVIDENCE_TEXT] =
							      cell_text(text->bytes, text->size) };
	answer_row(&call->answer, cells);
	text->size = 0;
}

/* The same about a thread or async method that waits, with its methods. */
static void write_waiter(struct call *call, struct text *text, const struct waits *waits,
			 uint32_t node)
{
	HD_CLEANUP(text) struct text method = { 0 }, callers = { 0 };
	const struct thread_wait *wait = wait_node_thread(waits, node);
	if (wait && wait_method(wait))
		runtime_method_signature(call->heap->runtime, wait_method(wait), &method);
	append_callers(&callers, waits, node);
	text_puts(text, ".");
	const struct cell cells[EVIDENCE_COLUMNS] = {
		[EVIDENCE_TEXT] = cell_text(text->bytes, text->size),
		[EVIDENCE_METHOD] = cell_text(method.bytes, method.size),
		[EVIDENCE_CALLERS] = cell_text(callers.bytes, callers.size),
	};
	answer_row(&call->answer, cells);
	text->size = 0;
}

static uint32_t node_of(const struct waits *waits, const struct thread_wait *wait)
{
	return (uint32_t)(wait - waits->rows);
}

/* The thread waits for an async method: what does that wait for? */
static void write_chain_end(struct call *call, struct verdicts *verdicts,
			    const struct thread_wait *wait, struct text *text)
{
	struct async_graph *graph = verdicts->waits->async;
	uint32_t row =
		wait->object.type ? async_graph_find(graph, wait->object.address) : ASYNC_NO_NODE;
	if (row == ASYNC_NO_NODE)
		return;
	const struct async_node *end = &graph->rows[graph->rows[row].end];
	/* On .NET 11 the framework's own async methods are links of the chain, too. */
	uint32_t own = async_innermost_own(graph, row);
	text_puts(text, "that method waits for ");
	append_async_wait(text, graph, end);
	text_puts(text, " in ");
	text_puts(text, async_node_name(graph, own == ASYNC_NO_NODE ? end : &graph->rows[own]));
	write_evidence(call, text);
}

static void write_circle(struct call *call, const struct verdicts *verdicts,
			 const struct verdict *verdict, struct text *text)
{
	struct async_graph *graph = verdicts->waits->async;
	const struct async_node *cut = &graph->rows[verdict->method];
	uint32_t row = async_graph_find(graph, cut->object);
	for (unsigned int i = 0; row != ASYNC_NO_NODE && i < CIRCLE_SHOWN; i++) {
		const struct async_node *node = &graph->rows[row];
		text_puts(text, async_node_name(graph, node));
		text_printf(text, " %" PRIx64 " awaits ", node->address);
		row = node == cut ? ASYNC_NO_NODE : node->next;
		uint32_t next = node == cut ? async_graph_find(graph, cut->object) : node->next;
		text_puts(text, async_node_name(graph, &graph->rows[next]));
		text_printf(text, " %" PRIx64, graph->rows[next].address);
		write_evidence(call, text);
	}
}

static void write_starved(struct call *call, struct verdicts *verdicts,
			  const struct verdict *verdict, struct text *text)
{
	write_chain_end(call, verdicts, verdict->thread, text);
	if (verdict->starved.alike > 1) {
		text_printf(text, "%" PRIu64 " of the workers wait in the same method",
			    verdict->starved.alike);
		write_evidence(call, text);
	}
	if (verdict->starved.sleeping) {
		text_printf(text,
			    "%" PRIu64
			    " of the workers %s: if they try again and again, the cause is what "
			    "fails",
			    verdict->starved.sleeping,
			    verdict->starved.sleeping == 1 ? "sleeps" : "sleep");
		write_evidence(call, text);
	}
	if (verdict->starved.on_tasks) {
		text_printf(text,
			    "%" PRIu64 " of the workers %s for a task (sync over async): await "
			    "it instead",
			    verdict->starved.on_tasks,
			    verdict->starved.on_tasks == 1 ? "waits" : "wait");
		write_evidence(call, text);
	}
}

static void write_deadlock_members(struct call *call, const struct verdicts *verdicts,
				   const struct deadlock *deadlock, struct text *text)
{
	const struct waits *waits = verdicts->waits;
	for (size_t i = 0; i < deadlock->count && i < CIRCLE_SHOWN; i++) {
		uint32_t node = verdicts->deadlocks.members[deadlock->begin + i];
		append_blocked_node(text, waits, node);
		write_waiter(call, text, waits, node);
	}
	if (deadlock->count > CIRCLE_SHOWN) {
		text_printf(text, "%zu more, which waits lists", deadlock->count - CIRCLE_SHOWN);
		write_evidence(call, text);
	}
}

static void write_collection(struct call *call, const struct waits *waits,
			     const struct verdict *verdict, struct text *text)
{
	append_thread(text, call->heap, verdict->thread->thread);
	text_puts(text,
		  " has not left its code: a loop without a call, a long copy, or native code "
		  "without a transition");
	write_waiter(call, text, waits, node_of(waits, verdict->thread));
	append_thread(text, call->heap, verdict->collector->thread);
	text_puts(text,
		  " collects, and every other thread that comes back to .NET code waits for it");
	write_waiter(call, text, waits, node_of(waits, verdict->collector));
	if (verdict->is_probable) {
		text_puts(text, "this may last for a moment only: look at a second core");
		write_evidence(call, text);
		return;
	}
	text_printf(text, "it was so each of the last %u times that the process was stopped",
		    runtime_target(call->heap->runtime)->process.suspending);
	write_evidence(call, text);
}

/* Methods between the one that waits, or has something, and the first that is the program's. */
#define CALLERS_MAX 64u

/* A call of a library has something: for which method of the program? @p row: none awaits it. */
static uint32_t own_caller(struct async_graph *graph, uint32_t row)
{
	uint32_t at = row;
	for (unsigned int i = 0; at != ASYNC_NO_NODE && i < CALLERS_MAX; i++) {
		if (async_node_owner(graph, &graph->rows[at]) == CODE_OF_PROGRAM)
			return at;
		at = graph->rows[at].outer;
	}
	return row;
}

/*
 * Append ", over Kitchen.Wash,": the method that a call awaits, if it is between that and the one that waits; of one of a
 * library the innermost of the program.
 */
static void append_between(struct text *text, const struct waits *waits, uint32_t row,
			   uint32_t told)
{
	struct async_graph *graph = waits->async;
	const struct async_node *holder = &graph->rows[row];
	uint32_t between = holder->next;
	if (between != ASYNC_NO_NODE && told != row)
		between = async_innermost_own(graph, between);
	if (between == ASYNC_NO_NODE || graph->rows[between].next == ASYNC_NO_NODE ||
	    graph->rows[between].method == graph->rows[told].method ||
	    async_node_owner(graph, &graph->rows[between]) == CODE_OF_FRAMEWORK)
		return;
	text_puts(text, ", over ");
	text_puts(text, async_node_name(graph, &graph->rows[between]));
	text_puts(text, ",");
}

/* "3 of them are awaited by calls of Kitchen.Cook that have waited for it before, and probably have a place in it" */
static void write_holders(struct call *call, const struct waits *waits,
			  const struct wait_thing *thing, struct text *text)
{
	uint64_t count = thing->holders;
	if (!count)
		return;
	text_printf(text, "%" PRIu64 " of them %s awaited by %s of ", count,
		    count == 1 ? "is" : "are", count == 1 ? "a call" : "calls");
	uint32_t told = own_caller(waits->async, thing->holder);
	text_puts(text, async_node_name(waits->async, &waits->async->rows[told]));
	append_between(text, waits, thing->holder, told);
	if (thing->kind == AWAIT_LIMITER) {
		text_printf(text, " that %s %" PRIu64 " of its permits",
			    count == 1 ? "has" : "have", thing->pool_items);
		write_evidence(call, text);
		return;
	}
	if (thing->is_nested) {
		text_puts(text, count == 1 ? " that answers a request which has it"
					   : " that answer requests which have them");
		write_evidence(call, text);
		return;
	}
	if (thing->kind == AWAIT_HTTP || thing->kind == AWAIT_HTTP2) {
		text_printf(text, " that %s %" PRIu64 " of them, with answers that are not read",
			    count == 1 ? "has" : "have", thing->pool_items);
		write_evidence(call, text);
		return;
	}
	if (thing->pool_items && thing->kind == AWAIT_READ) {
		text_printf(text,
			    " that %s read from it before, and %s all %" PRIu64 " items of it",
			    count == 1 ? "has" : "have", count == 1 ? "has" : "have",
			    thing->pool_items);
		write_evidence(call, text);
		return;
	}
	text_puts(text,
		  count == 1 ? " that has waited for it before, and probably has a place in it"
			     : " that have waited for it before, and probably have a place in it");
	write_evidence(call, text);
}

/* It may be a method of the framework that waits: for which method? */
static void write_caller(struct call *call, const struct waits *waits, uint32_t node,
			 struct text *text)
{
	struct async_graph *graph = waits->async;
	const struct async_node *box = wait_node_method(waits, node), *caller = box;
	for (unsigned int i = 0; caller && i < CALLERS_MAX && caller->outer != ASYNC_NO_NODE &&
				 async_node_owner(graph, caller) == CODE_OF_FRAMEWORK;
	     i++)
		caller = &graph->rows[caller->outer];
	if (!caller || caller == box || async_node_owner(graph, caller) == CODE_OF_FRAMEWORK)
		return;
	text_puts(text, "it is awaited by the async method ");
	text_puts(text, async_node_name(graph, caller));
	text_printf(text, " %" PRIx64, caller->address);
	write_evidence(call, text);
}

/* The readers of full queues that wait for room in others. */
static void write_stages(struct call *call, const struct wait_thing *thing, struct text *text)
{
	char count[COUNT_SIZE];
	if (thing->stage.queues_behind) {
		text_printf(text, "%s in front of it %s full, too: who reads from %s waits for it",
			    format_count(thing->stage.queues_behind, "queue", count),
			    thing->stage.queues_behind == 1 ? "is" : "are",
			    thing->stage.queues_behind == 1 ? "it" : "them");
		write_evidence(call, text);
	}
	if (thing->stage.is_read_by_waiter) {
		text_puts(text, thing->stage.queues_behind
					? "who reads from this one waits for one of those"
					: "who reads from it waits for room in it");
		write_evidence(call, text);
	}
}

/* Whoever waits in turn for those that wait. */
static void write_demand(struct call *call, const struct wait_thing *thing, struct text *text)
{
	char count[COUNT_SIZE];
	if (thing->is_start) {
		text_puts(text, "the start of the host waits for it");
		write_evidence(call, text);
	}
	if (thing->calls > thing->threads + thing->methods) {
		text_printf(text, "%s of threads and async methods wait for it in the end",
			    format_count(thing->calls, "chain", count));
		write_evidence(call, text);
	}
	if (thing->items) {
		text_printf(text, "%s %s in channels whose readers wait for it",
			    format_count(thing->items, "item", count),
			    thing->items == 1 ? "is" : "are");
		write_evidence(call, text);
	}
}

/* The type of a thing of a library, whose arguments are the program's. */
static void write_type_of(struct call *call, uint64_t address, struct text *text)
{
	HD_CLEANUP(window) struct window window = { .memory = call->heap->memory };
	struct object object;
	if (!object_read(call->heap, &window, address, &object))
		return;
	size_t size;
	const char *name = type_name(call->heap->runtime, object.type, &size);
	if (!name)
		return;
	text_printf(text, "%" PRIx64 " is a ", address);
	text_escape(text, name, size);
	write_evidence(call, text);
}

/* "7f... is in the field Shop.Feed._events" */
static void write_field_of(struct call *call, const struct verdicts *verdicts, uint64_t address,
			   struct text *text)
{
	const char *field = wait_owner_field(&verdicts->owners, address);
	if (!field)
		return;
	text_printf(text, "%" PRIx64 " is in the field ", address);
	text_escape(text, field, strlen(field));
	write_evidence(call, text);
}

static void write_agent(struct call *call, const struct verdicts *verdicts,
			const struct wait_thing *thing, struct text *text)
{
	char count[COUNT_SIZE];
	write_type_of(call, thing->address, text);
	write_field_of(call, verdicts, wait_thing_cause(thing), text);
	text_printf(text, "%s %s in its queue", format_count(thing->items, "message", count),
		    thing->items == 1 ? "is" : "are");
	write_evidence(call, text);
	text_puts(
		text,
		"an exception that the loop does not catch ends it, and only its event Error tells that; so does an await of what nothing refers to any more");
	write_evidence(call, text);
}

static void write_one_object(struct call *call, const struct verdicts *verdicts,
			     const struct verdict *verdict, struct text *text)
{
	uint32_t first = verdict->thing.first;
	if (verdict->thing.kind == THING_AGENT) {
		write_agent(call, verdicts, &verdict->thing, text);
		return;
	}
	append_blocked_node(text, verdicts->waits, first);
	write_waiter(call, text, verdicts->waits, first);
	write_caller(call, verdicts->waits, first, text);
	write_field_of(call, verdicts, wait_thing_cause(&verdict->thing), text);
	if (verdict->thing.kind == THING_RENTAL)
		write_type_of(call, verdict->thing.address, text);
	write_holders(call, verdicts->waits, &verdict->thing, text);
	write_stages(call, &verdict->thing, text);
	write_demand(call, &verdict->thing, text);
	if (verdict->thing.is_alone) {
		append_alone_cause(text, &verdict->thing);
		write_evidence(call, text);
		return;
	}
	if (verdict->thing.kind == AWAIT_SEND)
		write_type_of(call, wait_thing_cause(&verdict->thing), text);
	if (verdict->thing.block_end == BLOCK_REFUSED) {
		text_puts(
			text,
			"all links of that block have filters, and there is room behind each: link "
			"it to where other items go, too (DataflowBlock.NullTarget)");
		write_evidence(call, text);
		return;
	}
	if (verdict->thing.lost) {
		text_puts(text,
			  verdict->thing.kind == AWAIT_LIMITER
				  ? "a lease that was not disposed of is lost with its permits: "
				    "use it with \"using\""
				  : "an answer that was neither read to its end nor disposed of "
				    "keeps its connection until a garbage collection: use it with "
				    "\"using\"");
		write_evidence(call, text);
		return;
	}
	text_puts(text,
		  verdict->thing.pool_items
			  ? "nobody else was found who has one of them and could give it back"
			  : "neither a thread nor an async method, a timer or a work item that can "
			    "go on was found to use it");
	write_evidence(call, text);
	text_puts(text,
		  "what is still to come, like a request, may use it: look at a second core, or "
		  "at the process again");
	write_evidence(call, text);
}

/* Who waits for the lock, first the one that tells who has it. */
static void write_orphan(struct call *call, const struct verdicts *verdicts,
			 const struct verdict *verdict, struct text *text)
{
	const struct waits *waits = verdicts->waits;
	const struct wait_rows *orphans = &verdicts->orphans;
	uint64_t shown = 1;
	append_blocked(text, waits, verdict->thread);
	write_waiter(call, text, waits, node_of(waits, verdict->thread));
	for (size_t i = wait_rows_of(orphans, verdict->lock);
	     shown < ORPHAN_SHOWN && wait_rows_has(orphans, i, verdict->lock); i++) {
		const struct thread_wait *wait = &waits->rows[orphans->rows[i].node];
		if (wait == verdict->thread)
			continue;
		append_blocked(text, waits, wait);
		write_waiter(call, text, waits, node_of(waits, wait));
		shown++;
	}
	if (verdict->count > shown) {
		text_printf(text, "%" PRIu64 " more, which waits lists", verdict->count - shown);
		write_evidence(call, text);
	}
	if (verdict->is_probable) {
		text_puts(text,
			  "a lock that is entered before an await and left after it, on another "
			  "thread, is not left");
		write_evidence(call, text);
	}
}

static void write_start(struct call *call, const struct waits *waits,
			const struct host_start *start, struct text *text)
{
	uint32_t end = (uint32_t)waits->count + waits->async->rows[start->call].end;
	append_blocked_node(text, waits, end);
	write_waiter(call, text, waits, end);
	append_not_started(text, waits, start);
	write_evidence(call, text);
}

/* VERDICT_PLACES and VERDICT_RETRY: who waits for the places; or who tries, where no places are known. */
static void write_places(struct call *call, const struct waits *waits,
			 const struct verdict *verdict, struct text *text)
{
	const struct lost_place *place = verdict->place;
	uint32_t first = place ? place->first : verdict->trier;
	append_blocked_node(text, waits, first);
	write_waiter(call, text, waits, first);
	if (!place)
		return;
	write_caller(call, waits, place->first, text);
	if (place->holders) {
		append_blocked_node(text, waits, (uint32_t)waits->count + place->holder);
		write_evidence(call, text);
	}
	append_place_methods(text, place);
	write_evidence(call, text);
	append_place_calls(text, waits, place);
	write_evidence(call, text);
}

/* Many wait for @p owner: the first that does so directly says for what. */
static void write_first_waiter(struct call *call, const struct waits *waits,
			       const struct thread_wait *owner, struct text *text)
{
	for (size_t i = 0; i < waits->count; i++) {
		if (&waits->rows[i] != owner && waits->edges[i].to == node_of(waits, owner)) {
			append_blocked(text, waits, &waits->rows[i]);
			write_waiter(call, text, waits, (uint32_t)i);
			return;
		}
	}
}

/* VERDICT_ONE_OWNER, VERDICT_STARVED and what is about one thread only. */
static void write_one_thread(struct call *call, struct verdicts *verdicts,
			     const struct verdict *verdict, struct text *text)
{
	const struct waits *waits = verdicts->waits;
	append_blocked(text, waits, verdict->thread);
	write_waiter(call, text, waits, node_of(waits, verdict->thread));
	if (verdict->kind == VERDICT_ONE_OWNER)
		write_first_waiter(call, waits, verdict->thread, text);
	if (verdict->kind == VERDICT_STARVED)
		write_starved(call, verdicts, verdict, text);
}

static void write_all_evidence(struct call *call, struct verdicts *verdicts,
			       const struct verdict *verdict)
{
	HD_CLEANUP(text) struct text text = { 0 };
	static const struct table_options options = { .no_heading = true };
	const struct waits *waits = verdicts->waits;
	uint32_t node;
	answer_table(&call->answer, &evidence_schema, &options);
	if (verdict->kind == VERDICT_DEADLOCK) {
		write_deadlock_members(call, verdicts, verdict->deadlock, &text);
	} else if (verdict->kind == VERDICT_CIRCLE) {
		write_circle(call, verdicts, verdict, &text);
	} else if (verdict->kind == VERDICT_ORPHAN) {
		write_orphan(call, verdicts, verdict, &text);
	} else if (verdict->kind == VERDICT_REQUESTS) {
		node = (uint32_t)waits->count + verdict->requests.end;
		append_blocked_node(&text, waits, node);
		write_waiter(call, &text, waits, node);
	} else if (verdict->kind == VERDICT_START) {
		write_start(call, verdicts->waits, verdict->start, &text);
	} else if (verdict->kind == VERDICT_READERS) {
		node = (uint32_t)waits->count + verdict->busy->end;
		append_blocked_node(&text, waits, node);
		write_waiter(call, &text, waits, node);
		append_busy_cause(&text, verdict->busy);
		write_evidence(call, &text);
	} else if (verdict->kind == VERDICT_PULSE) {
		append_blocked(&text, verdicts->waits, verdict->thread);
		write_waiter(call, &text, waits, node_of(waits, verdict->thread));
		append_blocked(&text, verdicts->waits, verdict->pulse->many);
		write_waiter(call, &text, waits, node_of(waits, verdict->pulse->many));
		append_lost_pulse_cause(&text);
		write_evidence(call, &text);
	} else if (verdict->kind == VERDICT_ANSWER) {
		append_blocked(&text, waits, verdict->thread);
		write_waiter(call, &text, waits, node_of(waits, verdict->thread));
		append_answer_ways(&text, waits, verdict->answer);
		write_evidence(call, &text);
		append_answer_cause(&text, verdict->answer);
		write_evidence(call, &text);
	} else if (verdict->place || verdict->failed) {
		write_places(call, waits, verdict, &text);
	} else if (verdict->kind == VERDICT_COLLECTION) {
		write_collection(call, waits, verdict, &text);
	} else if (verdict->kind == VERDICT_ONE_OBJECT) {
		write_one_object(call, verdicts, verdict, &text);
	} else {
		write_one_thread(call, verdicts, verdict, &text);
	}
	(void)answer_table_end(&call->answer);
}

static void write_verdict(struct call *call, struct verdicts *verdicts,
			  const struct verdict *verdict)
{
	HD_CLEANUP(text) struct text summary = { 0 }, next = { 0 };
	append_summary(&summary, verdicts->waits, verdict);
	append_next(&next, verdict);
	struct cell cells[VERDICT_COLUMNS] = {
		[VERDICT_NAME] = cell_string(verdict_name(verdict->kind)),
		[VERDICT_CERTAIN] = cell_flag(!verdict->is_probable),
		[VERDICT_COUNT] = cell_number(verdict->count),
		[VERDICT_SUMMARY] = cell_text(summary.bytes, summary.size),
		[VERDICT_NEXT] = cell_text(next.bytes, next.size),
	};
	if (verdict->kind == VERDICT_ONE_OBJECT)
		cells[VERDICT_OBJECT] = cell_number(wait_thing_cause(&verdict->thing));
	if (verdict->place)
		cells[VERDICT_OBJECT] = cell_number(verdict->place->semaphore);
	if (verdict->kind == VERDICT_STARVED)
		cells[VERDICT_QUEUED] = cell_number(verdict->starved.queued);
	answer_row_begin(&call->answer, cells);
	write_all_evidence(call, verdicts, verdict);
	answer_row_end(&call->answer);
}

/* How many groups the headline has; of a host that starts it says something else. */
static size_t groups_in_headline(const struct verdicts *verdicts, const struct wait_groups *groups)
{
	return verdicts->start.call == ASYNC_NO_NODE ? wait_groups_told(groups) : 0;
}

/* One sentence that says what is known; @p groups are those that wait. */
static void append_headline(struct text *text, const struct verdicts *verdicts,
			    const struct wait_groups *groups, const struct wait_gaps *gaps)
{
	if (verdicts->rows_count) {
		append_summary(text, verdicts->waits, &verdicts->rows[0]);
	} else if (gaps->is_any) {
		text_puts(text, "No verdict, because not all threads and locks can be read:");
	} else if (groups->rows_count) {
		size_t told = groups_in_headline(verdicts, groups);
		text_puts(text, "No cause was found: ");
		if (!told)
			append_starting(text, verdicts->waits, &verdicts->start);
		for (size_t i = 0; i < told; i++) {
			text_puts(text, i ? "; " : "");
			append_group(text, verdicts->waits, &groups->rows[i], &verdicts->failed);
		}
		text_puts(text, ".");
	} else {
		text_puts(text, "Nothing waits: no thread of the program, and no call of its async "
				"methods.");
	}
}

/* No verdict says why those wait; the headline has said the first groups, unless something is not known. */
static void write_waiters(struct call *call, const struct verdicts *verdicts,
			  const struct wait_groups *groups, const struct wait_gaps *gaps)
{
	HD_CLEANUP(text) struct text text = { 0 };
	bool has_verdict = verdicts->rows_count > 0;
	char count[COUNT_SIZE];
	if (!has_verdict && gaps->is_any && groups->rows_count)
		answer_remark(&call->answer, "These wait:\n");
	write_groups(call, verdicts, groups,
		     has_verdict    ? groups->rows_count
		     : gaps->is_any ? 0
				    : groups_in_headline(verdicts, groups));
	if (!has_verdict && groups->others) {
		answer_remark(&call->answer, "  %s (waits, dumpasync).\n",
			      format_count(groups->others, "smaller group", count));
	}
	if (!has_verdict && verdicts->undecided.address) {
		append_thing(&text, &verdicts->undecided);
		answer_remark(&call->answer, "%s (gcroot %" PRIx64 ").\n",
			      text.bytes ? text.bytes : "", verdicts->undecided.address);
	}
}

/* How many threads wait, and are idle; and what is not known. */
static void write_hang_totals(struct call *call, const struct verdicts *verdicts,
			      const struct wait_groups *groups, const struct wait_gaps *gaps)
{
	HD_CLEANUP(text) struct text headline = { 0 }, escaped = { 0 };
	const struct waits *waits = verdicts->waits;
	struct answer *answer = &call->answer;
	uint64_t idle = 0, running = 0;
	char count[COUNT_SIZE];
	for (size_t i = 0; i < waits->count; i++) {
		idle += waits->rows[i].kind == WAIT_IDLE;
		running += waits->rows[i].kind == WAIT_NONE;
	}
	uint64_t others = waits->count - idle, waiting = groups->threads;
	append_headline(&headline, verdicts, groups, gaps);
	const struct cell cells[] = { cell_text(headline.bytes, headline.size),
				      cell_number(waits->count),
				      cell_number(waiting),
				      cell_number(verdicts->chains),
				      cell_number(idle),
				      cell_number(waits->partial),
				      cell_flag(!gaps->is_any) };
	answer_data(answer, &hang_schema, cells);
	call->out.text.failed |= headline.failed;
	if (!verdicts->rows_count) {
		text_escape(&escaped, headline.bytes, headline.size);
		answer_remark(answer, "%s\n", escaped.bytes ? escaped.bytes : "");
	}
	write_gap_rows(call, gaps, verdicts->rows_count ? "There may be more that hangs:\n" : "");
	write_waiters(call, verdicts, groups, gaps);
	/* Groups tell how many of those that are not idle wait in a method. */
	answer_remark(answer, "%s: %" PRIu64 " %s idle; of the other %" PRIu64 ", %" PRIu64 " %s",
		      format_count(waits->count, "thread", count), idle, idle == 1 ? "is" : "are",
		      others, waiting, waiting == 1 ? "waits" : "wait");
	if (waiting + running < others)
		answer_remark(answer, ", %" PRIu64 " can go on", others - waiting - running);
	answer_remark(answer, ", %" PRIu64 " %s.\n", running, running == 1 ? "runs" : "run");
	if (verdicts->chains) {
		answer_remark(answer, "%" PRIu64 " %s of async methods %s not done (dumpasync).\n",
			      verdicts->chains, verdicts->chains == 1 ? "chain" : "chains",
			      verdicts->chains == 1 ? "is" : "are");
	}
	if (waits->partial) {
		answer_remark(answer,
			      "%s could not be walked to the end: what these threads have is not "
			      "known.\n",
			      format_count(waits->partial, "stack", count));
	}
}

static enum hd_status run_hang(struct call *call)
{
	static const struct table_options options = { .no_heading = true };
	HD_CLEANUP(verdicts) struct verdicts verdicts = { 0 };
	struct wait_gaps gaps;
	struct wait_groups groups;
	struct async_graph *async;
	TRY(session_async(call->session, &call->job, &async, call->err));
	TRY(verdicts_find(call->heap, async, &call->job, &verdicts, call->err));
	TRY(wait_groups_find(verdicts.waits, &groups, call->err));
	wait_gaps_find(verdicts.waits, &gaps);
	answer_table(&call->answer, &verdicts_schema, &options);
	for (size_t i = 0; i < verdicts.rows_count; i++) {
		write_verdict(call, &verdicts, &verdicts.rows[i]);
		answer_remark(&call->answer, "\n");
	}
	(void)answer_table_end(&call->answer);
	write_hang_totals(call, &verdicts, &groups, &gaps);
	write_running(call, verdicts.waits);
	call->findings = verdicts.rows_count > 0 || gaps.is_any || groups.rows_count > 0;
	return HD_OK;
}

COMMAND(hang, .has_rows = true, .summary = "say why the process hangs: one page, with the evidence",
	.description =
		"Deadlocks of threads and async methods, locks of threads that have ended, a thread\n"
		"pool whose workers all wait while work is queued, many threads that wait for one, many\n"
		"threads and async methods that wait for one semaphore, channel, BlockingCollection or\n"
		"TaskCompletionSource of which nothing tells who will release it, a Barrier or a\n"
		"CountdownEvent to which nobody comes, a ConcurrencyLimiter whose permits are lost, a\n"
		"semaphore whose places are, a pool of HTTP connections that are with calls which want\n"
		"one more, a block of a dataflow whose item no link takes, an agent of F#\n"
		"(MailboxProcessor) whose loop has ended, a call of which the same is true and which\n"
		"many others or a host's start need, a host that waits for a service which starts\n"
		"later, a channel all of whose readers wait for what is in it, a Pulse that woke the\n"
		"wrong thread, a thread that waits for an answer which it would bring itself, others that\n"
		"wait for one which tries again and again what fails, requests that all wait at one\n"
		"place, a process whose output nobody reads, a finalizer that blocks, a garbage\n"
		"collection that waits for a thread which does not stop. In parentheses is the command\n"
		"that shows more. A semaphore stores no owner, so what is said about one is only\n"
		"probable.\n"
		"Without a verdict it says who waits, in groups: those first that only the program can\n"
		"release, and of these the largest. That no cause was found does not mean that nothing\n"
		"hangs.\n"
		"Ends with status 0 only when nothing waits.\n",
	.needs = NEEDS_HEAP);
