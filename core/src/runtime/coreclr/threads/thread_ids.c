/* SPDX-License-Identifier: MIT */
/* Which of the process's threads a managed thread is, if a pid namespace gives it another id. */
#include <stdlib.h>

#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/threads/thread.h"
#include "runtime/thread_state.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/sort.h"

/* Two names of one thread. */
struct name {
	uint64_t inner;
	int32_t tid;
};

ORDER_BY(compare_inner_ids, struct name, inner)

static void translate(struct runtime *runtime, const struct name *names, size_t count)
{
	for (size_t i = 0; i < runtime->threads.count; i++) {
		const struct name wanted = { .inner = runtime->threads.rows[i].os_id };
		const struct name *found =
			bsearch(&wanted, names, count, sizeof(*names), compare_inner_ids);
		if (found && wanted.inner)
			runtime->threads.rows[i].os_id = (uint64_t)found->tid;
	}
}

/*
 * In a container a thread has another id than outside.  The runtime knows the inner id.  It is
 * replaced by the outer one, under which the registers are listed and which debuggers and users
 * know.
 */
static enum hd_status use_outer_ids(struct runtime *runtime, struct hd_error *err)
{
	const struct target *target = runtime->target;
	size_t count = 0;
	HD_FREE struct name *names = mem_alloc(target->threads.count + 1, sizeof(*names));
	TRY_MEMORY(names, err);
	for (size_t i = 0; i < target->threads.count; i++) {
		const struct target_thread *thread = &target->threads.rows[i];
		if (thread->inner_tid > 0)
			names[count++] = (struct name){ (uint64_t)thread->inner_tid, thread->tid };
	}
	if (count) {
		qsort(names, count, sizeof(*names), compare_inner_ids);
		translate(runtime, names, count);
	}
	return HD_OK;
}

/* A thread of the target by its stack pointer. */
struct stack_place {
	uint64_t sp;
	int32_t tid;
};

ORDER_BY(compare_stack_places, struct stack_place, sp)

/* The bounds of a running thread's stack, as the runtime has noted them. */
static bool read_stack(const struct runtime *runtime, const struct runtime_thread *thread,
		       uint64_t *ret_limit, uint64_t *ret_base)
{
	return !thread_state_is(thread, THREAD_STATES_NO_STACK) &&
	       coreclr_pointer(runtime, thread->address, L_THREAD_STACK_BASE, ret_base) &&
	       coreclr_pointer(runtime, thread->address, L_THREAD_STACK_LIMIT, ret_limit) &&
	       *ret_limit < *ret_base;
}

/*
 * Is there a managed thread on whose stack the target's thread with the same id is?  Also true when
 * that cannot be told.
 */
static bool any_id_fits(const struct runtime *runtime)
{
	bool can_tell = false;
	for (size_t i = 0; i < runtime->threads.count; i++) {
		const struct runtime_thread *thread = &runtime->threads.rows[i];
		uint64_t limit, base;
		if (!read_stack(runtime, thread, &limit, &base))
			continue;
		can_tell = true;
		const struct target_thread *named =
			thread->os_id && thread->os_id <= INT32_MAX
				? target_thread(runtime->target, (int32_t)thread->os_id)
				: NULL;
		uint64_t sp = named ? target_thread_sp(runtime->target, named) : 0;
		if (sp >= limit && sp < base)
			return true;
	}
	return !can_tell;
}

/* The only thread whose stack pointer lies in [limit, base), or NULL. */
static const struct stack_place *only_place(const struct stack_place *places, size_t count,
					    uint64_t limit, uint64_t base)
{
	size_t low = ROWS_FROM(places, count, sp, limit);
	bool is_one = low < count && places[low].sp < base &&
		      (low + 1 == count || places[low + 1].sp >= base);
	return is_one ? &places[low] : NULL;
}

/*
 * Give each managed thread the id of the thread that is on its stack; others do not keep an id that
 * belongs to another thread.
 */
static size_t match_stacks(struct runtime *runtime, const struct stack_place *places, size_t count)
{
	size_t matched = 0;
	for (size_t i = 0; i < runtime->threads.count; i++) {
		struct runtime_thread *thread = &runtime->threads.rows[i];
		uint64_t limit, base;
		const struct stack_place *place = read_stack(runtime, thread, &limit, &base)
							  ? only_place(places, count, limit, base)
							  : NULL;
		matched += place != NULL;
		if (place)
			thread->os_id = (uint64_t)place->tid;
	}
	return matched;
}

static void drop_foreign(struct runtime *runtime, const struct stack_place *places, size_t count)
{
	for (size_t i = 0; i < runtime->threads.count; i++) {
		struct runtime_thread *thread = &runtime->threads.rows[i];
		uint64_t limit = 0, base = 0;
		bool is_matched = read_stack(runtime, thread, &limit, &base) &&
				  only_place(places, count, limit, base);
		if (!is_matched && thread->os_id <= INT32_MAX &&
		    target_thread(runtime->target, (int32_t)thread->os_id))
			thread->os_id = 0;
	}
}

/*
 * A core that was written in another pid namespace than that of the process has other ids for the
 * threads, and does not say how they match.  But each thread is on its own stack.
 */
static enum hd_status use_stacks(struct runtime *runtime, struct hd_error *err)
{
	const struct target *target = runtime->target;
	size_t count = target->threads.count;
	if (target->kind == TARGET_PROCESS || !count || any_id_fits(runtime))
		return HD_OK;
	HD_FREE struct stack_place *places = mem_alloc(count, sizeof(*places));
	TRY_MEMORY(places, err);
	for (size_t i = 0; i < count; i++) {
		const struct target_thread *thread = &target->threads.rows[i];
		places[i] = (struct stack_place){ target_thread_sp(target, thread), thread->tid };
	}
	qsort(places, count, sizeof(*places), compare_stack_places);
	size_t matched = match_stacks(runtime, places, count);
	if (matched) {
		drop_foreign(runtime, places, count);
		findings_add(
			&runtime->target->findings, FINDING_THREAD_IDS, NULL,
			"the core and the runtime know the threads by different ids, as "
			"happens when one of them was in a container: %zu of %zu managed threads were "
			"found by their stacks, and have the ids that the core gives them",
			matched, runtime->threads.count);
	}
	return HD_OK;
}

enum hd_status thread_ids_match(struct runtime *runtime, struct hd_error *err)
{
	TRY(use_outer_ids(runtime, err));
	return use_stacks(runtime, err);
}
