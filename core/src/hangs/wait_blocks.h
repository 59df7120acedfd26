/* SPDX-License-Identifier: MIT */
/* Full blocks of a dataflow (System.Threading.Tasks.Dataflow) whose items do not go on. */
#pragma once

#include "hangs/wait_things.h"

/**
 * Set block and block_end of each thing that is a block of a dataflow to which calls wait to send, and is_behind of those
 * that wait for the same block as another one.  The way goes from block to block as long as each is full, has an item that it
 * has offered to all of its links, and one of these leads to another full block; every other link has a filter and room
 * behind it, so that the item was refused there.
 *
 * may_change becomes false for a block without a link, so that wait_releasers_find() looks for those who ask it for its
 * items; for others it stays as it is.
 *
 * Cost: linear in things; of a dataflow, a constant number of blocks and links is looked at.
 */
void wait_blocks_find(const struct waits *waits, struct wait_things *things);
