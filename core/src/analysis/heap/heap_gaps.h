/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ANALYSIS_HEAP_GAPS_H
#define HEAPDUMP_SRC_ANALYSIS_HEAP_GAPS_H

#include "heap/walk.h"

/** Walks met this much that is no object. */
struct gaps {
	uint64_t damaged, missing, unowned; /**< places */
	uint64_t missing_bytes;
	uint64_t untyped, untyped_bytes; /**< their MethodTable is not in the target */
};

/** Count what a walk of @p heap met in the place of an object. */
void gaps_add(struct gaps *gaps, struct heap *heap, const struct damage *damage);
/** Add @p other, which another worker counted. */
void gaps_merge(struct gaps *gaps, const struct gaps *other);
/** All is added: where other bytes are missing, a MethodTable that is not there is missing too. */
void gaps_settle(struct gaps *gaps, struct heap *heap);
/**
 * Does what is no object at @p damage look like one whose MethodTable the target lacks?  It is one
 * if heap_lacks_bytes().
 */
bool damage_is_untyped(struct heap *heap, const struct damage *damage);
/** Does the target lack bytes of the heap, so that it may lack others?  Walks it. */
bool heap_lacks_bytes(struct heap *heap);

#endif
