/* SPDX-License-Identifier: MIT */
#include "gc/plug_node.h"

#include "gc/layouts/plug_and_gap.h"
#include "gc/resync.h"

/* How many plugs of one small object each may follow each other without a gap. */
#define HIDDEN_PLUGS_MAX 16u

/* A child of a tree is in the same brick: before its parent on the left, after it on the right. */
static bool is_child(int16_t offset, bool is_right)
{
	return offset % 8 == 0 && offset > -PLUG_BRICK_SIZE && offset < PLUG_BRICK_SIZE &&
	       (is_right ? offset >= 0 : offset <= 0);
}

/* Is there a node before @p plug?  This does not check what begins at the plug. */
static bool has_node(struct walker *walker, uint64_t plug)
{
	const struct segment *segment = walker->segment;
	uint8_t bytes[PLUG_NODE_SIZE];
	if (plug < segment->begin + PLUG_NODE_SIZE - 8 || plug >= segment->end ||
	    !memory_read(walker->heap->memory, plug - PLUG_NODE_SIZE, bytes, sizeof(bytes)))
		return false;
	struct plug_and_gap node = plug_and_gap_from(bytes);
	int64_t limit = (int64_t)walker->heap->space.user_end; /* a plug moves by less */
	return node.gap % 8 == 0 && node.gap >= OBJECT_SIZE_MIN &&
	       node.gap <= plug - segment->begin && node.distance % 8 == 0 &&
	       node.distance < limit && node.distance > -limit && is_child(node.left, false) &&
	       is_child(node.right, true);
}

/* Does an object begin at @p plug, maybe one that the node of the next plug has overwritten? */
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
