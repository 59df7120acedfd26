/* SPDX-License-Identifier: MIT */
/* Threads in Monitor.Enter and Monitor.Wait, where monitors are managed: their frames have the Lock of the monitor. */
#include <stdlib.h>
#include <string.h>

#include "hangs/wait_parts.h"
#include "mem/memory.h"
#include "runtime/coreclr/types/type_name.h"
#include "runtime/sync_block.h"
#include "stack/stack.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Most bytes of a Condition: its Lock is among its first references. */
#define CONDITION_MAX 64u

/* The Lock of a sync block, and the object that it belongs to. */
struct known_lock {
	uint64_t lock, object;
};

struct known_locks {
	struct known_lock *rows; /* by lock */
	size_t rows_count, rows_capacity;
};

static void known_locks_deinit(struct known_locks *locks)
{
	pages_free(locks->rows, locks->rows_capacity, sizeof(*locks->rows));
}

ORDER_BY2(by_lock, struct known_lock, lock, object)

static enum hd_status read_locks(const struct waits *waits, struct known_locks *locks,
				 struct hd_error *err)
{
	struct sync_block block;
	for (uint32_t i = 1; runtime_sync_block(waits->heap->runtime, i, &block); i++) {
		if (!block.lock || !block.object)
			continue;
		TRY_MEMORY(PAGES_RESERVE(locks, rows), err);
		locks->rows[locks->rows_count++] = (struct known_lock){ block.lock, block.object };
	}
	if (locks->rows_count)
		qsort(locks->rows, locks->rows_count, sizeof(*locks->rows), by_lock);
	return HD_OK;
}

/* Does nothing tell yet what it waits for? */
static bool is_open(const struct thread_wait *wait)
{
	return (wait->kind == WAIT_MONITOR || wait->kind == WAIT_PULSE) && !wait->object.type &&
	       !wait->entered && !wait->pulse && wait->wait_end != WAIT_NO_FRAME;
}

/* The object whose Lock is at @p address; 0: there is no such Lock. */
static uint64_t object_of(const struct known_locks *locks, uint64_t address)
{
	size_t at = ROWS_FROM(locks->rows, locks->rows_count, lock, address);
	return at < locks->rows_count && locks->rows[at].lock == address ? locks->rows[at].object
									 : 0;
}

/* The same of the Lock that the Condition at @p address is for: the queue of Monitor.Wait. */
static uint64_t object_of_condition(const struct waits *waits, const struct known_locks *locks,
				    uint64_t address)
{
	struct runtime *runtime = waits->heap->runtime;
	struct object object;
	uint64_t found = 0, word;
	if (!member_object(waits->members, address, &object) ||
	    strcmp(type_name(runtime, object.type, NULL), "System.Threading.Condition") != 0)
		return 0;
	for (uint64_t at = 8; at < object.size && at <= CONDITION_MAX && !found; at += 8) {
		if (memory_u64(waits->heap->memory, address + at, &word))
			found = object_of(locks, word);
	}
	return found;
}

/* The object whose Lock, or Condition, the frames of the wait refer to; 0: none, or there are several. */
static uint64_t find_object(const struct waits *waits, const struct thread_wait *wait,
			    const struct known_locks *locks)
{
	uint64_t found = 0;
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		if (root->frame >= wait->wait_end ||
		    root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE))
			continue;
		uint64_t object = object_of(locks, root->value);
		if (!object && wait->kind == WAIT_PULSE)
			object = object_of_condition(waits, locks, root->value);
		if (object && found && found != object)
			return 0;
		found = object ? object : found;
	}
	return found;
}

static void take_object(struct waits *waits, struct thread_wait *wait, uint64_t object)
{
	struct monitor *monitor = monitor_of(&waits->monitors, object);
	(void)member_object(waits->members, object, &wait->object);
	if (!monitor)
		return;
	if (wait->kind == WAIT_PULSE) {
		wait->pulse = monitor;
		return;
	}
	monitor->found++;
	wait->entered = monitor;
	wait_store_owner(wait, monitor->block.owner);
}

enum hd_status wait_find_by_locks(struct waits *waits, struct hd_error *err)
{
	HD_CLEANUP(known_locks) struct known_locks locks = { 0 };
	bool is_read = false;
	for (size_t i = 0; i < waits->count; i++) {
		struct thread_wait *wait = &waits->rows[i];
		if (!is_open(wait))
			continue;
		if (!is_read)
			TRY(read_locks(waits, &locks, err));
		is_read = true;
		uint64_t object = find_object(waits, wait, &locks);
		if (object)
			take_object(waits, wait, object);
	}
	return HD_OK;
}
