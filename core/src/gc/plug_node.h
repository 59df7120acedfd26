/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

/*
 * In its plan phase, a GC joins the surviving objects into plugs, and writes a node
 * (runtime/coreclr/layouts/plug_and_gap.h) directly before each plug.  The node overwrites the end of the gap's
 * last object, which is dead.  If a pinned plug begins without a gap, the node overwrites the last
 * object of the plug before it, whose bytes are saved elsewhere until the GC ends.
 */

/**
 * The plug whose node overwrites the object at @p address, or 0.  @p is_read: there seems to be an
 * array at the address, so that the node may overwrite its length.  Only objects of at most 40
 * bytes are meant: in larger ones the node comes after their MethodTable and length.
 */
uint64_t plug_after(struct walker *walker, uint64_t address, bool is_read);
