/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COMMAND_HEAP_RANGE_H
#define HEAPDUMP_SRC_COMMAND_HEAP_RANGE_H

#include "command/call.h"
#include "heap/walk.h"

/** The part of a heap that -heap, -segment, -gen and START END name; zero: all of it. */
struct heap_range {
	const struct segment **segments; /**< ascending */
	size_t count;
	uint64_t begin, end; /**< objects that start in [begin, end); end 0: to the last */
	bool has_generation;
	uint8_t generation; /**< enum generation; of an ephemeral segment each object is asked */
	bool is_whole;      /**< nothing was left out */
};

/** Choices of -gen: SOS's names, and the numbers. */
extern const char *const generation_choices[];
/** enum generation of one of them. */
uint8_t generation_choice(const char *choice);
/** HD_ERR_UNSUPPORTED: @p what asks for generations, and the dump file does not tell them. */
enum hd_status no_generations(const struct call *call, const char *what);

/** Committed memory of a segment as SOS counts it: from the first object's page on. */
uint64_t segment_committed_size(const struct segment *segment);

/**
 * Work out the range.
 *
 * @param heap,segment,generation Values of the options; not given: all.
 * @param[out] ret To be given to heap_range_deinit(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_ARGUMENT no such heap or segment, an empty range
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status heap_range_init(struct heap_range *ret, const struct call *call,
					    const struct value *heap, const struct value *segment,
					    const struct value *generation,
					    const struct value *begin, const struct value *end);
void heap_range_deinit(struct heap_range *range);

/** Is the object at @p address of @p segment, one of the range's, inside it? */
static inline bool heap_range_has(const struct heap_range *range, const struct segment *segment,
				  uint64_t address)
{
	if (address < range->begin || (range->end && address >= range->end))
		return false;
	return !range->has_generation ||
	       segment_generation_at(segment, address) == range->generation;
}

/** Begin a walk that meets every object of the range in @p segment. */
void heap_range_walk(const struct heap_range *range, struct walker *walker,
		     const struct segment *segment);

/** Bytes of the segments, for progress. */
uint64_t heap_range_bytes(const struct heap_range *range);

/** Walks met this much that is no object. */
struct gaps {
	uint64_t damaged, missing, unowned; /**< places */
	uint64_t missing_bytes;
	uint64_t untyped, untyped_bytes; /**< their MethodTable is not in the target */
};

void gaps_add(struct gaps *gaps, struct heap *heap, const struct damage *damage);
void gaps_merge(struct gaps *gaps, const struct gaps *other);
/** All is added: where other bytes are missing, a MethodTable that is not there is missing too. */
void gaps_settle(struct gaps *gaps, struct heap *heap);
/**
 * Does what is no object at @p damage look like one whose MethodTable the target lacks?  It is one
 * if heap_lacks_bytes().
 */
bool damage_is_untyped(struct heap *heap, const struct damage *damage);
/** Does the target lack bytes of the heap, so that it may lack others?  Walks it. */
bool heap_lacks_bytes(struct heap *heap);
/**
 * Warn that an answer is incomplete, once, and set call->findings if the heap is damaged.  Does
 * nothing when @p gaps is zero.  Settles them.
 */
void gaps_report(struct call *call, struct gaps *gaps);

#endif
