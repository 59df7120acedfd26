/* SPDX-License-Identifier: MIT */
#include "hangs/wait_parked.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "hangs/wait_parts.h"
#include "hangs/wait_quiet.h"
#include "hangs/wait_things.h"

/* The runtime gives it to the thread that begins Main. */
#define MAIN_THREAD 1u

/* Methods from the one that waits to Main. */
#define METHODS_MAX 8u

/* The part of a method's name that is its class, without the classes in it that the compiler makes. */
struct class_name {
	char text[WAIT_NAME_SIZE];
	size_t size; /* 0: not known */
};

static struct class_name class_of(const char *name)
{
	struct class_name ret = { .size = strcspn(name, "+(") };
	if (name[ret.size] != '+') {
		while (ret.size && name[ret.size - 1] != '.')
			ret.size--;
		ret.size -= ret.size > 0;
	}
	if (ret.size >= sizeof(ret.text))
		ret.size = 0;
	memcpy(ret.text, name, ret.size);
	return ret;
}

static bool is_same(const struct class_name *a, const struct class_name *b)
{
	return a->size && a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* The class of all methods of the program that the thread is in: that of Main. */
static bool find_class(const struct waits *waits, const struct thread_wait *wait,
		       struct class_name *ret)
{
	struct runtime *runtime = waits->heap->runtime;
	ret->size = 0;
	for (size_t i = 0; i < wait->stack.frames_count; i++) {
		const struct stack_frame *frame = &wait->stack.frames[i];
		char name[WAIT_NAME_SIZE];
		if (frame->kind != STACK_MANAGED || !frame->method_desc ||
		    code_owner_of_method(runtime, frame->method_desc) == CODE_OF_FRAMEWORK)
			continue;
		if (!runtime_method_name(runtime, frame->method_desc, name, sizeof(name), NULL))
			return false;
		struct class_name class = class_of(name);
		if (ret->size && !is_same(ret, &class))
			return false;
		*ret = class;
	}
	return ret->size > 0;
}

/* Are the methods from the node outwards methods of the class? */
static bool is_of_class(const struct waits *waits, uint32_t node, const struct class_name *class)
{
	struct async_graph *graph = waits->async;
	const struct async_node *method = wait_node_method(waits, node);
	for (unsigned int i = 0; method && i < METHODS_MAX; i++) {
		struct class_name own = class_of(async_node_name(graph, method));
		if (!is_same(&own, class))
			return false;
		method = async_node_is_awaited(method) ? &graph->rows[method->outer] : NULL;
	}
	return !method;
}

/* Does somebody else than the main thread wait for the node?  Methods between them are awaited, or the thread's. */
static bool has_others(const struct waits *waits, const bool *among, uint32_t node, uint32_t main)
{
	for (uint32_t i = 0; i < wait_nodes(waits); i++) {
		const struct async_node *method = wait_node_method(waits, i);
		bool is_own =
			i == main ||
			(method && (async_node_is_awaited(method) || method->root == ROOT_THREAD));
		if (!is_own && wait_first_of(waits, among, i) == node)
			return true;
	}
	return false;
}

static bool is_server(const struct waits *waits)
{
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		if (wait_is_of_server(waits->async, &waits->async->rows[i]))
			return true;
	}
	return false;
}

enum hd_status wait_is_parked(const struct waits *waits, const bool *among, uint32_t node,
			      struct job *job, bool *ret, struct hd_error *err)
{
	struct class_name class;
	uint32_t main = 0;
	bool is_quiet;
	*ret = false;
	while (main < waits->count && waits->rows[main].thread->id != MAIN_THREAD)
		main++;
	if (main == waits->count || wait_first_of(waits, among, main) != node ||
	    has_others(waits, among, node, main) ||
	    !find_class(waits, &waits->rows[main], &class) || !is_of_class(waits, node, &class))
		return HD_OK;
	TRY(wait_quiet_find(waits, job, &is_quiet, err));
	*ret = !is_quiet || is_server(waits);
	return HD_OK;
}
