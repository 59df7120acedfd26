/* SPDX-License-Identifier: MIT */
#include "command/threads/alone_text.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/async/async_graph.h"
#include "command/threads/wait_text.h"
#include "hangs/lost_places.h"
#include "hangs/wait_things.h"
#include "util/text.h"

/* The name of a kind of thing before its address, and who is missing. */
struct alone_words {
	const char *before, *after;
};

static struct alone_words words_of(const struct wait_thing *thing)
{
	switch (thing->kind) {
	case AWAIT_SEMAPHORE:
		return (struct alone_words){ "for SemaphoreSlim", "release it" };
	case AWAIT_READ:
		return thing->is_collection
			       ? (struct alone_words){ "for an item of the BlockingCollection",
						       "add one, or call CompleteAdding" }
			       : (struct alone_words){ "for something to read from the channel",
						       "write to it or complete it" };
	case AWAIT_WRITE:
		return (struct alone_words){ thing->is_collection
						     ? "for room in the BlockingCollection"
						     : "for room in the channel",
					     "read from it" };
	case AWAIT_COMPLETION:
		return (struct alone_words){ "for the end of the channel",
					     thing->left ? "read from it" : "complete it" };
	case THING_BARRIER:
		return (struct alone_words){ "for the others at the Barrier", "come to it" };
	case THING_COUNTDOWN:
		return (struct alone_words){ "for the CountdownEvent", "signal it" };
	case THING_EVENT:
		return (struct alone_words){ "for ManualResetEventSlim", "set it" };
	case THING_PULSE:
		return (struct alone_words){ "in Monitor.Wait of", "pulse it" };
	case THING_START:
		return (struct alone_words){ "for the task", "start it" };
	default:
		return (struct alone_words){ "for the task of a TaskCompletionSource",
					     "complete it" };
	}
}

static void append_rental(struct text *text, const struct wait_thing *thing)
{
	if (thing->pool_items == 1) {
		text_printf(text,
			    "for the only object of the pool %" PRIx64
			    ", which nobody else has any more: nobody can give it back",
			    thing->address);
		return;
	}
	text_printf(text,
		    "for one of the %" PRIu64 " objects of the pool %" PRIx64
		    ", which nobody else has any more: nobody can give one back",
		    thing->pool_items, thing->address);
}

void append_alone(struct text *text, const struct wait_thing *thing)
{
	if (thing->kind == THING_RENTAL) {
		append_rental(text, thing);
		return;
	}
	struct alone_words words = words_of(thing);
	text_printf(text, "%s %" PRIx64 ", which %snobody else has any more: nobody can %s",
		    words.before, thing->address,
		    thing->kind == THING_START ? "was never started and " : "", words.after);
}

void append_alone_cause(struct text *text, const struct wait_thing *thing)
{
	uint64_t others = thing->pool_items - thing->lost;
	if (thing->kind != THING_RENTAL) {
		text_puts(text, "all ways to it from static variables, handles, timers and other "
				"threads lead over those who wait for it");
		return;
	}
	if (thing->lost) {
		text_printf(text,
			    "%" PRIu64
			    " of them %s reached over the pool only: who had %s has lost %s",
			    thing->lost, thing->lost == 1 ? "is" : "are",
			    thing->lost == 1 ? "it" : "them", thing->lost == 1 ? "it" : "them");
	}
	if (others) {
		text_printf(text, "%s%" PRIu64 " of them %s with those who wait for one more",
			    thing->lost ? ", and " : "", others, others == 1 ? "is" : "are");
	}
}

/* " wait for SemaphoreSlim 7f.., which a call of Shop.Bank.Renew probably has: it tries something again and again" */
static void append_retry(struct text *text, const struct waits *waits,
			 const struct lost_place *place)
{
	const char *name = async_node_name(waits->async, &waits->async->rows[place->holder]);
	text_printf(text, " %s for SemaphoreSlim %" PRIx64 ", which a call of ",
		    place->threads + place->methods == 1 ? "waits" : "wait", place->semaphore);
	text_escape(text, name, strlen(name));
	text_printf(text,
		    " probably has: it tries something again and again, %" PRIu32 " times so far",
		    place->tries);
}

void append_lost_places(struct text *text, const struct waits *waits,
			const struct lost_place *place)
{
	append_counts(text, place->threads, place->methods, "async method");
	if (place->holders) {
		append_retry(text, waits, place);
		return;
	}
	text_printf(text, " %s for SemaphoreSlim %" PRIx64 ": ",
		    place->threads + place->methods == 1 ? "waits" : "wait", place->semaphore);
	if (place->places == 1) {
		text_puts(text, "its only place is taken, and probably nobody has it any more");
	} else if (place->places) {
		text_printf(text,
			    "its %" PRIu64 " places are taken, and probably nobody has one any "
			    "more",
			    place->places);
	} else {
		text_puts(text, "no place is free, and probably nobody has one any more");
	}
}

void append_place_methods(struct text *text, const struct lost_place *place)
{
	text_puts(text, "it is ");
	text_escape(text, place->field, strlen(place->field));
	text_puts(text, ": ");
	text_escape(text, place->enters, strlen(place->enters));
	text_puts(text, " takes a place, and ");
	if (strcmp(place->enters, place->releases) == 0) {
		text_puts(text, "gives it back");
	} else {
		text_escape(text, place->releases, strlen(place->releases));
		text_puts(text, " gives it back");
	}
}

void append_place_calls(struct text *text, const struct waits *waits,
			const struct lost_place *place)
{
	if (place->holders) {
		const char *name = async_node_name(waits->async, &waits->async->rows[place->trier]);
		text_escape(text, name, strlen(name));
		text_puts(text, " counts its tries, and waits for a time before the next one");
		return;
	}
	text_printf(text,
		    "none of the %" PRIu64 " calls in flight that use it has passed its wait: an "
		    "exception or a return between the two has probably lost the places",
		    place->calls);
}
