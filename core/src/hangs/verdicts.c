/* SPDX-License-Identifier: MIT */
#include "hangs/verdicts.h"

#include "analysis/async/async_graph.h"
#include "gc/finalizer.h"
#include "hangs/wait_ended.h"
#include "hangs/wait_judge.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_process.h"
#include "hangs/wait_reach.h"
#include "runtime/thread_state.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/job.h"

void verdicts_deinit(struct verdicts *verdicts)
{
	deadlocks_deinit(&verdicts->deadlocks);
	wait_rows_deinit(&verdicts->orphans);
	busy_channels_deinit(&verdicts->busy);
	failed_tries_deinit(&verdicts->failed);
	waits_destroy(verdicts->waits);
	pages_free(verdicts->rows, verdicts->rows_capacity, sizeof(*verdicts->rows));
	*verdicts = (struct verdicts){ 0 };
}

static enum hd_status add_verdict(struct verdicts *verdicts, const struct verdict *verdict,
				  struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(verdicts, rows), err);
	verdicts->rows[verdicts->rows_count++] = *verdict;
	return HD_OK;
}

/* Does it wait for another thread, or for something that another thread must do? */
static bool is_blocked(const struct thread_wait *wait)
{
	switch (wait->kind) {
	case WAIT_NONE:
	case WAIT_IDLE:
	case WAIT_SOCKET:    /* it may just be at work there */
	case WAIT_SPIN_LOCK: /* such locks are held for a moment; a deadlock of them is found */
	case WAIT_SPIN:
	case WAIT_PROCESS:
	case WAIT_CALL:
		return false;
	default:
		return !wait->is_over;
	}
}

static enum hd_status find_deadlocks(struct verdicts *verdicts, struct job *job,
				     struct hd_error *err)
{
	(void)job;
	TRY(deadlocks_find(verdicts->waits, &verdicts->deadlocks, err));
	for (unsigned int probable = 0; probable < 2; probable++) {
		for (size_t i = 0; i < verdicts->deadlocks.count; i++) {
			const struct deadlock *deadlock = &verdicts->deadlocks.rows[i];
			if (deadlock->is_probable != probable)
				continue;
			const struct verdict verdict = { .kind = VERDICT_DEADLOCK,
							 .is_probable = deadlock->is_probable,
							 .deadlock = deadlock,
							 .members = verdicts->deadlocks.members +
								    deadlock->begin,
							 .count = deadlock->count };
			TRY(add_verdict(verdicts, &verdict, err));
		}
	}
	return HD_OK;
}

/* The first that waits for the lock of row @p begin and knows its holder: others may only wait for that one. */
static const struct thread_wait *first_of_lock(const struct waits *waits,
					       const struct wait_rows *found, size_t begin,
					       enum lock_holder *holder)
{
	uint64_t lock = found->rows[begin].object;
	for (size_t i = begin; wait_rows_has(found, i, lock); i++) {
		const struct thread_wait *wait = &waits->rows[found->rows[i].node];
		*holder = wait_lock_holder(waits, wait, &lock);
		if (*holder != HOLDER_OTHER)
			return wait;
	}
	return &waits->rows[found->rows[begin].node];
}

/* Who comes to read a lock waits for the writer that waits for it: for the same holder in the end. */
static enum hd_status add_behind_writers(const struct waits *waits, struct wait_rows *found,
					 struct hd_error *err)
{
	size_t known = found->rows_count;
	for (size_t i = 0; i < waits->count && known; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		uint64_t lock;
		if ((wait->kind != WAIT_READ && wait->kind != WAIT_UPGRADE) || wait->is_over ||
		    !wait->object.type || wait_lock_holder(waits, wait, &lock) != HOLDER_OTHER)
			continue;
		const struct wait_rows writers = { .rows = found->rows, .rows_count = known };
		lock = wait->object.address;
		if (wait_rows_first(&writers, lock) != WAIT_NOBODY)
			TRY(wait_rows_add(found, lock, (uint32_t)i, err));
	}
	return HD_OK;
}

