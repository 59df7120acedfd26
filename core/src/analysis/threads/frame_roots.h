/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/starts.h"
#include "stack/stack.h"

/**
 * Roots of a stack, sorted by frame: in a partial stack those of one frame are neither together nor
 * in order.
 */
struct frame_roots {
	const struct thread_stack *stack;
	uint32_t *order; /**< indices in stack->roots */
	uint32_t *begin; /**< where each frame's roots begin; then where those without a frame
			  * begin, and where these end */
};

/**
 * Sort the roots of @p stack, which is borrowed.
 *
 * @param[out] ret To be given to frame_roots_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status frame_roots_init(struct frame_roots *ret,
					     const struct thread_stack *stack,
					     struct hd_error *err);
/** A zeroed struct is allowed. */
void frame_roots_deinit(struct frame_roots *roots);

/** How many roots frame number @p frame has; stack->frames_count: how many have no frame. */
static inline uint32_t frame_roots_count(const struct frame_roots *roots, size_t frame)
{
	return roots->begin[frame + 1] - roots->begin[frame];
}

/** Root number @p index of these. */
static inline const struct stack_root *frame_root(const struct frame_roots *roots, size_t frame,
						  uint32_t index)
{
	return &roots->stack->roots[roots->order[roots->begin[frame] + index]];
}

/** Finds the objects of roots; all zero except heap. */
struct root_objects {
	struct heap *heap;
	struct starts *starts; /**< to find objects around interior pointers; made when needed */
	bool has_tried;        /**< whether making starts was tried */
};

/**
 * The object that a root refers to, at its start or inside.
 *
 * @param[out] ret type NULL: none.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status root_objects_find(struct root_objects *objects,
					      const struct stack_root *root, struct job *job,
					      struct object *ret, struct hd_error *err);
void root_objects_deinit(struct root_objects *objects);
