/* SPDX-License-Identifier: MIT */
/*
 * Who probably has a semaphore.  Nothing stores that: a thread whose frames still refer to the
 * semaphore, and which waits for something else, may have entered it.
 */
#include <stdlib.h>

#include "analysis/waits/wait_parts.h"
#include "util/alloc.h"

/* A reference that a frame outside of the thread's own wait holds. */
struct held_reference {
	uint64_t object;
	uint32_t row;
};

struct held_references {
	struct held_reference *rows;
	size_t rows_count, rows_capacity;
};

static int compare_held(const void *left, const void *right)
{
	const struct held_reference *a = left, *b = right;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static enum hd_status collect_held(const struct waits *waits, struct held_references *held,
				   struct hd_error *err)
{
	for (size_t i = 0; i < waits->count; i++) {
		const struct thread_wait *wait = &waits->rows[i];
		if (wait->kind == WAIT_NONE || wait->kind == WAIT_IDLE ||
		    wait->wait_end == WAIT_NO_FRAME)
			continue;
		for (size_t k = 0; k < wait->stack.roots_count; k++) {
			const struct stack_root *root = &wait->stack.roots[k];
			if (root->frame < wait->wait_end || root->frame == UINT32_MAX ||
			    root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE))
				continue;
			if (!PAGES_RESERVE(held, rows))
				return fail_nomem(err);
			held->rows[held->rows_count++] =
				(struct held_reference){ root->value, (uint32_t)i };
		}
	}
	if (held->rows_count)
		qsort(held->rows, held->rows_count, sizeof(*held->rows), compare_held);
	return HD_OK;
}

/* The only other thread that refers to the object, and does not wait for it itself. */
static const struct clr_thread *only_holder(const struct waits *waits,
					    const struct held_references *held,
					    const struct thread_wait *wait)
{
	uint64_t object = wait->object.address;
	const struct clr_thread *holder = NULL;
	size_t low = 0, high = held->rows_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (held->rows[middle].object < object) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (; low < held->rows_count && held->rows[low].object == object; low++) {
		const struct thread_wait *other = &waits->rows[held->rows[low].row];
		if (other == wait || other->object.address == object || other->thread == holder)
			continue;
		if (holder)
			return NULL;
		holder = other->thread;
	}
	return holder;
}

enum hd_status wait_find_probable(struct waits *waits, struct hd_error *err)
{
	struct held_references held = { 0 };
	bool is_wanted = false;
	for (size_t i = 0; i < waits->count; i++)
		is_wanted |= waits->rows[i].kind == WAIT_SEMAPHORE && waits->rows[i].object.type;
	if (!is_wanted)
		return HD_OK;
	enum hd_status status = collect_held(waits, &held, err);
	for (size_t i = 0; i < waits->count && status == HD_OK; i++) {
		struct thread_wait *wait = &waits->rows[i];
		if (wait->kind == WAIT_SEMAPHORE && wait->object.type)
			wait->probable = only_holder(waits, &held, wait);
	}
	pages_free(held.rows, held.rows_capacity, sizeof(*held.rows));
	return status;
}