/* Threads that wait for a lock which nobody will leave: one verdict for each lock. */
static enum hd_status find_orphans(struct verdicts *verdicts, struct job *job, struct hd_error *err)
{
	(void)job;
	const struct waits *waits = verdicts->waits;
	struct wait_rows *found = &verdicts->orphans;
	for (size_t i = 0; i < waits->count; i++) {
		uint64_t lock;
		if (wait_lock_holder(waits, &waits->rows[i], &lock) != HOLDER_OTHER)
			TRY(wait_rows_add(found, lock, (uint32_t)i, err));
	}
	wait_rows_sort(found);
	TRY(add_behind_writers(waits, found, err));
	wait_rows_sort(found);
	for (size_t i = 0, begin = 0; i < found->rows_count; i++) {
		const struct wait_row *row = &found->rows[i];
		if (found->rows[begin].object != row->object)
			begin = i;
		if (wait_rows_has(found, i + 1, row->object))
			continue;
		enum lock_holder holder = HOLDER_OTHER;
		const struct thread_wait *first = first_of_lock(waits, found, begin, &holder);
		const struct verdict verdict = {
			.kind = VERDICT_ORPHAN,
			.is_probable = holder == HOLDER_IDLE,
			.lock = row->object,
			.thread = first,
			.count = i - begin + 1,
		};
		TRY(add_verdict(verdicts, &verdict, err));
	}
	return HD_OK;
}

/* The circle that was cut at @p node: how many methods are in it, and may one of them go on after a limit? */
static struct verdict circle_at(const struct async_graph *graph, const struct async_node *node)
{
	struct verdict verdict = { .kind = VERDICT_CIRCLE,
				   .is_probable = node->is_limited,
				   .count = 1,
				   .method = (uint32_t)(node - graph->rows) };
	uint32_t row = async_graph_find(graph, node->object);
	while (row != ASYNC_NO_NODE && &graph->rows[row] != node) {
		verdict.is_probable |= graph->rows[row].is_limited;
		row = graph->rows[row].next;
		verdict.count++;
	}
	return verdict;
}

static enum hd_status find_circles(struct verdicts *verdicts, struct job *job, struct hd_error *err)
{
	(void)job;
	const struct async_graph *graph = verdicts->waits->async;
	for (size_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *node = &graph->rows[i];
		verdicts->chains += !async_node_is_awaited(node);
		if (node->wait != AWAIT_CYCLE)
			continue;
		const struct verdict verdict = circle_at(graph, node);
		TRY(add_verdict(verdicts, &verdict, err));
	}
	return HD_OK;
}

uint64_t workers_alike(const struct waits *waits, const struct thread_wait *one)
{
	uint64_t count = 0, method = wait_method(one);
	for (size_t i = 0; method && i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		count += thread_state_is(wait->thread, THREAD_STATE_POOL_WORKER) &&
			 is_blocked(wait) && wait_method(wait) == method;
	}
	return count;
}

/* All workers must be seen waiting on their stacks: the pool does not count waits for locks. */
static enum hd_status find_starvation(struct verdicts *verdicts, struct job *job,
				      struct hd_error *err)
{
	(void)job;
	struct verdict verdict = { .kind = VERDICT_STARVED,
				   .starved = { .queued = verdicts->queued } };
	const struct pool_state *pool = &verdicts->pool;
	if (!pool_knows(pool, POOL_EXISTING) || !verdicts->queued)
		return HD_OK;
	for (size_t i = 0; i < verdicts->waits->count; i++) {
		const struct thread_wait *wait = &verdicts->waits->rows[i];
		if (!thread_state_is(wait->thread, THREAD_STATE_POOL_WORKER) || !is_blocked(wait))
			continue;
		bool is_task = wait->kind == WAIT_TASK || wait->kind == WAIT_ALL_TASKS ||
			       wait->kind == WAIT_ANY_TASK;
		verdict.count++;
		verdict.starved.on_tasks += is_task;
		verdict.starved.sleeping += wait->kind == WAIT_SLEEP;
		if (!verdict.thread || (is_task && verdict.thread->kind != WAIT_TASK))
			verdict.thread = wait;
	}
	if (!verdict.count || (int64_t)verdict.count < pool->values[POOL_EXISTING])
		return HD_OK;
	verdict.starved.alike = workers_alike(verdicts->waits, verdict.thread);
	return add_verdict(verdicts, &verdict, err);
}

