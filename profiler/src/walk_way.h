/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <heapdump/snapshot.h>

#include "settings.h"
#include "stopping.h"

/**
 * Make this way possible, if the settings need it: the runtime lets a profiler watch collections only when its
 * concurrent collector is off, which it switches off for a profiler that says so while it is being initialised.
 *
 * @return false, after a line on standard error: it is not possible
 */
bool walk_way_prepare(const struct settings *settings);

/**
 * AppDomainCreationStarted: the collector has been initialised.  The masks are not needed before the walk, and every
 * collection would be slower with them.
 */
void walk_way_prepared(void);

/**
 * Force a collection, and take down what the runtime tells profilers about it: roots, objects with their references,
 * dependent handles.  This needs no EventPipe.  The snapshot gets the events that the runtime would have sent.
 *
 * @param[in] stop Ends the work early: no other collection is begun then.
 * @return NULL, or why there is nothing
 */
const char *walk_way(struct hd_snapshot *snapshot, const struct stopping *stop);

/* The callbacks. */

/** GarbageCollectionStarted: which generations are collected, and was it asked for? */
void walk_way_started(size_t count, const int32_t *is_collected, bool is_induced);

/** The arguments of RootReferences2: arrays of @c count entries; @c ids may be NULL. */
struct walk_roots {
	size_t count;
	const uintptr_t *objects;
	const uint32_t *kinds, *flags;
	const uintptr_t *ids;
};

/** RootReferences2. */
void walk_way_roots(const struct walk_roots *roots);

/** ConditionalWeakTableElementReferences. */
void walk_way_dependents(size_t count, const uintptr_t *keys, const uintptr_t *values,
			 const uintptr_t *ids);

/** ObjectReferences; false: the runtime need not call any more for this collection. */
bool walk_way_object(uintptr_t object, uintptr_t type, size_t count, const uintptr_t *targets);

/** GarbageCollectionFinished. */
void walk_way_finished(void);
