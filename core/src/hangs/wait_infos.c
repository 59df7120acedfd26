/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "analysis/async/async_graph.h"
#include "hangs/wait_parts.h"
#include "inspect/thread_name.h"
#include "runtime/coreclr/features.h"
#include "util/alloc.h"
#include "util/sort.h"

/* The use of a WaitableObject by the thread that waits for it. */
enum waitable_use {
	USE_ENTER, /* the event of a monitor's Lock */
	USE_PULSE, /* the event of one that called Monitor.Wait */
	USE_JOIN,  /* Thread._joinEvent */
};

struct known_waitable {
	uint64_t address;
	uint32_t row; /* of the monitor, or of the thread that ends */
	uint8_t use;  /* enum waitable_use */
};

struct info_search {
	struct waits *waits;
	struct known_waitable *rows;
	size_t rows_count, rows_capacity;
	size_t queued; /* threads in queues of Monitor.Wait */
};

static void info_search_deinit(struct info_search *search)
{
	pages_free(search->rows, search->rows_capacity, sizeof(*search->rows));
}

void wait_info_of_thread(const struct waits *waits, struct thread_wait *wait)
{
	if (!coreclr_has(waits->heap->runtime, CORECLR_MANAGED_WAITS))
		return;
	wait->exposed = thread_object(waits->heap, wait->thread);
	wait_info_read(waits->heap, waits->members, wait->exposed, &wait->info);
}

/* The WaitableObject of an event becomes known. */
static enum hd_status add_event(struct info_search *search, uint64_t event, enum waitable_use use,
				size_t row, struct hd_error *err)
{
	const struct waits *waits = search->waits;
	struct waitable waitable;
	if (!event || !waitable_of_handle(waits->heap, waits->members, event, &waitable))
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(search, rows), err);
	search->rows[search->rows_count++] = (struct known_waitable){ .address = waitable.address,
								      .row = (uint32_t)row,
								      .use = (uint8_t)use };
	return HD_OK;
}

/* Nobody is in two queues: a list that has more than all threads is broken, and may have a cycle. */
static enum hd_status add_queue(struct info_search *search, size_t row, struct hd_error *err)
{
	struct waits *waits = search->waits;
	uint64_t condition = waits->monitors.rows[row].condition, cursor = 0, event;
	while (condition_waiter(waits->members, condition, &cursor, &event)) {
		if (search->queued++ >= runtime_thread_count(waits->heap->runtime)) {
			waits->monitors.unread++;
			return HD_OK;
		}
		TRY(add_event(search, event, USE_PULSE, row, err));
	}
	waits->monitors.unread += condition && cursor;
	return HD_OK;
}

static enum hd_status find_waitables(struct info_search *search, struct hd_error *err)
{
	struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->monitors.rows_count; i++) {
		TRY(add_event(search, waits->monitors.rows[i].event, USE_ENTER, i, err));
		TRY(add_queue(search, i, err));
	}
	for (size_t i = 0; i < waits->count; i++) {
		struct member event =
			fact_at(waits->members, waits->rows[i].exposed, FACT_THREAD_JOIN_EVENT);
		size_t before = search->rows_count;
		if (event.state == MEMBER_READ)
			TRY(add_event(search, event.bits, USE_JOIN, i, err));
		/* All handles are read in the same way as this one. */
		waits->unread_joins += event.state == MEMBER_ABSENT ||
				       (event.bits && search->rows_count == before);
	}
	return HD_OK;
}

ORDER_BY2(compare_waitables, struct known_waitable, address, row)

/* Do the frames leave open what it waits for, or name the wait inside of this one? */
static bool may_become(const struct thread_wait *wait, enum wait_kind kind)
{
	return wait->kind == WAIT_NONE || wait->kind == WAIT_CALL || wait->kind == kind;
}

static void enter_monitor(struct waits *waits, struct thread_wait *wait, struct monitor *monitor)
{
	/* Who was pulsed enters the monitor again; a Lock may have been called without Monitor's frame. */
	bool is_enter = may_become(wait, WAIT_MONITOR) || wait->kind == WAIT_PULSE ||
			wait->kind == WAIT_LOCK;
	monitor->found++;
	if (!is_enter && wait->kind != WAIT_LAZY)
		return;
	wait->entered = monitor;
	wait_store_owner(wait, monitor->block.owner);
	if (!is_enter)
		return;
	wait->kind = WAIT_MONITOR;
	(void)member_object(waits->members, monitor->block.object, &wait->object);
}

static void wait_for_pulse(struct waits *waits, struct thread_wait *wait,
			   const struct monitor *monitor)
{
	wait->pulse = monitor;
	if (!may_become(wait, WAIT_PULSE))
		return;
	wait->kind = WAIT_PULSE;
	(void)member_object(waits->members, monitor->block.object, &wait->object);
}

static void join_thread(struct waits *waits, struct thread_wait *wait,
			const struct thread_wait *joined)
{
	if (!may_become(wait, WAIT_JOIN))
		return;
	wait->kind = WAIT_JOIN;
	wait_store_owner(wait, joined->thread);
	(void)member_object(waits->members, joined->exposed, &wait->object);
}

static void match_thread(struct info_search *search, struct thread_wait *wait)
{
	struct waits *waits = search->waits;
	uint64_t waitable =
		wait->info.count == 1 ? wait_info_object(waits->heap->memory, &wait->info, 0) : 0;
	size_t i = ROWS_FROM(search->rows, search->rows_count, address, waitable);
	if (!waitable || i >= search->rows_count || search->rows[i].address != waitable)
		return;
	const struct known_waitable *known = &search->rows[i];
	switch (known->use) {
	case USE_ENTER:
		enter_monitor(waits, wait, &waits->monitors.rows[known->row]);
		break;
	case USE_PULSE:
		wait_for_pulse(waits, wait, &waits->monitors.rows[known->row]);
		break;
	default:
		join_thread(waits, wait, &waits->rows[known->row]);
		break;
	}
}

enum hd_status wait_infos_match(struct waits *waits, struct hd_error *err)
{
	HD_CLEANUP(info_search) struct info_search search = { .waits = waits };
	TRY(find_waitables(&search, err));
	if (search.rows_count)
		qsort(search.rows, search.rows_count, sizeof(*search.rows), compare_waitables);
	for (size_t i = 0; i < waits->count; i++)
		match_thread(&search, &waits->rows[i]);
	return HD_OK;
}

bool wait_info_handle(const struct waits *waits, uint64_t waitable, struct object *ret)
{
	const struct async_link *link =
		waits->async ? async_link_find(&waits->async->links, waitable) : NULL;
	return link && link->kind == LINK_EVENT && member_object(waits->members, link->to, ret);
}
