/* SPDX-License-Identifier: MIT */
#include "hangs/lost_pulse.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "hangs/item_calls.h"
#include "hangs/wait_parts.h"
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
/* Methods of others around Monitor.Wait, by which a class waits. */
#define HELPERS_MAX 2u

struct pulse_search {
	const struct waits *waits;
	struct wait_rows *waiters; /* by object */
	bool *among;               /* by node: those who wait at the object that is looked at */
	unsigned int level;        /* methods of the program between Monitor.Wait and its class */
	bool is_one_method;        /* all wait in the same one */
	/* The class whose methods wait, and the names of those that pulse. */
	const struct module *module;
	uint32_t class_row;
	char pulsers[PULSERS_MAX][NAME_SIZE];
	bool pulse_all[PULSERS_MAX]; /* do they wake all? */
	size_t pulsers_count;
	/* Methods of other classes that pulse, by which it may do so; they come first in pulsers. */
	size_t helpers_count;
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

/* The method of the program, so many further out than the one that calls Monitor.Wait; 0: there is none. */
static uint64_t method_at(const struct waits *waits, const struct thread_wait *wait,
			  unsigned int level)
{
	const struct thread_stack *stack = &wait->stack;
	for (size_t i = wait->user_frame; i < stack->frames_count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		bool is_own = frame->kind == STACK_MANAGED && !frame->is_dead &&
			      frame->method_desc &&
			      code_owner_of_method(waits->heap->runtime, frame->method_desc) !=
				      CODE_OF_FRAMEWORK;
		if (is_own && !level--)
			return frame->method_desc;
	}
	return 0;
}

/* The class of the method in which a thread waits, and the row of that in MethodDef; false: not known. */
static bool class_of_wait(const struct waits *waits, uint64_t method_desc, struct method *method,
			  uint32_t *class_row)
{
	if (!method_desc || !method_read(waits->heap->runtime, method_desc, method) ||
	    !method->type || !method->module || !method->module->metadata)
		return false;
	*class_row = code_class_of(method->module->metadata, method->type->token & 0xffffff);
	return true;
}

static bool waits_without_limit(const struct waits *waits, const struct thread_wait *wait)
{
	return !wait->is_over &&
	       thread_waits_without_end(runtime_target(waits->heap->runtime), wait->thread->os_id);
}

/* How many of those who wait from row @p begin on do so in the method @p method. */
static uint64_t count_alike(const struct pulse_search *search, size_t begin, uint64_t method)
{
	const struct waits *waits = search->waits;
	const struct wait_rows *rows = search->waiters;
	uint64_t count = 0;
	for (size_t i = begin; wait_rows_has(rows, i, rows->rows[begin].object); i++) {
		const struct thread_wait *wait = &waits->rows[rows->rows[i].node];
		count += method_at(waits, wait, search->level) == method;
	}
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
		uint64_t method_desc = method_at(waits, wait, search->level);
		struct method method;
		uint32_t class_row;
		if (wait->pulse->block.is_held || !waits_without_limit(waits, wait) ||
		    !wait->object.type || !class_of_wait(waits, method_desc, &method, &class_row))
			return false;
		if (!pulse.threads++) {
			search->module = method.module;
			search->class_row = class_row;
			first_row = method.rid;
			pulse.many = wait;
			pulse.many_method = method_desc;
		}
		if (method.module != search->module || class_row != search->class_row)
			return false;
		if (method.rid != first_row && !pulse.other) {
			pulse.other = wait;
			pulse.other_method = method_desc;
		}
	}
	search->is_one_method = !pulse.other;
	if (!pulse.other)
		return false;
	pulse.alike = count_alike(search, begin, pulse.many_method);
	pulse.other_alike = count_alike(search, begin, pulse.other_method);
	if (pulse.alike < pulse.other_alike) {
		const struct lost_pulse first = pulse;
		pulse.many = first.other;
		pulse.other = first.many;
		pulse.many_method = first.other_method;
		pulse.other_method = first.many_method;
		pulse.alike = first.other_alike;
		pulse.other_alike = first.alike;
	}
	*ret = pulse;
	return true;
}

/* Is the member Monitor.Pulse, or PulseAll? */
static bool is_pulse(const char *member)
{
	return strncmp(member, PULSE, strlen(PULSE)) == 0;
}

static void add_pulser(struct pulse_search *search, const char *method, bool pulses_all)
{
	size_t count = search->pulsers_count;
	for (size_t i = search->helpers_count; i < count; i++) {
		if (strcmp(search->pulsers[i], method) == 0) {
			search->pulse_all[i] |= pulses_all;
			return;
		}
	}
	if (count == PULSERS_MAX || strlen(method) >= NAME_SIZE) {
		search->is_unknown = true; /* more than is known here */
		return;
	}
	strcpy(search->pulsers[count], method);
	search->pulse_all[count] = pulses_all;
	search->pulsers_count++;
}

