/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_HEAP_RESYNC_H
#define HEAPDUMP_SRC_HEAP_RESYNC_H

#include "heap/walk.h"

/** Objects in a row that must be sound where a walk goes on after damage. */
#define RESYNC_OBJECTS 4u

/**
 * Are the next RESYNC_OBJECTS objects from @p address on sound, or fewer that end exactly at
 * @p bound (none, when it is @p address)?
 */
bool walker_is_sound(struct walker *walker, uint64_t address, uint64_t bound);

/** Is there by itself an object of the segment, or Free block, at @p address? */
bool walker_is_object(struct walker *walker, uint64_t address);

/**
 * Find where the walk goes on after the damage at walker->next, and fill walker->damage, whose
 * kind, type and size are set.  Goes no further than @p bound: the next context or the end of the
 * segment.  Cost: linear in the bytes that are there, and in the ranges that are not.
 */
void walker_resync(struct walker *walker, uint64_t bound);

/** Where the next bytes of the target may be, after @p address, which cannot be read. */
uint64_t walker_next_captured(const struct heap *heap, uint64_t address);

/**
 * So often in a row is walker_next_captured() asked: 1 GB of pages, where nobody knows what is there.  What
 * comes after them counts as unreadable too: a segment may claim the whole address space.
 */
#define UNREADABLE_MAX ((uint64_t)1 << 18)

#endif
