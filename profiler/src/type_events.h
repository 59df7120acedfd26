/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The runtime's BulkType events call a nested class "Inner", without the class that it is nested in; the files of
 * modules would tell, but a session of a profiler does not say which they are.  The profiling API tells it, while the
 * types cannot be unloaded: in the collection that walks the heap, by a thread of the collector.
 */

/** Begin to look at events; false: there is no memory, and names stay as they are. */
bool type_events_begin(void);
void type_events_end(void);

/**
 * An event of the runtime, whatever it is: remember which thread is in a collection.  The one that begins a collection
 * in the background goes on with the program.
 */
void type_events_see(uint32_t id, const uint8_t *payload, size_t size);

/**
 * The payload of a BulkType event with whole names.
 *
 * @param[out] ret_size Its size.
 * @return Until the next call; NULL: take the event as it is
 */
const uint8_t *type_events_rename(const uint8_t *payload, size_t size, size_t *ret_size);
