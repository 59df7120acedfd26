/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

/** How many objects in a row must be sound where a walk goes on after damage. */
#define RESYNC_OBJECTS 4u

/**
 * Are the next RESYNC_OBJECTS objects, beginning at @p address, sound?  Fewer are enough if they
 * end exactly at @p bound (none if that is @p address).
 */
bool walker_is_sound(struct walker *walker, uint64_t address, uint64_t bound);

/** Looking only at @p address: is there an object of the segment, or a Free block? */
bool walker_is_object(struct walker *walker, uint64_t address);

/**
 * Find where the walk goes on after the damage at walker->next, and fill walker->damage, whose
 * kind, type and size are set.  Goes at most to @p bound: the next context or the end of the
 * segment.  Cost: linear in the available bytes, and in the number of missing ranges.
 */
void walker_resync(struct walker *walker, uint64_t bound);

/** Where the next bytes of the target may be after @p address, which cannot be read. */
uint64_t walker_next_captured(const struct heap *heap, uint64_t address);

/**
 * How often in a row walker_next_captured() is called: 1 GB of pages if it is not known which bytes
 * exist.  What comes after that also counts as unreadable: a segment may claim the whole address
 * space.
 */
#define UNREADABLE_MAX ((uint64_t)1 << 18)
