/* SPDX-License-Identifier: MIT */
#include "analysis/pool/timers.h"

#include "analysis/pool/pool_state.h"
#include "inspect/value.h"
#include "util/alloc.h"
#include "util/job.h"

/* More timers than this in one list are a cycle: no process has so many. */
#define TIMERS_MAX 50000000u

void set_timers_deinit(struct set_timers *timers)
{
	pages_free(timers->rows, timers->rows_capacity, sizeof(*timers->rows));
	*timers = (struct set_timers){ 0 };
}

/* Read a timer, which its address identifies, and find the next one. */
static bool read_timer(struct members *members, uint64_t address, struct set_timer *ret,
		       uint64_t *ret_next)
{
	struct member start = fact_at(members, address, FACT_TIMER_START);
	struct member due = fact_at(members, address, FACT_TIMER_DUE);
	struct member period = fact_at(members, address, FACT_TIMER_PERIOD);
	struct member state = fact_at(members, address, FACT_TIMER_STATE);
	struct member next = fact_at(members, address, FACT_TIMER_NEXT);
	if (start.state != MEMBER_READ || due.state != MEMBER_READ || period.state != MEMBER_READ ||
	    next.state != MEMBER_READ)
		return false;
	*ret = (struct set_timer){ .address = address,
				   .state = state.bits,
				   .due_at = (int64_t)(start.bits + (uint32_t)due.bits),
				   .due = (uint32_t)due.bits,
				   .period = (uint32_t)period.bits };
	*ret_next = next.bits;
	return true;
}

static void note_moment(struct set_timers *timers, int64_t moment)
{
	if (moment > timers->latest)
		timers->latest = moment;
}

/*
 * A cycle is found by a second pointer that moves half as fast (Floyd): each timer is kept, so the
 * rows themselves are that pointer.
 */
static enum hd_status read_list(struct members *members, uint64_t first, struct job *job,
				struct set_timers *timers, struct hd_error *err)
{
	size_t begin = timers->rows_count;
	for (uint64_t at = first; at;) {
		size_t count = timers->rows_count - begin;
		struct set_timer timer;
		uint64_t next;
		bool is_cycle = count > 0 && timers->rows[begin + count / 2].address == at;
		if (is_cycle || count >= TIMERS_MAX || !read_timer(members, at, &timer, &next)) {
			timers->is_broken = true;
			return HD_OK;
		}
		TRY_MEMORY(PAGES_RESERVE(timers, rows), err);
		timers->rows[timers->rows_count++] = timer;
		note_moment(timers, timer.due_at - timer.due);
		if (count % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		at = next;
	}
	return HD_OK;
}

static enum hd_status read_queue(struct members *members, uint64_t queue, struct job *job,
				 struct set_timers *timers, struct hd_error *err)
{
	static const enum fact lists[] = { FACT_TIMER_QUEUE_SHORT, FACT_TIMER_QUEUE_LONG };
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct member first = fact_at(members, queue, lists[i]);
		if (first.state != MEMBER_READ) {
			timers->is_broken = true;
			continue;
		}
		TRY(read_list(members, first.bits, job, timers, err));
	}
	return HD_OK;
}

enum hd_status set_timers_read(struct heap *heap, struct members *members, struct job *job,
			       struct set_timers *ret, struct hd_error *err)
{
	struct pool_state pool;
	struct array_info array;
	*ret = (struct set_timers){ .latest = INT64_MIN };
	struct member instances = fact_static(members, FACT_TIMER_QUEUES);
	pool_state_read(members, &pool);
	if (!array_at(heap, members, instances.bits, &array))
		return HD_OK;
	ret->is_known = true;
	for (uint64_t i = 0; i < array.length; i++) {
		uint64_t queue = array_reference(heap, &array, i);
		if (queue)
			TRY(read_queue(members, queue, job, ret, err));
	}
	if (ret->latest > INT64_MIN && pool_knows(&pool, POOL_LAST_DEQUEUE))
		note_moment(ret, pool.values[POOL_LAST_DEQUEUE]);
	return HD_OK;
}
