/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "mem/window.h"

/** An object that a walk has met. */
struct object {
	uint64_t address;
	const struct type *type;
	uint64_t size;     /**< true size: what SOS prints */
	uint64_t step;     /**< bytes to the next object: size rounded up to 8 */
	uint32_t length;   /**< number of components; 0 if it has none */
	uint8_t mark_bits; /**< low bits of the MethodTable word */
};

/** Why a walk could not go on at an address. */
enum damage_kind {
	DAMAGE_BAD_METHOD_TABLE, /**< the word is not a MethodTable */
	DAMAGE_BAD_SIZE,         /**< the object would not end inside its segment */
	DAMAGE_MISSING_BYTES,    /**< the bytes are not in the target */
	DAMAGE_ZERO_RUN,         /**< zeros up to the next object: an allocation context without
				  * owner */
	DAMAGE_PLUG_NODE,        /**< not damage: a GC in its plan phase has its node there */
};

/** A gap in a walk: the next object was found (or the end reached) skipped bytes after address. */
struct damage {
	uint8_t kind;            /**< enum damage_kind */
	uint64_t address;        /**< where an object should start */
	uint64_t word;           /**< its MethodTable word */
	uint64_t skipped;        /**< number of bytes until the place where the walk goes on */
	struct object last_good; /**< the object before; type NULL: there is none in the segment */
	const struct type *type; /**< for DAMAGE_BAD_SIZE */
	uint64_t size;           /**< for DAMAGE_BAD_SIZE: the size that it claims */
};

enum walk_result {
	WALK_END,
	WALK_OBJECT,
	WALK_DAMAGE,
};

struct job;

/**
 * For each type, the type of the object that followed last time: if this guess is right, the
 * processor can read the next object before it has loaded this one's MethodTable.
 */
#define WALK_GUESSES FUZZED(1024u, 16u)
struct walk_guess {
	const struct type *next[WALK_GUESSES];
};

/** A linear walk over [begin, end) of one segment.  One thread uses a walker. */
struct walker {
	struct heap *heap;
	const struct segment *segment;
	struct window window;
	struct type_cache *cache; /**< owned */
	struct walk_guess *guess; /**< owned */
	const struct type *last;  /**< type of the last object; never NULL */
	uint64_t next, end;
	uint64_t limit; /**< objects must not reach beyond this: the next context, or the segment's
			 * end */
	uint64_t pause; /**< objects that start here or later take the slow path */
	size_t context; /**< index of the next context */
	struct object object;
	struct damage damage;
	uint64_t objects, skipped_bytes;
	/* set by heap_walk(), else NULL and 0 */
	struct job *job;
	unsigned int worker; /**< number of the worker: 0 .. job_workers() - 1 */
	uint64_t reported;   /**< bytes before this were counted as progress */
	bool cancelled;      /**< the walk ended early */
};

/** HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status walker_init(struct walker *walker, struct heap *heap,
					struct hd_error *err);
void walker_deinit(struct walker *walker);

/**
 * Begin with the objects of @p segment that start in [begin, end); @p begin must be the start of
 * the segment or of an object.
 */
void walker_begin(struct walker *walker, const struct segment *segment, uint64_t begin,
		  uint64_t end);

/** Slow path of walker_next(). */
enum walk_result walker_slow(struct walker *walker);

/** The results of object_decode(). */
enum decode_result {
	DECODE_OBJECT,
	DECODE_MISSING,  /**< its first 16 bytes are not in the target */
	DECODE_NO_TYPE,  /**< its first word is not a MethodTable */
	DECODE_TOO_LONG, /**< it would reach beyond @p limit */
};

/**
 * Decode the object whose first 16 bytes are @p bytes; @p ret is only changed for DECODE_OBJECT.
 */
static inline enum decode_result object_from(const uint8_t *bytes, const struct type *type,
					     uint64_t address, uint64_t limit, struct object *ret)
{
	if (!type || !type->base_size)
		return DECODE_NO_TYPE;
	uint32_t length = type->component_size ? load_u32(bytes + 8) : 0;
	uint64_t size = type_object_size(type, length);
	uint64_t step = (size + 7) & ~(uint64_t)7;
	if (address > limit || step > limit - address)
		return DECODE_TOO_LONG;
	ret->address = address;
	ret->type = type;
	ret->size = size;
	ret->step = step;
	ret->length = length;
	ret->mark_bits = bytes[0] & 7;
	return DECODE_OBJECT;
}

/**
 * Read the head of the object at @p address, which must not reach beyond @p limit.
 *
 * @param[out] ret Only changed for DECODE_OBJECT.
 */
static inline enum decode_result object_decode(struct window *window, struct type_cache *cache,
					       struct runtime *runtime, uint64_t address,
					       uint64_t limit, struct object *ret)
{
	const uint8_t *bytes = window_at(window, address, 16, NULL);
	if (!bytes)
		return DECODE_MISSING;
	uint64_t method_table = load_u64(bytes) & ~(uint64_t)7;
	return object_from(bytes, type_cached(cache, runtime, method_table), address, limit, ret);
}

/**
 * Next object (walker->object), gap (walker->damage), or the end.  Allocation contexts are skipped
 * silently.  After damage the walk goes on at the next context, or at the first address where four
 * objects in a row are sound, or ends; walker->object is still the object before the damage.
 */
__attribute__((always_inline)) static inline enum walk_result walker_next(struct walker *walker)
{
	uint64_t address = walker->next;
	const uint8_t *bytes;
	if (address >= walker->pause || !(bytes = window_at(&walker->window, address, 16, NULL)))
		return walker_slow(walker);
	uint64_t method_table = load_u64(bytes) & ~(uint64_t)7;
	const struct type **guess = &walker->guess->next[walker->last->index % WALK_GUESSES];
	const struct type *type = *guess;
	if (type->method_table != method_table) {
		type = type_cached(walker->cache, walker->heap->runtime, method_table);
		if (!type)
			return walker_slow(walker);
		*guess = type;
	}
	if (object_from(bytes, type, address, walker->limit, &walker->object) != DECODE_OBJECT)
		return walker_slow(walker);
	walker->last = type;
	walker->next = address + walker->object.step;
	walker->objects++;
	return WALK_OBJECT;
}

/** Read the object at @p address (anywhere, not only in a segment); false when there is none. */
bool object_read(struct heap *heap, struct window *window, uint64_t address, struct object *ret);

typedef enum hd_status (*segment_visit)(void *arg, struct walker *walker, struct hd_error *err);

/** The way of heap_walk(). */
struct heap_tour {
	const struct segment *const *segments; /**< NULL: all of the heap, whatever count */
	size_t count;
	const char *what; /**< what the progress says */
	segment_visit
		visit; /**< called once per segment, with a worker's walker that has begun there */
	void *const *args; /**< what a worker gives to visit, by its number; NULL: all give NULL */
};

/**
 * Walk all segments with the job's workers, which have one walker each.  Progress is counted in
 * bytes; a cancelled job ends the walk of a segment early.  Memory that is not parallel has one
 * worker.
 *
 * @param job May be NULL.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED and whatever visit() returned
 */
HD_NODISCARD enum hd_status heap_walk(struct heap *heap, const struct heap_tour *tour,
				      struct job *job, struct hd_error *err);