static enum hd_status find_start(struct verdicts *verdicts, struct job *job, struct hd_error *err)
{
	struct host_start *start = &verdicts->start;
	TRY(host_start_find(verdicts->waits, job, start, err));
	const struct verdict verdict = {
		.kind = VERDICT_START, .is_probable = true, .start = start, .count = start->later
	};
	return start->completer.type ? add_verdict(verdicts, &verdict, err) : HD_OK;
}

static enum hd_status find_readers(struct verdicts *verdicts, struct job *job, struct hd_error *err)
{
	struct busy_channels *busy = &verdicts->busy;
	TRY(busy_channels_find(verdicts->waits, job, busy, err));
	for (size_t i = 0; i < busy->rows_count; i++) {
		const struct verdict verdict = { .kind = VERDICT_READERS,
						 .is_probable = true,
						 .busy = &busy->rows[i],
						 .count = busy->rows[i].readers };
		TRY(add_verdict(verdicts, &verdict, err));
	}
	return HD_OK;
}

/* Does another verdict say more about a thing: that of a host's start, or of the readers of a channel? */
static bool is_told(struct verdicts *verdicts, const struct wait_thing *thing)
{
	struct lost_place *place = thing->kind == AWAIT_SEMAPHORE
					   ? lost_place_of(&verdicts->places, thing->address)
					   : NULL;
	/* It is certain where nobody has the semaphore itself. */
	if (place && (thing->is_alone || thing->pool_items))
		place->is_dropped = true;
	if (place && !place->is_dropped)
		return true;
	for (size_t i = 0; i < verdicts->answers.rows_count; i++) {
		if (verdicts->answers.rows[i].source == thing->address)
			return true;
	}
	const struct wait_rows *ends = &verdicts->busy.ends;
	bool is_start = verdicts->start.completer.type && thing->address == verdicts->start.source;
	for (size_t i = 0; i < ends->rows_count && !is_start; i++) {
		if (thing->first == verdicts->waits->count + ends->rows[i].node)
			return true;
	}
	return is_start;
}

/* How many threads wait for each node, directly or not, in all and for sure. */
struct waiter_counts {
	uint64_t *all, *sure;
	bool *are_probable; /* wait_ways() */
};

static void waiter_counts_deinit(struct waiter_counts *counts)
{
	mem_free(counts->all);
	mem_free(counts->sure);
	mem_free(counts->are_probable);
}

static enum hd_status count_waiters(const struct waits *waits, const uint32_t *ends,
				    struct waiter_counts *counts, struct hd_error *err)
{
	size_t nodes = wait_nodes(waits);
	*counts = (struct waiter_counts){ .all = mem_calloc(nodes + 1, sizeof(uint64_t)),
					  .sure = mem_calloc(nodes + 1, sizeof(uint64_t)),
					  .are_probable = mem_calloc(nodes + 1, sizeof(bool)) };
	TRY_MEMORY(counts->all && counts->sure && counts->are_probable, err);
	TRY(wait_ways(waits, ends, counts->are_probable, err));
	for (size_t i = 0; i < waits->count; i++) {
		if (ends[i] == WAIT_IN_CYCLE || ends[i] == i)
			continue;
		counts->all[ends[i]]++;
		counts->sure[ends[i]] += !counts->are_probable[i];
	}
	return HD_OK;
}

