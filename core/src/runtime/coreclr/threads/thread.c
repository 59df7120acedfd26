/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/threads/thread.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mem/memory.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/exinfo.h"
#include "runtime/coreclr/threads/in_flight.h"
#include "runtime/thread_state.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"

/* m_OSThreadId of a thread that does not run (SWITCHED_OUT_FIBER_OSID, threads.h). */
#define OS_ID_NONE 0xbaadf00du

/* pid_max is at most 2^22 (linux/threads.h), and that is the largest number of threads. */
#define OS_ID_MAX ((uint32_t)1 << 22)

/*
 * A walk over the list of a ThreadStore (SList of Thread::m_Link, threads.h).  A link is the word
 * of a Thread that has the next link's address, or since 11 the next Thread's.
 */
struct links {
	const struct runtime *runtime;
	uint64_t head; /* address of the list's own link */
	uint64_t link; /* address of the current thread's, 0 at the end */
	uint64_t mark; /* an earlier link, to detect a cycle (Brent's algorithm) */
	size_t steps, power;
	bool is_broken; /* a link cannot be read, or there is a cycle */
	size_t cycle;   /* then: the length of the cycle */
};

static void links_follow(struct links *links, uint64_t from)
{
	const struct runtime *runtime = links->runtime;
	uint64_t next = 0;
	bool is_read = memory_u64(runtime->memory, from, &next);
	if (is_read && next && coreclr_has(runtime, CORECLR_THREAD_POINTERS))
		next += coreclr_offset(runtime, L_THREAD_LINK);
	if (!is_read) {
		links->is_broken = true;
	} else if (next == links->mark || next % 8 != 0) {
		links->is_broken = next != links->head && next != 0;
		links->cycle = next != 0 && next == links->mark ? links->steps + 1 : 0;
		next = 0;
	}
	links->link = next == links->head ? 0 : next;
	if (++links->steps == links->power) {
		links->power *= 2;
		links->steps = 0;
		links->mark = links->link;
	}
}

static void links_begin(struct links *links, const struct runtime *runtime, uint64_t store)
{
	*links = (struct links){ .runtime = runtime, .power = 1 };
	if (!layout_has(&coreclr_of(runtime)->layout, L_THREAD_STORE_FIRST) ||
	    !layout_has(&coreclr_of(runtime)->layout, L_THREAD_LINK)) {
		links->is_broken = true;
		return;
	}
	links->head = store + coreclr_offset(runtime, L_THREAD_STORE_FIRST);
	links_follow(links, links->head);
}

static uint64_t links_thread(const struct links *links)
{
	return links->link - coreclr_offset(links->runtime, L_THREAD_LINK);
}

static void read_thread_context(const struct runtime *runtime, struct runtime_thread *thread)
{
	uint64_t context = 0;
	if (layout_has(&coreclr_of(runtime)->layout, L_THREAD_LOCALS)) {
		if (!coreclr_pointer(runtime, thread->address, L_THREAD_LOCALS, &context) ||
		    !context || !layout_has(&coreclr_of(runtime)->layout, L_LOCALS_ALLOC_CONTEXT))
			return;
		context += coreclr_offset(runtime, L_LOCALS_ALLOC_CONTEXT);
		if (layout_has(&coreclr_of(runtime)->layout, L_EE_ALLOC_CONTEXT))
			context += coreclr_offset(runtime, L_EE_ALLOC_CONTEXT);
	} else if (layout_has(&coreclr_of(runtime)->layout, L_THREAD_ALLOC_CONTEXT)) {
		context = thread->address + coreclr_offset(runtime, L_THREAD_ALLOC_CONTEXT);
	} else {
		return;
	}
	thread->alloc_context = context;
	uint64_t pointer = 0, limit = 0;
	if (!coreclr_pointer(runtime, context, L_ALLOC_POINTER, &pointer) ||
	    !coreclr_pointer(runtime, context, L_ALLOC_LIMIT, &limit) || pointer == 0)
		return;
	thread->alloc_pointer = pointer;
	thread->alloc_limit = limit;
}

static bool read_thread_u32(const struct runtime *runtime, uint64_t base, enum layout_field field,
			    uint32_t *ret)
{
	return layout_has(&coreclr_of(runtime)->layout, field) &&
	       memory_u32(runtime->memory, base + coreclr_offset(runtime, field), ret);
}

