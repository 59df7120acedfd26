/* SPDX-License-Identifier: MIT */
#include "analysis/threads/crash_stack.h"

#include <string.h>

#include "framework/owns.h"
#include "gc/walk.h"
#include "inspect/async_name.h"
#include "inspect/value.h"
#include "stack/stack.h"

/* Environment.cs; since 9 several methods of that name call each other. */
#define METHOD "System.Environment.FailFast"
/* Frames of the thread that are asked: signal handlers are not among the managed ones. */
#define FRAMES_MAX 16u
/* Frames that are asked for a method of the program. */
#define OWN_FRAMES_MAX 200u
/* Bytes of the stack that are searched. */
#define SEARCH ((uint64_t)4096)

void crash_stack_deinit(struct crash_stack *found)
{
	text_deinit(&found->message);
}

static bool is_fail_fast(struct heap *heap, const struct stack_frame *frame)
{
	char name[sizeof(METHOD) + 1];
	return frame->method_desc &&
	       runtime_method_name(heap->runtime, frame->method_desc, name, sizeof(name), NULL) &&
	       strcmp(name, METHOD) == 0;
}

/* The innermost word of the range that refers to a string. */
static void find_message(struct heap *heap, uint64_t begin, uint64_t end, struct crash_stack *found)
{
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	for (uint64_t at = begin & ~(uint64_t)7; at < end && !found->has_message; at += 8) {
		uint64_t word = 0;
		uint32_t length = 0;
		struct object object;
		if (!memory_u64(heap->memory, at, &word) || !heap_segment_at(heap, word) ||
		    !object_read(heap, &window, word, &object) || !object.type->is_string)
			continue;
		found->has_message =
			string_value(heap, word, FAIL_FAST_MESSAGE_MAX, &found->message, &length);
	}
}

static void look_for_fail_fast(struct heap *heap, const struct thread_stack *stack,
			       struct crash_stack *found)
{
	size_t first = 0, end;
	while (first < stack->frames_count && first < FRAMES_MAX &&
	       !is_fail_fast(heap, &stack->frames[first]))
		first++;
	if (first >= stack->frames_count || first == FRAMES_MAX)
		return;
	for (end = first + 1; end < stack->frames_count && is_fail_fast(heap, &stack->frames[end]);)
		end++;
	uint64_t begin = stack->frames[first].sp;
	uint64_t limit = end < stack->frames_count ? stack->frames[end].sp : begin + SEARCH;
	found->is_fail_fast = true;
	found->fail_fast_by = end < stack->frames_count ? stack->frames[end].method_desc : 0;
	find_message(heap, begin, limit - begin < SEARCH ? limit : begin + SEARCH, found);
}

/* The innermost method of the program. */
static uint64_t own_method(struct heap *heap, const struct thread_stack *stack)
{
	HD_CLEANUP(text) struct text name = { 0 };
	for (size_t i = 0; i < stack->frames_count && i < OWN_FRAMES_MAX; i++) {
		uint64_t method_desc = stack->frames[i].method_desc;
		name.size = 0;
		if (method_desc && method_user_append(&name, heap->runtime, method_desc) &&
		    !framework_owns(heap->runtime, name.bytes, name.size))
			return method_desc;
	}
	return 0;
}

enum hd_status crash_stack_read(struct heap *heap, uint64_t os_id, struct job *job,
				struct crash_stack *ret, struct hd_error *err)
{
	static const struct stack_options options = { .no_roots = true };
	const struct runtime_thread *thread = runtime_thread_by_os_id(heap->runtime, os_id);
	struct crash_stack found = { 0 };
	struct thread_stack stack;
	struct stack_walker *walker;
	if (thread) {
		TRY(stack_walker_create(heap->runtime, heap, &walker, err));
		enum hd_status status = stack_walk(walker, thread, &options, job, &stack, err);
		stack_walker_destroy(walker);
		TRY(status);
		look_for_fail_fast(heap, &stack, &found);
		found.method_desc = own_method(heap, &stack);
		thread_stack_deinit(&stack);
	}
	*ret = found;
	return HD_OK;
}
