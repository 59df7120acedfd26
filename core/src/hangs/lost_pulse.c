/* SPDX-License-Identifier: MIT */
#include "hangs/lost_pulse.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/pool/pool_state.h"
#include "analysis/pool/timers.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_reach.h"
#include "hangs/wait_rows.h"
#include "runtime/coreclr/code/code_names.h"
#include "runtime/coreclr/code/method.h"
#include "stack/thread_call.h"
#include "util/alloc.h"
#include "util/job.h"

#define PULSE "System.Threading.Monitor.Pulse"

/* Methods of a class that pulse, and bytes of their names; methods whose code was read. */
#define PULSERS_MAX 16u
#define NAME_SIZE   128u
#define ASKED_MAX   256u
/* Monitors about which the code is asked. */
#define MONITORS_MAX LOST_PULSES_MAX
/* Objects from a timer or a work item to the monitor's, over a delegate. */
#define ITEM_LEVELS 4u

struct pulse_search {
	const struct waits *waits;
	struct wait_rows *waiters; /* by object */
	/* The class whose methods wait, and the names of those that pulse. */
	const struct module *module;
	uint32_t class_row;
	char pulsers[PULSERS_MAX][NAME_SIZE];
	size_t pulsers_count;
	bool is_unknown; /* it pulses all, or not all of its code is known */
	struct {
		const struct type *machine;
		uint64_t method;
		bool pulses;
	} asked[ASKED_MAX];
	size_t asked_count;
	size_t monitors_count;
};

static enum hd_status collect_waiters(struct pulse_search *search, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		bool is_there = wait->kind == WAIT_PULSE && wait->pulse;
		if (!is_there || wait->user_frame == WAIT_NO_FRAME)
			continue;
		TRY(wait_rows_add(search->waiters, wait->pulse->block.object, (uint32_t)i, err));
	}
	wait_rows_sort(search->waiters);
	return HD_OK;
}

/* The class of the method in which a thread waits, and the row of that in MethodDef; false: not known. */
static bool class_of_wait(const struct waits *waits, const struct thread_wait *wait,
			  struct method *method, uint32_t *class_row)
{
	if (!method_read(waits->heap->runtime, wait_method(wait), method) || !method->type ||
	    !method->module || !method->module->metadata)
		return false;
	*class_row = code_class_of(method->module->metadata, method->type->token & 0xffffff);
	return true;
}

static bool waits_without_limit(const struct waits *waits, const struct thread_wait *wait)
{
	return !wait->is_over &&
	       thread_waits_without_end(runtime_target(waits->heap->runtime), wait->thread->os_id);
}

/* How many of those who wait from row @p begin on do so in the method of @p wait. */
static uint64_t count_alike(const struct pulse_search *search, size_t begin,
			    const struct thread_wait *wait)
{
	const struct wait_rows *rows = search->waiters;
	uint64_t count = 0;
	for (size_t i = begin; wait_rows_has(rows, i, rows->rows[begin].object); i++)
		count += wait_method(&search->waits->rows[rows->rows[i].node]) == wait_method(wait);
	return count;
}

/* Do those who wait from row @p begin on fit, so that only the code is left to ask? */
static bool fill_pulse(struct pulse_search *search, size_t begin, struct lost_pulse *ret)
{
	const struct waits *waits = search->waits;
	const struct wait_rows *rows = search->waiters;
	struct lost_pulse pulse = { .object = rows->rows[begin].object };
	uint32_t first_row = 0;
	for (size_t i = begin; wait_rows_has(rows, i, pulse.object); i++) {
		const struct thread_wait *wait = &waits->rows[rows->rows[i].node];
		struct method method;
		uint32_t class_row;
		if (wait->pulse->block.is_held || !waits_without_limit(waits, wait) ||
		    !wait->object.type || !class_of_wait(waits, wait, &method, &class_row))
			return false;
		if (!pulse.threads++) {
			search->module = method.module;
			search->class_row = class_row;
			first_row = method.rid;
			pulse.many = wait;
		}
		if (method.module != search->module || class_row != search->class_row)
			return false;
		if (method.rid != first_row && !pulse.other)
			pulse.other = wait;
	}
	if (!pulse.other)
		return false;
	pulse.alike = count_alike(search, begin, pulse.many);
	pulse.other_alike = count_alike(search, begin, pulse.other);
	if (pulse.alike < pulse.other_alike) {
		const struct lost_pulse first = pulse;
		pulse.many = first.other;
		pulse.other = first.many;
		pulse.alike = first.other_alike;
		pulse.other_alike = first.alike;
	}
	*ret = pulse;
	return true;
}

static void note_pulser(void *arg, const struct code_use *use)
{
	struct pulse_search *search = arg;
	if (use->class_row != search->class_row || strncmp(use->member, PULSE, strlen(PULSE)) != 0)
		return;
	size_t count = search->pulsers_count;
	if (use->member[strlen(PULSE)] || count == PULSERS_MAX ||
	    strlen(use->method) >= NAME_SIZE) {
		search->is_unknown = true; /* PulseAll, or more than is known here */
		return;
	}
	strcpy(search->pulsers[count], use->method);
	search->pulsers_count++;
}

/* Does a name in code stand for Pulse, or for a method that pulses?  It may be that of an interface. */
static uint64_t match_pulser(const void *arg, const char *name)
{
	const struct pulse_search *search = arg;
	const char *dot = strrchr(name, '.');
	if (strncmp(name, PULSE, strlen(PULSE)) == 0)
		return 1;
	for (size_t i = 0; dot && i < search->pulsers_count; i++) {
		if (strcmp(search->pulsers[i], dot + 1) == 0 &&
		    !framework_owns(search->waits->heap->runtime, name, strlen(name)))
			return 1;
	}
	return 0;
}

