/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "clr/in_flight.h"
#include "command/object.h"

/* Thread.State (threads.h). */
#define STATE_UNSTARTED       0x00000400u
#define STATE_DEAD            0x00000800u
#define STATE_BACKGROUND      0x00000200u
#define STATE_THREADPOOL      0x01000000u
#define STATE_COMPLETION_PORT 0x08000000u

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

/* SOS's lines; "Hosted Runtime" is of old, and so are the last but one columns. */
static void write_head(struct out *out, const struct clr *clr)
{
	struct thread_counts counts = count_threads(clr);
	out_printf(out,
		   "ThreadCount:      %zu\nUnstartedThread:  %" PRIu64
		   "\nBackgroundThread: %" PRIu64 "\n",
		   clr->thread_count, counts.unstarted, counts.background);
	if (clr->pending_threads >= 0) {
		out_printf(out, "PendingThread:    %" PRId64 "\n", clr->pending_threads);
	} else {
		out_puts(out, "PendingThread:\n");
	}
	out_printf(out, "DeadThread:       %" PRIu64 "\nHosted Runtime:   no\n", counts.dead);
	out_printf(out, "%112s\n", "Lock");
	out_styled(out, STYLE_HEAD, "%4s %4s %8s %-16s %8s %-11s %-33s %-16s %-5s %s %s", "DBG",
		   "ID", "OSID", "ThreadOBJ", "State", "GC Mode", "GC Alloc Context", "Domain",
		   "Count", "Apt", "Exception");
	out_puts(out, "\n");
}

/* Was the exception in flight thrown while another one was handled?  SOS asks the same. */
static bool has_nested(const struct clr *clr, const struct clr_thread *thread)
{
	struct in_flight flight;
	in_flight_begin(&flight, clr, thread->address);
	if (flight.at)
		in_flight_next(&flight);
	return flight.at != 0;
}

/* What stands in SOS's last column: what the thread is for, and what it threw last. */
static void write_labels(struct call *call, const struct clr_thread *thread,
			 const struct type *exception)
{
	struct out *out = &call->out;
	struct clr *clr = call->heap->clr;
	if (thread->address == clr->finalizer_thread)
		out_puts(out, " (Finalizer)");
	if (thread->address == clr->gc_thread)
		out_puts(out, " (GC)");
	if (thread->state & STATE_THREADPOOL) {
		out_puts(out, " (Threadpool Worker)");
	} else if (thread->state & STATE_COMPLETION_PORT) {
		out_puts(out, " (Threadpool Completion Port)");
	}
	if (!thread->exception)
		return;
	out_puts(out, " ");
	if (exception) {
		size_t size;
		const char *name = type_name(clr, exception, &size);
		out_type(out, name, size, exception->method_table);
	} else {
		out_styled(out, STYLE_NOTE, "<no object>");
	}
	out_puts(out, " ");
	out_styled(out, STYLE_ADDRESS, "%016" PRIx64, thread->exception);
	if (has_nested(clr, thread))
		out_puts(out, " (nested exceptions)");
}

static void thread_text(struct call *call, const struct clr_thread *thread,
			const struct type *exception)
{
	struct out *out = &call->out;
	const struct clr *clr = call->heap->clr;
	int64_t number = target_thread_number(clr->target, thread->os_id);
	if (number >= 0) {
		out_printf(out, "%4" PRId64 " ", number);
	} else {
		out_puts(out, "XXXX ");
	}
	/* .NET has neither lock counts nor apartments here: SOS prints these. */
	out_printf(out,
		   "%4" PRIu32 " %8" PRIx64 " %016" PRIX64 " %8" PRIx32 " %-11s %016" PRIX64
		   ":%016" PRIX64 " ",
		   thread->id, thread->os_id, thread->address, thread->state,
		   thread->is_cooperative ? "Cooperative" : "Preemptive", thread->alloc_pointer,
		   thread->alloc_limit);
	if (clr->app_domain) {
		out_printf(out, "%016" PRIX64, clr->app_domain);
	} else {
		out_printf(out, "%16s", "");
	}
	out_puts(out, " -00001 Ukn");
	write_labels(call, thread, exception);
	out_puts(out, "\n");
}

static void thread_json(struct call *call, const struct clr_thread *thread,
			const struct type *exception)
{
	struct json *json = &call->json;
	struct clr *clr = call->heap->clr;
	json_object(json, NULL);
	json_number(json, "id", thread->id);
	json_number(json, "os_id", thread->os_id);
	json_address(json, "address", thread->address);
	json_address(json, "state", thread->state);
	json_bool(json, "cooperative", thread->is_cooperative);
	json_bool(json, "dead", (thread->state & STATE_DEAD) != 0);
	if (clr->finalizer_thread) {
		json_bool(json, "finalizer", thread->address == clr->finalizer_thread);
	} else {
		json_null(json, "finalizer");
	}
	if (!layout_has(&clr->layout, L_THREAD_EXCEPTION)) {
		json_null(json, "exception");
	} else {
		json_address(json, "exception", thread->exception);
	}
	json_string(json, "exception_type", exception ? type_name(clr, exception, NULL) : NULL);
	if (layout_has(&clr->layout, L_THREAD_EXCEPTION_TRACKER)) {
		json_bool(json, "nested", thread->exception && has_nested(clr, thread));
	} else {
		json_null(json, "nested");
	}
	json_object(json, "context");
	json_address(json, "pointer", thread->alloc_pointer);
	json_address(json, "limit", thread->alloc_limit);
	json_end(json);
	json_end(json);
}

enum hd_status run_clrthreads(struct call *call)
{
	const struct clr *clr = call->heap->clr;
	struct window window = { .memory = call->heap->memory };
	if (call->as_json) {
		json_array(&call->json, "threads");
	} else {
		write_head(&call->out, clr);
	}
	for (size_t i = 0; i < clr->thread_count && !call->out.stopped; i++) {
		const struct clr_thread *thread = &clr->threads[i];
		struct object object;
		bool has_object = thread->exception &&
				  object_read(call->heap, &window, thread->exception, &object);
		const struct type *exception = has_object ? object.type : NULL;
		if (call->as_json) {
			thread_json(call, thread, exception);
		} else {
			thread_text(call, thread, exception);
		}
	}
	window_deinit(&window);
	if (call->as_json)
		json_end(&call->json);
	return HD_OK;
}
