/* SPDX-License-Identifier: MIT */
#include "hangs/wait_continuations.h"

#include "analysis/async/async_graph.h"
#include "analysis/pool/queue_items.h"
#include "util/alloc.h"
#include "util/job.h"

/* Objects that one task may lead to: a cycle ends here. */
#define LED_TO_MAX 65536u

struct continuation_search {
	const struct waits *waits;
	struct wait_rows found;
	uint64_t *todo; /* objects that are told when a task of the node is done */
	size_t todo_count, todo_capacity;
	uint64_t budget; /* so many more may be looked at */
};

static enum hd_status add_todo(struct continuation_search *search, uint64_t address,
			       struct hd_error *err)
{
	if (!address || !search->budget)
		return HD_OK;
	search->budget--;
	TRY_MEMORY(PAGES_RESERVE(search, todo), err);
	search->todo[search->todo_count++] = address;
	return HD_OK;
}

/* Add the continuation that runs after the task at @p task. */
static enum hd_status add_next(struct continuation_search *search, uint64_t task,
			       struct hd_error *err)
{
	struct member next = fact_at(search->waits->members, task, FACT_TASK_NEXT);
	return next.state == MEMBER_READ ? add_todo(search, next.bits, err) : HD_OK;
}

/* Several continuations: a List<object> with holes. */
static enum hd_status add_items(struct continuation_search *search, const struct object *list,
				struct hd_error *err)
{
	const struct waits *waits = search->waits;
	struct member items = fact_of(waits->members, list, FACT_LIST_ITEMS);
	struct member size = fact_of(waits->members, list, FACT_LIST_SIZE);
	struct object object;
	struct array_info array;
	if (items.state != MEMBER_READ || size.state != MEMBER_READ ||
	    !member_object(waits->members, items.bits, &object) ||
	    !array_read(waits->heap, &object, &array) || size.bits > array.length)
		return HD_OK;
	for (uint64_t i = 0; i < size.bits && search->budget; i++)
		TRY(add_todo(search, array_reference(waits->heap, &array, i), err));
	return HD_OK;
}

static enum hd_status take_target(struct continuation_search *search, uint64_t address,
				  uint32_t node, struct hd_error *err)
{
	struct async_graph *graph = search->waits->async;
	struct object object;
	if (!member_object(search->waits->members, address, &object))
		return HD_OK;
	enum async_type kind =
		async_type_of(&graph->types, graph->heap->runtime, object.type, &graph->failed);
	if (kind == ASYNC_LIST)
		return add_items(search, &object, err);
	if (kind != ASYNC_WHEN_ALL && kind != ASYNC_UNWRAP && kind != ASYNC_WAIT_ALL)
		return HD_OK;
	TRY(wait_rows_add(&search->found, address, node, err));
	return kind == ASYNC_WAIT_ALL ? HD_OK : add_next(search, address, err);
}

static enum hd_status follow_task(struct continuation_search *search, uint64_t task, uint32_t node,
				  struct hd_error *err)
{
	search->todo_count = 0;
	TRY(add_next(search, task, err));
	for (size_t i = 0; i < search->todo_count && i < LED_TO_MAX; i++)
		TRY(take_target(search, search->todo[i], node, err));
	return HD_OK;
}

static enum hd_status follow_all(struct continuation_search *search,
				 const struct wait_rows *runners, struct job *job,
				 struct hd_error *err)
{
	const struct waits *waits = search->waits;
	const struct async_graph *graph = waits->async;
	for (size_t i = 0; i < graph->rows_count; i++) {
		TRY(follow_task(search, graph->rows[i].address, (uint32_t)(waits->count + i), err));
		if (job && i % JOB_STRIDE == 0 && !job_step(job, 0, 0))
			return fail_cancelled(err);
	}
	for (size_t i = 0; i < runners->rows_count; i++) {
		/* An async method that runs was followed above. */
		if (async_graph_find(graph, runners->rows[i].object) == ASYNC_NO_NODE) {
			TRY(follow_task(search, runners->rows[i].object, runners->rows[i].node,
					err));
		}
	}
	return graph->failed ? fail_nomem(err) : HD_OK;
}

enum hd_status wait_continuations_find(const struct waits *waits, const struct wait_rows *runners,
				       struct job *job, struct wait_rows *ret, struct hd_error *err)
{
	struct continuation_search search = {
		.waits = waits,
		.budget = waits->async->objects + waits->async->rows_count + runners->rows_count,
	};
	enum hd_status status = follow_all(&search, runners, job, err);
	pages_free(search.todo, search.todo_capacity, sizeof(*search.todo));
	if (status != HD_OK) {
		wait_rows_deinit(&search.found);
		return status;
	}
	wait_rows_sort(&search.found);
	*ret = search.found;
	return HD_OK;
}
