/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/life.h"
#include "analysis/heap/type_counts.h"
#include "gc/finalizer.h"

/** Which entries of finalizer queues are asked for; all zero except dead: all. */
struct finalizer_filter {
	/**
	 * The entries that are next to be finalized, and those whose objects are chosen here. graph
	 * NULL: all.
	 */
	const struct life *dead;
	bool has_method_table;
	uint64_t method_table;
};

/** The entries of finalizer queues, one by one, with their objects. */
struct finalizer_objects {
	struct heap *heap;
	const struct finalizer_list *list;
	struct finalizer_filter filter;
	struct window window;
	size_t next;                         /**< row of the list */
	const struct finalizer_entry *entry; /**< the current one */
	struct object object;                /**< its object; type NULL: there is none */
	struct type_counts counts;           /**< of the objects that were met */
};

/** Is its object ready to be finalized, so that the queue keeps it alive? */
bool finalizer_is_ready(const struct finalizer_entry *entry);

/** Begin; @p list and filter->dead are borrowed until finalizer_objects_deinit(). */
void finalizer_objects_open(struct finalizer_objects *ret, struct heap *heap,
			    const struct finalizer_list *list,
			    const struct finalizer_filter *filter);

/**
 * The next entry that is asked for: objects->entry and object.
 *
 * @param[out] ret false: there is none.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status finalizer_objects_next(struct finalizer_objects *objects, bool *ret,
						   struct hd_error *err);
void finalizer_objects_deinit(struct finalizer_objects *objects);
