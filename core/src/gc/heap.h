/* SPDX-License-Identifier: MIT */
#pragma once

#include "arch/arch.h"
#include "gc/fact_ledger.h"
#include "gc/layouts/gc_vars.h"
#include "gc/layouts/object_layout.h"
#include "runtime/runtime.h"
#include "runtime/type.h"

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
	uint64_t address; /**< address of the runtime's heap_segment */
	uint64_t begin;   /**< first object */
	uint64_t end;     /**< after the last object (alloc_allocated for the ephemeral segment) */
	uint64_t committed, reserved;
	uint64_t flags;
	uint32_t heap;                   /**< index */
	uint8_t generation;              /**< enum generation */
	uint64_t gen1_begin, gen0_begin; /**< only in an ephemeral segment */
	uint64_t background_allocated;
	uint64_t end_slot;  /**< address of the word that holds end */
	uint64_t link_slot; /**< address of the word that leads here: a next or start_segment */
	uint64_t previous;  /**< heap_segment before it on its list, 0 = none */
};

enum context_owner {
	CONTEXT_THREAD,
	CONTEXT_HEAP, /**< the allocation context of a generation */
	CONTEXT_GLOBAL,
};

/** An allocation context that is not empty: no objects lie in [pointer, limit + 24). */
struct context {
	uint64_t pointer, limit;
	uint8_t owner;   /**< enum context_owner */
	uint64_t thread; /**< address of the runtime's Thread, or 0 */
};

/** Most problems that are kept; a target with more is completely damaged. */
#define HEAP_PROBLEMS_MAX 64u

/**
 * A place where a list of segments ended too early, or where a segment was left out; verifyheap
 * shows them.
 */
struct heap_problem {
	const char *kind; /**< static: "cycle", "bounds", "two-lists", "overlap", "unreadable" */
	uint64_t segment; /**< heap_segment that holds the bad word (0: the generation does) */
	uint64_t slot;    /**< address of the bad word: a next or start_segment pointer, a bound */
	uint64_t word;    /**< the value of that word */
	uint32_t heap;
	uint8_t generation; /**< enum generation of the list */
};

/** The GC heap of a target. */
struct heap {
	struct runtime *runtime;    /**< borrowed */
	struct memory *memory;      /**< of the target */
	struct address_space space; /**< of the target's processor */
	uint32_t heap_count;
	uint64_t *heap_addresses; /**< of the gc_heap structures (server GC), else a single 0 */
	struct segment *segments; /**< ascending by begin, not overlapping, begin <= end */
	size_t segment_count;
	struct context *contexts; /**< ascending by pointer; see context_is_sound() */
	size_t context_count;
	struct heap_problem *problems; /**< at most HEAP_PROBLEMS_MAX; each also a finding */
	size_t problem_count;
	bool gc_in_progress;      /**< gc_structures_invalid_cnt is non-zero */
	bool is_walkable;         /**< false: only frozen segments could be read */
	struct fact_ledger facts; /**< what of the framework the present command did not find */
};

/**
 * Read heaps, generations, segments and allocation contexts.  Reading a list ends where it is
 * broken (a cycle, a segment out of bounds, on two lists, overlapping), with a finding of the
 * target.
 *
 * @param[out] ret To be given to heap_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_FAULT
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status heap_open(struct runtime *runtime, struct heap **ret,
				      struct hd_error *err);
/** Add a finding: @p bytes of the heap, in @p places, are not in the target. */
void heap_report_missing(struct heap *heap, uint64_t bytes, uint64_t places);
/** Add a finding: @p count parts of the heap, whose bytes are in the target, are not objects. */
void heap_report_gaps(struct heap *heap, uint64_t count);
/** NULL is allowed. */
void heap_destroy(struct heap *heap);

/**
 * The target that contains the heap, which also collects findings; and what the GC says about
 * itself.
 */
static inline struct target *heap_target(const struct heap *heap)
{
	return runtime_target(heap->runtime);
}

static inline struct findings *heap_findings(const struct heap *heap)
{
	return runtime_findings(heap->runtime);
}

static inline const struct gc_vars *heap_gc(const struct heap *heap)
{
	return runtime_gc(heap->runtime);
}

/** The segment whose [begin, end) contains @p address, or NULL. */
const struct segment *heap_segment_at(const struct heap *heap, uint64_t address);
/** Generation of an address inside @p segment (splits ephemeral segments). */
enum generation segment_generation_at(const struct segment *segment, uint64_t address);
/** Sound context whose pointer is @p address, or NULL. */
const struct context *heap_context_at(const struct heap *heap, uint64_t address);

/** Objects continue this far after the limit of a context: the smallest size of an object. */
#define CONTEXT_RESERVE OBJECT_SIZE_MIN

/**
 * Are pointer and limit of @p context in one segment, in this order, and 8-aligned?  Other contexts
 * are kept, too, but a walk must not step over them.
 */
bool context_is_sound(const struct heap *heap, const struct context *context);
