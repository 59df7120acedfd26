/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait in native code of the runtime, for a monitor or for a type initialiser: what
 * they wait for is among the words of these frames (doc/coreclr.md 12.11).
 */
#include <string.h>

#include "hangs/wait_parts.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/features.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/job.h"

/* Bytes of a stack that the native frames of a wait take, at most. */
#define WORDS_MAX ((size_t)64 << 10)
/* Most type initialisers that run at once. */
#define INITIALIZERS_MAX 64u

/* Methods that are remembered: recursion and common frames come again and again. */
#define OTHERS 4096u

#define INITIALIZER ".cctor"
#define MONITOR     "System.Threading.Monitor."
#define CALL_FRAME  "InlinedCallFrame"

/* The words of one thread's native frames, and its registers. */
struct native_words {
	uint64_t words[WORDS_MAX / 8 + ARCH_WORDS_MAX];
	size_t count;
};

/* A type initialiser that a thread runs. */
struct running_initializer {
	const struct type *type;
	const struct runtime_thread *thread;
};

struct word_search {
	struct waits *waits;
	struct running_initializer running[INITIALIZERS_MAX];
	size_t running_count;
	struct native_words native;
	char name[WAIT_NAME_SIZE];
	uint64_t others[OTHERS]; /* MethodDescs of methods that are not initialisers */
};

static bool is_of_monitor(struct word_search *search, uint64_t method_desc)
{
	return method_desc &&
	       runtime_method_name(search->waits->heap->runtime, method_desc, search->name,
				   sizeof(search->name), NULL) &&
	       strncmp(search->name, MONITOR, strlen(MONITOR)) == 0;
}

/* Where the frames of the program begin, or those of the framework but for Monitor's. */
static uint64_t native_end(struct word_search *search, const struct thread_wait *wait)
{
	const struct thread_stack *stack = &wait->stack;
	for (size_t i = 0; i < stack->frames_count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		if (frame->kind != STACK_MANAGED)
			continue;
		if (!is_of_monitor(search, frame->method_desc))
			return frame->sp;
	}
	return 0;
}

static void read_native(struct word_search *search, const struct thread_wait *wait)
{
	const struct heap *heap = search->waits->heap;
	struct native_words *native = &search->native;
	const struct target_thread *registers =
		target_thread(runtime_target(heap->runtime), (int32_t)wait->thread->os_id);
	native->count = 0;
	if (!registers)
		return;
	memcpy(native->words, registers->registers, sizeof(registers->registers));
	native->count = ARCH_WORDS_MAX;
	uint64_t begin = target_thread_sp(runtime_target(heap->runtime), registers) & ~(uint64_t)7;
	uint64_t end = native_end(search, wait);
	if (end <= begin)
		return;
	uint64_t size = end - begin < WORDS_MAX ? end - begin : WORDS_MAX;
	native->count +=
		memory_prefix(heap->memory, begin, &native->words[ARCH_WORDS_MAX], size) / 8;
}

/* Only who can be in the slow path of Monitor.Enter: other waits have their own frames. */
static bool may_wait_natively(const struct thread_wait *wait)
{
	switch (wait->kind) {
	case WAIT_MONITOR:
	case WAIT_LAZY:
	case WAIT_INITIALIZER:
		return true;
	case WAIT_NONE:
	case WAIT_CALL:
		return !wait->thread->is_cooperative && wait->stack.managed_count;
	default:
		return false;
	}
}

static struct monitor *entered_monitor(const struct word_search *search,
				       const struct thread_wait *wait)
{
	const struct native_words *native = &search->native;
	for (size_t i = 0; i < native->count; i++) {
		struct monitor *monitor = monitor_of(&search->waits->monitors, native->words[i]);
		if (monitor && !monitor->block.lock && monitor->block.waiters &&
		    monitor->block.owner != wait->thread && monitor->found < monitor->block.waiters)
			return monitor;
	}
	return NULL;
}

