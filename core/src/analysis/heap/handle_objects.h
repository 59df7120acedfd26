/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/type_counts.h"
#include "gc/handles.h"

/** The handles, one by one, with their objects. */
struct handle_objects {
	struct heap *heap;
	const struct handle_list *list;
	bool has_type;
	enum handle_type type; /**< only handles of this type, if has_type */
	struct window window;
	size_t next;                    /**< row of the list */
	const struct handle *handle;    /**< the current one */
	struct object object;           /**< what it refers to; type NULL: that is not an object */
	struct type_counts counts;      /**< of the objects that were met */
	uint64_t by_type[HANDLE_TYPES]; /**< handles that were met */
};

/**
 * Begin; @p list is borrowed until handle_objects_deinit().
 *
 * @param type The type of the handles that are asked for; NULL: all.
 */
void handle_objects_open(struct handle_objects *ret, struct heap *heap,
			 const struct handle_list *list, const enum handle_type *type);

/**
 * The next handle: objects->handle and object.
 *
 * @param[out] ret false: there is none.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status handle_objects_next(struct handle_objects *objects, bool *ret,
						struct hd_error *err);
void handle_objects_deinit(struct handle_objects *objects);
