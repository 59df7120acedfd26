/* SPDX-License-Identifier: MIT */
#include "output/root_label.h"

#include <inttypes.h>
#include <string.h>

const char *const root_kind_names[] = {
	[HD_ROOT_INTERNAL] = "internal",
	[HD_ROOT_STACK] = "stack",
	[HD_ROOT_FINALIZER] = "finalizer",
	[HD_ROOT_HANDLE] = "handle",
	[HD_ROOT_STATIC] = "static",
	[HD_ROOT_GC] = "gc",
	[HD_ROOT_THREAD_STATIC] = "thread-static",
	NULL,
};

const char *const root_flag_names[] = { "pinned", "weak", "interior", "conservative", NULL };

const char *root_kind_name(uint8_t kind)
{
	return root_kind_names[kind];
}

const struct graph_frame *root_frame(const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root_detail *detail = root_detail(graph, index);
	return detail && detail->frame < graph->origins.frame_count
		       ? &graph->origins.frames[detail->frame]
		       : NULL;
}

const struct graph_thread *root_thread(const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root_detail *detail = root_detail(graph, index);
	return detail && detail->thread < graph->origins.thread_count
		       ? &graph->origins.threads[detail->thread]
		       : NULL;
}

static void put_label_text(struct out *out, const char *text)
{
	text_escape(&out->text, text, strlen(text));
}

void thread_label(struct out *out, const struct graph_thread *thread)
{
	out_puts(out, "Thread");
	if (thread->os_id)
		out_printf(out, " %" PRIx64, thread->os_id);
	out_printf(out, " (managed %" PRIu32 ")", thread->id);
	if (thread->name) {
		out_puts(out, " \"");
		put_label_text(out, thread->name);
		out_puts(out, "\"");
	}
}
