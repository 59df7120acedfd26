/* SPDX-License-Identifier: MIT */
/*
 * Two heaps: what grew from one to the other, and what that says of findings: doc/report.md 7.  An inventory counts a heap by
 * type, by root and by holder: it is the part of a heap that is kept to compare it with another.
 */
#pragma once

#include "findings/report.h"

#define HOLDING_SAMPLE 100u

/** The collection's own counters. */
struct own_count {
	bool has_count, has_version;
	uint64_t count, version;
};

/** Objects of one type that one field or root holds. */
struct holding {
	const char *name, *member; /**< the field or root, and the type: the same in two dumps */
	uint64_t count, bytes;     /**< members, and what they retain together */
	struct own_count owner;    /**< of the collection they are in, if there is one */
	uint64_t owner_id;         /**< of that collection */
	uint32_t subject;          /**< the object that holds them */
	uint32_t type;             /**< of the members */
	uint64_t type_id;
	enum root_class root;
	bool has_limit;
	uint64_t old_ids[HOLDING_SAMPLE]; /**< some of the members in generation 2 and above */
	uint32_t old_count;
};

/** An object of generation 2 or above. */
struct old_object {
	uint64_t id, type; /**< the ids of both */
};

/** A finding, by its id. */
struct told_finding {
	const char *id;
	uint64_t bytes, objects;
};

/** Names with counts and bytes. */
struct named_sums {
	struct graph_type *rows;
	size_t rows_count, rows_capacity;
};

/** Its texts are in the arena of the report that it was made of. */
struct inventory {
	struct named_sums types; /**< what is alive of each type */
	/** By root: each live object counts for the root that its path begins at. */
	struct named_sums roots;
	struct holding *holdings; /**< by name, then by member */
	size_t holdings_count, holdings_capacity;
	struct old_object *olds; /**< some of all, ascending */
	size_t olds_count, olds_capacity;
	struct told_finding *findings;
	size_t findings_count;
	uint64_t live, objects; /**< bytes and objects that are alive */
	uint64_t least;         /**< holdings with fewer bytes are not listed */
	bool is_complete;       /**< no roots, references or objects are missing */
	bool is_limited;        /**< there are more holdings than are listed */
	int pid;                /**< 0: not known; set by who makes it */
	struct arena *arena;    /**< see inventory_keep(); or NULL */
};

/**
 * Add up what the heap of the report holds: some passes over its live objects.
 *
 * @param[out] ret To be given to inventory_deinit(), also on failure.
 * @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status inventory_make(struct report *report, struct inventory *ret,
					   struct hd_error *err);
/** Note the findings, and take over the texts: the report and its heap may go. */
HD_NODISCARD enum hd_status inventory_keep(struct inventory *inventory, struct report *report,
					   struct hd_error *err);
void inventory_deinit(struct inventory *inventory);

/** Order of two holdings by their names. */
int holding_compare(const struct holding *a, const struct holding *b);

/** Are two heaps of one process? */
enum same_process {
	PROCESS_UNKNOWN,
	PROCESS_SAME,
	PROCESS_OTHER,         /**< perhaps of the same program */
	PROCESS_OTHER_PROGRAM, /**< none of its own types is in both */
};
const char *same_process_name(enum same_process same);

/** The change of a holding. */
enum since_state {
	SINCE_UNKNOWN, /**< too little changed, or something is missing */
	SINCE_NEW,     /**< the other heap has nothing of it */
	SINCE_GREW,
	SINCE_SAME, /**< not one more */
	SINCE_SHRANK,
};
const char *since_name(enum since_state state);

/** Earlier heaps that one is compared with, at the most. */
#define EARLIER_MAX 4u

/** The change of a holding over a series of heaps: the first one, those in between, and the present one. */
struct since_series {
	uint32_t count; /**< heaps in between; 0: there is no series, or nothing is known of it */
	uint64_t counts[EARLIER_MAX - 1], bytes[EARLIER_MAX - 1];
	bool is_steady; /**< it grew from each to the next one, never by much less than on the average */
	bool has_stopped; /**< it grew, but not from the last one on */
};

