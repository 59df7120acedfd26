/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_VERIFY_SCAN_H
#define HEAPDUMP_SRC_VERIFY_SCAN_H

#include "verify/map.h"
#include "verify/verify.h"

/** A reference to what is not an object. */
struct odd_reference {
	uint64_t object, slot, value;
	uint32_t finding; /**< what it is a consequence of; see resolve.c */
};

enum odd_kind {
	ODD_SYNC_MISMATCH, /**< the entry of its sync block index names another, or none */
	ODD_SYNC_ZERO,
	ODD_THIN_LOCK,
	ODD_MARK,
	ODD_MISSING, /**< some of its slots are not in the target */
};

/** An object whose header or mark is not right. */
struct odd_object {
	uint8_t kind; /**< enum odd_kind */
	uint64_t object, word;
};

/** An object that refers to a finding's. */
struct referrer {
	uint64_t object, target;
};

/** Where a walk stumbled. */
struct verify_gap {
	const struct segment *segment;
	struct damage damage;
	uint64_t end;      /**< where the walk goes on */
	uint32_t finding;  /**< see resolve.c */
	uint32_t to_begin; /**< odd references to its very address, */
	uint32_t inside;   /**< behind that, */
	uint32_t in_last;  /**< into the middle of the object before */
	bool is_zero;      /**< all bytes that were skipped */
	uint64_t blamed;   /**< the object before that is at fault, or 0: all up to here is odd */
};

/** Zones that are kept. */
#define ZONES_MAX 16u

/**
 * In a Free block, or an array that was not cleared, lie dead objects.  When its size is wrong a walk
 * takes them for live ones, up to the first address that an object from elsewhere refers to.  The same in
 * memory that a thread is clearing for new objects.
 */
struct zone {
	uint64_t begin, end; /**< up to the end of the segment */
	uint64_t first;      /**< of the references from outside into it; else end */
	size_t gap;
};

/** Zones, one for each of several gaps. */
struct zones {
	struct zone rows[ZONES_MAX];
	size_t count;
};

/** What a GC that was under way has left in objects. */
struct collection_marks {
	uint64_t marked;
	uint64_t nodes;    /**< of plugs, which a GC wrote over objects */
	bool is_planning;  /**< marked objects next to each other: see moving.c */
	uint8_t condemned; /**< the oldest generation with marks or nodes, of 0 to 2 */
};

/** What one worker has met that is odd. */
struct scan_notes {
	struct verify_gap *gaps;
	size_t gaps_count, gaps_capacity;
	struct odd_reference *references;
	size_t references_count, references_capacity;
	struct odd_object *objects;
	size_t objects_count, objects_capacity;
	struct referrer *referrers;
	size_t referrers_count, referrers_capacity;
	uint64_t not_kept; /**< beyond ODD_KEPT and the like */
};

/** Odd references that are kept, by worker; the rest is counted. */
#define ODD_KEPT ((size_t)1 << 19)

/** What one worker sees. */
struct verify_scan {
	struct heap *heap;
	const struct verify_options *options;
	struct address_map *map;
	struct job *job;
	unsigned int worker;
	bool any_sync; /**< the sync table is known */
	bool any_threads;
	struct scan_notes notes;
	struct zones zones;
	uint64_t verified;
	struct collection_marks marks;
	struct window window;
	struct segment_cache cache;
};

/** All workers' together. */
struct scans {
	struct verify_scan *rows;
	unsigned int count;
};

HD_NODISCARD enum hd_status scans_init(struct scans *scans, struct heap *heap,
				       const struct verify_options *options,
				       struct address_map *map, struct job *job,
				       struct hd_error *err);
void scans_deinit(struct scans *scans);

/** Set the bit of every object (Free blocks excepted) of the heap, and note the gaps. */
HD_NODISCARD enum hd_status scan_starts(struct scans *scans, struct hd_error *err);
/** Check the objects that were asked for against the map. */
HD_NODISCARD enum hd_status scan_objects(struct scans *scans, struct hd_error *err);
/** Note who refers to an address whose bit is set, over the whole heap. */
HD_NODISCARD enum hd_status scan_referrers(struct scans *scans, struct hd_error *err);

/** Set first of the zones, which every worker has. */
HD_NODISCARD enum hd_status scan_zones(struct scans *scans, struct hd_error *err);

/** Check the header and the references of one object. */
HD_NODISCARD enum hd_status scan_object(struct verify_scan *scan, const struct object *object,
					struct hd_error *err);

/** Is it of the large or the pinned object heap? */
bool verify_is_large_or_pinned(const struct segment *segment);

/** What the header of the object at @p address says when that cannot be so, else false. */
bool scan_header(const struct verify_scan *scan, uint64_t address, struct odd_object *ret);

#endif
