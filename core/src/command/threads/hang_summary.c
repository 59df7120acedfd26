/* SPDX-License-Identifier: MIT */
#include "command/threads/hang_summary.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/async/async_graph.h"
#include "command/threads/alone_text.h"
#include "command/threads/busy_text.h"
#include "command/threads/failed_text.h"
#include "command/threads/hang_start.h"
#include "command/threads/pulse_text.h"
#include "command/threads/wait_state.h"
#include "command/threads/wait_text.h"
#include "hangs/verdicts.h"
#include "hangs/wait_process.h"
#include "hangs/wait_readers.h"

/* Members of a deadlock whose methods are looked at. */
#define PLACES_MAX 20u

static void append_room(struct text *text, const struct wait_thing *thing)
{
	if (thing->is_collection) {
		text_printf(text,
			    thing->may_change ? "for room in the BlockingCollection %" PRIx64
						", from which somebody may still take"
					      : "for room in the BlockingCollection %" PRIx64
						", from which probably nobody takes",
			    thing->address);
	} else {
		text_printf(text,
			    thing->may_change ? "for room in the channel %" PRIx64
						", from which somebody may still read"
					      : "for room in the channel %" PRIx64
						", from which probably nobody reads",
			    thing->address);
	}
}

/* "for the channel 7f... to be read empty: 3 items are in it, and probably nobody reads from it" */
static void append_completion(struct text *text, const struct wait_thing *thing)
{
	char count[COUNT_SIZE];
	text_printf(text, "for the channel %" PRIx64, thing->address);
	if (!thing->left) {
		text_puts(text, thing->may_change ? " to be completed, which somebody may still do"
						  : " to be completed, which probably nobody does");
		return;
	}
	text_printf(text, " to be read empty: %s %s in it, and %s",
		    format_count(thing->left, "item", count), thing->left == 1 ? "is" : "are",
		    thing->may_change ? "somebody may still read from it"
				      : "probably nobody reads from it");
}

/* "for a permit of the ConcurrencyLimiter 7f..., and nobody has one of its 8 who could give it back" */
static void append_limiter(struct text *text, const struct wait_thing *thing)
{
	uint64_t permits = thing->lost + thing->pool_items;
	if (!permits) {
		text_printf(text,
			    "for a permit of the rate limiter %" PRIx64 ", which may still come",
			    thing->address);
		return;
	}
	text_printf(text, "for a permit of the ConcurrencyLimiter %" PRIx64, thing->address);
	if (!thing->pool_items) {
		text_printf(text,
			    permits == 1 ? ", and nobody has its only one any more"
					 : ", and nobody has any of its %" PRIu64 " any more",
			    permits);
	} else if (!thing->lost) {
		text_printf(text,
			    ", all %" PRIu64 " of which some of them have: probably a deadlock",
			    permits);
	} else {
		text_printf(text,
			    ": of its %" PRIu64 " some of them have %" PRIu64
			    ", and nobody the others: probably a deadlock",
			    permits, thing->pool_items);
	}
}

/* "for one of the 4 connections of the HttpConnectionPool 7f..., all of which some of them have: probably a deadlock" */
static void append_connection(struct text *text, const struct wait_thing *thing)
{
	const char *what = thing->kind == AWAIT_HTTP2 ? "stream" : "connection";
	uint64_t all = thing->lost + thing->pool_items;
	if (!all) {
		text_printf(text,
			    "for a %s of the HttpConnectionPool %" PRIx64
			    ", which may still be given back",
			    what, thing->address);
		return;
	}
	text_printf(text, "for one of the %" PRIu64 " %ss of the HttpConnectionPool %" PRIx64, all,
		    what, thing->address);
	if (!thing->pool_items) {
		text_puts(text, ", which all have answers that nobody reads");
	} else if (thing->is_nested) {
		text_puts(text,
			  ", all of which have requests to this same process that wait for one "
			  "more: probably a deadlock");
	} else if (!thing->lost) {
		text_puts(text, ", all of which some of them have: probably a deadlock");
	} else {
		text_printf(text,
			    ": some of them have %" PRIu64
			    ", and nobody reads the answers on the others: probably a deadlock",
			    thing->pool_items);
	}
}

