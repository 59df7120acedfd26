/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/references.h"
#include "roots/root_set.h"

/**
 * The edges that a walk still has ahead and that are not in objects: dependent handles, and claimed
 * slots.  Objects that end at or before next have none.
 */
struct extra_edges {
	const struct root_edge *edge, *edge_end;
	const uint64_t *claim, *claim_end;
	uint64_t next;
};

/** Begin at @p address; @p roots may be NULL. */
void extra_edges_begin(struct extra_edges *extra, const struct root_set *roots, uint64_t address);
/** Skip what lies before @p address. */
void extra_edges_skip(struct extra_edges *extra, uint64_t address);
/** Is @p slot claimed?  It must not lie before the walk's position. */
bool extra_edges_claim(const struct extra_edges *extra, uint64_t slot);

/** Index of the first claimed slot at or after @p address. */
size_t claimed_from(const struct root_set *roots, uint64_t address);
/** Index of the first edge of a dependent handle whose from is at least @p address. */
size_t edges_from(const struct root_set *roots, uint64_t address);

/** The edges of one object: its references, and its edges from elsewhere. */
struct edge_walk {
	struct references references;
	struct extra_edges *extra; /**< edges from elsewhere; NULL: none */
	uint64_t address;
	uint64_t from_handles; /**< edges of dependent handles so far */
};

void edges_begin(struct edge_walk *walk, struct extra_edges *extra, struct walker *walker);
/** The next edge; false at the end. */
bool edges_next(struct edge_walk *walk, struct reference *ret);

/**
 * The bytes of an object of the most common sort: all bytes are available, its slots are in series,
 * and it has no edges from elsewhere.  NULL for other objects, for which there is struct edge_walk.
 */
static inline const uint8_t *plain_bytes(const struct extra_edges *extra,
					 const struct walker *walker)
{
	const struct object *object = &walker->object;
	const struct window *window = &walker->window;
	const struct type *type = object->type;
	uint64_t offset = object->address - window->begin;
	bool is_plain = offset < window->size && window->size - offset >= object->step &&
			object->address + object->step <= extra->next && !type->desc.run_count &&
			!type->loader_allocator;
	return is_plain ? window->bytes + offset : NULL;
}

/** The slots of a series; they do not end before their begin, nor after the object's end. */
struct slot_range {
	uint64_t begin, end;
};

static inline struct slot_range slots_of(const struct object *object, uint32_t series)
{
	const struct gc_series *of = &object->type->desc.series[series];
	uint64_t size = ((uint64_t)of->size + object->size) & ~(uint64_t)7;
	bool is_inside = of->offset <= object->step && size <= object->step - of->offset;
	return (struct slot_range){ of->offset, is_inside ? of->offset + size : of->offset };
}
