/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "command/objects/object.h"
#include "command/table.h"
#include "command/threads/thread_choice.h"
#include "inspect/thread_name.h"
#include "runtime/coreclr/threads/in_flight.h"
#include "runtime/thread_state.h"
#include "targets/target.h"

#define CLRTHREADS_OPTIONS(X)                                                                     \
	X(OPT_LIVE, "live", VALUE_NONE, NULL, "only threads that have begun and not ended", NULL) \
	X(OPT_SPECIAL, "special", VALUE_NONE, NULL,                                               \
	  "also, after them, the threads that have a purpose of the runtime", NULL)               \
	X(OPT_MANAGED_EXCEPTION, "managedexception", VALUE_NONE, NULL,                            \
	  "only threads that have thrown an exception", NULL)

OPTIONS(clrthreads, CLRTHREADS_OPTIONS);

struct thread_counts {
	uint64_t unstarted, background, dead;
};

static struct thread_counts count_threads(const struct runtime *runtime)
{
	struct thread_counts counts = { 0 };
	for (size_t i = 0; i < runtime_thread_count(runtime); i++) {
		const struct runtime_thread *thread = runtime_thread_at(runtime, i);
		counts.unstarted += thread_state_is(thread, THREAD_STATE_UNSTARTED);
		counts.background += thread_state_is(thread, THREAD_STATE_BACKGROUND);
		counts.dead += thread_state_is(thread, THREAD_STATE_DEAD);
	}
	return counts;
}

/* SOS's columns take so much room, with the purpose of a thread after them. */
#define WIDE_COLUMNS 130

/* SOS's lines; "Hosted Runtime" is of old. */
static void write_thread_counts(struct answer *answer, const struct runtime *runtime)
{
	struct thread_counts counts = count_threads(runtime);
	answer_remark(answer,
		      "ThreadCount:      %zu\nUnstartedThread:  %" PRIu64
		      "\nBackgroundThread: %" PRIu64 "\n",
		      runtime_thread_count(runtime), counts.unstarted, counts.background);
	if (runtime_pending_threads(runtime) >= 0) {
		answer_remark(answer, "PendingThread:    %" PRId64 "\n",
			      runtime_pending_threads(runtime));
	} else {
		answer_remark(answer, "PendingThread:\n");
	}
	answer_remark(answer, "DeadThread:       %" PRIu64 "\nHosted Runtime:   no\n", counts.dead);
	if (!out_has_fewer(answer->out, WIDE_COLUMNS))
		answer_remark(answer, "%112s\n", "Lock");
}

/* Was the exception in flight thrown while another one was handled?  SOS asks the same. */
static bool has_nested(const struct runtime *runtime, const struct runtime_thread *thread)
{
	struct in_flight flight;
	in_flight_begin(&flight, runtime, thread->address);
	if (flight.at)
		in_flight_next(&flight);
	return flight.at != 0;
}