/* Does its wait end by itself?  It has what others want for a moment only, as in a queue for a slow device. */
static bool goes_on_by_itself(const struct waits *waits, const struct thread_wait *wait)
{
	return wait->kind == WAIT_SLEEP && !wait_sleeps_without_end(waits, wait);
}

/* A thread for which others wait, directly or not, and that waits itself. */
static enum hd_status find_one_owner(struct verdicts *verdicts, const uint32_t *ends,
				     struct hd_error *err)
{
	const struct waits *waits = verdicts->waits;
	HD_CLEANUP(waiter_counts) struct waiter_counts counts = { 0 };
	TRY(count_waiters(waits, ends, &counts, err));
	for (size_t i = 0; i < waits->count; i++) {
		const struct verdict verdict = { .kind = VERDICT_ONE_OWNER,
						 .is_probable = counts.sure[i] < ONE_OWNER_MIN,
						 .thread = &waits->rows[i],
						 .count = counts.all[i] };
		if (counts.all[i] >= ONE_OWNER_MIN && is_blocked(&waits->rows[i]) &&
		    !goes_on_by_itself(waits, &waits->rows[i]))
			TRY(add_verdict(verdicts, &verdict, err));
	}
	return HD_OK;
}

/* Whoever waits for it; or whoever waits in turn for these, and what is in queues. */
static uint64_t count_of_thing(const struct wait_thing *thing)
{
	uint64_t direct = thing->threads + thing->methods;
	return thing->calls + thing->items > direct ? thing->calls + thing->items : direct;
}

/* Is a node in one of the deadlocks that waits for the thing?  Then that tells who probably has it. */
static bool is_in_deadlock(const struct verdicts *verdicts, const struct wait_thing *thing)
{
	const struct waits *waits = verdicts->waits;
	for (size_t i = 0; i < verdicts->deadlocks.count; i++) {
		const struct deadlock *deadlock = &verdicts->deadlocks.rows[i];
		for (size_t k = deadlock->begin; k < deadlock->begin + deadlock->count; k++) {
			uint32_t node = verdicts->deadlocks.members[k];
			const struct async_node *method = wait_node_method(waits, node);
			uint64_t object =
				method ? method->object : waits->rows[node].object.address;
			if (object == thing->address)
				return true;
		}
	}
	return false;
}

static enum hd_status add_answers(struct verdicts *verdicts, struct hd_error *err)
{
	for (size_t i = 0; i < verdicts->answers.rows_count; i++) {
		const struct own_answer *answer = &verdicts->answers.rows[i];
		const struct verdict verdict = { .kind = VERDICT_ANSWER,
						 .is_probable = true,
						 .answer = answer,
						 .thread = answer->thread,
						 .count = 1 };
		TRY(add_verdict(verdicts, &verdict, err));
	}
	return HD_OK;
}

/* Nobody is known who releases it; or somebody may, which is kept for who asks. */
static enum hd_status add_thing(struct verdicts *verdicts, const struct wait_thing *thing,
				struct hd_error *err)
{
	const struct verdict verdict = { .kind = VERDICT_ONE_OBJECT,
					 .is_probable = !wait_thing_is_sure(thing),
					 .thing = *thing,
					 .count = count_of_thing(thing) };
	const struct wait_thing *most = &verdicts->undecided;
	/* Who could write to the channel of a pool has nothing to write. */
	if (is_told(verdicts, thing) || (thing->is_alone && is_in_deadlock(verdicts, thing)))
		return HD_OK;
	bool may_change = thing->may_change && !thing->pool_items && !thing->lost &&
			  !wait_thing_is_sure(thing);
	/* Few may just be in its queue. */
	if (thing->kind == AWAIT_SEMAPHORE && !thing->pool_items && !thing->is_alone &&
	    verdict.count < WAIT_THING_MIN)
		return HD_OK;
	if (!may_change && !thing->stage.is_behind)
		return add_verdict(verdicts, &verdict, err);
	if (may_change && verdict.count > most->threads + most->methods)
		verdicts->undecided = *thing;
	return HD_OK;
}

