/* SPDX-License-Identifier: MIT */
/* Reads the methods on a stack: what do they tell about a wait? */
#include <string.h>

#include "hangs/wait_parts.h"

/* Most frames of one wait, and most of the framework between it and the program. */
#define WAIT_FRAMES_MAX  64u
#define OUTER_FRAMES_MAX 4096u

static bool frame_name(const struct waits *waits, const struct stack_frame *frame, char *buf)
{
	return frame->method_desc && runtime_method_name(waits->heap->runtime, frame->method_desc,
							 buf, WAIT_NAME_SIZE, NULL);
}

static bool is_native_call(const char *name)
{
	return strncmp(name, "Interop+", 8) == 0 || strncmp(name, "ILStubClass", 11) == 0;
}

/* The innermost frame of the program; where there is none, of a library. */
static void find_user_frame(const struct waits *waits, struct thread_wait *wait)
{
	const struct thread_stack *stack = &wait->stack;
	char name[WAIT_NAME_SIZE];
	size_t begin = wait->wait_end == WAIT_NO_FRAME ? 0 : wait->wait_end;
	for (size_t i = begin; i < stack->frames_count && i - begin < OUTER_FRAMES_MAX; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		if (frame->kind != STACK_MANAGED || frame->is_dead ||
		    !frame_name(waits, frame, name) ||
		    framework_owns(waits->heap->runtime, name, strlen(name)))
			continue;
		bool is_program = code_owner_of_method(waits->heap->runtime, frame->method_desc) ==
				  CODE_OF_PROGRAM;
		if (is_program || wait->user_frame == WAIT_NO_FRAME)
			wait->user_frame = i;
		if (is_program)
			return;
	}
}

/* A Frame of the runtime in front of all managed frames names the native function that runs. */
static void note_call(struct thread_wait *wait, const struct stack_frame *frame)
{
	if (!wait->call && frame->kind == STACK_EXPLICIT)
		wait->call = frame->method_desc;
}

void wait_classify(struct waits *waits, struct thread_wait *wait)
{
	const struct thread_stack *stack = &wait->stack;
	char name[WAIT_NAME_SIZE];
	bool is_native = false, is_first = true;
	wait->wait_end = wait->user_frame = WAIT_NO_FRAME;
	for (size_t i = 0; i < stack->frames_count && i < WAIT_FRAMES_MAX; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		if (frame->kind != STACK_MANAGED || frame->is_dead) {
			if (is_first)
				note_call(wait, frame);
			continue;
		}
		if (!frame_name(waits, frame, name)) {
			wait->is_nameless = is_first;
			break;
		}
		if (method_calls_back(name))
			break;
		if (is_first && is_native_call(name)) {
			is_native = true;
			wait->call = frame->method_desc;
		}
		is_first = false;
		enum wait_kind kind = wait_kind_of_method(name);
		if (kind != WAIT_NONE) {
			wait->kind = kind;
			wait->wait_end = i + 1;
		} else if (!wait_passes_method(name)) {
			break;
		}
	}
	/* Who runs .NET code in the methods of a wait only enters or leaves it. */
	if (wait->thread->is_cooperative && !wait_spins(wait->kind)) {
		wait->kind = WAIT_NONE;
		wait->wait_end = WAIT_NO_FRAME;
	}
	if (wait->kind == WAIT_NONE && !wait->thread->is_cooperative && (is_native || wait->call))
		wait->kind = WAIT_CALL;
	bool is_whole = !stack->is_missing && !stack->is_partial;
	if (wait->kind == WAIT_NONE && !stack->managed_count && is_whole)
		wait->kind = WAIT_IDLE;
	find_user_frame(waits, wait);
}

bool wait_stops_soon(const struct waits *waits, const struct thread_wait *wait)
{
	static const char *const owners[] = { "System.Threading.",
					      "System.Runtime.CompilerServices." };
	const struct thread_stack *stack = &wait->stack;
	char name[WAIT_NAME_SIZE];
	size_t first = 0;
	if (stack->is_partial || stack->is_missing)
		return false;
	if (wait->user_frame == WAIT_NO_FRAME)
		return true;
	while (first < wait->user_frame && stack->frames[first].kind != STACK_MANAGED)
		first++;
	if (!frame_name(waits, &stack->frames[first], name))
		return false;
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		if (strncmp(name, owners[i], strlen(owners[i])) == 0)
			return true;
	}
	return false;
}

uint64_t wait_method(const struct thread_wait *wait)
{
	const struct thread_stack *stack = &wait->stack;
	if (wait->user_frame != WAIT_NO_FRAME)
		return stack->frames[wait->user_frame].method_desc;
	if (wait->kind == WAIT_CALL && wait->call)
		return wait->call;
	/* All that an idle thread does is its wait. */
	bool is_all = wait->kind == WAIT_IDLE || wait->wait_end == WAIT_NO_FRAME;
	for (size_t i = is_all ? 0 : wait->wait_end; i < stack->frames_count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		if (frame->kind == STACK_MANAGED && !frame->is_dead && frame->method_desc)
			return frame->method_desc;
	}
	return 0;
}

size_t wait_frame_with(const struct thread_wait *wait, uint64_t object)
{
	size_t begin = wait->wait_end == WAIT_NO_FRAME ? 0 : wait->wait_end;
	size_t found = WAIT_NO_FRAME;
	/* Roots of the runtime's own variables and of exceptions in flight belong to no frame. */
	for (size_t i = 0; i < wait->stack.roots_count && object; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		if (root->value == object && !(root->flags & STACK_ROOT_CONSERVATIVE) &&
		    root->frame >= begin && root->frame < wait->stack.frames_count &&
		    root->frame < found)
			found = root->frame;
	}
	return found;
}