/* The exception that it threw last. */
static void read_exception(const struct runtime *runtime, struct runtime_thread *thread)
{
	struct in_flight flight;
	uint64_t slot = 0;
	/* A handle: the address of a reference. */
	if (coreclr_pointer(runtime, thread->address, L_THREAD_EXCEPTION, &slot) && slot)
		(void)memory_u64(runtime->memory, slot, &thread->exception);
	if (!coreclr_has(runtime, CORECLR_DIRECT_EXCEPTION))
		return;
	/* While an exception is in flight, the one before may still be there (12.7). */
	uint64_t object = 0;
	in_flight_begin(&flight, runtime, thread->address);
	if (flight.at && exinfo_thrown(runtime, flight.at, &slot) &&
	    memory_u64(runtime->memory, slot, &object) && object)
		thread->exception = object;
}

static bool read_thread(const struct runtime *runtime, uint64_t address, struct runtime_thread *ret)
{
	*ret = (struct runtime_thread){ .address = address };
	uint32_t cooperative = 0;
	if (!read_thread_u32(runtime, address, L_THREAD_ID, &ret->id))
		return false;
	(void)coreclr_pointer(runtime, address, L_THREAD_OS_ID, &ret->os_id);
	if (ret->os_id == OS_ID_NONE)
		ret->os_id = 0;
	(void)read_thread_u32(runtime, address, L_THREAD_STATE, &ret->state);
	(void)read_thread_u32(runtime, address, L_THREAD_COOPERATIVE, &cooperative);
	ret->is_cooperative = cooperative != 0;
	read_thread_context(runtime, ret);
	read_exception(runtime, ret);
	return true;
}

/* No thread has such ids: what was read is not a Thread. */
static bool has_impossible_ids(const struct runtime_thread *thread)
{
	return !thread->id || thread->id > OS_ID_MAX || thread->os_id > OS_ID_MAX;
}

bool thread_store_is(const struct runtime *runtime, uint64_t address, bool must_match)
{
	if (address == 0 || address % 8 != 0)
		return false;
	struct links links;
	links_begin(&links, runtime, address);
	if (links.is_broken || links.link == 0)
		return false;
	must_match = must_match && runtime->target->threads.count > 0;
	unsigned int matches = 0, odd = 0;
	for (unsigned int i = 0; i < 64 && links.link && !links.is_broken; i++) {
		struct runtime_thread thread;
		if (!read_thread(runtime, links_thread(&links), &thread))
			return false;
		bool is_odd = has_impossible_ids(&thread);
		odd += is_odd;
		matches += !is_odd && thread.os_id &&
			   target_thread(runtime->target, (int32_t)thread.os_id);
		links_follow(&links, links.link);
	}
	/* One thread with damaged ids does not make the others wrong. */
	return !links.is_broken && ((matches && matches >= odd) || (!must_match && !odd));
}

static bool any_in_process(const struct runtime *runtime)
{
	for (size_t i = 0; i < runtime->threads.count; i++) {
		uint64_t id = runtime->threads.rows[i].os_id;
		if (id && id <= INT32_MAX && target_thread(runtime->target, (int32_t)id))
			return true;
	}
	return runtime->threads.count == 0 || runtime->target->threads.count == 0;
}

/* If the list has a cycle, its end was read more than once: keep each thread once. */
static void drop_repeated(struct runtime *runtime, size_t cycle)
{
	size_t first = 0;
	while (first + cycle < runtime->threads.count &&
	       runtime->threads.rows[first].address != runtime->threads.rows[first + cycle].address)
		first++;
	if (cycle && first + cycle < runtime->threads.count)
		runtime->threads.count = first + cycle;
}

static bool is_listed(const struct runtime *runtime, uint64_t address)
{
	for (size_t i = 0; i < runtime->threads.count; i++) {
		if (runtime->threads.rows[i].address == address)
			return true;
	}
	return false;
}

/* Facts about the threads from outside the list, which the list must match. */
static void check_roles(struct runtime *runtime)
{
	uint32_t pending = 0;
	if (read_thread_u32(runtime, coreclr_of(runtime)->globals.thread_store,
			    L_THREAD_STORE_PENDING, &pending) &&
	    pending <= CORECLR_THREADS_MAX)
		runtime->threads.pending = pending;
	if (!is_listed(runtime, runtime->threads.finalizer))
		runtime->threads.finalizer = 0;
	if (!is_listed(runtime, runtime->threads.gc))
		runtime->threads.gc = 0;
}

