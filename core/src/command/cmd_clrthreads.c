/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "clr/clr.h"
#include "command/command.h"
#include "heap/heap.h"

/* Thread.State (threads.h). */
#define STATE_UNSTARTED  0x00000400u
#define STATE_DEAD       0x00000800u
#define STATE_BACKGROUND 0x00000200u
#define STATE_THREADPOOL 0x01000000u

struct thread_counts {
	uint64_t unstarted, background, dead;
};

static struct thread_counts count_threads(const struct clr *clr)
{
	struct thread_counts counts = { 0 };
	for (size_t i = 0; i < clr->thread_count; i++) {
		uint32_t state = clr->threads[i].state;
		counts.unstarted += (state & STATE_UNSTARTED) != 0;
		counts.background += (state & STATE_BACKGROUND) != 0;
		counts.dead += (state & STATE_DEAD) != 0;
	}
	return counts;
}

/* Index of a thread among those of the target, as debuggers number them; -1: it has none. */
static int debugger_index(const struct clr *clr, uint64_t os_id)
{
	for (size_t i = 0; i < clr->target->thread_count; i++) {
		if (os_id && (uint64_t)clr->target->threads[i].tid == os_id)
			return (int)i;
	}
	return -1;
}

static void write_text(struct call *call, const struct clr *clr)
{
	struct out *out = &call->out;
	struct thread_counts counts = count_threads(clr);
	out_printf(out,
		   "ThreadCount:      %zu\nUnstartedThread:  %" PRIu64
		   "\nBackgroundThread: %" PRIu64 "\nDeadThread:       %" PRIu64 "\n",
		   clr->thread_count, counts.unstarted, counts.background, counts.dead);
	out_styled(out, STYLE_HEAD, "%4s %4s %8s %-16s %8s %-10s  %-33s", "DBG", "ID", "OSID",
		   "ThreadOBJ", "State", "GC Mode", "GC Alloc Context");
	out_puts(out, "\n");
	for (size_t i = 0; i < clr->thread_count && !out->stopped; i++) {
		const struct clr_thread *thread = &clr->threads[i];
		int index = debugger_index(clr, thread->os_id);
		if (index >= 0) {
			out_printf(out, "%4d ", index);
		} else {
			out_printf(out, "%4s ", (thread->state & STATE_DEAD) ? "XXXX" : "");
		}
		out_printf(out,
			   "%4" PRIu32 " %8" PRIx64 " %016" PRIX64 " %8" PRIx32
			   " %-10s  %016" PRIX64 ":%016" PRIX64,
			   thread->id, thread->os_id, thread->address, thread->state,
			   thread->is_cooperative ? "Cooperative" : "Preemptive",
			   thread->alloc_pointer, thread->alloc_limit);
		if (thread->state & STATE_DEAD)
			out_puts(out, " (dead)");
		if (thread->state & STATE_UNSTARTED)
			out_puts(out, " (unstarted)");
		if (thread->state & STATE_THREADPOOL)
			out_puts(out, " (Threadpool Worker)");
		out_puts(out, "\n");
	}
}

enum hd_status run_clrthreads(struct call *call)
{
	const struct clr *clr = call->heap->clr;
	if (!call->as_json) {
		write_text(call, clr);
		return HD_OK;
	}
	struct json *json = &call->json;
	json_array(json, "threads");
	for (size_t i = 0; i < clr->thread_count && !call->out.stopped; i++) {
		const struct clr_thread *thread = &clr->threads[i];
		json_object(json, NULL);
		json_number(json, "id", thread->id);
		json_number(json, "os_id", thread->os_id);
		json_address(json, "address", thread->address);
		json_address(json, "state", thread->state);
		json_bool(json, "cooperative", thread->is_cooperative);
		json_bool(json, "dead", (thread->state & STATE_DEAD) != 0);
		json_object(json, "context");
		json_address(json, "pointer", thread->alloc_pointer);
		json_address(json, "limit", thread->alloc_limit);
		json_end(json);
		json_end(json);
	}
	json_end(json);
	return HD_OK;
}
