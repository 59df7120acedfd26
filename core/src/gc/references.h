/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

/** A reference slot of an object and its value. */
struct reference {
	uint64_t slot;  /**< address; 0 for the implicit edge to the LoaderAllocator object */
	uint64_t value; /**< not 0 */
};

/** The position of references_next(); private, except missing. */
struct references {
	struct window *window;
	const struct object *object;
	const uint8_t *bytes;  /**< bytes of slot; this many */
	uint64_t available;    /**< are available and belong to the run */
	uint64_t slot, end;    /**< of the current run of slots */
	uint64_t next;         /**< runs: start of the next one */
	uint64_t limit;        /**< runs: end of the object's slots */
	uint32_t index;        /**< next series or run */
	uint32_t misses;       /**< number of failed reads */
	bool pending;          /**< there may be more slots than those available */
	bool loader_allocator; /**< its edge is still to come */
	bool missing;          /**< some slots are not in the target */
};

/** Begin with a type that has slots. */
void references_first(struct references *references);
/** Make the bytes of more slots available; false at the end. */
bool references_more(struct references *references);

/**
 * Begin with the references of @p object (in GCDesc order).  All slots are read through @p window,
 * which must not be used for anything else until the end.  Both are borrowed until then.
 */
static inline void references_begin(struct references *references, struct window *window,
				    const struct object *object)
{
	references->window = window;
	references->object = object;
	references->available = 0;
	references->pending = object->type->has_pointers;
	references->loader_allocator = object->type->loader_allocator != 0;
	references->missing = false;
	if (references->pending)
		references_first(references);
}

/** The next reference that is not null; false at the end.  The LoaderAllocator edge comes last. */
static inline bool references_next(struct references *references, struct reference *ret)
{
	do {
		while (references->available >= 8) {
			uint64_t value = load_u64(references->bytes);
			ret->slot = references->slot;
			references->bytes += 8;
			references->slot += 8;
			references->available -= 8;
			if (value) {
				ret->value = value;
				return true;
			}
		}
	} while (references->pending && references_more(references));
	if (!references->loader_allocator)
		return false;
	references->loader_allocator = false;
	ret->slot = 0;
	ret->value = references->object->type->loader_allocator;
	return true;
}