#define THREAD_LIST(X)                                                                     \
	X(THREAD_ID, "id", "ID", KIND_NUMBER, 4, 0, "its managed id")                      \
	X(THREAD_OS_ID, "os_id", "OSID", KIND_NUMBER, 8, 0,                                \
	  "its id in the system; 0: it has none now")                                      \
	X(THREAD_ADDRESS, "address", "ThreadOBJ", KIND_ADDRESS, 16, 0,                     \
	  "where the runtime's Thread is")                                                 \
	X(THREAD_STATE, "state", "State", KIND_ADDRESS, 8, 0, "bits of Thread.State")      \
	X(THREAD_STATES, "states", NULL, KIND_SET, 0, 0, "the names of these bits")        \
	X(THREAD_COOPERATIVE, "cooperative", "GC Mode", KIND_FLAG, 11, 0,                  \
	  "does a garbage collection have to wait for it?")                                \
	X(THREAD_DEAD, "dead", NULL, KIND_FLAG, 0, 0, "did it end?")                       \
	X(THREAD_FINALIZER, "finalizer", NULL, KIND_FLAG, 0, 0, "does it run finalizers?") \
	X(THREAD_EXCEPTION, "exception", "Exception", KIND_ADDRESS, 0, 0,                  \
	  "what it threw last, or 0x0")                                                    \
	X(THREAD_EXCEPTION_TYPE, "exception_type", NULL, KIND_TYPE, 0, 0, "type of that")  \
	X(THREAD_NESTED, "nested", NULL, KIND_FLAG, 0, 0,                                  \
	  "was that thrown while another one was handled?")                                \
	X(THREAD_POINTER, "context.pointer", "GC Alloc Context", KIND_ADDRESS, 16, 0,      \
	  "where the free memory begins that it allocates from")                           \
	X(THREAD_LIMIT, "context.limit", NULL, KIND_ADDRESS, 16, 0, "where that ends")     \
	X(THREAD_NAME, "name", NULL, KIND_TEXT, 0, 0, "the name that the program gave it") \
	X(THREAD_NUMBER, NULL, "DBG", KIND_SIGNED, 4, 0, NULL)                             \
	X(THREAD_DOMAIN, NULL, "Domain", KIND_ADDRESS, 16, 0, NULL)                        \
	X(THREAD_PURPOSE, NULL, NULL, KIND_TEXT, 0, 0, NULL)

COLUMNS(thread, THREAD_COLUMNS, THREAD_LIST);

/* SOS's last column, after what the thread is for: what it threw last. */
static void put_exception(struct out *out, const struct cell *cells)
{
	if (!cells[THREAD_EXCEPTION].number)
		return;
	out_puts(out, " ");
	out_type_cell(out, &cells[THREAD_EXCEPTION_TYPE]);
	out_puts(out, " ");
	out_styled(out, STYLE_ADDRESS, "%0*" PRIx64, out_address_digits(out),
		   cells[THREAD_EXCEPTION].number);
	out_puts(out, cells[THREAD_NESTED].flag ? " (nested exceptions)" : "");
}

/* Write fewer of SOS's columns: the terminal has little room. */
static void put_narrow_thread(struct out *out, const struct cell *cells)
{
	out_printf(out, "%4" PRIu64 " %6" PRIx64 " %12" PRIX64 " %7" PRIx64 " %-11s",
		   cells[THREAD_ID].number, cells[THREAD_OS_ID].number,
		   cells[THREAD_ADDRESS].number, cells[THREAD_STATE].number,
		   cells[THREAD_COOPERATIVE].flag ? "Cooperative" : "Preemptive");
	out_puts(out, cells[THREAD_PURPOSE].text.bytes);
	put_exception(out, cells);
	out_puts(out, "\n");
}

static void clrthreads_layout(struct out *out, const struct cell *cells)
{
	int64_t number = cells[THREAD_NUMBER].signed_number;
	if (number >= 0) {
		out_printf(out, "%4" PRId64 " ", number);
	} else {
		out_puts(out, "XXXX ");
	}
	if (out_has_fewer(out, WIDE_COLUMNS)) {
		put_narrow_thread(out, cells);
		return;
	}
	out_printf(out,
		   "%4" PRIu64 " %8" PRIx64 " %016" PRIX64 " %8" PRIx64 " %-11s %016" PRIX64
		   ":%016" PRIX64 " ",
		   cells[THREAD_ID].number, cells[THREAD_OS_ID].number,
		   cells[THREAD_ADDRESS].number, cells[THREAD_STATE].number,
		   cells[THREAD_COOPERATIVE].flag ? "Cooperative" : "Preemptive",
		   cells[THREAD_POINTER].number, cells[THREAD_LIMIT].number);
	if (cells[THREAD_DOMAIN].number) {
		out_printf(out, "%016" PRIX64, cells[THREAD_DOMAIN].number);
	} else {
		out_pad(out, 16);
	}
	/* .NET has neither lock counts nor apartments here: SOS prints these. */
	out_printf(out, " -00001 Ukn%s", cells[THREAD_PURPOSE].text.bytes);
	put_exception(out, cells);
	out_puts(out, "\n");
}

