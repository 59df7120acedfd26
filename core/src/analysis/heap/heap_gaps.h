/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

/** How much that is not an object walks have met. */
struct gaps {
	uint64_t damaged, missing, unowned; /**< places */
	uint64_t missing_bytes;
	uint64_t untyped, untyped_bytes; /**< their MethodTable is not in the target */
};

/** Count what a walk of @p heap met instead of an object. */
void gaps_add(struct gaps *gaps, struct heap *heap, const struct damage *damage);
/** Add @p other, the counts of another worker. */
void gaps_merge(struct gaps *gaps, const struct gaps *other);
/**
 * Everything is counted: decide whether MethodTables that were not found are missing from the
 * target, as they are when other bytes are missing.
 */
void gaps_settle(struct gaps *gaps, struct heap *heap);
/**
 * Does the damage at @p damage look like an object whose MethodTable the target lacks?  It is one
 * if heap_lacks_bytes().
 */
bool damage_is_untyped(struct heap *heap, const struct damage *damage);
/**
 * Does the target lack bytes of the heap, so that it may lack other bytes, too?  Walks the heap.
 */
bool heap_lacks_bytes(struct heap *heap);