/* "for room in the block 7f..., whose next item no link takes" */
static void append_block(struct text *text, const struct wait_thing *thing)
{
	text_printf(text, "for room in the block %" PRIx64, wait_thing_cause(thing));
	if (thing->block_end == BLOCK_REFUSED) {
		text_puts(text, ", whose next item no link takes");
	} else {
		text_puts(text, thing->may_change ? ", from which somebody may still take"
						  : ", from which probably nobody takes");
	}
}

/* "7 calls wait for a reply of the MailboxProcessor 7f..., whose loop has ended" */
static void append_agent(struct text *text, const struct wait_thing *thing)
{
	char count[COUNT_SIZE];
	text_printf(text,
		    "%s %s for a reply of the MailboxProcessor %" PRIx64 ", whose loop has ended",
		    format_count(thing->calls, "call", count), thing->calls == 1 ? "waits" : "wait",
		    thing->address);
}

void append_thing(struct text *text, const struct wait_thing *thing)
{
	if (thing->kind == THING_AGENT) {
		append_agent(text, thing);
		return;
	}
	bool may_change = thing->may_change;
	append_counts(text, thing->threads, thing->methods, "async method");
	text_puts(text, thing->threads + thing->methods == 1 ? " waits " : " wait ");
	if (thing->is_alone && (!thing->pool_items || thing->kind == THING_RENTAL)) {
		append_alone(text, thing);
		return;
	}
	switch (thing->kind) {
	case AWAIT_READ:
		if (thing->pool_items) {
			text_printf(text,
				    "for one of the %" PRIu64 " items of the channel %" PRIx64
				    ", all of which some of them have: probably a deadlock",
				    thing->pool_items, thing->address);
			break;
		}
		text_printf(text,
			    may_change ? "for something to read from the channel %" PRIx64
					 ", to which somebody may still write"
				       : "for something to read from the channel %" PRIx64
					 ", to which probably nobody writes",
			    thing->address);
		break;
	case AWAIT_LIMITER:
		append_limiter(text, thing);
		break;
	case AWAIT_HTTP:
	case AWAIT_HTTP2:
		append_connection(text, thing);
		break;
	case AWAIT_SEND:
		append_block(text, thing);
		break;
	case AWAIT_COMPLETION:
		append_completion(text, thing);
		break;
	case AWAIT_WRITE:
		append_room(text, thing);
		break;
	case THING_BARRIER:
		text_printf(text,
			    may_change ? "for the others at the Barrier %" PRIx64
					 ", to which somebody may still come"
				       : "for the others at the Barrier %" PRIx64
					 ", to which probably nobody comes",
			    thing->address);
		break;
	case THING_COUNTDOWN:
		text_printf(text,
			    may_change ? "for the CountdownEvent %" PRIx64
					 ", which somebody may still signal"
				       : "for the CountdownEvent %" PRIx64
					 ", which probably nobody signals",
			    thing->address);
		break;
	case THING_DELAY:
		text_printf(text, "for Task.Delay %" PRIx64 " without a limit", thing->address);
		break;
	case AWAIT_SEMAPHORE:
		if (thing->pool_items) {
			text_printf(text,
				    "for one of the %" PRIu64 " places of SemaphoreSlim %" PRIx64
				    ", all of which some of them have: probably a deadlock",
				    thing->pool_items, thing->address);
			break;
		}
		text_printf(text,
			    may_change ? "for SemaphoreSlim %" PRIx64
					 ", which somebody may still release"
				       : "for SemaphoreSlim %" PRIx64
					 ", which probably nobody releases",
			    thing->address);
		break;
	default:
		text_printf(text,
			    may_change
				    ? "for the task %" PRIx64 " of a TaskCompletionSource, which "
				      "somebody may still complete"
				    : "for the task %" PRIx64 " of a TaskCompletionSource, which "
				      "probably nobody completes",
			    thing->address);
		break;
	}
}

