/* SPDX-License-Identifier: MIT */
/*
 * Counts a heap by type, by root and by holder: the part of a heap that is kept to compare it with
 * another.
 */
#pragma once

#include "findings/facts.h"

#define HOLDING_SAMPLE 100u

struct report;

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
