/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/heap/heap_range.h"
#include "analysis/heap/life.h"
#include "analysis/heap/type_counts.h"

/** Which objects of a heap are asked for. */
struct object_filter {
	const struct heap_range *range;
	const struct life *life;
	uint64_t min, max;     /**< bytes; max 0: of any size */
	uint64_t method_table; /**< 0: any */
	const char *type_part; /**< part of the type's name, see name_matches(); NULL: any */
};

/**
 * Is @p object, which a walk over the range met, asked for?  Does not look at life and type_part.
 */
static inline bool object_filter_has(const struct object_filter *filter,
				     const struct segment *segment, const struct object *object)
{
	if (object->size < filter->min || (filter->max && object->size > filter->max))
		return false;
	if (filter->method_table && object->type->method_table != filter->method_table)
		return false;
	return filter->range->is_whole || heap_range_has(filter->range, segment, object->address);
}

/** Are all objects of a whole range asked for, dead or alive?  type_part is not looked at. */
static inline bool object_filter_is_open(const struct object_filter *filter)
{
	return filter->range->is_whole && !filter->life->graph && !filter->min && !filter->max &&
	       !filter->method_table;
}

/** Free blocks from this size on are fragments; SOS's limit. */
#define FRAGMENT_MIN ((uint64_t)512 << 10)
/** How many of them each worker keeps. */
#define FRAGMENTS_MAX 1000u

/** A large Free block, and the object after it. */
struct fragment {
	uint64_t address, size, next;
	const struct type *next_type;
};

/** The counts of a walk over a range.  Zero-initialised, except filter, it has met nothing. */
struct object_tally {
	const struct object_filter *filter; /**< borrowed */
	struct type_counts counts;          /**< counts of the objects that were asked for */
	struct gaps gaps;
	struct fragment *fragments; /**< of the range, ascending */
	size_t fragments_count, fragments_capacity;
	uint64_t free_at, free_size; /**< the current Free block, if it is a large one */
	uint32_t node;               /**< of the next object, for filter->life */
};

/** Begin with a segment of the range. */
void object_tally_begin(struct object_tally *tally, struct walker *walker,
			const struct segment *segment);

/** Remember a large Free block, and what follows it; false when memory is exhausted. */
bool object_tally_follow_free(struct object_tally *tally, const struct object *object);

/** The walk met an object: note large Free blocks; false when memory is exhausted. */
static inline bool object_tally_meet_block(struct object_tally *tally, const struct object *object)
{
	return !(tally->free_at || object->size >= FRAGMENT_MIN) ||
	       object_tally_follow_free(tally, object);
}

/**
 * The walk met an object: is it asked for?  Does not look at type_part, and counts nothing.
 *
 * @param[out] ret_failed Set when memory is exhausted.
 */
static inline bool object_tally_meet(struct object_tally *tally, const struct walker *walker,
				     bool *ret_failed)
{
	const struct object *object = &walker->object;
	if (!object_tally_meet_block(tally, object))
		*ret_failed = true;
	return life_passes(tally->filter->life, object, &tally->node) &&
	       object_filter_has(tally->filter, walker->segment, object);
}

/** The walk met something that is not an object. */
void object_tally_meet_gap(struct object_tally *tally, const struct walker *walker);

/**
 * Walk the range of @p filter with all workers.  The counts do not depend on type_part: see
 * type_counts_statistics().
 *
 * @param[out] ret To be given to object_tally_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status object_tally_count(struct object_tally *ret, struct heap *heap,
					       const struct object_filter *filter, struct job *job,
					       struct hd_error *err);
void object_tally_deinit(struct object_tally *tally);
