/* SPDX-License-Identifier: MIT */
#include "command/threads/hang_start.h"

#include <inttypes.h>

#include "analysis/async/async_graph.h"
#include "hangs/host_start.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/text.h"

static void append_own(struct text *text, const struct waits *waits, const struct host_start *start)
{
	text_puts(text, async_node_name(waits->async, &waits->async->rows[start->own]));
}

static void append_completer(struct text *text, const struct waits *waits,
			     const struct host_start *start)
{
	size_t size;
	const char *name = type_name(waits->heap->runtime, start->completer.type, &size);
	text_escape(text, name, size);
}

void append_starting(struct text *text, const struct waits *waits, const struct host_start *start)
{
	const struct async_node *rows = waits->async->rows;
	const struct async_node *end = &rows[rows[start->call].end];
	text_puts(text, "the host is still starting: ");
	append_own(text, waits, start);
	text_printf(text, " waits (%s)", async_wait_name(end->wait));
	if (start->later) {
		text_printf(text, ", and %" PRIu64 " of %" PRIu64 " services %s not started",
			    start->later, start->services, start->later == 1 ? "has" : "have");
	}
}

void append_no_start(struct text *text, const struct waits *waits, const struct host_start *start)
{
	text_puts(text, "The host does not start: ");
	append_own(text, waits, start);
	text_puts(text, " waits for a TaskCompletionSource, which probably only ");
	append_completer(text, waits, start);
	text_puts(text, " completes, a service that starts after it");
}

void append_not_started(struct text *text, const struct waits *waits,
			const struct host_start *start)
{
	text_printf(text,
		    "%" PRIu64 " of %" PRIu64
		    " services %s not started, as they start one after the other: ",
		    start->later, start->services, start->later == 1 ? "has" : "have");
	append_completer(text, waits, start);
	text_printf(text, " %" PRIx64 " is %s", start->completer.address,
		    start->later == 1 ? "it" : "one of them");
}
