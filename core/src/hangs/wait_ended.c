/* SPDX-License-Identifier: MIT */
#include "hangs/wait_ended.h"

#include "hangs/wait_readers.h"
#include "runtime/thread_state.h"

/* Who is known to hold it: does that thread still have work?  NULL: nobody is known. */
static enum lock_holder judge(const struct waits *waits, const struct runtime_thread *owner,
			      bool is_gone)
{
	const struct thread_wait *holder = wait_of_thread(waits, owner);
	if (holder)
		return holder->kind == WAIT_IDLE ? HOLDER_IDLE : HOLDER_OTHER;
	bool are_all_known = runtime_knows_all_threads(waits->heap->runtime);
	return is_gone && are_all_known ? HOLDER_ENDED : HOLDER_OTHER;
}

/*
 * Its holder writes itself down, and how often it has entered, at once: a count without a holder is what a
 * thread that has ended leaves.
 */
static enum lock_holder holder_of_monitor(const struct waits *waits, const struct monitor *monitor)
{
	const struct sync_block *block = &monitor->block;
	bool is_gone =
		block->has_monitor && block->is_held && block->recursion > 0 && !block->owner;
	return block->is_held ? judge(waits, block->owner, is_gone) : HOLDER_OTHER;
}

static enum lock_holder holder_by_id(const struct waits *waits, const struct object *lock,
				     enum fact field, const struct runtime_thread *owner)
{
	struct member id = fact_of(waits->members, lock, field);
	bool has_id = id.state == MEMBER_READ && member_signed(&id) > 0;
	return judge(waits, owner, has_id);
}

/* A worker of the thread pool that has nothing to do: the work item that entered a lock there has ended. */
static bool is_idle_worker(const struct thread_wait *wait)
{
	return wait && wait->kind == WAIT_IDLE &&
	       thread_state_is(wait->thread, THREAD_STATE_POOL_WORKER);
}

/*
 * Who reads a lock that @p writer waits to write: HOLDER_IDLE when all that are counted are known, or have ended, and none
 * of them has anything to do.
 */
static enum lock_holder holder_of_readers(const struct waits *waits,
					  const struct thread_wait *writer)
{
	const struct wait_several *several =
		wait_node_several(waits, (uint32_t)(writer - waits->rows));
	uint64_t readers = wait_lock_readers(waits, &writer->object);
	uint64_t known = readers - writer->unknown_readers;
	if (!readers || (known && (!several || several->is_any || several->count != known)) ||
	    (writer->unknown_readers && !writer->are_readers_gone))
		return HOLDER_OTHER;
	if (!known)
		return HOLDER_IDLE;
	for (size_t i = several->begin; i < several->begin + several->count; i++) {
		if (!is_idle_worker(wait_node_thread(waits, waits->several.parts[i].to)))
			return HOLDER_OTHER;
	}
	return HOLDER_IDLE;
}

static enum lock_holder holder_of_lock_slim(const struct waits *waits,
					    const struct thread_wait *wait)
{
	enum lock_holder holder = holder_by_id(waits, &wait->object, FACT_LOCK_SLIM_WRITER,
					       wait_lock_writer(waits, &wait->object));
	return holder == HOLDER_OTHER && wait->kind == WAIT_WRITE && wait->object.type
		       ? holder_of_readers(waits, wait)
		       : holder;
}

enum lock_holder wait_lock_holder(const struct waits *waits, const struct thread_wait *wait,
				  uint64_t *ret_lock)
{
	enum lock_holder holder = HOLDER_OTHER;
	if (wait->is_over)
		return HOLDER_OTHER;
	*ret_lock = wait->object.type ? wait->object.address : 0;
	switch (wait->kind) {
	case WAIT_MONITOR:
		if (wait->entered) {
			*ret_lock = wait->entered->block.object;
			holder = holder_of_monitor(waits, wait->entered);
		}
		break;
	case WAIT_LOCK:
		holder = holder_by_id(waits, &wait->object, FACT_LOCK_OWNER, wait->stored_owner);
		break;
	case WAIT_READ:
	case WAIT_WRITE:
	case WAIT_UPGRADE:
		holder = holder_of_lock_slim(waits, wait);
		break;
	default:
		break;
	}
	return *ret_lock ? holder : HOLDER_OTHER;
}