/* The row of a method of another class that pulses; SIZE_MAX: it is none. */
static size_t helper_of(const struct pulse_search *search, const char *member)
{
	const char *dot = strrchr(member, '.');
	if (!dot || framework_owns(search->waits->heap->runtime, member, strlen(member)))
		return SIZE_MAX;
	for (size_t i = 0; i < search->helpers_count; i++) {
		if (strcmp(search->pulsers[i], dot + 1) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* Methods of other classes, by which this one may pulse. */
static void note_helper(void *arg, const struct code_use *use)
{
	struct pulse_search *search = arg;
	if (use->class_row != search->class_row && is_pulse(use->member))
		add_pulser(search, use->method, use->member[strlen(PULSE)] != 0);
}

static void note_pulser(void *arg, const struct code_use *use)
{
	struct pulse_search *search = arg;
	bool pulses = is_pulse(use->member);
	size_t helper = pulses ? SIZE_MAX : helper_of(search, use->member);
	if (use->class_row != search->class_row || (!pulses && helper == SIZE_MAX))
		return;
	search->is_unknown |= pulses ? use->member[strlen(PULSE)] != 0 : search->pulse_all[helper];
	add_pulser(search, use->method, false);
}

/* Does a name in code stand for Pulse, or for a method that pulses?  It may be that of an interface. */
static uint64_t match_pulser(const void *arg, const char *name)
{
	const struct pulse_search *search = arg;
	const char *dot = strrchr(name, '.');
	if (is_pulse(name))
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

/* Does the method of the program that a timer or a work item calls pulse? */
static bool item_may_pulse(void *arg, uint64_t method_desc)
{
	struct pulse_search *search = arg;
	return may_pulse(search, NULL, method_desc);
}

static enum hd_status ask_nodes(struct pulse_search *search, const struct lost_pulse *pulse,
				struct job *job, bool *found, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->count && !*found; i++) {
		/* Who waits for one of them in turn does not go on before. */
		bool is_behind = wait_first_of(waits, search->among, (uint32_t)i) != WAIT_NOBODY;
		*found = !is_behind && thread_may_pulse(search, &waits->rows[i]);
	}
	for (size_t i = 0; i < waits->async->rows_count && !*found; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		uint32_t node = (uint32_t)(waits->count + i);
		*found = wait_first_of(waits, search->among, node) == WAIT_NOBODY &&
			 method_may_pulse(search, &waits->async->rows[i]);
	}
	const struct item_question question = { pulse->object, item_may_pulse, search };
	return *found ? HD_OK : item_calls_ask(waits, &question, job, found, err);
}

/* Who pulses, in the class whose methods wait; by methods of other classes only where it waits by such. */
static enum hd_status find_pulsers(struct pulse_search *search, struct job *job,
				   struct hd_error *err)
{
	struct runtime *runtime = search->waits->heap->runtime;
	struct code_uses helpers = { .visit = note_helper, .arg = search };
	struct code_uses uses = { .visit = note_pulser, .arg = search };
	search->pulsers_count = search->helpers_count = search->asked_count = 0;
	search->is_unknown = false;
	if (search->level)
		TRY(code_uses_visit(runtime, search->module, &helpers, job, err));
	search->helpers_count = search->pulsers_count;
	TRY(code_uses_visit(runtime, search->module, &uses, job, err));
	search->is_unknown |=
		helpers.is_cut || uses.is_cut || search->pulsers_count == search->helpers_count;
	return HD_OK;
}

static void note_among(struct pulse_search *search, size_t begin)
{
	const struct wait_rows *rows = search->waiters;
	memset(search->among, 0, wait_nodes(search->waits));
	for (size_t i = begin; wait_rows_has(rows, i, rows->rows[begin].object); i++)
		search->among[rows->rows[i].node] = true;
}

static uint64_t match_invoke(const void *arg, const char *name)
{
	const char *dot = strrchr(name, '.');
	(void)arg;
	return dot && strcmp(dot, ".Invoke") == 0;
}

/* Do all wait in one method that asks a delegate whether to go on?  Then who calls it has the condition. */
static bool has_condition_outside(const struct pulse_search *search, size_t begin)
{
	const struct waits *waits = search->waits;
	const struct thread_wait *wait = &waits->rows[search->waiters->rows[begin].node];
	const struct code_search code = { match_invoke, NULL };
	uint64_t method = method_at(waits, wait, search->level);
	return search->is_one_method && method &&
	       code_names_of_method(waits->heap->runtime, method, &code) == 1;
}

static enum hd_status look_at_monitor(struct pulse_search *search, size_t begin, struct job *job,
				      struct lost_pulses *ret, struct hd_error *err)
{
	struct lost_pulse pulse;
	bool found = false, fits = false;
	for (search->level = 0; search->level <= HELPERS_MAX; search->level++) {
		search->is_one_method = false;
		fits = fill_pulse(search, begin, &pulse);
		if (fits || !has_condition_outside(search, begin))
			break;
	}
	if (!fits || search->monitors_count++ >= MONITORS_MAX)
		return HD_OK;
	TRY(find_pulsers(search, job, err));
	if (search->is_unknown)
		return HD_OK;
	note_among(search, begin);
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
	HD_FREE bool *among = mem_calloc(wait_nodes(waits) + 1, sizeof(*among));
	TRY_MEMORY(among, err);
	search->waits = waits;
	search->waiters = &waiters;
	search->among = among;
	if (!runtime_knows_all_threads(waits->heap->runtime))
		return HD_OK;
	TRY(collect_waiters(search, err));
	for (size_t i = 0; i < waiters.rows_count && search->monitors_count < MONITORS_MAX; i++) {
		if (i == 0 || waiters.rows[i - 1].object != waiters.rows[i].object)
			TRY(look_at_monitor(search, i, job, ret, err));
	}
	return HD_OK;
}