static void match_monitor(struct word_search *search, struct thread_wait *wait)
{
	/* Since 11 nobody waits for a monitor in native code. */
	if (coreclr_has(search->waits->heap->runtime, CORECLR_MANAGED_MONITORS))
		return;
	/* It is in a function that has nothing to do with monitors; a register may still have the object. */
	if (wait->kind == WAIT_CALL && wait->call && !is_of_monitor(search, wait->call))
		return;
	struct monitor *monitor = entered_monitor(search, wait);
	if (!monitor)
		return;
	monitor->found++;
	wait->entered = monitor;
	wait_store_owner(wait, monitor->block.owner);
	if (wait->kind == WAIT_LAZY)
		return;
	wait->kind = WAIT_MONITOR;
	(void)member_object(search->waits->members, monitor->block.object, &wait->object);
}

/* Is it in a native function of the program (P/Invoke)?  That initialises no type. */
static bool is_in_own_function(struct word_search *search, const struct thread_wait *wait)
{
	const struct thread_stack *stack = &wait->stack;
	bool is_call = false;
	for (size_t i = 0; i < stack->frames_count && !is_call; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		if (frame->kind != STACK_EXPLICIT)
			return false;
		is_call = frame->method_desc && frame->method_desc == wait->call &&
			  strcmp(frame->name, CALL_FRAME) == 0;
	}
	return is_call &&
	       runtime_method_name(search->waits->heap->runtime, wait->call, search->name,
				   sizeof(search->name), NULL) &&
	       !framework_owns(search->waits->heap->runtime, search->name, strlen(search->name));
}

static void match_initializer(struct word_search *search, struct thread_wait *wait)
{
	const struct native_words *native = &search->native;
	if (is_in_own_function(search, wait))
		return;
	for (size_t k = 0; k < search->running_count; k++) {
		const struct running_initializer *running = &search->running[k];
		if (running->thread == wait->thread)
			continue;
		for (size_t i = 0; i < native->count; i++) {
			if (native->words[i] != running->type->method_table)
				continue;
			wait->kind = WAIT_INITIALIZER;
			wait->initializer = running->type;
			wait_store_owner(wait, running->thread);
			return;
		}
	}
}

static bool is_initializer(struct word_search *search, const struct stack_frame *frame,
			   struct method *ret)
{
	struct runtime *runtime = search->waits->heap->runtime;
	uint64_t *other = &search->others[frame->method_desc / 8 % OTHERS];
	if (frame->kind != STACK_MANAGED || frame->is_dead || !frame->method_desc ||
	    *other == frame->method_desc)
		return false;
	if (method_read(runtime, frame->method_desc, ret) && ret->type &&
	    strcmp(ret->name, INITIALIZER) == 0)
		return true;
	*other = frame->method_desc;
	return false;
}

/* Every frame has to be named: initialisers may be far out. */
static enum hd_status find_initializers(struct word_search *search, struct job *job,
					struct hd_error *err)
{
	const struct waits *waits = search->waits;
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_stack *stack = &waits->rows[i].stack;
		for (size_t k = 0; k < stack->frames_count; k++) {
			struct method method;
			if (k % 1024 == 0)
				TRY(job_check(job, 0, err));
			if (search->running_count < INITIALIZERS_MAX &&
			    is_initializer(search, &stack->frames[k], &method)) {
				search->running[search->running_count++] =
					(struct running_initializer){ method.type,
								      waits->rows[i].thread };
			}
		}
	}
	return HD_OK;
}

static void match_all(struct word_search *search)
{
	struct waits *waits = search->waits;
	/* Threads whose frames say that they enter a monitor come first. */
	for (unsigned int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < waits->count; i++) {
			struct thread_wait *wait = &waits->rows[i];
			bool is_sure = wait->kind == WAIT_MONITOR || wait->kind == WAIT_LAZY;
			if (is_sure != (pass == 0) || !may_wait_natively(wait) ||
			    wait->stored_owner)
				continue;
			read_native(search, wait);
			match_monitor(search, wait);
			if (!wait->stored_owner && !wait->object.type)
				match_initializer(search, wait);
		}
	}
	for (size_t i = 0; i < waits->monitors.rows_count; i++) {
		const struct monitor *monitor = &waits->monitors.rows[i];
		if (monitor->block.waiters > monitor->found)
			waits->not_matched += monitor->block.waiters - monitor->found;
	}
}

enum hd_status wait_find_by_words(struct waits *waits, struct job *job, struct hd_error *err)
{
	HD_FREE struct word_search *search = mem_calloc(1, sizeof(*search));
	TRY_MEMORY(search, err);
	search->waits = waits;
	TRY(find_initializers(search, job, err));
	match_all(search);
	return HD_OK;
}
