/* SPDX-License-Identifier: MIT */
#pragma once

#include "verify/map.h"
#include "verify/verify.h"

/** A reference to what is not an object. */
struct odd_reference {
	uint64_t object, slot, value;
	uint32_t finding; /**< the finding of which it is a consequence; see resolve.c */
};

enum odd_kind {
	ODD_SYNC_MISMATCH, /**< the entry for its sync block index names another object, or none */
	ODD_SYNC_ZERO,
	ODD_THIN_LOCK,
	ODD_MARK,
	ODD_MISSING, /**< some of its slots are not in the target */
};

/** An object whose header or mark is wrong. */
struct odd_object {
	uint8_t kind; /**< enum odd_kind */
	uint64_t object, word;
};

/** An object that refers to the object of a finding. */
struct referrer {
	uint64_t object, target;
};

/** A place where a walk met damage. */
struct verify_gap {
	const struct segment *segment;
	struct damage damage;
	uint64_t end;      /**< where the walk goes on */
	uint32_t finding;  /**< see resolve.c */
	uint32_t to_begin; /**< wrong references exactly to its address, */
	uint32_t inside;   /**< after its address, */
	uint32_t in_last;  /**< into the middle of the object before it */
	bool is_zero;      /**< all skipped bytes are zero */
	uint64_t blamed;   /**< the earlier object that is the cause, or 0; everything from there to
			    * here is suspect */
};

/** Most zones that are kept. */
#define ZONES_MAX 16u

/**
 * Dead objects lie in Free blocks and in arrays that were not cleared.  If the size of such a block
 * is wrong, a walk takes them for live objects, up to the first address to which an object outside
 * refers.  The same happens in memory that a thread is clearing for new objects.
 */
struct zone {
	uint64_t begin, end; /**< end: at first the end of the segment */
	uint64_t first;      /**< the first address in it that is referred to from outside; else
			      * end */
	size_t gap;
};

/** Zones, one for each gap in question. */
struct zones {
	struct zone rows[ZONES_MAX];
	size_t count;
};

/** The marks that a GC that was under way has left in objects. */
struct collection_marks {
	uint64_t marked;
	uint64_t nodes;    /**< nodes of plugs, which a GC wrote over objects */
	bool is_planning;  /**< marked objects next to each other: see moving.c */
	uint8_t condemned; /**< the oldest generation with marks or nodes, 0 to 2 */
};

/** Everything wrong that one worker has found. */
struct scan_notes {
	struct verify_gap *gaps;
	size_t gaps_count, gaps_capacity;
	struct odd_reference *references;
	size_t references_count, references_capacity;
	struct odd_object *objects;
	size_t objects_count, objects_capacity;
	struct referrer *referrers;
	size_t referrers_count, referrers_capacity;
	uint64_t not_kept; /**< those that exceed ODD_KEPT and similar limits */
};

/** How many wrong references each worker keeps; the others are only counted. */
#define ODD_KEPT ((size_t)1 << 19)

/** Can a thread that is not on the list not be one? */
static inline bool verify_knows_threads(const struct runtime *runtime)
{
	return runtime_knows_all_threads(runtime) && runtime_thread_count(runtime) > 0;
}

/** One worker works with this. */
struct verify_scan {
	struct heap *heap;
	const struct verify_options *options;
	struct address_map *map;
	struct job *job;
	unsigned int worker;
	bool any_sync;      /**< the table of sync blocks is known */
	bool knows_threads; /**< verify_knows_threads() */
	struct scan_notes notes;
	struct zones zones;
	uint64_t verified;
	struct collection_marks marks;
	struct window window;
	struct segment_cache cache;
};

/** Merge the results of all workers. */
struct scans {
	struct verify_scan *rows;
	unsigned int count;
};

HD_NODISCARD enum hd_status scans_init(struct scans *scans, struct heap *heap,
				       const struct verify_options *options,
				       struct address_map *map, struct job *job,
				       struct hd_error *err);
void scans_deinit(struct scans *scans);

/** Set the bit of every object of the heap, except Free blocks, and note the gaps. */
HD_NODISCARD enum hd_status scan_starts(struct scans *scans, struct hd_error *err);
/** Check the objects that were asked for against the map. */
HD_NODISCARD enum hd_status scan_objects(struct scans *scans, struct hd_error *err);
/** Walk the whole heap and note the objects that refer to an address whose bit is set. */
HD_NODISCARD enum hd_status scan_referrers(struct scans *scans, struct hd_error *err);

/** Set the member first of the zones; every worker has a copy of these. */
HD_NODISCARD enum hd_status scan_zones(struct scans *scans, struct hd_error *err);

/** Check the header and the references of one object. */
HD_NODISCARD enum hd_status scan_object(struct verify_scan *scan, const struct object *object,
					struct hd_error *err);

/** Does it belong to the large or the pinned object heap? */
bool verify_is_large_or_pinned(const struct segment *segment);

/** Gives what the header of the object at @p address says, if that is impossible; else false. */
bool scan_header(const struct verify_scan *scan, uint64_t address, struct odd_object *ret);
