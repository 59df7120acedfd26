/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_VERIFY_RESOLVE_H
#define HEAPDUMP_SRC_VERIFY_RESOLVE_H

#include "verify/finding_list.h"
#include "verify/scan.h"

/** The object that refers is at fault, not what it refers to. */
#define OWN_FAULT (UINT32_MAX - 1)

/** An allocation context that cannot be right. */
struct broken_context {
	uint64_t pointer, limit;
	uint32_t finding;
	bool met; /**< a gap was explained by it */
};

/** What all workers have met that is odd. */
struct gathered_notes {
	struct verify_gap *gaps; /**< ascending */
	size_t gap_count;
	struct odd_reference *references;
	size_t reference_count, reference_capacity;
	struct odd_object *objects;
	size_t object_count;
};

/** Finds out what is at fault for everything odd that the scans noted. */
struct resolver {
	struct heap *heap;
	const struct verify_options *options;
	struct address_map *map; /**< of the objects' starts */
	struct window window;
	bool may_allocate;  /**< a thread may have been stopped while it made an object */
	bool is_partial;    /**< the target lacks bytes of the heap */
	bool is_background; /**< a background GC is under way */
	bool is_sweeping;   /**< it frees dead objects */
	struct segment_cache cache;
	struct gathered_notes notes;
	struct finding_list found;
	struct zones zones;
	struct broken_context *contexts;
	size_t contexts_count, contexts_capacity;
	uint32_t *segment_ends; /**< by segment: the finding about its end */
	uint32_t list;          /**< the finding about a broken list of segments */
	struct collection_marks marks;
};

/* resolve.c: what all parts use. */

/** The finding that the end of @p segment is not where its objects end, made the first time. */
HD_NODISCARD enum hd_status segment_end_finding(struct resolver *resolver,
						const struct segment *segment, uint32_t *ret,
						struct hd_error *err);

/** Is there an object at @p address that makes sense (no Free block), by itself? */
bool resolver_is_sound_at(struct resolver *resolver, uint64_t address);
/** The object or Free block at @p address, by itself. */
bool resolver_read_block(struct resolver *resolver, uint64_t address, struct object *ret);
/** The object or Free block of @p segment whose bytes hold @p address, or false. */
bool resolver_block_at(struct resolver *resolver, const struct segment *segment, uint64_t address,
		       struct object *ret);
/** The first word of [begin, end) that is not zero, or @p end.  What is not there counts as zero. */
uint64_t resolver_first_nonzero(struct resolver *resolver, uint64_t begin, uint64_t end);

/** Are all words of [begin, end) zero?  What is not there counts as zero. */
bool resolver_is_zero(struct resolver *resolver, uint64_t begin, uint64_t end);
/** Segment whose [end, reserved) holds @p address, or NULL. */
const struct segment *resolver_segment_before(const struct resolver *resolver, uint64_t address);
/** The gap that holds @p address, or NULL. */
struct verify_gap *resolver_gap_at(const struct resolver *resolver, uint64_t address);
/** The context in whose [pointer, limit + 24) @p address lies, or NULL. */
const struct context *resolver_context_over(const struct resolver *resolver, uint64_t address);
/** Is a new object allocated at @p address of @p segment without being in a free list? */
bool verify_is_young(const struct segment *segment, uint64_t address);

/* contexts.c */

/** Check all allocation contexts. */
HD_NODISCARD enum hd_status verify_contexts(struct resolver *resolver, struct hd_error *err);
/** The finding about @p context, made when there is none. */
HD_NODISCARD enum hd_status context_finding(struct resolver *resolver,
					    const struct context *context, const char *why,
					    uint32_t *ret, struct hd_error *err);
/** Could @p thread have been stopped while it made an object? */
bool thread_may_allocate(const struct resolver *resolver, const struct clr_thread *thread);
/** Has the owner of @p context been stopped where it does not allocate? */
bool context_is_at_rest(const struct resolver *resolver, const struct context *context);

/* odd_references.c */

/** Give each odd reference to a finding, and make findings of those that nothing explains. */
HD_NODISCARD enum hd_status resolve_references(struct resolver *resolver, struct hd_error *err);
HD_NODISCARD enum hd_status resolve_own_faults(struct resolver *resolver, struct hd_error *err);
/** First odd reference of @p object that is its own fault; *@p ret_count of them.  After
 * resolve_references(). */
const struct odd_reference *resolve_find_own_faults(const struct resolver *resolver,
						    uint64_t object, size_t *ret_count);
/** What an entry of a list of the runtime's names, when it is no object: its finding, if any. */
HD_NODISCARD enum hd_status resolve_address(struct resolver *resolver, uint64_t address,
					    uint32_t *ret, struct hd_error *err);

/* gaps.c */

/** Make a finding of each gap. */
HD_NODISCARD enum hd_status open_gaps(struct resolver *resolver, struct hd_error *err);
/** Decide what is at fault for each, once references and contexts are known. */
HD_NODISCARD enum hd_status resolve_gaps(struct resolver *resolver, struct hd_error *err);

/** Does the array before the gap cover objects, of which the last one ends where the gap does? */
bool gap_covers_objects(struct resolver *resolver, const struct verify_gap *gap);
/** Make the finding of a gap one about the object before it. */
HD_NODISCARD enum hd_status gap_blame_last(struct resolver *resolver, struct verify_gap *gap,
					   struct hd_error *err);

/* moving.c */

/** Instead of resolve_gaps() while a GC moves objects: which of the gaps cannot be its work? */
HD_NODISCARD enum hd_status resolve_moving(struct resolver *resolver, struct hd_error *err);

/* zones.c */

/** Find where dead objects may be taken for live ones. */
HD_NODISCARD enum hd_status find_zones(struct resolver *resolver, struct scans *scans,
				       struct hd_error *err);
/** Where the zone that @p gap begins ends, or else the gap. */
uint64_t zone_end(const struct resolver *resolver, const struct verify_gap *gap);
/** Finding of the zone that @p address lies in, or NO_FINDING. */
uint32_t zone_finding(const struct resolver *resolver, uint64_t address);
/** What is odd in zones is no more than a consequence. */
HD_NODISCARD enum hd_status resolve_zones(struct resolver *resolver, struct hd_error *err);

/* structures.c */

/** Headers, marks, lists of segments, finalizer queues. */
HD_NODISCARD enum hd_status verify_lists(struct resolver *resolver, struct hd_error *err);
HD_NODISCARD enum hd_status resolve_objects(struct resolver *resolver, struct hd_error *err);
HD_NODISCARD enum hd_status verify_finalizer_queues(struct resolver *resolver,
						    struct hd_error *err);

#endif
