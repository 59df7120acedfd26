/* SPDX-License-Identifier: MIT */
#include "hangs/own_answers.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "hangs/answer_code.h"
#include "hangs/item_calls.h"
#include "hangs/wait_alone.h"
#include "hangs/wait_graph.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_reach.h"
#include "runtime/coreclr/code/code_names.h"
#include "util/alloc.h"
#include "util/job.h"

/* Threads that are looked at, and objects over which the source may be reached. */
#define ASKED_MAX   8u
#define HOLDERS_MAX 8u
/* Frames between the one that waits and the one that sets results. */
#define FRAMES_MAX 512u
/* Objects from a thread or an async method to the one that leads to the source. */
#define LEVELS 3u

struct answer_search {
	const struct waits *waits;
	struct wait_graph *graph;
	struct answer_code code;
	bool *blocked; /* by node: the thread, and who waits for it */
	struct wait_reach reach;
	struct own_answer answer;
	uint64_t event;      /* wait_event_of_frames() */
	size_t setter_frame; /* of the method that would bring the answer */
	uint64_t loop; /* the MethodDesc of the method around that, or itself, which has a loop */
	uint64_t holders[HOLDERS_MAX];
	size_t holders_count, asked;
};

static bool is_own(const struct waits *waits, const struct stack_frame *frame)
{
	char name[WAIT_NAME_SIZE];
	struct runtime *runtime = waits->heap->runtime;
	return frame->kind == STACK_MANAGED && !frame->is_dead && frame->method_desc &&
	       code_owner_of_method(runtime, frame->method_desc) != CODE_OF_FRAMEWORK &&
	       runtime_method_name(runtime, frame->method_desc, name, sizeof(name), NULL) &&
	       !framework_owns(runtime, name, strlen(name));
}

/* Is the thread in a method that sets the result of a source, and runs what waits for that? */
static bool is_completion(const struct waits *waits, const struct stack_frame *frame)
{
	char name[WAIT_NAME_SIZE];
	return frame->kind == STACK_MANAGED && !frame->is_dead && frame->method_desc &&
	       runtime_method_name(waits->heap->runtime, frame->method_desc, name, sizeof(name),
				   NULL) &&
	       answer_is_set(name);
}

/* The innermost method outside of the one that waits which sets results. */
static bool find_setter(struct answer_search *search)
{
	const struct waits *waits = search->waits;
	const struct thread_stack *stack = &search->answer.thread->stack;
	size_t first = search->answer.thread->user_frame;
	for (size_t i = first + 1; i < stack->frames_count && i - first < FRAMES_MAX; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		if (is_completion(waits, frame))
			search->answer.is_inline = true;
		if (!is_own(waits, frame) || !answer_code_sets(&search->code, frame->method_desc))
			continue;
		search->answer.method = frame->method_desc;
		search->setter_frame = i;
		return true;
	}
	return false;
}

/* Does the object at @p address lead to the one that leads to the source? */
static bool leads_to_holder(struct answer_search *search, uint64_t address)
{
	search->reach.waits = search->waits;
	search->reach.is_wanted = reach_is_object;
	search->reach.wanted = search->answer.holder.address;
	return wait_reaches(&search->reach, address, LEVELS);
}

static void add_holder(struct answer_search *search, uint64_t address)
{
	struct object object;
	if (search->holders_count == HOLDERS_MAX ||
	    !member_object(search->waits->members, address, &object) ||
	    object.type->component_size ||
	    async_graph_find(search->waits->async, address) != ASYNC_NO_NODE ||
	    framework_owns_type(search->waits->heap->runtime, object.type))
		return;
	for (size_t i = 0; i < search->holders_count; i++) {
		if (search->holders[i] == address)
			return;
	}
	search->holders[search->holders_count++] = address;
}

/* The variables of an async method that runs on this stack. */
static void add_of_method(struct answer_search *search, const struct async_node *method)
{
	HD_CLEANUP(window) struct window window = { .memory = search->waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!member_object(search->waits->members, method->holder, &object) ||
	    object.type->component_size)
		return;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot >= method->fields)
			add_holder(search, reference.value);
	}
}

