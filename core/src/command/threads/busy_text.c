/* SPDX-License-Identifier: MIT */
#include "command/threads/busy_text.h"

#include <inttypes.h>

#include "analysis/async/async_graph.h"
#include "hangs/busy_readers.h"
#include "hangs/own_answers.h"
#include "inspect/async_name.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/text.h"

void append_busy_channel(struct text *text, const struct waits *waits,
			 const struct busy_channel *busy)
{
	text_printf(text,
		    "Probably nobody reads on from the channel %" PRIx64 ": all %" PRIu64
		    " readers wait in ",
		    busy->channel, busy->readers);
	text_puts(text, async_node_name(waits->async, &waits->async->rows[busy->own]));
	text_printf(text, ", and %" PRIu64 " %s in it", busy->items,
		    busy->items == 1 ? "item is" : "items are");
}

void append_busy_cause(struct text *text, const struct busy_channel *busy)
{
	text_puts(
		text,
		busy->is_seen
			? "each of them waits for an answer to an item that is in the channel"
			: "the library that reads the channel also makes what they wait for, and nothing "
			  "else of it is at work: if that comes through the channel, nobody goes on");
}

void append_own_answer(struct text *text, const struct waits *waits,
		       const struct own_answer *answer)
{
	struct runtime *runtime = waits->heap->runtime;
	text_puts(text, " probably waits for ever in ");
	(void)method_user_append(text, runtime, wait_method(answer->thread));
	text_puts(text, ": ");
	(void)method_user_append(text, runtime, answer->method);
	text_puts(text, ", further out on its stack, would bring the answer");
}

void append_answer_ways(struct text *text, const struct waits *waits,
			const struct own_answer *answer)
{
	size_t size;
	const char *name = type_name(waits->heap->runtime, answer->holder.type, &size);
	text_printf(text,
		    "all other ways to the task %" PRIx64 " of a TaskCompletionSource lead over ",
		    answer->source);
	text_escape(text, name, size);
	text_printf(text, " %" PRIx64 ", which ", answer->holder.address);
	(void)method_user_append(text, waits->heap->runtime, answer->method);
	text_puts(text, " or its callers have; nobody else was found who has that and is in a "
			"method that sets results");
}

void append_answer_cause(struct text *text, const struct own_answer *answer)
{
	text_puts(
		text,
		answer->is_inline
			? "it completes another source meanwhile, and runs at once what waits for "
			  "that: make sources with "
			  "TaskCreationOptions.RunContinuationsAsynchronously"
			: "who reads answers must not wait for one: await it, or let another thread "
			  "do the work");
}
