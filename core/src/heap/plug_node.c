/* SPDX-License-Identifier: MIT */
#include "heap/plug_node.h"

#include "arch/address_space.h"
#include "heap/resync.h"

/* Where the words of a node are, before the plug. */
#define NODE_GAP      32u
#define NODE_DISTANCE 24u
#define NODE_CHILDREN 16u
/* The low bits of a distance are flags (node_realigned, node_left_p). */
#define DISTANCE_FLAGS ((uint64_t)3)
#define DISTANCE_MAX   ((int64_t)ARCH_USER_END)
#define BRICK_SIZE     4096
/* So many plugs of one small object each may follow each other without a gap. */
#define HIDDEN_PLUGS_MAX 16u
/* Align (min_obj_size). */
#define OBJECT_SIZE_MIN 24u

/* A child of a tree is in the same brick: before its parent on the left, after it on the right. */
static bool is_child(int16_t offset, bool is_right)
{
	return offset % 8 == 0 && offset > -BRICK_SIZE && offset < BRICK_SIZE &&
	       (is_right ? offset >= 0 : offset <= 0);
}

/* Is there a node before @p plug?  What begins there is not looked at. */
static bool has_node(struct walker *walker, uint64_t plug)
{
	const struct segment *segment = walker->segment;
	uint8_t node[PLUG_NODE_SIZE];
	if (plug < segment->begin + PLUG_NODE_SIZE - 8 || plug >= segment->end ||
	    !memory_read(walker->heap->memory, plug - NODE_GAP, node, sizeof(node)))
		return false;
	uint64_t gap = load_u64(node), distance = load_u64(node + NODE_GAP - NODE_DISTANCE);
	uint32_t children = load_u32(node + NODE_GAP - NODE_CHILDREN);
	int64_t moved = (int64_t)(distance & ~DISTANCE_FLAGS);
	return gap % 8 == 0 && gap >= OBJECT_SIZE_MIN && gap <= plug - segment->begin &&
	       moved % 8 == 0 && moved < DISTANCE_MAX && moved > -DISTANCE_MAX &&
	       is_child((int16_t)children, false) && is_child((int16_t)(children >> 16), true);
}

/* Does an object begin at @p plug, or one that the node of the next plug lies over? */
static bool is_plug(struct walker *walker, uint64_t plug)
{
	for (unsigned int i = 0; i < HIDDEN_PLUGS_MAX && has_node(walker, plug); i++) {
		if (walker_is_object(walker, plug))
			return true;
		plug += has_node(walker, plug + OBJECT_SIZE_MIN) ? OBJECT_SIZE_MIN : 32;
	}
	return false;
}

uint64_t plug_after(struct walker *walker, uint64_t address, bool is_read)
{
	/* Their first word is the distance, the gap; the second one, which is the length, the gap. */
	for (uint64_t size = is_read ? 40 : OBJECT_SIZE_MIN; size <= 40; size += 8) {
		if (is_plug(walker, address + size))
			return address + size;
	}
	return 0;
}
