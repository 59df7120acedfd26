/* SPDX-License-Identifier: MIT */
#include "hangs/wait_callers.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "hangs/wait_parts.h"
#include "inspect/async_name.h"
#include "util/text.h"

/* Frames of a thread, and methods of an async call, that are looked at. */
#define FRAMES_MAX  256u
#define METHODS_MAX 64u

static bool is_programs(const struct waits *waits, const struct stack_frame *frame)
{
	struct runtime *runtime = waits->heap->runtime;
	char name[WAIT_NAME_SIZE];
	return frame->kind == STACK_MANAGED && !frame->is_dead && frame->method_desc &&
	       code_owner_of_method(runtime, frame->method_desc) == CODE_OF_PROGRAM &&
	       runtime_method_name(runtime, frame->method_desc, name, sizeof(name), NULL) &&
	       !framework_owns(runtime, name, strlen(name));
}

static void find_of_thread(const struct waits *waits, const struct thread_wait *wait,
			   struct wait_callers *ret)
{
	const struct thread_stack *stack = &wait->stack;
	struct runtime *runtime = waits->heap->runtime;
	HD_CLEANUP(text) struct text last = { 0 };
	size_t first = wait->user_frame;
	if (first == WAIT_NO_FRAME)
		return;
	(void)method_user_append(&last, runtime, stack->frames[first].method_desc);
	for (size_t i = first + 1; i < stack->frames_count && i - first < FRAMES_MAX; i++) {
		HD_CLEANUP(text) struct text name = { 0 };
		if (ret->count == WAIT_CALLERS_MAX || !is_programs(waits, &stack->frames[i]) ||
		    !method_user_append(&name, runtime, stack->frames[i].method_desc) || !name.size)
			continue;
		/* The compiler makes a second method of the same name of an async one. */
		if (name.size == last.size && memcmp(name.bytes, last.bytes, name.size) == 0)
			continue;
		ret->methods[ret->count++] = stack->frames[i].method_desc;
		last.size = 0;
		text_append(&last, name.bytes, name.size);
	}
}

/* Rows of the same async method are different calls. */
static bool is_same_method(const struct waits *waits, uint64_t a, uint64_t b)
{
	return waits->async->rows[a].method == waits->async->rows[b].method;
}

static void find_of_call(const struct waits *waits, uint32_t row, struct wait_callers *ret)
{
	struct async_graph *graph = waits->async;
	uint32_t last = row;
	for (unsigned int i = 0; i < METHODS_MAX && ret->count < WAIT_CALLERS_MAX; i++) {
		row = graph->rows[row].outer;
		if (row == ASYNC_NO_NODE)
			return;
		if (async_node_owner(graph, &graph->rows[row]) != CODE_OF_PROGRAM ||
		    is_same_method(waits, last, row))
			continue;
		ret->methods[ret->count++] = last = row;
	}
}

void wait_callers_find(const struct waits *waits, uint32_t node, struct wait_callers *ret)
{
	const struct thread_wait *wait = wait_node_thread(waits, node);
	*ret = (struct wait_callers){ .is_call = !wait };
	if (wait) {
		find_of_thread(waits, wait, ret);
	} else {
		find_of_call(waits, node - (uint32_t)waits->count, ret);
	}
}

void wait_callers_keep(const struct waits *waits, struct wait_callers *callers,
		       const struct wait_callers *other)
{
	size_t same = 0;
	while (same < callers->count && same < other->count) {
		uint64_t a = callers->methods[same], b = other->methods[same];
		if (a != b && !(callers->is_call && is_same_method(waits, a, b)))
			break;
		same++;
	}
	callers->count = same;
}

void wait_callers_append(struct text *text, const struct waits *waits,
			 const struct wait_callers *callers)
{
	for (size_t i = 0; i < callers->count; i++) {
		uint64_t method = callers->methods[i];
		text_puts(text, i ? " <- " : "");
		if (callers->is_call) {
			text_puts(text, async_node_name(waits->async, &waits->async->rows[method]));
		} else {
			(void)method_user_append(text, waits->heap->runtime, method);
		}
	}
}