/* Does a variable of an async method lead to the object that leads to the source? */
static bool method_leads_to_holder(struct answer_search *search, const struct async_node *method)
{
	HD_CLEANUP(window) struct window window = { .memory = search->waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!member_object(search->waits->members, method->holder, &object) ||
	    object.type->component_size)
		return false;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot >= method->fields && leads_to_holder(search, reference.value))
			return true;
	}
	return false;
}

/* Objects of the program to which the frames from the loop on refer, the nearest first. */
static void find_holders(struct answer_search *search)
{
	const struct waits *waits = search->waits;
	const struct thread_stack *stack = &search->answer.thread->stack;
	search->holders_count = 0;
	for (size_t i = 0; i < stack->roots_count; i++) {
		const struct stack_root *root = &stack->roots[i];
		if (root->frame < search->setter_frame || root->frame >= stack->frames_count ||
		    root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE))
			continue;
		uint32_t row = async_graph_find(waits->async, root->value);
		if (row != ASYNC_NO_NODE) {
			add_of_method(search, &waits->async->rows[row]);
		} else {
			add_holder(search, root->value);
		}
	}
}

/* Is the source reached without the thread, without who waits for it, and without one object more (0: none)? */
static enum hd_status is_reached(struct answer_search *search, uint64_t holder, struct job *job,
				 bool *ret, struct hd_error *err)
{
	struct reach_pass pass;
	const struct wait_cut cut = { .blocked = search->blocked,
				      .objects = &holder,
				      .objects_count = holder != 0 };
	TRY(wait_graph_reach(search->graph, &cut, job, &pass, err));
	*ret = wait_graph_has(search->graph, &pass, search->answer.source) ||
	       (search->event && wait_graph_has(search->graph, &pass, search->event));
	reach_pass_deinit(&pass);
	return HD_OK;
}

/* The object over which all ways to the source lead; its type is NULL: there is none. */
static enum hd_status find_holder(struct answer_search *search, struct job *job,
				  struct hd_error *err)
{
	bool is_known = false, is_found;
	TRY(wait_graph_open(search->graph, job, &is_known, err));
	if (!is_known)
		return HD_OK;
	/* Who has what nobody else has is told by another verdict. */
	TRY(is_reached(search, 0, job, &is_found, err));
	for (size_t i = 0; is_found && i < search->holders_count; i++) {
		bool is_other;
		TRY(is_reached(search, search->holders[i], job, &is_other, err));
		if (!is_other && member_object(search->waits->members, search->holders[i],
					       &search->answer.holder))
			return HD_OK;
	}
	return HD_OK;
}

/* Is a thread in a method that sets results, or begins another such loop, and has the object? */
static bool thread_may_set(struct answer_search *search, const struct thread_wait *wait)
{
	const struct thread_stack *stack = &wait->stack;
	bool sets = false, has = false;
	if (stack->is_partial || stack->is_missing)
		return true;
	for (size_t i = 0; i < stack->frames_count && !sets; i++) {
		sets = is_own(search->waits, &stack->frames[i]) &&
		       answer_code_may_set(&search->code, stack->frames[i].method_desc);
	}
	for (size_t i = 0; sets && i < stack->roots_count && !has; i++)
		has = leads_to_holder(search, stack->roots[i].value);
	return has;
}

static bool method_may_set(struct answer_search *search, const struct async_node *method)
{
	return async_node_owner(search->waits->async, method) != CODE_OF_FRAMEWORK &&
	       method_leads_to_holder(search, method) &&
	       answer_code_method_may_set(&search->code, method);
}

/* Does the method of the program that a timer or a work item calls set results, or begin the loop? */
static bool item_may_set(void *arg, uint64_t method_desc)
{
	const struct answer_search *search = arg;
	return answer_code_may_set(&search->code, method_desc);
}

