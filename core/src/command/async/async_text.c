/* SPDX-License-Identifier: MIT */
#include "command/async/async_text.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/async/async_wait.h"

const char *async_wait_words(const char *name)
{
	if (strcmp(name, async_wait_name(AWAIT_UNKNOWN)) == 0)
		return "what is not known";
	return strcmp(name, async_wait_name(AWAIT_THREAD)) == 0 ? "a free thread" : name;
}

void append_async_wait(struct text *text, struct async_graph *graph, const struct async_node *node)
{
	/* The method waits only for a free thread: the object is done, and is not that thread. */
	bool is_thread = node->wait == AWAIT_THREAD;
	text_puts(text, async_wait_words(async_wait_name(node->wait)));
	if (!node->object || is_thread)
		return;
	text_printf(text, " %" PRIx64, node->object);
	HD_CLEANUP(text) struct text detail = { 0 };
	async_wait_append(&detail, graph, node);
	if (detail.size) {
		text_puts(text, " (");
		text_escape(text, detail.bytes, detail.size);
		text_puts(text, ")");
	}
}
