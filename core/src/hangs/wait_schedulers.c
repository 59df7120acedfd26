/* SPDX-License-Identifier: MIT */
#include "hangs/wait_schedulers.h"

#include "analysis/async/async_graph.h"
#include "analysis/async/task_state.h"
#include "analysis/pool/pool_state.h"
#include "analysis/pool/timers.h"
#include "gc/references.h"
#include "hangs/wait_reach.h"
#include "hangs/wait_tasks.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/job.h"

/* Objects that are looked at for one scheduler, the nearest first; larger ones are not followed. */
#define STEPS_MAX  4096u
#define OBJECT_MAX ((uint64_t)64 << 10)
/* Steps that are asked whether they have been met: those of one array, or of objects that refer to each other. */
#define MET_MAX 64u
/* Objects from a scheduler to its queue. */
#define WAY_MAX 8u
/* Schedulers that are looked at. */
#define SCHEDULERS_MAX 64u
/*
 * Objects to the scheduler or its queue: from a variable of a thread, from one of an async method, and from what a timer or a
 * work item refers to.  Timers of whoever only gives tasks are further away.
 */
#define THREAD_LEVELS 2u
#define METHOD_LEVELS 1u
#define TIMER_LEVELS  1u
#define ITEM_LEVELS   3u

struct scheduler_step {
	uint64_t address;
	uint32_t from; /* the step whose object refers to it */
};

struct scheduler_search {
	const struct wait_tasks *tasks;
	const struct waits *waits;
	struct window window;
	struct scheduler_step *steps;
	size_t steps_count;
	struct wait_reach reach;
	/* The one that is looked at: */
	uint64_t scheduler;
	uint32_t thread; /* the row of waits that runs a task of it */
	uint64_t way
		[WAY_MAX]; /* the scheduler, and the objects from there to a task that is queued */
	size_t way_count;
};

void wait_schedulers_deinit(struct wait_schedulers *schedulers)
{
	wait_rows_deinit(&schedulers->threads);
	wait_rows_deinit(&schedulers->queued);
}

static void scheduler_search_deinit(struct scheduler_search *search)
{
	window_deinit(&search->window);
	mem_free(search->steps);
}

/* Is the object a task that waits for its turn in the scheduler? */
static bool is_queued(const struct scheduler_search *search, const struct object *object)
{
	const struct waits *waits = search->waits;
	struct task_state state;
	struct member scheduler = fact_of(waits->members, object, FACT_TASK_SCHEDULER);
	return scheduler.state == MEMBER_READ && scheduler.bits == search->scheduler &&
	       task_state_read(waits->heap, waits->members, object, &state) &&
	       state.status == TASK_WAITING_TO_RUN;
}

/* The async method whose next step a queued task is: it has the delegate for that as its state; or ASYNC_NO_NODE. */
static uint32_t method_of_step(const struct waits *waits, const struct object *task)
{
	struct member step = fact_of(waits->members, task, FACT_TASK_STATE_OBJECT);
	struct object object;
	struct delegate_info delegate;
	if (!member_object(waits->members, step.bits, &object) ||
	    !type_is_delegate(waits->heap->runtime, object.type) ||
	    !delegate_read(waits->heap, &object, &delegate))
		return ASYNC_NO_NODE;
	return async_graph_find(waits->async, delegate.target);
}

static bool was_met(const struct scheduler_search *search, uint64_t address)
{
	for (size_t i = search->steps_count; i-- > 0 && search->steps_count - i <= MET_MAX;) {
		if (search->steps[i].address == address)
			return true;
	}
	return false;
}

static void add_steps(struct scheduler_search *search, const struct object *object, uint32_t from)
{
	struct references references;
	struct reference reference;
	references_begin(&references, &search->window, object);
	while (search->steps_count < STEPS_MAX && references_next(&references, &reference)) {
		if (!was_met(search, reference.value)) {
			search->steps[search->steps_count++] =
				(struct scheduler_step){ reference.value, from };
		}
	}
}

