/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_SNAPSHOT_EDGE_WALK_H
#define HEAPDUMP_SRC_SNAPSHOT_EDGE_WALK_H

#include "heap/references.h"
#include "roots/root_set.h"

/**
 * What is known of edges beside objects, from where a walk is on: dependent handles, and claimed
 * slots.  Objects that end at or before next have none.
 */
struct beside {
	const struct root_edge *edge, *edge_end;
	const uint64_t *claim, *claim_end;
	uint64_t next;
};

/** Begin at @p address; @p roots may be NULL. */
void beside_begin(struct beside *beside, const struct root_set *roots, uint64_t address);
/** Step over what lies before @p address. */
void beside_skip(struct beside *beside, uint64_t address);
/** Is @p slot, not before where the walk is, claimed? */
bool beside_claims(const struct beside *beside, uint64_t slot);

/** Index of the first claimed slot at or behind @p address. */
size_t beside_claimed_from(const struct root_set *roots, uint64_t address);
/** Index of the first edge beside objects whose from is not below @p address. */
size_t edges_from(const struct root_set *roots, uint64_t address);

/** The edges of one object: its references, and what is known beside it. */
struct edge_walk {
	struct references references;
	struct beside *beside; /**< NULL: nothing is */
	uint64_t address;
	uint64_t extra; /**< entries of dependent handles that were met */
};

void edges_begin(struct edge_walk *walk, struct beside *beside, struct walker *walker);
/** The next edge; false at the end. */
bool edges_next(struct edge_walk *walk, struct reference *ret);

/**
 * The bytes of what most objects are: all of them at hand, slots in series, no edges but theirs.
 * NULL for others: struct edge_walk goes over any.
 */
static inline const uint8_t *plain_bytes(const struct beside *beside, const struct walker *walker)
{
	const struct object *object = &walker->object;
	const struct window *window = &walker->window;
	const struct type *type = object->type;
	uint64_t offset = object->address - window->begin;
	bool is_plain = offset < window->size && window->size - offset >= object->step &&
			object->address + object->step <= beside->next && !type->run_count &&
			!type->loader_allocator;
	return is_plain ? window->bytes + offset : NULL;
}

/** Slots of a series; their end is not below their begin, nor behind the object's. */
struct slot_range {
	uint64_t begin, end;
};

static inline struct slot_range slots_of(const struct object *object, uint32_t series)
{
	const struct gc_series *of = &object->type->series[series];
	uint64_t size = ((uint64_t)of->size + object->size) & ~(uint64_t)7;
	bool is_inside = of->offset <= object->step && size <= object->step - of->offset;
	return (struct slot_range){ of->offset, is_inside ? of->offset + size : of->offset };
}

#endif