/* Is somebody else at work who may set the result? */
static enum hd_status ask_others(struct answer_search *search, struct job *job, bool *found,
				 struct hd_error *err)
{
	const struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->count && !*found; i++)
		*found = !search->blocked[i] && thread_may_set(search, &waits->rows[i]);
	for (size_t i = 0; i < waits->async->rows_count && !*found; i++) {
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		*found = !search->blocked[waits->count + i] &&
			 method_may_set(search, &waits->async->rows[i]);
	}
	const struct item_question question = { search->answer.holder.address, item_may_set,
						search };
	return *found ? HD_OK : item_calls_ask(waits, &question, job, found, err);
}

static enum hd_status note_blocked(struct answer_search *search, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	HD_FREE bool *among = mem_calloc(wait_nodes(waits) + 1, sizeof(*among));
	TRY_MEMORY(among, err);
	for (uint32_t i = 0; i < wait_nodes(waits); i++) {
		const struct thread_wait *wait = wait_node_thread(waits, i);
		uint64_t object = wait ? wait->object.address : wait_node_method(waits, i)->object;
		among[i] = wait == search->answer.thread || object == search->answer.source;
	}
	for (uint32_t i = 0; i < wait_nodes(waits); i++)
		search->blocked[i] = wait_first_of(waits, among, i) != WAIT_NOBODY;
	return HD_OK;
}

/*
 * The loop in which all of this is done: the outermost method on the stack that has one.  Where there is none, or a library
 * calls, others may do the same at the same time.
 */
static bool find_outer_loop(struct answer_search *search)
{
	const struct waits *waits = search->waits;
	const struct thread_stack *stack = &search->answer.thread->stack;
	search->loop = 0;
	for (size_t i = search->setter_frame; i < stack->frames_count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		if (!is_own(waits, frame))
			continue;
		if (code_owner_of_method(waits->heap->runtime, frame->method_desc) !=
		    CODE_OF_PROGRAM)
			return false;
		if (code_has_loop(waits->heap->runtime, frame->method_desc))
			search->loop = frame->method_desc;
	}
	return search->loop != 0;
}

static enum hd_status look_at_thread(struct answer_search *search, const struct thread_wait *wait,
				     struct job *job, struct own_answers *ret, struct hd_error *err)
{
	bool found = false;
	search->answer = (struct own_answer){ .thread = wait,
					      .source = answer_source_of(search->waits, wait) };
	if (!search->answer.source || search->asked == ASKED_MAX)
		return HD_OK;
	TRY(answer_code_read(&search->code, job, err));
	if (search->code.is_unknown || !search->code.setters.count || !find_setter(search) ||
	    !find_outer_loop(search))
		return HD_OK;
	search->asked++;
	search->event = wait_event_of_frames(search->waits, wait);
	find_holders(search);
	TRY(note_blocked(search, err));
	TRY(find_holder(search, job, err));
	if (!search->answer.holder.type)
		return HD_OK;
	TRY(answer_code_follow(&search->code, search->loop, job, err));
	if (search->code.is_unknown)
		return HD_OK;
	TRY(ask_others(search, job, &found, err));
	if (!found)
		ret->rows[ret->rows_count++] = search->answer;
	return HD_OK;
}

enum hd_status own_answers_find(const struct waits *waits, struct wait_graph *graph,
				struct job *job, struct own_answers *ret, struct hd_error *err)
{
	HD_FREE struct answer_search *search = mem_calloc(1, sizeof(*search));
	HD_FREE bool *blocked = mem_calloc(wait_nodes(waits) + 1, sizeof(*blocked));
	TRY_MEMORY(search && blocked, err);
	search->waits = search->code.waits = waits;
	search->graph = graph;
	search->blocked = blocked;
	ret->rows_count = 0;
	if (!runtime_knows_all_threads(waits->heap->runtime))
		return HD_OK;
	for (size_t i = 0; i < waits->count && ret->rows_count < OWN_ANSWERS_MAX; i++)
		TRY(look_at_thread(search, &waits->rows[i], job, ret, err));
	return waits->async->failed ? fail_nomem(err) : HD_OK;
}
