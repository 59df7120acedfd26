/* SPDX-License-Identifier: MIT */
#include "analysis/threads/parallel_stacks.h"

#include "runtime/coreclr/code/method.h"
#include "runtime/thread_state.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

void parallel_stacks_deinit(struct parallel_stacks *stacks)
{
	stack_tree_deinit(&stacks->threads);
	stack_tree_deinit(&stacks->chains);
	equal_methods_deinit(&stacks->equal);
	async_graph_deinit(&stacks->async);
	members_destroy(stacks->members);
	mem_free(stacks->runners);
	mem_free(stacks->is_partial);
	*stacks = (struct parallel_stacks){ 0 };
}

/* A box whose method goes on, so that a thread runs it. */
static bool runs(const struct async_node *node)
{
	return node->wait == AWAIT_RUNS || (node->wait == AWAIT_THREAD && !node->object);
}

/* Does a method belong to the type, or to another instance of the same generic type? */
static bool is_of(const struct method *method, const struct type *type)
{
	return method->type && method->type->token == type->token &&
	       method->type->module == type->module;
}

/*
 * A frame that refers to a box, or into it, and whose method is one of the box or of its state
 * machine: it runs there.  Who waits for the task refers to the box, too.
 */
static void note_runner(struct parallel_stacks *stacks, const struct thread_stack *stack,
			const struct stack_root *root, uint32_t thread)
{
	const struct async_graph *async = &stacks->async;
	size_t above = ROWS_ABOVE(async->rows, async->rows_count, address, root->value);
	if (!above || root->frame >= stack->frames_count || root->flags & STACK_ROOT_CONSERVATIVE)
		return;
	const struct async_node *node = &async->rows[above - 1];
	const struct stack_frame *frame = &stack->frames[root->frame];
	struct method method;
	if (root->value - node->address >= node->size || !runs(node) || frame->is_dead ||
	    frame->kind != STACK_MANAGED ||
	    !method_read(stacks->heap->runtime, frame->method_desc, &method))
		return;
	if (is_of(&method, node->type) || is_of(&method, node->machine))
		stacks->runners[above - 1] = thread;
}

static enum hd_status add_thread(struct parallel_stacks *stacks, struct stack_walker *walker,
				 size_t index, struct job *job, struct hd_error *err)
{
	const struct runtime_thread *thread = runtime_thread_at(stacks->heap->runtime, index);
	const struct stack_options options = { .no_roots = !stacks->async.rows_count };
	HD_CLEANUP(thread_stack) struct thread_stack stack = { 0 };
	if (!thread_has_stack(thread))
		return HD_OK;
	TRY(stack_walk(walker, thread, &options, job, &stack, err));
	stacks->is_partial[index] = stack.is_partial || stack.is_missing;
	stacks->partial += stacks->is_partial[index];
	stacks->frameless += !stack.managed_count;
	for (size_t i = 0; i < stack.roots_count; i++)
		note_runner(stacks, &stack, &stack.roots[i], (uint32_t)index);
	for (size_t i = 0; i < stack.frames_count; i++) {
		TRY(equal_method_find(&stacks->equal, stacks->heap->runtime,
				      &stack.frames[i].method_desc, err));
	}
	TRY(stack_tree_add(&stacks->threads, &stack, (uint32_t)index, job, err));
	return job_check(job, 0, err);
}

static enum hd_status add_threads(struct parallel_stacks *stacks, struct job *job,
				  struct hd_error *err)
{
	struct runtime *runtime = stacks->heap->runtime;
	size_t count = runtime_thread_count(runtime);
	stacks->is_partial = mem_calloc(count + 1, sizeof(*stacks->is_partial));
	TRY_MEMORY(stacks->is_partial, err);
	struct stack_walker *walker;
	TRY(stack_walker_create(runtime, stacks->async.rows_count ? stacks->heap : NULL, &walker,
				err));
	enum hd_status status = HD_OK;
	for (size_t i = 0; i < count && status == HD_OK; i++)
		status = add_thread(stacks, walker, i, job, err);
	stack_walker_destroy(walker);
	return status;
}

static enum hd_status add_chains(struct parallel_stacks *stacks, struct job *job,
				 struct hd_error *err)
{
	for (size_t i = 0; i < stacks->async.rows_count; i++) {
		if (async_node_is_awaited(&stacks->async.rows[i]))
			continue;
		TRY(stack_tree_add_chain(&stacks->chains, &stacks->async, (uint32_t)i, (uint32_t)i,
					 job, err));
		if (i % 256 == 0)
			TRY(job_check(job, 0, err));
	}
	return HD_OK;
}

static enum hd_status make_async(struct parallel_stacks *stacks, struct job *job,
				 struct hd_error *err)
{
	TRY(members_create(stacks->heap, &stacks->members, err));
	TRY(async_graph_create(stacks->heap, stacks->members, false, job, &stacks->async, err));
	size_t count = stacks->async.rows_count;
	_Static_assert(ASYNC_NO_THREAD == STACK_TREE_NONE, "no thread");
	stacks->runners = mem_alloc(count + 1, sizeof(*stacks->runners));
	TRY_MEMORY(stacks->runners, err);
	for (size_t i = 0; i < count; i++)
		stacks->runners[i] = stacks->async.rows[i].thread;
	return HD_OK;
}

enum hd_status parallel_stacks_create(struct heap *heap, bool with_async,
				      const struct stack_tree_lines *lines, struct job *job,
				      struct parallel_stacks *ret, struct hd_error *err)
{
	*ret = (struct parallel_stacks){ .heap = heap, .threads = { .lines = *lines } };
	if (with_async)
		TRY(make_async(ret, job, err));
	TRY(add_threads(ret, job, err));
	return add_chains(ret, job, err);
}
