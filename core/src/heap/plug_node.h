/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_HEAP_PLUG_NODE_H
#define HEAPDUMP_SRC_HEAP_PLUG_NODE_H

#include "heap/walk.h"

/*
 * A GC that plans joins the objects that survive to plugs, and writes a node (clr/layouts/plug_and_gap.h) right
 * before each.  The node lies over the last object of the gap, which is dead.  Where a pinned plug begins
 * without a gap the node lies over the last object of the plug before, whose bytes are kept elsewhere until the
 * GC ends.
 */

/**
 * The plug whose node lies over the object at @p address, or 0.  @p is_read: there seems to be an array at the
 * address, so that the node may lie over its length.  The objects that a node lies over have at most 40 bytes,
 * for in larger ones it is behind their MethodTable and their length.
 */
uint64_t plug_after(struct walker *walker, uint64_t address, bool is_read);

#endif
