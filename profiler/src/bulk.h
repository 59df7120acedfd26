/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <heapdump/snapshot.h>

#include "type_names.h"

/* The events of a walk over the heap, as the runtime sends them (doc/formats.md 6), for a snapshot. */

/** Entries of one kind that become one event. */
struct bulk {
	uint8_t *bytes;  /**< with room for the head */
	size_t used;     /**< without the head */
	uint32_t count;  /**< entries */
	uint32_t number; /**< of the event among those of its kind */
};

enum bulk_kind {
	BULK_TYPES,
	BULK_ROOTS,
	BULK_DEPENDENTS,
	BULK_NODES,
	BULK_EDGES,
	BULK_KINDS
};

struct bulk_writer {
	struct hd_snapshot *snapshot;
	struct bulk bulks[BULK_KINDS];
	bool is_full; /**< the snapshot takes no more */
};

/** An object, and how many references it has. */
struct bulk_object {
	uint64_t address, size, type, count;
};

/** A root; its kind is a COR_PRF_GC_ROOT_KIND. */
struct bulk_root {
	uint64_t object;
	uint32_t kind, flags;
	uint64_t id;
};

/** @return false when there is no memory; then there is nothing to free */
bool bulk_init(struct bulk_writer *writer, struct hd_snapshot *snapshot);
void bulk_deinit(struct bulk_writer *writer);

/** The collection begins. */
void bulk_start(struct bulk_writer *writer);

void bulk_root(struct bulk_writer *writer, const struct bulk_root *root);
void bulk_dependent(struct bulk_writer *writer, uint64_t key, uint64_t value, uint64_t id);
void bulk_object(struct bulk_writer *writer, const struct bulk_object *object,
		 const uintptr_t *targets);
void bulk_type(struct bulk_writer *writer, uint64_t type, const struct type_about *about);

/** The collection ends: what is left goes to the snapshot. */
void bulk_end(struct bulk_writer *writer);

/** The snapshot takes no more: there is no memory for it. */
bool bulk_is_full(const struct bulk_writer *writer);