const struct schema clrthreads_schema = {
	.name = "threads",
	SCHEMA_COLUMNS(thread_columns),
	.is_main = true,
	.heading = " DBG   ID     OSID ThreadOBJ           State GC Mode     GC Alloc Context"
		   "                  Domain           Count Apt Exception",
	.narrow_below = WIDE_COLUMNS,
	.narrow_heading = " DBG   ID   OSID    ThreadOBJ   State GC Mode     Exception",
	.layout = clrthreads_layout,
};

/* Write the purpose of the thread. */
static void put_purpose(struct text *text, const struct runtime *runtime,
			const struct runtime_thread *thread)
{
	text_puts(text, runtime_is_finalizer_thread(runtime, thread) ? " (Finalizer)" : "");
	text_puts(text, runtime_is_gc_thread(runtime, thread) ? " (GC)" : "");
	if (thread_state_is(thread, THREAD_STATE_POOL_WORKER)) {
		text_puts(text, " (Threadpool Worker)");
	} else if (thread_state_is(thread, THREAD_STATE_COMPLETION_PORT)) {
		text_puts(text, " (Threadpool Completion Port)");
	}
}

/*
 * Fill the cells about the exception that it threw last; @p object NULL: that cannot be read, or
 * there is none.
 */
static void exception_cells(struct runtime *runtime, const struct runtime_thread *thread,
			    const struct object *object, struct cell cells[THREAD_COLUMNS])
{
	if (runtime_knows_exceptions(runtime))
		cells[THREAD_EXCEPTION] = cell_number(thread->exception);
	if (in_flight_is_known(runtime)) {
		cells[THREAD_NESTED] = cell_flag(thread->exception && has_nested(runtime, thread));
	}
	cells[THREAD_EXCEPTION_TYPE].shown = "<no object>";
	if (object) {
		size_t size;
		const char *name = type_name(runtime, object->type, &size);
		cells[THREAD_EXCEPTION_TYPE] = cell_type(name, size, object->type->method_table);
	}
}

static void write_clr_thread(struct call *call, const struct runtime_thread *thread,
			     const struct object *exception)
{
	struct runtime *runtime = call->heap->runtime;
	HD_CLEANUP(text) struct text purpose = { 0 };
	HD_CLEANUP(text) struct text name = { 0 };
	put_purpose(&purpose, runtime, thread);
	if (!answer_is_text(&call->answer))
		(void)thread_name(call->heap, thread, &name);
	struct cell cells[THREAD_COLUMNS] = {
		[THREAD_ID] = cell_number(thread->id),
		[THREAD_OS_ID] = cell_number(thread->os_id),
		[THREAD_ADDRESS] = cell_number(thread->address),
		[THREAD_STATE] = cell_number(thread->state),
		[THREAD_STATES] = cell_set(thread_state_words, thread->state),
		[THREAD_COOPERATIVE] = cell_flag(thread->is_cooperative),
		[THREAD_DEAD] = cell_flag(thread_state_is(thread, THREAD_STATE_DEAD)),
		[THREAD_POINTER] = cell_number(thread->alloc_pointer),
		[THREAD_LIMIT] = cell_number(thread->alloc_limit),
		[THREAD_NAME] = cell_text(name.size ? name.bytes : NULL, name.size),
		[THREAD_NUMBER] =
			cell_signed(target_thread_number(runtime_target(runtime), thread->os_id)),
		[THREAD_DOMAIN] = cell_number(coreclr_app_domain(runtime)),
		[THREAD_PURPOSE] = cell_string(purpose.bytes ? purpose.bytes : ""),
	};
	if (runtime_knows_finalizer_thread(runtime)) {
		cells[THREAD_FINALIZER] = cell_flag(runtime_is_finalizer_thread(runtime, thread));
	}
	exception_cells(runtime, thread, exception, cells);
	answer_row(&call->answer, cells);
	call->out.text.failed |= purpose.failed || name.failed;
}

