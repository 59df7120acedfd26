/* SPDX-License-Identifier: MIT */
#include "command/threads/thread_choice.h"

#include <inttypes.h>

#include "stack/stack.h"

struct thread_choice thread_choice(const struct call *call, const struct value *word,
				   const struct value *thread, const struct value *all)
{
	if (word && word->given)
		return (struct thread_choice){ .is_one = true, .id = word->number };
	if (thread->given) {
		return (struct thread_choice){ .is_one = true,
					       .is_managed_id = true,
					       .id = thread->number };
	}
	bool is_selected = !all->given && call->session->selected > 0;
	return (struct thread_choice){
		.is_one = is_selected,
		.is_selected = is_selected,
		.id = is_selected ? (uint64_t)call->session->selected : 0,
	};
}

bool thread_is_chosen(const struct thread_choice *choice, const struct runtime_thread *thread)
{
	if (!choice->is_one)
		return true;
	if (choice->is_managed_id)
		return thread->id == choice->id;
	return thread->os_id == choice->id && thread->os_id;
}

enum hd_status thread_not_found(const struct call *call, const struct thread_choice *choice)
{
	if (choice->is_managed_id) {
		return fail(call->err, HD_ERR_NOTFOUND, 0,
			    "no thread has the managed id %" PRIu64 ": clrthreads lists them",
			    choice->id);
	}
	if (choice->is_selected) {
		return fail(call->err, HD_ERR_NOTFOUND, 0,
			    "the selected thread (OS id %" PRIx64
			    ") is not managed: clrthreads lists those that are, %s -all shows them",
			    choice->id, call->command->name);
	}
	return fail(call->err, HD_ERR_NOTFOUND, 0,
		    "no managed thread has the OS id %" PRIx64 ": clrthreads lists them",
		    choice->id);
}

enum hd_status threads_check(struct call *call)
{
	const struct runtime *runtime = call->heap->runtime;
	if (runtime_knows_all_threads(runtime))
		return HD_OK;
	if (!runtime_thread_count(runtime)) {
		return fail(call->err, HD_ERR_FAULT, 0,
			    "the list of managed threads cannot be read (info says why)");
	}
	call->findings = true;
	return HD_OK;
}

enum hd_status chosen_stacks_write(struct call *call, const struct thread_choice *choice,
				   const struct stack_options *options, stack_writer write,
				   void *arg)
{
	struct runtime *runtime = call->heap->runtime;
	struct stack_walker *walker = NULL;
	TRY(threads_check(call));
	TRY(stack_walker_create(runtime, options->no_roots ? NULL : call->heap, &walker,
				call->err));
	enum hd_status status = HD_OK;
	size_t count = 0;
	for (size_t i = 0; i < runtime_thread_count(runtime) && status == HD_OK; i++) {
		struct thread_stack stack;
		if (!thread_is_chosen(choice, runtime_thread_at(runtime, i)))
			continue;
		answer_remark(&call->answer, count++ ? "\n" : "");
		status = stack_walk(walker, runtime_thread_at(runtime, i), options, &call->job,
				    &stack, call->err);
		if (status != HD_OK)
			break;
		status = write(arg, &stack);
		thread_stack_deinit(&stack);
		if (status == HD_OK)
			status = call_check(call);
	}
	stack_walker_destroy(walker);
	if (status == HD_OK && !count && choice->is_one)
		return thread_not_found(call, choice);
	return status;
}
