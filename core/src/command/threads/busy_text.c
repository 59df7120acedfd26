/* SPDX-License-Identifier: MIT */
#include "command/threads/busy_text.h"

#include <inttypes.h>

#include "analysis/async/async_graph.h"
#include "hangs/busy_readers.h"
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