static enum hd_status find_one_object(struct verdicts *verdicts, const uint32_t *ends,
				      struct job *job, struct hd_error *err)
{
	struct wait_things things;
	HD_CLEANUP(wait_graph) struct wait_graph graph = { .waits = verdicts->waits };
	/* Where something else hangs, who has a place may wait for that; and code is read only when it is needed. */
	if (!verdicts->rows_count) {
		TRY(lost_places_find(verdicts->waits, &graph, job, &verdicts->places, err));
		TRY(own_answers_find(verdicts->waits, &graph, job, &verdicts->answers, err));
	}
	TRY(add_answers(verdicts, err));
	TRY(wait_things_judge(verdicts->waits, ends, &graph, job, &things, err));
	for (size_t i = 0; i < things.rows_count; i++)
		TRY(add_thing(verdicts, &things.rows[i], err));
	return HD_OK;
}

static enum hd_status add_places(struct verdicts *verdicts, struct hd_error *err)
{
	for (size_t i = 0; i < verdicts->places.rows_count; i++) {
		const struct lost_place *place = &verdicts->places.rows[i];
		const struct verdict verdict = { .kind = place->holders ? VERDICT_RETRY
									: VERDICT_PLACES,
						 .is_probable = true,
						 .place = place,
						 .count = place->threads + place->methods };
		const struct wait_thing thing = { .address = place->semaphore };
		bool is_enough = !place->holders || verdict.count >= WAIT_THING_MIN;
		if (!place->is_dropped && is_enough && !is_in_deadlock(verdicts, &thing))
			TRY(add_verdict(verdicts, &verdict, err));
	}
	return HD_OK;
}

/* Is the thread in a loop over the items of the collection, and at work with one? */
static bool takes_items(const struct thread_wait *thread, uint64_t collection,
			struct wait_reach *reach)
{
	const struct waits *waits = reach->waits;
	if (thread->kind != WAIT_NONE && !goes_on_by_itself(waits, thread))
		return false;
	reach->wanted = collection;
	for (size_t i = 0; i < thread->stack.roots_count; i++) {
		struct object object;
		if (member_object(waits->members, thread->stack.roots[i].value, &object) &&
		    async_graph_type(waits->async, object.type) == ASYNC_READ_ITERATOR &&
		    wait_reaches(reach, object.address, 1))
			return true;
	}
	return false;
}

/*
 * Does a thread outside of the pool let the worker go on: one that runs and has the lock, or that takes items from the full
 * collection?  What a work item that is queued would release does not count: it needs a worker.
 */
static bool is_served(const struct waits *waits, const uint32_t *ends,
		      const struct thread_wait *worker, struct wait_reach *reach)
{
	uint32_t node = (uint32_t)(worker - waits->rows), end = ends[node];
	if (end != node && end < waits->count) {
		return waits->rows[end].kind == WAIT_NONE &&
		       !thread_state_is(waits->rows[end].thread, THREAD_STATE_POOL_WORKER);
	}
	if (worker->kind != WAIT_COLLECTION || !worker->object.type ||
	    !wait_wants_room(waits, worker))
		return false;
	for (size_t i = 0; i < waits->count; i++) {
		if (!thread_state_is(waits->rows[i].thread, THREAD_STATE_POOL_WORKER) &&
		    takes_items(&waits->rows[i], worker->object.address, reach))
			return true;
	}
	return false;
}

