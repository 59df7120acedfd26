/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/walk.h"

enum verdict {
	VERDICT_DAMAGE,
	VERDICT_GC_IN_PROGRESS,
	VERDICT_MISSING_BYTES,
	VERDICT_UNOWNED_CONTEXT,
};

/** "damage" "gc-in-progress" "missing-bytes" "unowned-context". */
const char *verdict_name(enum verdict verdict);

/** At most this many consequences are kept per finding; all are counted. */
#define CONSEQUENCES_KEPT 10u

/** At most this many findings are kept; all are counted. */
#define FINDINGS_KEPT 100000u

/** One damaged thing. */
struct verify_finding {
	const char *kind;        /**< static; SOS's word if it has one: "InvalidMethodTable", ... */
	uint8_t verdict;         /**< enum verdict */
	uint64_t segment;        /**< address of the heap_segment, 0 = none */
	uint64_t address;        /**< start of the damaged object, or of the structure */
	uint64_t slot;           /**< address of the bad word */
	uint64_t word;           /**< the value of that word */
	char *detail;            /**< one line, owned */
	struct object last_good; /**< type NULL: none */
	uint64_t skipped;        /**< bytes that were skipped before the walk could go on */
	uint64_t referrer_count; /**< objects that refer to it */
	uint64_t referrers[CONSEQUENCES_KEPT];
	uint64_t consequence_count;
	uint64_t consequences[CONSEQUENCES_KEPT]; /**< objects that are wrong because of it */
	bool reaches_range; /**< private: one of these is among the objects that were asked for */
	uint32_t merged;    /**< private */
};

struct verify_result {
	struct verify_finding *findings; /**< ascending by segment, then address */
	size_t count, capacity;
	uint64_t objects;      /**< number of verified objects, including Free blocks */
	uint64_t damage_count; /**< findings with VERDICT_DAMAGE, including those not kept */
	uint64_t not_kept;     /**< findings, or wrong references, that were not kept */
	uint64_t marked;       /**< objects with GC bits; 0 while a GC moves objects */
	uint64_t plug_nodes;   /**< nodes over objects, from a GC that moves objects; they are not
			        * findings */
	/** options.list_damaged: objects that are damaged, or wrong because of damage; ascending. */
	uint64_t *damaged;
	size_t damaged_count;
};

/** The part of the heap to verify; zero: everything. */
struct verify_options {
	const struct segment *const *segments; /**< NULL: all */
	size_t segment_count;
	uint64_t begin, end; /**< objects that start in [begin, end); 0, 0: all */
	/**
	 * A thread crashed in the GC with these addresses in its registers.  What is wrong there is
	 * damage, even if a GC that moves objects could leave it; and so is what a GC in its plan
	 * phase cannot leave.
	 */
	bool crashed;
	const uint64_t *suspects;
	size_t suspect_count;
	bool list_damaged; /**< make result.damaged: in one walk, what verify_object() finds one by one */
};

/**
 * Check the heap (doc/coreclr.md 16); never stops at a finding. doc/collections.md has what a
 * collection leaves that is not damage.
 *
 * - objects: their first word is a MethodTable, and they end in their segment, before the next context
 * - references: null, or to the start of an object that is not a Free block (not checked while a GC
 *   moves objects)
 * - headers: a sync block's entry names the object, a thin lock is that of a managed thread
 * - marks: there are none while no GC is marking
 * - allocation contexts: they are in one segment (those of threads in generation 0), contain no
 *   objects, begin where an object ends, and do not overlap
 * - lists of segments: they end, without a cycle, an overlap or an impossible bound; no region is
 *   missing
 * - ends of segments: they are where the objects end
 * - finalizer queues: their bounds ascend, and their entries are objects with a finalizer
 *
 * Not checked: handles, LoaderAllocator edges, and values that are not references.
 *
 * @param[out] ret To be given to verify_result_deinit(); untouched on failure.
 * @retval HD_OK also with findings
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status verify_heap(struct heap *heap, const struct verify_options *options,
					struct job *job, struct verify_result *ret,
					struct hd_error *err);
void verify_result_deinit(struct verify_result *result);

/**
 * Check one object as verify_heap() does: HD_OK with 0 or more findings.
 *
 * @param address A place where a walk meets an object, or damage: object_locate() finds it.
 */
HD_NODISCARD enum hd_status verify_object(struct heap *heap, uint64_t address, struct job *job,
					  struct verify_result *ret, struct hd_error *err);
