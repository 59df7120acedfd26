/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Hears what the runtime says after each of its collections, also of those in the background: by a
 * session of the events of collections (keyword 0x1, level 4), some twenty for each, and none in
 * between.  It changes neither how the program's code is compiled nor how its garbage is collected.
 */

/**
 * Begin, or go on after gc_watch_pause(); false: the runtime does not tell.
 *
 * @param threshold bytes above which the heap is too large, the same each time; 0: it never is
 */
bool gc_watch_begin(uint64_t threshold);

/**
 * Let the runtime forget of which types it has told the names.  While somebody else listens to its
 * events, as libraries of metrics do, it forgets them only when a session begins that wants no
 * names.
 */
void gc_watch_flush(void);

/** A snapshot is taken: its collection does not count. */
void gc_watch_pause(void);

/**
 * Begin a new session if a tool may have walked the heap, and has ended: while a session lives that had begun before,
 * the runtime does not tell the next tool the names of types again.  If none can begin, the old one stays until the
 * next look.
 *
 * @param now watch_now()
 */
void gc_watch_renew(uint64_t now);

/** In the callback of an event of the runtime's own provider. */
void gc_watch_event(uint32_t id, const uint8_t *payload, size_t size);

/** Bytes of the heap after the last collection; 0: there was none. */
uint64_t gc_watch_heap(void);

/** How often the heap has become too large: each time after a collection that left it well below the threshold. */
unsigned gc_watch_rises(void);

/** How many full collections in a row have left a larger heap than the one before. */
unsigned gc_watch_growth(void);

/** Begin to count again. */
void gc_watch_forget_growth(void);