/* Remember the objects from the scheduler to step @p last; false: they are too many. */
static bool note_way(struct scheduler_search *search, uint32_t last)
{
	search->way_count = 0;
	while (search->way_count < WAY_MAX) {
		search->way[search->way_count++] = search->steps[last].address;
		if (last == 0)
			return true;
		last = search->steps[last].from;
	}
	search->way_count = 0;
	return false;
}

/* The tasks in the queue of the scheduler; @p ret_count: so many. */
static enum hd_status find_queued(struct scheduler_search *search, struct wait_rows *queued,
				  size_t *ret_count, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	search->steps[0] = (struct scheduler_step){ .address = search->scheduler };
	search->steps_count = 1;
	search->way_count = 0;
	*ret_count = 0;
	for (uint32_t i = 0; i < search->steps_count; i++) {
		struct object object;
		if (!member_object(waits->members, search->steps[i].address, &object))
			continue;
		if (!async_type_is_task(async_graph_type(waits->async, object.type))) {
			if (object.type->has_pointers && object.size <= OBJECT_MAX)
				add_steps(search, &object, i);
			continue;
		}
		if (!is_queued(search, &object) ||
		    (!search->way_count && !note_way(search, search->steps[i].from)))
			continue;
		++*ret_count;
		uint32_t method = method_of_step(waits, &object);
		if (method != ASYNC_NO_NODE) {
			TRY(wait_rows_add(queued, waits->async->rows[method].task, search->thread,
					  err));
		}
	}
	return HD_OK;
}

static bool is_on_way(const struct wait_reach *reach, const struct object *object)
{
	const struct scheduler_search *search = reach->arg;
	for (size_t i = 0; i < search->way_count; i++) {
		if (search->way[i] == object->address)
			return true;
	}
	return false;
}

/* Does an object lead to the scheduler or its queue? */
static bool leads_to_queue(struct scheduler_search *search, uint64_t address, unsigned int levels)
{
	search->reach.is_wanted = is_on_way;
	search->reach.arg = search;
	return wait_reaches(&search->reach, address, levels);
}

/* Does what the object of a timer, a work item or an async method refers to lead there?  It may be a task. */
static bool item_leads_to_queue(struct scheduler_search *search, uint64_t address,
				unsigned int levels)
{
	HD_CLEANUP(window) struct window window = { .memory = search->waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!member_object(search->waits->members, address, &object))
		return false;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (leads_to_queue(search, reference.value, levels))
			return true;
	}
	return leads_to_queue(search, address, 0);
}

/* Does a thread wait for a task that the thread of the scheduler runs?  It does not go on before that one. */
static bool waits_for_thread(const struct scheduler_search *search, const struct thread_wait *wait)
{
	return wait->kind == WAIT_TASK && !wait->is_over && wait->object.type &&
	       wait_task_node(search->tasks, wait->object.address) == search->thread;
}

/* Has another thread the scheduler or its queue?  It may take what is in it. */
static bool has_other_thread(struct scheduler_search *search)
{
	const struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		uint64_t last = 0; /* frames of a recursion refer to the same */
		if (i == search->thread || waits_for_thread(search, wait))
			continue;
		if (wait->stack.is_partial || wait->stack.is_missing)
			return true;
		for (size_t k = 0; k < wait->stack.roots_count; k++) {
			uint64_t value = wait->stack.roots[k].value;
			if (value != last && leads_to_queue(search, value, THREAD_LEVELS))
				return true;
			last = value;
		}
	}
	return false;
}

static enum hd_status has_item(struct scheduler_search *search, struct job *job, bool *ret,
			       struct hd_error *err)
{
	const struct waits *waits = search->waits;
	const struct queue_reader reader = { waits->heap, waits->members, job };
	HD_CLEANUP(set_timers) struct set_timers timers = { 0 };
	HD_CLEANUP(pool_queues) struct pool_queues queues = { 0 };
	TRY(set_timers_read(waits->heap, waits->members, job, &timers, err));
	TRY(pool_queues_read(&reader, &queues, err));
	*ret = timers.is_broken;
	for (size_t i = 0; i < timers.rows_count && !*ret; i++)
		*ret = item_leads_to_queue(search, timers.rows[i].address, TIMER_LEVELS);
	for (unsigned int i = 0; i < POOL_QUEUES; i++) {
		*ret |= queues.queues[i].is_broken;
		for (size_t k = 0; k < queues.queues[i].rows_count && !*ret; k++)
			*ret = item_leads_to_queue(search, queues.queues[i].rows[k], ITEM_LEVELS);
	}
	return HD_OK;
}

