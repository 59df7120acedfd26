/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/object_tally.h"

/** Which types are asked for, decided once for each type; all zero except the first two. */
struct type_chooser {
	struct runtime *runtime;
	const char *part; /**< part of the type's name, or NULL */
	uint8_t *known;   /**< by type index: 0 not decided yet, 1 passes, 2 does not */
	size_t capacity;
	bool failed; /**< memory was exhausted: some types that should pass did not */
};

/** The results of object_pass_next(). */
enum pass_result {
	PASS_END,
	PASS_OBJECT, /**< pass->walker.object, in pass->walker.segment */
	PASS_GAP,    /**< pass->walker.damage: bytes in the range that are not an object */
};

/** The objects of a part of a heap, one by one, in order of address. */
struct object_pass {
	struct walker walker;
	struct object_tally tally; /**< of what was met so far */
	struct type_chooser chooser;
	size_t begun;               /**< how many segments of the range were begun */
	bool is_asked, lacks_bytes; /**< was heap_lacks_bytes() called, and what did it say? */
};

/**
 * Begin a pass.
 *
 * @param filter,job Borrowed until the pass is closed.
 * @param[out] ret To be given to object_pass_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status object_pass_open(struct object_pass *ret, struct heap *heap,
					     const struct object_filter *filter, struct job *job,
					     struct hd_error *err);

/**
 * The next object that is asked for (the tally has counted it), or the next gap.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status object_pass_next(struct object_pass *pass, enum pass_result *ret,
					     struct hd_error *err);

/** Is the current gap an object whose MethodTable the target lacks?  May walk the heap, once. */
bool object_pass_lacks_type(struct object_pass *pass);

/** End the pass, at any time. */
void object_pass_deinit(struct object_pass *pass);

/** Called for each object of a heap; another status than HD_OK ends the pass. */
typedef enum hd_status object_visit(void *arg, const struct object *object, struct hd_error *err);

/**
 * A pass over all objects of the heap; gaps are left out.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * @return or what @p visit returned
 */
HD_NODISCARD enum hd_status object_pass_all(struct heap *heap, object_visit *visit, void *arg,
					    struct job *job, struct hd_error *err);