/* Leave out a list that leads to something else than threads: this runtime has it elsewhere. */
static bool drop_impossible(struct runtime *runtime)
{
	size_t odd = 0, count = runtime->threads.count;
	for (size_t i = 0; i < count; i++)
		odd += has_impossible_ids(&runtime->threads.rows[i]);
	if (odd <= count / 2)
		return odd != 0;
	runtime->threads.count = 0;
	findings_add(&runtime->target->findings, FINDING_THREAD_LIST, NULL,
		     "the list of managed threads cannot be read: %zu of its %zu threads have ids "
		     "that no thread can have; stacks and allocation contexts are not known",
		     odd, count);
	return true;
}

/* A thread that runs has an OS id. */
static void check_ids(const struct runtime *runtime)
{
	size_t count = 0;
	for (size_t i = 0; i < runtime->threads.count; i++) {
		const struct runtime_thread *thread = &runtime->threads.rows[i];
		count += !thread->os_id && !thread_state_is(thread, THREAD_STATES_NO_STACK);
	}
	if (!count)
		return;
	findings_add(&runtime->target->findings, FINDING_THREAD_LIST, NULL,
		     "%zu managed thread%s without an OS id, though neither dead nor unstarted: "
		     "their stacks are not known",
		     count, count == 1 ? " is" : "s are");
}

/* Are these all threads, and those of the process? */
static void check_end(struct runtime *runtime, bool is_cut, bool is_odd)
{
	struct findings *findings = &runtime->target->findings;
	size_t read = runtime->threads.count;
	uint32_t count = 0;
	if (is_cut) {
		findings_add(
			findings, FINDING_THREAD_LIST, NULL,
			"the list of managed threads ends after %zu of them: the rest "
			"cannot be read, or it leads back; allocation contexts of the others are not "
			"known, so the walk may take their free space for damage",
			read);
		return;
	}
	if (read_thread_u32(runtime, coreclr_of(runtime)->globals.thread_store,
			    L_THREAD_STORE_COUNT, &count) &&
	    count > read) {
		findings_add(findings, FINDING_THREAD_LIST, NULL,
			     "the list of managed threads has %zu of them, but the runtime counts "
			     "%" PRIu32 ": stacks, thread statics and allocation contexts of the "
			     "others are not known",
			     read, count);
		return;
	}
	/* Only a count can prove that there is no thread. */
	bool is_counted = read || layout_has(&coreclr_of(runtime)->layout, L_THREAD_STORE_COUNT);
	runtime->threads.is_whole =
		is_counted && !is_odd && layout_has(&coreclr_of(runtime)->layout, L_THREAD_OS_ID);
	if (!any_in_process(runtime)) {
		findings_add(
			findings, FINDING_THREAD_LIST, NULL,
			"none of the %zu managed threads is a thread of the process, by its id or "
			"by its stack: was the dump taken outside of the container of the process? "
			"Their stacks are not known",
			read);
	}
}

enum hd_status thread_list_read(struct runtime *runtime, struct hd_error *err)
{
	runtime->threads.knows_modes = coreclr_has_field(runtime, L_THREAD_COOPERATIVE);
	runtime->threads.knows_exceptions = coreclr_has_field(runtime, L_THREAD_EXCEPTION);
	if (coreclr_of(runtime)->globals.thread_store == 0)
		return HD_OK;
	struct links links;
	links_begin(&links, runtime, coreclr_of(runtime)->globals.thread_store);
	size_t capacity = 0;
	bool missing = false;
	while (links.link && runtime->threads.count < CORECLR_THREADS_MAX) {
		struct runtime_thread thread;
		missing = !read_thread(runtime, links_thread(&links), &thread);
		if (missing)
			break;
		if (runtime->threads.count == capacity) {
			size_t grown = grown_capacity(capacity, sizeof(thread));
			struct runtime_thread *threads =
				mem_realloc(runtime->threads.rows, grown, sizeof(thread));
			TRY_MEMORY(threads, err);
			runtime->threads.rows = threads;
			capacity = grown;
		}
		runtime->threads.rows[runtime->threads.count++] = thread;
		links_follow(&links, links.link);
	}
	drop_repeated(runtime, links.cycle);
	bool is_odd = drop_impossible(runtime);
	TRY(thread_ids_match(runtime, err));
	check_roles(runtime);
	check_ids(runtime);
	if (!is_odd || runtime->threads.count)
		check_end(runtime, links.is_broken || missing || links.link, is_odd);
	return HD_OK;
}
