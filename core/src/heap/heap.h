/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_HEAP_HEAP_H
#define HEAPDUMP_SRC_HEAP_HEAP_H

#include "clr/clr.h"
#include "clr/layouts/object_layout.h"
#include "clr/types/type.h"

enum generation {
	GENERATION_0,
	GENERATION_1,
	GENERATION_2,
	GENERATION_LOH,
	GENERATION_POH,
	GENERATION_NONGC,     /**< frozen */
	GENERATION_EPHEMERAL, /**< a segment that holds gen 0, gen 1 and the youngest of gen 2 */
	GENERATION_COUNT
};

/** "0" "1" "2" "loh" "poh" "nongc" "ephemeral". */
const char *generation_name(enum generation generation);

/** A segment or region (heap_segment, gcpriv.h). */
struct segment {
	uint64_t address; /**< of the runtime's heap_segment */
	uint64_t begin;   /**< first object */
	uint64_t end;     /**< behind the last object (alloc_allocated for the ephemeral one) */
	uint64_t committed, reserved;
	uint64_t flags;
	uint32_t heap;                   /**< index */
	uint8_t generation;              /**< enum generation */
	uint64_t gen1_begin, gen0_begin; /**< of an ephemeral segment */
	uint64_t background_allocated;
	uint64_t end_slot;  /**< address of the word that holds end */
	uint64_t link_slot; /**< address of the word that leads here: a next or start_segment */
	uint64_t previous;  /**< heap_segment before it on its list, 0 = none */
};

enum context_owner {
	CONTEXT_THREAD,
	CONTEXT_HEAP, /**< a generation's own */
	CONTEXT_GLOBAL,
};

/** An allocation context that is not empty: no objects lie in [pointer, limit + 24). */
struct context {
	uint64_t pointer, limit;
	uint8_t owner;   /**< enum context_owner */
	uint64_t thread; /**< address of the runtime's Thread, or 0 */
};

/** Problems that are kept; a target with more is all damage. */
#define HEAP_PROBLEMS_MAX 64u

/** Where a list of segments broke off, or had one that was left out; verifyheap shows them. */
struct heap_problem {
	const char *kind; /**< static: "cycle", "bounds", "two-lists", "overlap", "unreadable" */
	uint64_t segment; /**< heap_segment that holds the bad word (0: the generation does) */
	uint64_t slot;    /**< address of the bad word: a next or start_segment pointer, a bound */
	uint64_t word;    /**< what stands there */
	uint32_t heap;
	uint8_t generation; /**< enum generation of the list */
};

/** The GC heap of a target. */
struct heap {
	struct clr *clr;       /**< borrowed */
	struct memory *memory; /**< of the target */
	uint32_t heap_count;
	uint64_t *heap_addresses; /**< of the gc_heap structures (server), else one 0 */
	struct segment *segments; /**< ascending by begin, not overlapping, begin <= end */
	size_t segment_count;
	struct context *contexts; /**< ascending by pointer; see context_is_sound() */
	size_t context_count;
	struct heap_problem *problems; /**< at most HEAP_PROBLEMS_MAX; each also a finding */
	size_t problem_count;
	bool gc_in_progress; /**< gc_structures_invalid_cnt is not 0 */
	bool is_walkable;    /**< false: nothing but frozen segments could be read */
};

/**
 * Read heaps, generations, segments and allocation contexts.  Broken lists (a cycle, a segment out
 * of bounds, on two lists, overlapping) end there with a finding of the target.
 *
 * @param[out] ret To be given to heap_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_FAULT
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status heap_open(struct clr *clr, struct heap **ret, struct hd_error *err);
/** A finding: @p bytes of it, in @p places, are not in the target. */
void heap_report_missing(struct heap *heap, uint64_t bytes, uint64_t places);
/** A finding: @p count stretches of it, whose bytes are there, are no objects. */
void heap_report_gaps(struct heap *heap, uint64_t count);
/** NULL is allowed. */
void heap_destroy(struct heap *heap);

/** What the heap lies in, where findings go, and what the GC says of itself. */
static inline struct target *heap_target(const struct heap *heap)
{
	return clr_target(heap->clr);
}

static inline struct findings *heap_findings(const struct heap *heap)
{
	return clr_findings(heap->clr);
}

static inline const struct gc_vars *heap_gc(const struct heap *heap)
{
	return clr_gc(heap->clr);
}

/** Segment whose [begin, end) holds @p address, or NULL. */
const struct segment *heap_segment_at(const struct heap *heap, uint64_t address);
/** Generation of an address inside @p segment (splits ephemeral segments). */
enum generation segment_generation_at(const struct segment *segment, uint64_t address);
/** Sound context whose pointer is @p address, or NULL. */
const struct context *heap_context_at(const struct heap *heap, uint64_t address);

/** Objects go on so far behind the limit of a context: the least size of an object. */
#define CONTEXT_RESERVE OBJECT_SIZE_MIN

/**
 * Do pointer and limit of @p context lie in one segment, in this order, and 8-aligned?  What is not
 * so is read all the same: a walk must not step over it.
 */
bool context_is_sound(const struct heap *heap, const struct context *context);

#endif
