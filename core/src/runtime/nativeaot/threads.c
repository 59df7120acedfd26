/* SPDX-License-Identifier: MIT */
/* The managed threads (doc/nativeaot.md 5; src/coreclr/nativeaot/Runtime/{thread,threadstore}.h). */
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_table.h"
#include "runtime/nativeaot/names.h"
#include "runtime/nativeaot/sync.h"
#include "runtime/thread_state.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"

/* More threads than a process can have (linux/threads.h). */
#define THREADS_MAX ((size_t)1 << 22)

/* Thread::ThreadStateFlags (thread.h). */
#define STATE_ATTACHED 0x1u
#define STATE_DETACHED 0x2u
/* It runs finalizers. */
#define STATE_FINALIZER 0x8u
/* It belongs to the GC, and has no managed code, whatever its transition frame says. */
#define STATE_OF_GC 0x20u

/* The object with a thread's statics, in words; and how far these are searched. */
#define STATICS_WORDS_MAX 4096u

/*
 * A list has few threads more than the process: beyond these no statics are searched, for a damaged list may have
 * millions of threads that share their bytes.
 */
#define THREADS_MORE 64u

/* System.Threading.Thread and its ManagedThreadId (Thread.NativeAot.cs; the same in 8 to 11). */
#define THREAD_ID_OBJECT 24u
#define ID_OBJECT_VALUE  8u

static void read_context(const struct runtime *runtime, struct runtime_thread *thread)
{
	const struct aot_layout *layout = &aot_of(runtime)->layout;
	uint64_t context = thread->address + layout->offsets[AOT_THREAD_CONTEXT] +
			   layout->offsets[AOT_CONTEXT_POINTERS];
	uint64_t pointer = 0, limit = 0;
	thread->alloc_context = context;
	if (runtime_alloc_context(runtime, context, &pointer, &limit) && pointer) {
		thread->alloc_pointer = pointer;
		thread->alloc_limit = limit;
	}
}

/* The exception that it throws or handles. */
static void read_exception(const struct runtime *runtime, struct runtime_thread *thread)
{
	uint64_t exinfo = 0;
	if (aot_pointer(runtime, thread->address, AOT_THREAD_EXCEPTIONS, &exinfo) && exinfo)
		(void)aot_pointer(runtime, exinfo, AOT_EXINFO_OBJECT, &thread->exception);
}

/* Does the word at @p slot refer to an object of type @p method_table? */
static bool refers_to(const struct runtime *runtime, uint64_t slot, uint64_t method_table,
		      uint64_t *ret_object)
{
	uint64_t object = 0, word = 0;
	if (!memory_u64(runtime->memory, slot, &object) || !object || object % 8 ||
	    !memory_u64(runtime->memory, object, &word) || (word & ~(uint64_t)7) != method_table)
		return false;
	*ret_object = object;
	return true;
}

/*
 * The object System.Threading.Thread of the thread: a thread static, and the only one of the
 * framework with that type.  0: it has none, or it is not known.
 */
uint64_t aot_thread_object(const struct runtime *runtime, const struct runtime_thread *thread)
{
	uint64_t method_table = aot_known_type(runtime, AOT_TYPE_THREAD);
	uint64_t list = 0, holder = 0, table = 0, object = 0;
	struct aot_method_table head;
	if (!method_table ||
	    !aot_pointer(runtime, thread->address, AOT_THREAD_INLINED_STATICS, &list) || !list ||
	    !memory_u64(runtime->memory, list, &holder) || !holder ||
	    !memory_u64(runtime->memory, holder, &table) ||
	    !aot_method_table_read(runtime->memory, table & ~(uint64_t)7, &head))
		return 0;
	uint64_t words = head.base_size / 8;
	for (uint64_t i = 1; i < words && i < STATICS_WORDS_MAX; i++) {
		if (refers_to(runtime, holder + 8 * i, method_table, &object))
			return object;
	}
	return 0;
}

static uint32_t managed_id(const struct runtime *runtime, uint64_t object)
{
	uint64_t id_object = 0;
	int32_t id = 0;
	return object && memory_u64(runtime->memory, object + THREAD_ID_OBJECT, &id_object) &&
			       id_object &&
			       memory_i32(runtime->memory, id_object + ID_OBJECT_VALUE, &id) &&
			       id > 0
		       ? (uint32_t)id
		       : 0;
}

static bool read_thread(struct runtime *runtime, uint64_t address, struct runtime_thread *ret)
{
	uint64_t frame = 0;
	uint32_t state = 0;
	*ret = (struct runtime_thread){ .address = address };
	const struct aot_layout *layout = &aot_of(runtime)->layout;
	if (!aot_pointer(runtime, address, AOT_THREAD_OS_ID, &ret->os_id) ||
	    !aot_pointer(runtime, address, AOT_THREAD_FRAME, &frame))
		return false;
	(void)memory_u32(runtime->memory, address + layout->offsets[AOT_THREAD_STATE], &state);
	ret->is_cooperative = frame == 0 && !(state & STATE_OF_GC);
	if (state & STATE_FINALIZER)
		runtime->threads.finalizer = address;
	if (state & STATE_DETACHED)
		ret->state |= THREAD_STATE_DEAD;
	if (runtime->threads.count < runtime->target->threads.count + THREADS_MORE)
		ret->id = managed_id(runtime, aot_thread_object(runtime, ret));
	read_context(runtime, ret);
	read_exception(runtime, ret);
	return true;
}

static void report_end(const struct runtime *runtime)
{
	findings_add(&runtime->target->findings, FINDING_THREAD_LIST, NULL,
		     "the list of managed threads ends after %zu of them: the rest cannot be read, "
		     "or it leads back; stacks and allocation contexts of the others are not known",
		     runtime->threads.count);
}

enum hd_status aot_threads(struct runtime *runtime, struct hd_error *err)
{
	struct runtime_threads *threads = &runtime->threads;
	size_t capacity = 0, power = 1, steps = 0;
	uint64_t at = 0, mark = 0;
	bool is_whole =
		aot_pointer(runtime, aot_of(runtime)->globals.thread_store, AOT_STORE_FIRST, &at);
	threads->knows_modes = threads->knows_exceptions = true;
	while (is_whole && at) {
		struct runtime_thread thread;
		/* A cycle: an earlier thread is met again (Brent's algorithm). */
		is_whole = at != mark && threads->count < THREADS_MAX &&
			   read_thread(runtime, at, &thread);
		if (!is_whole)
			break;
		if (threads->count == capacity) {
			capacity = grown_capacity(capacity, sizeof(thread));
			struct runtime_thread *rows =
				mem_realloc(threads->rows, capacity, sizeof(thread));
			TRY_MEMORY(rows, err);
			threads->rows = rows;
		}
		threads->rows[threads->count++] = thread;
		if (++steps == power) {
			power *= 2;
			steps = 0;
			mark = at;
		}
		is_whole = aot_pointer(runtime, at, AOT_THREAD_NEXT, &at);
	}
	threads->is_whole = is_whole && threads->count > 0;
	if (!is_whole)
		report_end(runtime);
	return aot_sync_find(runtime, err);
}