/* Does the code of a state machine or of a method pulse, directly or by a method of the class?  It counts where it is not known. */
static bool may_pulse(struct pulse_search *search, const struct type *machine, uint64_t method)
{
	struct runtime *runtime = search->waits->heap->runtime;
	const struct code_search code = { match_pulser, search };
	for (size_t i = 0; i < search->asked_count; i++) {
		if (search->asked[i].machine == machine && search->asked[i].method == method)
			return search->asked[i].pulses;
	}
	if (search->asked_count == ASKED_MAX)
		return true;
	bool pulses = (machine ? code_names_of_machine(runtime, machine, &code)
			       : code_names_of_method(runtime, method, &code)) != 0;
	search->asked[search->asked_count].machine = machine;
	search->asked[search->asked_count].method = method;
	search->asked[search->asked_count++].pulses = pulses;
	return pulses;
}

static bool thread_may_pulse(struct pulse_search *search, const struct thread_wait *wait)
{
	struct runtime *runtime = search->waits->heap->runtime;
	char name[WAIT_NAME_SIZE];
	if (wait->stack.is_partial || wait->stack.is_missing)
		return true;
	if (wait->kind == WAIT_IDLE || wait->user_frame == WAIT_NO_FRAME ||
	    wait_sleeps_without_end(search->waits, wait))
		return false;
	for (size_t i = 0; i < wait->stack.frames_count; i++) {
		const struct stack_frame *frame = &wait->stack.frames[i];
		if (frame->kind == STACK_MANAGED && !frame->is_dead && frame->method_desc &&
		    runtime_method_name(runtime, frame->method_desc, name, sizeof(name), NULL) &&
		    !framework_owns(runtime, name, strlen(name)) &&
		    may_pulse(search, NULL, frame->method_desc))
			return true;
	}
	return false;
}

static bool method_may_pulse(struct pulse_search *search, const struct async_node *method)
{
	struct async_graph *graph = search->waits->async;
	const struct async_method_key *key = &graph->methods.rows[method->method].key;
	return async_node_owner(graph, method) != CODE_OF_FRAMEWORK &&
	       may_pulse(search, key->machine, key->method_desc);
}

/* Does a timer that is set, or a queued work item, have the object? */
static enum hd_status ask_items(const struct waits *waits, uint64_t object, struct job *job,
				bool *found, struct hd_error *err)
{
	const struct queue_reader reader = { waits->heap, waits->members, job };
	HD_CLEANUP(set_timers) struct set_timers timers = { 0 };
	HD_CLEANUP(pool_queues) struct pool_queues queues = { 0 };
	HD_FREE struct wait_reach *reach = mem_calloc(1, sizeof(*reach));
	TRY_MEMORY(reach, err);
	*reach = (struct wait_reach){ .waits = waits,
				      .is_wanted = reach_is_object,
				      .wanted = object };
	TRY(set_timers_read(waits->heap, waits->members, job, &timers, err));
	TRY(pool_queues_read(&reader, &queues, err));
	for (size_t i = 0; i < timers.rows_count && !*found; i++)
		*found = wait_reaches(reach, timers.rows[i].address, ITEM_LEVELS);
	for (unsigned int i = 0; i < POOL_QUEUES; i++) {
		for (size_t k = 0; k < queues.queues[i].rows_count && !*found; k++)
			*found = wait_reaches(reach, queues.queues[i].rows[k], ITEM_LEVELS);
	}
	return HD_OK;
}

static enum hd_status ask_nodes(struct pulse_search *search, const struct lost_pulse *pulse,
				struct job *job, bool *found, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->count && !*found; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		bool is_waiter = wait->kind == WAIT_PULSE && wait->pulse &&
				 wait->pulse->block.object == pulse->object;
		*found = !is_waiter && thread_may_pulse(search, wait);
	}
	for (size_t i = 0; i < waits->async->rows_count && !*found; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		*found = method_may_pulse(search, &waits->async->rows[i]);
	}
	return *found ? HD_OK : ask_items(waits, pulse->object, job, found, err);
}

static enum hd_status look_at_monitor(struct pulse_search *search, size_t begin, struct job *job,
				      struct lost_pulses *ret, struct hd_error *err)
{
	struct code_uses uses = { .visit = note_pulser, .arg = search };
	struct lost_pulse pulse;
	bool found = false;
	search->pulsers_count = search->asked_count = 0;
	search->is_unknown = false;
	if (!fill_pulse(search, begin, &pulse) || search->monitors_count++ >= MONITORS_MAX)
		return HD_OK;
	TRY(code_uses_visit(search->waits->heap->runtime, search->module, &uses, job, err));
	if (search->is_unknown || uses.is_cut || !search->pulsers_count)
		return HD_OK;
	TRY(ask_nodes(search, &pulse, job, &found, err));
	if (!found)
		ret->rows[ret->rows_count++] = pulse;
	return HD_OK;
}

enum hd_status lost_pulses_find(const struct waits *waits, struct job *job, struct lost_pulses *ret,
				struct hd_error *err)
{
	HD_CLEANUP(wait_rows) struct wait_rows waiters = { 0 };
	HD_FREE struct pulse_search *search = mem_calloc(1, sizeof(*search));
	TRY_MEMORY(search, err);
	ret->rows_count = 0;
	search->waits = waits;
	search->waiters = &waiters;
	if (!runtime_knows_all_threads(waits->heap->runtime))
		return HD_OK;
	TRY(collect_waiters(search, err));
	for (size_t i = 0; i < waiters.rows_count && search->monitors_count < MONITORS_MAX; i++) {
		if (i == 0 || waiters.rows[i - 1].object != waiters.rows[i].object)
			TRY(look_at_monitor(search, i, job, ret, err));
	}
	return HD_OK;
}
