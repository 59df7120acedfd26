/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/fake_clr.h"

/*
 * Handle tables and finalizer queues for a fake runtime, as the runtime lays them out.  Make them
 * before fake_heap().
 */

#define FAKE_BLOCKS  120u
#define FAKE_SEGMENT 65536u

/** A table with one segment, that has all its pages; the first address of it is returned. */
uint64_t fake_handle_table(struct fake_clr *fake, unsigned int types);
/** The first segment of a table, and the word in it that leads to the next. */
uint64_t fake_handle_segment(struct fake_clr *fake, uint64_t table, unsigned int types);
uint64_t fake_handle_next(uint64_t segment, unsigned int types);
/** One more segment at the end of the list of @p table. */
uint64_t fake_handle_grow(struct fake_clr *fake, uint64_t table, unsigned int types);
/** Let @p count tables be a bucket of the map; makes the map if @p fake has none. */
uint64_t fake_handle_bucket(struct fake_clr *fake, const uint64_t *tables, size_t count);
/** Give block @p block of a segment its type; its handles are free and null. */
void fake_handle_block(struct fake_clr *fake, uint64_t segment, uint32_t block, uint8_t type);
/** Let block @p data hold the user data of @p block; @p types as for the table. */
void fake_handle_user_data(struct fake_clr *fake, uint64_t segment, uint32_t block, uint8_t data,
			   unsigned int types);
/** Set handle @p slot of a block: it is in use from then on.  Returns its address. */
uint64_t fake_handle(struct fake_clr *fake, uint64_t segment, uint32_t block, uint32_t slot,
		     uint64_t object);

/** Places of a segment that tests damage. */
uint64_t fake_handle_type_at(uint64_t segment, uint32_t block);
uint64_t fake_handle_user_data_at(uint64_t segment, uint32_t block);

/**
 * The finalizer queue of @p heap: @p counts says how many of @p objects each of its 7 parts has.
 * Returns the address of the CFinalize, whose words are 7 fill pointers, begin, end.
 */
uint64_t fake_finalizer_queue(struct fake_clr *fake, uint32_t heap, const size_t counts[7],
			      const uint64_t *objects);
