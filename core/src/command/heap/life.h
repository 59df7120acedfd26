/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COMMAND_LIFE_H
#define HEAPDUMP_SRC_COMMAND_LIFE_H

#include "command/call.h"
#include "heap/walk.h"
#include "util/bitmap.h"

/** Which objects of a target's heap -live or -dead asks for; zero: all. */
struct life {
	const struct hd_graph *graph;
	const struct reach *live;
	bool is_dead;   /**< those that no root keeps alive */
	uint64_t roots; /**< that are not weak */
};

/**
 * Find out what is alive, from the roots as call_is_conservative() says.
 *
 * @retval HD_OK
 * @retval others as session_graph() and session_live()
 */
HD_NODISCARD enum hd_status life_init(struct life *life, struct call *call, bool is_dead);

/** SOS's line, or "live": {count, roots}. */
void life_write(const struct life *life, struct call *call);

/** Node of the first object at or behind @p address. */
static inline uint32_t life_node(const struct life *life, uint64_t address)
{
	return life->graph ? graph_lower_bound(life->graph, address) : 0;
}

/** Is the node one of those that are asked for? */
static inline bool life_has_node(const struct life *life, uint32_t node)
{
	return node < life->live->node_count &&
	       bitmap_has(life->live->bitmap, node) != life->is_dead;
}

/**
 * Is the next object of a walk one of those?  @p node is that of the next object that is no Free
 * block, and moves along.
 */
static inline bool life_passes(const struct life *life, const struct object *object, uint32_t *node)
{
	if (!life->graph)
		return true;
	return !object->type->is_free && life_has_node(life, (*node)++);
}

/** Is the object at @p address one of those?  Free blocks are not; may be called by any thread. */
bool life_has(const struct life *life, uint64_t address);

#endif
