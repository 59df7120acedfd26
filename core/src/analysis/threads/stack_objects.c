/* SPDX-License-Identifier: MIT */
#include "analysis/threads/stack_objects.h"

#include "stack/span.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

enum hd_status stack_objects_open(struct heap *heap, struct job *job, struct stack_objects *ret,
				  struct hd_error *err)
{
	struct starts *starts;
	TRY(starts_create(heap, false, job, &starts, err));
	*ret = (struct stack_objects){ .heap = heap,
				       .starts = starts,
				       .objects = { .memory = heap->memory },
				       .words = { .memory = heap->memory } };
	return HD_OK;
}

static void free_order(struct stack_objects *objects)
{
	mem_free(objects->keys);
	mem_free(objects->order);
	objects->keys = NULL;
	objects->order = NULL;
}

void stack_objects_close(struct stack_objects *objects)
{
	free_order(objects);
	starts_destroy(objects->starts);
	window_deinit(&objects->objects);
	window_deinit(&objects->words);
}

/*
 * Roots of the runtime's own records may lie in other memory: a handle holds the exception in
 * flight of .NET 8.
 */
static bool is_slot_of_stack(const struct stack_root *root, const struct span *span)
{
	return root->kind == STACK_ROOT_FRAME || root->kind == STACK_ROOT_ARGUMENT ||
	       span_has(span, root->address);
}

enum hd_status stack_objects_begin(struct stack_objects *objects, const struct thread_stack *stack,
				   struct hd_error *err)
{
	struct span span = { 0 };
	free_order(objects);
	objects->stack = stack;
	objects->next = 0;
	objects->keys = mem_alloc(stack->roots_count + 1, sizeof(*objects->keys));
	objects->order = mem_alloc(stack->roots_count + 1, sizeof(*objects->order));
	TRY_MEMORY(objects->keys && objects->order, err);
	if (stack->frames_count) {
		span = span_at(runtime_target(objects->heap->runtime),
			       stack->frames[stack->frames_count - 1].sp);
	}
	for (size_t i = 0; i < stack->roots_count; i++) {
		const struct stack_root *root = &stack->roots[i];
		objects->keys[i] = root->address ? root->address : root->base;
		if (!is_slot_of_stack(root, &span))
			objects->keys[i] = UINT64_MAX;
	}
	bool is_sorted = sort_keys(objects->keys, objects->order, (uint32_t)stack->roots_count);
	return is_sorted ? HD_OK : fail_nomem(err);
}

void stack_objects_begin_range(struct stack_objects *objects, uint64_t begin, uint64_t end)
{
	free_order(objects);
	objects->stack = NULL;
	objects->at = begin > UINT64_MAX - 7 ? end : (begin + 7) & ~(uint64_t)7;
	objects->end = end;
	objects->missing = 0;
}

/* The next word of the range that may be the address of an object; false: there is none. */
static bool next_word(struct stack_objects *objects, struct job *job, uint64_t *ret_slot,
		      uint64_t *ret)
{
	while (objects->at < objects->end && objects->end - objects->at >= 8) {
		uint64_t size;
		const uint8_t *bytes = window_at(&objects->words, objects->at, 8, &size);
		if (!job_step(job, 0, 0))
			return false;
		if (!bytes) {
			objects->missing = objects->end - objects->at;
			return false;
		}
		if (size > objects->end - objects->at)
			size = objects->end - objects->at;
		for (uint64_t i = 0; i + 8 <= size; i += 8) {
			uint64_t value = load_u64(bytes + i);
			if (!starts_has(objects->starts, value))
				continue;
			*ret_slot = objects->at + i;
			*ret = value;
			objects->at += i + 8;
			return true;
		}
		objects->at += size & ~(uint64_t)7;
	}
	return false;
}

/* The same of the roots of a stack. */
static bool next_root(struct stack_objects *objects, struct stack_object *ret, uint64_t *ret_value)
{
	const struct thread_stack *stack = objects->stack;
	while (objects->next < stack->roots_count && objects->keys[objects->next] != UINT64_MAX) {
		uint32_t i = objects->next++;
		const struct stack_root *root = &stack->roots[objects->order[i]];
		bool is_again = i && objects->keys[i - 1] == objects->keys[i];
		if (is_again || !starts_has(objects->starts, root->value))
			continue;
		ret->slot = root->address;
		ret->base = root->base;
		*ret_value = root->value;
		return true;
	}
	return false;
}

enum hd_status stack_objects_next(struct stack_objects *objects, struct job *job,
				  struct stack_object *ret, struct hd_error *err)
{
	struct stack_object found = { 0 };
	uint64_t value;
	while (objects->stack ? next_root(objects, &found, &value)
			      : next_word(objects, job, &found.slot, &value)) {
		if (!object_read(objects->heap, &objects->objects, value, &found.object))
			continue;
		*ret = found;
		return HD_OK;
	}
	TRY(job_check(job, 0, err));
	*ret = (struct stack_object){ 0 };
	return HD_OK;
}