/* Workers that are all served wait for a moment: producers behind a slow consumer, or those that want a lock in turns. */
static enum hd_status drop_served(struct verdicts *verdicts, const uint32_t *ends,
				  struct hd_error *err)
{
	const struct waits *waits = verdicts->waits;
	size_t kept = 0, starved = 0;
	while (starved < verdicts->rows_count && verdicts->rows[starved].kind != VERDICT_STARVED)
		starved++;
	if (starved == verdicts->rows_count)
		return HD_OK;
	HD_FREE struct wait_reach *reach = mem_calloc(1, sizeof(*reach));
	TRY_MEMORY(reach, err);
	reach->waits = waits;
	reach->is_wanted = reach_is_object;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		if (thread_state_is(wait->thread, THREAD_STATE_POOL_WORKER) && is_blocked(wait) &&
		    !is_served(waits, ends, wait, reach))
			return HD_OK;
	}
	for (size_t i = 0; i < verdicts->rows_count; i++) {
		if (verdicts->rows[i].kind != VERDICT_STARVED)
			verdicts->rows[kept++] = verdicts->rows[i];
	}
	verdicts->rows_count = kept;
	return HD_OK;
}

/* Others wait for one that tries again and again; where something else hangs, it may fail for that. */
static enum hd_status find_failing(struct verdicts *verdicts, const uint32_t *ends, struct job *job,
				   struct hd_error *err)
{
	struct trier triers[TRIERS_MAX];
	size_t count;
	TRY(failed_tries_find(verdicts->waits, job, &verdicts->failed, err));
	if (verdicts->rows_count)
		return HD_OK;
	TRY(failed_tries_wanted(&verdicts->failed, verdicts->waits, ends, triers, &count, err));
	for (size_t i = 0; i < count; i++) {
		const struct verdict verdict = { .kind = VERDICT_RETRY,
						 .is_probable = true,
						 .failed = triers[i].failed,
						 .trier = triers[i].node,
						 .count = triers[i].waiters };
		TRY(add_verdict(verdicts, &verdict, err));
	}
	return HD_OK;
}

/* Who waits for one that waits, and for what nobody releases. */
static enum hd_status find_ends(struct verdicts *verdicts, struct job *job, struct hd_error *err)
{
	HD_FREE uint32_t *ends = mem_alloc(wait_nodes(verdicts->waits) + 1, sizeof(*ends));
	TRY_MEMORY(ends, err);
	wait_ends(verdicts->waits, ends);
	TRY(find_one_owner(verdicts, ends, err));
	TRY(find_one_object(verdicts, ends, job, err));
	TRY(add_places(verdicts, err));
	TRY(drop_served(verdicts, ends, err));
	return find_failing(verdicts, ends, job, err);
}

static enum hd_status find_requests(struct verdicts *verdicts, struct job *job,
				    struct hd_error *err)
{
	struct verdict verdict = { .kind = VERDICT_REQUESTS, .is_probable = true };
	TRY(stuck_requests_find(verdicts->waits, job, &verdict.requests, err));
	verdict.count = verdict.requests.count;
	return verdict.count ? add_verdict(verdicts, &verdict, err) : HD_OK;
}

static enum hd_status find_pulses(struct verdicts *verdicts, struct job *job, struct hd_error *err)
{
	struct lost_pulses *pulses = &verdicts->pulses;
	TRY(lost_pulses_find(verdicts->waits, job, pulses, err));
	for (size_t i = 0; i < pulses->rows_count; i++) {
		const struct verdict verdict = { .kind = VERDICT_PULSE,
						 .is_probable = true,
						 .pulse = &pulses->rows[i],
						 .lock = pulses->rows[i].object,
						 .thread = pulses->rows[i].other,
						 .count = pulses->rows[i].threads };
		TRY(add_verdict(verdicts, &verdict, err));
	}
	return HD_OK;
}

static enum hd_status find_output(struct verdicts *verdicts, struct job *job, struct hd_error *err)
{
	(void)job;
	const struct waits *waits = verdicts->waits;
	struct verdict verdict = { .kind = VERDICT_OUTPUT, .is_probable = true };
	for (size_t i = 0; i < waits->count; i++) {
		struct wait_process process;
		if (!wait_process_read(waits, &waits->rows[i], &process) || !process.is_unread)
			continue;
		verdict.count++;
		if (!verdict.thread)
			verdict.thread = &waits->rows[i];
	}
	return verdict.count ? add_verdict(verdicts, &verdict, err) : HD_OK;
}