/* Has an async method the scheduler or its queue that goes on after a time?  It may take what is in it. */
static bool has_method(struct scheduler_search *search)
{
	const struct async_graph *graph = search->waits->async;
	for (size_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *method = &graph->rows[i];
		if ((method->wait == AWAIT_DELAY || method->wait == AWAIT_PERIODIC) &&
		    item_leads_to_queue(search, method->holder, METHOD_LEVELS))
			return true;
	}
	return false;
}

/* Does the framework say that its scheduler runs one task at a time? */
static bool says_one(const struct scheduler_search *search)
{
	struct member most =
		fact_at(search->waits->members, search->scheduler, FACT_PAIR_SCHEDULER_MOST);
	return most.state == MEMBER_READ && most.bits == 1;
}

static enum hd_status look_at(struct scheduler_search *search, struct job *job,
			      struct wait_schedulers *ret, struct hd_error *err)
{
	size_t before = ret->queued.rows_count, count;
	bool is_taken = false;
	TRY(find_queued(search, &ret->queued, &count, err));
	if (!says_one(search)) {
		is_taken = !count || has_other_thread(search) || has_method(search);
		if (!is_taken)
			TRY(has_item(search, job, &is_taken, err));
	}
	if (is_taken) {
		ret->queued.rows_count = before;
		return HD_OK;
	}
	return wait_rows_add(&ret->threads, search->scheduler, search->thread, err);
}

/* The threads that run tasks, by the scheduler of these. */
static enum hd_status find_taken(const struct wait_tasks *tasks, struct wait_rows *ret,
				 struct hd_error *err)
{
	const struct waits *waits = tasks->waits;
	for (size_t i = 0; i < tasks->runners.rows_count; i++) {
		const struct wait_row *row = &tasks->runners.rows[i];
		struct member scheduler = fact_at(waits->members, row->object, FACT_TASK_SCHEDULER);
		if (scheduler.state == MEMBER_READ && scheduler.bits)
			TRY(wait_rows_add(ret, scheduler.bits, row->node, err));
	}
	wait_rows_sort(ret);
	return HD_OK;
}

enum hd_status wait_schedulers_find(const struct wait_tasks *tasks, struct job *job,
				    struct wait_schedulers *ret, struct hd_error *err)
{
	const struct waits *waits = tasks->waits;
	HD_CLEANUP(wait_rows) struct wait_rows taken = { 0 };
	HD_CLEANUP(scheduler_search)
	struct scheduler_search search = { .tasks = tasks,
					   .waits = waits,
					   .window = { .memory = waits->heap->memory },
					   .reach = { .waits = waits } };
	size_t asked = 0;
	TRY(find_taken(tasks, &taken, err));
	if (!taken.rows_count || !runtime_knows_all_threads(waits->heap->runtime))
		return HD_OK;
	search.steps = mem_alloc(STEPS_MAX, sizeof(*search.steps));
	TRY_MEMORY(search.steps, err);
	for (size_t i = 0; i < taken.rows_count && asked < SCHEDULERS_MAX; i++) {
		search.scheduler = taken.rows[i].object;
		search.thread = wait_rows_only(&taken, search.scheduler);
		if (wait_rows_has(&taken, i + 1, search.scheduler) ||
		    search.thread == WAIT_NOBODY || waits->rows[search.thread].kind == WAIT_NONE)
			continue;
		asked++;
		TRY(look_at(&search, job, ret, err));
		TRY(job_check(job, 0, err));
	}
	wait_rows_sort(&ret->threads);
	wait_rows_sort(&ret->queued);
	return waits->async->failed ? fail_nomem(err) : HD_OK;
}