/* " in Shop.Bank.Transfer <- Shop.Teller.Serve and Shop.Bank.Audit": where the first two members wait. */
static void append_places(struct text *text, const struct waits *waits, const uint32_t *members,
			  const struct deadlock *deadlock)
{
	HD_CLEANUP(text) struct text first = { 0 };
	append_place(&first, waits, members[0]);
	if (!first.size)
		return;
	text_puts(text, " in ");
	text_append(text, first.bytes, first.size);
	for (size_t i = 1; i < deadlock->count && i < PLACES_MAX; i++) {
		HD_CLEANUP(text) struct text next = { 0 };
		append_place(&next, waits, members[i]);
		if (!next.size ||
		    (next.size == first.size && memcmp(next.bytes, first.bytes, next.size) == 0))
			continue;
		text_puts(text, " and ");
		text_append(text, next.bytes, next.size);
		return;
	}
}

static void append_deadlock(struct text *text, const struct waits *waits, const uint32_t *members,
			    const struct deadlock *deadlock)
{
	text_puts(text, deadlock->is_probable ? "Probably a deadlock: " : "Deadlock: ");
	append_members(text, deadlock);
	text_puts(text, deadlock->count == 1 ? " waits for itself" : " wait for each other");
	append_places(text, waits, members, deadlock);
	if (!deadlock->following_threads && !deadlock->following_chains)
		return;
	text_puts(text, ", and ");
	append_followers(text, deadlock);
	text_puts(text, deadlock->count == 1 ? " for it" : " for them");
}

/* " in Shop.Bank.Close <- Shop.Program.Main" */
static void append_owner_place(struct text *text, const struct waits *waits,
			       const struct thread_wait *owner)
{
	HD_CLEANUP(text) struct text place = { 0 };
	append_place(&place, waits, (uint32_t)(owner - waits->rows));
	if (place.size)
		text_printf(text, " in %s", place.bytes);
}

static void append_starved(struct text *text, const struct verdict *verdict)
{
	char count[COUNT_SIZE];
	text_puts(text, "The thread pool has no free worker: ");
	if (verdict->count == 1) {
		text_puts(text, "the only one waits");
	} else {
		text_printf(text, "all %" PRIu64 " wait", verdict->count);
	}
	if (verdict->starved.sleeping > verdict->count / 2)
		text_printf(text, " (%" PRIu64 " in Thread.Sleep)", verdict->starved.sleeping);
	text_printf(text, ", and %s %s queued",
		    format_count(verdict->starved.queued, "work item", count),
		    verdict->starved.queued == 1 ? "is" : "are");
}

/* ", which a thread has that has ended: nobody can leave it" */
static void append_orphan_holder(struct text *text, const struct waits *waits,
				 const struct verdict *verdict)
{
	const struct object *lock = &verdict->thread->object;
	uint64_t readers = verdict->thread->kind == WAIT_WRITE ? wait_lock_readers(waits, lock) : 0;
	uint64_t ended = verdict->thread->unknown_readers;
	if (readers > 1) {
		text_printf(text,
			    ", which %" PRIu64 " threads have for reading that %s: they probably "
			    "did not leave it",
			    readers,
			    ended == readers ? "have ended"
			    : ended          ? "are idle or have ended"
					     : "are idle");
	} else if (readers) {
		text_printf(
			text,
			", which a thread has for reading that %s: it probably did not leave it",
			ended ? "has ended" : "is idle");
	} else {
		text_puts(
			text,
			verdict->is_probable
				? ", which a thread has that is idle: it probably did not leave it"
				: ", which a thread has that has ended: nobody can leave it");
	}
}

/* "3 threads wait for the lock of System.Object 7f..., whose holder has ended: nobody can leave it" */
static void append_orphan(struct text *text, const struct waits *waits,
			  const struct verdict *verdict)
{
	struct heap *heap = waits->heap;
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	char count[COUNT_SIZE];
	struct object object;
	text_printf(text, "%s %s for ", format_count(verdict->count, "thread", count),
		    verdict->count == 1 ? "waits" : "wait");
	if (verdict->thread->kind == WAIT_MONITOR)
		text_puts(text, "the monitor of ");
	if (object_read(heap, &window, verdict->lock, &object)) {
		size_t size;
		const char *name = type_name(heap->runtime, object.type, &size);
		text_append(text, name, size);
		text_puts(text, " ");
	}
	text_printf(text, "%" PRIx64, verdict->lock);
	append_orphan_holder(text, waits, verdict);
}

