/* SPDX-License-Identifier: MIT */
#include "hangs/wait_references.h"

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "util/job.h"

struct reference_visitor {
	const struct waits *waits;
	wait_reference_visit *visit;
	void *arg;
};

static enum hd_status visit_thread(const struct reference_visitor *visitor, uint32_t row,
				   struct hd_error *err)
{
	const struct thread_wait *wait = &visitor->waits->rows[row];
	size_t begin = wait->wait_end == WAIT_NO_FRAME ? 0 : wait->wait_end;
	if (wait->kind == WAIT_IDLE)
		return HD_OK;
	for (size_t i = 0; i < wait->stack.roots_count; i++) {
		const struct stack_root *root = &wait->stack.roots[i];
		const struct wait_reference found = { .node = row, .value = root->value };
		if (root->frame >= begin && root->frame != UINT32_MAX &&
		    !(root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE)))
			TRY(visitor->visit(visitor->arg, &found, err));
	}
	return HD_OK;
}

static enum hd_status visit_method(const struct reference_visitor *visitor, uint32_t row,
				   struct hd_error *err)
{
	const struct waits *waits = visitor->waits;
	const struct async_node *node = &waits->async->rows[row];
	HD_CLEANUP(window) struct window window = { .memory = waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!async_node_has_passed(node) || !member_object(waits->members, node->holder, &object))
		return HD_OK;
	uint64_t self = async_node_this(waits->async, node);
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		const struct wait_reference found = { .node = (uint32_t)waits->count + row,
						      .value = reference.value,
						      .is_this = reference.slot == self };
		if (reference.slot >= node->fields)
			TRY(visitor->visit(visitor->arg, &found, err));
	}
	return HD_OK;
}

enum hd_status wait_references_visit(const struct waits *waits, wait_reference_visit *visit,
				     void *arg, struct job *job, struct hd_error *err)
{
	const struct reference_visitor visitor = { waits, visit, arg };
	for (size_t i = 0; i < waits->count; i++) {
		TRY(visit_thread(&visitor, (uint32_t)i, err));
		TRY(job_check(job, 0, err));
	}
	for (size_t i = 0; i < waits->async->rows_count; i++) {
		TRY(visit_method(&visitor, (uint32_t)i, err));
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
	}
	return waits->async->failed ? fail_nomem(err) : HD_OK;
}
