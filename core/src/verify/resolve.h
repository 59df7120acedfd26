/* SPDX-License-Identifier: MIT */
#pragma once

#include "verify/finding_list.h"
#include "verify/scan.h"

/** The fault is in the object that refers, not in what it refers to. */
#define OWN_FAULT (UINT32_MAX - 1)

/** An allocation context that cannot be correct. */
struct broken_context {
	uint64_t pointer, limit;
	uint32_t finding;
	bool met; /**< it explains a gap */
};

/** Everything wrong that the workers have found. */
struct gathered_notes {
	struct verify_gap *gaps; /**< ascending */
	size_t gap_count;
	struct odd_reference *references;
	size_t reference_count, reference_capacity;
	struct odd_object *objects;
	size_t object_count;
};

/** Finds the cause of everything wrong that the scans noted. */
struct resolver {
	struct heap *heap;
	const struct verify_options *options;
	struct address_map *map; /**< where objects start */
	struct window window;
	bool may_allocate;  /**< a thread may have been stopped while it allocated an object */
	bool is_partial;    /**< the target lacks bytes of the heap */
	bool is_background; /**< a background GC is under way */
	bool is_sweeping;   /**< the background GC is freeing dead objects */
	struct segment_cache cache;
	struct gathered_notes notes;
	struct finding_list found;
	struct zones zones;
	struct broken_context *contexts;
	size_t contexts_count, contexts_capacity;
	uint32_t *segment_ends; /**< for each segment the finding about its end */
	uint32_t list;          /**< the finding about a broken list of segments */
	struct collection_marks marks;
	uint64_t *damaged; /**< see struct verify_result */
	size_t damaged_count;
};

/* resolve.c: functions that all parts use. */

/** The finding that the end of @p segment is not where its objects end; the first call makes it. */
HD_NODISCARD enum hd_status segment_end_finding(struct resolver *resolver,
						const struct segment *segment, uint32_t *ret,
						struct hd_error *err);

/** Looking only at @p address: is there a plausible object, and not a Free block? */
bool resolver_is_sound_at(struct resolver *resolver, uint64_t address);
/** The object or Free block at @p address, looking only there. */
bool resolver_read_block(struct resolver *resolver, uint64_t address, struct object *ret);
/** The object or Free block of @p segment that contains @p address, or false. */
bool resolver_block_at(struct resolver *resolver, const struct segment *segment, uint64_t address,
		       struct object *ret);
/** The first word of [begin, end) that is not zero, or @p end.  Missing bytes count as zero. */
uint64_t resolver_first_nonzero(struct resolver *resolver, uint64_t begin, uint64_t end);

/** Are all words of [begin, end) zero?  Missing bytes count as zero. */
bool resolver_is_zero(struct resolver *resolver, uint64_t begin, uint64_t end);
/** The segment whose [end, reserved) contains @p address, or NULL. */
const struct segment *resolver_segment_before(const struct resolver *resolver, uint64_t address);
/** The gap that contains @p address, or NULL. */
struct verify_gap *resolver_gap_at(const struct resolver *resolver, uint64_t address);
/** The context whose [pointer, limit + 24) contains @p address, or NULL. */
const struct context *resolver_context_over(const struct resolver *resolver, uint64_t address);
/** Is a new object allocated at @p address of @p segment without being in a free list? */
bool verify_is_young(const struct segment *segment, uint64_t address);

/* contexts.c */

/** Check all allocation contexts. */
HD_NODISCARD enum hd_status verify_contexts(struct resolver *resolver, struct hd_error *err);
/** The finding about @p context; it is made if there is none. */
HD_NODISCARD enum hd_status context_finding(struct resolver *resolver,
					    const struct context *context, const char *why,
					    uint32_t *ret, struct hd_error *err);
/** Could @p thread have been stopped while it allocated an object? */
bool thread_may_allocate(const struct resolver *resolver, const struct runtime_thread *thread);
/** Was the owner of @p context stopped at a place where it does not allocate? */
bool context_is_at_rest(const struct resolver *resolver, const struct context *context);

/* odd_references.c */

/** Assign each wrong reference to a finding, and make findings of those that nothing explains. */
HD_NODISCARD enum hd_status resolve_references(struct resolver *resolver, struct hd_error *err);
HD_NODISCARD enum hd_status resolve_own_faults(struct resolver *resolver, struct hd_error *err);
/**
 * The first wrong reference of @p object that is its own fault; *@p ret_count gets how many there
 * are.  To be called after resolve_references().
 */
const struct odd_reference *resolve_find_own_faults(const struct resolver *resolver,
						    uint64_t object, size_t *ret_count);
/**
 * The finding, if there is one, for what an entry in a list of the runtime points to when that is
 * not an object.
 */
HD_NODISCARD enum hd_status resolve_address(struct resolver *resolver, uint64_t address,
					    uint32_t *ret, struct hd_error *err);

/* gaps.c */

/** Make a finding of each gap. */
HD_NODISCARD enum hd_status open_gaps(struct resolver *resolver, struct hd_error *err);
/** Decide the cause of each gap, when references and contexts are known. */
HD_NODISCARD enum hd_status resolve_gaps(struct resolver *resolver, struct hd_error *err);

/** Does the array before the gap cover objects, the last of which ends where the gap ends? */
bool gap_covers_objects(struct resolver *resolver, const struct verify_gap *gap);
/** Change the finding of a gap into one about the object before it. */
HD_NODISCARD enum hd_status gap_blame_last(struct resolver *resolver, struct verify_gap *gap,
					   struct hd_error *err);

/* moving.c */

/**
 * Used instead of resolve_gaps() while a GC moves objects: find the gaps that this GC cannot have
 * made.
 */
HD_NODISCARD enum hd_status resolve_moving(struct resolver *resolver, struct hd_error *err);

/* zones.c */

/** Find the zones where dead objects may be taken for live ones. */
HD_NODISCARD enum hd_status find_zones(struct resolver *resolver, struct scans *scans,
				       struct hd_error *err);
/** The end of the zone that @p gap begins; if there is none, the end of the gap. */
uint64_t zone_end(const struct resolver *resolver, const struct verify_gap *gap);
/** The finding of the zone that contains @p address, or NO_FINDING. */
uint32_t zone_finding(const struct resolver *resolver, uint64_t address);
/** Make everything wrong inside zones a mere consequence. */
HD_NODISCARD enum hd_status resolve_zones(struct resolver *resolver, struct hd_error *err);

/* structures.c */

/** Check headers, marks, lists of segments, and finalizer queues. */
HD_NODISCARD enum hd_status verify_lists(struct resolver *resolver, struct hd_error *err);
HD_NODISCARD enum hd_status resolve_objects(struct resolver *resolver, struct hd_error *err);
HD_NODISCARD enum hd_status verify_finalizer_queues(struct resolver *resolver,
						    struct hd_error *err);