static void append_requests(struct text *text, const struct waits *waits,
			    const struct stuck_requests *requests)
{
	text_printf(text, "%" PRIu64 " of %" PRIu64 " requests wait in ", requests->count,
		    requests->all);
	text_puts(text, async_node_name(waits->async, &waits->async->rows[requests->own]));
	text_printf(text, " (%s), without a limit of time",
		    async_wait_name(waits->async->rows[requests->end].wait));
}

static void append_output(struct text *text, const struct waits *waits,
			  const struct verdict *verdict)
{
	char count[COUNT_SIZE];
	struct wait_process process = { 0 };
	(void)wait_process_read(waits, verdict->thread, &process);
	text_printf(text, "%s %s for the end of ", format_count(verdict->count, "thread", count),
		    verdict->count == 1 ? "waits" : "wait");
	if (verdict->count == 1) {
		append_process(text, waits, &process);
	} else {
		text_puts(text, "processes (one is ");
		append_process(text, waits, &process);
		text_puts(text, ")");
	}
	text_puts(text, ", whose output nobody reads: it probably waits until the pipe has room");
}

void append_summary(struct text *text, const struct waits *waits, const struct verdict *verdict)
{
	struct heap *heap = waits->heap;
	char count[COUNT_SIZE];
	switch (verdict->kind) {
	case VERDICT_DEADLOCK:
		append_deadlock(text, waits, verdict->members, verdict->deadlock);
		break;
	case VERDICT_ORPHAN:
		append_orphan(text, waits, verdict);
		break;
	case VERDICT_REQUESTS:
		append_requests(text, waits, &verdict->requests);
		break;
	case VERDICT_START:
		append_no_start(text, waits, verdict->start);
		break;
	case VERDICT_READERS:
		append_busy_channel(text, waits, verdict->busy);
		break;
	case VERDICT_PULSE:
		append_lost_pulse(text, waits, verdict->pulse);
		break;
	case VERDICT_ANSWER:
		append_thread(text, heap, verdict->thread->thread);
		append_own_answer(text, waits, verdict->answer);
		break;
	case VERDICT_PLACES:
	case VERDICT_RETRY:
		if (verdict->place) {
			append_lost_places(text, waits, verdict->place);
		} else {
			append_retry(text, waits, verdict->failed, verdict->trier, verdict->count);
		}
		break;
	case VERDICT_OUTPUT:
		append_output(text, waits, verdict);
		break;
	case VERDICT_CIRCLE:
		text_puts(text, verdict->is_probable ? "Probably a deadlock: " : "Deadlock: ");
		if (verdict->count == 1) {
			text_puts(text, "an async method awaits itself");
		} else {
			text_printf(text, "%" PRIu64 " async methods await each other",
				    verdict->count);
		}
		break;
	case VERDICT_STARVED:
		append_starved(text, verdict);
		break;
	case VERDICT_ONE_OWNER:
		text_printf(text, "%" PRIu64 " threads %swait for ", verdict->count,
			    verdict->is_probable ? "probably " : "");
		append_thread(text, heap, verdict->thread->thread);
		text_puts(text, ", which waits itself");
		append_owner_place(text, waits, verdict->thread);
		break;
	case VERDICT_ONE_OBJECT:
		append_thing(text, &verdict->thing);
		break;
	case VERDICT_FINALIZER:
		text_printf(text, "The finalizer thread waits, and %s %s due",
			    format_count(verdict->count, "finalizer", count),
			    verdict->count == 1 ? "is" : "are");
		break;
	case VERDICT_COLLECTION:
		text_puts(text, verdict->is_probable ? "Probably a garbage collection waits for "
						     : "A garbage collection waits for ");
		append_thread(text, heap, verdict->thread->thread);
		if (verdict->count > 1)
			text_printf(text, " and %" PRIu64 " more", verdict->count - 1);
		text_puts(text,
			  verdict->count > 1 ? ", which do not stop" : ", which does not stop");
		break;
	}
	text_puts(text, ".");
}
