/* SPDX-License-Identifier: MIT */
#include "command/threads/alone_text.h"

#include <inttypes.h>

#include "analysis/async/async_graph.h"
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

void append_alone(struct text *text, const struct wait_thing *thing)
{
	struct alone_words words = words_of(thing);
	text_printf(text, "%s %" PRIx64 ", which %snobody else has any more: nobody can %s",
		    words.before, thing->address,
		    thing->kind == THING_START ? "was never started and " : "", words.after);
}
