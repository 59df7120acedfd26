/* SPDX-License-Identifier: MIT */
/*
 * Which thread runs a task: frames of Task and of boxes of async methods, while they run their code,
 * refer to the task, which is their "this".
 */
#include "hangs/wait_runners.h"

#include <string.h>

#include "hangs/wait_parts.h"
#include "util/alloc.h"
#include "util/job.h"

/* Methods that are remembered: common frames come again and again. */
#define REMEMBERED 4096u

/* Is a method one that runs tasks?  For the MethodDesc at the same place. */
struct method_answers {
	uint64_t methods[REMEMBERED];
	bool is_runner[REMEMBERED];
};

static bool method_begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

/* Task.ExecuteWithThreadLocal, Task<T>.InnerInvoke, ...; AsyncStateMachineBox<T>.MoveNext, ... */
bool wait_runs_task(const char *method)
{
	const char *last = strrchr(method, '.');
	if (!last)
		return false;
	if (method_begins_with(method, "System.Threading.Tasks."))
		return method_begins_with(last, ".Execute") || strcmp(last, ".InnerInvoke") == 0;
	if (!method_begins_with(method, "System.Runtime.CompilerServices."))
		return false;
	if (strstr(method, "RuntimeAsyncTask"))
		return method_begins_with(last, ".DispatchContinuations");
	return strstr(method, "StateMachineBox") &&
	       (method_begins_with(last, ".MoveNext") || method_begins_with(last, ".Execute"));
}

static bool is_runner(const struct waits *waits, const struct stack_frame *frame,
		      struct method_answers *answers)
{
	char name[WAIT_NAME_SIZE];
	size_t place = frame->method_desc / 8 % REMEMBERED;
	if (frame->kind != STACK_MANAGED || frame->is_dead || !frame->method_desc)
		return false;
	if (answers->methods[place] != frame->method_desc) {
		answers->methods[place] = frame->method_desc;
		answers->is_runner[place] =
			runtime_method_name(waits->heap->runtime, frame->method_desc, name,
					    sizeof(name), NULL) &&
			wait_runs_task(name);
	}
	return answers->is_runner[place];
}

static enum hd_status add_runners(const struct waits *waits, uint32_t row,
				  struct method_answers *answers, struct wait_rows *runners,
				  struct hd_error *err)
{
	const struct thread_wait *wait = &waits->rows[row];
	size_t begin = wait->wait_end == WAIT_NO_FRAME ? 0 : wait->wait_end;
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		if (root->frame < begin || root->frame >= wait->stack.frames_count ||
		    root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE) ||
		    !is_runner(waits, &wait->stack.frames[root->frame], answers))
			continue;
		TRY(wait_rows_add(runners, root->value, row, err));
	}
	return HD_OK;
}

enum hd_status wait_runners_find(const struct waits *waits, struct job *job, struct wait_rows *ret,
				 struct hd_error *err)
{
	struct wait_rows runners = { 0 };
	HD_FREE struct method_answers *answers = mem_calloc(1, sizeof(*answers));
	enum hd_status status = answers ? HD_OK : fail_nomem(err);
	for (size_t i = 0; i < waits->count && status == HD_OK; i++) {
		status = add_runners(waits, (uint32_t)i, answers, &runners, err);
		if (status == HD_OK && job && !job_step(job, 0, 0))
			status = fail_cancelled(err);
	}
	if (status != HD_OK) {
		wait_rows_deinit(&runners);
		return status;
	}
	wait_rows_sort(&runners);
	*ret = runners;
	return HD_OK;
}
