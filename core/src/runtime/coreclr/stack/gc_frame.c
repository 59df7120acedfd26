/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "runtime/coreclr/layouts/gc_frames.h"
#include "runtime/coreclr/layouts/thread_words.h"
#include "runtime/coreclr/stack/coreclr_stack.h"
#include "stack/walker.h"

/* Most references of one GCFrame, and most GCFrames of one thread. */
#define REFS_MAX      65536u
#define GC_FRAMES_MAX 65536u

/* References of native code may be anywhere on the stack. */
static void broken(struct thread_walk *walk, uint64_t address)
{
	(void)walk_bad(walk, "the list of the thread's GCFrames is broken at %" PRIx64, address);
	walk->bad_sp = 0;
}

static bool is_gc_frame(const struct thread_walk *walk, uint64_t address, uint64_t thread)
{
	uint64_t owner = 0;
	return address % 8 == 0 && memory_u64(walk->memory, address + GC_FRAME_THREAD, &owner) &&
	       owner == thread;
}

/* The word of a Thread that leads to a GCFrame on its stack. */
static uint32_t find_gc_frame_word(const struct thread_walk *walk,
				   const struct runtime_thread *thread)
{
	const struct target *target = runtime_target(walk->runtime);
	const struct target_thread *from = NULL;
	struct registers registers;
	uint8_t bytes[THREAD_GC_FRAME_END];
	if (thread->os_id && thread->os_id <= INT32_MAX)
		from = target_thread(target, (int32_t)thread->os_id);
	if (!from)
		return 0;
	size_t size = memory_prefix(walk->memory, thread->address, bytes, sizeof(bytes));
	registers_of_thread(walk->arch, from, &registers);
	struct span span = span_at(target, registers_sp(&registers));
	for (uint32_t i = THREAD_GC_FRAME_BEGIN; i + 8 <= size; i += 8) {
		uint64_t address = load_u64(bytes + i);
		if (span_has(&span, address) && is_gc_frame(walk, address, thread->address))
			return i;
	}
	return 0;
}

/* The first GCFrame, or the end of the list. */
static uint64_t first_gc_frame(struct thread_walk *walk)
{
	uint32_t *offset = &walk->walker->gc_frame_offset;
	const struct runtime *runtime = walk->runtime;
	uint64_t address = 0;
	for (size_t i = 0; !*offset && i < runtime_thread_count(runtime); i++)
		*offset = find_gc_frame_word(walk, runtime_thread_at(runtime, i));
	if (!*offset)
		*offset = THREAD_GC_FRAME_END; /* there is none */
	if (*offset == THREAD_GC_FRAME_END)
		return 0;
	uint64_t slot = walk->stack->thread->address + *offset;
	if (!memory_u64(walk->memory, slot, &address))
		broken(walk, slot);
	return address;
}

static enum step add_references(struct thread_walk *walk, const struct gc_frame *frame)
{
	enum step step = STEP_ON;
	for (uint32_t i = 0; i < frame->count && step == STEP_ON; i++) {
		struct stack_root root = { .address = frame->references + 8 * (uint64_t)i,
					   .frame = UINT32_MAX,
					   .kind = STACK_ROOT_GC_FRAME,
					   .base = ARCH_NONE };
		if (frame->is_interior)
			root.flags = STACK_ROOT_INTERIOR;
		if (!memory_u64(walk->memory, root.address, &root.value)) {
			broken(walk, root.address);
			return STEP_ON;
		}
		step = walk_add_root(walk, &root);
	}
	return step;
}

enum step coreclr_stack_native_roots(struct thread_walk *walk)
{
	uint64_t address = first_gc_frame(walk), last = 0;
	uint8_t bytes[GC_FRAME_SIZE];
	for (uint32_t i = 0; !gc_frame_is_end(address); i++) {
		if (!walk_take(walk, GC_FRAME_SIZE))
			break;
		/* They ascend, so there is no ring. */
		if (i == GC_FRAMES_MAX || address <= last ||
		    !is_gc_frame(walk, address, walk->stack->thread->address) ||
		    !memory_read(walk->memory, address, bytes, sizeof(bytes))) {
			broken(walk, address);
			break;
		}
		struct gc_frame frame = gc_frame_from(bytes);
		/* Variables of native code are not inside objects. */
		if (frame.count > REFS_MAX || frame.references % 8 != 0 ||
		    walk_is_heap_address(walk, frame.references)) {
			broken(walk, address);
			break;
		}
		enum step step = add_references(walk, &frame);
		if (step != STEP_ON)
			return step;
		last = address;
		address = frame.next;
	}
	return STEP_ON;
}

enum step walk_exceptions(struct thread_walk *walk)
{
	enum step step = STEP_ON;
	for (size_t i = 0; i < walk->exceptions.rows_count && step == STEP_ON; i++) {
		const struct exception_record *record = &walk->exceptions.rows[i];
		struct stack_root root = { .address = record->slot,
					   .value = record->object,
					   .frame = UINT32_MAX,
					   .kind = STACK_ROOT_EXCEPTION,
					   .base = ARCH_NONE };
		step = walk_add_root(walk, &root);
	}
	return step;
}