struct since {
	enum since_state state;
	struct since_series series;
	uint64_t count_before, bytes_before, count, bytes;
	bool has_changes; /**< the next two are known */
	uint64_t inserted, removed;
	uint32_t sampled, survived; /**< old members looked at, and those still there; 0: unknown */
	bool has_rate;
	double bytes_per_hour;
};

/** A holding in both; either may be NULL. */
struct change {
	const struct holding *before, *after;
	struct since since;
};

/** How it is asked. */
struct compared_with {
	const struct inventory *before;
	const char *name;    /**< of the other heap, as the user wrote it */
	int pid;             /**< of the present heap; 0: not known */
	double hours;        /**< between the two; 0: not known */
	bool is_approximate; /**< the hours come from when files were written */
	bool is_later;       /**< the other one was made later, by its time: nothing is concluded */
	bool is_same_file;   /**< likewise */
	/** The next one of a series, in the order of time; NULL: the present heap is next. */
	const struct compared_with *next;
};

struct heap_comparison {
	const struct compared_with *with; /**< borrowed */
	const struct inventory *before;   /**< its inventory */
	struct inventory after;
	enum same_process process;
	uint32_t olds, olds_found; /**< objects of generation 2 that were looked at, and found */
	bool is_later;             /**< the other one was made later */
	bool by_address;           /**< most old objects are where they were */
	const char *objection;     /**< why findings must not rest on it, static; NULL: they may */
	const char *between;       /**< likewise on one of the heaps in between */
	uint64_t noise;            /**< bytes: less growth says nothing */
	struct change *changes;    /**< by name, then by member */
	size_t changes_count, changes_capacity;
	struct since *told; /**< by finding that has none of a change */
};

/** Why something is said to grow, or not, when two heaps are compared. */
#define GROWTH_OF_TWO   "it is larger than in the other dump"
#define STANDING_OF_TWO "it is not larger than in the other dump"

/**
 * Compare the heap of @p report, whose facts are known and whose rules have not run.
 *
 * @param[out] ret To be given to comparison_deinit(), also on failure.
 * @retval HD_OK  @retval HD_ERR_NOMEM  @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status comparison_make(struct report *report, const struct compared_with *with,
					    struct heap_comparison *ret, struct hd_error *err);
void comparison_deinit(struct heap_comparison *comparison);

/** Is there a finding of severity high or medium about what grew, or is new? */
bool comparison_has_growth(const struct report *report);

/** May findings rest on another heap? */
static inline bool comparison_is_used(const struct report *report)
{
	return report->comparison && !report->comparison->objection;
}

/**
 * The holdings by growth, most bytes first.
 *
 * @param[out] ret To be given to mem_free(): comparison->changes_count of them.
 * @retval HD_OK  @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status comparison_by_growth(const struct heap_comparison *comparison,
						 const struct change ***ret, struct hd_error *err);

/**
 * The change of what @p name holds of type @p member; NULL: no other heap that counts, or not
 * known.
 */
const struct since *comparison_since(const struct report *report, const char *name,
				     const char *member);

/** Find the growth in an hour of two sums of bytes, if the times are known. */
void since_rate(const struct heap_comparison *comparison, struct since *since);

/** How severe a pile is whose growth is known: goes up if it goes on, and down if it stopped. */
enum severity since_severity(const struct report *report, const struct since *since,
			     enum severity severity);
/** "since the other dump it grew by ...", in the report's arena. */
const char *since_text(struct report *report, const struct since *since);

/**
 * After the rules: tell of each finding what became of it, and add a finding for what grew and has
 * none.
 */
HD_NODISCARD enum hd_status comparison_conclude(struct report *report, struct hd_error *err);