static enum hd_status find_finalizer(struct verdicts *verdicts, struct job *job,
				     struct hd_error *err)
{
	(void)job;
	const struct waits *waits = verdicts->waits;
	HD_CLEANUP(finalizer_list) struct finalizer_list list = { 0 };
	struct verdict verdict = { .kind = VERDICT_FINALIZER };
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		if (runtime_is_finalizer_thread(waits->heap->runtime, wait->thread) &&
		    is_blocked(wait))
			verdict.thread = wait;
	}
	if (!verdict.thread)
		return HD_OK;
	TRY(finalizer_list_read(waits->heap, &list, err));
	for (size_t i = 0; i < list.rows_count; i++)
		verdict.count += list.rows[i].part >= FINALIZER_CRITICAL;
	return verdict.count ? add_verdict(verdicts, &verdict, err) : HD_OK;
}

static enum hd_status find_collection(struct verdicts *verdicts, struct job *job,
				      struct hd_error *err)
{
	(void)job;
	const struct waits *waits = verdicts->waits;
	/* In one look, it may last for a moment only. */
	bool is_one_look = runtime_target(waits->heap->runtime)->process.suspending < 2;
	struct verdict verdict = { .kind = VERDICT_COLLECTION, .is_probable = is_one_look };
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		if (wait->kind == WAIT_SUSPENSION) {
			verdict.collector = wait;
			verdict.thread = wait_of_thread(waits, wait->blamed_owner);
		}
		verdict.count += wait->thread->is_cooperative;
	}
	/* The others were looked at in the moment in which it was about to stop. */
	bool has_found = verdict.thread && !wait_stops_soon(waits, verdict.thread);
	return has_found ? add_verdict(verdicts, &verdict, err) : HD_OK;
}

static enum hd_status read_pool(struct verdicts *verdicts, struct job *job, struct hd_error *err)
{
	const struct queue_reader reader = { verdicts->waits->heap, verdicts->waits->members, job };
	HD_CLEANUP(pool_queues) struct pool_queues queues = { 0 };
	pool_state_read(reader.members, &verdicts->pool);
	enum hd_status status = pool_queues_read(&reader, &queues, err);
	for (unsigned int i = 0; i < POOL_QUEUES; i++)
		verdicts->queued += queues.queues[i].rows_count;
	return status;
}

/* In the order in which verdicts are told. */
static enum hd_status (*const finders[])(struct verdicts *verdicts, struct job *job,
					 struct hd_error *err) = {
	find_deadlocks, find_orphans, find_circles,   find_starvation,
	find_start,     find_readers, find_ends,      find_requests,
	find_pulses,    find_output,  find_finalizer, find_collection,
};

/* Which fields have the things that many wait for? */
static enum hd_status name_things(struct verdicts *verdicts, struct job *job, struct hd_error *err)
{
	struct wait_owners *owners = &verdicts->owners;
	for (size_t i = 0; i < verdicts->rows_count && owners->count < WAIT_OWNERS_MAX; i++) {
		if (verdicts->rows[i].kind == VERDICT_ONE_OBJECT) {
			owners->rows[owners->count++].object =
				wait_thing_cause(&verdicts->rows[i].thing);
		}
	}
	return wait_owners_find(verdicts->waits->heap, owners, job, err);
}

enum hd_status verdicts_find(struct heap *heap, struct async_graph *async, struct job *job,
			     struct verdicts *ret, struct hd_error *err)
{
	*ret = (struct verdicts){ 0 };
	TRY(waits_create_with(heap, async, job, &ret->waits, err));
	TRY(read_pool(ret, job, err));
	for (size_t i = 0; i < sizeof(finders) / sizeof(finders[0]); i++)
		TRY(finders[i](ret, job, err));
	return name_things(ret, job, err);
}
