/* SPDX-License-Identifier: MIT */
#include "analysis/threads/frame_roots.h"

#include "util/alloc.h"

void frame_roots_deinit(struct frame_roots *roots)
{
	mem_free(roots->order);
	mem_free(roots->begin);
	*roots = (struct frame_roots){ 0 };
}

static size_t root_frame_bucket(const struct thread_stack *stack, const struct stack_root *root)
{
	return root->frame < stack->frames_count ? root->frame : stack->frames_count;
}

/* Counting sort by frame. */
static void sort_by_frame(struct frame_roots *roots, const struct thread_stack *stack)
{
	size_t buckets = stack->frames_count + 1;
	for (size_t i = 0; i < stack->roots_count; i++)
		roots->begin[root_frame_bucket(stack, &stack->roots[i])]++;
	uint32_t sum = 0;
	for (size_t i = 0; i <= buckets; i++) {
		uint32_t count = roots->begin[i];
		roots->begin[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < stack->roots_count; i++) {
		roots->order[roots->begin[root_frame_bucket(stack, &stack->roots[i])]++] =
			(uint32_t)i;
	}
	/* Each now has the begin of the next. */
	for (size_t i = buckets; i; i--)
		roots->begin[i] = roots->begin[i - 1];
	roots->begin[0] = 0;
}

enum hd_status frame_roots_init(struct frame_roots *ret, const struct thread_stack *stack,
				struct hd_error *err)
{
	struct frame_roots roots = {
		.stack = stack,
		.order = mem_alloc(stack->roots_count + 1, sizeof(*roots.order)),
		.begin = mem_calloc(stack->frames_count + 2, sizeof(*roots.begin)),
	};
	if (!roots.order || !roots.begin) {
		frame_roots_deinit(&roots);
		return fail_nomem(err);
	}
	sort_by_frame(&roots, stack);
	*ret = roots;
	return HD_OK;
}

enum hd_status root_objects_find(struct root_objects *objects, const struct stack_root *root,
				 struct job *job, struct object *ret, struct hd_error *err)
{
	struct heap *heap = objects->heap;
	HD_CLEANUP(window) struct window window = { .memory = heap->memory };
	*ret = (struct object){ 0 };
	bool is_inside = root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE);
	uint64_t address = root->value;
	if (is_inside && heap_segment_at(heap, address) && !objects->has_tried) {
		objects->has_tried = true;
		TRY(starts_create(heap, false, job, &objects->starts, err));
	}
	if (is_inside)
		address = objects->starts ? starts_at_or_before(objects->starts, address) : 0;
	struct object object;
	if (address && address % 8 == 0 && object_read(heap, &window, address, &object) &&
	    root->value - address < object.step && !object.type->is_free)
		*ret = object;
	return HD_OK;
}

void root_objects_deinit(struct root_objects *objects)
{
	starts_destroy(objects->starts);
	objects->starts = NULL;
	objects->has_tried = false;
}