static bool is_wanted(const struct call *call, const struct runtime_thread *thread)
{
	bool is_live = !thread_state_is(thread, THREAD_STATE_DEAD) &&
		       !thread_state_is(thread, THREAD_STATE_UNSTARTED);
	return (is_live || !call->options[OPT_LIVE].given) &&
	       (thread->exception || !call->options[OPT_MANAGED_EXCEPTION].given);
}

#define SPECIAL_LIST(X)                                                                      \
	X(SPECIAL_OS_ID, "os_id", NULL, KIND_NUMBER, 0, 0, "id of the thread in the system") \
	X(SPECIAL_PURPOSE, "purpose", NULL, KIND_TEXT, 0, 0,                                 \
	  "Finalizer, GC, Threadpool Worker, Threadpool Completion Port")

COLUMNS(special, SPECIAL_COLUMNS, SPECIAL_LIST);

static void special_layout(struct out *out, const struct cell *cells)
{
	out_printf(out, "%11" PRIx64 " %s\n", cells[SPECIAL_OS_ID].number,
		   cells[SPECIAL_PURPOSE].text.bytes);
}

SCHEMA(special, .name = "special", .heading = "       OSID Special thread type",
       .layout = special_layout);

/* SOS's second table. */
static void write_special_threads(struct call *call)
{
	struct runtime *runtime = call->heap->runtime;
	answer_remark(&call->answer, "\n");
	answer_table(&call->answer, &special_schema, NULL);
	for (size_t i = 0; i < runtime_thread_count(runtime) && !call->out.stopped; i++) {
		const struct runtime_thread *thread = runtime_thread_at(runtime, i);
		HD_CLEANUP(text) struct text purpose = { 0 };
		put_purpose(&purpose, runtime, thread);
		call->out.text.failed |= purpose.failed;
		if (purpose.size < 3 || purpose.failed)
			continue;
		/* Without " (" and ")". */
		purpose.bytes[purpose.size - 1] = '\0';
		const struct cell cells[SPECIAL_COLUMNS] = {
			[SPECIAL_OS_ID] = cell_number(thread->os_id),
			[SPECIAL_PURPOSE] = cell_string(purpose.bytes + 2),
		};
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
}

static enum hd_status run_clrthreads(struct call *call)
{
	const struct runtime *runtime = call->heap->runtime;
	HD_CLEANUP(window) struct window window = { .memory = call->heap->memory };
	TRY(threads_check(call));
	write_thread_counts(&call->answer, runtime);
	answer_table(&call->answer, &clrthreads_schema, NULL);
	for (size_t i = 0; i < runtime_thread_count(runtime) && !call->out.stopped; i++) {
		const struct runtime_thread *thread = runtime_thread_at(runtime, i);
		struct object object;
		if (!is_wanted(call, thread))
			continue;
		bool has_object = thread->exception &&
				  object_read(call->heap, &window, thread->exception, &object);
		write_clr_thread(call, thread, has_object ? &object : NULL);
	}
	(void)answer_table_end(&call->answer);
	if (call->options[OPT_SPECIAL].given)
		write_special_threads(call);
	return HD_OK;
}

COMMAND(clrthreads, .has_rows = true, .options = clrthreads_options,
	.summary = "list the managed threads and their allocation contexts",
	.description =
		"The columns are SOS's. DBG is the debugger's number of the thread (XXXX: it has none);\n"
		"without a debugger it counts the threads. threadstate explains State. Exception says\n"
		"what the thread is for, and what it threw last. In .NET here, there are no lock counts\n"
		"and no apartments. Where the terminal has fewer than 130 columns, some of SOS's are\n"
		"left out (-full shows all).\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME | NEEDS_THREADS);
