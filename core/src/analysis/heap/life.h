/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"
#include "graph/heap_graph.h"
#include "graph/reach.h"
#include "util/bitmap.h"

/**
 * Which objects of a target's heap are asked for: those that are alive, or those that are not;
 * zero: all.
 */
struct life {
	const struct hd_graph *graph; /**< of the heap; NULL: all objects */
	const struct reach *live;     /**< what roots keep alive */
	bool is_dead;                 /**< those that no root keeps alive */
	uint64_t roots;               /**< how many roots are not weak */
};

/**
 * The objects of @p graph that are in @p live, or those that are not; both pointers are borrowed.
 */
struct life life_of(const struct hd_graph *graph, const struct reach *live, bool is_dead);

/**
 * Mark what is alive, without the objects that only finalizer queues hold.
 *
 * @param[out] ret To be given to reach_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status reach_without_finalizers(const struct hd_graph *graph, struct job *job,
						     struct reach *ret, struct hd_error *err);

/** Node of the first object at or after @p address. */
static inline uint32_t life_node(const struct life *life, uint64_t address)
{
	return life->graph ? graph_lower_bound(life->graph, address) : 0;
}

/** Is the node asked for? */
static inline bool life_has_node(const struct life *life, uint32_t node)
{
	return node < life->live->node_count &&
	       bitmap_has(life->live->bitmap, node) != life->is_dead;
}

/**
 * Is the next object of a walk asked for?  @p node is the node of the next object that is not a
 * Free block; it is moved on.
 */
static inline bool life_passes(const struct life *life, const struct object *object, uint32_t *node)
{
	if (!life->graph)
		return true;
	return !object->type->is_free && life_has_node(life, (*node)++);
}

/** Is the object at @p address asked for?  Free blocks are not; may be called by any thread. */
bool life_has(const struct life *life, uint64_t address);
